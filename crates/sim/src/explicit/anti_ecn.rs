//! AntiECN: one bit for spare capacity.
//!
//! The sender sets the bit, each participating link clears it unless it has capacity to spare, and the receiver returns
//! it with the acknowledgment. [`longfat_queue::AntiEcnQueue`] says when a link has capacity to spare, and why the bit
//! counts only where every link takes part; the controller `anti-ecn` says what a window does with it.

use longfat_queue::AntiEcnQueue;
use longfat_units::{Rate, Time};

use crate::packet::{Flags, Packet};
use longfat_control::Controller;
use longfat_scenario::{self as scenario, AntiEcnMode, Choice};

impl Flags {
    /// Every link crossed so far has capacity to spare. On an acknowledgment: all the data it covers had the bit.
    pub(crate) const SPARE: Self = Self::signal(0);
}

/// The outcome of asking the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negotiation {
    /// The controller has no use for the bit.
    NotAsked,
    /// Every link takes part.
    Agreed,
    /// Not every link does; this is the first on the data's way that does not.
    Unaware(usize),
}

impl Negotiation {
    /// What a flow under `control` learns in its first round trip (AECN-SYN). `unaware` is the first link on its data's
    /// way that does not take part.
    pub(crate) fn new(control: &Choice<Controller>, unaware: Option<usize>) -> Self {
        match unaware {
            _ if !control.entry.needs(&control.settings).spare => Self::NotAsked,
            Some(link) => Self::Unaware(link),
            None => Self::Agreed,
        }
    }

    /// Is the bit in use? `None` if the controller did not ask for it.
    pub(crate) fn agreed(self) -> Option<bool> {
        match self {
            Self::NotAsked => None,
            Self::Agreed => Some(true),
            Self::Unaware(_) => Some(false),
        }
    }

    /// The link that keeps the bit out of use.
    pub(crate) fn unaware_link(self) -> Option<usize> {
        match self {
            Self::Unaware(link) => Some(link),
            Self::NotAsked | Self::Agreed => None,
        }
    }

    /// The share of acknowledgments that report spare capacity: `heard` of `acknowledgments`. NaN where the bit is not
    /// in use, or there were no acknowledgments.
    pub(crate) fn share(self, heard: u64, acknowledgments: u64) -> f64 {
        if self == Self::Agreed { heard as f64 / acknowledgments as f64 } else { f64::NAN }
    }
}

/// The sender's side: what it writes into data, how it reads acknowledgments, and how many report spare capacity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listener {
    /// What an acknowledgment without the bit means: nothing, unless every link takes part.
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

    /// The flags that data leaves with.
    pub(crate) fn offer(&self) -> Flags {
        Flags::default().with_if(Flags::SPARE, self.silence.is_some())
    }

    /// What an acknowledgment says about spare capacity on the path: nothing, unless every link takes part.
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

    /// How many acknowledgments have reported spare capacity, over the whole run.
    pub(crate) fn heard(&self) -> u64 {
        self.heard
    }

    /// The same in the measured interval.
    pub(crate) fn heard_measured(&self) -> u64 {
        self.heard - self.before
    }
}

/// The link's side: a virtual queue beside its real one, whatever the discipline of that is.
#[derive(Debug)]
pub(crate) struct Marker {
    queue: AntiEcnQueue,
    mode: AntiEcnMode,
}

impl Marker {
    pub(crate) fn new(settings: scenario::AntiEcnMarker, rate: Rate) -> Self {
        let scenario::AntiEcnMarker { threshold, buffer, mode, .. } = settings;
        Self { queue: AntiEcnQueue::new(rate, threshold, buffer), mode }
    }

    /// The link has this rate from `now` on.
    pub(crate) fn on_rate(&mut self, now: Time, rate: Rate) {
        self.queue.on_rate(now, rate);
    }

    /// A packet arrives. All packets enter the virtual queue, but the bit is written into data only: that of an
    /// acknowledgment is the echo of the other direction, and stays.
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
    use longfat_units::Span;

    use super::*;
    use crate::cargo::Hold;
    use crate::receiver::{Delay, Echo, Intervals, Receiver};

    /// The bit of data packets with and without it, and of acknowledgments, after a link in each mode; first with an
    /// empty virtual queue, then with a full one.
    #[test]
    fn a_marker_writes_into_data_alone() {
        let written = |mode, flags: Flags| {
            let queue = AntiEcnQueue::new(Rate(8_000_000), 0.5, 1e6);
            let mut marker = Marker { queue, mode };
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

    const SECOND: Option<Delay> = Some(Delay { every: 2, most: Span::from_millis(100) });

    /// The bits of the acknowledgments, delayed or not, of five segments with these bits.
    fn returned(delay: Option<Delay>, bits: [bool; 5]) -> Vec<bool> {
        let mut receiver = Receiver::new(None, true, delay, Echo::UntilAnswered, &Intervals::WHOLE);
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
        assert_eq!(returned(None, bits), bits, "each has its own, and nothing sticks");
        // Segments 0 and 1, 2 and 3, and 4 alone.
        assert_eq!(returned(SECOND, bits), [false, true, true]);
        assert_eq!(returned(SECOND, [false, true, false, false, false]), [false, false, false]);
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
