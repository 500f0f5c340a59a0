//! Episodes: agents act, time passes, and they are told what came of it.

use longfat_control::interval::{FEATURES, Measurement, Monitor};
use longfat_scenario::Scenario;
use longfat_units::math::log2;
use longfat_units::{Span, Time};

use crate::GymError;
use crate::fluid::Fluid;
use crate::packets::Packets;
use crate::progress::Standing;
use crate::settings::{Model, RewardWeights, Settings};

/// What a step brought to one agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Its reward: see [`RewardWeights`].
    pub reward: f64,
    /// Delivery rate over the lowest rate of a link on its path.
    pub throughput: f64,
    /// Mean round trip over the one without queues.
    pub delay: f64,
    /// Lost segments as a share of lost and delivered ones.
    pub loss: f64,
    /// How far its flow has got.
    pub standing: Standing,
    /// Has an interval of it ended in this step?
    pub active: bool,
    /// Has its episode ended because its flow has finished?
    pub terminated: bool,
    /// Has its episode ended for another reason: the end of the scenario, or of its flow?
    pub truncated: bool,
    measured: Measurement,
}

/// The names of what [`Outcome::information`] holds, before the features that have a scale.
pub const INFORMATION: [&str; 4] = ["throughput", "delay", "loss", "active"];

impl Outcome {
    /// The parts of the reward, whether it is active, and every feature that has a scale.
    pub fn information(&self) -> impl Iterator<Item = f64> + '_ {
        let parts = [self.throughput, self.delay, self.loss, f64::from(u8::from(self.active))];
        let raw = FEATURES.iter().filter(|feature| !feature.scale_free);
        parts.into_iter().chain(raw.map(|feature| feature.of(&self.measured)))
    }
}

/// What moves the data of the episode.
#[derive(Debug)]
pub(crate) enum World {
    Packets(Box<Packets>),
    Fluid(Box<Fluid>),
}

macro_rules! in_either {
    ($world:expr, $each:ident => $do:expr) => {
        match $world {
            World::Packets($each) => $do,
            World::Fluid($each) => $do,
        }
    };
}

/// Any number of agents in a scenario, episode by episode.
#[derive(Debug)]
pub struct Environment {
    settings: Settings,
    groups: Vec<String>,
    pub(crate) world: Option<World>,
    /// The end of the interval.
    until: Time,
    /// The longest smoothed round trip of its agents.
    round_trip: Span,
    outcomes: Vec<Outcome>,
    /// For each agent its last intervals, the oldest first.
    seen: Vec<f32>,
}

/// Log2 of the least throughput that counts: nothing at all costs as much as a 1024th.
const LEAST_THROUGHPUT: f64 = 1.0 / 1024.0;

impl Environment {
    /// Agents for the flows of these groups, so many in all.
    pub fn new(settings: Settings, groups: Vec<String>, agents: usize) -> Self {
        let numbers = agents * settings.history * settings.observed.len();
        Self {
            settings,
            groups,
            world: None,
            until: Time::ZERO,
            round_trip: Span::ZERO,
            outcomes: vec![Outcome::default(); agents],
            seen: vec![0.0; numbers],
        }
    }

    /// Which groups of `scenario` agents steer, and how many flows that are.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn agents(groups: &[String], scenario: &Scenario) -> Result<(Vec<usize>, usize), GymError> {
        let flows = || scenario.flows.iter();
        let known = || flows().map(|group| group.name.clone()).collect();
        let place = |name: &String| {
            flows().position(|group| group.name == *name).ok_or_else(|| GymError::NoSuchFlow {
                name: name.chars().take(40).collect(),
                known: known(),
            })
        };
        let mut found = groups.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        if found.is_empty() {
            return Err(GymError::NoSuchFlow { name: String::new(), known: known() });
        }
        // Agents are numbered like flows.
        found.sort_unstable();
        found.dedup();
        let count = found.iter().map(|&group| scenario.flows[group].flows() as usize).sum();
        Ok((found, count))
    }

    /// Begins an episode of this scenario, and goes on to the end of the first interval: that of the first agent of
    /// whose flow an acknowledgment comes.
    ///
    /// # Errors
    /// If an agent's flow is missing, their number differs, or the fluid model cannot say.
    pub fn reset(&mut self, scenario: &Scenario) -> Result<(), GymError> {
        let (groups, found) = Self::agents(&self.groups, scenario)?;
        let expected = self.outcomes.len();
        if found != expected {
            return Err(GymError::Agents { found, expected });
        }
        self.world = None;
        let steering = self.settings.steering;
        let mut world = match self.settings.model {
            Model::Packets => World::Packets(Box::new(Packets::new(scenario, &groups, steering))),
            Model::Fluid(pricing) => {
                World::Fluid(Box::new(Fluid::new(scenario, &groups, steering, pricing)?))
            }
        };
        self.outcomes.fill(Outcome::default());
        self.seen.fill(0.0);
        let end = in_either!(&world, world => world.end());
        let begun = match &mut world {
            World::Packets(packets) => packets.begin(),
            World::Fluid(fluid) => fluid.begin()?,
        };
        self.world = Some(world);
        if let Some((heard, round_trip)) = begun {
            (self.until, self.round_trip) = (heard, round_trip);
            return self.pass();
        }
        // The run ends before anything comes back: the first step will say so.
        self.until = end;
        Ok(())
    }

    /// Each agent acts, and the next interval passes: so many of the longest smoothed round trip of the agents. What
    /// would be left over after it, if that is less than half of one, belongs to it.
    ///
    /// # Errors
    /// If the episode is over, an action is no number, or the fluid model cannot say.
    pub fn step(&mut self, actions: &[f64]) -> Result<(), GymError> {
        if self.is_over() {
            return Err(GymError::Over);
        }
        let (found, expected) = (actions.len(), self.outcomes.len());
        if found != expected {
            return Err(GymError::Actions { found, expected });
        }
        if let Some(agent) = actions.iter().position(|action| !action.is_finite()) {
            return Err(GymError::Action { agent, action: actions[agent] });
        }
        let Some(world) = &mut self.world else { return Err(GymError::Over) };
        for (agent, (&action, outcome)) in actions.iter().zip(&self.outcomes).enumerate() {
            // Who has seen nothing yet cannot decide anything.
            if outcome.standing == Standing::Running && !outcome.is_over() {
                in_either!(world, world => world.turn(agent, action));
            }
        }
        self.pass()
    }

    /// An interval passes.
    fn pass(&mut self) -> Result<(), GymError> {
        let Some(world) = &mut self.world else { return Err(GymError::Over) };
        let end = in_either!(&*world, world => world.end());
        let next = Monitor::end_of_interval(self.until, self.settings.interval, self.round_trip);
        let rest = end.since(next);
        self.until = if rest < next.since(self.until) / 2 { end } else { next };
        let until = self.until;
        match world {
            World::Packets(packets) => packets.advance_to(until),
            World::Fluid(fluid) => fluid.advance_to(until)?,
        }
        let mut longest = Span::ZERO;
        let per_agent = self.settings.history * self.settings.observed.len();
        let rows = self.seen.chunks_exact_mut(per_agent);
        for (agent, (outcome, seen)) in self.outcomes.iter_mut().zip(rows).enumerate() {
            if outcome.is_over() {
                *outcome = Outcome { reward: 0.0, active: false, ..*outcome };
                continue;
            }
            let told = in_either!(world, world => world.measure(agent));
            let standing = in_either!(&*world, world => world.standing(agent));
            let path = in_either!(&*world, world => world.path(agent));
            *outcome = Outcome { standing, ..Outcome::default() };
            if let Some(told) = told {
                longest = longest.max(told.smoothed);
                outcome.take(&told.measured, path, &self.settings.weights);
                let observed = &self.settings.observed;
                seen.copy_within(observed.len().., 0);
                let last = seen.len() - observed.len();
                for (place, &feature) in seen[last..].iter_mut().zip(observed) {
                    *place = FEATURES[feature].of(&told.measured) as f32;
                }
            } else if standing == Standing::Running {
                // Data is under way, and nothing has come back.
                outcome.standing = Standing::Waiting;
            }
            outcome.terminated = standing == Standing::Finished;
            outcome.truncated =
                !outcome.terminated && (standing == Standing::Stopped || until >= end);
        }
        if longest > Span::ZERO {
            self.round_trip = longest;
        }
        if self.is_over() {
            self.world = None;
        }
        Ok(())
    }

    /// Is the episode over for all agents?
    pub fn is_over(&self) -> bool {
        self.outcomes.iter().all(Outcome::is_over)
    }

    /// What the last step brought to each agent.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// What each agent observes: for each interval of its history, the oldest first, the features that it asked for.
    pub fn observations(&self) -> &[f32] {
        &self.seen
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.until
    }
}

impl Outcome {
    fn is_over(&self) -> bool {
        self.terminated || self.truncated
    }

    fn take(&mut self, measured: &Measurement, (rate, rtt): (f64, Span), weights: &RewardWeights) {
        let seen = measured.lost + measured.delivered;
        self.throughput = measured.rate * measured.segment_bits / rate;
        self.delay = measured.rtt / rtt.seconds().max(1e-12);
        self.loss = if seen > 0.0 { measured.lost / seen } else { 0.0 };
        self.active = true;
        self.measured = *measured;
        self.reward = weights.throughput * log2(self.throughput.max(LEAST_THROUGHPUT))
            - weights.delay * log2(self.delay.max(1.0))
            - weights.loss * self.loss;
    }
}
