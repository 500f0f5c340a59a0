//! Explicit signals: what the links of a path tell its ends, beyond the mark of RFC 3168.
//!
//! Each signal is one file, which holds all there is to know about it or says where to find it: how the path is asked,
//! what a sender writes, what links change, what a receiver returns, what is counted. Packets, links, receivers and
//! senders pass signals on by the names below and know nothing about them.

mod anti_ecn;
mod router_header;

pub(crate) use anti_ecn::{Listener, Marker, Negotiation};

use crate::packet::Flags;

/// The flags of data that an acknowledgment returns, if all the data it covers has them.
pub(crate) const RETURNED: Flags = Flags::SPARE;
