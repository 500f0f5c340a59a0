//! What routers read and write in the header of a packet.

use crate::{Segments, Span};

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not ECT: the transport does not support ECN, so congestion can only drop the packet.
    #[default]
    NotEct = 0b00,
    /// ECT(1): ECN-capable, and asking for the low-latency treatment of RFC 9331 where a queue offers it.
    Ect1 = 0b01,
    /// ECT(0): ECN-capable.
    Ect0 = 0b10,
    /// CE: a router has seen congestion.
    Ce = 0b11,
}

impl Ecn {
    /// The codepoint in the two lowest of `bits`; the others are ignored.
    #[inline]
    pub const fn from_bits(bits: u16) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The two bits of the codepoint.
    #[inline]
    pub const fn bits(self) -> u16 {
        self as u16
    }

    /// May the packet be marked instead of dropped? Also true of one that is already marked.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// What the endpoints and the routers of a path tell each other about a flow, in each of its data packets.
///
/// The sender fills it in, each router may read all of it and change the feedback and the code, and the receiver
/// returns it with the acknowledgment. Each scheme's controller and queues agree on what feedback and code mean:
///
/// | scheme | feedback | code |
/// |---|---|---|
/// | XCP (Katabi, Handley & Rohrs, SIGCOMM 2002) | `H_feedback`: what the sender asks for, lowered on the way | |
/// | VCP (Xia, Subramanian, Stoica & Kalyanaraman, SIGCOMM 2005) | | the load of the busiest link, raised on the way |
/// | DECbit (Ramakrishnan & Jain, SIGCOMM 1988) | | 1 after a congested router |
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RouterHeader {
    /// The congestion window of the sender (XCP: `H_cwnd`).
    pub window: Segments,
    /// Its smoothed round trip, once it knows one (XCP: `H_rtt`).
    pub rtt: Option<Span>,
    /// A quantity divided among the packets, so that it adds up over them.
    pub feedback: f64,
    /// A few bits: the larger, the more congestion.
    pub code: u8,
}

impl RouterHeader {
    /// What an acknowledgment of two segments, this and an `earlier` one, returns: the sum of their feedback, the code
    /// of the more congested one, and the rest as it is here.
    #[must_use]
    pub fn after(self, earlier: &Self) -> Self {
        let feedback = earlier.feedback + self.feedback;
        Self { feedback, code: self.code.max(earlier.code), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_header_stands_for_all_that_is_acknowledged() {
        let header = |window, feedback, code| RouterHeader {
            window: Segments(window),
            feedback,
            code,
            ..RouterHeader::default()
        };
        let (first, second) = (header(10.0, 0.75, 3), header(11.0, -0.25, 1));
        assert_eq!(second.after(&first), header(11.0, 0.5, 3));
        assert_eq!(first.after(&second), header(10.0, 0.5, 3));
    }

    #[test]
    fn the_codepoints_are_those_of_rfc_3168() {
        let codepoints = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        assert_eq!(codepoints.map(Ecn::bits), [0, 1, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(Ecn::from_bits), codepoints);
        assert_eq!(Ecn::from_bits(0b1101), Ecn::Ect1, "other bits are ignored");
        assert_eq!(codepoints.map(Ecn::is_capable), [false, true, true, true]);
    }
}
