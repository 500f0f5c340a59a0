//! What controllers that listen to delays promise for a link with flows on it.

use crate::support::{numbers, of, record, run};
use longfat_sim::summary::{FlowSummary, Summary};

/// The buffer of the link, in packets: more than anybody wants.
const BUFFER: f64 = 10_000.0;

/// Flows under `control`, some of each round trip, on a link of so many Mbit/s. They start one by one on a link that is
/// nearly idle, so that each sees its round trip without a queue.
fn sharing(control: &str, rate: u32, rtts_ms: &[u32], seconds: u32) -> Summary {
    sharing_in(control, rate, rtts_ms, seconds, BUFFER)
}

/// The same with a buffer of so many packets.
fn sharing_in(control: &str, rate: u32, rtts_ms: &[u32], seconds: u32, buffer: f64) -> Summary {
    run(&scenario(control, rate, rtts_ms, seconds, buffer))
}

/// What they run.
fn scenario(control: &str, rate: u32, rtts_ms: &[u32], seconds: u32, buffer: f64) -> String {
    let count = rtts_ms.len();
    let rtts: Vec<String> = rtts_ms.iter().map(|rtt| format!("\"{rtt} ms\"")).collect();
    let starts: Vec<String> = (0..count).map(|flow| format!("\"{} ms\"", 3 * flow)).collect();
    format!(
        r#"
        duration = "{seconds} s"
        warmup   = "{} s"
        [link.bottleneck]
        rate   = "{rate} Mbit/s"
        delay  = "1 ms"
        buffer = "{buffer} packets"
        [[flow]]
        name    = "flow"
        control = {control}
        count   = {count}
        path    = ["bottleneck"]
        rtt     = [{}]
        start   = [{}]
        initial_window = 2
        "#,
        seconds / 2,
        rtts.join(", "),
        starts.join(", "),
    )
}

/// Packets that wait in the mean.
fn waiting(summary: &Summary) -> f64 {
    of(summary, "bottleneck", "forward", "queue_mean") * BUFFER
}

/// Packets of each flow that wait in the mean (Little): its rate times what its round trips have beyond propagation and
/// transmission, where every packet is acknowledged at once.
fn waiting_of_each(summary: &Summary, rate: u32) -> Vec<f64> {
    let transmission = 12_000.0 / (1e6 * f64::from(rate));
    let waits = |flow: &FlowSummary| {
        flow.goodput_bit_s / 12_000.0 * (flow.queueing_delay_mean_s - transmission)
    };
    summary.flows.iter().map(waits).collect()
}

/// The largest goodput over the smallest.
fn spread(summary: &Summary) -> f64 {
    let rates = summary.flows.iter().map(|flow| flow.goodput_bit_s);
    let (least, most) = rates
        .fold((f64::INFINITY, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
    most / least
}

fn busy(summary: &Summary) {
    let utilisation = of(summary, "bottleneck", "forward", "utilisation");
    assert!(utilisation > 0.999, "utilisation {utilisation}");
    assert_eq!(of(summary, "bottleneck", "forward", "dropped"), 0.0);
}

/// Round trips of 20 to 100 ms.
const UNEQUAL: [u32; 5] = [20, 40, 60, 80, 100];

/// Brakmo and Peterson: each flow keeps between α and β of its own packets waiting, whatever its round trip: by the
/// smallest round trip of each round, from which it knows, and where all have the same, so that the queue stays as it is,
/// in the mean.
#[test]
fn vegas_keeps_between_alpha_and_beta_packets_waiting() {
    for (alpha, beta, rtts) in [(1.0, 3.0, [40; 5]), (1.0, 3.0, UNEQUAL), (2.0, 4.0, UNEQUAL)] {
        let control = format!("{{ kind = \"vegas\", alpha = {alpha}, beta = {beta} }}");
        let text = scenario(&control, 100, &rtts, 60, BUFFER);
        let recording = record(&format!("observe = true\n{text}"), true);
        let summary = &recording.summary;
        busy(summary);
        let within = |waiting: &f64| (alpha..=beta).contains(waiting);
        let [time, diff] = ["time_s", "diff"].map(|name| numbers(&recording, "flow_series", name));
        for (time, diff) in time.into_iter().zip(diff).filter(|(time, _)| *time > 30.0) {
            assert!(within(&diff), "{control} with {rtts:?}: {diff} at {time} s");
        }
        let each = waiting_of_each(summary, 100);
        let mean = each.iter().sum::<f64>() / 5.0;
        let in_the_mean = if rtts == UNEQUAL { within(&mean) } else { each.iter().all(within) };
        assert!(in_the_mean, "{control} with {rtts:?}: {each:?}");
        // Rates are proportional to what waits, which may be anything between the two.
        assert!(spread(summary) < beta / alpha, "{rtts:?}: shares {}", spread(summary));
    }
}

/// The same where acknowledgments are delayed, by which flows in small windows took each other's bursts and their own
/// acknowledgments for queues, and two of them a third of 10 Mbit/s. All wait in one queue, so each flow has its share of
/// what waits.
#[test]
fn vegas_fills_a_link_whatever_delays_acknowledgments() {
    for (rate, rtt) in [(10, 40), (100, 20)] {
        for count in [2, 3, 5] {
            for transport in ["delayed_ack = true", "profile = \"rfc\"", "profile = \"linux-6\""] {
                let text = scenario("\"vegas\"", rate, &[rtt; 5][..count], 60, BUFFER);
                let summary = run(&format!("{text}{transport}"));
                busy(&summary);
                let (waiting, rate) = (waiting(&summary), 1e6 * f64::from(rate));
                for flow in &summary.flows {
                    let each = waiting * flow.goodput_bit_s / rate;
                    assert!((1.0..=3.0).contains(&each), "{count} with {transport}: {each}");
                }
            }
        }
    }
}

/// With an odd window some acknowledgment of each round trip waits 100 ms for a second segment. That ended the first rise
/// of a window of 11, of Vegas on 100 Mbit/s and of FAST on 1 Gbit/s, long before the path was full: 20 s later half and
/// two thirds of the link had been used.
#[test]
fn an_acknowledgment_that_waits_ends_no_first_rise() {
    for (control, rate, rtt) in [("vegas", 100, 50), ("fast", 1000, 100)] {
        let used = |transport: &str| {
            let text = scenario(&format!("\"{control}\""), rate, &[rtt], 20, BUFFER);
            let text = text.replace("initial_window = 2", "initial_window = 11");
            let text = text.replace("warmup   = \"10 s\"", "warmup   = \"0 s\"");
            of(&run(&format!("{text}{transport}")), "bottleneck", "forward", "utilisation")
        };
        let (at_once, delayed) = (used("delayed_ack = false"), used("delayed_ack = true"));
        assert!(at_once > 0.9, "{control}: {at_once}");
        assert!(delayed > at_once - 0.01, "{control}: {delayed}, not {at_once}");
    }
}

/// Jin, Wei and Low: n flows keep n α packets waiting, and have the same share whatever their round trips.
#[test]
fn fast_keeps_alpha_packets_of_each_flow_waiting() {
    for (alpha, rate, rtts, seconds) in [
        (20.0, 100, &[40; 5][..], 40),
        (20.0, 100, &UNEQUAL[..], 40),
        (200.0, 1000, &[100][..], 20),
        (200.0, 1000, &UNEQUAL[..], 20),
    ] {
        let control = format!("{{ kind = \"fast\", alpha = {alpha} }}");
        let summary = sharing(&control, rate, rtts, seconds);
        busy(&summary);
        let each = waiting(&summary) / rtts.len() as f64;
        assert!((each - alpha).abs() < 1.0, "{control} with {rtts:?}: {each} each");
        assert!(spread(&summary) < 1.02, "{control} with {rtts:?}: shares {}", spread(&summary));
    }
}

/// Arun and Balakrishnan, section 3: flows with 1/δ̂ = Σ 1/δ swing between 0 and 2.5/δ̂ packets, 1.25/δ̂ in the mean.
#[test]
fn copa_empties_its_queue_again_and_again() {
    for (control, count) in [
        (r#"{ kind = "copa", delta = 0.1, competitive = false }"#, 1),
        (r#"{ kind = "copa", competitive = false }"#, 5),
    ] {
        let summary = sharing_in(control, 100, &[40; 5][..count], 60, 1000.0);
        let utilisation = of(&summary, "bottleneck", "forward", "utilisation");
        assert!(utilisation > 0.999, "{control}: utilisation {utilisation}");
        let packets = |key| of(&summary, "bottleneck", "forward", key) * 1000.0;
        let mean = packets("queue_mean");
        assert!((mean / 12.5 - 1.0).abs() < 0.1, "{control}: {mean} packets wait in the mean");
        assert!(packets("queue_p99") <= 25.0, "{control}: {} packets", packets("queue_p99"));
        assert!(spread(&summary) < 1.05, "{control}: shares {}", spread(&summary));
    }
}

/// What its essay says of that: for one flow it holds on any path, for several where the product is less than a hundred times
/// 1/δ̂. Beyond, v of one way serves the other, and the queue goes far above.
#[test]
fn copa_keeps_more_than_its_paper_says_where_several_flows_share_a_long_path() {
    // Flows, Mbit/s, ms.
    let over_theory = |count: usize, rate: u32, rtt: u32| {
        let control = r#"{ kind = "copa", competitive = false }"#;
        let summary = sharing(control, rate, &[rtt; 5][..count], 60);
        let packets = |key| of(&summary, "bottleneck", "forward", key) * BUFFER;
        let all = 2.0 * count as f64;
        (packets("queue_mean") / (1.25 * all), packets("queue_p99") / (2.5 * all))
    };
    for (count, rate, rtt) in [(1, 20, 40), (1, 200, 60), (1, 1000, 20), (2, 100, 30), (5, 200, 40)]
    {
        let (mean, most) = over_theory(count, rate, rtt);
        let case = format!("{count} flows, {rate} Mbit/s, {rtt} ms");
        assert!((0.9..1.2).contains(&mean) && most <= 1.0, "{case}: {mean}, {most} times");
    }
    let (mean, most) = over_theory(5, 500, 60);
    assert!((4.0..7.0).contains(&mean) && most > 20.0, "{mean}, {most} times");
}

/// Section 2.2: among themselves Copa flows stay in their default mode, and beside Reno they leave it.
#[test]
fn copa_competes_only_where_others_fill_the_queue() {
    let alone = sharing_in("\"copa\"", 100, &[40; 5], 60, 1000.0);
    let mean = of(&alone, "bottleneck", "forward", "queue_mean") * 1000.0;
    assert!(mean < 1.25 * 12.5, "{mean} packets wait in the mean");
    let beside_reno = |competitive: bool| {
        let summary = run(&format!(
            r#"
            duration = "120 s"
            warmup   = "20 s"
            [link.bottleneck]
            rate   = "20 Mbit/s"
            delay  = "1 ms"
            buffer = "1 bdp"
            [[flow]]
            name    = "copa"
            control = {{ kind = "copa", competitive = {competitive} }}
            path    = ["bottleneck"]
            rtt     = "40 ms"
            [[flow]]
            name    = "reno"
            control = "reno"
            path    = ["bottleneck"]
            rtt     = "40 ms"
            "#
        ));
        summary.flows[0].goodput_bit_s / 20e6
    };
    let (competing, patient) = (beside_reno(true), beside_reno(false));
    assert!((0.4..0.65).contains(&competing), "it should have about a half: {competing}");
    assert!(patient < 0.15, "without competing Reno leaves it little: {patient}");
}

/// What its essay says of several flows on a long path: they leave a part of it idle, since a window that turns within a
/// round trip moves the other way as fast as it came, and do not where it begins anew (mvfst, `changeDirection`).
#[test]
fn copa_fills_a_long_path_if_its_velocity_ends_where_the_window_turns() {
    let used = |turns_at_once: bool| {
        let one = |seed: u64| {
            let summary = run(&format!(
                r#"
                duration = "40 s"
                warmup   = "10 s"
                seed     = {seed}
                [link.bottleneck]
                rate   = "100 Mbit/s"
                delay  = "20 ms"
                buffer = "1 bdp"
                [[flow]]
                name     = "flow"
                control  = {{ kind = "copa", turns_at_once = {turns_at_once} }}
                count    = 6
                path     = ["bottleneck"]
                rtt      = "100 ms"
                start    = {{ uniform = ["0 s", "1 s"] }}
                recovery = "rack"
                "#
            ));
            of(&summary, "bottleneck", "forward", "utilisation")
        };
        (1..=5).map(one).fold((1.0_f64, 0.0), |(least, sum), it| (least.min(it), sum + it / 5.0))
    };
    let ((least, _), (_, mean)) = (used(true), used(false));
    assert!(least > 0.97, "turning at once: {least}");
    assert!((0.7..0.95).contains(&mean), "as in the paper: {mean}");
}

/// What its essay says of its domain: where each of two flows has less than some 60 packets of the product, or a lone one
/// less than 25, they take themselves for Reno, compete, and wait eight times as long and more; with 100 and 50 they do not.
#[test]
fn copa_takes_its_own_kind_for_reno_where_windows_are_small() {
    // So many flows, Mbit/s and ms, and whether they compete.
    for (count, rate, rtt, competes) in [
        (2, 5, 30, true),
        (2, 10, 30, true),
        (2, 20, 30, true),
        (2, 100, 30, false),
        (2, 200, 30, false),
        (1, 2, 60, true),
        (1, 10, 60, false),
        (1, 20, 60, false),
    ] {
        let product = f64::from(rate * rtt) / 12.0;
        let wait = |control: &str| {
            let summary = sharing_in(control, rate, &[rtt; 2][..count], 60, 10.0 * product);
            let waits = summary.flows.iter().map(|flow| 1e3 * flow.queueing_delay_mean_s);
            waits.sum::<f64>() / count as f64
        };
        let patient = wait(r#"{ kind = "copa", competitive = false }"#);
        let times = wait("\"copa\"") / patient;
        let case =
            format!("{count} flows, {rate} Mbit/s, {rtt} ms: {patient} ms, {times} times it");
        // 1.25/δ̂ packets of 12 000 bits each.
        let promised = 2.5 * count as f64 * 12.0 / f64::from(rate);
        assert!((0.7..1.5).contains(&(patient / promised)), "{case}, {promised} ms promised");
        if competes {
            assert!(times > 8.0, "{case}");
        } else {
            assert!(times < 2.5, "{case}");
        }
    }
}

/// Why they do not come back. The swing of the queue leaves a trough where 1/δ is not small beside the product, and a flow
/// that competes adds one to 1/δ in each round trip: by the time of the next empty queue there is none. Ten seconds later
/// `RTTmin` takes the trough for a path without a queue, and another trough comes on top of it.
#[test]
fn copa_takes_the_trough_of_its_queue_for_an_empty_path() {
    // Packets that wait, every millisecond.
    let queue = |inverse: u32, count, rate, rtt: u32| -> Vec<f64> {
        let delta = 1.0 / f64::from(inverse);
        let control = format!("{{ kind = \"copa\", competitive = false, delta = {delta} }}");
        let text = scenario(&control, rate, &[rtt; 2][..count], 40, BUFFER);
        let recording = record(&format!("sample = \"1 ms\"\n{text}"), true);
        // Forward and reverse alternate.
        numbers(&recording, "link_series", "queue_packets").into_iter().step_by(2).collect()
    };
    let least = |queue: &[f64]| queue.iter().copied().fold(f64::INFINITY, f64::min);
    // Before anything is forgotten, with a product of 100 packets: 1/δ, and the trough.
    for (inverse, trough) in [(7, 0.0), (15, 1.0), (20, 3.0), (40, 9.0)] {
        let queue = queue(inverse, 1, 20, 60);
        assert_eq!(least(&queue[5000..9000]), trough, "1/δ = {inverse}");
        let later = [5, 13, 23, 33].map(|second| least(&queue[1000 * second..][..5000]));
        for pair in later.windows(2) {
            let rise = pair[1] - pair[0];
            assert!((rise - trough).abs() <= 1.0, "1/δ = {inverse}: {pair:?}");
        }
    }
    // Two that have competed for eight round trips, with products of 50 and 250 packets: is the queue nearly empty within
    // five of 30 ms again and again?
    for (rate, empties) in [(20, false), (100, true)] {
        let queue = queue(10, 2, rate, 30);
        let late = &queue[20_000..];
        let nearly_empty = 0.1 * late.iter().copied().fold(0.0, f64::max);
        let gaps = late.split(|&packets| packets <= nearly_empty).map(<[f64]>::len);
        let longest = gaps.max().expect("one at least");
        assert_eq!(longest < 5 * 30, empties, "{rate} Mbit/s: {longest} ms");
    }
}

/// So many flows of a kind that begin 10 s apart on 10 Mbit/s with a buffer of 300 ms, and what else there is.
fn in_the_background(control: &str, count: u32, others: &str) -> Summary {
    run(&format!(
        r#"
        duration = "300 s"
        warmup   = "100 s"
        [link.bottleneck]
        rate   = "10 Mbit/s"
        delay  = "1 ms"
        buffer = "300 ms"
        [[flow]]
        name    = "background"
        control = "{control}"
        path    = ["bottleneck"]
        rtt     = "40 ms"
        count   = {count}
        start   = {{ spread = ["0 s", "30 s"] }}
        initial_window = 2
        {others}
        "#
    ))
}

const RENO: &str = r#"
        [[flow]]
        name    = "reno"
        control = "reno"
        path    = ["bottleneck"]
        rtt     = "40 ms"
        "#;

/// Shares of the link, in the order of the scenario.
fn shares(summary: &Summary) -> Vec<f64> {
    summary.flows.iter().map(|flow| flow.goodput_bit_s / 10e6).collect()
}

/// RFC 6817: the queue is TARGET long. With LEDBAT++ it is that in between slowdowns, which cost less than a tenth.
#[test]
fn ledbat_holds_its_target_delay() {
    let (rfc, draft) = (in_the_background("ledbat", 1, ""), in_the_background("ledbat++", 1, ""));
    let wait = |summary: &Summary| of(summary, "bottleneck", "forward", "queue_mean") * 300.0;
    assert!((wait(&rfc) - 100.0).abs() < 1.0, "{} ms", wait(&rfc));
    assert!((50.0..60.0).contains(&wait(&draft)), "{} ms", wait(&draft));
    assert!(shares(&rfc)[0] > 0.999 && shares(&draft)[0] > 0.9, "{:?}", shares(&draft));
}

/// One-way delays come back with every kind of acknowledgment.
#[test]
fn ledbat_holds_its_target_over_every_transport() {
    for transport in ["recovery = \"quic\"", "recovery = \"rack\"", "delayed_ack = true"] {
        let summary = in_the_background("ledbat", 1, transport);
        let wait = of(&summary, "bottleneck", "forward", "queue_mean") * 300.0;
        assert!((wait - 100.0).abs() < 1.5, "{transport}: {wait} ms");
    }
}

/// What waits on the way back is not its doing: delays are one-way (RFC 6817, section 3.2). By round trips it would be
/// taken for a queue that others fill, as LEDBAT++ does.
#[test]
fn ledbat_does_not_mind_a_queue_on_the_way_back() {
    let back = format!("{RENO}reverse = true");
    let share = |control| shares(&in_the_background(control, 1, &back))[0];
    let (one_way, round_trips) = (share("ledbat"), share("ledbat++"));
    assert!(one_way > 0.7, "{one_way}");
    assert!(round_trips < 0.1, "{round_trips}");
}

/// Both get out of the way of a Reno flow that fills the queue beyond the target.
#[test]
fn ledbat_yields_to_reno() {
    for control in ["ledbat", "ledbat++"] {
        let summary = in_the_background(control, 1, RENO);
        assert!(shares(&summary)[0] < 0.01, "{control}: {:?}", shares(&summary));
        assert!(of(&summary, "bottleneck", "forward", "utilisation") > 0.999);
    }
}

/// RFC 6817, section 4.4: the flow that comes last takes most. Slowdowns show everybody the base delay: LEDBAT++ shares
/// equally.
#[test]
fn slowdowns_end_the_advantage_of_latecomers() {
    let rfc = in_the_background("ledbat", 4, "");
    assert!(shares(&rfc)[3] > 0.5 && shares(&rfc)[0] < 0.05, "{:?}", shares(&rfc));
    let draft = in_the_background("ledbat++", 4, "");
    assert!(spread(&draft) < 1.1, "{:?}", shares(&draft));
    assert!(of(&draft, "bottleneck", "forward", "queue_mean") * 300.0 < 60.0);
}
