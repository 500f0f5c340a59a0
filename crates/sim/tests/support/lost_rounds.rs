//! Losses as Padhye, Firoiu, Towsley and Kurose have them: with the first packet lost, the rest of its round is lost
//! too.

use longfat_queue::{Arrival, Built, Discipline, Policy, Verdict};
use longfat_scenario::Catalogue;
use longfat_sim::{Scenario, Simulation};
use longfat_units::{Span, Time, math};
use rand_core::Rng;

/// What is lost with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Losses {
    /// Nothing: losses are independent.
    Independent,
    /// The rest of its round.
    Rounds,
    /// The rest of its round; but two rounds later, when repairs are under way, nothing is.
    RoundsNotRepairs,
}

/// Round trip of the flow. Its window leaves in less than a microsecond, so rounds are far apart.
const ROUND_TRIP: Span = Span(100_000_000_000);

/// Drops with probability `p`, and what goes with it.
#[derive(Debug)]
struct Lossy {
    p: f64,
    losses: Losses,
    /// When the last round that lost packets lost its first.
    round: Option<Time>,
    /// The same, but for the round that follows one with losses: what it loses does not put off the repairs.
    event: Option<Time>,
}

/// Half round trips from then till now. Rounds begin at even numbers, give or take one.
fn halves(then: Option<Time>, now: Time) -> Option<u64> {
    then.map(|then| now.since(then).0 / (ROUND_TRIP.0 / 2))
}

impl Policy for Lossy {
    fn on_arrival(&mut self, arrival: &Arrival, chance: &mut dyn Rng) -> Verdict {
        let now = arrival.now;
        if self.losses != Losses::Independent && halves(self.round, now) == Some(0) {
            return Verdict::Drop;
        }
        if self.losses == Losses::RoundsNotRepairs && matches!(halves(self.event, now), Some(3 | 4))
        {
            return Verdict::Keep;
        }
        if math::uniform(chance.next_u64()) >= self.p {
            return Verdict::Keep;
        }
        self.round = Some(now);
        if halves(self.event, now).is_none_or(|halves| halves > 2) {
            self.event = Some(now);
        }
        Verdict::Drop
    }
}

/// Packets that a lone Reno flow sends per second: a round trip of 0.1 s, time-outs of 1 s, and no limit but losses.
pub(crate) fn sent_per_second(p: f64, losses: Losses, seconds: u32, seed: u64) -> f64 {
    let build = move |_: &_, _: &_| {
        Built::Fifo(Some(Box::new(Lossy { p, losses, round: None, event: None })))
    };
    let mut catalogue = Catalogue::built_in();
    catalogue.add_discipline(Discipline::new("lossy", build)).expect("the name is free");
    let text = format!(
        r#"
        duration = "{seconds} s"
        warmup   = "100 s"
        seed     = {seed}
        [link.wire]
        rate   = "100 Gbit/s"
        delay  = "0 ms"
        buffer = "1000000 packets"
        queue  = "lossy"
        [link.wire.reverse]
        queue  = "drop-tail"
        [[flow]]
        name    = "lone"
        control = "reno"
        path    = ["wire"]
        rtt     = "100 ms"
        rto_min = "1 s"
        ecn     = false
        "#
    );
    let scenario = Scenario::read_with(&catalogue, &text, "lossy.toml", &[], None)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(1_000_000) {}
    simulation.finish().summary.flows[0].data_sent as f64 / f64::from(seconds - 100)
}
