//! Headers for routers: what the ends and queues of a scheme tell each other in every data packet (XCP, VCP, DECbit).
//!
//! ```text
//!     CongestionControl::router_header ─▶ data ─▶ queue ─▶ … ─▶ receiver ─▶ acknowledgment ─▶ Feedback::router
//!                                               Policy::on_header    Hold::hand_over           Cargo::header
//!                                               Host::header
//! ```
//!
//! The header is kept in the hold ([`crate::cargo`]), and the packet knows where. A policy that asks for it is shown it
//! when it lets the packet in; a queue that owns its packets may read and change it while it has the packet. The receiver
//! hands it over to the acknowledgment, and where that covers two segments one header stands for both
//! ([`longfat_units::RouterHeader::after`]). A packet that is lost takes its header with it.

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use longfat_control::controller::reno::Reno;
    use longfat_control::{
        Congestion, CongestionControl, Controller, Feedback, Path, Sending, Wants, Windowed,
    };
    use longfat_queue::{Built, Capacity, Discipline, Host, Item, Line, PacketQueue};
    use longfat_scenario::{Catalogue, Scenario};
    use longfat_units::{RouterHeader, Segments, Span, Time};

    use crate::options::Options;
    use crate::packet::Packet;
    use crate::simulation::Simulation;

    /// Two links, two flows that use the headers and one that does not, and a flow in the other direction.
    const SCENARIO: &str = r#"
        duration = "2 s"
        [link.first]
        rate = "10 Mbit/s"
        delay = "2 ms"
        buffer = "20 packets"
        queue = "router"
        loss = LOSS
        [link.second]
        rate = "8 Mbit/s"
        delay = "3 ms"
        buffer = "10 packets"
        queue = "router"
        [[flow]]
        name = "assisted"
        control = "assisted"
        path = ["first", "second"]
        rtt = "20 ms"
        count = 2
        delayed_ack = DELAYED
        [[flow]]
        name = "other"
        control = "reno"
        path = ["second"]
        rtt = "30 ms"
        [[flow]]
        name = "back"
        control = "reno"
        path = ["first", "second"]
        reverse = true
        rtt = "20 ms"
    "#;

    const LEAVES: RouterHeader = RouterHeader {
        window: Segments(12.0),
        rtt: Some(Span::from_millis(20)),
        feedback: 100.0,
        code: 0,
    };

    /// What came back, in order.
    type Heard = Arc<Mutex<Vec<RouterHeader>>>;

    /// Reno that writes a header and notes what comes back.
    #[derive(Clone, Debug)]
    struct Assisted {
        reno: Windowed<Reno>,
        heard: Heard,
    }

    impl CongestionControl for Assisted {
        fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
            self.heard.lock().expect("one thread").extend(feedback.router);
            self.reno.on_feedback(feedback, path);
        }

        fn on_congestion(&mut self, event: &Congestion, path: &Path) {
            self.reno.on_congestion(event, path);
        }

        fn window(&self) -> Segments {
            self.reno.window()
        }

        fn wants(&self) -> Wants {
            Wants { router_header: true, ..Wants::NOTHING }
        }

        fn router_header(&self, _: &Path) -> RouterHeader {
            LEAVES
        }
    }

    /// The built-in catalogue with a controller `assisted` and a queue `router`.
    fn catalogue(heard: &Heard) -> Catalogue {
        let mut catalogue = Catalogue::built_in();
        let heard = Arc::clone(heard);
        let controller = Controller::new("assisted", move |_, start| {
            let reno = Windowed::new(Reno, start);
            Sending::Windowed(Box::new(Assisted { reno, heard: Arc::clone(&heard) }))
        });
        catalogue.add_controller(controller).expect("the name is free");
        let discipline = Discipline::new("router", |_, site| {
            let Capacity::Packets(limit) = site.capacity else { panic!("it is in packets") };
            Built::Own(Box::new(Router { limit, ..Router::default() }))
        });
        catalogue.add_discipline(discipline).expect("the name is free");
        catalogue
    }

    /// A router that raises the code to 1, and lowers the feedback by 1 when a packet arrives and by 2 when it leaves.
    /// Now and then it drops a packet: in turn an arriving one, the one that has waited longest, and a departing one.
    #[derive(Debug, Default)]
    struct Router {
        line: Line,
        limit: u64,
        seen: u64,
    }

    impl Router {
        fn drops(&mut self, turn: u64) -> bool {
            self.seen += 1;
            self.seen % 300 == 100 * turn
        }
    }

    impl PacketQueue for Router {
        fn enqueue(&mut self, _: Time, item: Item, host: &mut dyn Host) {
            if let Some(header) = host.header(&item) {
                assert_eq!((header.window, header.rtt), (LEAVES.window, LEAVES.rtt));
                header.feedback -= 1.0;
            }
            if self.line.backlog().packets == self.limit || self.drops(0) {
                return host.drop(item);
            }
            self.line.push(item);
            if self.drops(1) {
                host.drop(self.line.pop().expect("one has just come"));
            }
        }

        fn dequeue(&mut self, _: Time, host: &mut dyn Host) -> Option<Item> {
            let mut item = self.line.pop()?;
            if self.drops(2) {
                host.drop(item);
                item = self.line.pop()?;
            }
            if let Some(header) = host.header(&item) {
                header.feedback -= 2.0;
                header.code = header.code.max(1);
            }
            Some(item)
        }
    }

    /// The flow of each acknowledgment in transit that has a header, with that header.
    fn returned(simulation: &mut Simulation) -> Vec<(u32, RouterHeader)> {
        let acks: Vec<Packet> = simulation.network.piped().filter(Packet::is_ack).collect();
        let hold = &mut simulation.hold;
        acks.iter().filter_map(|ack| Some((ack.flow, *hold.header(ack.cargo()?)?))).collect()
    }

    #[test]
    fn headers_go_to_every_router_and_back_and_none_is_left_behind() {
        for (delayed, loss) in [(false, 0.0), (false, 0.02), (true, 0.0), (true, 0.02)] {
            let text = SCENARIO.replace("DELAYED", &delayed.to_string());
            let text = text.replace("LOSS", &loss.to_string());
            let heard = Heard::default();
            let scenario =
                Scenario::read_with(&catalogue(&heard), &text, "headers.toml", &[], None)
                    .expect("it is right");
            let options = Options::default().stepwise(true);
            let mut simulation = Simulation::with_options(&scenario, options);
            let (mut one, mut two) = (0, 0);
            while simulation.advance(7) {
                let (kept, travelling) = simulation.cargo_kept();
                assert_eq!(kept, travelling, "headers leak");
                for (flow, header) in returned(&mut simulation) {
                    assert!(flow < 2, "flow {flow} has not asked for headers");
                    // The two routers on the data's way subtract 3 each; those on the way back subtract nothing.
                    match header.feedback {
                        94.0 => one += 1,
                        188.0 => two += 1,
                        other => panic!("{other} comes back"),
                    }
                    assert_eq!(RouterHeader { feedback: 100.0, code: 0, ..header }, LEAVES);
                    assert_eq!(header.code, 1);
                }
            }
            let heard = heard.lock().expect("one thread");
            assert!(heard.len() > 200, "{} came back", heard.len());
            assert!(heard.iter().all(|header| [94.0, 188.0].contains(&header.feedback)));
            let fates = simulation.fates();
            assert!(one > 1000 && (two > 1000) == delayed, "{one} and {two}");
            assert!(fates.dropped > 20 && (fates.corrupted > 0) == (loss > 0.0), "{fates:?}");
        }
    }
}
