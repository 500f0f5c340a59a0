//! Disciplines with a queue for each flow.

use longfat_queue::discipline::{cake, drr, fq_codel, sfq};
use longfat_queue::{Capacity, Item};
use longfat_units::parameter::Setting as Value;
use longfat_units::{RouterHeader, Span};

use super::codel::{Codel, Parameters};
use super::places::{Salts, bytes, exceed, flow, hashed, longest};
use super::{Decisions, Draw, Hosts, Plain, Visit, cases, compare};

/// McKenney's buffer stealing: as long as the buffer is too full, the longest queue loses its last packet. Returns the
/// queues that lost one.
fn steal(
    lines: &mut [Vec<Item>],
    capacity: Capacity,
    last: &mut Option<usize>,
    decided: &mut Decisions,
) -> Vec<usize> {
    let mut robbed = Vec::new();
    while exceed(capacity, lines) {
        let length = |line: &Vec<Item>| match capacity {
            Capacity::Bytes(_) => bytes(line),
            _ => line.len() as u64,
        };
        let lengths: Vec<_> = lines.iter().map(length).collect();
        let longest = longest(&lengths, last);
        decided.dropped.extend(lines[longest].pop().map(|item| item.id));
        robbed.push(longest);
    }
    robbed
}

/// Shreedhar and Varghese 1995. The active list has the queue whose turn it is at its head.
struct Drr {
    lines: Vec<Vec<Item>>,
    active: Vec<usize>,
    deficits: Vec<u64>,
    /// Has the head of the list got its quantum?
    begun: bool,
    quantum: u64,
    capacity: Capacity,
    salt: u64,
    robbed: Option<usize>,
}

impl Plain for Drr {
    fn arrive(&mut self, _: u64, item: Item, _: Option<RouterHeader>, decided: &mut Decisions) {
        let queue = hashed(flow(&item), self.salt, self.lines.len());
        self.lines[queue].push(item);
        if !self.active.contains(&queue) {
            self.active.push(queue);
            self.deficits[queue] = 0;
        }
        for queue in steal(&mut self.lines, self.capacity, &mut self.robbed, decided) {
            if self.lines[queue].is_empty() {
                self.deficits[queue] = 0;
            }
        }
    }

    fn leave(&mut self, _: u64, _: &mut Decisions) -> Option<Item> {
        while let Some(&queue) = self.active.first() {
            if !self.begun {
                self.deficits[queue] += self.quantum;
                self.begun = true;
            }
            let mut sent = None;
            if self.lines[queue].first().is_some_and(|head| head.bytes.0 <= self.deficits[queue]) {
                let head = self.lines[queue].remove(0);
                self.deficits[queue] -= head.bytes.0;
                sent = Some(head);
            }
            if self.lines[queue].is_empty() {
                self.deficits[queue] = 0;
                self.active.remove(0);
                self.begun = false;
            } else if sent.is_none() {
                self.active.remove(0);
                self.active.push(queue);
                self.begun = false;
            }
            if sent.is_some() {
                return sent;
            }
        }
        None
    }
}

/// McKenney 1990: one packet of each busy queue in turn.
struct Sfq {
    lines: Vec<Vec<Item>>,
    order: Vec<usize>,
    by_hosts: bool,
    capacity: Capacity,
    perturb: u64,
    salts: Salts,
    /// The salt, and the number of the period in which it was drawn.
    salt: Option<(u64, u64)>,
    robbed: Option<usize>,
}

impl Plain for Sfq {
    fn arrive(&mut self, now: u64, item: Item, _: Option<RouterHeader>, decided: &mut Decisions) {
        let period = now.checked_div(self.perturb).unwrap_or(0);
        let salt = match self.salt {
            Some((salt, of)) if of == period => salt,
            _ => self.salts.draw(),
        };
        self.salt = Some((salt, period));
        let pair = u64::from(item.source) << 32 | u64::from(item.destination);
        let key = if self.by_hosts { pair } else { flow(&item) };
        let queue = hashed(key, salt, self.lines.len());
        self.lines[queue].push(item);
        if !self.order.contains(&queue) {
            self.order.push(queue);
        }
        steal(&mut self.lines, self.capacity, &mut self.robbed, decided);
    }

    fn leave(&mut self, _: u64, _: &mut Decisions) -> Option<Item> {
        while !self.order.is_empty() {
            let queue = self.order.remove(0);
            if self.lines[queue].is_empty() {
                continue;
            }
            let item = self.lines[queue].remove(0);
            if !self.lines[queue].is_empty() {
                self.order.push(queue);
            }
            return Some(item);
        }
        None
    }
}

/// RFC 8290, section 4.
struct FqCodel {
    lines: Vec<Vec<Item>>,
    codels: Vec<Codel>,
    new: Vec<usize>,
    old: Vec<usize>,
    credits: Vec<i64>,
    quantum: i64,
    with: Parameters,
    capacity: Capacity,
    salt: u64,
    robbed: Option<usize>,
}

impl Plain for FqCodel {
    fn arrive(&mut self, _: u64, item: Item, _: Option<RouterHeader>, decided: &mut Decisions) {
        let queue = hashed(flow(&item), self.salt, self.lines.len());
        self.lines[queue].push(item);
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            self.new.push(queue);
            self.credits[queue] = self.quantum;
        }
        while exceed(self.capacity, &self.lines) {
            let lengths: Vec<_> = self.lines.iter().map(|line| bytes(line)).collect();
            let longest = longest(&lengths, &mut self.robbed);
            let half = (self.lines[longest].len() / 2).clamp(1, 64);
            decided.dropped.extend(self.lines[longest].drain(..half).map(|item| item.id));
        }
    }

    fn leave(&mut self, now: u64, decided: &mut Decisions) -> Option<Item> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = *list.first()?;
            if self.credits[queue] <= 0 {
                self.credits[queue] += self.quantum;
                list.remove(0);
                self.old.push(queue);
                continue;
            }
            let line = &mut self.lines[queue];
            if let Some(item) = self.codels[queue].leave(self.with, now, line, decided) {
                self.credits[queue] -= item.bytes.0.cast_signed();
                return Some(item);
            }
            list.remove(0);
            if is_new {
                self.old.push(queue);
            }
        }
    }
}

/// Eight places in a set for what has a tag.
#[derive(Clone)]
struct Ways {
    tags: Vec<Option<u64>>,
    salt: Option<u64>,
}

impl Ways {
    fn new(count: usize) -> Self {
        Self { tags: vec![None; count], salt: None }
    }

    fn find(&mut self, tag: u64, salts: &mut Salts, used: impl Fn(usize) -> bool) -> usize {
        let salt = *self.salt.get_or_insert_with(|| salts.draw());
        let named = hashed(tag, salt, self.tags.len());
        let set: Vec<_> = (0..self.tags.len()).filter(|place| place / 8 == named / 8).collect();
        for &place in &set {
            if self.tags[place] == Some(tag) {
                return place;
            }
        }
        for &place in &set {
            if !used(place) {
                self.tags[place] = Some(tag);
                return place;
            }
        }
        named
    }
}

/// A queue of CAKE that has a turn coming.
#[derive(Clone, Copy, Debug)]
struct Turn {
    queue: usize,
    /// 2⁻¹⁶ bytes.
    credit: i64,
    source: usize,
    destination: usize,
    is_bulk: bool,
    /// It has used up its credit, and had nothing left.
    waits: bool,
}

/// Høiland-Jørgensen et al. 2018.
struct Cake {
    lines: Vec<Vec<Item>>,
    codels: Vec<Codel>,
    new: Vec<Turn>,
    old: Vec<Turn>,
    flows: Ways,
    sources: Ways,
    destinations: Ways,
    isolation: &'static str,
    quantum: i64,
    with: Parameters,
    capacity: Capacity,
    salts: Salts,
    robbed: Option<usize>,
}

impl Cake {
    fn turns(&self) -> Vec<Turn> {
        [self.new.clone(), self.old.clone()].concat()
    }

    /// What a turn is worth between these hosts, with so many bulk queues of each besides those in the lists.
    fn worth(&self, of: &Turn, more: usize) -> i64 {
        let bulk: Vec<_> = self.turns().into_iter().filter(|turn| turn.is_bulk).collect();
        let source = more + bulk.iter().filter(|turn| turn.source == of.source).count();
        let destination =
            more + bulk.iter().filter(|turn| turn.destination == of.destination).count();
        let most = match self.isolation {
            "triple" => source.max(destination),
            "sources" => source,
            "destinations" => destination,
            _ => 1,
        };
        self.quantum * 65_536 / i64::from(most.max(1) as u32)
    }
}

impl Plain for Cake {
    fn arrive(&mut self, _: u64, item: Item, _: Option<RouterHeader>, decided: &mut Decisions) {
        let turns = self.turns();
        let uses = |queue| turns.iter().any(|turn| turn.queue == queue);
        let queue = self.flows.find(flow(&item), &mut self.salts, uses);
        self.lines[queue].push(item);
        if let Some(turn) =
            self.new.iter_mut().chain(&mut self.old).find(|turn| turn.queue == queue)
        {
            turn.is_bulk |= turn.waits;
            turn.waits = false;
        } else {
            let uses = |place| turns.iter().any(|turn| turn.source == place);
            let source = self.sources.find(u64::from(item.source), &mut self.salts, uses);
            let uses = |place| turns.iter().any(|turn| turn.destination == place);
            let destination =
                self.destinations.find(u64::from(item.destination), &mut self.salts, uses);
            let turn = Turn { queue, credit: 0, source, destination, is_bulk: false, waits: false };
            let credit = self.worth(&turn, 0);
            self.new.push(Turn { credit, ..turn });
        }
        while exceed(self.capacity, &self.lines) {
            let lengths: Vec<_> = self.lines.iter().map(|line| bytes(line)).collect();
            let longest = longest(&lengths, &mut self.robbed);
            decided.dropped.push(self.lines[longest].remove(0).id);
        }
    }

    fn leave(&mut self, now: u64, decided: &mut Decisions) -> Option<Item> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            if list.is_empty() {
                return None;
            }
            let mut turn = list.remove(0);
            if turn.credit <= 0 {
                if self.lines[turn.queue].is_empty() {
                    turn.waits = true;
                } else {
                    turn.is_bulk = true;
                }
                turn.credit += self.worth(&turn, usize::from(turn.is_bulk));
                self.old.push(turn);
                continue;
            }
            let line = &mut self.lines[turn.queue];
            if let Some(item) = self.codels[turn.queue].leave(self.with, now, line, decided) {
                turn.credit -= item.bytes.0.cast_signed() * 65_536;
                list.insert(0, turn);
                return Some(item);
            }
        }
    }
}

/// The same packets, between hosts.
fn between_hosts(draw: &mut Draw) -> Vec<Visit> {
    let hosts = Hosts::new(draw);
    let visits = draw.visits().into_iter();
    visits.map(|visit| Visit { item: hosts.of(visit.item), ..visit }).collect()
}

#[test]
fn drr_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), between_hosts(draw));
        let (queues, quantum) = (draw.number(1, 9) as usize, draw.number(64, 1500));
        let plain = Drr {
            lines: vec![Vec::new(); queues],
            active: Vec::new(),
            deficits: vec![0; queues],
            begun: false,
            quantum,
            capacity,
            salt: Salts::new(seed).draw(),
            robbed: None,
        };
        let changes =
            [("queues", Value::Number(queues as f64)), ("quantum", Value::Number(quantum as f64))];
        compare(&drr::discipline(), &changes, capacity, seed, plain, visits);
    });
}

#[test]
fn sfq_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), between_hosts(draw));
        let (queues, by_hosts) = (draw.number(1, 9) as usize, draw.flag());
        let perturb = if draw.flag() { 0 } else { draw.number(1, 1_000_000_000) };
        let plain = Sfq {
            lines: vec![Vec::new(); queues],
            order: Vec::new(),
            by_hosts,
            capacity,
            perturb,
            salts: Salts::new(seed),
            salt: None,
            robbed: None,
        };
        let changes = [
            ("queues", Value::Number(queues as f64)),
            ("perturb", Value::Span(Span(perturb))),
            ("by", Value::Word(if by_hosts { "hosts" } else { "flow" }.into())),
        ];
        compare(&sfq::discipline(), &changes, capacity, seed, plain, visits);
    });
}

#[test]
fn fq_codel_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), between_hosts(draw));
        let (queues, quantum) = (draw.number(1, 9) as usize, draw.number(64, 2500));
        let with = Parameters::new(draw.flag());
        let plain = FqCodel {
            lines: vec![Vec::new(); queues],
            codels: vec![Codel::default(); queues],
            new: Vec::new(),
            old: Vec::new(),
            credits: vec![0; queues],
            quantum: quantum.cast_signed(),
            with,
            capacity,
            salt: Salts::new(seed).draw(),
            robbed: None,
        };
        let mut changes = with.settings().to_vec();
        changes.extend([
            ("queues", Value::Number(queues as f64)),
            ("quantum", Value::Number(quantum as f64)),
        ]);
        compare(&fq_codel::discipline(), &changes, capacity, seed, plain, visits);
    });
}

#[test]
fn cake_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), between_hosts(draw));
        let (queues, quantum) = (8 * draw.number(1, 4) as usize, draw.number(64, 2500));
        let isolation = draw.of(&["triple", "sources", "destinations", "flows"]);
        let with = Parameters::new(draw.flag());
        let plain = Cake {
            lines: vec![Vec::new(); queues],
            codels: vec![Codel::default(); queues],
            new: Vec::new(),
            old: Vec::new(),
            flows: Ways::new(queues),
            sources: Ways::new(queues),
            destinations: Ways::new(queues),
            isolation,
            quantum: quantum.cast_signed(),
            with,
            capacity,
            salts: Salts::new(seed),
            robbed: None,
        };
        let mut changes = with.settings().to_vec();
        changes.extend([
            ("queues", Value::Number(queues as f64)),
            ("quantum", Value::Number(quantum as f64)),
            ("isolation", Value::Word(isolation.into())),
        ]);
        compare(&cake::discipline(), &changes, capacity, seed, plain, visits);
    });
}
