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

/// A window with these buffers, told in bytes.
#[cfg(test)]
pub(super) fn with_buffer(buffer: ReceiveBuffer) -> ReceiveWindow {
    let text = "duration = \"1 s\"\n[link.l]\nrate = \"12 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\nname = \"f\"\n\
         control = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\n\
         receive_window = { kind = \"fixed\", size = \"60 kB\", scale = 0 }\n";
    let scenario = longfat_scenario::Scenario::read(text, "window.toml", &[], None);
    let flow = &scenario.expect("it is right").flows[0];
    let mut window = flow.transport.receive_window.expect("it has one");
    window.buffer = buffer;
    window
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// With packets of 1000 bytes of data, in units of a byte.
    fn of(buffer: ReceiveBuffer) -> Allowance {
        Allowance::new(with_buffer(buffer), Bytes(1040))
    }

    fn right_sizing() -> Allowance {
        of(ReceiveBuffer::RightSizing { initial: Bytes(8_000), most: Bytes(60_000) })
    }

    #[test]
    fn what_the_receiver_has_allowed_stays_allowed() {
        // RFC 9293, section 3.8.6: a receiver should not shrink its window. Eight segments at first; the acknowledgment of two
        // tells four, which ends at 6, and that of six tells four as well, which ends at 10.
        let mut allowance = right_sizing();
        let mut end = |number, told| {
            allowance.hear(at(100), number, told);
            (allowance.window(), allowance.end(number, 1000.0))
        };
        assert_eq!([end(2, 4), end(6, 4)], [(4, 8), (4, 10)]);
        // One that tells none leaves the window as it is.
        assert_eq!(end(7, 0), (4, 11));
    }

    #[test]
    fn a_buffer_of_the_sender_is_kept_between_two_and_four_windows() {
        // Semke, Mahdavi and Mathis 1998. It begins with eight segments. A window of three leaves it as it is; of ten it makes
        // 20, which are enough for one of six and too many for one of four; the receiver has room for 30.
        let mut allowance =
            of(ReceiveBuffer::SenderTuned { initial: Bytes(8_000), most: Bytes(30_000) });
        let ends = [3.0, 10.0, 6.0, 4.0, 20.0].map(|window| allowance.end(0, window));
        assert_eq!(ends, [8, 20, 20, 16, 30]);
        // Two segments are acknowledged, and so the receiver has allowed 32; seven more are not known of yet.
        allowance.hear(at(100), 2, 0);
        assert_eq!((allowance.end(2, 20.0), allowance.end(9, 20.0)), (32, 32));
    }

    #[test]
    fn the_time_for_which_the_receiver_holds_the_sender_back_is_added_up() {
        let mut allowance = right_sizing();
        assert_eq!(allowance.limited(at(50)), Span::ZERO);
        // From 100 ms on, until an acknowledgment comes at 130 ms; that it is asked again at 120 ms changes nothing.
        allowance.hold(at(100));
        allowance.hold(at(120));
        assert_eq!(allowance.limited(at(125)), Span::from_millis(25));
        allowance.hear(at(130), 1, 8);
        assert_eq!(allowance.limited(at(200)), Span::from_millis(30));
        // What lies before the measured interval does not count.
        allowance.hold(at(200));
        allowance.begin_measuring(at(210));
        assert_eq!(allowance.limited(at(215)), Span::from_millis(5));
        allowance.hear(at(220), 2, 8);
        assert_eq!(allowance.limited(at(300)), Span::from_millis(10));
    }
}
