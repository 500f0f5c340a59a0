//! TUN devices: the border to the kernel.
//!
//! A TUN device is an interface whose packets a process reads and writes. It lives as long as its file: a process that
//! ends, in whatever way, takes it along.
#![expect(unsafe_code, reason = "devices are configured by ioctl, whose arguments have no types")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;
use rustix::ioctl::{IntegerSetter, Opcode, Setter, ioctl, opcode};

/// Where TUN devices come from.
pub const TUN: &str = "/dev/net/tun";

/// From `linux/if_tun.h`.
const SET_INTERFACE: Opcode = opcode::write::<libc::c_int>(b'T', 202);
const SET_OFFLOAD: Opcode = opcode::write::<libc::c_uint>(b'T', 208);
const SET_HEADER_SIZE: Opcode = opcode::write::<libc::c_int>(b'T', 216);
const SET_LITTLE_ENDIAN: Opcode = opcode::write::<libc::c_int>(b'T', 220);

/// The length of an [`Offload`](crate::packet::Offload), for the kernel.
const HEADER_SIZE: libc::c_int = 10;

const CHECKSUM: usize = 0x01;
const TCP: usize = 0x02 | 0x04 | 0x08;
const UDP: usize = 0x20 | 0x40;

/// The longest name of an interface, with the zero at its end.
const NAME: usize = 16;

/// The `ifreq` of netdevice(7), as far as `TUNSETIFF` reads it; the rest is padding that the kernel copies.
#[repr(C)]
#[derive(Debug)]
struct InterfaceRequest {
    name: [u8; NAME],
    flags: libc::c_short,
    padding: [u8; 22],
}

const _: () = assert!(HEADER_SIZE as usize == crate::packet::OFFLOAD);
const _: () = assert!(size_of::<InterfaceRequest>() == size_of::<libc::ifreq>());

/// Makes the TUN device `name` in the network namespace of this thread. Reading never waits; each packet has an offload
/// header in front, and super-segments of TCP, and of UDP where the kernel can, stay whole.
///
/// # Errors
/// If the name is too long, or the kernel refuses: there is such a device already, or a capability is missing.
pub fn open(name: &str) -> io::Result<File> {
    if name.len() >= NAME {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name is too long"));
    }
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(TUN)?;
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    let mut request = InterfaceRequest { name: [0; NAME], flags, padding: [0; 22] };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: `TUNSETIFF` reads an `ifreq`, and this has its size and layout. The kernel writes the name back into
    // memory that lives until the call returns.
    let setter = unsafe { Setter::<SET_INTERFACE, InterfaceRequest>::new(request) };
    // SAFETY: the opcode fits the argument, as above.
    unsafe { ioctl(file.as_fd(), setter) }?;
    set_number::<SET_HEADER_SIZE>(&file, HEADER_SIZE)?;
    set_number::<SET_LITTLE_ENDIAN>(&file, 1)?;
    // Kernels before 6.2 cannot leave super-segments of UDP whole, and say so.
    set_offload(&file, CHECKSUM | TCP | UDP).or_else(|_| set_offload(&file, CHECKSUM | TCP))?;
    Ok(file)
}

/// For requests that take the address of an `int`.
fn set_number<const REQUEST: Opcode>(file: &File, value: libc::c_int) -> rustix::io::Result<()> {
    // SAFETY: both requests of this kind, for the size and the order of bytes of the offload header, read an `int`.
    let setter = unsafe { Setter::<REQUEST, libc::c_int>::new(value) };
    // SAFETY: the opcode fits the argument, as above.
    unsafe { ioctl(file.as_fd(), setter) }
}

fn set_offload(file: &File, flags: usize) -> rustix::io::Result<()> {
    // SAFETY: `TUNSETOFFLOAD` takes its flags as the argument itself; unknown ones are refused.
    let setter = unsafe { IntegerSetter::<SET_OFFLOAD>::new_usize(flags) };
    // SAFETY: the opcode fits the argument, as above.
    unsafe { ioctl(file.as_fd(), setter) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        let error = open("longfat-0123456789").expect_err("it has 18 letters");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_device_is_made_and_goes_with_its_file() {
        let here = |name: &str| {
            let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
            devices.lines().any(|line| line.trim_start().starts_with(&format!("{name}:")))
        };
        let name = format!("lf{}", std::process::id());
        let file = match open(&name) {
            Ok(file) => file,
            Err(error) => {
                eprintln!("skipped: no TUN device can be made here: {error}");
                return;
            }
        };
        assert!(here(&name));
        // A second one of that name is refused.
        assert!(open(&name).is_err());
        drop(file);
        assert!(!here(&name));
    }
}
