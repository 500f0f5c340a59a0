//! How a simulation is carried out.

/// How a simulation is carried out; nothing here changes its results.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Keep the time series.
    pub record: bool,
    /// Serve every link packet by packet, even where departures are known on arrival, and hand nothing to senders and
    /// links early.
    pub stepwise: bool,
}
