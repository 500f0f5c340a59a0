//! Explicit signals: what the links of a path tell its ends, beyond the mark of RFC 3168.
//!
//! A signal is one file, which holds all there is to know of it, or says where that is: how the path is asked, what a sender writes, what links
//! change, what a receiver returns, what is counted. Packets, links, receivers and senders pass signals on by the names
//! below and know none of them.

mod anti_ecn;
mod router_header;

pub(crate) use anti_ecn::{Listener, Marker, Negotiation};

use crate::packet::Flags;

/// What an acknowledgment returns of the flags of data: those that all of the data it covers has.
pub(crate) const RETURNED: Flags = Flags::SPARE;
