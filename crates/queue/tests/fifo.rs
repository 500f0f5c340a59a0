//! What a policy learns of its queue where a host asks for each packet.

use std::sync::{Arc, Mutex};

use longfat_queue::{Arrival, Backlog, Built, Capacity, Policy, Verdict};
use longfat_units::{Bytes, Ecn, Span, Time};
use rand_core::Rng;

use crate::support::{FreeLink, PACKET};

/// What a policy is told, and the numbers that come with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// So many wait, on a link that has been idle since then, if it is.
    Arrival(u64, Option<Time>),
    /// At this time so many remain.
    Departure(Time, u64),
    /// So many looks find so many waiting.
    Ticks(u64, u64),
}

/// A policy that writes down what it is told, and drops what cannot be marked.
#[derive(Debug)]
struct Witness {
    period: Option<Span>,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Witness {
    fn tell(&self, told: Told) {
        self.told.lock().expect("nobody panicked").push(told);
    }
}

impl Policy for Witness {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn Rng) -> Verdict {
        self.tell(Told::Arrival(arrival.backlog.packets, arrival.idle_since));
        if arrival.ecn.is_capable() { Verdict::Keep } else { Verdict::Drop }
    }

    fn watches_departures(&self) -> bool {
        self.period.is_none()
    }

    fn on_departure(&mut self, now: Time, remaining: u64) {
        self.tell(Told::Departure(now, remaining));
    }

    fn period(&self) -> Option<Span> {
        self.period
    }

    fn on_ticks(&mut self, count: u64, backlog: Backlog) {
        self.tell(Told::Ticks(count, backlog.packets));
    }
}

/// An endless queue with such a policy, and what that is told.
fn witnessed(period: Option<Span>) -> (FreeLink, Arc<Mutex<Vec<Told>>>) {
    let told = Arc::<Mutex<Vec<Told>>>::default();
    let built = Built::Fifo(Some(Box::new(Witness { period, told: told.clone() })));
    let port = FreeLink::new(built.into_queue(Capacity::Unbounded), Capacity::Unbounded, 1);
    (port, told)
}

/// The packet in service is not in the buffer: one of 1000 bytes leaves at once where 500 bytes may wait. The next one
/// does not fit, half of it does.
#[test]
fn a_packet_that_finds_the_link_free_needs_no_room() {
    let capacity = Capacity::Bytes(Bytes(500));
    let mut port = FreeLink::new(Built::Fifo(None).into_queue(capacity), capacity, 1);
    for bytes in [1000, 1000, 500] {
        port.arrive(Time::ZERO, Bytes(bytes), Ecn::Ect0);
    }
    port.depart(Time(1));
    let ids = |items: &[longfat_queue::Item]| items.iter().map(|item| item.id).collect::<Vec<_>>();
    assert_eq!((ids(&port.books().sent), ids(&port.books().dropped)), (vec![0, 2], vec![1]));
}

/// Three packets come at 1, 2 and 3 and leave at 10, 20 and 30; those that remain are counted with the one that begins to
/// be sent. The link is idle from 30 on, whatever is dropped meanwhile.
#[test]
fn a_policy_learns_what_has_left_and_since_when_nothing_does() {
    use Told::{Arrival, Departure};
    let (mut port, told) = witnessed(None);
    (1..=3).for_each(|at| port.arrive(Time(at), PACKET, Ecn::Ect0));
    for at in [10, 20, 30] {
        port.depart(Time(at));
    }
    for (at, ecn) in [(40, Ecn::NotEct), (50, Ecn::Ect0), (60, Ecn::Ect0)] {
        port.arrive(Time(at), PACKET, ecn);
    }
    assert_eq!(
        *told.lock().expect("nobody panicked"),
        [
            Arrival(0, Some(Time::ZERO)),
            Arrival(0, None),
            Arrival(1, None),
            Departure(Time(10), 2),
            Departure(Time(20), 1),
            Departure(Time(30), 0),
            Arrival(0, Some(Time(30))),
            Arrival(0, Some(Time(30))),
            Arrival(0, None),
        ]
    );
}

/// Looks at 10, 20, 30 and 40, told when something happens next: at 35, at 38 for none and at 40.
#[test]
fn a_policy_looks_when_a_look_is_due() {
    use Told::{Arrival, Ticks};
    let (mut port, told) = witnessed(Some(Span(10)));
    for at in [1, 2, 35, 38, 40] {
        port.arrive(Time(at), PACKET, Ecn::Ect0);
    }
    assert_eq!(
        *told.lock().expect("nobody panicked"),
        [
            Arrival(0, Some(Time::ZERO)),
            Arrival(0, None),
            Ticks(3, 1),
            Arrival(1, None),
            Arrival(2, None),
            Ticks(1, 3),
            Arrival(3, None),
        ]
    );
}
