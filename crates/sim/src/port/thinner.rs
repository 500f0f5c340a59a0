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

#[cfg(test)]
mod tests {
    use longfat_queue::{Built, Capacity};
    use longfat_scenario::Scenario;

    use super::*;
    use crate::packet::Flags;

    /// A thinner with these keys, and the queue of its link.
    fn thinner(keys: &str) -> (Thinner, Stepwise) {
        let text = format!(
            "duration = \"1 s\"\n[link.l]\nrate = \"12 Mbit/s\"\ndelay = \"1 ms\"\nacknowledgments = {{ {keys} }}\n\
             [[flow]]\nname = \"f\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\n"
        );
        let scenario = Scenario::read(&text, "thinner.toml", &[], None).expect("it is right");
        let thinning = scenario.links[0].forward.impairments.acknowledgments.expect("it has one");
        let queue = Built::Fifo(None).into_queue(Capacity::Unbounded);
        (Thinner::new(thinning), Stepwise::new(queue))
    }

    /// What becomes of the acknowledgment of everything below `number`: the one it replaces, or when those held are let go.
    fn arrive(
        (thinner, queue): &mut (Thinner, Stepwise),
        flow: u32,
        number: u64,
    ) -> Result<Option<Time>, u64> {
        let ack = Packet { flow, number, flags: Flags::ACK, ..Packet::default() };
        match thinner.arrive(Time(100), &ack, queue) {
            Thinned::Held(release) => Ok(release),
            Thinned::Replaces(older) => Err(older.number),
            Thinned::Passes => panic!("it is held"),
        }
    }

    fn held(thinner: &Thinner) -> Vec<(u32, u64)> {
        thinner.held().iter().map(|ack| (ack.flow, ack.number)).collect()
    }

    #[test]
    fn the_newest_takes_the_place_of_the_one_before_it() {
        let mut link = thinner("hold = \"5 ms\", keep = \"newest\"");
        assert!(link.0.holds());
        let release = Time(100) + Span::from_millis(5);
        assert_eq!(arrive(&mut link, 0, 1), Ok(Some(release)));
        assert_eq!(arrive(&mut link, 1, 1), Ok(None), "the first of its flow");
        assert_eq!(arrive(&mut link, 0, 2), Err(1));
        assert_eq!(arrive(&mut link, 0, 2), Ok(None), "a duplicate");
        assert_eq!(arrive(&mut link, 0, 5), Err(2), "the later one of them");
        assert_eq!(held(&link.0), [(0, 2), (1, 1), (0, 5)]);
        let released = link.0.release();
        assert_eq!(released.len(), 3);
        link.0.reuse(released);
        // Where the last ones of their flows were there is nothing now, or one of another flow.
        assert_eq!(arrive(&mut link, 0, 6), Ok(Some(release)));
        assert_eq!(arrive(&mut link, 2, 1), Ok(None));
        assert_eq!(arrive(&mut link, 1, 2), Ok(None));
        assert_eq!(held(&link.0), [(0, 6), (2, 1), (1, 2)]);
    }

    #[test]
    fn no_more_become_one_than_may() {
        let mut link = thinner("hold = \"5 ms\", keep = \"1/3\"");
        for number in 1..=7 {
            let expected = if number % 3 == 1 { None } else { Some(number - 1) };
            assert_eq!(arrive(&mut link, 0, number).err(), expected);
        }
        assert_eq!(held(&link.0), [(0, 3), (0, 6), (0, 7)]);
        let mut all = thinner("hold = \"5 ms\"");
        assert!((1..=7).all(|number| arrive(&mut all, 0, number).is_ok()));
        assert_eq!(all.0.held().len(), 7);
    }
}
