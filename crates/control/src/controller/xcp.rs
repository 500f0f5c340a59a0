//! XCP: the routers say by how much each window changes.
//!
//! D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002;
//! A. Falk, Y. Pryadkin, D. Katabi, "Specification for the Explicit Control Protocol (XCP)", draft-falk-xcp-spec-03,
//! 2007.
//!
//! # The problem
//!
//! A loss or a mark says only that there is too much, so a sender has to probe slowly and retreat far, the slower and
//! the farther the longer and fatter the path. A router knows how much of its capacity is left. In XCP it divides that
//! among the packets that pass, and the sender does as it is told.
//!
//! # The law
//!
//! Each data packet leaves with a header of three fields, and comes back with the third as the routers have left it:
//!
//! ```text
//!     H_cwnd      the window w, of which whole segments leave: ⌊w⌋
//!     H_rtt       the smoothed round trip, once there is one
//!     H_feedback  what the sender asks for: (r·rtt - w)/w, which adds up to the rate r over a window
//!     each acknowledgment    w ← max(w + H_feedback, 1)
//! ```
//!
//! Everything else, efficiency and fairness, is in the queue `xcp`, which only ever lowers `H_feedback`. Losses are
//! answered as TCP answers them (section 3.3): half of the window, and one segment after a time-out. There is no slow
//! start.
//!
//! # Parameters
//!
//! None: they are the routers'.
//!
//! # Domain
//!
//! Paths whose bottlenecks all have the queue `xcp`. One such queue is required; behind a bottleneck of another kind
//! what the XCP routers allow is too much, and losses have to say so. The same where a router cannot know how much it can
//! send (see the queue). Windows of a segment and more: the share of a flow that should have less than one segment in
//! flight cannot be had.
//!
//! Traffic both ways. Where acknowledgments wait behind data they come back in bursts, and so the next windows leave (L.
//! Zhang, S. Shenker, D. Clark, "Observations on the Dynamics of a Congestion Control Algorithm", SIGCOMM 1991). Routers
//! see mean loads, which such bursts hide, and XCP does not space its packets. The paper has 50 flows each way at 80 ms
//! (section 5.2) and finds the link full and nothing lost, which comes out here at 150 Mbit/s with packets of 1000 bytes
//! where the flows start over 10 s: above 99 % used, none dropped, though a seventh to a half of the buffer is full on
//! average. It does not come out where the bursts of few flows that start at once stay together: then 2, 10 and 20 flows
//! each way use 75, 87 and 83 % and lose 1.1, 1.0 and 1.7 %, while 50 fill the link and lose nothing. Starts and round
//! trips that differ hardly help two of them. With `pacing = "spread"` all of these use above 99 % without a loss.
//!
//! Delayed acknowledgments. `H_rtt` is the smoothed round trip, which includes the timer of a receiver wherever that
//! fires, and routers give equal windows per `H_rtt`. At the end of each burst it fires for some flows and not for others,
//! for good: two flows of 80 ms at 100 Mbit/s with a timer of 100 ms have rates that differ by 22 % for half of the
//! seeds, and less than 1 % for the others; of ten the largest is up to 1.4 times the smallest.
//!
//! # Deviations
//!
//! * Windows and feedback are in segments of the flow, not in bytes; the queue knows the size of packets.
//! * `H_cwnd` is what the window lets out, not the window, of which a sender with whole segments leaves up to one
//!   unused. Told of w the routers divide the link equally among the w, and a flow gets ⌊w⌋/w of its share: over 40 to
//!   300 ms the rates of 100 flows at 100 Mbit/s, 4 segments for the shortest round trip, differed by 18 %, those of 50
//!   by 7 %, of 20 by 3 %. Told of ⌊w⌋ they let w go back and forth over the whole number that is right on average: 2.9,
//!   1.2 and 0.3 %. The link is 99.7 % busy with 100 flows instead of 99.8.
//! * The desired rate r of a long flow is that of the sender's own link where the scenario has one, and otherwise has
//!   no bound. A flow does not ask for less as the end of its data comes near.
//! * Positive feedback does not count while the application, the receiver or a loss recovery limits the flow, as for
//!   every controller here: a window that is not used would grow without bound.
//!
//! # What the paper promises
//!
//! * The window moves by the sum of what comes back, never below a segment (the tests below).
//! * A full link without drops and equal rates, also with 50 flows each way
//!   (`xcp_fills_a_link_both_ways_without_a_drop` and others in `crates/sim/tests/explicit.rs`).

use longfat_units::{RouterHeader, Segments, Span};

use crate::bounds::{AFTER_TIMEOUT, CEILING, first_window, halved};
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Needs, Path,
    Probe, Sending, Start, Wants,
};

/// XCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("xcp", |_, start| Sending::Windowed(Box::new(Xcp::new(start))))
        .title("XCP: routers say by how much each window changes; with the queue of the same name")
        .source("Katabi, Handley & Rohrs, SIGCOMM 2002; draft-falk-xcp-spec-03")
        .family(Family::Routers)
}

/// One flow under XCP.
#[derive(Clone, Copy, Debug)]
pub struct Xcp {
    window: f64,
    /// The round trip before the first data; what the host measures takes its place.
    first_round_trip: Option<Span>,
    measured: bool,
    /// r, in segments per second.
    desired: Option<f64>,
}

impl Xcp {
    /// A flow that begins as `start` says.
    pub fn new(start: &Start) -> Self {
        Self {
            window: first_window(start.window),
            first_round_trip: start.round_trip,
            measured: false,
            desired: start.access,
        }
    }

    fn round_trip(&self, path: &Path) -> Option<Span> {
        if self.measured { Some(path.rtt) } else { self.first_round_trip }
    }
}

impl CongestionControl for Xcp {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, _: &Path) {
        self.measured |= feedback.rtt.is_some();
        let Some(RouterHeader { feedback: change, .. }) = feedback.router else { return };
        let may_grow = feedback.limited.may_grow() && !feedback.is_congested();
        if change < 0.0 || (change > 0.0 && may_grow) {
            self.window = (self.window + change).clamp(1.0, CEILING);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.window = match event.cause {
            Cause::Loss | Cause::Mark => halved(self.window),
            Cause::Timeout => AFTER_TIMEOUT,
        };
    }

    fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
        self.window = first_window(event.window);
    }

    fn growth_limit(&self, _: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        None
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    #[inline]
    fn router_header(&self, path: &Path) -> RouterHeader {
        let rtt = self.round_trip(path);
        let wanted = match (self.desired, rtt) {
            (Some(rate), Some(rtt)) => (rate * rtt.seconds()).min(CEILING),
            _ => CEILING,
        };
        // Never below one, and without a call: few processors have an instruction that rounds.
        let whole = self.window as i64 as f64;
        RouterHeader { window: Segments(whole), rtt, feedback: wanted / whole - 1.0, code: 0 }
    }

    fn wants(&self) -> Wants {
        Wants { router_header: true, ..Wants::NOTHING }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(desired) = self.desired {
            probe.value("desired_rate", desired);
        }
    }

    fn needs(&self) -> Needs {
        Needs { queue: Some("xcp"), ..Needs::NONE }
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::Time;

    use super::*;
    use crate::Limited;

    const RTT: Span = Span::from_millis(100);
    const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

    fn told(control: &mut Xcp, feedback: f64, limited: Limited) -> f64 {
        let router = Some(RouterHeader { feedback, ..RouterHeader::default() });
        let feedback = Feedback { router, limited, rtt: Some(RTT), ..Feedback::at(Time::ZERO, 1) };
        control.on_feedback(&feedback, &PATH);
        control.window
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "sums of powers of two")]
    fn the_window_does_what_it_is_told() {
        let mut control = Xcp::new(&Start::default());
        assert_eq!(told(&mut control, 0.5, Limited::Window), 10.5);
        assert_eq!(told(&mut control, -2.25, Limited::Window), 8.25);
        assert_eq!(told(&mut control, 4.0, Limited::Application), 8.25, "what is not used");
        assert_eq!(told(&mut control, -1.0, Limited::Recovery), 7.25);
        assert_eq!(told(&mut control, -100.0, Limited::Window), 1.0, "s is the least");
        assert_eq!(told(&mut control, f64::NAN, Limited::Window), 1.0);
    }

    /// Of a window of 10.75 segments ten leave, and it is they that ask for the desired rate: (100 - 10)/10 segments each.
    #[test]
    fn the_header_tells_of_whole_segments() {
        let start = Start { access: Some(1000.0), ..Start::default() };
        let mut control = Xcp::new(&start);
        told(&mut control, 0.75, Limited::Window);
        let header = control.router_header(&PATH);
        assert_eq!(header.window, Segments(10.0));
        assert!((header.feedback - 9.0).abs() < 1e-12, "{}", header.feedback);
    }

    /// Section 3.3: in the first packet `H_rtt` is unknown; the request is (r rtt - cwnd) over the packets in a window:
    /// with 1000 segments a second and 100 ms, (100 - 10)/10 segments in each of ten packets.
    #[test]
    fn the_header_asks_for_the_desired_rate() {
        let start = Start { access: Some(1000.0), ..Start::default() };
        let mut control = Xcp::new(&start);
        assert_eq!(control.router_header(&PATH).rtt, None);
        told(&mut control, 0.0, Limited::Window);
        let header = control.router_header(&PATH);
        assert_eq!((header.window, header.rtt), (Segments(10.0), Some(RTT)));
        assert!((header.feedback - 9.0).abs() < 1e-12, "{}", header.feedback);
        let mut greedy = Xcp::new(&Start::default());
        told(&mut greedy, 0.0, Limited::Window);
        assert!(greedy.router_header(&PATH).feedback > 1e9, "as much as there is");
    }

    /// An acknowledgment that begins a recovery, or reports a mark, adds nothing. What the routers take they take.
    #[test]
    fn no_window_grows_on_congestion() {
        let one = Feedback::at(Time::ZERO, 1);
        for congested in [Feedback { recovery_begins: true, ..one }, Feedback { marked: 1, ..one }]
        {
            let mut control = Xcp::new(&Start::default());
            for (feedback, window) in [(4.0, 10.0), (-1.0, 9.0)] {
                let router = Some(RouterHeader { feedback, ..RouterHeader::default() });
                control.on_feedback(&Feedback { router, ..congested }, &PATH);
                assert_eq!(control.window, window, "{congested:?}");
            }
        }
    }

    #[test]
    fn the_host_may_ask_for_another_window() {
        let mut control = Xcp::new(&Start::default());
        for (asked, window) in [(40.0, 40.0), (0.5, 1.0)] {
            let now = Time::ZERO;
            let event = Adjustment { now, window: Segments(asked), threshold: None };
            control.on_adjustment(&event, &PATH);
            assert_eq!(control.window(), Segments(window));
        }
    }
}
