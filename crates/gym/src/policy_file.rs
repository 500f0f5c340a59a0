//! The file of a trained policy: JSON, readable by people and by any other program.

use std::hash::Hasher as _;
use std::sync::Arc;

use longfat_control::interval::{
    Activation, FEATURES, Layer, Lever, Network, Policy, Scale, Steering,
};
use longfat_control::{Controller, Family};
use longfat_scenario::Catalogue;
use longfat_units::Origin;
use serde::Deserialize;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::GymError;
use crate::settings::observed_features;

/// A trained policy as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PolicyFile {
    /// The version of this format: 1.
    pub longfat_policy: u32,
    /// What it is called.
    pub name: String,
    /// Who trained it, with what, on what: for people.
    #[serde(default)]
    pub provenance: serde_json::Map<String, serde_json::Value>,
    /// Smoothed round trips between decisions.
    pub interval: f64,
    /// What it observes, by name.
    pub observe: Vec<String>,
    /// In how many intervals.
    pub history: usize,
    /// What its output means.
    pub action: ActionText,
    /// The layers of its network.
    pub layers: Vec<LayerText>,
}

/// What the output of a policy means.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ActionText {
    /// `window` or `rate`.
    pub sets: String,
    /// `multiplicative` or `absolute`.
    pub scale: String,
    /// By how many powers of two a decision changes it at most, if it is multiplicative.
    #[serde(default = "one")]
    pub octaves: f64,
    /// Between which values it stays: segments, or Mbit/s.
    pub bounds: (f64, f64),
}

/// One layer of a policy's network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LayerText {
    /// A row for each output.
    pub weights: Vec<Vec<f64>>,
    /// One for each output.
    pub bias: Vec<f64>,
    /// `linear`, `tanh` or `relu`.
    pub activation: String,
}

fn one() -> f64 {
    1.0
}

/// The version that is read.
const VERSION: u32 = 1;

impl ActionText {
    /// How actions are read.
    ///
    /// # Errors
    /// If a name is unknown, or a number out of range.
    pub fn steering(&self) -> Result<Steering, GymError> {
        let lever = [Lever::Window, Lever::Rate].into_iter().find(|it| it.name() == self.sets);
        let lever = lever.ok_or_else(|| unknown("action.sets", &self.sets, "window, rate"))?;
        let scale = match &*self.scale {
            "multiplicative" => Scale::Multiplicative { octaves: self.octaves },
            "absolute" => Scale::Absolute,
            other => return Err(unknown("action.scale", other, "multiplicative, absolute")),
        };
        Ok(Steering::new(lever, scale, self.bounds)?)
    }
}

impl PolicyFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is no JSON, or says something else than a policy.
    pub fn read(text: &str) -> Result<Self, GymError> {
        let file: Self =
            serde_json::from_str(text).map_err(|error| GymError::File(error.to_string()))?;
        if file.longfat_policy == VERSION {
            Ok(file)
        } else {
            let found = file.longfat_policy;
            Err(GymError::File(format!("its version is {found}, and this longfat reads {VERSION}")))
        }
    }

    /// The policy, ready to decide.
    ///
    /// # Errors
    /// If a name is unknown, a number out of range, or its network does not fit.
    pub fn policy(&self) -> Result<Policy, GymError> {
        Policy::check(self.interval, self.history)?;
        let observed = observed_features(&self.observe)?;
        let layers = self.layers.iter().map(|layer| {
            let mut known = Activation::ALL.into_iter();
            let activation = known
                .find(|it| it.name() == layer.activation)
                .ok_or_else(|| unknown("activation", &layer.activation, "linear, tanh, relu"))?;
            Ok(Layer { weights: layer.weights.clone(), bias: layer.bias.clone(), activation })
        });
        let layers = layers.collect::<Result<Vec<_>, GymError>>()?;
        let network = Network::new(observed.len() * self.history, layers)?;
        let policy =
            Policy::new(self.interval, observed, self.history, self.action.steering()?, network)?;
        // A scenario must be able to choose it by its name.
        let entry = named(self.name.clone(), Arc::new(policy.clone()));
        let chosen = Catalogue::built_in().add_controller(entry);
        chosen.map_err(|error| GymError::File(error.to_string()))?;
        Ok(policy)
    }

    /// What it observes must mean the same everywhere if it is to work on other paths: the features that do not.
    pub fn scaled_features(&self) -> Vec<&str> {
        let scaled = FEATURES.iter().filter(|feature| !feature.scale_free);
        let names: Vec<&str> = scaled.map(|feature| feature.name).collect();
        self.observe.iter().map(String::as_str).filter(|name| names.contains(name)).collect()
    }
}

fn unknown(what: &str, found: &str, known: &str) -> GymError {
    let found: String = found.chars().take(40).collect();
    GymError::File(format!("`{what}` is \"{found}\": it is one of {known}"))
}

/// The controller that follows the policy in this file.
///
/// # Errors
/// If it is not the text of a policy.
pub fn controller(text: &str) -> Result<Controller, GymError> {
    let file = PolicyFile::read(text)?;
    let policy = Arc::new(file.policy()?);
    Ok(named(file.name, policy).origin(Origin::new(digest(text))))
}

fn named(name: String, policy: Arc<Policy>) -> Controller {
    Controller::new(name, move |_, start| policy.sending(start))
        .title("a trained policy, which decides once per monitor interval")
        .source("a policy file")
        .family(Family::Model)
}

/// Another one for a policy that may do something else.
fn digest(text: &str) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    format!("{:032x}", hasher.finish128().as_u128())
}
