//! Two ends of quinn over a link, in virtual time: quinn and the controllers are the real ones, only the clock, the link
//! and the cryptography are not. Beside each, the same link and the same controller in the simulator.

mod link;
mod plain;

use std::time::Duration;

use link::{Link, MTU, Outcome, run};
use longfat_sim::{Scenario, Simulation};

const SECONDS: u64 = 60;
const WARMUP: u64 = 20;
/// The bandwidth-delay product is 20 Mbit/s · 40 ms = 83.3 datagrams of 1200 B.
const LINK: Link =
    Link { rate: 20_000_000, rtt: Duration::from_millis(40), buffer: 83, mark_above: None };

/// Mean window and reductions per second under `control` on quinn and in the simulator.
fn both(control: &str, link: Link) -> (Outcome, f64) {
    let factory = longfat_quinn::factory(control).build().expect(control);
    let (warmup, measured) = (Duration::from_secs(WARMUP), Duration::from_secs(SECONDS - WARMUP));
    (run(&factory, link, warmup, measured), simulated(control, link))
}

/// The mean window in a simulation of QUIC with the pacing of quinn, 1.25 windows per round trip.
fn simulated(control: &str, link: Link) -> f64 {
    let control = if control.starts_with('{') { control.into() } else { format!("\"{control}\"") };
    let queue = match link.mark_above {
        Some(threshold) => format!("{{ kind = \"step\", threshold = \"{threshold} packets\" }}"),
        None => "\"drop-tail\"".into(),
    };
    let (rate, buffer, rtt) = (link.rate, link.buffer, link.rtt.as_millis());
    let text = format!(
        r#"
        duration = "{SECONDS} s"
        warmup = "{WARMUP} s"
        [link.bottleneck]
        rate = "{rate} bit/s"
        delay = "{delay} ms"
        buffer = "{buffer} packets"
        queue = {queue}
        [[flow]]
        name = "one"
        control = {control}
        profile = "quic-9002"
        pacing = {{ spread = 1.25 }}
        path = ["bottleneck"]
        rtt = "{rtt} ms"
        packet = "{MTU} B"
        "#,
        delay = rtt / 2,
    );
    let scenario = Scenario::read(&text, "loop.toml", &[], None).expect(&text);
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(1_000_000) {}
    simulation.finish().summary.flows[0].window_mean
}

/// Windows over three to sixty epochs, which do not begin at the same time: 1.5 %.
#[test]
fn controllers_that_go_by_losses_have_the_window_of_the_simulator() {
    for control in [
        "bic", "compound", "cubic", "cw-hstcp", "exp", "fiber", "h-tcp", "hstcp", "illinois",
        "reno", "stcp", "veno", "westwood", "yeah",
    ] {
        let (on_quinn, simulated) = both(control, LINK);
        let ratio = on_quinn.window / simulated;
        assert!((ratio - 1.0).abs() < 0.015, "{control}: {on_quinn:?}, simulated {simulated}");
        assert!(on_quinn.goodput > 0.96, "{control}: {on_quinn:?}");
        // What carries nothing but acknowledgments is neither in flight nor acknowledged.
        assert!((0.999..=1.0).contains(&on_quinn.accounted), "{control}: {on_quinn:?}");
    }
}

/// What they hold on to is a measurement of the path: 4 %.
#[test]
fn controllers_that_go_by_delay_have_the_window_of_the_simulator() {
    // As many packets as FAST wants to have waiting must fit.
    for control in ["vegas", "copa", "ledbat", "{ kind = \"fast\", alpha = 20 }"] {
        let (on_quinn, simulated) = both(control, LINK);
        let ratio = on_quinn.window / simulated;
        assert!((ratio - 1.0).abs() < 0.04, "{control}: {on_quinn:?}, simulated {simulated}");
        assert!(on_quinn.goodput > 0.93, "{control}: {on_quinn:?}");
    }
}

#[test]
fn marks_are_answered_in_place_of_losses() {
    let link = Link { buffer: 500, mark_above: Some(83), ..LINK };
    let (on_quinn, simulated) = both("reno", link);
    let ratio = on_quinn.window / simulated;
    assert!((ratio - 1.0).abs() < 0.03, "{on_quinn:?}, simulated {simulated}");
    assert!(on_quinn.lost == 0 && on_quinn.marked > 0 && on_quinn.responses > 3, "{on_quinn:?}");
}
