//! The wire of a link with impairments: jitter, reordering, duplicates, bursts of losses.

use longfat_scenario::chance::{Stream, uniform};
use longfat_scenario::{EcnField, GilbertElliott, Impairments, Jitter};
use longfat_units::{Ecn, Span, Time};
use rand_distr::{Distribution, StandardNormal};

use super::{LATEST, Rare};

/// Half the range of a truncated Gaussian, in standard deviations.
const TRUNCATED: f64 = 3.0;

/// What happens to packets on their way along a wire.
#[derive(Debug)]
pub(super) struct Wire {
    delay: Variable,
    late: Option<(Rare, Span)>,
    twice: Rare,
    bursts: Option<Bursts>,
    ecn: EcnField,
    /// When the packet before is at the far end, where packets keep their order.
    last: Time,
    ordered: bool,
}

/// A delay that differs from packet to packet.
#[derive(Debug)]
enum Variable {
    None,
    Gaussian { most: Span, chance: Stream },
    Wifi { interval: Span, packets: u64, chance: Stream, frame: Time, inside: u64 },
}

/// The state of a model of Gilbert and Elliott.
#[derive(Debug)]
struct Bursts {
    model: GilbertElliott,
    is_bad: bool,
    chance: Stream,
}

impl Wire {
    /// `stream` makes the random numbers of a component of this link.
    pub(super) fn new(impairments: &Impairments, stream: impl Fn(&str) -> Stream) -> Self {
        let Impairments { jitter, reorder, duplicate, burst_loss, ecn, .. } = impairments;
        let chance = || stream("jitter");
        Self {
            delay: match *jitter {
                Some(Jitter::Gaussian { most, .. }) => {
                    Variable::Gaussian { most, chance: chance() }
                }
                Some(Jitter::Wifi { interval, packets, .. }) => {
                    let (frame, inside) = (Time::ZERO, 0);
                    Variable::Wifi { interval, packets, chance: chance(), frame, inside }
                }
                _ => Variable::None,
            },
            late: reorder
                .filter(|late| late.probability > 0.0 && late.distance > Span::ZERO)
                .map(|late| (Rare::new(late.probability, stream("reorder")), late.distance)),
            twice: Rare::new(*duplicate, stream("duplicate")),
            bursts: burst_loss.map(|model| Bursts {
                model,
                is_bad: false,
                chance: stream("burst-loss"),
            }),
            ecn: *ecn,
            last: Time::ZERO,
            ordered: !matches!(jitter, Some(Jitter::Gaussian { ordered: false, .. })),
        }
    }

    /// When a packet is at the far end that would be there at `time` without impairments.
    pub(super) fn arrival(&mut self, time: Time) -> Time {
        let mut time = self.delay.arrival(time);
        if self.ordered {
            time = time.max(self.last);
            self.last = time;
        }
        if let Some((rare, distance)) = &mut self.late
            && rare.happens()
        {
            time += *distance;
        }
        time
    }

    /// May a packet pass another one?
    pub(super) fn reorders(&self) -> bool {
        !self.ordered || self.late.is_some()
    }

    /// Does the next packet arrive twice?
    pub(super) fn duplicates(&mut self) -> bool {
        self.twice.happens()
    }

    /// The ECN field of a packet that leaves with this one.
    pub(super) fn ecn(&self, field: Ecn) -> Ecn {
        match (self.ecn, field) {
            (EcnField::Bleached, _) => Ecn::NotEct,
            (EcnField::Ect0, Ecn::Ect1) => Ecn::Ect0,
            _ => field,
        }
    }

    /// Does a burst destroy the next packet?
    pub(super) fn destroys(&mut self) -> bool {
        self.bursts.as_mut().is_some_and(Bursts::destroys)
    }
}

impl Variable {
    fn arrival(&mut self, time: Time) -> Time {
        match self {
            Self::None => time,
            Self::Gaussian { most, chance } => {
                let deviation = loop {
                    let deviation: f64 = StandardNormal.sample(chance);
                    if deviation.abs() <= TRUNCATED {
                        break deviation;
                    }
                };
                let share = 0.5 + deviation / (2.0 * TRUNCATED);
                time + Span((most.0 as f64 * share) as u64).min(*most)
            }
            Self::Wifi { interval, packets, chance, frame, inside } => {
                let mean = interval.0 as f64;
                if frame.saturating_add(*interval * 2) < time {
                    // The channel was idle: as far as this packet is concerned the last frame may have been at any
                    // time.
                    (*frame, *inside) = (time + Span((mean * uniform(chance)) as u64), 0);
                }
                while *frame < time || *inside == *packets {
                    let gap = Span((mean * (0.5 + uniform(chance))) as u64);
                    (*frame, *inside) = (frame.saturating_add(gap.max(Span(1))).min(LATEST), 0);
                }
                *inside += 1;
                *frame
            }
        }
    }
}

impl Bursts {
    fn destroys(&mut self) -> bool {
        let GilbertElliott { p, r, good, bad, .. } = self.model;
        let (loss, leaves) = if self.is_bad { (bad, r) } else { (good, p) };
        let destroyed = uniform(&mut self.chance) < loss;
        self.is_bad ^= uniform(&mut self.chance) < leaves;
        destroyed
    }
}

#[cfg(test)]
mod tests {
    use longfat_scenario::Scenario;
    use longfat_scenario::chance;

    use super::*;

    const MILLISECOND: u64 = 1_000_000_000;

    fn wire(keys: &str) -> Wire {
        let text = format!(
            "duration = \"1 s\"\n[link.l]\nrate = \"12 Mbit/s\"\ndelay = \"1 ms\"\n{keys}\n[[flow]]\nname = \"f\"\n\
             control = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\n"
        );
        let scenario = Scenario::read(&text, "wire.toml", &[], None).expect("it is right");
        Wire::new(&scenario.links[0].forward.impairments, |part| chance::stream(7, part))
    }

    #[test]
    fn the_ecn_field_is_cleared_or_simplified() {
        let fields = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        let bleached = wire("ecn = \"bleached\"");
        assert_eq!(fields.map(|field| bleached.ecn(field)), [Ecn::NotEct; 4]);
        let simple = wire("ecn = \"ect0\"");
        let expected = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ce];
        assert_eq!(fields.map(|field| simple.ecn(field)), expected);
    }

    /// The loss rate is (r good + p bad) / (p + r). With a certain loss in the bad state and none in the good one, a
    /// burst is as long as a stay in the bad state: 1/r on average.
    #[test]
    fn bursts_are_as_frequent_and_as_long_as_gilbert_and_elliott_say() {
        const TRIALS: u64 = 4_000_000;
        let mut simple = wire("burst_loss = { p = 0.01, r = 0.25 }");
        let (mut lost, mut bursts, mut before) = (0_u64, 0_u64, false);
        for _ in 0..TRIALS {
            let now = simple.destroys();
            lost += u64::from(now);
            bursts += u64::from(now && !before);
            before = now;
        }
        let rate = lost as f64 / TRIALS as f64;
        // The variance of a mean of such a chain is that of independent trials times (2 - p - r)/(p + r), here 6.7:
        // a standard deviation of 2.5e-4 of the mean of 0.03846.
        assert!((rate - 0.01 / 0.26).abs() < 5.0 * 2.5e-4, "{rate}");
        // 38 000 bursts of geometric length, whose standard deviation is 3.5.
        let length = lost as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 5.0 * 3.5 / 195.0, "{length}");
        let mut mixed = wire("burst_loss = { p = 0.1, r = 0.3, good = 0.01, bad = 0.5 }");
        let lost = (0..TRIALS).filter(|_| mixed.destroys()).count() as f64;
        let expected = (0.3 * 0.01 + 0.1 * 0.5) / 0.4;
        assert!((lost / TRIALS as f64 - expected).abs() < 2e-3, "{lost}");
    }

    /// A Gaussian of standard deviation s truncated at 3 s has the standard deviation 0.98658 s: its variance is
    /// 1 - 6 phi(3) / (2 Phi(3) - 1) = 0.97334.
    #[test]
    fn jitter_is_a_truncated_gaussian() {
        const TRIALS: usize = 200_000;
        let mut wire = wire("jitter = { most = \"30 ms\", ordered = false }");
        let base = Time(MILLISECOND);
        let delays: Vec<f64> =
            (0..TRIALS).map(|_| (wire.arrival(base) - base).seconds() * 1e3).collect();
        assert!(delays.iter().all(|delay| (0.0..=30.0).contains(delay)));
        let mean = delays.iter().sum::<f64>() / TRIALS as f64;
        let variance =
            delays.iter().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / TRIALS as f64;
        assert!((mean - 15.0).abs() < 0.06, "{mean} ms");
        assert!((variance / 25.0 - 0.973_34).abs() < 0.015, "{variance}");
        // Within one standard deviation: 0.6827/0.9973.
        let near = delays.iter().filter(|delay| (**delay - 15.0).abs() < 5.0).count() as f64;
        assert!((near / TRIALS as f64 - 0.684_54).abs() < 0.005, "{near}");
    }

    #[test]
    fn packets_keep_their_order_unless_they_need_not() {
        let mut kept = wire("jitter = \"30 ms\"");
        let mut free = wire("jitter = { most = \"30 ms\", ordered = false }");
        let arrivals = |wire: &mut Wire| -> Vec<Time> {
            (0..1000).map(|packet| wire.arrival(Time(packet * MILLISECOND))).collect()
        };
        assert!(arrivals(&mut kept).is_sorted() && !kept.reorders());
        assert!(!arrivals(&mut free).is_sorted() && free.reorders());
        // No packet is late: the wire is like others, where arrivals at the same instant keep their place among events.
        for never in
            ["probability = 0, distance = \"1 ms\"", "probability = 0.5, distance = \"0 s\""]
        {
            assert!(!wire(&format!("reorder = {{ {never} }}")).reorders(), "{never}");
        }
    }

    /// Packets every millisecond; a late one comes three packets later, and just after the third.
    #[test]
    fn a_late_packet_comes_after_those_that_it_lets_pass() {
        let mut wire = wire("reorder = { probability = 0.1, distance = \"3 packets\" }");
        let mut late = 0;
        for packet in 0..100_000 {
            let sent = Time(packet * MILLISECOND);
            match wire.arrival(sent) - sent {
                Span::ZERO => {}
                distance => {
                    assert_eq!(distance, Span(3 * MILLISECOND + 3));
                    late += 1;
                }
            }
        }
        // 10 000 expected, and a standard deviation of 95.
        assert!((late - 10_000_i32).abs() < 475, "{late}");
    }

    /// A frame every 4 ms on average, for at most eight of the packets that come every millisecond.
    #[test]
    fn wifi_sends_what_it_has_in_frames() {
        let mut wire = wire("jitter = { kind = \"wifi\", interval = \"4 ms\", packets = 8 }");
        let arrivals: Vec<Time> =
            (0..100_000).map(|packet| wire.arrival(Time(packet * MILLISECOND))).collect();
        assert!(arrivals.is_sorted());
        let frames: Vec<&[Time]> = arrivals.chunk_by(|one, other| one == other).collect();
        assert!(frames.len().abs_diff(25_000) < 250, "{}", frames.len());
        assert!(frames.iter().all(|frame| frame.len() <= 8));
        let gaps = frames.windows(2).map(|pair| (pair[1][0] - pair[0][0]).0 / MILLISECOND);
        assert!(gaps.clone().all(|gap| (2..8).contains(&gap)), "half to one and a half intervals");
        // Eight at most: of a hundred packets at once the last waits for the thirteenth frame.
        let mut wire = self::wire("jitter = { kind = \"wifi\", interval = \"4 ms\", packets = 8 }");
        let arrivals: Vec<Time> = (0..100).map(|_| wire.arrival(Time(MILLISECOND))).collect();
        assert_eq!(arrivals.chunk_by(|one, other| one == other).count(), 13);
    }

    /// Up to two intervals after the last frame the next one follows from it, so that a packet may wait for a gap of one and a
    /// half. Of those that come after 1.9 intervals, 9.7 % wait longer than one: where two gaps end after 2.9, 0.5 %; and where
    /// they end at s before 1.9 and the third after 2.9, the integral of (s - 1)(s - 1.4) from 1.4 to 1.9, 9.2 %. After more
    /// than two the channel was idle, and none waits longer.
    #[test]
    fn a_wifi_channel_is_idle_after_two_intervals() {
        let longer = |after: u64| {
            let mut wire = wire("jitter = { kind = \"wifi\", interval = \"4 ms\", packets = 8 }");
            let mut frame = wire.arrival(Time(MILLISECOND));
            (0..20_000)
                .filter(|_| {
                    let sent = frame + Span(after * MILLISECOND / 10);
                    frame = wire.arrival(sent);
                    frame - sent > Span(4 * MILLISECOND)
                })
                .count()
        };
        // 1933 expected, and a standard deviation of 42.
        assert!(longer(76).abs_diff(1933) < 210, "{}", longer(76));
        assert_eq!(longer(84), 0);
    }

    #[test]
    fn a_channel_that_is_far_too_slow_does_not_outlast_the_clock() {
        let mut wire = wire("jitter = { kind = \"wifi\", interval = \"24 h\", packets = 1 }");
        let last = (0..1000).map(|_| wire.arrival(Time(MILLISECOND))).last();
        assert_eq!(last, Some(LATEST));
    }
}
