//! What is installed, as files that the kernel keeps: one folder for each law, in the file system of BPF.
//!
//! ```text
//!     /sys/fs/bpf/longfat/exp/link          as long as it is there, the congestion control is registered
//!                             about         what it is
//!                             connections   how many have it
//!                             control       the program that sees each acknowledgment
//! ```
//!
//! They outlive the program that made them, and not the machine's next start. Where nobody has mounted the file system it is
//! mounted, under the name longfat, and unmounted with the last law.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::statfs;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// Where the file system belongs.
const PLACE: &str = "/sys/fs/bpf";
/// `BPF_FS_MAGIC`.
const MAGIC: u64 = 0xcafe_4a11;
/// What it says of who has mounted it.
const SOURCE: &str = "longfat";

/// What the kernel itself puts there when it is mounted.
const PRELOADED: [&str; 2] = ["maps.debug", "progs.debug"];

/// Is this the inside of `ip netns exec`? It puts a `/sys` of its own in the place of the one that others see, so that what
/// is installed is not there, and what is installed from here would be gone with its last process.
pub(crate) fn hidden() -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounted = statfs(PLACE).is_ok_and(|found| found.f_type as u64 == MAGIC);
    !mounted
        && mounts
            .lines()
            .filter_map(namespace)
            .any(|name| Path::new(NAMESPACES).join(name).exists())
}

/// Where `ip netns` keeps network namespaces by name.
const NAMESPACES: &str = "/run/netns";

/// The namespace after which `ip netns exec` has called this `/sys`, or whatever else it is called.
fn namespace(line: &str) -> Option<&str> {
    let (mounted, how) = line.split_once(" - ")?;
    let source = how.strip_prefix("sysfs ")?.split(' ').next()?;
    (mounted.split(' ').nth(4) == Some("/sys")).then_some(source)
}

/// One law, by the name of its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pins(PathBuf);

impl Pins {
    /// Those of this controller, there or not.
    pub(crate) fn of(control: &str) -> Self {
        Self(folder().join(control))
    }

    /// All that there are, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn all() -> io::Result<Vec<(String, Self)>> {
        let entries = match fs::read_dir(folder()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            all.push((name, Self(entry.path())));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(all)
    }

    /// Is there anything?
    pub(crate) fn exist(&self) -> bool {
        self.0.exists()
    }

    /// Makes their folder, and mounts the file system where it is not.
    ///
    /// # Errors
    /// If there is one already, or the kernel refuses.
    pub(crate) fn make(&self) -> io::Result<()> {
        if statfs(PLACE)?.f_type as u64 != MAGIC {
            mount(SOURCE, PLACE, "bpf", MountFlags::empty(), None)?;
        }
        fs::create_dir_all(folder())?;
        fs::create_dir(&self.0)
    }

    /// That which holds it.
    pub(crate) fn link(&self) -> PathBuf {
        self.0.join("link")
    }

    /// That which says what it is.
    pub(crate) fn about(&self) -> PathBuf {
        self.0.join("about")
    }

    /// That which counts.
    pub(crate) fn connections(&self) -> PathBuf {
        self.0.join("connections")
    }

    /// The program.
    pub(crate) fn control(&self) -> PathBuf {
        self.0.join("control")
    }

    /// Removes all of them, and whatever was made for them and holds nothing else.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::read_dir(&self.0) {
            Ok(entries) => {
                for entry in entries {
                    fs::remove_file(entry?.path())?;
                }
                fs::remove_dir(&self.0)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        tidy()
    }
}

fn folder() -> PathBuf {
    Path::new(PLACE).join("longfat")
}

/// Removes the folder of all, and the file system, where they are empty and one's own.
fn tidy() -> io::Result<()> {
    if let Err(error) = fs::remove_dir(folder()) {
        let stays = [io::ErrorKind::NotFound, io::ErrorKind::DirectoryNotEmpty];
        if !stays.contains(&error.kind()) {
            return Err(error);
        }
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    if mounts.lines().any(is_own) {
        let others = fs::read_dir(PLACE)?.filter_map(Result::ok).map(|entry| entry.file_name());
        if others.into_iter().all(|name| PRELOADED.iter().any(|own| name == *own)) {
            unmount(PLACE, UnmountFlags::empty())?;
        }
    }
    Ok(())
}

/// Is this line of `mountinfo` the file system that longfat has mounted?
fn is_own(line: &str) -> bool {
    // "36 35 98:0 /root /place options - type source options", with optional fields before the dash.
    let Some((mounted, how)) = line.split_once(" - ") else { return false };
    mounted.split(' ').nth(4) == Some(PLACE) && how.starts_with(&format!("bpf {SOURCE} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sys_of_a_namespace_has_its_name() {
        for (line, name) in [
            ("48 45 0:39 / /sys rw,relatime - sysfs longfat-a rw", Some("longfat-a")),
            ("23 27 0:22 / /sys rw,relatime shared:7 - sysfs sysfs rw", Some("sysfs")),
            ("31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw", None),
            ("31 23 0:28 / /mnt rw - sysfs other rw", None),
        ] {
            assert_eq!(namespace(line), name, "{line}");
        }
    }

    #[test]
    fn only_what_longfat_has_mounted_is_its_own() {
        for (line, own) in [
            ("30 23 0:26 / /sys/fs/bpf rw,relatime shared:9 - bpf longfat rw,mode=700", true),
            ("30 23 0:26 / /sys/fs/bpf rw,relatime - bpf longfat rw", true),
            ("30 23 0:26 / /sys/fs/bpf rw,nosuid shared:9 - bpf bpf rw,mode=700", false),
            ("30 23 0:26 / /sys/fs/bpf rw - tmpfs longfat rw", false),
            ("30 23 0:26 / /mnt rw - bpf longfat rw", false),
            ("", false),
        ] {
            assert_eq!(is_own(line), own, "{line}");
        }
    }
}
