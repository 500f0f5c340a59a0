//! A witness before every queue: it writes down when each packet comes and goes, and changes nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use longfat_queue::{Built, Capacity, Discipline, Host, Item, PacketQueue, Probe};
use longfat_scenario::Catalogue;
use longfat_sim::Scenario;
use longfat_units::{Bytes, Ecn, Rate, RouterHeader, Span, Time};
use rand_core::Rng;

/// What happened at one queue.
#[derive(Debug)]
pub(crate) struct Book {
    capacity: Capacity,
    /// Those that wait, by the host's number.
    waiting: BTreeMap<u32, Item>,
    /// Those that no longer do: when each came and went, and how much it held of the buffer.
    gone: Vec<Stay>,
    /// The packets that arrived, as they came.
    pub(crate) arrived: Vec<Item>,
    pub(crate) dropped: Vec<Time>,
    pub(crate) marked: Vec<Time>,
    /// The rate that the queue was told of last, if it was told of one: now, and whenever a packet came or might go.
    rate: Option<Rate>,
    pub(crate) known: Vec<(Time, Option<Rate>)>,
}

#[derive(Clone, Copy, Debug)]
struct Stay {
    ecn: Ecn,
    came: Time,
    went: Time,
    held: u64,
}

/// The books of all queues, in the order of building: link by link, forward and reverse.
pub(crate) type Library = Arc<Mutex<Vec<Arc<Mutex<Book>>>>>;

impl Book {
    fn new(capacity: Capacity) -> Self {
        Self {
            capacity,
            waiting: BTreeMap::new(),
            gone: Vec::new(),
            arrived: Vec::new(),
            dropped: Vec::new(),
            marked: Vec::new(),
            rate: None,
            known: Vec::new(),
        }
    }

    fn note_rate(&mut self, now: Time) {
        self.known.push((now, self.rate));
    }

    fn held(&self, bytes: Bytes) -> u64 {
        if matches!(self.capacity, Capacity::Bytes(_)) { bytes.0 } else { 1 }
    }

    fn went(&mut self, now: Time, id: u32) {
        let item = self.waiting.remove(&id).expect("what goes has come");
        let (ecn, held) = (item.ecn, self.held(item.bytes));
        let stay = Stay { ecn, came: item.arrived, went: now, held };
        self.gone.push(stay);
    }

    /// The integral of the queue over the time from `from` to `end`, as Little has it: the waiting times of those that
    /// came in that time, cut at its end for those that still wait then; and at the other edge what those who were
    /// waiting when it began had still to wait.
    pub(crate) fn area(&self, from: Time, end: Time) -> (u128, u128) {
        let still = |item: &Item| {
            let (ecn, held) = (item.ecn, self.held(item.bytes));
            Stay { ecn, came: item.arrived, went: end, held }
        };
        let stays = self.gone.iter().copied().chain(self.waiting.values().map(still));
        let (mut waits, mut edge) = (0, 0);
        for Stay { came, went, held, .. } in stays.filter(|stay| stay.went > from) {
            let part = if came >= from { &mut waits } else { &mut edge };
            *part += u128::from(held) * u128::from(went.since(came.max(from)).0);
        }
        (waits, edge)
    }

    /// How long the packets waited that came like this since `from`, from the shortest time to the longest.
    pub(crate) fn waits(&self, ecn: Ecn, from: Time) -> Vec<Span> {
        let stays = self.gone.iter().filter(|stay| stay.ecn == ecn && stay.came >= from);
        let mut waits: Vec<_> = stays.map(|stay| stay.went - stay.came).collect();
        waits.sort_unstable();
        waits
    }

    /// The mean queue as a share of the buffer.
    pub(crate) fn queue_mean(&self, from: Time, end: Time) -> Option<f64> {
        let units = match self.capacity {
            Capacity::Packets(limit) => limit,
            Capacity::Bytes(limit) => limit.0,
            Capacity::Unbounded => return None,
        };
        let (waits, edge) = self.area(from, end);
        Some((waits + edge) as f64 / end.since(from).0 as f64 / units as f64)
    }
}

pub(crate) fn open(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().expect("nobody panicked while writing")
}

/// A queue, and who writes down what it does.
#[derive(Debug)]
struct Witness {
    queue: Box<dyn PacketQueue>,
    book: Arc<Mutex<Book>>,
}

impl PacketQueue for Witness {
    fn enqueue(&mut self, now: Time, item: Item, host: &mut dyn Host) {
        let mut book = open(&self.book);
        book.note_rate(now);
        book.arrived.push(item);
        book.waiting.insert(item.id, item);
        self.queue.enqueue(now, item, &mut Ear { now, host, book });
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item> {
        let mut book = open(&self.book);
        book.note_rate(now);
        let item = self.queue.dequeue(now, &mut Ear { now, host, book });
        if let Some(item) = &item {
            open(&self.book).went(now, item.id);
        }
        item
    }

    fn advance(&mut self, now: Time) {
        self.queue.advance(now);
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        open(&self.book).rate = Some(rate);
        self.queue.on_rate(now, rate);
    }

    fn heeds_priorities(&self) -> bool {
        self.queue.heeds_priorities()
    }

    fn reorders(&self) -> bool {
        self.queue.reorders()
    }

    fn observe(&self, probe: &mut dyn Probe) {
        self.queue.observe(probe);
    }
}

/// The host of the queue, overheard.
struct Ear<'a> {
    now: Time,
    host: &'a mut dyn Host,
    book: MutexGuard<'a, Book>,
}

impl Host for Ear<'_> {
    fn drop(&mut self, item: Item) {
        self.book.dropped.push(self.now);
        self.book.went(self.now, item.id);
        self.host.drop(item);
    }

    fn mark(&mut self, item: &mut Item) -> bool {
        let marked = self.host.mark(item);
        if marked {
            self.book.marked.push(self.now);
        }
        marked
    }

    fn header(&mut self, item: &Item) -> Option<&mut RouterHeader> {
        self.host.header(item)
    }

    fn chance(&mut self) -> &mut dyn Rng {
        self.host.chance()
    }
}

/// The scenario of this text with a witness before every queue, and the books that they are going to write.
pub(crate) fn watched(text: &str) -> (Scenario, Library) {
    let library = Library::default();
    let scenario = Scenario::read_with(&catalogue(&library), text, "watched.toml", &[], None)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    // Reading builds queues too, to ask what they heed.
    library.lock().expect("nobody panicked").clear();
    (scenario, library)
}

/// The built-in entries, with a witness before every queue.
fn catalogue(library: &Library) -> Catalogue {
    let built_in = Catalogue::built_in();
    let mut catalogue = Catalogue::empty();
    for controller in built_in.controllers() {
        catalogue.add_controller((**controller).clone()).expect("the name is free");
    }
    for discipline in built_in.disciplines() {
        let (library, build) = (Arc::clone(library), Arc::clone(&discipline.build));
        let check = Arc::clone(&discipline.check);
        let discipline = Discipline::new(discipline.name.clone(), move |settings, site| {
            let queue = build(settings, site).into_queue(site.capacity);
            let book = Arc::new(Mutex::new(Book::new(site.capacity)));
            library.lock().expect("nobody panicked").push(Arc::clone(&book));
            Built::Own(Box::new(Witness { queue, book }))
        })
        .parameters(discipline.parameters.clone())
        .check(move |settings, site| check(settings, site));
        catalogue.add_discipline(discipline).expect("the name is free");
    }
    catalogue
}
