//! The sending half of TCP: what to send, and when.
//!
//! A state machine that knows no network: it is handed acknowledgments and time-outs, and polled for the next packet.
//! The controller supplies window and pacing; the sender detects and repairs losses (RFC 6675; RFC 6582, RFC 5681 and
//! RFC 8985 on request), answers marks (RFC 3168), measures round trips and keeps the retransmission timer (RFC 6298).
//! Flows without a window use [`BurstSender`].

mod allowance;
mod bursts;
mod by_time;
mod delivery;
mod duplicates;
mod increase;
mod input;
mod limits;
mod losses;
mod measure;
mod numbered;
mod numbers;
mod output;
mod pacing;
mod rack;
mod reduction;
mod resize;
mod resume;
mod scoreboard;
mod timer;
mod traced;
mod transmissions;
mod validation;

use longfat_control::{
    Cause, Congestion, CongestionControl, Limited, OncePerWindow, Pacing, Reaction, Wants,
};
use longfat_pages::prefetch;
use longfat_scenario::{
    ReceiveWindow, Recovery, RtoEstimator, RtoRestart, SavedPath, SendQuantum, WindowValidation,
};
use longfat_units::{Bytes, Ecn, Span, Time, fault};

use allowance::Allowance;
pub(crate) use bursts::BurstSender;
use delivery::DeliveryRate;
use duplicates::{Duplicates, THRESHOLD};
use increase::Increase;
pub(crate) use limits::LimitedFor;
use limits::Limits;
pub(crate) use measure::SenderCounts;
pub(crate) use numbered::Numbered;
use numbers::Numbers;
use pacing::Pacer;
use rack::Rack;
use reduction::Reduction;
use resume::Resume;
use scoreboard::Scoreboard;
use timer::RetransmissionTimer;
use traced::Noted;
pub(crate) use traced::{Traced, Tracing, Within};
use validation::Validation;

use crate::cargo::{Cargo, Report};
use crate::durations::Durations;
use crate::explicit::Listener;
use crate::packet::{Flags, Packet};

/// What a sender is built from. What packets need comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct SenderConfig {
    pub(crate) flow: u32,
    pub(crate) bytes: u32,
    /// Upper bound on segments in flight, whatever the window says.
    pub(crate) max_window: u64,
    /// How much the receiver allows.
    pub(crate) receive_window: Option<Box<ReceiveWindow>>,
    /// The shortest round trip without queues that there ever is: anything above it is queueing delay.
    pub(crate) propagation: Span,
    /// Does an application write them bit by bit? Then there are none at first.
    pub(crate) application: bool,
    pub(crate) rto_estimator: RtoEstimator,
    /// Does the receiver tell how many segments were marked, and not only that some were?
    pub(crate) counts_marks: bool,
    /// How often marks and losses are answered.
    pub(crate) reaction: Reaction,
    /// May acknowledgments pass one another on their way?
    pub(crate) acks_pass: bool,
    pub(crate) rto_restart: RtoRestart,
    /// Is it traced?
    pub(crate) traced: Tracing,
    /// Are percentiles of its queueing delay to be told?
    pub(crate) delay_percentiles: bool,
    /// The ECN field of new data.
    pub(crate) ecn: Ecn,
    pub(crate) window_validation: WindowValidation,
    pub(crate) recovery: Recovery,
    pub(crate) rto_min: Span,
    /// How long the receiver may hold an acknowledgment back.
    pub(crate) ack_delay: Span,
    /// Segments to send in all.
    pub(crate) segments: Option<u64>,
    /// Round trip without queues as the flow begins: what a handshake would measure.
    pub(crate) first_rtt: Span,
    pub(crate) rto_tick: Option<Span>,
    pub(crate) careful_resume: Option<SavedPath>,
    /// How much leaves at a time when paced.
    pub(crate) send_quantum: Option<SendQuantum>,
    /// Overrides the controller's pacing.
    pub(crate) pacing: Option<Pacing>,
    /// How the sender treats explicit signals.
    pub(crate) listener: Listener,
    /// Which flow of the scenario it is, where it is one.
    pub(crate) member: Option<fault::Member>,
}

/// The most segments in flight unless a scenario allows more. In packets of 1500 bytes it takes 4 s at 100 Gbit/s to
/// send so many: a window that reaches it is a controller's mistake, and would go on until memory is full.
pub(crate) const MOST_IN_FLIGHT: u64 = 1 << 25;

impl SenderConfig {
    /// Does the receiver wait to hear that a mark was answered (RFC 3168: CWR)?
    fn announces_reductions(&self) -> bool {
        self.ecn != Ecn::NotEct && !self.counts_marks
    }
}

/// What the simulation asks of every kind of sender. Methods on the packet path are called on a concrete type,
/// hence `Self: Sized`.
pub(crate) trait Sends {
    /// An acknowledgment has arrived, with its cargo if it carries any.
    fn on_ack(&mut self, now: Time, ack: &Packet, cargo: Option<&Cargo>)
    where
        Self: Sized;

    /// The next packet that may leave now.
    fn poll(&mut self, now: Time) -> Option<Packet>
    where
        Self: Sized;

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, now: Time);

    /// What the flow was begun with.
    fn config(&self) -> &SenderConfig;

    /// The retransmission timer.
    fn timer(&self) -> &RetransmissionTimer;

    /// When the retransmission timer runs out.
    #[inline]
    fn deadline(&self) -> Time {
        self.timer().deadline()
    }

    /// When the controller wants to be called; never if it does not.
    fn alarm(&self) -> Time {
        Time::NEVER
    }

    /// The time set by [`Self::alarm`] has come.
    fn on_alarm(&mut self, _now: Time) {}

    /// When pacing lets the next packet leave, if pacing is what holds it back.
    fn pace_deadline(&self) -> Option<Time>
    where
        Self: Sized;

    /// May an acknowledgment of everything below `number`, due at `time`, be handled early because its effect is
    /// already certain?
    fn hears_early(&self, time: Time, number: u64) -> bool
    where
        Self: Sized;

    /// Stops sending new data.
    fn stop(&mut self);

    /// Segments in flight (RFC 6675's `Pipe`).
    fn in_flight(&self) -> u64;

    /// Is everything sent and acknowledged?
    fn is_done(&self) -> bool;

    /// Segments to send in total, if finite.
    fn size(&self) -> Option<u64> {
        self.config().segments
    }

    /// When the last acknowledgment of a finite flow arrived.
    fn acknowledged(&self) -> Option<Time> {
        self.is_done().then_some(self.timer().idle_since())
    }

    /// Smoothed round trip, once there is a sample.
    fn smoothed_rtt(&self) -> Option<Span> {
        self.timer().smoothed()
    }

    fn measured(&self) -> &SenderCounts;

    /// The queueing delays of the measured interval, if percentiles of them are to be told.
    fn waits(&self) -> Option<&Durations> {
        None
    }

    /// For how long each cause has limited it until `now`, or until it was done; `None` if it does not know.
    fn limited_for(&self, _now: Time) -> Option<LimitedFor> {
        None
    }

    /// Begins the measured interval.
    fn begin_measuring(&mut self, now: Time);

    /// What data leaving now carries, if the controller wants it to carry anything.
    fn cargo(&self, _now: Time) -> Option<Cargo>
    where
        Self: Sized,
    {
        None
    }
}

/// The sending half of one flow that has a window. What acknowledgments need comes first, but for parts of structures.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    /// First segment not cumulatively acknowledged.
    unacknowledged: u64,
    /// Next new segment.
    next: u64,
    /// One past the last segment that may leave: `limit`, or less if the receiver allows less.
    sendable: u64,
    /// How many segments the window allows in flight.
    allowed: u64,
    /// State kept only for controllers that ask for it, and for what the scenario asks for beyond the plain sender.
    extras: Option<Box<Extras>>,
    /// When the controller wants to be called, or time alone may show a loss; never if neither.
    alarm: Time,
    /// An acknowledgment of everything below this, or more, is never handled early: it may be the last one. None is of
    /// a flow with an application, which may write at any time.
    early_below: u64,
    /// How many it allows at least.
    least: i64,
    /// Answers the losses and marks of one window only once, or once each.
    once: OncePerWindow,
    /// Flags of new data, and of retransmissions.
    new_flags: Flags,
    again_flags: Flags,
    /// Are losses detected by counting duplicates, without selective acknowledgments?
    counts_duplicates: bool,
    /// The first retransmission of a recovery leaves whatever the window says (RFC 6675, step 4.3).
    fast_retransmit: bool,
    /// The next new segment tells the receiver of a reduction (RFC 3168: CWR).
    announce_reduction: bool,
    /// Is the controller asked for its pacing after every call?
    asks_pacing_always: bool,
    /// Does each acknowledgment matter to pacing, for that or for loose blocks?
    minds_pacing: bool,
    /// Does any of the extras want to know what leaves?
    follows_departures: bool,
    /// Does a departing packet only need to be counted?
    leaves_plainly: bool,
    /// Does data leave with a header for routers?
    assisted: bool,
    /// Does it leave with that, or with a time stamp for the receiver?
    loaded: bool,
    /// What kept it from having more in flight when it was last asked for a packet.
    limited: Limited,
    state: State,
    /// One past the last segment there is to send.
    limit: u64,
    control: Box<dyn CongestionControl>,
    scoreboard: Scoreboard,
    timer: RetransmissionTimer,
    pacer: Pacer,
    duplicates: Duplicates,
    listener: Listener,
    /// For how long what has kept it from having more in flight.
    limits: Limits,
    measured: SenderCounts,
    config: SenderConfig,
}

/// State kept only for controllers that ask for it, and for what the scenario asks for beyond the plain sender. With any
/// of it no acknowledgment and no departure is plain.
#[derive(Debug)]
struct Extras {
    wants: Wants,
    /// Is there nothing here but what follows deliveries, and what the controller asks to be told about time and marks?
    follow_only_deliveries: bool,
    /// Does anything here want to know what leaves?
    follow_departures: bool,
    delivery_rate: Option<DeliveryRate>,
    rack: Option<Rack>,
    /// How much the receiver allows.
    allowance: Option<Allowance>,
    /// Of packets that have numbers.
    numbers: Option<Numbers>,
    /// How the window falls, in recoveries with [`Rack`].
    reduction: Option<Reduction>,
    /// What becomes of an unused window.
    validation: Option<Validation>,
    /// How far a window grows that is not full.
    increase: Option<Increase>,
    /// What is made of an earlier flow.
    resume: Option<Resume>,
    /// The last reaction, if it may still prove needless and be undone; with [`Rack`].
    undo: Option<Undo>,
    /// When the timer last expired; cleared by the first progress afterwards.
    timed_out: Option<Time>,
    /// The cause of a reaction that proved spurious, until the controller is told.
    spurious: Option<Cause>,
    /// How many marked segments the receiver has reported, modulo 2³², where it counts them.
    marks: u32,
    /// What becomes of segments, for who traces them.
    noted: Option<Noted>,
    /// The queueing delays since the measured interval began, if percentiles are to be told.
    waits: Option<Durations>,
}

/// What it takes to undo a reaction.
#[derive(Debug)]
struct Undo {
    cause: Cause,
    /// When it was.
    at: Time,
    /// The controller as it was, unless it undoes the reaction itself.
    before: Option<Box<dyn CongestionControl>>,
}

impl Extras {
    /// What these wishes and this configuration require of a flow with this initial window, if anything.
    fn of(wants: Wants, config: &SenderConfig, initial: f64) -> Option<Box<Self>> {
        let rack = (config.recovery == Recovery::Rack).then(Rack::new);
        let numbers = (config.recovery == Recovery::Quic).then(Numbers::default);
        let packet = Bytes(u64::from(config.bytes));
        let window = config.receive_window.as_ref();
        let allowance = window.map(|window| Allowance::new(**window, packet));
        let validation = Validation::new(config.window_validation, initial);
        let grows_unused = config.window_validation == WindowValidation::RateLimitedIncrease;
        let increase = grows_unused.then(|| Increase::new(initial));
        let resume = config.careful_resume.map(|saved| Resume::new(saved, initial));
        let wants_nothing =
            (Wants { pacing: false, router_header: false, ..wants }) == Wants::NOTHING;
        let hears_more = allowance.is_some() || config.counts_marks;
        let finds_losses = rack.is_some() || numbers.is_some();
        let validates = validation.is_some() || increase.is_some() || resume.is_some();
        let noted = (config.traced == Tracing::InDetail).then(Noted::default);
        let waits = config.delay_percentiles.then(Durations::of_flow);
        let watched = noted.is_some() || waits.is_some();
        if wants_nothing && !hears_more && !finds_losses && !validates && !watched {
            return None;
        }
        let delivery_rate = (wants.delivery_rate || wants.losses).then(DeliveryRate::default);
        let changes_little =
            !validates && numbers.is_none() && allowance.is_none() && noted.is_none();
        Some(Box::new(Self {
            wants,
            follow_only_deliveries: changes_little,
            follow_departures: finds_losses
                || validates
                || delivery_rate.is_some()
                || wants.departures,
            delivery_rate,
            rack,
            allowance,
            numbers,
            reduction: None,
            validation,
            increase,
            resume,
            undo: None,
            timed_out: None,
            spurious: None,
            marks: 0,
            noted,
            waits,
        }))
    }

    /// The receiver has counted `marks` in total. Returns how many of them are news: none if a later acknowledgment has
    /// passed this one.
    fn newly_marked(&mut self, marks: u32) -> u64 {
        let news = marks.wrapping_sub(self.marks);
        if news > u32::MAX / 2 {
            return 0;
        }
        self.marks = marks;
        u64::from(news)
    }

    /// First progress after a time-out. If it comes from a segment sent before the time-out, that segment was not lost
    /// after all (RFC 3522).
    fn progress(&mut self, sent: Time) {
        if self.timed_out.take().is_some_and(|timed_out| sent < timed_out) {
            self.spurious = Some(Cause::Timeout);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No loss being repaired.
    Open,
    /// Loss recovery, until everything below `point` is acknowledged.
    Recovery { point: u64 },
    /// The same after a time-out: everything is sent again, in slow start.
    GoBack { point: u64 },
}

impl Sender {
    #[expect(clippy::inline_always, reason = "so that it is made where it stays")]
    #[inline(always)]
    pub(crate) fn new(
        config: SenderConfig,
        control: Box<dyn CongestionControl>,
        now: Time,
    ) -> Self {
        let wants = control.wants();
        let extras = Extras::of(wants, &config, control.window().0);
        let follows_departures = extras.as_ref().is_some_and(|extras| extras.follow_departures);
        // Packets that have numbers do not say when they were sent.
        let timed =
            wants.one_way_delay && !wants.router_header && config.recovery != Recovery::Quic;
        let plain = config
            .listener
            .offer()
            .with_if(Flags::AWAITED, config.application)
            .with_if(Flags::TIMED, timed);
        let limit = if config.application { 0 } else { config.segments.unwrap_or(u64::MAX) };
        let mut sender = Self {
            unacknowledged: 0,
            next: 0,
            limit,
            early_below: limit,
            sendable: limit,
            allowed: 0,
            least: if config.recovery == Recovery::Quic { numbered::LEAST_WINDOW } else { 1 },
            state: State::Open,
            limited: Limited::Window,
            limits: Limits::new(now, Limited::Window),
            scoreboard: Scoreboard::default(),
            duplicates: Duplicates::new(THRESHOLD),
            counts_duplicates: !config.recovery.is_selective(),
            measured: SenderCounts::new(now, control.window().0),
            control,
            timer: RetransmissionTimer::new(&config, now),
            once: OncePerWindow::default(),
            fast_retransmit: false,
            announce_reduction: false,
            pacer: Pacer::new(config.send_quantum, config.bytes),
            asks_pacing_always: wants.pacing && config.pacing.is_none(),
            minds_pacing: wants.pacing && config.pacing.is_none(),
            follows_departures,
            leaves_plainly: !follows_departures,
            assisted: wants.router_header,
            loaded: wants.router_header || (wants.one_way_delay && !timed),
            extras,
            alarm: Time::NEVER,
            // RFC 3168, section 6.1.5: only new data can be marked.
            new_flags: plain.with_ecn(config.ecn),
            again_flags: plain.with(Flags::RETRANSMISSION),
            listener: config.listener,
            config,
        };
        if wants != Wants::NOTHING {
            if sender.config.pacing.is_none() {
                // These may pace from the first segment; plain window laws, and scenarios, only once a round trip is known.
                sender.heed_pacing();
            }
            sender.set_alarm(now);
        }
        sender.heed_control(now);
        if sender.extras.is_some() {
            sender.heed_receiver();
        }
        sender
    }

    /// Asks for what each acknowledgment needs, so that it is at hand soon.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.unacknowledged);
        prefetch(&self.extras);
        prefetch(&self.scoreboard);
        prefetch(&self.timer);
        prefetch(&self.duplicates);
        prefetch(&self.measured.acknowledgments);
        prefetch(&self.config.propagation);
    }

    /// Is no loss being repaired?
    #[inline]
    fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// What counts against the window: in flight, and with duplicates alone also what they have reported, which is in
    /// their inflation instead. That is RFC 5681's `FlightSize`.
    #[inline]
    fn flight(&self) -> u64 {
        self.scoreboard.pipe(self.next - self.unacknowledged)
    }

    /// A repair begins or ends.
    fn enter(&mut self, now: Time, state: State) {
        self.state = state;
        self.limits.switch(now, if self.is_open() { self.limited } else { Limited::Recovery });
    }

    /// RFC 6675, section 5, step 4.
    #[inline(never)]
    fn enter_recovery(&mut self, now: Time, in_flight: u64) {
        if self.config.recovery == Recovery::Quic {
            // A single packet may leave at once (RFC 9002, section 7.3.2).
            self.fast_retransmit = true;
            return self.reduce(now, Cause::Loss, in_flight);
        }
        self.enter(now, State::Recovery { point: self.next });
        self.duplicates.obscure(self.next);
        self.scoreboard.begin_recovery(self.unacknowledged);
        self.prepare_recovery();
        self.fast_retransmit = !self.scoreboard.first_was_retransmitted(self.unacknowledged);
        // Losses from before the last reduction have already been answered.
        if self.loss_counts() {
            self.reduce(now, Cause::Loss, in_flight);
        }
    }

    #[inline(never)]
    fn reduce(&mut self, now: Time, cause: Cause, in_flight: u64) {
        self.remember(now, cause);
        let next = self.next;
        let answered = self.numbers().map_or(next, Numbers::react);
        if cause == Cause::Mark && self.config.reaction == Reaction::LossesApart {
            self.once.mark_answered(answered);
        } else {
            self.once.answered(answered);
        }
        self.announce_reduction = self.config.announces_reductions();
        self.measured.reduced(cause);
        self.begin_reduction(cause);
        self.resize_before_reaction(now);
        self.tell_congestion(&Congestion { now, cause, in_flight, again: false });
        self.resize_after_reaction(now, cause);
    }

    fn tell_congestion(&mut self, event: &Congestion) {
        self.control.on_congestion(event, self.timer.path());
        self.pacer.congestion();
        self.heed_pacing();
        self.heed_control(event.now);
    }

    /// Adopts the pacing set by the scenario, or else by the controller. There are no blocks in slow start.
    #[inline(never)]
    fn heed_pacing(&mut self) {
        let wanted = match self.config.pacing {
            None => self.control.pacing(),
            Some(Pacing::Blocks(_) | Pacing::LooseBlocks(_)) if self.in_slow_start() => {
                Pacing::Unpaced
            }
            Some(pacing) => pacing,
        };
        let resume = self.extras.as_ref().and_then(|extras| extras.resume.as_ref());
        self.adopt_pacing(resume.map_or(wanted, |resume| resume.pacing(wanted)));
    }

    /// Adopts this pacing, unless its blocks are too few.
    #[inline]
    fn adopt_pacing(&mut self, wanted: Pacing) {
        let wanted = match wanted {
            Pacing::Blocks(blocks) | Pacing::LooseBlocks(blocks) if blocks < 2 => Pacing::Unpaced,
            other => other,
        };
        if wanted == self.pacer.mode() {
            return;
        }
        self.pacer.set(wanted);
        self.leaves_plainly = !self.follows_departures && !self.pacer.is_on();
        self.minds_pacing = self.asks_pacing_always || self.pacer.is_loose();
    }

    /// An acknowledgment has arrived that matters to pacing, perhaps as the first of a round.
    #[inline(never)]
    fn pace_on(&mut self, now: Time, round_starts: bool) {
        if self.asks_pacing_always && self.config.careful_resume.is_none() {
            self.adopt_pacing(self.control.pacing());
        } else if round_starts || self.asks_pacing_always {
            self.heed_pacing();
        }
        self.pacer.hear(now);
    }

    fn in_slow_start(&self) -> bool {
        self.control.threshold().is_none_or(|threshold| self.control.window() < threshold)
    }

    /// Adopts the controller's window.
    #[inline]
    fn heed_control(&mut self, now: Time) {
        let window = self.control.window().0;
        self.measured.window(now, window);
        // Signed: processors convert that in one instruction.
        let allowed = (window as i64).max(self.least).cast_unsigned();
        self.allowed = allowed.min(self.config.max_window);
    }

    /// Calls the controller, for a host that steps the simulation from outside.
    pub(crate) fn call(&mut self, now: Time) {
        self.control.on_timer(now, self.timer.path());
        self.heed_pacing();
        self.set_alarm(now);
        self.heed_control(now);
        self.heed_reduction();
    }

    /// Asks the controller when it wants to be called, and RACK when to look for losses. What has passed is now, which lies
    /// ahead of the clock where an acknowledgment is heard early.
    fn set_alarm(&mut self, now: Time) {
        let Some(extras) = &self.extras else { return };
        let wanted = if extras.wants.timer { self.control.timer() } else { None };
        let look = extras.rack.as_ref().map_or(Time::NEVER, Rack::deadline);
        self.alarm = wanted.unwrap_or(Time::NEVER).min(look).max(now);
    }

    /// What a packet leaving now carries for routers, and for the receiver to time it by.
    #[inline(never)]
    fn load(&self, now: Time) -> Cargo {
        let timed = self.extras.as_ref().is_some_and(|extras| extras.wants.one_way_delay);
        Cargo {
            header: self.assisted.then(|| self.control.router_header(self.timer.path())),
            transit: timed.then_some(Span(now.0)),
            ..Cargo::default()
        }
    }

    /// Adopts what the receiver allows.
    fn heed_receiver(&mut self) {
        let (window, unacknowledged) = (self.control.window().0, self.unacknowledged);
        let Some(allowance) = self.allowance_mut() else { return };
        let end = allowance.end(unacknowledged, window);
        self.sendable = self.limit.min(end);
    }

    fn waits_mut(&mut self) -> Option<&mut Durations> {
        self.extras.as_mut()?.waits.as_mut()
    }

    fn allowance_mut(&mut self) -> Option<&mut Allowance> {
        self.extras.as_mut()?.allowance.as_mut()
    }

    fn allowance(&self) -> Option<&Allowance> {
        self.extras.as_ref()?.allowance.as_ref()
    }

    /// The receive window in segments, if there is one.
    pub(crate) fn receive_window(&self) -> Option<u64> {
        self.allowance().map(Allowance::window)
    }

    /// For how long the receive window has held the sender back in the measured interval, until `now`.
    pub(crate) fn receiver_limited(&self, now: Time) -> Option<Span> {
        self.allowance().map(|allowance| allowance.limited(now))
    }

    pub(crate) fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// The application writes so many segments.
    pub(crate) fn write(&mut self, now: Time, segments: u64) {
        if self.next == self.limit && self.in_flight() == 0 {
            self.restart(now);
        }
        self.limit = self.limit.saturating_add(segments);
        self.sendable = self.limit;
        self.heed_receiver();
    }

    /// There will be something to send again.
    fn restart(&mut self, now: Time) {
        if self.extras.as_ref().is_some_and(|extras| extras.increase.is_some()) {
            self.control.on_pause(now.since(self.timer.idle_since()));
        }
        self.control.on_restart(now, self.timer.path());
        self.set_alarm(now);
        if self.asks_pacing_always {
            self.heed_pacing();
        }
        if self.control.window().0 != self.measured.window {
            self.heed_control(now);
        }
    }

    /// How the sender treats explicit signals.
    pub(crate) fn listener(&self) -> &Listener {
        &self.listener
    }
}

impl Sends for Sender {
    #[inline]
    fn on_ack(&mut self, now: Time, ack: &Packet, cargo: Option<&Cargo>) {
        let is_plain = self.is_plain(ack, cargo.is_some());
        match &self.extras {
            None if is_plain => self.on_plain_ack::<false>(now, ack, None),
            Some(extras) if is_plain && self.let_pass(extras, Report::of(ack.detail, false)) => {
                self.on_plain_ack_with_extras(now, ack, None);
            }
            _ => self.on_any_ack(now, ack, cargo),
        }
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.next_packet(now)
    }

    /// RFC 6298, sections 5.4 to 5.7, and RFC 6675, section 5.1: everything unacknowledged counts as lost and is sent
    /// again, in slow start.
    fn on_timeout(&mut self, now: Time) {
        let in_flight = self.flight();
        let again = self.timer.run_out(now, self.unacknowledged);
        self.enter(now, State::GoBack { point: self.next });
        self.fast_retransmit = false;
        self.duplicates.clear();
        self.duplicates.obscure(self.next);
        if self.config.recovery == Recovery::Rack {
            self.lose_by_timeout(now);
        } else {
            self.lose_all(now);
        }
        if let Some(extras) = &mut self.extras {
            extras.timed_out = Some(now);
        }
        if !again {
            self.remember(now, Cause::Timeout);
        }
        self.once.answered(self.next);
        self.announce_reduction = self.config.announces_reductions();
        self.pacer.cancel();
        self.measured.timed_out();
        self.tell_congestion(&Congestion { now, cause: Cause::Timeout, in_flight, again });
        self.resize_after_reaction(now, Cause::Timeout);
        self.set_alarm(now);
    }

    #[inline]
    fn config(&self) -> &SenderConfig {
        &self.config
    }

    #[inline]
    fn timer(&self) -> &RetransmissionTimer {
        &self.timer
    }

    #[inline]
    fn alarm(&self) -> Time {
        self.alarm
    }

    fn on_alarm(&mut self, now: Time) {
        self.alarm = Time::NEVER;
        if self.config.recovery == Recovery::Rack && !self.look_for_losses(now) {
            return;
        }
        let before = self.control.timer();
        self.call(now);
        let after = self.control.timer();
        assert!(
            after.is_none() || after > before || after > Some(now),
            "called at {now:?}, the controller of flow {} asks to be called at {after:?} again: the clock would stand still",
            self.config.flow
        );
    }

    #[inline]
    fn pace_deadline(&self) -> Option<Time> {
        (self.limited == Limited::Pacing).then(|| self.pacer.until())
    }

    #[expect(clippy::inline_always, reason = "on the way of every acknowledgment")]
    #[inline(always)]
    fn hears_early(&self, time: Time, number: u64) -> bool {
        time <= self.timer.deadline()
            && time <= self.alarm
            && number.max(self.unacknowledged) < self.early_below
    }

    fn stop(&mut self) {
        self.limit = self.limit.min(self.next);
        self.early_below = self.early_below.min(self.limit);
        self.sendable = self.sendable.min(self.limit);
    }

    fn in_flight(&self) -> u64 {
        self.scoreboard.in_flight(self.next - self.unacknowledged)
    }

    fn is_done(&self) -> bool {
        self.unacknowledged == self.limit
    }

    fn measured(&self) -> &SenderCounts {
        &self.measured
    }

    fn waits(&self) -> Option<&Durations> {
        self.extras.as_ref()?.waits.as_ref()
    }

    fn limited_for(&self, now: Time) -> Option<LimitedFor> {
        // An application may write more.
        let done = if self.config.application { None } else { self.acknowledged() };
        Some(self.limits.until(done.map_or(now, |done| done.min(now))))
    }

    fn begin_measuring(&mut self, now: Time) {
        self.measured.begin(now);
        self.listener.begin_measuring();
        if let Some(allowance) = self.allowance_mut() {
            allowance.begin_measuring(now);
        }
        if let Some(waits) = self.waits_mut() {
            waits.clear();
        }
    }

    #[inline]
    fn cargo(&self, now: Time) -> Option<Cargo> {
        self.loaded.then(|| self.load(now))
    }
}

#[cfg(test)]
mod tests;
