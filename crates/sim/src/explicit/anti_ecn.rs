//! AntiECN: one bit for spare capacity.
//!
//! The sender sets the bit, each link that takes part clears it unless it has capacity to spare, and the receiver returns
//! it with the acknowledgment. When a link has capacity to spare, and why the bit is only heeded where every link takes
//! part, is in [`longfat_queue::AntiEcn`]; what a window does with it is in the controller `anti-ecn`.

use longfat_queue::AntiEcn;
use longfat_units::{Rate, Time};

use crate::packet::{Flags, Packet};
use longfat_control::Controller;
use longfat_scenario::{self as scenario, AntiEcnMode, Choice};

impl Flags {
    /// Every link crossed so far has capacity to spare. Acknowledgment: so it was with all data that it covers.
    pub(crate) const SPARE: Self = Self::signal(0);
}

/// What came of asking the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negotiation {
    /// The controller has no use for the bit.
    NotAsked,
    /// Every link takes part.
    Agreed,
    /// This one does not, the first on the way of the data.
    Unaware(usize),
}

impl Negotiation {
    /// What a flow under `control` learns in its first round trip (AECN-SYN). `unaware` is the first link on the way of its
    /// data that does not take part.
    pub(crate) fn new(control: &Choice<Controller>, unaware: Option<usize>) -> Self {
        match unaware {
            _ if !control.entry.needs(&control.settings).room => Self::NotAsked,
            Some(link) => Self::Unaware(link),
            None => Self::Agreed,
        }
    }

    /// Is the bit in use? `None` where nobody asked.
    pub(crate) fn agreed(self) -> Option<bool> {
        match self {
            Self::NotAsked => None,
            Self::Agreed => Some(true),
            Self::Unaware(_) => Some(false),
        }
    }

    /// The link because of which it is not.
    pub(crate) fn unaware_link(self) -> Option<usize> {
        match self {
            Self::Unaware(link) => Some(link),
            Self::NotAsked | Self::Agreed => None,
        }
    }

    /// The share of acknowledgments that tell of spare capacity: `heard` of `acknowledgments`. NaN where the bit is not in
    /// use, or there was none.
    pub(crate) fn share(self, heard: u64, acknowledgments: u64) -> f64 {
        if self == Self::Agreed { heard as f64 / acknowledgments as f64 } else { f64::NAN }
    }
}

/// A sender's side: what its data says, what it makes of acknowledgments, and how many tell of spare capacity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listener {
    /// What an acknowledgment without the bit means: nothing, unless every link has its say.
    silence: Option<bool>,
    heard: u64,
    /// What `heard` was when the measured interval began.
    before: u64,
}

impl Listener {
    pub(crate) fn new(negotiation: Negotiation) -> Self {
        let agreed = negotiation == Negotiation::Agreed;
        Self { silence: agreed.then_some(false), heard: 0, before: 0 }
    }

    /// What data leaves with.
    pub(crate) fn offer(&self) -> Flags {
        Flags::default().with_if(Flags::SPARE, self.silence.is_some())
    }

    /// What an acknowledgment says of spare capacity on the path; nothing, unless every link has its say.
    #[inline]
    pub(crate) fn hear(&mut self, ack: Flags) -> Option<bool> {
        if ack.has(Flags::SPARE) { self.count() } else { self.silence }
    }

    #[cold]
    fn count(&mut self) -> Option<bool> {
        self.silence?;
        self.heard += 1;
        Some(true)
    }

    /// Begins the measured interval.
    pub(crate) fn begin_measuring(&mut self) {
        self.before = self.heard;
    }

    /// How many acknowledgments have told of spare capacity in the whole run.
    pub(crate) fn heard(&self) -> u64 {
        self.heard
    }

    /// The same in the measured interval.
    pub(crate) fn heard_measured(&self) -> u64 {
        self.heard - self.before
    }
}

/// A link's side: a virtual queue beside its own, of whatever discipline that is.
#[derive(Debug)]
pub(crate) struct Marker {
    queue: AntiEcn,
    mode: AntiEcnMode,
}

impl Marker {
    pub(crate) fn new(settings: scenario::AntiEcn, rate: Rate) -> Self {
        let scenario::AntiEcn { threshold, buffer, mode } = settings;
        Self { queue: AntiEcn::new(rate, threshold, buffer), mode }
    }

    /// A packet arrives. All of them enter the virtual queue; data has its bit written, and acknowledgments, whose bit
    /// is the echo of another way, keep it.
    pub(crate) fn see(&mut self, now: Time, packet: &mut Packet) {
        let spare = self.queue.has_spare_capacity(now, packet.size());
        if packet.is_ack() {
            return;
        }
        match self.mode {
            _ if !spare => packet.flags = packet.flags.without(Flags::SPARE),
            AntiEcnMode::And => {}
            AntiEcnMode::Overwrite => packet.flags = packet.flags.with(Flags::SPARE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Hold;
    use crate::receiver::{Echo, Intervals, Receiver};

    /// The bit of a data packet that had it or had not, and of an acknowledgment, after a link in each mode; first in an
    /// empty virtual queue, then in a full one.
    #[test]
    fn a_marker_writes_into_data_alone() {
        let written = |mode, flags: Flags| {
            let config = scenario::AntiEcn { threshold: 0.5, buffer: 1e6, mode };
            let mut marker = Marker::new(config, Rate(8_000_000));
            [(); 2].map(|()| {
                let mut packet = Packet { bytes: 1000, flags, ..Packet::default() };
                marker.see(Time::ZERO, &mut packet);
                packet.flags.has(Flags::SPARE)
            })
        };
        let (blank, set) = (Flags::default(), Flags::SPARE);
        for (mode, flags, expected) in [
            (AntiEcnMode::And, set, [true, false]),
            (AntiEcnMode::And, blank, [false, false]),
            (AntiEcnMode::Overwrite, set, [true, false]),
            (AntiEcnMode::Overwrite, blank, [true, false]),
            (AntiEcnMode::And, set.with(Flags::ACK), [true, true]),
            (AntiEcnMode::Overwrite, Flags::ACK, [false, false]),
        ] {
            assert_eq!(written(mode, flags), expected, "{mode:?} {flags:?}");
        }
    }

    /// The bits of the acknowledgments of five segments with and without the bit, delayed or not.
    fn returned(delayed_ack: bool, bits: [bool; 5]) -> Vec<bool> {
        let intervals =
            Intervals { measured_from: Time::ZERO, measured_until: Time::NEVER, series: None };
        let mut receiver = Receiver::new(None, true, delayed_ack, Echo::UntilAnswered, &intervals);
        let mut hold = Hold::default();
        let mut returned = Vec::new();
        for (number, spare) in (0..).zip(bits) {
            let flags = Flags::default().with_if(Flags::SPARE, spare);
            let data = Packet { number, flags, ..Packet::default() };
            let ack = receiver.on_data(&data, Time::ZERO, &mut hold);
            returned.extend(ack.map(|ack| ack.flags.has(Flags::SPARE)));
        }
        let last = receiver.on_delayed_ack(Time::NEVER);
        returned.extend(last.map(|ack| ack.flags.has(Flags::SPARE)));
        returned
    }

    #[test]
    fn an_acknowledgment_has_the_bit_where_all_data_that_it_covers_has() {
        let bits = [true, false, true, true, true];
        assert_eq!(returned(false, bits), bits, "each has its own, and nothing sticks");
        // Segments 0 and 1, 2 and 3, and 4 alone.
        assert_eq!(returned(true, bits), [false, true, true]);
        assert_eq!(returned(true, [false, true, false, false, false]), [false, false, false]);
    }

    #[test]
    fn a_sender_heeds_the_bit_where_every_link_takes_part() {
        let mut agreed = Listener::new(Negotiation::Agreed);
        assert_eq!(agreed.offer(), Flags::SPARE);
        assert_eq!(agreed.hear(Flags::ACK), Some(false));
        assert_eq!(agreed.hear(Flags::ACK.with(Flags::SPARE)), Some(true));
        agreed.begin_measuring();
        assert_eq!((agreed.heard(), agreed.heard_measured()), (1, 0));
        for negotiation in [Negotiation::NotAsked, Negotiation::Unaware(3)] {
            let mut deaf = Listener::new(negotiation);
            assert_eq!(deaf.offer(), Flags::default());
            assert_eq!(deaf.hear(Flags::SPARE), None, "somebody else has set it");
            assert_eq!(deaf.heard(), 0);
            assert!(negotiation.share(0, 5).is_nan());
        }
    }
}
