//! The host by hand, beside a controller that is driven directly, and under anything.

use longfat_control::{CONTROLLERS, Sending};
use proptest::prelude::*;

use super::*;
use crate::refusal;

const PAYLOAD: u32 = 1448;
const MILLISECOND: u64 = 1_000_000;

/// The report of a flow that begins with ten segments.
fn beginning() -> Report {
    Report {
        now: 5_000 * MILLISECOND,
        generation: 1,
        report: 1,
        news: News::BEGINS,
        window: 10,
        threshold: NO_THRESHOLD,
        payload: PAYLOAD,
        ..Report::default()
    }
}

/// The next report, after so many milliseconds, with nothing in it.
fn after(last: &Report, milliseconds: u64) -> Report {
    Report {
        now: last.now + milliseconds * MILLISECOND,
        report: last.report + 1,
        news: News::default(),
        acked: 0,
        held: 0,
        sacked: 0,
        lost: 0,
        marked: 0,
        rtt_us: 100_000,
        least_rtt_us: 100_000,
        smoothed_us: 100_000,
        ..*last
    }
}

fn named(name: &str) -> Choice {
    Choice::read(name).expect("it runs")
}

/// Hears a report at once.
fn hear(host: &mut Host, report: &Report) -> Decision {
    host.hear(report, report.now).expect("it is answered")
}

#[test]
fn the_bit_of_anti_ecn_doubles_the_window_and_its_absence_is_reno() {
    let first = Report { window: 100, threshold: 50, ..beginning() };
    let mut host = Host::new(named("anti-ecn"), &first);
    // In congestion avoidance a window without the bit adds one segment, and with it another window.
    let silent = Report { acked: 100, ..after(&first, 100) };
    assert_eq!(hear(&mut host, &silent).window, 100, "the hundredth adds less than its share");
    let told = Report { acked: 101, spare: 101, ..after(&silent, 100) };
    let grown = hear(&mut host, &told).window;
    assert!((201..=203).contains(&grown), "{grown}");
    // No more than was acknowledged can have had it.
    let wrong = Report { acked: 10, spare: u32::MAX, ..after(&told, 100) };
    assert!(hear(&mut host, &wrong).window <= grown + 11);
    // Whoever does not read the bit does not hear of it.
    let mut reno = Host::new(named("reno"), &first);
    assert_eq!(hear(&mut reno, &Report { spare: 100, ..silent }).window, 100);
}

#[test]
fn reno_by_hand() {
    let first = beginning();
    let mut host = Host::new(named("reno"), &first);
    assert_eq!(host.decision(&first).window, 10);
    assert_eq!(host.decision(&first).threshold, NO_THRESHOLD);

    // Slow start: ten acknowledged segments add ten, and one that was held adds none.
    let grown = Report { acked: 10, held: 1, ..after(&first, 100) };
    assert_eq!(hear(&mut host, &grown).window, 20);

    // A loss: two more were acknowledged before it, and half of 22 is left.
    let loss = News::LOSS | News::RECOVERY;
    let lost = Report { acked: 2, lost: 1, event: 1, news: loss, ..after(&grown, 10) };
    let decision = hear(&mut host, &lost);
    assert_eq!((decision.window, decision.threshold, decision.event), (11, 11, 1));

    // What is acknowledged while it is repaired adds nothing, up to the acknowledgment that ends it: that one adds 1/11.
    let during = Report { held: 9, lost: 3, news: News::RECOVERY, ..after(&lost, 50) };
    assert_eq!(hear(&mut host, &during).window, 11);
    let repaired = Report { held: 5, acked: 1, news: News::RECOVERED, ..after(&during, 50) };
    hear(&mut host, &repaired);
    assert!((host.control().window().0 - (11.0 + 1.0 / 11.0)).abs() < 1e-9);
}

#[test]
fn a_timeout_begins_again_with_one_segment() {
    let first = beginning();
    let mut host = Host::new(named("reno"), &first);
    let grown = Report { acked: 30, ..after(&first, 100) };
    hear(&mut host, &grown);
    let timeout = Report { event: 1, news: News::TIMEOUT, in_flight: 40, ..after(&grown, 400) };
    let decision = hear(&mut host, &timeout);
    assert_eq!((decision.window, decision.threshold), (1, 20));
    let again = News::TIMEOUT | News::AGAIN;
    let again = Report { event: 2, news: again, in_flight: 1, ..after(&timeout, 800) };
    assert_eq!(hear(&mut host, &again).threshold, 20, "data that timed out before");
}

#[test]
fn marks_are_answered_without_recovery() {
    let first = beginning();
    let mut host = Host::new(named("reno"), &first);
    let grown = Report { acked: 30, ..after(&first, 100) };
    hear(&mut host, &grown);
    let marked = Report { held: 1, marked: 1, event: 1, news: News::MARK, ..after(&grown, 10) };
    assert_eq!(hear(&mut host, &marked).window, 20);
    // Echoes of the same mark go on for a round trip; what has none adds to the window.
    let echo = Report { held: 4, acked: 20, marked: 4, ..after(&marked, 50) };
    assert_eq!(hear(&mut host, &echo).window, 20);
    assert!(host.control().window().0 > 20.9);
}

#[test]
fn a_round_trip_starts_where_new_data_is_acknowledged() {
    let mut first = beginning();
    // Sequence numbers wrap around on the way.
    first.unacknowledged = u32::MAX - 1000;
    first.next = u32::MAX - 500;
    let mut host = Host::new(named("reno"), &first);
    for (unacknowledged, next, starts) in [
        (u32::MAX - 600, 2000, false),
        (u32::MAX - 500, 3000, false),
        (1, 4000, true),
        (4000, 5000, false),
        (4001, 6000, true),
    ] {
        let report = Report { unacknowledged, next, ..first };
        assert_eq!(host.round_starts(&report), starts, "{unacknowledged}");
    }
}

#[test]
fn after_a_silence_it_begins_where_the_kernel_is() {
    let first = beginning();
    let mut host = Host::new(named("exp"), &first);
    hear(&mut host, &Report { acked: 500, ..after(&first, 100) });

    // The kernel has gone to Reno. What it says of the time before is too old to be trusted ...
    let silent = Report { epoch: 1, event: 3, window: 77, threshold: 40, ..after(&first, 900) };
    assert_eq!(host.hear(&silent, silent.now + 101 * MILLISECOND), None);
    // ... and what was acknowledged meanwhile has moved its window already.
    let fresh = Report { acked: 50, report: 9, window: 80, ..silent };
    let decision = host.hear(&fresh, fresh.now + 99 * MILLISECOND).expect("it is fresh");
    assert_eq!((decision.window, decision.threshold), (80, 40));
    assert_eq!((decision.epoch, decision.event, decision.report), (1, 3, 9));
    // It goes on from there.
    let more = Report { acked: 10, ..after(&fresh, 10) };
    assert!(hear(&mut host, &more).window >= 80);
    assert!(host.control().window().0 > 80.0);
}

#[test]
fn late_reports_count_while_the_kernel_waits() {
    let first = beginning();
    let mut host = Host::new(named("reno"), &first);
    let grown = Report { acked: 10, ..after(&first, 100) };
    let decision = host.hear(&grown, grown.now + 300 * MILLISECOND);
    assert_eq!(decision.map(|decision| decision.window), Some(20));
}

#[test]
fn pacing_is_in_bytes_of_data() {
    let first = beginning();
    let mut host = Host::new(named("{ kind = \"exp\", pacing = true }"), &first);
    let report = Report { acked: 10, next: 1, unacknowledged: 1, ..after(&first, 100) };
    hear(&mut host, &report);
    // Out of slow start, where it is paced.
    let lost = Report { event: 1, news: News::LOSS, ..after(&report, 10) };
    let decision = hear(&mut host, &lost);
    let Pacing::Spread { gain } = host.control().pacing() else { panic!("it is not paced") };
    // So many segments per tenth of a second.
    let expected = gain * host.control().window().0 * 10.0 * f64::from(PAYLOAD);
    let pacing = decision.pacing.expect("it is paced") as f64;
    assert!((pacing - expected).abs() <= 1.0, "{pacing} is not {expected}");

    let mut unpaced = Host::new(named("reno"), &first);
    assert_eq!(hear(&mut unpaced, &report).pacing, None);
}

/// All that can run here.
fn accepted() -> Vec<Choice> {
    let runs = CONTROLLERS.iter().filter(|controller| {
        let sending: Sending = (controller.build)(&controller.defaults(), &Start::default());
        refusal(&sending).is_none()
    });
    runs.map(|controller| named(&controller.name)).collect()
}

/// What may come from the kernel, however strange.
fn any_report() -> impl Strategy<Value = Report> {
    let counts = prop::array::uniform6(prop_oneof![4 => 0..100_u32, 1 => 0..100_000_u32]);
    let times = (0..2_000_000_000_u64, 0..3_000_000_u32, any::<u32>());
    let rest = (0..0x400_u32, 0..3_u32, any::<[u32; 3]>(), 1..10_000_u32, 0..3_u64);
    (counts, times, rest).prop_map(|(counts, (now, rtt_us, smoothed), rest)| {
        let [acked, held, sacked, lost, marked, in_flight] = counts;
        let (news, epoch, [unacknowledged, next, threshold], window, _) = rest;
        Report {
            now,
            slot: 0,
            generation: 1,
            report: 1,
            event: news,
            epoch,
            news: News(news),
            acked,
            held,
            sacked,
            lost,
            marked,
            in_flight,
            rtt_us,
            least_rtt_us: rtt_us,
            smoothed_us: smoothed % 10_000_000,
            window,
            threshold,
            unacknowledged,
            next,
            payload: PAYLOAD,
            spare: acked / 2,
            ..Report::default()
        }
    })
}

proptest! {
    #[test]
    fn any_reports_give_windows_that_linux_can_have(
        which in any::<prop::sample::Index>(),
        reports in prop::collection::vec(any_report(), 1..40),
    ) {
        let accepted = accepted();
        let choice = accepted[which.index(accepted.len())].clone();
        let mut host = Host::new(choice, &reports[0]);
        for report in &reports {
            if let Some(decision) = host.hear(report, report.now) {
                prop_assert!((1..=1 << 30).contains(&decision.window));
                prop_assert!(decision.threshold <= NO_THRESHOLD);
                prop_assert!(decision.pacing != Some(0));
                prop_assert_eq!(decision.epoch, report.epoch);
            }
        }
    }

    /// However acknowledgments are batched, laws end at the same window.
    #[test]
    fn reports_add_up_to_what_a_controller_is_told_directly(
        name in prop::sample::select(vec!["reno", "hstcp", "stcp", "exp", "cw-hstcp"]),
        batches in prop::collection::vec(1..50_u32, 1..60),
    ) {
        let first = beginning();
        let loss = Report { event: 1, news: News::LOSS, ..after(&first, 10) };
        let mut host = Host::new(named(name), &first);
        let mut direct = named(name).build(&start(&first));
        let path = Path { rtt: Span::from_millis(100), base_rtt: Span::from_millis(100) };
        let grow = |control: &mut Box<dyn CongestionControl>, segments: u32| {
            for _ in 0..segments {
                control.on_feedback(&Feedback::at(Time::ZERO, 1), &path);
            }
        };

        let begins = Report { acked: 90, ..after(&first, 5) };
        hear(&mut host, &begins);
        grow(&mut direct, 90);
        hear(&mut host, &loss);
        let event = Congestion { now: Time::ZERO, cause: Cause::Loss, in_flight: 0, again: false };
        direct.on_congestion(&event, &path);
        for acked in batches {
            hear(&mut host, &Report { acked, ..after(&loss, 10) });
            grow(&mut direct, acked);
        }
        let (own, other) = (host.control().window().0, direct.window().0);
        prop_assert!((own - other).abs() < 1e-9 * other, "{} is not {}", own, other);
    }
}
