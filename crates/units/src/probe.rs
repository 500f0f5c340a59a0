//! Looking inside: the variables that are worth plotting.

/// Collects the variables that a controller or a queue names.
pub trait Probe {
    /// The current value of `name`.
    fn value(&mut self, name: &str, value: f64);
}
