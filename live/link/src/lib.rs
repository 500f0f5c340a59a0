//! A long fat link in user space: what the simulator says about a link, done to the packets of real programs.
pub mod packet;
