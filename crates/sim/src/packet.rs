//! Packets: small plain values, 32 bytes, data and acknowledgments alike.

use longfat_units::{Bytes, Ecn, Time};

/// Size of an acknowledgment on the wire: the headers alone.
pub(crate) const ACK_BYTES: u32 = longfat_scenario::ACK.0 as u32;

/// A packet in transit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packet {
    /// Data: the segment number. Acknowledgment: the next segment the receiver expects.
    pub(crate) number: u64,
    /// Data: when it was sent. Acknowledgment: when the segment that triggered it was sent (RFC 7323, section 3).
    pub(crate) sent: Time,
    /// The flow it belongs to.
    pub(crate) flow: u32,
    /// With [`Flags::CARGO`]: the handle of its cargo. Data without: its priority as a rank, 0 the highest.
    /// Acknowledgment without: what its receiver reports beside what has arrived ([`crate::cargo::Report`]).
    pub(crate) detail: u32,
    /// Size on the wire.
    pub(crate) bytes: u32,
    /// Links crossed so far.
    pub(crate) hop: u16,
    /// Flags of the header.
    pub(crate) flags: Flags,
}

/// A packet in its own flow's pipe, which knows the other fields: half a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct Record {
    /// When it leaves the pipe.
    pub(crate) time: Time,
    number: u64,
    sent: Time,
    detail: u32,
    pub(crate) flags: Flags,
}

impl Record {
    /// The packet, given its flow and size.
    #[inline]
    pub(crate) fn packet(&self, flow: u32, bytes: u32) -> Packet {
        let &Self { number, sent, detail, flags, .. } = self;
        Packet { number, sent, flow, detail, bytes, hop: 0, flags }
    }
}

/// Bits of the header: the ECN field in the lowest two, flags above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u16);

impl Flags {
    /// An acknowledgment, not data.
    pub(crate) const ACK: Self = Self(1 << 2);
    /// Data that has been sent before.
    pub(crate) const RETRANSMISSION: Self = Self(1 << 3);
    /// Acknowledgment: the receiver has seen a mark (RFC 3168: ECE).
    pub(crate) const ECHO: Self = Self(1 << 4);
    /// Data: the sender has answered the mark (RFC 3168: CWR).
    pub(crate) const REDUCED: Self = Self(1 << 5);

    /// Corrupted on a wire: it travels to the end of its pipe as usual, and vanishes there.
    pub(crate) const DESTROYED: Self = Self(1 << 6);
    /// It carries more than fits in here ([`crate::cargo`]).
    pub(crate) const CARGO: Self = Self(1 << 7);

    /// Data that an application writes, and waits for at the other end.
    pub(crate) const AWAITED: Self = Self(1 << 8);
    /// Data whose sender wants to know how long it takes to arrive, and that says when it was sent.
    pub(crate) const TIMED: Self = Self(1 << 9);
    /// A queue has dropped it at the time at which it was sent, as it now says: its flow has not been told yet.
    pub(crate) const DROPPED: Self = Self(1 << 10);

    const ECN: Self = Self(0b11);
    /// All that are left, for explicit signals.
    const SIGNALS: Self = Self(0b1_1111 << 11);

    /// A bit for an explicit signal, numbered down from the highest.
    pub(crate) const fn signal(index: u16) -> Self {
        assert!(index < 5, "the other bits are taken");
        Self(1 << (15 - index))
    }

    /// The ECN field.
    #[inline]
    pub(crate) fn ecn(self) -> Ecn {
        Ecn::from_bits(self.0)
    }

    #[inline]
    pub(crate) fn with_ecn(self, ecn: Ecn) -> Self {
        self.without(Self::ECN).with(Self(ecn.bits()))
    }

    /// Is any of these flags set?
    pub(crate) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) const fn with(self, flag: Self) -> Self {
        Self(self.0 | flag.0)
    }

    pub(crate) fn without(self, flag: Self) -> Self {
        Self(self.0 & !flag.0)
    }

    /// The bits set in both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn with_if(self, flag: Self, condition: bool) -> Self {
        if condition { self.with(flag) } else { self }
    }
}

impl Packet {
    /// The record that its flow's pipe keeps until `time`.
    #[inline]
    pub(crate) fn record(&self, time: Time) -> Record {
        let &Self { number, sent, detail, flags, .. } = self;
        Record { time, number, sent, detail, flags }
    }

    pub(crate) fn is_ack(&self) -> bool {
        self.flags.has(Flags::ACK)
    }

    /// Is it data that may still arrive?
    pub(crate) fn is_live_data(&self) -> bool {
        !self.is_ack() && !self.flags.has(Flags::DESTROYED)
    }

    /// Its priority as a rank, 0 the highest; acknowledgments and data with cargo have none.
    pub(crate) fn rank(&self) -> u32 {
        if self.flags.has(Flags::ACK.with(Flags::CARGO)) { 0 } else { self.detail }
    }

    /// The handle of its cargo, if it has any.
    #[inline]
    pub(crate) fn cargo(&self) -> Option<u32> {
        self.flags.has(Flags::CARGO).then_some(self.detail)
    }

    /// The same packet with this cargo, if any. Data with cargo has no priority.
    #[inline]
    #[must_use]
    pub(crate) fn with_cargo(self, handle: Option<u32>) -> Self {
        let Some(detail) = handle else { return self };
        debug_assert!(self.is_ack() || self.detail == 0, "one word holds a priority or cargo");
        Self { detail, flags: self.flags.with(Flags::CARGO), ..self }
    }

    /// Does this acknowledgment say all that `older` says? Not if that one has cargo or echoes a mark, or
    /// acknowledges no less. Bits that routers write for others are not looked at.
    pub(crate) fn supersedes(&self, older: &Self) -> bool {
        let plain = |flags: Flags| flags.without(Flags::SIGNALS);
        older.is_ack()
            && older.flow == self.flow
            && older.number < self.number
            && plain(older.flags) == plain(self.flags)
            && !older.flags.has(Flags::ECHO.with(Flags::CARGO))
    }

    /// A copy for a call that is seldom made: the call takes the copy's address, and the original stays in registers.
    #[expect(clippy::inline_always, reason = "a call would take the address of the original")]
    #[inline(always)]
    pub(crate) const fn apart(&self) -> Self {
        *self
    }

    pub(crate) fn size(&self) -> Bytes {
        Bytes(u64::from(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_half_a_line_of_the_cache() {
        assert_eq!((size_of::<Packet>(), size_of::<Record>()), (32, 32));
    }

    #[test]
    fn the_ecn_field_and_the_flags_leave_each_other_alone() {
        let flags = Flags::RETRANSMISSION.with(Flags::DESTROYED);
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            let both = flags.with_ecn(Ecn::Ce).with_ecn(ecn);
            assert_eq!(both.ecn(), ecn);
            assert_eq!(both.with_ecn(Ecn::NotEct), flags);
        }
    }

    /// What an acknowledgment says cannot be said by a newer one if that does not acknowledge more, or says anything
    /// else in another way.
    #[test]
    fn an_acknowledgment_makes_only_plain_older_ones_of_its_flow_superfluous() {
        let ack = |number, flags: Flags| Packet {
            number,
            flow: 3,
            flags: Flags::ACK.with(flags),
            ..Packet::default()
        };
        let plain = Flags::default();
        let newer = ack(8, plain);
        assert!(newer.supersedes(&ack(7, plain)) && newer.supersedes(&ack(1, plain)));
        assert!(!newer.supersedes(&ack(8, plain)), "a duplicate");
        assert!(!newer.supersedes(&ack(9, plain)), "an older one that passed it");
        let signal = Flags::signal(0);
        for news in [Flags::ECHO, Flags::CARGO] {
            assert!(!newer.supersedes(&ack(7, news)) && !ack(8, news).supersedes(&ack(7, plain)));
        }
        assert!(!ack(8, Flags::ECHO).supersedes(&ack(7, Flags::ECHO)), "each echo may count");
        assert!(!ack(8, Flags::CARGO).supersedes(&ack(7, Flags::CARGO)), "each reports something");
        assert!(ack(8, signal).supersedes(&ack(7, plain)), "routers wrote that for others");
        assert!(!newer.supersedes(&Packet { flow: 4, ..ack(7, plain) }));
        assert!(!newer.supersedes(&Packet { flags: plain, ..ack(7, plain) }), "data");
    }
}
