//! What happens next.
//!
//! Two structures share the work. Almost every event is a packet reaching the end of a pipe, and a pipe needs only its
//! head in the queue: those heads hang in a wheel of short buckets, where insertion and removal cost O(1) whatever the
//! number of pipes, and nothing is allocated. Timers are few, mostly re-armed long before they run out, and live in an
//! ordinary heap.
//!
//! Links that are served in turns look into the pipes that end there themselves, so those have no head in the wheel.
//!
//! Events at the same instant come in the order of their slots, then timers in the order of their kind and flow; only
//! delayed acknowledgments leave before the packets of that instant arrive. The order depends on the structure of the
//! network alone, never on what was scheduled first: that is what makes the two kinds of server agree to the byte.

mod timers;
mod wheel;

pub(crate) use timers::{Timer, Timers};
pub(crate) use wheel::Wheel;
