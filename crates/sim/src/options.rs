//! How a simulation is carried out.

/// How a simulation is carried out; nothing here changes its results. More may be added: start from the default, which
/// does none of it.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Keep the time series.
    pub record: bool,
    /// Serve every link packet by packet, even where departures are known on arrival, and hand nothing to senders and
    /// links early.
    pub stepwise: bool,
}

impl Options {
    /// Shall the time series be kept?
    #[must_use]
    pub fn record(self, record: bool) -> Self {
        Self { record, ..self }
    }

    /// Shall every link be served packet by packet?
    #[must_use]
    pub fn stepwise(self, stepwise: bool) -> Self {
        Self { stepwise, ..self }
    }
}
