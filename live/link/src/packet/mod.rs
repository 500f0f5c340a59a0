//! Packets as the kernel hands them over, and what a link does to them. No system call, and no privilege.
//!
//! With `IFF_VNET_HDR` a TUN device gives each packet an offload header in front ([`Offload`], the `virtio_net_hdr` of
//! the virtio specification, version 1.2, section 5.1.6), and TCP and UDP may give **super-segments**: up to 64 KB
//! with one set of headers, to be cut into segments of a stated size. This is what makes gigabits per second possible
//! in user space, since the cost is per call and not per byte.
//!
//! A link decides about each segment. So a super-segment stays whole in memory, its segments are counted by
//! [`Shape::parse`] and numbered, and what leaves are [`Run`]s: segments that survived, follow one another, leave at
//! nearly the same time and have the same mark and the same bit of AntiECN, as one shorter super-segment ([`Shape::write`]).
//!
//! Nothing that comes from a device is trusted: what is no whole packet, or contradicts its offload header, is
//! [`Malformed`].

mod offload;
mod run;
#[cfg(test)]
pub(crate) mod sample;
mod shape;
mod spare;
#[cfg(test)]
mod tests;
mod version;

pub use offload::{OFFLOAD, Offload};
pub use run::Run;
pub use shape::{Malformed, Shape};
