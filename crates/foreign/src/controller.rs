//! Controllers with a memory of their own.

use std::sync::Arc;

use longfat_control::bounds::{AFTER_TIMEOUT, CEILING, first_window};
use longfat_control::{
    Adjustment, Congestion, CongestionControl, Controller, Feedback, Limited, Lost, Needs, Pacing,
    Path, Probe, Reaction, Sending, Sent, Start, Wants,
};
use longfat_units::fault::{self, Fault, Member};
use longfat_units::{Origin, Segments, Span, Time};

use crate::law::{cause_code, needs, reaction};
use crate::pace::checked;
use crate::table::{
    Head, Keep, Memory, check_bits, check_state, observed, read_head, read_sized, there, values,
};
use crate::{TableError, abi};

/// The latest time that a timer can name, in seconds: beyond it lies the end of the clock.
const LATEST: f64 = 1.8e7;

/// A controller as its table describes it.
#[derive(Debug)]
struct Table {
    name: String,
    needs: Needs,
    wants: Wants,
    reaction: Reaction,
    state_size: usize,
    observed: Vec<&'static str>,
    on_feedback:
        unsafe extern "C" fn(abi::State, *const abi::Feedback, *const abi::Path, *const f64),
    on_congestion:
        unsafe extern "C" fn(abi::State, *const abi::Congestion, *const abi::Path, *const f64),
    window: unsafe extern "C" fn(abi::Seen, *const f64) -> f64,
    /// The functions that may be null, and what else the table says.
    raw: abi::Controller,
    _keep: Keep,
}

// SAFETY: the pointers in `raw` are not followed any more, and the header demands functions that any thread may call.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// Reads a table and makes an entry of it.
///
/// # Safety
/// `at` is null or points to a table that keeps the rules of the header for as long as `keep` lives.
pub(crate) unsafe fn entry(
    at: *const abi::Controller,
    keep: Keep,
    origin: Origin,
) -> Result<Controller, TableError> {
    // SAFETY: the caller's promise.
    let (raw, head, observed) = unsafe {
        let raw = read_sized(at)?;
        (raw, read_head(&raw.head, false)?, observed(raw.observed, raw.observed_count)?)
    };
    let Head { name, title, source, parameters } = head;
    check_bits(&name, "needs", raw.needs, abi::needs::ALL)?;
    check_bits(&name, "wants", raw.wants, abi::wants::OF_CONTROLLERS)?;
    check_bits(&name, "manner", raw.manner, abi::manner::PER_MARK | abi::manner::LOSSES_APART)?;
    if !observed.is_empty() {
        there(&name, "observe", raw.observe)?;
    }
    let wants = wants(raw.wants);
    if wants.timer {
        there(&name, "timer", raw.timer)?;
        there(&name, "on_timer", raw.on_timer)?;
    }
    let table = Arc::new(Table {
        needs: needs(raw.needs),
        wants,
        reaction: reaction(raw.manner),
        state_size: check_state(&name, raw.state_size)?,
        observed,
        on_feedback: there(&name, "on_feedback", raw.on_feedback)?,
        on_congestion: there(&name, "on_congestion", raw.on_congestion)?,
        window: there(&name, "window", raw.window)?,
        name: name.clone(),
        raw,
        _keep: keep,
    });
    there(&name, "begin", raw.begin)?;
    let declared = parameters.clone();
    let state = table.state_size;
    let controller = Controller::new(name, move |settings, start| {
        let p = values(&declared, settings);
        Sending::Windowed(Box::new(Control::new(Arc::clone(&table), p, start)))
    });
    Ok(controller.title(title).source(source).parameters(parameters).memory(state).origin(origin))
}

fn wants(bits: u64) -> Wants {
    use abi::wants;
    Wants {
        pacing: bits & wants::PACING != 0,
        delivery_rate: bits & wants::DELIVERY_RATE != 0,
        losses: bits & wants::LOSSES != 0,
        departures: bits & wants::DEPARTURES != 0,
        timer: bits & wants::TIMER != 0,
        own_recovery: bits & wants::OWN_RECOVERY != 0,
        spurious: bits & wants::SPURIOUS != 0,
        one_way_delay: bits & wants::ONE_WAY_DELAY != 0,
        ..Wants::NOTHING
    }
}

/// What foreign code has answered: of each number the last one that was good.
#[derive(Clone, Copy, Debug)]
struct Answers {
    window: Segments,
    pacing: Pacing,
    threshold: Option<Segments>,
    timer: Option<Time>,
}

/// One flow under foreign code.
#[derive(Clone, Debug)]
struct Control {
    table: Arc<Table>,
    p: Arc<[f64]>,
    state: Memory,
    answers: Answers,
    member: Option<Member>,
}

fn or_nan<T>(value: Option<T>, number: impl FnOnce(T) -> f64) -> f64 {
    value.map_or(f64::NAN, number)
}

#[inline]
fn told_path(path: &Path) -> abi::Path {
    abi::Path {
        rtt: path.rtt.seconds(),
        base_rtt: path.base_rtt.seconds(),
        rtt_ps: path.rtt.0,
        base_rtt_ps: path.base_rtt.0,
    }
}

fn told_start(start: &Start) -> abi::Start {
    abi::Start {
        window: first_window(start.window),
        threshold: or_nan(start.threshold, first_window),
        packet_bytes: start.packet.0 as f64,
        access: or_nan(start.access, |rate| rate),
        transfer: or_nan(start.transfer, |segments| segments as f64),
        round_trip: or_nan(start.round_trip, Span::seconds),
        chance: start.chance,
    }
}

#[inline]
fn told_feedback(feedback: &Feedback) -> abi::Feedback {
    let rate = feedback.rate.as_ref();
    let of_rate = |count: fn(&longfat_control::RateSample) -> u64| {
        rate.map_or(0, |rate| count(rate).cast_signed())
    };
    abi::Feedback {
        now: feedback.now.seconds(),
        now_ps: feedback.now.0,
        acked: feedback.acked.cast_signed(),
        sacked: feedback.sacked.cast_signed(),
        lost: feedback.lost.cast_signed(),
        marked: feedback.marked.cast_signed(),
        in_flight: feedback.in_flight.cast_signed(),
        rtt: or_nan(feedback.rtt, Span::seconds),
        one_way_delay: or_nan(feedback.one_way_delay, Span::seconds),
        spare: or_nan(feedback.spare, |spare| f64::from(u8::from(spare))),
        limited: match feedback.limited {
            Limited::Window => abi::limited::WINDOW,
            Limited::Pacing => abi::limited::PACING,
            Limited::Application => abi::limited::APPLICATION,
            Limited::Recovery => abi::limited::RECOVERY,
            // Whatever else may come: a bound outside the controller.
            _ => abi::limited::RECEIVER,
        },
        round_starts: i64::from(feedback.round_starts),
        recovery_begins: i64::from(feedback.recovery_begins),
        spurious: feedback.spurious.map_or(-1, cause_code),
        rate_interval: or_nan(rate, |rate| rate.interval.seconds()),
        rate_delivered: of_rate(|rate| rate.delivered),
        rate_delivered_before: of_rate(|rate| rate.delivered_before),
        rate_delivered_total: of_rate(|rate| rate.delivered_total),
        rate_lost: of_rate(|rate| rate.lost),
        rate_in_flight: of_rate(|rate| rate.in_flight),
        rate_application_limited: of_rate(|rate| u64::from(rate.application_limited)),
    }
}

impl Control {
    fn new(table: Arc<Table>, p: Arc<[f64]>, start: &Start) -> Self {
        let state = Memory::new(table.state_size);
        let mut control = Self {
            table,
            p,
            state,
            answers: Answers {
                window: Segments(AFTER_TIMEOUT),
                pacing: Pacing::Unpaced,
                threshold: None,
                timer: None,
            },
            member: start.member,
        };
        let start = told_start(start);
        if let Some(begin) = control.table.raw.begin {
            // SAFETY: the table promises functions that take a state of this size; all live through the call.
            unsafe { begin(control.state.get_mut(), &raw const start, control.p.as_ptr()) };
        }
        control.ask(Time::ZERO);
        control.ask_threshold(Time::ZERO);
        control
    }

    #[cold]
    #[inline(never)]
    fn complain(&self, what: &str, value: f64, wanted: &str, now: Time) {
        fault::report(|| {
            let who = format!("the controller `{}`", self.table.name);
            let what = crate::wrong(what, value, "", wanted);
            Fault::new(who, what).of_flow(self.member).at(now)
        });
    }

    /// Asks for what may have changed with any call.
    #[inline]
    fn ask(&mut self, now: Time) {
        // SAFETY: as in `new`.
        let window = unsafe { (self.table.window)(self.state.get(), self.p.as_ptr()) };
        if (AFTER_TIMEOUT..f64::INFINITY).contains(&window) {
            self.answers.window = Segments(window.min(CEILING));
        } else {
            self.complain("window", window, "a finite number of segments from 1 up", now);
        }
        if self.table.wants.timer {
            self.ask_timer(now);
        }
    }

    fn ask_timer(&mut self, now: Time) {
        let Some(timer) = self.table.raw.timer else { return };
        // SAFETY: as in `new`.
        let at = unsafe { timer(self.state.get(), self.p.as_ptr()) };
        self.answers.timer = if at.is_nan() || at > LATEST {
            None
        } else if at >= 0.0 {
            Some(Time(Span::from_seconds_f64(at).0))
        } else {
            self.complain("timer", at, "a time in seconds since the start of the run", now);
            None
        };
    }

    fn ask_pacing(&mut self, now: Time, path: &abi::Path) {
        let Some(pacing) = self.table.raw.pacing else { return };
        let mut answer = abi::Pacing { kind: abi::pace::UNPACED, value: 0.0 };
        // SAFETY: as in `new`.
        unsafe {
            pacing(self.state.get(), &raw mut answer, std::ptr::from_ref(path), self.p.as_ptr());
        }
        match checked(answer) {
            Ok(pacing) => self.answers.pacing = pacing,
            Err((value, wanted)) => self.complain("pacing", value, wanted, now),
        }
    }

    fn ask_threshold(&mut self, now: Time) {
        let Some(threshold) = self.table.raw.threshold else { return };
        // SAFETY: as in `new`.
        let found = unsafe { threshold(self.state.get(), self.p.as_ptr()) };
        self.answers.threshold = if found.is_nan() || found == f64::INFINITY {
            None
        } else if found >= 1.0 {
            Some(Segments(found))
        } else {
            self.complain("threshold", found, "a number of segments of 1 or more", now);
            None
        };
    }

    /// A call that is no acknowledgment: all may have changed.
    fn ask_all(&mut self, now: Time, path: &abi::Path) {
        self.ask(now);
        self.ask_pacing(now, path);
        self.ask_threshold(now);
    }

    fn told_when(&mut self, function: abi::OnTime, now: Time, path: &Path) {
        let Some(function) = function else { return };
        let path = told_path(path);
        let state = self.state.get_mut();
        // SAFETY: as in `new`.
        unsafe { function(state, now.seconds(), &raw const path, self.p.as_ptr()) };
        self.ask_all(now, &path);
    }

    fn told<T>(&mut self, function: abi::On<T>, event: &T, now: Time, path: &Path, all: bool) {
        let Some(function) = function else { return };
        let path = told_path(path);
        let state = self.state.get_mut();
        // SAFETY: as in `new`.
        unsafe {
            function(state, std::ptr::from_ref(event), &raw const path, self.p.as_ptr());
        }
        if all {
            self.ask_all(now, &path);
        } else {
            self.ask(now);
            if self.table.wants.pacing {
                self.ask_pacing(now, &path);
            }
        }
    }
}

impl CongestionControl for Control {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let event = told_feedback(feedback);
        let path = told_path(path);
        let state = self.state.get_mut();
        // SAFETY: as in `new`.
        unsafe {
            (self.table.on_feedback)(state, &raw const event, &raw const path, self.p.as_ptr());
        }
        self.ask(feedback.now);
        if feedback.round_starts || self.table.wants.pacing {
            self.ask_pacing(feedback.now, &path);
            self.ask_threshold(feedback.now);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        let told = abi::Congestion {
            now: event.now.seconds(),
            now_ps: event.now.0,
            cause: cause_code(event.cause),
            in_flight: event.in_flight.cast_signed(),
            again: i64::from(event.again),
        };
        self.told(Some(self.table.on_congestion), &told, event.now, path, true);
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        let told = abi::Adjustment {
            now: event.now.seconds(),
            now_ps: event.now.0,
            window: first_window(event.window),
            threshold: or_nan(event.threshold, first_window),
        };
        self.told(self.table.raw.on_adjustment, &told, event.now, path, true);
    }

    fn on_recovered(&mut self, now: Time, path: &Path) {
        self.told_when(self.table.raw.on_recovered, now, path);
    }

    fn on_restart(&mut self, now: Time, path: &Path) {
        self.told_when(self.table.raw.on_restart, now, path);
    }

    fn on_lost(&mut self, lost: &Lost, path: &Path) {
        let told = abi::Lost {
            now: lost.now.seconds(),
            now_ps: lost.now.0,
            segment: lost.segment.cast_signed(),
            in_flight: lost.in_flight.cast_signed(),
            lost: lost.lost.cast_signed(),
            delivered_total: lost.delivered_total.cast_signed(),
            application_limited: i64::from(lost.application_limited),
            sent: lost.sent.seconds(),
            sent_ps: lost.sent.0,
        };
        self.told(self.table.raw.on_lost, &told, lost.now, path, false);
    }

    fn on_sent(&mut self, sent: &Sent, path: &Path) {
        let told = abi::Sent {
            now: sent.now.seconds(),
            now_ps: sent.now.0,
            again: i64::from(sent.again),
            in_flight: sent.in_flight.cast_signed(),
        };
        self.told(self.table.raw.on_sent, &told, sent.now, path, false);
    }

    fn timer(&self) -> Option<Time> {
        self.answers.timer
    }

    fn on_timer(&mut self, now: Time, path: &Path) {
        let before = self.answers.timer;
        self.told_when(self.table.raw.on_timer, now, path);
        if let (Some(before), Some(after)) = (before, self.answers.timer)
            && after <= before
            && after <= now
        {
            // It would be called again at once, and for ever.
            let wanted = "a time that has not come yet, or NaN,";
            self.complain("timer after on_timer", after.seconds(), wanted, now);
            self.answers.timer = None;
        }
    }

    #[inline]
    fn window(&self) -> Segments {
        self.answers.window
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        self.answers.pacing
    }

    fn reaction(&self) -> Reaction {
        self.table.reaction
    }

    fn threshold(&self) -> Option<Segments> {
        self.answers.threshold
    }

    fn wants(&self) -> Wants {
        self.table.wants
    }

    fn needs(&self) -> Needs {
        self.table.needs
    }

    fn observe(&self, probe: &mut dyn Probe) {
        crate::observe(self.table.raw.observe, &self.table.observed, &self.state, &self.p, probe);
    }
}
