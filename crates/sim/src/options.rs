//! How a simulation is carried out.

/// How a simulation is carried out; none of it changes what comes out.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Keep the time series.
    pub record: bool,
    /// Serve every link packet by packet, even where departures are known on arrival, and tell senders
    /// and links nothing early.
    pub stepwise: bool,
}
