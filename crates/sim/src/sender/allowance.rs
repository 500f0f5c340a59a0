//! How much the receiver lets its sender send (RFC 9293, section 3.8.6): for how long that held a flow back.

use longfat_scenario::{ReceiveBuffer, ReceiveWindow};
use longfat_units::{Bytes, Span, Time};

/// What the receiver, or the sender's own buffer, allows.
#[derive(Debug)]
pub(super) struct Allowance {
    rule: Rule,
    /// The window, in segments, as the receiver has last told it.
    window: u64,
    /// One past the last segment that the receiver has ever allowed: it takes nothing back.
    edge: u64,
    /// Since when it has held the sender back, if it does.
    since: Option<Time>,
    limited: Span,
}

/// Where the window comes from.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// It never changes.
    Constant,
    /// Acknowledgments carry it.
    Told,
    /// It never changes, but the sender's buffer does: what it holds now and at least and at most, in segments.
    Buffer { now: f64, least: f64, most: f64 },
}

impl Allowance {
    /// What a window allows at first, for packets of this size.
    pub(super) fn new(window: ReceiveWindow, packet: Bytes) -> Self {
        let payload = ReceiveWindow::payload(packet);
        let segments = |bytes: Bytes| (bytes.0 / payload) as f64;
        let most = window.most_packets(packet);
        let (rule, window) = match window.buffer {
            ReceiveBuffer::Fixed(_) => (Rule::Constant, most),
            ReceiveBuffer::RightSizing { initial, .. } => {
                (Rule::Told, window.told(initial.0) / payload)
            }
            ReceiveBuffer::SenderTuned { initial, most: limit } => {
                let least = segments(initial).max(1.0);
                (Rule::Buffer { now: least, least, most: segments(limit).max(1.0) }, most)
            }
        };
        Self { rule, window, edge: window, since: None, limited: Span::ZERO }
    }

    /// An acknowledgment of everything below `number` tells this window; 0 if it tells none.
    pub(super) fn hear(&mut self, now: Time, number: u64, told: u64) {
        self.resume(now);
        if matches!(self.rule, Rule::Told) && told > 0 {
            self.window = told;
        }
        self.edge = self.edge.max(number + self.window);
    }

    /// One past the last segment that may leave when everything below `unacknowledged` has arrived, with this
    /// congestion window. J. Semke, J. Mahdavi and M. Mathis, "Automatic TCP buffer tuning", SIGCOMM 1998:
    /// the buffer is kept between two and four congestion windows, so that it neither holds the window back nor follows
    /// each of its moves; two are what recovery needs, one for what is sent again and one for what is new.
    pub(super) fn end(&mut self, unacknowledged: u64, window: f64) -> u64 {
        let Rule::Buffer { now, least, most } = &mut self.rule else { return self.edge };
        *now = now.clamp(2.0 * window, 4.0 * window).clamp(*least, *most);
        self.edge.min(unacknowledged.saturating_add(*now as u64))
    }

    /// It holds the sender back from now on.
    pub(super) fn hold(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    /// Something else may hold the sender back from now on.
    fn resume(&mut self, now: Time) {
        if let Some(since) = self.since.take() {
            self.limited += now.since(since);
        }
    }

    /// The measured interval begins.
    pub(super) fn begin_measuring(&mut self, now: Time) {
        self.limited = Span::ZERO;
        self.since = self.since.map(|_| now);
    }

    /// The window, in segments, as the receiver has last told it.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// For how long it has held the sender back in the measured interval, until `now`.
    pub(super) fn limited(&self, now: Time) -> Span {
        self.limited + self.since.map_or(Span::ZERO, |since| now.since(since))
    }
}
