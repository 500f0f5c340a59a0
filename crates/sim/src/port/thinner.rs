//! What a link does to acknowledgments before they join its queue, or while they wait in it.
//!
//! RFC 3449, section 5.2.1: an acknowledgment is cumulative, so those of a flow that wait may go once a newer one has
//! come. What only an older one says is not lost: it stays if it reports anything out of order or twice, echoes a mark,
//! brings back what routers wrote, or acknowledges no less than the newer one, as duplicates do.

use longfat_scenario::{Keep, Thinning};
use longfat_units::{Span, Time};

use super::stepwise::Stepwise;
use crate::packet::Packet;

/// The acknowledgments that a link holds, and where the last one of each flow waits.
#[derive(Debug)]
pub(super) struct Thinner {
    hold: Option<Span>,
    /// How many may become one.
    most: u64,
    held: Vec<Packet>,
    last: Vec<Last>,
}

/// The last acknowledgment of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// Where it waits: its place among those held, or its key in the queue. It may have left since.
    place: u32,
    /// How many it stands for; 0 if there was none.
    count: u64,
}

/// What became of an acknowledgment that has arrived.
#[derive(Debug)]
pub(super) enum Thinned {
    /// It joins the queue.
    Passes,
    /// It is held. If it is the first, all of them are to be released at this time.
    Held(Option<Time>),
    /// It has taken the place of this one.
    Replaces(Packet),
}

impl Thinner {
    pub(super) fn new(thinning: Thinning) -> Self {
        let most = match thinning.keep {
            Keep::All => 1,
            Keep::Newest => u64::MAX,
            Keep::OneOf(count) => count,
        };
        Self { hold: thinning.hold, most, held: Vec::new(), last: Vec::new() }
    }

    /// Does it hold acknowledgments?
    pub(super) fn holds(&self) -> bool {
        self.hold.is_some()
    }

    /// An acknowledgment arrives at `now`.
    pub(super) fn arrive(&mut self, now: Time, ack: &Packet, queue: &mut Stepwise) -> Thinned {
        let flow = ack.flow as usize;
        if flow >= self.last.len() {
            self.last.resize(flow + 1, Last::default());
        }
        let Last { place, count } = &mut self.last[flow];
        if (1..self.most).contains(count) {
            let older = match self.hold {
                Some(_) => self.held.get_mut(*place as usize),
                None => queue.waiting(*place),
            };
            if let Some(older) = older.filter(|older| ack.supersedes(older)) {
                *count += 1;
                return Thinned::Replaces(std::mem::replace(older, *ack));
            }
        }
        let Some(hold) = self.hold else { return Thinned::Passes };
        (*place, *count) = (self.held.len() as u32, 1);
        self.held.push(*ack);
        Thinned::Held((self.held.len() == 1).then(|| now + hold))
    }

    /// An acknowledgment of `flow` has joined the queue under `key`.
    pub(super) fn joined(&mut self, flow: u32, key: u32) {
        if self.hold.is_none() {
            self.last[flow as usize] = Last { place: key, count: 1 };
        }
    }

    /// The first of those held that are released now; the caller takes all of them.
    pub(super) fn release(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.held)
    }

    /// Gives back the memory of those released.
    pub(super) fn reuse(&mut self, mut released: Vec<Packet>) {
        released.clear();
        self.held = released;
    }

    pub(super) fn held(&self) -> &[Packet] {
        &self.held
    }
}
