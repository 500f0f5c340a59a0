//! Which of several queues that are the longest loses a packet to a full buffer.

use longfat_queue::discipline::{cake, drr, fq_codel, sfq};
use longfat_queue::{Capacity, Item, Site};
use longfat_units::Time;

use crate::support::{FreeLink, PACKET, changed, site};

/// Four flows have a packet each, which fill the buffer; one more is in service. A fifth flow sends one: five queues are
/// as long as each other. The flow that loses its packet sends another one, and so on. If queues lose in turn, each flow
/// loses once in five, always in the same order; if it were the first by number, always the same flow.
#[test]
fn queues_that_tie_lose_in_turn() {
    for discipline in
        [drr::discipline(), sfq::discipline(), fq_codel::discipline(), cake::discipline()]
    {
        let capacity = Capacity::Packets(4);
        let settings = changed(&discipline, "packets", &[]);
        let site = Site { capacity, ..site("packets") };
        let queue = (discipline.build)(&settings, &site).into_queue(capacity);
        let mut port = FreeLink::new(queue, capacity, 1);
        for flow in 0..6 {
            port.arrive_as(Time::ZERO, Item { flow, bytes: PACKET, ..Item::default() });
        }
        for lost in 0..20 {
            let flow = port.books().dropped[lost].flow;
            port.arrive_as(Time::ZERO, Item { flow, bytes: PACKET, ..Item::default() });
        }
        let flows: Vec<_> = port.books().dropped[..20].iter().map(|item| item.flow).collect();
        let name = discipline.name;
        assert_eq!(flows, flows[..5].repeat(4), "{name}");
        let mut once = flows[..5].to_vec();
        once.sort_unstable();
        assert_eq!(once, [1, 2, 3, 4, 5], "{name}");
    }
}
