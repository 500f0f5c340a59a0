//! A sender that notes what it does and hears.
//!
//! It is one of the other senders with a notebook, and a kind of its own (`Source::Traced`), so that flows which are not
//! traced do not pay for it. It must change nothing: whatever it is asked, it asks the sender within.
//!
//! In detail it also notes which packets arrive or are found lost, as QUIC's senders know them. TCP knows segments; which
//! transmission of a segment arrived it does not, and the last one counts.

use longfat_control::{CongestionControl, Limited};
use longfat_units::{Bytes, Span, Time};

use super::transmissions::{Transmissions, ranges};
use super::{BurstSender, LimitedFor, Numbered, Sender, SenderConfig, SenderCounts, Sends, State};
use crate::cargo::{Cargo, Report};
use crate::durations::Durations;
use crate::explicit::Listener;
use crate::member::Member;
use crate::packet::{Flags, Packet};
use crate::trace::{
    Begun, HeardAck, Metrics, PacketNumber, Phase, SentPacket, Stream, TraceEvent, What,
};

/// Is a flow traced?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tracing {
    #[default]
    Off,
    /// What leaves it, and the acknowledgments that it hears.
    Packets,
    /// Also what became of each packet, and the numbers of its sender.
    InDetail,
}

/// What the sender within notes of segments, for [`Tracing::InDetail`].
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// Found lost.
    pub(super) lost: Vec<u64>,
    /// Arrived, as was reported selectively or in order.
    pub(super) arrived: Vec<u64>,
}

/// The sender within.
#[derive(Debug)]
pub(crate) enum Within {
    /// TCP.
    Windowed(Sender),
    /// TCP whose packets have numbers.
    Numbered(Numbered),
    /// Without a window.
    Bursts(BurstSender),
}

/// Calls a method of the sender within, which is of a known type where `dyn` would not do.
macro_rules! within {
    ($traced:expr, $sender:ident => $call:expr) => {
        match $traced {
            Within::Windowed($sender) => $call,
            Within::Numbered($sender) => $call,
            Within::Bursts($sender) => $call,
        }
    };
}

/// A sender that notes what it does and hears.
#[derive(Debug)]
pub(crate) struct Traced {
    within: Within,
    notes: Notes,
}

/// What has been noted, and what it takes to note more.
#[derive(Debug)]
struct Notes {
    stream: Stream,
    events: Vec<TraceEvent>,
    /// When the last one of them was.
    at: Time,
    /// Are packets followed to their end, and numbers noted?
    detailed: bool,
    /// Is anything noted?
    on: bool,
    /// Packets that have left.
    sent: u64,
    transmissions: Transmissions,
    /// Numbered packets that the next acknowledgment reports, and for each number whether one has.
    news: Vec<u64>,
    reported: Vec<bool>,
    metrics: Option<Metrics>,
    latest: Option<Span>,
    phase: Option<Phase>,
}

impl Notes {
    fn note(&mut self, time: Time, what: What) {
        self.at = time;
        self.events.push(TraceEvent { time, stream: self.stream, what });
    }
}

impl Traced {
    /// The sender of a flow that begins now.
    pub(crate) fn new(member: Member, within: Within, now: Time) -> Self {
        let config = within!(&within, sender => sender.config());
        let stream = Stream::of(member);
        let detailed = config.traced == Tracing::InDetail;
        let packet = Bytes(u64::from(config.bytes));
        let begun = Begun {
            packet,
            ecn: config.ecn,
            counts_marks: config.counts_marks,
            selective: config.recovery.is_selective() && !matches!(within, Within::Bursts(_)),
            numbered: matches!(within, Within::Numbered(_)),
            windowed: !matches!(within, Within::Bursts(_)),
            window_scale: config.receive_window.as_ref().map(|window| window.scale),
            propagation: config.propagation,
        };
        let mut notes = Notes {
            stream,
            events: Vec::new(),
            at: now,
            detailed,
            on: true,
            sent: 0,
            transmissions: Transmissions::default(),
            news: Vec::new(),
            reported: Vec::new(),
            metrics: None,
            latest: None,
            phase: None,
        };
        notes.note(now, What::Begins(begun));
        let mut traced = Self { within, notes };
        traced.note_numbers(now);
        traced
    }

    /// What has been noted.
    pub(crate) fn events(&mut self) -> &mut Vec<TraceEvent> {
        &mut self.notes.events
    }

    /// Notes nothing any more, and forgets what it has noted.
    pub(crate) fn stop_noting(&mut self) {
        self.notes.on = false;
        self.notes.events = Vec::new();
        self.notes.transmissions = Transmissions::default();
    }

    /// The flow is over, now or when it last heard something.
    pub(crate) fn end(&mut self, now: Time) {
        if self.notes.on {
            self.notes.note(now.max(self.notes.at), What::Ends);
        }
    }

    pub(crate) fn control(&self) -> Option<&dyn CongestionControl> {
        self.within.control()
    }

    /// How the sender treats explicit signals.
    pub(crate) fn listener(&self) -> Option<&Listener> {
        match &self.within {
            Within::Windowed(sender) => Some(sender.listener()),
            Within::Numbered(sender) => Some(sender.listener()),
            Within::Bursts(_) => None,
        }
    }

    /// The receive window in segments, if there is one.
    pub(crate) fn receive_window(&self) -> Option<u64> {
        match &self.within {
            Within::Windowed(sender) => sender.receive_window(),
            Within::Numbered(_) | Within::Bursts(_) => None,
        }
    }

    /// For how long the receive window has held the flow back in the measured interval, until `now`.
    pub(crate) fn receiver_limited(&self, now: Time) -> Option<Span> {
        match &self.within {
            Within::Windowed(sender) => sender.receiver_limited(now),
            Within::Numbered(_) | Within::Bursts(_) => None,
        }
    }

    /// The application writes so many segments.
    pub(crate) fn write(&mut self, now: Time, segments: u64) {
        match &mut self.within {
            Within::Windowed(sender) => sender.write(now, segments),
            Within::Numbered(sender) => sender.write(now, segments),
            Within::Bursts(_) => {}
        }
        self.note_numbers(now);
    }

    /// Calls the controller, for a host that steps the simulation from outside.
    pub(crate) fn call(&mut self, now: Time) {
        match &mut self.within {
            Within::Windowed(sender) => sender.call(now),
            Within::Numbered(sender) => sender.call(now),
            Within::Bursts(_) => {}
        }
        self.note_numbers(now);
    }

    /// The acknowledgment that comes next reports these packets, and whether they came marked.
    pub(crate) fn hear(&mut self, news: impl Iterator<Item = (u64, bool)>) {
        let Within::Numbered(sender) = &mut self.within else { return };
        if !self.notes.detailed || !self.notes.on {
            return sender.hear(news);
        }
        // A copy that the network has made arrives too, and is no news.
        let Notes { news: noted, reported, .. } = &mut self.notes;
        sender.hear(news.inspect(|&(number, _)| {
            let place = number as usize;
            reported.resize(reported.len().max(place + 1), false);
            if !std::mem::replace(&mut reported[place], true) {
                noted.push(number);
            }
        }));
    }

    /// Something other than a packet or an acknowledgment may have changed what the sender is about.
    fn note_numbers(&mut self, now: Time) {
        let Self { within, notes } = self;
        if !notes.detailed || !notes.on {
            return;
        }
        for segment in within.take_lost() {
            if let Some(packet) = notes.transmissions.packet(segment) {
                notes.note(now, What::Lost(PacketNumber { packet, segment }));
            }
        }
        let phase = within.phase();
        if phase.is_some() && phase != notes.phase {
            notes.phase = phase;
            if let Some(phase) = phase {
                notes.note(now, What::Phase(phase));
            }
        }
        let metrics = within.metrics(notes.latest);
        if notes.metrics != Some(metrics) {
            notes.metrics = Some(metrics);
            notes.note(now, What::Metrics(metrics));
        }
    }

    /// Notes an acknowledgment that the sender has taken in.
    fn note_ack(&mut self, now: Time, ack: &Packet, cargo: Option<&Cargo>) {
        let window = self.receive_window();
        let Self { within, notes } = self;
        if !notes.on {
            return;
        }
        let config = within!(&*within, sender => sender.config());
        let tells_window = config.receive_window.is_some();
        let report =
            cargo.map_or_else(|| Report::of(ack.detail, tells_window), |cargo| cargo.report);
        let marks = config.counts_marks.then_some(report.marks);
        let mut blocks = [(0, 0); 3];
        for (block, run) in blocks.iter_mut().zip(cargo.and_then(|it| it.blocks).iter().flatten()) {
            *block = match run.as_duplicate() {
                Some(segment) => (segment, segment + 1),
                None => (run.first, run.end),
            };
        }
        let numbered = matches!(within, Within::Numbered(_));
        let mut packets = std::mem::take(&mut notes.news);
        if notes.detailed {
            let arrived = within.take_arrived();
            if let Within::Numbered(sender) = within {
                notes.transmissions.arrive_below(sender.unacknowledged(), &mut Vec::new());
            } else {
                packets.extend(arrived.filter_map(|segment| notes.transmissions.arrive(segment)));
                notes.transmissions.arrive_below(ack.number, &mut packets);
            }
        }
        let heard = HeardAck {
            below: if numbered { 0 } else { ack.number },
            blocks,
            echo: ack.flags.has(Flags::ECHO),
            marks,
            window,
            packets: ranges(packets),
        };
        notes.note(now, What::Heard(heard));
    }

    /// Notes a packet that leaves.
    fn note_departure(&mut self, now: Time, packet: &Packet) {
        let notes = &mut self.notes;
        if !notes.on {
            return;
        }
        let number = if matches!(self.within, Within::Numbered(_)) {
            PacketNumber { packet: packet.number, segment: packet.sent.0 }
        } else {
            PacketNumber { packet: notes.sent, segment: packet.number }
        };
        notes.sent += 1;
        if notes.detailed {
            notes.transmissions.send(number.segment, number.packet);
        }
        let sent = SentPacket {
            number,
            again: packet.flags.has(Flags::RETRANSMISSION),
            ecn: packet.flags.ecn(),
            reduced: packet.flags.has(Flags::REDUCED),
        };
        notes.note(now, What::Sent(sent));
    }
}

impl Within {
    /// Segments that were found lost since this was last asked.
    fn take_lost(&mut self) -> Vec<u64> {
        match self {
            Self::Windowed(sender) => sender.take_lost(),
            Self::Numbered(sender) => sender.take_lost(),
            Self::Bursts(_) => Vec::new(),
        }
    }

    /// Segments whose arrival was reported selectively since this was last asked, and perhaps some of the others.
    fn take_arrived(&mut self) -> impl Iterator<Item = u64> + use<> {
        let arrived = match self {
            Self::Windowed(sender) => sender.take_arrived(),
            Self::Numbered(_) | Self::Bursts(_) => Vec::new(),
        };
        arrived.into_iter()
    }

    fn phase(&self) -> Option<Phase> {
        match self {
            Self::Windowed(sender) => Some(sender.phase()),
            Self::Numbered(sender) => Some(sender.phase()),
            Self::Bursts(_) => None,
        }
    }

    fn control(&self) -> Option<&dyn CongestionControl> {
        match self {
            Self::Windowed(sender) => Some(sender.control()),
            Self::Numbered(sender) => Some(sender.control()),
            Self::Bursts(_) => None,
        }
    }

    fn metrics(&self, latest: Option<Span>) -> Metrics {
        let control = self.control();
        let (in_flight, timer) = within!(self, sender => (sender.in_flight(), sender.timer()));
        let smoothed = timer.smoothed();
        Metrics {
            window: control.map(CongestionControl::window),
            threshold: control.and_then(CongestionControl::threshold),
            in_flight,
            round_trips: smoothed
                .zip(latest)
                .map(|(smoothed, latest)| [timer.path().base_rtt, smoothed, latest]),
        }
    }
}

impl Sender {
    pub(super) fn phase(&self) -> Phase {
        match (self.state, self.limited) {
            (State::Recovery { .. } | State::GoBack { .. }, _) => Phase::Recovery,
            (State::Open, Limited::Application) => Phase::ApplicationLimited,
            (State::Open, _) if self.in_slow_start() => Phase::SlowStart,
            (State::Open, _) => Phase::CongestionAvoidance,
        }
    }

    pub(super) fn take_lost(&mut self) -> Vec<u64> {
        let noted = self.extras.as_mut().and_then(|extras| extras.noted.as_mut());
        noted.map(|noted| std::mem::take(&mut noted.lost)).unwrap_or_default()
    }

    fn take_arrived(&mut self) -> Vec<u64> {
        let noted = self.extras.as_mut().and_then(|extras| extras.noted.as_mut());
        noted.map(|noted| std::mem::take(&mut noted.arrived)).unwrap_or_default()
    }
}

impl Sends for Traced {
    fn on_ack(&mut self, now: Time, ack: &Packet, cargo: Option<&Cargo>) {
        within!(&mut self.within, sender => sender.on_ack(now, ack, cargo));
        self.notes.latest = match &mut self.within {
            Within::Numbered(sender) => sender.latest_round_trip(),
            Within::Windowed(_) | Within::Bursts(_) => Some(now - ack.sent),
        };
        self.note_ack(now, ack, cargo);
        self.note_numbers(now);
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        let packet = within!(&mut self.within, sender => sender.poll(now));
        match &packet {
            Some(packet) => self.note_departure(now, packet),
            None => self.note_numbers(now),
        }
        packet
    }

    fn on_timeout(&mut self, now: Time) {
        within!(&mut self.within, sender => sender.on_timeout(now));
        self.note_numbers(now);
    }

    fn config(&self) -> &SenderConfig {
        within!(&self.within, sender => sender.config())
    }

    fn timer(&self) -> &super::RetransmissionTimer {
        within!(&self.within, sender => sender.timer())
    }

    fn alarm(&self) -> Time {
        within!(&self.within, sender => sender.alarm())
    }

    fn on_alarm(&mut self, now: Time) {
        within!(&mut self.within, sender => sender.on_alarm(now));
        self.note_numbers(now);
    }

    fn pace_deadline(&self) -> Option<Time> {
        within!(&self.within, sender => sender.pace_deadline())
    }

    fn hears_early(&self, time: Time, number: u64) -> bool {
        within!(&self.within, sender => sender.hears_early(time, number))
    }

    fn stop(&mut self) {
        within!(&mut self.within, sender => sender.stop());
    }

    fn in_flight(&self) -> u64 {
        within!(&self.within, sender => sender.in_flight())
    }

    fn is_done(&self) -> bool {
        within!(&self.within, sender => sender.is_done())
    }

    fn measured(&self) -> &SenderCounts {
        within!(&self.within, sender => sender.measured())
    }

    fn waits(&self) -> Option<&Durations> {
        within!(&self.within, sender => sender.waits())
    }

    fn limited_for(&self, now: Time) -> Option<LimitedFor> {
        within!(&self.within, sender => sender.limited_for(now))
    }

    fn begin_measuring(&mut self, now: Time) {
        within!(&mut self.within, sender => sender.begin_measuring(now));
    }

    fn cargo(&self, now: Time) -> Option<Cargo> {
        within!(&self.within, sender => sender.cargo(now))
    }
}
