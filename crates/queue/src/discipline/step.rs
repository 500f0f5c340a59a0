//! Step marking: packets are marked as soon as more than a threshold is waiting.
//!
//! M. Alizadeh, A. Greenberg, D. A. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta, M. Sridharan, "Data Center TCP
//! (DCTCP)", SIGCOMM 2010; RFC 8257, 2017.
//!
//! # The problem
//!
//! Averages and random marks exist so that a sender which halves its window at any mark is not told too much. They take
//! round trips to speak. A sender that counts marks and answers their share needs neither: the plainest mark, on the
//! queue of this very instant, tells it soonest, and the average is taken at the end that has one for each flow.
//!
//! # The algorithm
//!
//! ```text
//!     each arrival that finds more than K waiting is marked
//! ```
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `threshold` | K | 0.15 bdp | 2010, section 3.4: above C·RTT/7 the link does not run empty |
//! | `drop` | | false | RFC 3168, section 5: what would be marked, but cannot, is dropped; so do switches, whose RED with both thresholds at K (2010, section 3.1) the paper takes to mark |
//!
//! # Domain
//!
//! Flows under `dctcp` or `prague`, which answer the share of marks. One that halves its window at each loses throughput
//! on a threshold this low. Packets that cannot be marked are left to the end of the buffer unless `drop` is set; they
//! then fill it, whatever the others do. With many flows the queue is K and a packet for each.
//!
//! # Deviations
//!
//! * The packet in service is not counted.
//!
//! # What the paper promises
//!
//! * Marks begin right above K and nowhere else (`tests/step.rs`).
//! * DCTCP holds the queue near K and the link busy (`dctcp_holds_the_queue_near_the_step`, in the tests of the
//!   simulator).

use longfat_units::parameter::{Parameter, Settings};
use rand_core::Rng;

use crate::shared::{LengthUnit, check_below};
use crate::{Arrival, Built, Discipline, Policy, Refusal, Site, Verdict};

/// The entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("step", |settings, site| Built::Fifo(Some(Box::new(Step::new(settings, site)))))
        .title("step marking: marks whatever finds more than a threshold waiting")
        .source("Alizadeh et al., SIGCOMM 2010; RFC 8257")
        .parameters([
            Parameter::length(
                "threshold",
                "0.15 bdp",
                "arrivals behind more than this are marked (K)",
            ),
            Parameter::flag(
                "drop",
                false,
                "drops packets above the threshold that cannot be marked",
            ),
        ])
        .check(check)
}

fn check(settings: &Settings, site: &Site) -> Result<(), Refusal> {
    check_below("threshold", settings, site)
}

/// The policy.
#[derive(Debug)]
struct Step {
    /// K, in the unit of the queue.
    threshold: f64,
    unit: LengthUnit,
    drop: bool,
}

impl Step {
    fn new(settings: &Settings, site: &Site) -> Self {
        let unit = LengthUnit::of(site.capacity);
        Self { threshold: settings.number("threshold"), unit, drop: settings.flag("drop") }
    }
}

impl Policy for Step {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn Rng) -> Verdict {
        if self.unit.length(arrival.backlog) <= self.threshold {
            Verdict::Keep
        } else if arrival.ecn.is_capable() {
            Verdict::Mark
        } else if self.drop {
            Verdict::Drop
        } else {
            Verdict::Keep
        }
    }
}
