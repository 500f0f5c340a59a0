//! What the programs of real links have in common: the two ends of a link ([`End`]), threads that run before others
//! ([`priority`]), what a machine must have ([`machine`]), and how a program reads what it is asked ([`program`]).

mod end;
pub mod machine;
pub mod priority;
pub mod program;

pub use end::{End, EndError};
