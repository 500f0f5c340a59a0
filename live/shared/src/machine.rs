//! What a machine has, and a process may.

use rustix::thread::{CapabilitySet, capabilities};

/// Is the kernel that runs of this version or a later one, by its major and minor number?
///
/// # Errors
/// If it is older, or of no known version: what it calls itself.
pub fn check_kernel(least: (u32, u32)) -> Result<(), String> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    if version(&release).is_none_or(|version| version < least) { Err(release) } else { Ok(()) }
}

/// Major and minor number of a kernel: "6.18.44-generic".
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Has this process these capabilities?
///
/// # Errors
/// If not: the names of those that are missing.
pub fn check_capabilities(needed: &[(CapabilitySet, &str)]) -> Result<(), String> {
    let held = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    let missing = needed.iter().filter(|(capability, _)| !held.contains(*capability));
    let missing: Vec<&str> = missing.map(|(_, name)| *name).collect();
    if missing.is_empty() { Ok(()) } else { Err(missing.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_apart() {
        assert_eq!(version("6.18.44-generic"), Some((6, 18)));
        assert_eq!(version("4.9"), Some((4, 9)));
        assert_eq!(version("unknown"), None);
        assert!(version("4.14.2") < Some((4, 15)));
    }

    #[test]
    fn a_kernel_of_the_future_is_asked_for_in_vain() {
        assert_eq!(check_kernel((2, 0)), Ok(()));
        let release = check_kernel((u32::MAX, 0)).expect_err("there is no such kernel");
        assert!(version(&release).is_some(), "{release}");
    }

    #[test]
    fn what_nobody_needs_is_not_missing() {
        assert_eq!(check_capabilities(&[]), Ok(()));
    }
}
