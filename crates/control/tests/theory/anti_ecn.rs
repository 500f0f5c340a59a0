//! Kunniyur's paper.

use std::sync::Arc;

use longfat_control::{CONTROLLERS, Controller, Feedback, Operating, Reaction};
use longfat_units::Segments;
use longfat_units::parameter::{Parameter, Setting};

use crate::drive::{ClockedFlow, assert_near, law, listed, operating};

fn with_room(ack: Feedback) -> Feedback {
    Feedback { spare: Some(true), ..ack }
}

fn word(name: &'static str, word: &str) -> (&'static str, Setting) {
    (name, Setting::Word(word.into()))
}

fn on(law: &str) -> (&'static str, Setting) {
    ("on", Setting::Entry(Arc::new(listed(law).clone())))
}

/// A windowful of acknowledgments with room, in congestion avoidance. Returns what it adds.
fn round_with_room(changes: &[(&'static str, Setting)], window: f64) -> f64 {
    let mut flow = ClockedFlow::new("anti-ecn", changes, window);
    (0..window as u64).for_each(|_| flow.ack_with(with_room));
    flow.window() - window
}

/// Section II.A: Δ = 1 is ordinary congestion avoidance, Δ = W is slow start; and the cases in between.
#[test]
fn delta_goes_from_congestion_avoidance_to_slow_start() {
    for window in [100.0, 1e4, 1e6] {
        assert_near(round_with_room(&[], window), window, 1e-12, "Δ = W");
        let one = round_with_room(&[("delta", Setting::Number(1.0))], window);
        assert_near(one, 1.0, 0.01, "Δ = 1");
        let ten = round_with_room(&[("delta", Setting::Number(10.0))], window);
        // (1 + 20/w)^(1/2) w - w: 9.54 at 100 segments.
        assert_near(ten, if window == 100.0 { 9.544 } else { 10.0 }, 0.001, "Δ = 10");
    }
    // w^1.5 grows by 1.5 per acknowledgment: (10⁶ + 1.5 · 10⁴)^(2/3) = 10 099.75.
    assert_near(round_with_room(&[word("delta", "sqrt")], 1e4), 99.75, 0.001, "Δ = √W");
}

/// No Δ adds more than slow start, and none reduces what the base law adds.
#[test]
fn the_bit_is_never_more_than_slow_start_nor_less_than_the_base_law() {
    assert_eq!(round_with_room(&[("delta", Setting::Number(1e6))], 100.0), 100.0);
    let scalable = [("delta", Setting::Number(1.0)), on("stcp")];
    assert_near(round_with_room(&scalable, 1e4), 100.0, 0.001, "a hundredth, not one segment");
}

#[test]
fn without_the_bit_every_law_is_what_it_was() {
    let is_base = |controller: &Controller| controller.law.is_some() && !controller.heeds_delay();
    let laws = CONTROLLERS.iter().filter(|controller| is_base(controller));
    // By themselves H-TCP remembers more than its law has, and Veno waits for three samples.
    let others = ["anti-ecn", "h-tcp", "veno"];
    for law in laws.map(|law| &*law.name).filter(|name| !others.contains(name)) {
        for spare in [None, Some(false)] {
            let mut plain = ClockedFlow::new(law, &[], 1000.0);
            let mut built = ClockedFlow::new("anti-ecn", &[on(law)], 1000.0);
            for step in 0..5000 {
                plain.ack();
                built.ack_with(|ack| Feedback { spare, ..ack });
                if step % 2000 == 1999 {
                    plain.lose();
                    built.lose();
                }
                assert_eq!(plain.window(), built.window(), "{law}, {spare:?}, step {step}");
            }
        }
    }
}

/// One acknowledgment with room per round doubles Reno's slope: the effect of Δ = W on a train of packets.
#[test]
fn one_bit_per_round_trip_doubles_the_slope() {
    let mut flow = ClockedFlow::new("anti-ecn", &[], 1000.0);
    for _ in 0..100 {
        flow.ack_with(with_room);
        (1..flow.window() as u64).for_each(|_| flow.ack());
    }
    assert_near(flow.window() - 1000.0, 200.0, 0.005, "two segments per round trip");
}

/// In the fluid the bit is a share of the acknowledgments, and the gain is the mean of the two.
#[test]
fn a_share_of_the_acknowledgments_gives_a_share_of_the_growth() {
    let controller = listed("anti-ecn");
    let law = controller.law.as_ref().expect("it is a window law")(&controller.defaults());
    let gain = |spare: f64| {
        law.gain(&Operating { epoch_window: Some(Segments(100.0)), spare, ..operating(100.0) })
    };
    assert_eq!((gain(0.0), gain(1.0)), (0.01, 1.0));
    assert_near(gain(0.25), 0.2575, 1e-12, "a quarter of 1 and three of 0.01");
    assert!(law.needs().spare, "the host must carry the bit");
}

/// A base law that answers every mark, as that of Kavak and Kunniyur may, still does.
#[test]
fn marks_are_answered_as_the_base_law_does() {
    for (per_mark, reaction) in [(false, Reaction::PerWindow), (true, Reaction::PerMark)] {
        let mut fiber = listed("fiber").clone();
        fiber.parameters.retain(|parameter| parameter.name != "per_mark");
        fiber.parameters.push(Parameter::flag("per_mark", per_mark, "reacts to every mark"));
        let law = law("anti-ecn", &[("on", Setting::Entry(Arc::new(fiber)))]);
        assert_eq!(law.reaction(), reaction);
    }
}
