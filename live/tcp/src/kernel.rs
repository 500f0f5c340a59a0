//! The program in the kernel: what it needs, how it is loaded, what is shared with it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libbpf_rs::{
    ErrorKind, Link, MapCore, MapHandle, Object, ObjectBuilder, PrintLevel, RingBufferBuilder,
};
use longfat_live::machine::{check_capabilities, check_kernel};
use longfat_tcp_host::SLOTS;
use rustix::thread::CapabilitySet;

use crate::decisions::Decisions;
use crate::spare::{self, Carriers, SpareError};

/// What `setsockopt(TCP_CONGESTION)` calls it.
pub(crate) const NAME: &str = "longfat";

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/control.o"));
/// What the kernel says of its own types, without which no program finds its way in them.
const TYPES: &str = "/sys/kernel/btf/vmlinux";
/// The oldest kernel whose `cong_control` has four arguments.
const KERNEL: (u32, u32) = (6, 10);
/// How long to wait for reports before signals are looked at.
const LOOK: Duration = Duration::from_millis(100);
const INTERRUPTED: i32 = -rustix::io::Errno::INTR.raw_os_error();

/// What is missing on this machine, or went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KernelError {
    /// Too old, or unknown.
    #[error(
        "this kernel is {0}, and controllers in TCP need Linux {major}.{minor} or later",
        major = KERNEL.0,
        minor = KERNEL.1
    )]
    Old(String),
    /// Without its types.
    #[error("{TYPES} is not there: a kernel with CONFIG_DEBUG_INFO_BTF is needed")]
    NoTypes,
    /// Not enough privileges.
    #[error(
        "a controller in TCP needs {0}, which this process does not have: run it as root (sudo), outside of user namespaces"
    )]
    Privileges(String),
    /// Another one runs.
    #[error(
        "a congestion control called {NAME} is there already: end the other longfat-tcp, of which one can run at a time"
    )]
    Already,
    /// The name of a law is taken.
    #[error(
        "a congestion control called {0} is there already: `longfat kernel list` shows those that are installed"
    )]
    Taken(String),
    /// Refused.
    #[error("the kernel does not take the program: {0}")]
    Refused(#[from] libbpf_rs::Error),
    /// The array could not be mapped.
    #[error("the decisions cannot be shared with the kernel: {0}")]
    Mapping(io::Error),
    /// The program is not what this one expects.
    #[error("the program for the kernel and this one do not fit together: build both anew")]
    Unfit,
    /// The bit of AntiECN cannot be carried.
    #[error(transparent)]
    Spare(#[from] SpareError),
    /// Reports ended.
    #[error("reports of the kernel cannot be read: {0}")]
    Reports(io::Error),
}

/// Is everything there?
///
/// # Errors
/// What is missing, and what to do about it.
pub(crate) fn check() -> Result<(), KernelError> {
    check_kernel(KERNEL).map_err(KernelError::Old)?;
    if !Path::new(TYPES).exists() {
        return Err(KernelError::NoTypes);
    }
    let needed = [
        (CapabilitySet::BPF, "CAP_BPF"),
        (CapabilitySet::PERFMON, "CAP_PERFMON"),
        (CapabilitySet::NET_ADMIN, "CAP_NET_ADMIN"),
    ];
    check_capabilities(&needed).map_err(KernelError::Privileges)
}

/// What the kernel finds wrong with a program fills pages; errors say what matters.
pub(crate) fn quiet() {
    if std::env::var_os("LONGFAT_TCP_VERBOSE").is_none() {
        libbpf_rs::set_print(Some((PrintLevel::Warn, |_, _| {})));
    }
}

/// Is this where the constants of the program are, of which `reads_spare` is the only one?
fn is_constants(map: &OsStr) -> bool {
    map.as_encoded_bytes().ends_with(b".rodata")
}

/// The program, for as long as it is registered. Flows that have it keep it after that, and go by Reno.
#[derive(Debug)]
pub(crate) struct Kernel {
    reports: MapHandle,
    pub(crate) decisions: Decisions,
    _carriers: Option<Carriers>,
    _link: Link,
    _object: Object,
}

impl Kernel {
    /// Loads the program, and registers it as a congestion control called [`NAME`]. With `reads_spare` data carries the
    /// bit of AntiECN, and the ends of the link return it.
    ///
    /// # Errors
    /// What is missing, or what the kernel says.
    pub(crate) fn load(reads_spare: bool) -> Result<Self, KernelError> {
        check()?;
        quiet();
        let mut opened = ObjectBuilder::default().open_memory(PROGRAM)?;
        let mut constants = opened.maps_mut().find(|map| is_constants(map.name()));
        let flag = constants.as_mut().and_then(|map| map.initial_value_mut());
        let flag = flag.and_then(<[u8]>::first_chunk_mut::<4>).ok_or(KernelError::Unfit)?;
        *flag = u32::from(reads_spare).to_ne_bytes();
        for mut program in opened.progs_mut() {
            if program.name().to_str().is_some_and(spare::carries) {
                program.set_autoload(reads_spare);
            }
        }
        let mut object = opened.load()?;
        let decisions = object.maps().find(|map| map.name() == "decisions");
        let decisions = decisions.ok_or(KernelError::Unfit)?;
        if (decisions.value_size() as usize, decisions.max_entries()) != (Decisions::EACH, SLOTS) {
            return Err(KernelError::Unfit);
        }
        let decisions = Decisions::map(decisions.as_fd()).map_err(KernelError::Mapping)?;
        let reports = object.maps().find(|map| map.name() == "reports");
        let reports = MapHandle::try_from(&reports.ok_or(KernelError::Unfit)?)?;
        let operations = object.maps_mut().find(|map| map.name() == NAME);
        let link = operations.ok_or(KernelError::Unfit)?.attach_struct_ops();
        let link = link.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => KernelError::Already,
            _ => error.into(),
        })?;
        let carriers = reads_spare.then(|| Carriers::attach(&object)).transpose()?;
        Ok(Self { reports, decisions, _carriers: carriers, _link: link, _object: object })
    }

    /// Passes each report to `hear`, until `ended`.
    ///
    /// # Errors
    /// If the ring buffer cannot be read.
    pub(crate) fn listen(
        &self,
        ended: &AtomicBool,
        mut hear: impl FnMut(&[u8]),
    ) -> Result<(), KernelError> {
        let mut ring = RingBufferBuilder::new();
        ring.add(&self.reports, |bytes| {
            hear(bytes);
            0
        })?;
        let ring = ring.build()?;
        while !ended.load(Ordering::Relaxed) {
            let read = ring.poll_raw(LOOK);
            if read < 0 && read != INTERRUPTED {
                return Err(KernelError::Reports(io::Error::from_raw_os_error(-read)));
            }
        }
        Ok(())
    }
}
