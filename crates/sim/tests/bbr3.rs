//! BBRv3 on a network: the test cases of its draft's appendix ("BBR Example Test Cases"), one test for each, named after
//! it. Where what the appendix asks for does not come out, the test says what does, and why.

use crate::support;
use crate::support::watched::{Moment, Run, State, run};

/// A flow on a link of so many Mbit/s with so many milliseconds of round trip, with more keys of the link, of the flow
/// and of the file.
#[derive(Clone)]
struct Case {
    rate: f64,
    rtt: u32,
    buffer: &'static str,
    seconds: u32,
    link: String,
    flow: String,
}

impl Case {
    /// 10 Mbit/s, 40 ms: 33 packets in flight fill it.
    fn plain() -> Self {
        Self {
            rate: 10.0,
            rtt: 40,
            buffer: "\"2 bdp\"",
            seconds: 20,
            link: String::new(),
            flow: String::new(),
        }
    }

    fn text(&self) -> String {
        let Self { rate, rtt, buffer, seconds, link, flow } = self;
        let (changes, link): (Vec<_>, Vec<_>) =
            link.lines().partition(|line| line.starts_with("change "));
        let changes =
            changes.join("\n").replace("change ", "[[link.wire.change]]\n").replace(", ", "\n");
        format!(
            "duration = \"{seconds} s\"\nwarmup = \"1 s\"\n[link.wire]\nrate = \"{rate} Mbit/s\"\n\
             delay = \"1 ms\"\nbuffer = {buffer}\nqueue = \"dropper\"\n{}\n\
             [link.wire.reverse]\nqueue = \"drop-tail\"\nbuffer = \"unlimited\"\n{changes}\n\
             [[flow]]\nname = \"lone\"\ncontrol = \"watched\"\npath = [\"wire\"]\nrtt = \"{rtt} ms\"\n\
             recovery = \"rack\"\necn = false\n{flow}\n",
            link.join("\n")
        )
    }

    fn run(&self) -> Run {
        run(&self.text(), |_| false)
    }

    /// The same, with one packet in twenty dropped when this says so.
    fn losing(&self, when: impl Fn(&Moment) -> bool + Send + Sync + 'static) -> Run {
        run(&self.text(), when)
    }

    /// Packets of 1500 bytes per second.
    fn capacity(&self) -> f64 {
        self.rate * 1e6 / 12_000.0
    }

    /// What fills the path.
    fn bdp(&self) -> f64 {
        self.capacity() * f64::from(self.rtt) / 1e3
    }
}

/// The state before this change and after it.
fn states((before, after): (&Moment, &Moment)) -> (State, State) {
    (before.state, after.state)
}

#[track_caller]
fn assert_near(measured: f64, expected: f64, share: f64, what: &str) {
    assert!((measured / expected - 1.0).abs() <= share, "{what}: {measured}, expected {expected}");
}

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    let case = Case::plain();
    let run = case.run();
    let (_, drain) = run.first(State::Drain, 0.0);
    assert_near(drain.max_bw, case.capacity(), 0.02, "the bandwidth");
    assert_eq!(drain.full_bw_count, 3.0);
    assert!(drain.full_bw_now && drain.full_bw_reached);
    // Three rounds earlier it was still growing, and Startup is what it left.
    let plateau = run.moments.iter().find(|it| it.full_bw_count == 1.0).expect("a first one");
    assert_eq!((plateau.state, drain.round - plateau.round), (State::Startup, 2.0));
    assert_eq!(run.path()[0].1, State::Drain);
}

/// 100 Mbit/s with 40 ms, and an application that writes 50 Mbit/s: 167 packets in a round trip.
fn half_used(seconds: u32) -> Case {
    let flow = "application = { kind = \"constant\", rate = \"50 Mbit/s\" }".into();
    Case { rate: 100.0, seconds, flow, ..Case::plain() }
}

#[test]
fn exiting_startup_on_loss_when_application_limited() {
    // One packet in twenty: 5 %, in eight gaps in a round trip.
    let run = half_used(4).losing(|it| it.at > 2.0);
    let (before, after) = run.changes().next().expect("Startup is left");
    assert!(before.limited && after.at > 2.0, "{before:?}");
    assert!(before.full_bw_count < 3.0, "no plateau made it leave");
    assert!(after.full_bw_now && after.full_bw_reached);
    // By way of Drain, which the same acknowledgment ends: the application leaves no queue behind.
    assert_eq!(states((before, after)), (State::Startup, State::Cruise));
    assert!(after.in_flight <= after.bdp());
    // The safe level that the losses suggest: max(BDP, what was delivered in a round trip). The BDP is that of the path,
    // which Startup has measured while what the application had written by then was waiting.
    let level = after.inflight_longterm;
    assert!(level >= after.bdp() && level < 334.0, "{level}");
    // One round trip to find the first loss, and a whole one in recovery.
    assert!(after.at < 2.0 + 3.0 * 0.041, "at {} s", after.at);
}

#[test]
fn exiting_drain_based_on_inflight() {
    let run = Case::plain().run();
    let (_, drain) = run.first(State::Drain, 0.0);
    assert_eq!((drain.pacing_gain, drain.cwnd_gain), (0.5, 2.0));
    let (last, next) = run.changes().nth(1).expect("it is left");
    // From Drain to DOWN and on to CRUISE at the same acknowledgment: no more is in flight than the estimate.
    assert_eq!(states((last, next)), (State::Drain, State::Cruise));
    assert!(next.in_flight <= last.bdp() && last.in_flight > last.bdp(), "{last:?}");
    assert!(next.round <= drain.round + 3.0);
}

#[test]
fn exiting_drain_based_on_time() {
    let case = Case { rtt: 100, ..Case::plain() };
    let at = case.run().first(State::Drain, 0.0).1.at;
    let slower = |share: f64| {
        let rate = case.rate * share;
        let link = format!("change at = \"{at:.9} s\", rate = \"{rate} Mbit/s\"");
        Case { link, ..Case { rtt: 100, ..Case::plain() } }.run()
    };
    // What the appendix asks for, 10 % less bandwidth, does not keep the data in flight above the estimate for three
    // round trips: at half the old rate the queue of one BDP still drains, in 1/(0.9 - 0.5) = 2.5 times 100 ms.
    let run = slower(0.9);
    let (drain, next) =
        (run.first(State::Drain, 0.0).1, run.changes().nth(1).expect("it is left").1);
    assert!(next.in_flight <= next.bdp() && next.round <= drain.round + 3.0, "{next:?}");
    // With half of it, nothing drains: Drain ends after three round trips all the same.
    let run = slower(0.5);
    let (drain, (last, next)) =
        (run.first(State::Drain, 0.0).1, run.changes().nth(1).expect("left"));
    assert_eq!(states((last, next)), (State::Drain, State::Down));
    assert!(next.in_flight > next.bdp(), "{} in flight of {}", next.in_flight, next.bdp());
    assert_eq!(next.round, drain.round + 4.0, "more than three round trips later");
}

#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    let run = Case::plain().run();
    let (_, up) = run.first(State::Up, 0.0);
    assert_eq!((up.pacing_gain, up.cwnd_gain), (1.25, 2.25));
    let (before, down) = run.first(State::Down, up.at);
    assert_eq!(before.state, State::Up);
    assert!(down.full_bw_now && down.full_bw_count == 3.0);
    assert_eq!(down.round, up.round + 3.0);
    assert!(run.moments.iter().all(|it| it.lost == 0), "nothing is lost");
}

/// The same after losses have made it leave Startup: it probes for bandwidth that its application does not use.
fn probing_half_used(drops: impl Fn(&Moment) -> bool + Send + Sync + 'static) -> Run {
    half_used(15).losing(move |it| it.state == State::Startup && it.at > 1.0 || drops(it))
}

#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    let run = probing_half_used(|it| it.state == State::Up && it.limited);
    let (_, up) = run.first(State::Up, 0.0);
    let (last, down) = run.first(State::Down, up.at);
    assert!(last.state == State::Up && last.limited && !down.full_bw_now, "{last:?}");
    // It takes one round trip to find a loss, and no second one to react.
    assert!(down.at - up.at < 2.5 * 0.041, "{} s", down.at - up.at);
    // The appendix wants `inflight_longterm` updated "appropriately, regardless of the application-limited state". The
    // pseudo-code of HandleInflightTooHigh sets it only where the sample is not application-limited: what was in flight
    // then says nothing of what fits. So it stays where it was.
    assert_eq!(down.inflight_longterm, last.inflight_longterm);
}

#[test]
fn never_exiting_probe_up_or_startup_when_application_limited_with_no_loss() {
    let run = probing_half_used(|_| false);
    // "Indefinitely" ends with ProbeRTT: no round trip of the last 5 s was shorter than those of a path without a queue.
    let (_, up) = run.first(State::Up, 0.0);
    let next = run.changes().find(|(_, after)| after.at > up.at).expect("ProbeRTT at least");
    assert_eq!(states(next), (State::Up, State::ProbeRtt), "{:?}", run.path());
    assert!(next.0.limited && next.1.round - up.round > 10.0, "{next:?}");
    // Startup, the same: to ProbeRTT and back.
    let run = half_used(12).run();
    for change in run.changes() {
        let allowed = [(State::Startup, State::ProbeRtt), (State::ProbeRtt, State::Startup)];
        assert!(allowed.contains(&states(change)), "{:?}", run.path());
    }
    assert_eq!(run.path().len(), 4, "{:?}", run.path());
}

#[test]
fn exiting_probe_down_on_inflight() {
    // A buffer of a fifth of a BDP sets a long-term bound.
    for buffer in ["\"2 bdp\"", "\"0.2 bdp\""] {
        let run = Case { rate: 50.0, buffer, ..Case::plain() }.run();
        let mut seen = 0;
        for (last, cruise) in run.changes().filter(|it| states(*it) == (State::Down, State::Cruise))
        {
            assert_eq!(last.pacing_gain, 0.9);
            let headroom = cruise.inflight_longterm - (0.15 * cruise.inflight_longterm).max(1.0);
            let bdp = cruise.max_bw * cruise.min_rtt;
            let (least, flight) = (headroom.min(bdp), cruise.in_flight);
            assert!(flight <= least.max(4.0), "{flight} in flight of {headroom} and {bdp}");
            assert!(last.in_flight >= cruise.in_flight);
            seen += 1;
        }
        assert!(seen >= 3, "{buffer}: {:?}", run.path());
        let bounded = run.moments.iter().any(|it| it.inflight_longterm.is_finite());
        assert_eq!(bounded, buffer == "\"0.2 bdp\"");
    }
}

#[test]
fn exiting_probe_down_after_max_time() {
    // 40 ms and 50 Mbit/s: with a queue as long as the path, 63 round trips take longer than 3 s.
    let case = || Case { rate: 50.0, buffer: "\"unlimited\"", ..Case::plain() };
    let slower = |at: f64, share: f64| {
        let rate = 50.0 * share;
        let link = format!("change at = \"{at:.9} s\", rate = \"{rate} Mbit/s\"");
        Case { link, ..case() }.run()
    };
    let run = case().run();
    let (drain, down) = (run.first(State::Drain, 0.0).1.at, run.first(State::Down, 0.0).1.at);
    // With 10 % less bandwidth upon entering DOWN, as the appendix has it, the rate in DOWN, 0.99 · 0.9 of the old one, is
    // 1 % below the link's, so the queue hardly drains. But UP and the 2 to 3 s before it leave less than 2 of the 5 s
    // between two ProbeRTT, so that comes first.
    let run = slower(down, 0.9);
    let next = run.changes().find(|(_, after)| after.at > down + 0.001).expect("it is left");
    assert_eq!(states(next), (State::Down, State::ProbeRtt), "{:?}", run.path());
    // The first DOWN has the time. It follows a Drain that three round trips have ended, on a link with half the rate.
    let run = slower(drain, 0.5);
    let (_, down) = run.first(State::Down, 0.0);
    let next = run.changes().find(|(_, after)| after.at > down.at).expect("it is left");
    assert_eq!(states(next), (State::Down, State::Refill), "{:?}", run.path());
    let stayed = next.1.at - down.at;
    assert!(stayed >= down.probe_wait && stayed < down.probe_wait + 0.1, "{stayed} s");
    assert!((2.0..=3.0).contains(&down.probe_wait));
    assert!(run.between(down.at, next.1.at).all(|it| it.in_flight > it.bdp()));
}

#[test]
fn entering_and_exiting_probe_rtt() {
    let run = Case::plain().run();
    let stays: Vec<_> = run.changes().filter(|it| it.1.state == State::ProbeRtt).collect();
    assert_eq!(stays.len(), 3, "{:?}", run.path());
    for (before, probe) in stays {
        assert!(before.full_bw_reached);
        assert_eq!((probe.cwnd_gain, probe.pacing_gain), (0.5, 1.0));
        let (last, next) = run.changes().find(|it| it.1.at > probe.at).expect("it is left");
        assert_eq!(states((last, next)), (State::ProbeRtt, State::Cruise));
        // The window is halved at once, a round trip later so is what is in flight, then 200 ms and a round trip.
        assert_near(last.window, (0.5 * last.bdp()).max(4.0), 0.02, "the window");
        let stayed = next.at - probe.at;
        assert!((0.2..0.2 + 2.5 * 0.041).contains(&stayed), "{stayed} s");
        assert!(next.window > 1.5 * last.window, "the window of before");
    }
    // One every 5 s, counted from the end of the last.
    let times: Vec<_> = run.path().into_iter().filter(|it| it.1 == State::ProbeRtt).collect();
    for pair in times.windows(2) {
        assert!((5.0..5.6).contains(&(pair[1].0 - pair[0].0)), "{times:?}");
    }
}

#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    // 60 Mbit written in 3 s take 6 s to send. Then nothing for 9 s.
    let flow =
        "application = { kind = \"on-off\", rate = \"20 Mbit/s\", on = \"3 s\", off = \"12 s\" }";
    let run = Case { seconds: 18, flow: flow.into(), ..Case::plain() }.run();
    let idle = run.moments.windows(2).find(|it| it[1].at - it[0].at > 5.0).expect("it is idle");
    assert!(idle[0].full_bw_reached && idle[1].at >= 15.0, "{:?} {:?}", idle[0].at, idle[1].at);
    assert!(idle[1].idle_restart, "the first data after it");
    assert_eq!(idle[1].state, idle[0].state);
    // The first acknowledgment finds it expired and passes over it; from there on 5 s count again.
    assert!(run.between(15.0, 18.0).all(|it| it.state != State::ProbeRtt), "{:?}", run.path());
    let after = run.between(15.0, 18.0).find(|it| it.delivered > idle[1].delivered);
    assert!(after.is_some_and(|it| !it.idle_restart));
}

/// A path whose acknowledgments arrive every 20 ms, half a round trip, all at once.
fn aggregated(seconds: u32) -> Run {
    let case = Case { seconds, ..Case::plain() };
    let text = case.text().replace(
        "[link.wire.reverse]",
        "[link.wire.reverse]\nacknowledgments = { hold = \"20 ms\" }",
    );
    run(&text, |_| false)
}

#[test]
fn achieving_expected_startup_bandwidth_on_a_link_with_aggregation() {
    let run = aggregated(3);
    let (last, drain) = run.first(State::Drain, 0.0);
    // 20 ms bring 16.7 packets at once.
    assert!((10.0..30.0).contains(&last.extra_acked), "{}", last.extra_acked);
    assert!(last.window > 2.0 * last.bdp(), "{} of {}", last.window, last.bdp());
    // A sample may begin before a batch and end after one, so a batch too many is spread over a round trip and its hold.
    // Sampling by the longer of sending and acknowledging keeps that below the batch itself.
    let capacity = Case::plain().capacity();
    assert!(drain.max_bw > 0.98 * capacity && drain.max_bw < 1.35 * capacity, "{}", drain.max_bw);
}

#[test]
fn achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    let run = aggregated(15);
    for it in run.between(3.0, 15.0).filter(|it| it.state == State::Cruise) {
        assert!((10.0..35.0).contains(&it.extra_acked), "{}", it.extra_acked);
        assert!(it.window <= 2.0 * it.bdp() + it.extra_acked + 1e-6, "{it:?}");
    }
    let full = run.between(3.0, 15.0).filter(|it| it.state == State::Cruise);
    assert!(full.into_iter().any(|it| it.window > 2.0 * it.bdp() + 10.0), "it is augmented");
    // All but the pacing margin of 1 % and two ProbeRTT of about 0.25 s at half the rate in 14 s.
    let goodput = run.summary.flows[0].goodput_bit_s;
    assert!(goodput > 0.96 * 10e6, "{goodput}");
}

#[test]
fn correctly_managing_sub_packet_bdps() {
    // 64 kbit/s and 10 ms: a packet takes 187.5 ms, and 0.05 of one fill the wire.
    let case =
        Case { rate: 0.064, rtt: 10, buffer: "\"20 packets\"", seconds: 60, ..Case::plain() };
    let run = case.run();
    let least = run.between(30.0, 60.0).min_by(|one, other| one.window.total_cmp(&other.window));
    assert!(least.expect("moments").window >= 4.0, "the floor");
    let cruise = run.between(30.0, 60.0).filter(|it| it.state == State::Cruise);
    let mut seen = 0;
    for it in cruise {
        assert_near(it.pacing_rate, 0.99 * 64e3 / 12e3, 0.02, "the rate");
        assert!(it.window <= 4.0 + 2.0 * it.bdp() + it.extra_acked, "{it:?}");
        seen += 1;
    }
    assert!(seen > 30, "{:?}", run.path());
    let used = run.summary.links["wire"]["forward"]["utilisation"].as_f64().expect("a number");
    assert!(used > 0.97, "{used}");
}

#[test]
fn increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    // A buffer of a quarter of a BDP sets a long-term bound; then the link becomes ten times as fast.
    let link = "change at = \"10 s\", rate = \"100 Mbit/s\"".into();
    let run = Case { buffer: "\"8 packets\"", link, ..Case::plain() }.run();
    let bounded = run.between(9.9, 10.0).last().expect("moments");
    assert!(bounded.inflight_longterm < 60.0, "{bounded:?}");
    // The next probe finds it, within twenty round trips of 40 ms.
    let full = run.between(10.0, 20.0).find(|it| it.max_bw > 0.95 * 8333.0).expect("it is found");
    let probes: Vec<_> = run.changes().filter(|it| it.1.state == State::Up).collect();
    let (_, up) = probes.iter().rfind(|it| it.1.at < full.at).expect("a probe");
    assert!(up.at > 10.0 && full.state == State::Up && full.round - up.round <= 20.0);
    // After the first, in which samples of REFILL come in, its round trips raise the bound by 2, 4, 8, 16.
    let mut bounds: Vec<(f64, f64)> = Vec::new();
    for it in run.between(up.at, full.at) {
        match bounds.last_mut() {
            Some((round, bound)) if *round == it.round => *bound = it.inflight_longterm,
            _ => bounds.push((it.round, it.inflight_longterm)),
        }
    }
    let steps: Vec<_> = bounds.windows(2).map(|it| it[1].1 - it[0].1).collect();
    for (step, expected) in steps.iter().zip([2.0, 4.0, 8.0, 16.0]) {
        assert!((step - expected).abs() < 1.5, "{steps:?}");
    }
}

#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let link = "change at = \"5 s\", rate = \"10 Mbit/s\"".into();
    let run = Case { rate: 100.0, link, buffer: "\"60 packets\"", ..Case::plain() }.run();
    assert_near(run.between(4.9, 5.0).last().expect("moments").max_bw, 8333.0, 0.02, "before");
    // Each round trip with losses takes 0.7 of the short-term bound. They take 112 ms where the queue is full.
    let lowered = run.between(5.0, 20.0).find(|it| it.bw_shortterm < 0.5 * 8333.0);
    assert!(lowered.expect("it falls").at < 6.0);
    // The old maximum is forgotten when the second probe after it ends.
    let adapted = run.between(5.0, 20.0).find(|it| it.max_bw < 1.05 * 833.3).expect("it adapts");
    let probes = run.changes().filter(|it| it.1.state == State::Refill);
    assert_eq!(probes.filter(|it| (5.0..adapted.at).contains(&it.1.at)).count(), 2);
    let after = run.between(adapted.at, 20.0).filter(|it| it.state == State::Cruise);
    after.for_each(|it| assert_near(it.max_bw, 833.3, 0.05, "the rate of the link"));
}

#[test]
fn handling_token_bucket_policers() {
    let link = "policer = { rate = \"10 Mbit/s\", burst = \"50 kB\" }".into();
    let run = Case { rate: 100.0, link, seconds: 40, ..Case::plain() }.run();
    let bounded = |it: &Moment| it.bw_shortterm.is_finite() && it.inflight_shortterm.is_finite();
    assert!(run.between(0.0, 5.0).any(bounded), "losses outside of probes are answered");
    // From 20 s on: nearly all of the token rate, with 2.5 % lost: what a probe of 1.25 in one to four of some thirty
    // round trips brings above it.
    let goodput = run.summary.flows[0].goodput_bit_s;
    assert!(goodput > 0.9 * 10e6, "{goodput}");
    let lost = run.between(20.0, 40.0).map(|it| it.lost).sum::<u64>() as f64;
    let half = run.between(0.0, 20.0).last().expect("moments").delivered;
    let delivered = (run.moments.last().expect("moments").delivered - half) as f64;
    assert!(lost < 0.03 * delivered, "{lost} of {delivered}");
}

#[test]
fn handling_spurious_fast_recovery() {
    // One packet in ten thousand comes 40 packets late, long after three later ones show it lost. With this seed the
    // first of them belongs to a probe for bandwidth.
    let link = "reorder = { probability = 0.0001, distance = \"40 packets\" }".into();
    let case = Case { rate: 50.0, link, seconds: 8, ..Case::plain() };
    let run = run(&format!("seed = 93\n{}", case.text()), |_| false);
    let notice = run.moments.iter().position(|it| it.spurious).expect("a loss that was none");
    let lost = run.moments[..notice].iter().rposition(|it| it.lost > 0).expect("the loss");
    // The moment before is that of the lost segment, so the one before that.
    let (before, after) = (run.moments[lost - 2], run.moments[notice]);
    assert_eq!((before.state, after.state), (State::Up, State::Up));
    let bounds = |it: &Moment| (it.bw_shortterm, it.inflight_shortterm, it.inflight_longterm);
    assert_eq!(bounds(&after), bounds(&before));
    assert!(after.window >= before.window && after.at < before.at + 0.1);
}

#[test]
fn handling_spurious_rto_recovery() {
    let case = |link: String| Case { rate: 50.0, seconds: 8, link, ..Case::plain() }.run();
    let at = case(String::new()).first(State::Up, 0.0).1.at + 0.03;
    // For 20 ms in a probe for bandwidth, what leaves takes 600 ms more, and all behind it waits for it: the timer runs
    // out, and then the first packets come after all.
    let back = at + 0.02;
    let run = case(format!(
        "change at = \"{at:.9} s\", delay = \"601 ms\"\nchange at = \"{back:.9} s\", delay = \"1 ms\""
    ));
    let before = run.between(0.0, at).last().expect("moments");
    assert_eq!(before.state, State::Up);
    // Everything in flight counts as lost, far more than 2 %: the probe ends, with a bound.
    let timeout = run.between(at, 8.0).find(|it| it.timeout).expect("a time-out");
    assert!(timeout.state == State::Down && timeout.inflight_longterm.is_finite(), "{timeout:?}");
    assert_eq!(timeout.window, 1.0);
    // All of that is taken back. REFILL takes no time where the acknowledgment begins a round trip.
    let after = run.between(timeout.at, 8.0).find(|it| it.spurious).expect("they were not lost");
    assert!(matches!(after.state, State::Refill | State::Up), "{after:?}");
    let bounds = |it: &Moment| (it.bw_shortterm, it.inflight_shortterm, it.inflight_longterm);
    assert_eq!(bounds(after), bounds(before));
    assert!(after.window >= before.window, "{} and {}", before.window, after.window);
}

#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let run = half_used(12).run();
    let (before, probe) = run.first(State::ProbeRtt, 0.0);
    assert!(before.state == State::Startup && !before.full_bw_reached);
    assert!(probe.at > 5.0 && probe.at < 5.2);
    let (last, next) = run.changes().nth(1).expect("it is left");
    assert_eq!(states((last, next)), (State::ProbeRtt, State::Startup));
    assert!(next.at - probe.at >= 0.2);
    assert_near(next.pacing_gain, 2.7726, 1e-4, "the gain");
}

#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let case = Case { rate: 50.0, buffer: "\"0.2 bdp\"", ..Case::plain() };
    let loses = |it: &Moment| it.state == State::Up && it.at > 8.0;
    let run = case.losing(loses);
    let (_, up) = run.first(State::Up, 8.0);
    assert!(up.inflight_longterm.is_finite(), "{up:?}");
    let (last, down) = run.first(State::Down, up.at);
    assert!(last.state == State::Up && !down.full_bw_now);
    // One packet in twenty is lost, and 2 % are too many: after four losses of some 200 in flight, two of them here.
    assert!(down.inflight_longterm < last.inflight_longterm);
    assert!(down.inflight_longterm >= 0.7 * last.bdp().min(last.window) - 1e-6);
    assert!(down.at - up.at < 2.0 * 0.042, "at once: {} s", down.at - up.at);
}

#[test]
fn handling_application_limited_sending_during_probe_refill() {
    let case = Case { seconds: 12, ..Case::plain() };
    let refill = *case.run().first(State::Refill, 0.0).1;
    // A response that ends with the data in flight when REFILL begins; the next one a second later.
    let size = 1500 * (refill.delivered + refill.in_flight as u64 + 2);
    let flow = format!(
        "application = {{ kind = \"request-response\", response = \"{size} B\", think = \"1 s\" }}"
    );
    let run = Case { flow, ..case }.run();
    let (_, again) = run.first(State::Refill, 0.0);
    // The same, once the request has come.
    assert!((again.at - refill.at - 0.0203).abs() < 1e-3, "{} and {}", again.at, refill.at);
    let (last, up) = run.first(State::Up, 0.0);
    assert_eq!(last.state, State::Refill);
    assert_eq!(up.round, refill.round + 1.0);
    let (_, down) = run.first(State::Down, up.at);
    assert!(run.between(up.at, down.at).any(|it| it.limited), "samples of the pause");
    assert!(run.between(again.at, down.at).all(|it| it.max_bw >= refill.max_bw), "ignored");
    // UP goes on when there is data again, and ends by its own rules: three round trips without growth.
    assert!(down.at > up.at + 1.0 && down.full_bw_count == 3.0);
}

/// A flow on 1 Gbit/s and 100 ms that lose this share of data packets at random, measured from 5 to 20 s.
fn losing_at_random(loss: f64) -> String {
    let link = format!("loss = {loss}");
    let case = Case { rate: 1000.0, rtt: 100, link, seconds: 20, ..Case::plain() };
    assert_eq!(case.bdp().round(), 8333.0);
    case.text()
        .replace("[link.wire.reverse]", "[link.wire.reverse]\nloss = 0")
        .replace("warmup = \"1 s\"", "warmup = \"5 s\"")
}

#[test]
fn one_percent_of_random_losses_cost_what_the_draft_says() {
    // 1 Gbit/s, 100 ms. Each round trip of CRUISE lowers the rate by its losses, and 2 to 3 s are 20 to 30 of them: the
    // draft's (1 - p)^N, on average 1 - 0.01 · 25/2 = 0.88 of the 0.96 that it uses without losses. That is 0.85 and a
    // little more, as the largest sample of a round trip counts. BBRv1, which ignores losses, uses 0.97.
    let used_with = |loss: f64| {
        let run = run(&losing_at_random(loss), |_| false);
        assert!(run.moments.iter().all(|it| it.inflight_longterm.is_infinite()), "below 2 %");
        run.summary.links["wire"]["forward"]["utilisation"].as_f64().expect("a number")
    };
    let used = used_with(0.01);
    assert!((0.85..0.89).contains(&used), "{used}");
    // One in a thousand would cost 0.0125 by that rule. But a loss in the last round trip of DOWN makes 0.9 · 0.99 of the
    // rate a bound, and each round trip of CRUISE with a loss takes the margin again.
    let used = used_with(0.001);
    assert!((0.87..0.91).contains(&used), "{used}");
}

#[test]
fn losses_counted_between_probes_as_in_them_keep_the_goal_of_the_draft() {
    // The full throughput with up to 1 % of losses: more than 95 % of 1 Gbit/s at 100 ms, where 96 are used without any.
    // With 3 % probes find 2 % exceeded, and the bounds act again.
    let used_with = |loss: f64| {
        let text = losing_at_random(loss)
            .replace("\"dropper\"", "\"drop-tail\"")
            .replace("\"watched\"", "{ kind = \"bbr3\", loss_tolerance = 0.02 }");
        support::of(&support::run(&text), "wire", "forward", "utilisation")
    };
    for loss in [0.001, 0.01] {
        let used = used_with(loss);
        assert!(used > 0.95, "{used} with {loss}");
    }
    let used = used_with(0.03);
    assert!(used < 0.5, "{used}");
}

#[test]
fn delayed_acknowledgments_leave_samples() {
    // Every acknowledgment waits for a second segment, so the smallest round trip is that of the first of two.
    let case = Case { rate: 1000.0, rtt: 100, seconds: 15, ..Case::plain() };
    let run = Case { flow: "delayed_ack = true".into(), ..case }.run();
    let used = run.summary.links["wire"]["forward"]["utilisation"].as_f64().expect("a number");
    assert!(used > 0.9, "{used}");
    assert!(run.moments.last().expect("moments").round > 100.0, "a round trip takes 100 ms");
}
