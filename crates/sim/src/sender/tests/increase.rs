//! Windows that grow without being full (draft-ietf-ccwg-ratelimited-increase-10), checked by hand: round trips of 100 ms,
//! and a wire with no transmission time.

use longfat_control::{CONTROLLERS, Feedback, Limited, Sending, Start};
use longfat_scenario::{Recovery, WindowValidation};
use longfat_units::{Segments, Span, Time};
use proptest::prelude::*;

use super::super::{Sender, SenderConfig};
use super::{Dialogue, config, sending};

/// A flow of this kind that has this window, and a threshold if any, and so many segments to send for now.
fn flow(how: WindowValidation, window: f64, threshold: Option<f64>, segments: u64) -> Dialogue {
    losing(how, window, threshold, segments, &[])
}

fn losing(
    how: WindowValidation,
    window: f64,
    threshold: Option<f64>,
    segments: u64,
    lost: &[u64],
) -> Dialogue {
    let (window, threshold) = (Segments(window), threshold.map(Segments));
    let start = Start { window, threshold, ..Start::default() };
    let config = SenderConfig { window_validation: how, ..config(Recovery::Sack, None, segments) };
    Dialogue::of("reno", &start, config, lost)
}

use WindowValidation::{None as Kept, RateLimitedIncrease};

/// The windows after rounds of so many segments, one every 200 ms, the first of which are there from the start.
fn rounds(dialogue: &mut Dialogue, more: &[u64]) -> Vec<f64> {
    dialogue.run(Span::from_millis(150));
    let mut windows = vec![dialogue.window()];
    for (round, &segments) in more.iter().enumerate() {
        let at = 200 * (round as u64 + 1);
        dialogue.offer(at, segments);
        dialogue.run(Span::from_millis(at + 150));
        windows.push(dialogue.window());
    }
    windows
}

#[test]
fn an_unused_window_is_at_most_twice_what_was_in_flight() {
    // Section 3.1. Ten leave, and later four, with an initial window of ten: 20 after the first ten, and no more after the
    // four. Without the draft's rule only the first acknowledgment finds the window full.
    assert_eq!(rounds(&mut flow(RateLimitedIncrease, 10.0, None, 10), &[4]), [20.0, 20.0]);
    assert_eq!(rounds(&mut flow(Kept, 10.0, None, 10), &[4]), [11.0, 11.0]);
}

#[test]
fn the_growth_of_appendix_a_lets_its_last_round_leave_at_once() {
    // Rounds of 4, 8, 4 and 20 segments. The fourth finds a window of 20, so that all of them leave at once.
    let mut dialogue = flow(RateLimitedIncrease, 10.0, None, 4);
    assert_eq!(rounds(&mut dialogue, &[8, 4, 20]), [14.0, 20.0, 20.0, 40.0]);
    let left: Vec<u64> = dialogue.log.iter().map(|sent| sent.0).collect();
    assert_eq!(left, [vec![0; 4], vec![200; 8], vec![400; 4], vec![600; 20]].concat());
    // Ten leave at once of the fourth where nothing has been let through.
    let mut usual = flow(Kept, 10.0, None, 4);
    assert_eq!(rounds(&mut usual, &[8, 4])[2], 10.0);
    assert_eq!(usual.offer(600, 20), 10);
}

#[test]
fn congestion_avoidance_ends_one_segment_above_the_most_in_flight() {
    // maxFS is the initial window, 20. Acknowledgments of three segments in a round trip each add 1/w; after 20 of them
    // it is just below 21, which the next one reaches.
    let mut dialogue = flow(RateLimitedIncrease, 20.0, Some(2.0), 3);
    let windows = rounds(&mut dialogue, &[3; 9]);
    let expected = (1..=20).fold(20.0, |window, _| window + 1.0 / window);
    assert!(expected < 21.0 && expected + 1.0 / expected > 21.0, "{expected}");
    assert!(windows[5] < expected && windows[5] > 20.8, "{windows:?}");
    assert_eq!(windows[6..], [21.0; 4]);
    assert_eq!(rounds(&mut flow(Kept, 20.0, Some(2.0), 3), &[3; 9]), [20.0; 10]);
    // More in flight lets it go on: 15 do not, 21 do. A window that is full grows in any case.
    assert_eq!(dialogue.offer(2_200, 15), 15);
    dialogue.run(Span::from_millis(2_350));
    assert_eq!(dialogue.window(), 21.0);
    assert_eq!(dialogue.offer(2_400, 21), 21);
    dialogue.run(Span::from_millis(2_550));
    assert!(dialogue.window() > 21.9 && dialogue.window() <= 22.0, "{}", dialogue.window());
}

#[test]
fn a_limit_below_the_window_takes_nothing() {
    // Slow start ends at 18 with ten in flight at most: limit(10) is 11 from then on.
    let mut dialogue = flow(RateLimitedIncrease, 10.0, Some(18.0), 10);
    assert_eq!(rounds(&mut dialogue, &[9, 9, 9]), [18.0; 4]);
}

#[test]
fn after_a_reduction_the_next_flight_counts() {
    // 20 leave in congestion avoidance, so maxFS is 20, and five more at 200 ms, of which the second is lost. At 300 ms
    // block 24 is the third above 21: half of the window is left, and maxFS is what is in flight by then. From 500 ms on
    // five leave at a time: limit(5) is 6, so that the window stays; with a maxFS of 20 it would grow.
    let mut dialogue = losing(RateLimitedIncrease, 20.0, Some(2.0), 20, &[21]);
    dialogue.run(Span::from_millis(150));
    let before = dialogue.window();
    assert!(before > 20.9, "{before}");
    assert_eq!(dialogue.offer(200, 5), 5);
    dialogue.run(Span::from_millis(450));
    assert_eq!(dialogue.retransmissions(), [(300, 21)]);
    let halved = dialogue.window();
    assert!((halved - before / 2.0).abs() < 0.1, "{before} {halved}");
    for at in [500, 700, 900] {
        assert_eq!(dialogue.offer(at, 5), 5);
        dialogue.run(Span::from_millis(at + 150));
        assert_eq!(dialogue.window(), halved, "at {at} ms");
    }
    // Ten in flight are as many as it has whole segments: then it grows, but no further than 11.
    assert_eq!(dialogue.offer(1_100, 10), 10);
    dialogue.run(Span::from_millis(1_250));
    assert!(dialogue.window() > halved + 0.4 && dialogue.window() <= 11.0, "{}", dialogue.window());
}

#[test]
fn a_reduction_counts_though_nothing_leaves_after_it() {
    // 20 leave, and one at 200 ms, which is lost. A probe repairs it; five more leave with that. The acknowledgment of the
    // probe lets the window grow to limit(20), 21, and halves it, which calls for no retransmission. Those of the five
    // follow.
    let start =
        Start { window: Segments(20.0), threshold: Some(Segments(2.0)), ..Start::default() };
    let window_validation = RateLimitedIncrease;
    let config = SenderConfig { window_validation, ..config(Recovery::Rack, None, 20) };
    let mut dialogue = Dialogue::of("reno", &start, config, &[20]);
    assert_eq!(dialogue.offer(200, 1), 1);
    while dialogue.retransmissions().is_empty() {
        assert!(dialogue.step(Span::from_seconds(2)));
    }
    let [(probe, 20)] = dialogue.retransmissions()[..] else { panic!("it is sent once more") };
    assert_eq!(dialogue.offer(probe, 5), 5);
    dialogue.run(Span::from_millis(probe + 150));
    assert_eq!(dialogue.window(), 10.5);
}

#[test]
fn a_bound_on_what_is_in_flight_is_like_a_lack_of_data() {
    // Slow start from two with five in flight at most: 2 · 5, and without the rule no more than what is found full.
    let window_of = |how| {
        let start = Start { window: Segments(2.0), ..Start::default() };
        let bounded = config(Recovery::Sack, None, 1_000);
        let config = SenderConfig { window_validation: how, max_window: 5, ..bounded };
        let mut dialogue = Dialogue::of("reno", &start, config, &[]);
        dialogue.run(Span::from_millis(1_950));
        dialogue.window()
    };
    assert_eq!(window_of(RateLimitedIncrease), 10.0);
    assert!(window_of(Kept) < 7.0, "{}", window_of(Kept));
}

#[test]
fn clocks_that_drive_growth_do_not_count_pauses() {
    // Ten in flight fill the window once, from where cubic growth begins with K = 0, and the high-speed mode of H-TCP is a
    // second away. Then nine every 200 ms or every 10 s, each of which finds the window not full: the pauses of 100 ms or
    // 9.9 s make no difference.
    let after = |control: &str, pause: u64| {
        let start =
            Start { window: Segments(10.0), threshold: Some(Segments(2.0)), ..Start::default() };
        let window_validation = RateLimitedIncrease;
        let config = SenderConfig { window_validation, ..config(Recovery::Sack, None, 10) };
        let mut dialogue = Dialogue::of(control, &start, config, &[]);
        for round in 1..=5 {
            dialogue.offer(pause * round, 9);
            dialogue.run(Span::from_millis(pause * round + 150));
        }
        dialogue.window()
    };
    for control in ["cubic", "h-tcp"] {
        let (short, long) = (after(control, 200), after(control, 10_000));
        assert!(short > 10.0 && (short - long).abs() < 1e-9, "{control}: {short} {long}");
    }
}

/// A flow of this controller with so many segments of an application, and its recovery.
fn of(
    name: &str,
    how: WindowValidation,
    recovery: Recovery,
    segments: u64,
    lost: &[u64],
) -> Option<Dialogue> {
    let start = Start { window: Segments(4.0), ..Start::default() };
    let Sending::Windowed(control) = sending(name, &start) else { return None };
    let config = SenderConfig { window_validation: how, ..config(recovery, None, segments) };
    let sender = Sender::new(config, control, Time::ZERO);
    Some(Dialogue::between(sender, Some(segments), recovery.is_selective(), lost))
}

/// Runs until then. Holds each window that was not full against a maxFS kept here, with the growth that this allows.
fn hold(dialogue: &mut Dialogue, millis: u64, most: &mut f64) -> Result<(), TestCaseError> {
    loop {
        let (limited, before) = (dialogue.sender.limited, dialogue.window());
        let control = dialogue.sender.control();
        let at = dialogue.acks.front().map_or(dialogue.now, |(time, _)| *time);
        let limit = control.growth_limit(
            Segments(*most),
            &Feedback::at(at, 1),
            dialogue.sender.timer.path(),
        );
        if !dialogue.step(Span::from_millis(millis)) {
            return Ok(());
        }
        let after = dialogue.window();
        if let Some(Segments(limit)) = limit
            && matches!(limited, Limited::Application | Limited::Receiver)
            && after > before
        {
            prop_assert!(after <= limit, "from {before} to {after}: limit({most}) is {limit}");
        }
        if after < before {
            *most = 0.0;
        }
        *most = most.max(dialogue.sender.flight() as f64);
    }
}

proptest! {
    /// Whatever an application writes, and whatever is lost of it.
    #[test]
    fn no_window_grows_beyond_its_limit(
        writes in prop::collection::vec((1_u64..40, 1_u64..60), 1..40),
        lost in prop::collection::vec(0_u64..400, 0..6),
        which in 0..CONTROLLERS.len(),
        recovery in prop::sample::select(&[Recovery::Sack, Recovery::Rack, Recovery::NewReno][..]),
    ) {
        let Some(mut dialogue) = of(&CONTROLLERS[which].name, RateLimitedIncrease, recovery, 4, &lost) else { return Ok(()) };
        let (mut most, mut at) = (4.0, 0);
        for (pause, segments) in writes {
            at += 10 * pause;
            hold(&mut dialogue, at, &mut most)?;
            let before = dialogue.window();
            dialogue.offer(at, segments);
            if dialogue.window() < before {
                most = 0.0;
            }
            most = most.max(dialogue.sender.flight() as f64);
        }
        hold(&mut dialogue, at + 1_000, &mut most)?;
    }

    /// What leaves, and every window, of a flow that never lacks data.
    #[test]
    fn a_flow_that_is_never_limited_by_its_application_is_as_without(
        lost in prop::collection::vec(0_u64..400, 0..6),
        which in 0..CONTROLLERS.len(),
        recovery in prop::sample::select(&[Recovery::Sack, Recovery::Rack, Recovery::NewReno][..]),
    ) {
        let name = &*CONTROLLERS[which].name;
        let run = |how| {
            let mut dialogue = of(name, how, recovery, 1 << 40, &lost)?;
            let mut windows = Vec::new();
            while dialogue.step(Span::from_millis(700)) {
                windows.push(dialogue.window());
            }
            Some((dialogue.log, windows))
        };
        prop_assert!(run(RateLimitedIncrease) == run(Kept), "{name}");
    }
}
