//! AntiECN's bit at the ends of the link: three programs on its devices, which end with this process.
//!
//! They are attached by links of the kernel (tcx, Linux 6.6) that are held open here and pinned nowhere, so they are gone
//! when this process is, however it ends. What they do is in `spare.h`.
#![expect(unsafe_code, reason = "libbpf-rs has no call that attaches programs by tcx")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null;

use libbpf_rs::Object;
use libbpf_rs::libbpf_sys;
use longfat_live::{End, EndError};
use rustix::net::{AddressFamily, SocketType, netdevice::name_to_index, socket};

/// The device at either end of the link.
const DEVICE: &str = "longfat";

/// Which program belongs where.
const PROGRAMS: [(&str, End, libbpf_sys::bpf_attach_type); 3] = [
    ("longfat_note", End::B, libbpf_sys::BPF_TCX_INGRESS),
    ("longfat_answer", End::B, libbpf_sys::BPF_TCX_EGRESS),
    ("longfat_hear", End::A, libbpf_sys::BPF_TCX_INGRESS),
];

/// Why the bit cannot be carried.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpareError {
    /// There is no link.
    #[error(
        "{0}. This controller reads the AntiECN bit, which is carried over a link of longfat only: make one with \
         `longfat link up`"
    )]
    End(#[from] EndError),
    /// The kernel refuses.
    #[error("{program} cannot be attached at {end}: {error}")]
    Attach {
        /// Which program.
        program: &'static str,
        /// The namespace.
        end: &'static str,
        /// Why.
        error: io::Error,
    },
    /// The program is not what this one expects.
    #[error("the program for the kernel has no part called {0}: build it anew")]
    Missing(&'static str),
}

/// The programs that are attached, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Carriers(#[expect(dead_code, reason = "held open, never read")] Vec<OwnedFd>);

/// Is this one of the programs that carry the bit?
pub(crate) fn carries(program: &str) -> bool {
    PROGRAMS.iter().any(|(name, ..)| *name == program)
}

impl Carriers {
    /// Attaches the programs of `object` to the devices of the link.
    ///
    /// # Errors
    /// If there is no link, or the kernel refuses.
    pub(crate) fn attach(object: &Object) -> Result<Self, SpareError> {
        let attached = PROGRAMS.map(|(name, end, kind)| {
            let program = object.progs().find(|program| program.name() == name);
            let program = program.ok_or(SpareError::Missing(name))?;
            let program = program.as_fd();
            end.inside(|| {
                link(program.as_raw_fd(), kind).map_err(|error| SpareError::Attach {
                    program: name,
                    end: end.namespace(),
                    error,
                })
            })
        });
        attached.into_iter().collect::<Result<_, _>>().map(Self)
    }
}

/// Attaches a program to the device of the namespace that this thread is in.
fn link(program: i32, kind: libbpf_sys::bpf_attach_type) -> io::Result<OwnedFd> {
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let device = name_to_index(&any, DEVICE)?;
    // SAFETY: it only makes a system call; no options are a null pointer.
    let made = unsafe { libbpf_sys::bpf_link_create(program, device.cast_signed(), kind, null()) };
    if made < 0 {
        return Err(io::Error::from_raw_os_error(-made));
    }
    // SAFETY: the descriptor is new, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}
