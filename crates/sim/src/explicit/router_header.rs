//! Headers for routers: what ends and queues of one scheme tell each other in every packet of data (XCP, VCP, DECbit).
//!
//! ```text
//!     Flow::router_header ─▶ data ─▶ queue ─▶ … ─▶ queue ─▶ receiver ─▶ acknowledgment ─▶ Sender::on_ack
//!                                  Host::header           Hold::hand_over                 Cargo::header
//! ```
//!
//! A header is in the hold ([`crate::cargo`]), and its packet knows where. A queue that owns its packets may read and
//! change it as long as the packet is with it; policies, which decide on arrival, do not see it. The receiver leaves it
//! with the acknowledgment, and where that answers two segments one header stands for both
//! ([`longfat_units::RouterHeader::after`]). A packet that is lost takes its header along.

#[cfg(test)]
mod tests {
    use longfat_queue::{Capacity, Host, Item, Line, PacketQueue};
    use longfat_units::{RouterHeader, Segments, Span, Time};

    use crate::options::Options;
    use crate::packet::Packet;
    use crate::scenario::Scenario;
    use crate::simulation::Simulation;

    /// Two links, two flows that their routers assist and one that they do not, and a flow the other way.
    const SCENARIO: &str = r#"
        duration = "2 s"
        [link.first]
        rate = "10 Mbit/s"
        delay = "2 ms"
        buffer = "20 packets"
        loss = LOSS
        [link.second]
        rate = "8 Mbit/s"
        delay = "3 ms"
        buffer = "10 packets"
        [[flow]]
        name = "assisted"
        control = "reno"
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

    /// A router that takes 1 of the feedback when a packet arrives and 2 when it leaves, and raises the code to 1. Every
    /// so often it drops a packet, in turns as it arrives, as it leaves, and the one that has waited longest.
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

    /// The acknowledgments that are on their way home, each with what it returns.
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
            let scenario = Scenario::read(&text, "headers.toml", &[], None).expect("it is right");
            let options = Options { record: false, stepwise: true };
            let mut simulation = Simulation::with_options(&scenario, options);
            for (port, direction) in
                scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse]).enumerate()
            {
                let Capacity::Packets(limit) = direction.buffer else { panic!("it is in packets") };
                let router = Router { limit, ..Router::default() };
                simulation.network.ports[port].ask(Box::new(router));
            }
            for flow in &mut simulation.network.flows[..2] {
                flow.router_header = Some(LEAVES);
            }
            let (mut one, mut two) = (0, 0);
            while simulation.advance(7) {
                let (kept, travelling) = simulation.cargo_kept();
                assert_eq!(kept, travelling, "headers leak");
                for (flow, header) in returned(&mut simulation) {
                    assert!(flow < 2, "flow {flow} has not asked for headers");
                    // Two routers on the way of the data take 3 each; those on the way back take nothing.
                    match header.feedback {
                        94.0 => one += 1,
                        188.0 => two += 1,
                        other => panic!("{other} comes back"),
                    }
                    assert_eq!(RouterHeader { feedback: 100.0, code: 0, ..header }, LEAVES);
                    assert_eq!(header.code, 1);
                }
            }
            let fates = simulation.fates();
            assert!(one > 1000 && (two > 1000) == delayed, "{one} and {two}");
            assert!(fates.dropped > 20 && (fates.corrupted > 0) == (loss > 0.0), "{fates:?}");
        }
    }
}
