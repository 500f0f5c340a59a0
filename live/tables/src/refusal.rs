//! Why there is no table of a controller.

use longfat_tcp_host::ChoiceError;
use longfat_units::Span;
use thiserror::Error;

/// Why there is no table. What ran without what it depends on would be another controller.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TableError {
    /// No such controller, or none that TCP in Linux can have.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// It has no law, or is more than its law.
    #[error(
        "`{0}` has no table: it remembers more than a window law may, and a table is looked up by the window alone"
    )]
    Remembers(String),
    /// It has a clock.
    #[error("`{0}` has no table: what it adds depends on the time since the last congestion")]
    Clock(String),
    /// It answers queueing delay.
    #[error("`{0}` has no table: it goes by the difference of two round trips")]
    Delay(String),
    /// It depends on something else as well.
    #[error("`{name}` has no table: {what} depends on {on} as well as on the window")]
    Depends {
        /// The controller.
        name: String,
        /// What of it.
        what: &'static str,
        /// On what.
        on: &'static str,
    },
    /// It adds what nobody can apply.
    #[error(
        "`{name}` has no table: {what} is {found} at a window of {window:.6}, where 0 to {most} can be written down"
    )]
    Bounds {
        /// The controller.
        name: String,
        /// What of it.
        what: &'static str,
        /// How much.
        found: f64,
        /// The most.
        most: f64,
        /// Where.
        window: f64,
    },
    /// Pacing that is no constant share of the window.
    #[error("`{0}` has no table: its pacing is no fixed multiple of the window per round trip")]
    Pacing(String),
    /// The table would be wrong.
    #[error(
        "`{name}` has no table with these parameters: {what} would be {percent:.2} % off at a window of {window:.6} \
         (round trip {rtt}), and {most} % is the most. Functions of window and round trip have to be products, those of \
         window and last window straight in the window, and what is tiny is lost: other parameters may fit"
    )]
    Off {
        /// The controller.
        name: String,
        /// What of it.
        what: &'static str,
        /// How far.
        percent: f64,
        /// The most that is borne.
        most: f64,
        /// Where.
        window: f64,
        /// And at which round trip.
        rtt: Span,
    },
}
