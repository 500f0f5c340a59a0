//! Environments in which agents learn: many at once, stepped without the interpreter's lock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use longfat_control::interval::{FEATURES, Lever, Scale, Steering};
use longfat_fluid::Pricing;
use longfat_gym::{Environment, INFORMATION, Model, Outcome, RewardWeights, Settings};
use longfat_units::fault::{self, Fault};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::failed;
use crate::guard::guarded;
use crate::policy::{GymError, refused};
use crate::scenario::Scenario;

/// What can be observed: name, description, least, most, and whether it means the same on every path.
#[pyfunction]
pub(crate) fn features() -> Vec<(&'static str, &'static str, f64, f64, bool)> {
    let row = |it: &longfat_control::interval::Feature| {
        (it.name, it.title, it.bounds.0, it.bounds.1, it.scale_free)
    };
    FEATURES.iter().map(row).collect()
}

/// One environment, and the scenario of its next episode.
#[derive(Debug)]
struct Place {
    environment: Environment,
    next: Option<Arc<longfat_scenario::Scenario>>,
    /// That of the episode under way.
    scenario: Option<Arc<longfat_scenario::Scenario>>,
    wrong: Option<Wrong>,
}

/// Why an environment cannot go on.
#[derive(Debug)]
enum Wrong {
    /// What was asked for.
    Request(longfat_gym::GymError),
    /// Code that somebody has brought along.
    Code(Fault),
}

impl Place {
    /// Begins the next episode if this one is over, otherwise takes a step.
    fn go_on(&mut self, actions: &[f64]) {
        // Whatever this thread did before is over.
        drop(fault::take());
        let done = match self.next.take() {
            Some(next) => {
                let done = self.environment.reset(&next);
                self.scenario = Some(next);
                done
            }
            None => self.environment.step(actions),
        };
        self.wrong = fault::take().map(Wrong::Code).or(done.err().map(Wrong::Request));
    }
}

/// Any number of environments that are stepped together, each with episodes of its own.
#[pyclass(module = "longfat._longfat")]
#[derive(Debug)]
pub(crate) struct Environments {
    places: Vec<Mutex<Place>>,
    groups: Vec<String>,
    agents: usize,
    threads: usize,
}

#[pymethods]
impl Environments {
    #[new]
    #[pyo3(signature = (count, groups, example, *, interval, observe, history, sets, scale, octaves, bounds, weights,
        fluid = None, threads = 1))]
    #[pyo3(
        text_signature = "(count, groups, example, *, interval, observe, history, sets, scale, octaves, bounds, \
                             weights, fluid=None, threads=1)"
    )]
    #[expect(clippy::too_many_arguments, reason = "in Python they have names")]
    #[expect(clippy::needless_pass_by_value, reason = "lists of Python become vectors")]
    fn new(
        count: usize,
        groups: Vec<String>,
        example: &Bound<'_, Scenario>,
        interval: f64,
        observe: Vec<String>,
        history: usize,
        sets: &str,
        scale: &str,
        octaves: f64,
        bounds: (f64, f64),
        weights: (f64, f64, f64),
        fluid: Option<&str>,
        threads: usize,
    ) -> PyResult<Self> {
        let lever = one_of("sets", sets, &[Lever::Window, Lever::Rate].map(|it| (it.name(), it)))?;
        let multiplicative = Scale::Multiplicative { octaves };
        let scales = [("multiplicative", multiplicative), ("absolute", Scale::Absolute)];
        let scale = one_of("scale", scale, &scales)?;
        let steering = Steering::new(lever, scale, bounds);
        let steering = steering.map_err(|error| GymError::new_err(error.to_string()))?;
        let (throughput, delay, loss) = weights;
        let model = match fluid {
            None => Model::Packets,
            Some(price) => {
                Model::Fluid(one_of("price", price, &Pricing::ALL.map(|it| (it.name(), it)))?)
            }
        };
        let weights = RewardWeights { throughput, delay, loss };
        let settings = Settings::new(interval, &observe, history, steering, weights, model);
        let settings = settings.map_err(|error| refused(&error))?;
        let (_, agents) =
            Environment::agents(&groups, &example.get().inner).map_err(|error| refused(&error))?;
        let place = || Place {
            environment: Environment::new(settings.clone(), groups.clone(), agents),
            next: None,
            scenario: None,
            wrong: None,
        };
        let places = (0..count).map(|_| Mutex::new(place())).collect();
        Ok(Self { places, groups, agents, threads: threads.max(1) })
    }

    /// How many agents each environment has.
    #[getter]
    fn agents(&self) -> usize {
        self.agents
    }

    /// The names of what `information` has for each agent.
    #[staticmethod]
    fn information_names() -> Vec<&'static str> {
        let raw = FEATURES.iter().filter(|feature| !feature.scale_free);
        INFORMATION.into_iter().chain(raw.map(|feature| feature.name)).collect()
    }

    /// Has an environment begin an episode of `scenario` at the next step, whatever it does now.
    fn prepare(&self, index: usize, scenario: &Bound<'_, Scenario>) -> PyResult<()> {
        let scenario = Arc::clone(&scenario.get().inner);
        let (_, agents) =
            Environment::agents(&self.groups, &scenario).map_err(|error| refused(&error))?;
        if agents != self.agents {
            let (found, expected) = (agents, self.agents);
            return Err(refused(&longfat_gym::GymError::Agents { found, expected }));
        }
        lock(&self.places[index]).next = Some(scenario);
        Ok(())
    }

    /// Takes a step in every environment with an action for each agent, as 64-bit numbers; those for which an episode
    /// was prepared begin it instead.
    fn step(&self, py: Python<'_>, actions: &[u8]) -> PyResult<()> {
        let all: Vec<usize> = (0..self.places.len()).collect();
        self.step_some(py, &all, actions)
    }

    /// Begins the episodes that were prepared, and leaves all other environments as they are.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        let prepared = |index: &usize| lock(&self.places[*index]).next.is_some();
        let those: Vec<usize> = (0..self.places.len()).filter(prepared).collect();
        self.step_some(py, &those, &vec![0; self.places.len() * self.agents * WORD])
    }

    /// What every agent observes, as 32-bit numbers: environments, agents, intervals, features.
    fn observations<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.collect(py, |environment, bytes| {
            for number in environment.observations() {
                bytes.extend_from_slice(&number.to_ne_bytes());
            }
        })
    }

    /// The reward of every agent, as 64-bit numbers.
    fn rewards<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.of_agents(py, |outcome, bytes| bytes.extend_from_slice(&outcome.reward.to_ne_bytes()))
    }

    /// Whether the episode of every agent has terminated, as bytes.
    fn terminated<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.of_agents(py, |outcome, bytes| bytes.push(u8::from(outcome.terminated)))
    }

    /// Whether the episode of every agent has been truncated, as bytes.
    fn truncated<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.of_agents(py, |outcome, bytes| bytes.push(u8::from(outcome.truncated)))
    }

    /// What else is known of every agent, as 64-bit numbers: environments, agents, `information_names`.
    fn information<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.of_agents(py, |outcome, bytes| {
            for number in outcome.information() {
                bytes.extend_from_slice(&number.to_ne_bytes());
            }
        })
    }
}

/// The bytes of a 64-bit number.
const WORD: usize = size_of::<f64>();

impl Environments {
    fn step_some(&self, py: Python<'_>, those: &[usize], actions: &[u8]) -> PyResult<()> {
        let expected = self.places.len() * self.agents * WORD;
        if actions.len() != expected {
            let message = format!(
                "{} actions are needed, one for each agent of each environment, not {}",
                self.places.len() * self.agents,
                actions.len() / WORD
            );
            return Err(GymError::new_err(message));
        }
        let number = |bytes: &[u8]| f64::from_ne_bytes(bytes.try_into().expect("chunks of a word"));
        let numbers: Vec<f64> = actions.chunks_exact(WORD).map(number).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&index) = those.get(next.fetch_add(1, Ordering::Relaxed)) {
                let own = &numbers[index * self.agents..(index + 1) * self.agents];
                lock(&self.places[index]).go_on(own);
            }
        };
        py.check_signals()?;
        py.detach(|| {
            thread::scope(|scope| {
                let helpers = self.threads.min(those.len()).saturating_sub(1);
                let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(|| guarded(work))).collect();
                let own = guarded(work);
                let others = helpers.into_iter().map(|it| it.join().expect("panics are caught"));
                others.fold(own, PyResult::and)
            })
        })?;
        for (index, place) in self.places.iter().enumerate() {
            let mut place = lock(place);
            match place.wrong.take() {
                None => {}
                Some(Wrong::Code(fault)) => {
                    let scenario = place.scenario.as_ref();
                    let flow = fault.flow.zip(scenario).map(|(flow, it)| it.flow_name(flow));
                    return Err(failed(py, fault, flow));
                }
                Some(Wrong::Request(wrong)) if self.places.len() == 1 => {
                    return Err(refused(&wrong));
                }
                Some(Wrong::Request(wrong)) => {
                    return Err(GymError::new_err(format!("environment {index}: {wrong}")));
                }
            }
        }
        Ok(())
    }

    fn collect<'py>(
        &self,
        py: Python<'py>,
        put: impl Fn(&Environment, &mut Vec<u8>),
    ) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::new();
        for place in &self.places {
            put(&lock(place).environment, &mut bytes);
        }
        PyBytes::new(py, &bytes)
    }

    fn of_agents<'py>(
        &self,
        py: Python<'py>,
        put: impl Fn(&Outcome, &mut Vec<u8>),
    ) -> Bound<'py, PyBytes> {
        self.collect(py, |environment, bytes| {
            for outcome in environment.outcomes() {
                put(outcome, bytes);
            }
        })
    }
}

/// A panic leaves an environment that is never used again: its error has been raised.
fn lock(place: &Mutex<Place>) -> std::sync::MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

fn one_of<T: Copy>(what: &str, asked: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == asked).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        let asked: String = asked.chars().take(40).collect();
        let names = names.join(", ");
        GymError::new_err(format!("`{what}` is \"{asked}\": it is one of {names}"))
    })
}
