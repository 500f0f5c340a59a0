//! Window laws.

use std::sync::Arc;

use longfat_control::bounds::FLOOR;
use longfat_control::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Feedback, Needs, Operating,
    Pacing, Path, Phase, Probe, Promises, Reaction, Sending, WindowLaw, Windowed,
};
use longfat_units::fault::{self, Fault, Member};
use longfat_units::{Origin, Segments, Span, Time};

use crate::pace::checked;
use crate::table::{Head, Keep, check_bits, read_head, read_sized, there, values};
use crate::{TableError, abi};

/// A window law as its table describes it.
#[derive(Debug)]
struct Table {
    name: String,
    needs: Needs,
    reaction: Reaction,
    heeds_delay: bool,
    gain: unsafe extern "C" fn(*const abi::Operating, *const f64) -> f64,
    give_up: unsafe extern "C" fn(*const abi::Operating, i64, *const f64) -> f64,
    slow_start: Option<unsafe extern "C" fn(*const abi::Operating, *const f64) -> f64>,
    pacing: Option<unsafe extern "C" fn(*const abi::Operating, *mut abi::Pacing, *const f64)>,
    _keep: Keep,
}

/// Reads a table and makes an entry of it.
///
/// # Safety
/// `at` is null or points to a table that keeps the rules of the header for as long as `keep` lives.
pub(crate) unsafe fn entry(
    at: *const abi::Law,
    keep: Keep,
    origin: Origin,
) -> Result<Controller, TableError> {
    // SAFETY: the caller's promise.
    let (raw, head) = unsafe {
        let raw = read_sized(at)?;
        (raw, read_head(&raw.head, false)?)
    };
    let Head { name, title, source, parameters } = head;
    check_bits(&name, "needs", raw.needs, abi::needs::ALL)?;
    check_bits(&name, "manner", raw.manner, abi::manner::PER_MARK | abi::manner::HEEDS_DELAY)?;
    let table = Arc::new(Table {
        needs: needs(raw.needs),
        reaction: reaction(raw.manner),
        heeds_delay: raw.manner & abi::manner::HEEDS_DELAY != 0,
        gain: there(&name, "gain", raw.gain)?,
        give_up: there(&name, "give_up", raw.give_up)?,
        slow_start: raw.slow_start,
        pacing: raw.pacing,
        name: name.clone(),
        _keep: keep,
    });
    let law = {
        let (table, parameters) = (Arc::clone(&table), parameters.clone());
        move |settings: &_| Law {
            table: Arc::clone(&table),
            p: values(&parameters, settings),
            member: None,
            now: None,
        }
    };
    let make = law.clone();
    let controller = Controller::new(name, move |settings, start| {
        let law = Law { member: start.member, ..make(settings) };
        Sending::Windowed(Box::new(Shell(Windowed::new(law, start))))
    });
    Ok(controller
        .law(move |settings| Box::new(law(settings)))
        .title(title)
        .source(source)
        .parameters(parameters)
        .origin(origin))
}

pub(crate) fn needs(bits: u64) -> Needs {
    use abi::needs;
    Needs {
        ecn: bits & needs::ECN != 0,
        accurate_ecn: bits & needs::ACCURATE_ECN != 0,
        ect1: bits & needs::ECT1 != 0,
        spare: bits & needs::SPARE != 0,
        pacing: bits & needs::PACING != 0,
        ..Needs::NONE
    }
}

pub(crate) fn reaction(manner: u64) -> Reaction {
    if manner & abi::manner::PER_MARK != 0 {
        Reaction::PerMark
    } else if manner & abi::manner::LOSSES_APART != 0 {
        Reaction::LossesApart
    } else {
        Reaction::PerWindow
    }
}

/// A law with the parameters of one flow.
#[derive(Clone, Debug)]
struct Law {
    table: Arc<Table>,
    p: Arc<[f64]>,
    /// Which flow it is of, and what time it is, for messages.
    member: Option<Member>,
    now: Option<Time>,
}

#[inline]
fn told(at: &Operating) -> abi::Operating {
    let seconds = |span: Option<Span>| span.map_or(f64::NAN, Span::seconds);
    abi::Operating {
        window: at.window.0,
        epoch_window: at.epoch_window.map_or(f64::NAN, |window| window.0),
        rtt: at.rtt.seconds(),
        base_rtt: at.base_rtt.seconds(),
        since_event: seconds(at.since_event),
        spare: at.spare,
        phase: match at.phase {
            Phase::SlowStart => abi::phase::SLOW_START,
            Phase::CongestionAvoidance => abi::phase::CONGESTION_AVOIDANCE,
        },
    }
}

impl Law {
    #[cold]
    #[inline(never)]
    fn complain(&self, what: &str, value: f64, wanted: &str, at: &Operating) {
        fault::report(|| {
            let who = format!("the controller `{}`", self.table.name);
            let Operating { window, rtt, .. } = at;
            let place = format!(" at a window of {} and a round trip of {rtt}", window.0);
            let what = crate::wrong(what, value, &place, wanted);
            let fault = Fault::new(who, what).of_flow(self.member);
            match self.now {
                Some(now) => fault.at(now),
                None => fault,
            }
        });
    }
}

impl WindowLaw for Law {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let at_c = told(at);
        // SAFETY: the table promises a function that takes these, and both live through the call.
        let gain = unsafe { (self.table.gain)(&raw const at_c, self.p.as_ptr()) };
        if (0.0..f64::INFINITY).contains(&gain) {
            return gain;
        }
        if self.table.heeds_delay && gain.is_finite() {
            // The floor of a window at congestion holds here as well.
            return gain.max((FLOOR - at.window.0).min(0.0));
        }
        let wanted = if self.table.heeds_delay {
            "a finite number"
        } else {
            "a finite number that is not negative (or a law that says that it heeds delay)"
        };
        self.complain("gain", gain, wanted, at);
        0.0
    }

    fn give_up(&self, at: &Operating, cause: Cause) -> f64 {
        let at_c = told(at);
        // SAFETY: as in `gain`.
        let share =
            unsafe { (self.table.give_up)(&raw const at_c, cause_code(cause), self.p.as_ptr()) };
        if (0.0..=1.0).contains(&share) {
            return share;
        }
        self.complain("give_up", share, "a share of the window, from 0 to 1,", at);
        0.5
    }

    fn slow_start(&self, at: &Operating) -> f64 {
        let Some(slow_start) = self.table.slow_start else { return 1.0 };
        let at_c = told(at);
        // SAFETY: as in `gain`.
        let step = unsafe { slow_start(&raw const at_c, self.p.as_ptr()) };
        if (0.0..f64::INFINITY).contains(&step) {
            return step;
        }
        self.complain("slow_start", step, "a finite number that is not negative", at);
        1.0
    }

    fn pacing(&self, at: &Operating) -> Pacing {
        let Some(pacing) = self.table.pacing else { return Pacing::Unpaced };
        let at_c = told(at);
        let mut answer = abi::Pacing { kind: abi::pace::UNPACED, value: 0.0 };
        // SAFETY: as in `gain`; the answer lives through the call.
        unsafe { pacing(&raw const at_c, &raw mut answer, self.p.as_ptr()) };
        checked(answer).unwrap_or_else(|(value, wanted)| {
            self.complain("pacing", value, wanted, at);
            Pacing::Unpaced
        })
    }

    fn reaction(&self) -> Reaction {
        self.table.reaction
    }

    fn heeds_delay(&self) -> bool {
        self.table.heeds_delay
    }

    fn needs(&self) -> Needs {
        self.table.needs
    }

    fn promises(&self) -> Promises {
        let law = Promises { doubles_at_most: false, ..Promises::LAW };
        if self.table.heeds_delay { Promises { additive: false, ..law } } else { law }
    }
}

pub(crate) fn cause_code(cause: Cause) -> i64 {
    match cause {
        Cause::Loss => abi::cause::LOSS,
        Cause::Mark => abi::cause::MARK,
        Cause::Timeout => abi::cause::TIMEOUT,
    }
}

/// The shell of all laws, which also tells this one the time, for its messages.
#[derive(Clone, Debug)]
struct Shell(Windowed<Law>);

impl CongestionControl for Shell {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        self.0.law_mut().now = Some(feedback.now);
        self.0.on_feedback(feedback, path);
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        self.0.law_mut().now = Some(event.now);
        self.0.on_congestion(event, path);
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.0.law_mut().now = Some(event.now);
        self.0.on_adjustment(event, path);
    }

    fn growth_limit(&self, used: Segments, feedback: &Feedback, path: &Path) -> Option<Segments> {
        self.0.growth_limit(used, feedback, path)
    }

    fn on_pause(&mut self, length: Span) {
        self.0.on_pause(length);
    }

    fn trim(&mut self, event: &Adjustment, path: &Path) {
        self.0.trim(event, path);
    }

    #[inline]
    fn window(&self) -> Segments {
        self.0.window()
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        self.0.pacing()
    }

    fn reaction(&self) -> Reaction {
        self.0.reaction()
    }

    fn threshold(&self) -> Option<Segments> {
        self.0.threshold()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn promises(&self) -> Promises {
        self.0.promises()
    }

    fn observe(&self, probe: &mut dyn Probe) {
        self.0.observe(probe);
    }
}
