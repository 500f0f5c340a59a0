//! Drop tail: keep what fits, drop what does not.
//!
//! The oldest discipline, and the one against which every other is measured. Packets leave in order of arrival; one
//! that finds the buffer full is dropped. The limit counts the waiting packets, without the one in service.
//!
//! On a path with a buffer of one bandwidth-delay product a single Reno flow that halves its window at each
//! loss keeps the link busy all the time: the window falls from two bandwidth-delay products to one (held by
//! `a_lone_reno_flow_fills_the_link` in the tests of the simulator). Several flows that fill the buffer
//! together lose packets together, which synchronises their windows: the papers use drop tail where they
//! want that, and RED where they do not.

use crate::{Built, Discipline};

/// Drop tail's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("drop-tail", |_, _| Built::Fifo(None))
        .title("first in, first out; a packet that finds the buffer full is dropped")
        .source("folklore")
}
