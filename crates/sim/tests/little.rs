//! Little's law in every summary: the mean queue is the rate of arrivals times the mean time that each one waits.
//!
//! A witness stands before every queue and writes down when each packet comes and goes. What it saw must give the
//! queue of the summary, which is an integral over time kept by other code; and with the witness, every number must be
//! what it is without, where most links know departures ahead and never ask a queue.

mod random;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use longfat_queue::{Built, Capacity, Discipline, Host, Item, PacketQueue, Probe};
use longfat_scenario::Catalogue;
use longfat_sim::summary::Summary;
use longfat_sim::{Options, Recording, Scenario, Simulation};
use longfat_units::{Bytes, RouterHeader, Span, Time};
use proptest::prelude::*;
use rand_core::Rng;
use random::scenarios;

/// What happened at one queue.
#[derive(Debug)]
struct Book {
    capacity: Capacity,
    /// Those that wait, by the host's number.
    waiting: BTreeMap<u32, Item>,
    /// Those that no longer do: when each came and went, and how much it held of the buffer.
    gone: Vec<Stay>,
    arrived: Vec<Time>,
    dropped: Vec<Time>,
    marked: Vec<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Stay {
    came: Time,
    went: Time,
    held: u64,
}

type Library = Arc<Mutex<Vec<Arc<Mutex<Book>>>>>;

impl Book {
    fn new(capacity: Capacity) -> Self {
        Self {
            capacity,
            waiting: BTreeMap::new(),
            gone: Vec::new(),
            arrived: Vec::new(),
            dropped: Vec::new(),
            marked: Vec::new(),
        }
    }

    fn held(&self, bytes: Bytes) -> u64 {
        if matches!(self.capacity, Capacity::Bytes(_)) { bytes.0 } else { 1 }
    }

    fn went(&mut self, now: Time, id: u32) {
        let item = self.waiting.remove(&id).expect("what goes has come");
        let stay = Stay { came: item.arrived, went: now, held: self.held(item.bytes) };
        self.gone.push(stay);
    }

    /// The integral of the queue over the time from `from` to `end`, as Little has it: the waiting times of those that
    /// came in that time, cut at its end for those that still wait then; and at the other edge what those who were
    /// waiting when it began had still to wait.
    fn area(&self, from: Time, end: Time) -> (u128, u128) {
        let still = |item: &Item| Stay { came: item.arrived, went: end, held: self.held(item.bytes) };
        let stays = self.gone.iter().copied().chain(self.waiting.values().map(still));
        let (mut waits, mut edge) = (0, 0);
        for Stay { came, went, held } in stays.filter(|stay| stay.went > from) {
            let part = if came >= from { &mut waits } else { &mut edge };
            *part += u128::from(held) * u128::from(went.since(came.max(from)).0);
        }
        (waits, edge)
    }

    /// The mean queue as a share of the buffer.
    fn queue_mean(&self, from: Time, end: Time) -> Option<f64> {
        let units = match self.capacity {
            Capacity::Packets(limit) => limit,
            Capacity::Bytes(limit) => limit.0,
            Capacity::Unbounded => return None,
        };
        let (waits, edge) = self.area(from, end);
        Some((waits + edge) as f64 / end.since(from).0 as f64 / units as f64)
    }
}

fn open(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
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
        book.arrived.push(now);
        book.waiting.insert(item.id, item);
        self.queue.enqueue(now, item, &mut Ear { now, host, book });
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item> {
        let book = open(&self.book);
        let item = self.queue.dequeue(now, &mut Ear { now, host, book });
        if let Some(item) = &item {
            open(&self.book).went(now, item.id);
        }
        item
    }

    fn advance(&mut self, now: Time) {
        self.queue.advance(now);
    }

    fn heeds_priorities(&self) -> bool {
        self.queue.heeds_priorities()
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

/// The built-in entries, with a witness before every queue.
fn watched(library: &Library) -> Catalogue {
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

fn run(scenario: &Scenario) -> Recording {
    let mut simulation = Simulation::with_options(scenario, Options::default().record(true));
    while simulation.advance(10_000) {}
    simulation.finish()
}

fn bytes(recording: &Recording) -> String {
    let mut recording = recording.clone();
    recording.summary.engine.events = 0;
    format!("{recording:?}")
}

/// The summary of each direction, in the order in which queues are built.
fn directions(summary: &Summary) -> impl Iterator<Item = (String, &serde_json::Value)> {
    summary.links.iter().flat_map(|(name, link)| {
        ["forward", "reverse"].map(|way| (format!("{name}, {way}"), &link[way]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// J. D. C. Little, "A proof for the queuing formula L = λW", Operations Research 9(3), 1961: here for a finite time,
    /// with what its edges add. No tolerance: both sides are sums of whole picoseconds, divided alike.
    #[test]
    fn every_mean_queue_is_arrivals_times_waiting(text in scenarios()) {
        let read = |catalogue: &Catalogue| {
            Scenario::read_with(catalogue, &text, "random.toml", &[], None)
                .unwrap_or_else(|error| panic!("{error}\n{text}"))
        };
        let library = Library::default();
        let scenario = read(&watched(&library));
        // Reading builds queues too, to ask what they heed.
        library.lock().expect("nobody panicked").clear();
        let recording = run(&scenario);
        let plain = run(&read(&Catalogue::built_in()));
        prop_assert_eq!(bytes(&recording), bytes(&plain), "a witness changes nothing\n{}", &text);

        let (from, end) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
        let books = library.lock().expect("nobody panicked");
        prop_assert_eq!(books.len(), directions(&plain.summary).count());
        for ((name, told), book) in directions(&plain.summary).zip(books.iter()) {
            let book = open(book);
            prop_assert_eq!(told["queue_mean"].as_f64(), book.queue_mean(from, end), "{}\n{}", name, &text);
            let counts = [("arrived", &book.arrived), ("dropped", &book.dropped), ("marked", &book.marked)];
            for (key, times) in counts {
                let seen = times.iter().filter(|&&time| time >= from).count() as u64;
                prop_assert_eq!(told[key].as_u64(), Some(seen), "{} {}\n{}", name, key, &text);
            }
        }
    }
}

/// By hand: two packets of 1000 bytes at 8 Mbit/s take 1 ms each. The second waits for the first, 1 ms in a run of 10 ms,
/// in a buffer of 5: a mean queue of 0.02 of the buffer. Measured from 0.25 ms on, nobody arrives and the wait is all
/// edge: 0.75 ms of 9.75 ms.
#[test]
fn the_edge_of_the_measured_interval_counts() {
    for (warmup, mean) in [("0 ms", 0.1 / 5.0), ("0.25 ms", 0.75 / 9.75 / 5.0)] {
        let text = format!(
            r#"
            duration = "10 ms"
            warmup   = "{warmup}"
            [link.wire]
            rate   = "8 Mbit/s"
            delay  = "1 ms"
            buffer = "5 packets"
            [[flow]]
            name    = "pair"
            control = "reno"
            path    = ["wire"]
            rtt     = "2 ms"
            size    = "2 packets"
            packet  = "1000 B"
            "#
        );
        let library = Library::default();
        let scenario = Scenario::read_with(&watched(&library), &text, "by-hand.toml", &[], None)
            .unwrap_or_else(|error| panic!("{error}"));
        library.lock().expect("nobody panicked").clear();
        let summary = run(&scenario).summary;
        let told = summary.links["wire"]["forward"]["queue_mean"].as_f64().expect("a number");
        assert!((told - mean).abs() < 1e-15, "{told}, {mean} by hand");
        let books = library.lock().expect("nobody panicked");
        let from = Time::ZERO + scenario.warmup;
        let (waits, edge) = open(&books[0]).area(from, Time::ZERO + scenario.duration);
        let expected = if from == Time::ZERO {
            (Span::from_millis(1), Span::ZERO)
        } else {
            (Span::ZERO, Span(750_000_000))
        };
        assert_eq!((waits, edge), (expected.0.0.into(), expected.1.0.into()));
    }
}
