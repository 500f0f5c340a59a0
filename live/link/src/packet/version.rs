//! Versions of IP, by which packets of it are told apart.

/// The version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// With the length of its header.
    V4 {
        header: usize,
    },
    V6,
}
