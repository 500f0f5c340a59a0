//! A long fat link in user space: what the simulator says about a link, done to the packets of real programs.
//!
//! ```text
//!   programs in     TUN                                               TUN     programs in
//!   longfat-a  ◀──▶ device ──▶ [ queue ▸ transmitter ▸ wire ] ──────▶ device ◀──▶ longfat-b
//!                          ◀── [ wire ◂ transmitter ◂ queue ] ◀──────
//! ```
//!
//! The queue is any of `longfat-queue`, the same object as in the simulator. One thread carries packets both ways
//! ([`forward`]), on the kernel's monotonic clock, and measures how late it is ([`lateness`]).

pub mod capture;
pub mod clock;
pub mod command;
pub mod direction;
pub mod forward;
pub mod frames;
pub mod lateness;
pub mod machine;
pub mod marker;
pub mod packet;
pub mod settings;
pub mod state;
pub mod tun;
