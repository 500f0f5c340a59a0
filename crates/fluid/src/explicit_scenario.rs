//! A scenario whose routers say how rates change, in the terms of their equations.
//!
//! Flows of XCP or of VCP, each over one link: every direction of a link that any of them crosses is an
//! [`ExplicitLink`], independent of the others. Whatever these equations do not have is refused.

use longfat_scenario::{FlowGroup, Link, Scenario};
use longfat_units::Span;
use longfat_units::parameter::Settings;

use crate::equilibrium::{Equilibrium, FlowRest, LinkRest};
use crate::explicit::{ExplicitFlow, ExplicitLink, Scheme};
use crate::explicit_course::{Course, Times};
use crate::indescribable::refuse_indescribable;
use crate::labels::Labels;
use crate::network::FluidError;
use crate::plan::LEAST_WINDOW;
use crate::stability::Stability;
use crate::stepping::Stepping;
use crate::trajectory::{FlowPath, LinkPath, Trajectory};

/// The controllers whose routers say how rates change, each with the queue of its name.
pub(crate) const CONTROLS: [&str; 2] = ["xcp", "vcp"];

/// Links whose routers say how rates change, and what they and their flows are called in the scenario.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExplicitSetup {
    /// The controller of all flows, `xcp` or `vcp`.
    pub control: String,
    /// The links, each one direction.
    pub links: Vec<ExplicitLink>,
    /// For each flow, its link and its place among the flows of that.
    pub places: Vec<(usize, usize)>,
    /// What flows and links are called.
    pub labels: Labels,
    /// Spacing of the time series, in seconds.
    pub sample: f64,
    /// How much of the beginning every average leaves out, in seconds.
    pub warmup: f64,
    /// How long to solve for, in seconds.
    pub duration: f64,
    /// For each link, the bits of a segment.
    bits: Vec<f64>,
}

impl ExplicitSetup {
    /// The equations of `scenario`; `None` if no long flow has a controller whose routers say how rates change.
    ///
    /// # Errors
    /// If they do not fit: other controllers beside, several links in a row, short flows, flows with a size, an
    /// application or a bounded window, links that change or corrupt packets, and flows that share a link and differ in
    /// the size of packets or in parameters.
    pub fn of(scenario: &Scenario) -> Result<Option<Self>, FluidError> {
        let explicit = |group: &&FlowGroup| CONTROLS.contains(&group.control.kind());
        let Some(first) = scenario.flows.iter().find(explicit) else { return Ok(None) };
        let control = first.control.kind();
        if let Some(other) = scenario.flows.iter().find(|group| group.control.kind() != control) {
            return Err(FluidError::MixedWithExplicit {
                flow: first.name.clone(),
                control: control.into(),
                other: other.name.clone(),
                other_control: other.control.kind().into(),
            });
        }
        if let Some(group) = scenario.traffic.first() {
            let what = format!("short flows, and `{}` are some", group.name);
            return Err(beyond(control, what, "leave out the [[traffic]]"));
        }
        let mut setup = Self {
            control: control.into(),
            links: Vec::new(),
            places: Vec::new(),
            labels: Labels::new(scenario),
            sample: scenario.sample.seconds(),
            warmup: scenario.warmup.seconds(),
            duration: scenario.duration.seconds(),
            bits: Vec::new(),
        };
        // Who came first on each link.
        let mut owners: Vec<&FlowGroup> = Vec::new();
        for group in &scenario.flows {
            refuse_indescribable(scenario, group)?;
            let transport = &group.transport;
            if transport.max_window.is_some() || transport.receive_window.is_some() {
                let what = format!("bounds of the window, and flow `{}` has one", group.name);
                return Err(beyond(control, what, "leave out `max_window` and `receive_window`"));
            }
            let &[hop] = group.path.as_slice() else {
                let (links, flow) = (group.path.len(), &group.name);
                let what = format!("several links in a row, and flow `{flow}` crosses {links}");
                return Err(beyond(control, what, "shorten its `path` to the bottleneck"));
            };
            let link = &scenario.links[hop.link];
            let direction = link.direction(hop.reverse);
            if link.is_varying(hop.reverse) {
                return Err(FluidError::Varying { link: link.name.clone() });
            }
            if direction.loss > 0.0 {
                let what = format!("corrupted packets, and link `{}` corrupts some", link.name);
                return Err(beyond(control, what, "leave out its `loss`"));
            }
            if direction.queue.settings.number_or_word("gamma").is_none() {
                let what = format!("an aim that adapts, as that of link `{}` does", link.name);
                return Err(beyond(control, what, "give its queue a number as `gamma`"));
            }
            let at = setup.labels.route(&group.path)[0];
            let bits = transport.packet.0 as f64 * 8.0;
            if at == setup.links.len() {
                owners.push(group);
                setup.bits.push(bits);
                setup.links.push(ExplicitLink {
                    scheme: scheme(group, &direction.queue.settings),
                    capacity: direction.rate.0 as f64 / bits,
                    flows: Vec::new(),
                });
            }
            refuse_differences(owners[at], group, link, hop.reverse)?;
            let flows = &mut setup.links[at].flows;
            let stop = group.stop.map_or(f64::INFINITY, Span::seconds);
            for label in setup.labels.add(scenario, group) {
                setup.places.push((at, flows.len()));
                if label.rtt == Span::ZERO {
                    return Err(FluidError::NoRoundTrip { flow: label.name.clone() });
                }
                let round_trip = label.rtt.seconds();
                let window = transport.initial_window.max(LEAST_WINDOW);
                let start = label.start.seconds();
                flows.push(ExplicitFlow { round_trip, rate: window / round_trip, start, stop });
            }
        }
        Ok(Some(setup))
    }

    /// Where the flows that never stop settle, and for each link whether they stay there with delays times `delay`.
    ///
    /// # Errors
    /// If no flow is left at the end, a link is too small for a segment per round trip of each of its flows, or nothing
    /// makes the rates equal.
    pub fn rest(&self, delay: f64) -> Result<(Equilibrium, Stability), FluidError> {
        let stays = |flow: &&ExplicitFlow| flow.stop >= self.duration;
        let links: Vec<ExplicitLink> = self
            .links
            .iter()
            .map(|link| ExplicitLink {
                flows: link.flows.iter().filter(stays).copied().collect(),
                ..link.clone()
            })
            .collect();
        if links.iter().all(|link| link.flows.is_empty()) {
            return Err(FluidError::NoFlows);
        }
        self.refuse_without_rest()?;
        let mut rest = Equilibrium { flows: Vec::new(), links: Vec::new(), steps: 0 };
        for (at, link) in links.iter().enumerate() {
            let load =
                if link.flows.is_empty() { 0.0 } else { link.rest() * link.flows.len() as f64 };
            let settled = if link.flows.is_empty() { 0.0 } else { link.price(load, 0.0, 1.0) };
            // Rounding apart, F is zero at rest.
            let price = if self.control == "xcp" { 0.0 } else { settled };
            rest.links.push(LinkRest { price, load: load / link.capacity, queue: 0.0 });
            let shortest =
                link.flows.iter().map(|flow| flow.round_trip).fold(f64::INFINITY, f64::min);
            if link.rest() * shortest < LEAST_WINDOW {
                let (index, _) = self.labels.directions[at];
                return Err(FluidError::Overload {
                    link: self.labels.links[index].clone(),
                    why: format!(
                        "its share for each of its {} flows is less than a segment per round trip",
                        link.flows.len()
                    ),
                });
            }
        }
        for &(at, place) in &self.places {
            let flow = &self.links[at].flows[place];
            rest.flows.push(if stays(&flow) {
                let rate = links[at].rest();
                FlowRest {
                    window: rate * flow.round_trip,
                    rate: rate * self.bits[at],
                    price: rest.links[at].price,
                    round_trip: flow.round_trip,
                }
            } else {
                FlowRest::default()
            });
        }
        let judged =
            links.iter().filter(|link| !link.flows.is_empty()).map(|link| link.stability(delay));
        // The link that becomes unstable first, if any does.
        let first = |one: Stability, other: Stability| {
            let margin = |judged: &Stability| judged.margin.unwrap_or(f64::INFINITY);
            if margin(&other) < margin(&one) { other } else { one }
        };
        Ok((rest, judged.reduce(first).ok_or(FluidError::NoFlows)?))
    }

    /// With some parameter at zero nothing brings the load to the capacity, or the rates together.
    fn refuse_without_rest(&self) -> Result<(), FluidError> {
        for link in &self.links {
            let needed: &[(&'static str, f64)] = match link.scheme {
                Scheme::Xcp { alpha, beta, gamma } => {
                    &[("alpha", alpha), ("beta", beta), ("gamma", gamma)]
                }
                Scheme::Vcp { kappa, alpha, .. } => &[("kappa", kappa), ("alpha", alpha)],
            };
            if let Some(&(parameter, _)) = needed.iter().find(|(_, value)| *value <= 0.0) {
                return Err(FluidError::NoRest { control: self.control.clone(), parameter });
            }
        }
        Ok(())
    }
}

fn beyond(control: &str, what: String, help: &'static str) -> FluidError {
    FluidError::BeyondExplicit { control: control.into(), what, help }
}

/// Flows that share a link have the packets and parameters of its first ones, and VCP's the interval of its router.
fn refuse_differences(
    first: &FlowGroup,
    group: &FlowGroup,
    link: &Link,
    reverse: bool,
) -> Result<(), FluidError> {
    let control = group.control.kind();
    let (one, other) = (&first.name, &group.name);
    if first.transport.packet != group.transport.packet {
        let what = format!("packets of several sizes, as flows `{one}` and `{other}` have them");
        return Err(beyond(control, what, "give both the same `packet`"));
    }
    if first.control.settings != group.control.settings {
        let what = format!("several sets of parameters, as flows `{one}` and `{other}` have them");
        return Err(beyond(control, what, "give both the same"));
    }
    if control == "vcp" {
        let host = group.control.settings.span("interval");
        let router = link.direction(reverse).queue.settings.span("interval");
        if host != router {
            let what = format!(
                "several intervals, and that of flow `{other}` is {host}, that of link `{}` {router}",
                link.name
            );
            return Err(beyond(control, what, "give both the same `interval`"));
        }
    }
    Ok(())
}

/// The equations of the flows of a group, on a link whose queue has these settings.
fn scheme(group: &FlowGroup, queue: &Settings) -> Scheme {
    let control = &group.control.settings;
    if group.control.kind() == "xcp" {
        Scheme::Xcp {
            alpha: queue.number("alpha"),
            beta: queue.number("beta"),
            gamma: queue.number("gamma"),
        }
    } else {
        Scheme::Vcp {
            kappa: control.number("kappa"),
            alpha: control.number("alpha"),
            gamma: queue.number("gamma"),
            low_load: queue.number("low_load"),
            interval: control.span("interval").seconds(),
        }
    }
}

/// A solution in portions, for callers with something to do in between.
#[derive(Debug)]
pub struct ExplicitIntegration<'a> {
    setup: &'a ExplicitSetup,
    courses: Vec<Course<'a>>,
    /// The link that is being solved.
    at: usize,
}

impl<'a> ExplicitIntegration<'a> {
    /// Ready for the first step, with delays times `delay` (0: none).
    pub fn new(setup: &'a ExplicitSetup, delay: f64) -> Self {
        let times =
            Times { measured_from: setup.warmup, end: setup.duration, sample: setup.sample };
        let courses = setup.links.iter().map(|link| Course::new(link, delay, times)).collect();
        Self { setup, courses, at: 0 }
    }

    /// Takes up to `steps` steps. False once the end is reached.
    ///
    /// # Errors
    /// If the equations take too many steps, or their solution is no longer finite.
    pub fn advance(&mut self, steps: u64) -> Result<bool, FluidError> {
        if let Some(course) = self.courses.get_mut(self.at)
            && !course.portion(steps)?
        {
            self.at += 1;
        }
        Ok(self.at < self.courses.len())
    }

    /// The share of the time that has been solved for, 0 to 1.
    pub fn progress(&self) -> f64 {
        let done: f64 = self.courses.iter().map(Course::progress).sum();
        done / self.courses.len() as f64
    }

    /// The results so far.
    pub fn finish(self) -> Trajectory {
        let setup = self.setup;
        let mut paths: Vec<_> = self.courses.into_iter().map(Course::finish).collect();
        let rows = paths.iter().map(|path| path.t.len()).min().unwrap_or_default();
        let mut trajectory = Trajectory::new(0, 0);
        trajectory.t.extend(paths.iter().flat_map(|path| &path.t).take(rows));
        for &(at, place) in &setup.places {
            let (bits, path) = (setup.bits[at], &paths[at]);
            let round_trip = setup.links[at].flows[place].round_trip;
            let rates = &path.rates[place][..rows];
            trajectory.flows.push(FlowPath {
                window: rates.iter().map(|rate| rate * round_trip).collect(),
                rate: rates.iter().map(|rate| rate * bits).collect(),
                window_mean: path.rate_means[place] * round_trip,
                rate_mean: path.rate_means[place] * bits,
                events: 0,
            });
        }
        for (link, path) in setup.links.iter().zip(&mut paths) {
            trajectory.steps += path.steps;
            let load = |row| path.rates.iter().map(|rates| rates[row]).sum::<f64>() / link.capacity;
            trajectory.links.push(LinkPath {
                load: (0..rows).map(load).collect(),
                queue: path.queue[..rows].iter().map(|queue| queue / link.capacity).collect(),
                price: std::mem::take(&mut path.price),
            });
        }
        trajectory
    }
}
