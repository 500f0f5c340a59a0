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
    /// Handle events one by one, in the order of time: for a host that looks at the simulation between two of them, or
    /// calls it. Otherwise a link may be given all that reaches it within some milliseconds at once.
    pub in_order: bool,
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

    /// Shall events be handled one by one, in the order of time?
    #[must_use]
    pub fn in_order(self, in_order: bool) -> Self {
        Self { in_order, ..self }
    }
}
