//! Controllers made for links that lose packets which no queue has dropped.

use crate::support::run;
use longfat_sim::summary::Summary;

/// Flows on 10 Mbit/s, each with a controller and a round trip, for five minutes. One packet in so many is lost on the link.
fn on_a_radio(flows: &[(&str, &str)], loss: f64, buffer: &str, seed: u32) -> Summary {
    let flow = |(index, (control, rtt)): (usize, &(&str, &str))| {
        format!(
            r#"
            [[flow]]
            name     = "flow{index}"
            control  = "{control}"
            path     = ["radio"]
            rtt      = "{rtt}"
            start    = {{ uniform = ["0 s", "1 s"] }}
            recovery = "rack"
            "#
        )
    };
    run(&format!(
        r#"
        duration = "320 s"
        warmup   = "20 s"
        seed     = {seed}
        [link.radio]
        rate   = "10 Mbit/s"
        delay  = "1 ms"
        buffer = "{buffer}"
        loss   = {loss}
        [link.radio.reverse]
        loss   = 0
        {}
        "#,
        flows.iter().enumerate().map(flow).collect::<String>()
    ))
}

fn rates(summary: &Summary) -> Vec<f64> {
    summary.flows.iter().map(|flow| flow.goodput_bit_s / 1e6).collect()
}

/// The rate of a flow alone, over three seeds.
fn alone(control: &str, rtt: &str) -> f64 {
    let rate = |seed| rates(&on_a_radio(&[(control, rtt)], 0.01, "1 bdp", seed))[0];
    (1..=3).map(rate).sum::<f64>() / 3.0
}

/// Fu and Liew: up to 80 % more than Reno where one packet in a hundred is lost; √3 without time-outs.
#[test]
fn veno_gains_up_to_80_percent_where_one_packet_in_a_hundred_is_lost() {
    let gained = alone("veno", "100 ms") / alone("reno", "100 ms");
    assert!((1.65..1.8).contains(&gained), "Veno has {gained} times what Reno has");
}

/// The same: it takes nothing from Reno. Two flows of each, with losses at random and without.
#[test]
fn veno_takes_nothing_from_reno() {
    for loss in [0.0, 0.01] {
        let of = |others| {
            let flows = ["reno", "reno", others, others].map(|control| (control, "100 ms"));
            let both =
                |seed| rates(&on_a_radio(&flows, loss, "1 bdp", seed))[..2].iter().sum::<f64>();
            (1..=4).map(both).sum::<f64>() / 4.0
        };
        let kept = of("veno") / of("reno");
        assert!(kept > 0.97, "with {loss} of losses {kept} of what they have among their own kind");
    }
}

/// What its essay warns of: where a queue has no room for three segments of each flow, every loss takes a fifth.
#[test]
fn veno_takes_the_share_of_reno_where_queues_are_too_short_for_three_segments_of_each() {
    let flows: Vec<_> =
        ["veno"; 4].into_iter().chain(["reno"; 4]).map(|name| (name, "40 ms")).collect();
    let ratio = |buffer| {
        let rates = rates(&on_a_radio(&flows, 0.0, buffer, 1));
        rates[..4].iter().sum::<f64>() / rates[4..].iter().sum::<f64>()
    };
    let (short, long) = (ratio("8 packets"), ratio("84 packets"));
    assert!((3.0..4.0).contains(&short), "{short} times as much with a place for each flow");
    assert!((0.9..1.1).contains(&long), "{long} times as much with ten");
}

/// Hayes and Armitage: where one packet in a hundred is lost it has 86 % more than NewReno.
#[test]
fn cdg_hardly_minds_one_loss_in_a_hundred_packets() {
    for (rtt, least, most) in [("20 ms", 1.4, 1.6), ("40 ms", 2.4, 2.8), ("100 ms", 5.0, 6.0)] {
        let gained = alone("cdg", rtt) / alone("reno", rtt);
        assert!((least..most).contains(&gained), "{rtt}: {gained} times what Reno has");
    }
}

/// The same: alone it keeps the queue short, and its link busy most of the time.
#[test]
fn cdg_keeps_the_queue_short() {
    let summary = on_a_radio(&[("cdg", "100 ms")], 0.0, "1 bdp", 1);
    let (rate, delay) = (rates(&summary)[0], summary.flows[0].queueing_delay_mean_s);
    assert!((8.5..9.5).contains(&rate), "{rate} Mbit/s");
    assert!(delay < 0.005, "{delay} s of 0.1");
}

/// The same: it backs off as often per second whatever the round trip. Increase is still by a segment per round trip, so flows of
/// 40 and 80 ms differ by less than the two there are between them, and Reno's by more than the square.
#[test]
fn cdg_minds_round_trips_less_than_reno() {
    let ratio = |control| {
        let flows = ["40 ms", "40 ms", "80 ms", "80 ms"].map(|rtt| (control, rtt));
        let rates = rates(&on_a_radio(&flows, 0.0, "84 packets", 1));
        (rates[0] + rates[1]) / (rates[2] + rates[3])
    };
    let (cdg, reno) = (ratio("cdg"), ratio("reno"));
    assert!((1.3..1.6).contains(&cdg), "{cdg} times as fast at 40 ms");
    assert!(reno > 4.0, "Reno {reno} times");
}

/// The same: beside Reno it does not starve. It has 12 to 16 % of a link that two share.
#[test]
fn cdg_survives_beside_reno() {
    for rtt in ["40 ms", "100 ms"] {
        let summary = on_a_radio(&[("cdg", rtt), ("reno", rtt)], 0.0, "84 packets", 1);
        let rate = rates(&summary)[0];
        assert!((1.0..1.8).contains(&rate), "{rtt}: {rate} of 10 Mbit/s");
    }
}
