//! A flow under BBRv3 on one link, watched from inside: what its controller knew after each event.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use longfat_control::controller::bbr3;
use longfat_control::{
    Congestion, CongestionControl, Controller, Feedback, Lost, Pacing, Path, Probe, Sending, Start,
    Wants,
};
use longfat_queue::{Arrival, Built, Discipline, Policy, Verdict};
use longfat_scenario::Catalogue;
use longfat_sim::summary::Summary;
use longfat_sim::{Scenario, Simulation};
use longfat_units::{Segments, Time};
use rand_core::Rng;

/// The states, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

const STATES: [State; 7] = [
    State::Startup,
    State::Drain,
    State::Down,
    State::Cruise,
    State::Refill,
    State::Up,
    State::ProbeRtt,
];

/// What the controller knew, rates in segments per second and times in seconds.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is what the controller says of itself")]
pub(crate) struct Moment {
    pub(crate) at: f64,
    pub(crate) state: State,
    pub(crate) round: f64,
    pub(crate) pacing_gain: f64,
    pub(crate) cwnd_gain: f64,
    pub(crate) max_bw: f64,
    pub(crate) bw: f64,
    pub(crate) bw_shortterm: f64,
    pub(crate) inflight_shortterm: f64,
    pub(crate) inflight_longterm: f64,
    pub(crate) min_rtt: f64,
    pub(crate) extra_acked: f64,
    pub(crate) full_bw_count: f64,
    pub(crate) full_bw_now: bool,
    pub(crate) full_bw_reached: bool,
    pub(crate) probe_wait: f64,
    pub(crate) idle_restart: bool,
    pub(crate) window: f64,
    pub(crate) pacing_rate: f64,
    /// In flight after it, at an acknowledgment.
    pub(crate) in_flight: f64,
    /// Delivered so far.
    pub(crate) delivered: u64,
    /// Was the sample application-limited?
    pub(crate) limited: bool,
    /// Segments found lost with it.
    pub(crate) lost: u64,
    /// Did it show an earlier loss to be none?
    pub(crate) spurious: bool,
    pub(crate) timeout: bool,
}

impl Moment {
    /// What fills the path.
    pub(crate) fn bdp(&self) -> f64 {
        self.bw * self.min_rtt
    }
}

impl Probe for Moment {
    fn value(&mut self, name: &str, value: f64) {
        match name {
            "state" => self.state = STATES[value as usize],
            "round" => self.round = value,
            "pacing_gain" => self.pacing_gain = value,
            "cwnd_gain" => self.cwnd_gain = value,
            "max_bw" => self.max_bw = value,
            "bw" => self.bw = value,
            "bw_shortterm" => self.bw_shortterm = value,
            "inflight_shortterm" => self.inflight_shortterm = value,
            "inflight_longterm" => self.inflight_longterm = value,
            "min_rtt" => self.min_rtt = value,
            "extra_acked" => self.extra_acked = value,
            "full_bw_count" => self.full_bw_count = value,
            "full_bw_now" => self.full_bw_now = value != 0.0,
            "full_bw_reached" => self.full_bw_reached = value != 0.0,
            "probe_wait" => self.probe_wait = value,
            "idle_restart" => self.idle_restart = value != 0.0,
            _ => {}
        }
    }
}

/// When packets are dropped on purpose.
type Drops = Arc<dyn Fn(&Moment) -> bool + Send + Sync>;

/// What controller, queue and test share.
#[derive(Debug)]
struct Book {
    moments: Vec<Moment>,
    /// Packets that have passed since the last one dropped.
    passed: u64,
    /// Is there a flow that writes here? Others, such as that of requests, do not.
    taken: bool,
}

type Shared = Arc<Mutex<Book>>;

fn open(book: &Shared) -> MutexGuard<'_, Book> {
    book.lock().expect("one thread")
}

/// The controller with its observer.
#[derive(Clone, Debug)]
struct Watched {
    inner: Box<dyn CongestionControl>,
    last: Moment,
    book: Shared,
}

impl Watched {
    fn note(&mut self, now: Time, with: impl FnOnce(&mut Moment)) {
        let mut moment = Moment { lost: 0, spurious: false, timeout: false, ..self.last };
        self.inner.observe(&mut moment);
        moment.at = now.seconds();
        moment.window = self.inner.window().0;
        if let Pacing::Rate(rate) = self.inner.pacing() {
            moment.pacing_rate = rate;
        }
        with(&mut moment);
        self.last = moment;
        open(&self.book).moments.push(moment);
    }
}

impl CongestionControl for Watched {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        self.inner.on_feedback(feedback, path);
        let gone = feedback.delivered() + feedback.lost;
        self.note(feedback.now, |moment| {
            moment.in_flight = feedback.in_flight.saturating_sub(gone) as f64;
            moment.lost = feedback.lost;
            moment.spurious = feedback.spurious.is_some();
            if let Some(sample) = feedback.rate {
                moment.delivered = sample.delivered_total;
                moment.limited = sample.application_limited;
            }
        });
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        self.inner.on_congestion(event, path);
        let timeout = event.cause == longfat_control::Cause::Timeout;
        self.note(event.now, |moment| moment.timeout = timeout);
    }

    fn on_lost(&mut self, lost: &Lost, path: &Path) {
        self.inner.on_lost(lost, path);
        self.note(lost.now, |_| {});
    }

    fn on_recovered(&mut self, now: Time, path: &Path) {
        self.inner.on_recovered(now, path);
    }

    fn on_restart(&mut self, now: Time, path: &Path) {
        self.inner.on_restart(now, path);
        self.note(now, |_| {});
    }

    fn window(&self) -> Segments {
        self.inner.window()
    }

    fn pacing(&self) -> Pacing {
        self.inner.pacing()
    }

    fn wants(&self) -> Wants {
        self.inner.wants()
    }
}

/// Drops one packet in twenty while the test says so.
struct Dropper {
    book: Shared,
    when: Drops,
}

impl fmt::Debug for Dropper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Dropper")
    }
}

impl Policy for Dropper {
    fn on_arrival(&mut self, _: &Arrival, _: &mut dyn Rng) -> Verdict {
        let mut book = open(&self.book);
        if !book.moments.last().is_some_and(|moment| (self.when)(moment)) {
            return Verdict::Keep;
        }
        book.passed += 1;
        if book.passed.is_multiple_of(20) { Verdict::Drop } else { Verdict::Keep }
    }
}

/// What happened in a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) moments: Vec<Moment>,
    pub(crate) summary: Summary,
}

impl Run {
    /// The first moment of each stay in a state, with the moment before it.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&Moment, &Moment)> {
        let pairs = self.moments.iter().zip(&self.moments[1..]);
        pairs.filter(|(before, after)| before.state != after.state)
    }

    /// The first change into this state, at `from` seconds or later.
    #[track_caller]
    pub(crate) fn first(&self, state: State, from: f64) -> (&Moment, &Moment) {
        let found = self.changes().find(|(_, after)| after.state == state && after.at >= from);
        found.unwrap_or_else(|| panic!("never in {state:?} from {from} s on: {:?}", self.path()))
    }

    /// The states one after the other, and when each began.
    pub(crate) fn path(&self) -> Vec<(f64, State)> {
        self.changes().map(|(_, after)| (after.at, after.state)).collect()
    }

    /// The moments from one time to another.
    pub(crate) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Moment> {
        self.moments.iter().filter(move |moment| (from..to).contains(&moment.at))
    }
}

/// Runs this text, in which `control = "watched"` and the queue `dropper` drops when `when` says so.
pub(crate) fn run(text: &str, when: impl Fn(&Moment) -> bool + Send + Sync + 'static) -> Run {
    let when: Drops = Arc::new(when);
    let blank = Moment {
        at: 0.0,
        state: State::Startup,
        round: 0.0,
        pacing_gain: 0.0,
        cwnd_gain: 0.0,
        max_bw: 0.0,
        bw: 0.0,
        bw_shortterm: f64::INFINITY,
        inflight_shortterm: f64::INFINITY,
        inflight_longterm: f64::INFINITY,
        min_rtt: 0.0,
        extra_acked: 0.0,
        full_bw_count: 0.0,
        full_bw_now: false,
        full_bw_reached: false,
        probe_wait: 0.0,
        idle_restart: false,
        window: 0.0,
        pacing_rate: 0.0,
        in_flight: 0.0,
        delivered: 0,
        limited: false,
        lost: 0,
        spurious: false,
        timeout: false,
    };
    let book: Shared = Arc::new(Mutex::new(Book { moments: vec![blank], passed: 0, taken: false }));
    let mut catalogue = Catalogue::built_in();
    let entry = bbr3::controller();
    let shared = Arc::clone(&book);
    let watched = Controller::new("watched", move |_, start: &Start| {
        let sending = (entry.build)(&entry.defaults(), start);
        let inner = sending.windowed().expect("it has a window");
        // Asked what it needs, an entry builds a controller too: the first with a round trip is that of the flow.
        if start.round_trip.is_none() || std::mem::replace(&mut open(&shared).taken, true) {
            return Sending::Windowed(inner);
        }
        Sending::Windowed(Box::new(Watched { inner, last: blank, book: Arc::clone(&shared) }))
    });
    catalogue.add_controller(watched).expect("the name is free");
    let shared = Arc::clone(&book);
    let dropper = Discipline::new("dropper", move |_, _| {
        Built::Fifo(Some(Box::new(Dropper { book: Arc::clone(&shared), when: Arc::clone(&when) })))
    });
    catalogue.add_discipline(dropper).expect("the name is free");
    let scenario = Scenario::read_with(&catalogue, text, "watched.toml", &[], None)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(1_000_000) {}
    let summary = simulation.finish().summary;
    let moments = std::mem::take(&mut open(&book).moments);
    Run { moments, summary }
}
