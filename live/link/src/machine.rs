//! What a link needs of the machine: namespaces, addresses, settings of the kernel. All of it is made by `ip` and by
//! writing to `/proc/sys/net`, in namespaces of the link's own; nothing outside of them changes.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Output};

use longfat_live::machine::{check_capabilities, check_kernel};
use longfat_live::{End, EndError};
use longfat_units::Bytes;
use rustix::thread::CapabilitySet;

use crate::settings::Settings;
use crate::tun::TUN;

/// The name of the device at either end.
pub const DEVICE: &str = "longfat";

/// How many packets a device keeps for the link. Bursts of whole windows fit.
const WAITING: &str = "20000";

/// The least that a window may grow to, as Linux has it.
const LEAST_WINDOW: u64 = 6 << 20;
/// The most that Linux takes.
const MOST_WINDOW: u64 = 1 << 30;

/// The shortest packets that IPv6 asks of a link (RFC 8200, section 5).
const IPV6: u64 = 1280;

/// The oldest kernel in which the sizes of windows belong to a namespace.
const KERNEL: (u32, u32) = (4, 15);

/// What is missing on this machine, or went wrong.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Not enough privileges.
    #[error(
        "a link needs {missing}, which this process does not have: run it as root (sudo), in a container with \
         --cap-add NET_ADMIN --cap-add SYS_ADMIN"
    )]
    Privileges {
        /// The capabilities.
        missing: String,
    },
    /// No TUN devices.
    #[error(
        "{TUN}: {0}. A link needs TUN devices: load the module (modprobe tun), and in a container share the device \
         (--device {TUN})"
    )]
    Tun(io::Error),
    /// Too old, or unknown.
    #[error(
        "this kernel is {0}, and a link needs Linux {major}.{minor} or later",
        major = KERNEL.0,
        minor = KERNEL.1
    )]
    Kernel(String),
    /// The command `ip` is not there.
    #[error("ip: {0}. A link is set up with this command: install the package iproute2")]
    Ip(io::Error),
    /// The command `ip` refused.
    #[error("`ip {command}` failed: {reason}")]
    Refused {
        /// What was asked.
        command: String,
        /// What it said.
        reason: String,
    },
    /// A namespace cannot be entered.
    #[error("{0}")]
    End(#[from] EndError),
    /// A file of the system could not be used.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// Why.
        error: io::Error,
    },
}

/// How many packets the device at this end has dropped because the link did not read them in time; `None` if there is no
/// device, as when the process of the link has ended.
///
/// # Errors
/// If the namespace is not there.
pub fn unseen(end: End) -> Result<Option<u64>, MachineError> {
    let table = end.inside(|| read("/proc/thread-self/net/dev"))?;
    Ok(transmit_drops(&table, DEVICE))
}

/// The packets that `device` dropped instead of sending them: proc(5), the twelfth number of its line.
fn transmit_drops(table: &str, device: &str) -> Option<u64> {
    let numbers = table.lines().find_map(|line| {
        let (name, numbers) = line.split_once(':')?;
        (name.trim() == device).then_some(numbers)
    })?;
    numbers.split_whitespace().nth(11)?.parse().ok()
}

/// Is everything there that a link needs?
///
/// # Errors
/// What is missing, and what to do about it.
pub fn check() -> Result<(), MachineError> {
    check_kernel(KERNEL).map_err(MachineError::Kernel)?;
    check_privileges()?;
    File::options().read(true).write(true).open(TUN).map_err(MachineError::Tun)?;
    ip(&["-Version"]).map(drop)
}

/// May this process make namespaces and devices?
///
/// # Errors
/// The capabilities that are missing.
pub fn check_privileges() -> Result<(), MachineError> {
    let needed =
        [(CapabilitySet::NET_ADMIN, "CAP_NET_ADMIN"), (CapabilitySet::SYS_ADMIN, "CAP_SYS_ADMIN")];
    check_capabilities(&needed).map_err(|missing| MachineError::Privileges { missing })
}

/// Makes both namespaces, in which devices will find their settings.
///
/// # Errors
/// If there are such namespaces already, or the kernel refuses.
pub fn make_namespaces(settings: &Settings) -> Result<(), MachineError> {
    for end in End::BOTH {
        ip(&["netns", "add", end.namespace()])?;
        ip(&["-netns", end.namespace(), "link", "set", "dev", "lo", "up"])?;
        end.inside(|| tune(settings.window()))?;
    }
    Ok(())
}

/// Gives the devices, which the link has made, their addresses.
///
/// # Errors
/// If `ip` refuses.
pub fn set_addresses(settings: &Settings) -> Result<(), MachineError> {
    let size = settings.packet.0.to_string();
    for end in End::BOTH {
        let here = ["-netns", end.namespace()];
        let each = |rest: &[&str]| ip(&[&here[..], rest].concat()).map(drop);
        each(&["link", "set", "dev", DEVICE, "mtu", &size, "txqueuelen", WAITING])?;
        each(&["address", "add", &format!("{}/30", end.v4()), "dev", DEVICE])?;
        each(&["link", "set", "dev", DEVICE, "up"])?;
        if has_v6(settings) {
            each(&["address", "add", &format!("{}/64", end.v6()), "dev", DEVICE])?;
        }
    }
    Ok(())
}

/// Is there IPv6? Not where packets are too short for it, or the kernel has none.
pub fn has_v6(settings: &Settings) -> bool {
    settings.packet.0 >= IPV6 && PathBuf::from("/proc/sys/net/ipv6").exists()
}

/// Lets windows grow until they fill the link twice over, each connection on its own, and keeps the kernel itself quiet.
fn tune(window: Bytes) -> Result<(), MachineError> {
    // A window of so many bytes takes up to twice as much memory, and must not be what limits a flow.
    let most = window.0.saturating_mul(4).clamp(LEAST_WINDOW, MOST_WINDOW);
    let settings = [
        ("ipv4/tcp_rmem", format!("4096 131072 {most}")),
        ("ipv4/tcp_wmem", format!("4096 16384 {most}")),
        // What one connection learned must not decide how the next one begins.
        ("ipv4/tcp_no_metrics_save", "1".into()),
        ("ipv6/conf/default/accept_ra", "0".into()),
        ("ipv6/conf/default/router_solicitations", "0".into()),
        ("ipv6/conf/default/addr_gen_mode", "1".into()),
    ];
    for (name, value) in settings {
        let path = format!("/proc/sys/net/{name}");
        match fs::write(&path, value) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && name.starts_with("ipv6") => {}
            result => result.map_err(|error| MachineError::File { path, error })?,
        }
    }
    Ok(())
}

/// Removes both namespaces, as far as they are there. Returns their names, and the processes that are still inside.
///
/// # Errors
/// If `ip` refuses.
pub fn remove_namespaces() -> Result<(Vec<&'static str>, Vec<String>), MachineError> {
    let (mut removed, mut inside) = (Vec::new(), Vec::new());
    for end in End::BOTH.into_iter().filter(|end| end.exists()) {
        let name = end.namespace();
        // One that is only half there has no processes that could be listed.
        if let Ok(output) = ip(&["netns", "pids", name]) {
            inside.extend(output.split_whitespace().map(str::to_owned));
        }
        ip(&["netns", "delete", name])?;
        removed.push(name);
    }
    Ok((removed, inside))
}

/// Runs `ip` and returns what it prints.
fn ip(arguments: &[&str]) -> Result<String, MachineError> {
    let run = Command::new("ip").args(arguments).output().map_err(MachineError::Ip)?;
    let Output { status, stdout, stderr } = run;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let command = arguments.join(" ");
    let reason = String::from_utf8_lossy(&stderr).trim().to_owned();
    Err(MachineError::Refused { command, reason })
}

fn read(path: &str) -> Result<String, MachineError> {
    fs::read_to_string(path).map_err(|error| MachineError::File { path: path.into(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_found_in_the_table_of_devices() {
        let table = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
longfat: 123 4    0    5    0     0          0         0   678  9    0    42    0     0       0          0
";
        assert_eq!(transmit_drops(table, "longfat"), Some(42));
        assert_eq!(transmit_drops(table, "lo"), Some(0));
        assert_eq!(transmit_drops(table, "eth0"), None);
    }
}
