//! What routers read and write in the header of a packet.

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not ECT: the transport does not know ECN, so congestion can only drop the packet.
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

    /// May the packet be marked instead of dropped? One that carries a mark already may.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codepoints_are_those_of_rfc_3168() {
        let codepoints = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        assert_eq!(codepoints.map(Ecn::bits), [0, 1, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(Ecn::from_bits), codepoints);
        assert_eq!(Ecn::from_bits(0b1101), Ecn::Ect1, "other bits are not looked at");
        assert_eq!(codepoints.map(Ecn::is_capable), [false, true, true, true]);
    }
}
