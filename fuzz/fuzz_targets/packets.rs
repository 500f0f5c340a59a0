//! Whatever frames a program hands to the device of a real link, with any offload header, leave it whole or not at all: the
//! property of `live/link/tests/packets.rs`, with the choice left to the fuzzer.

#![no_main]

#[cfg(target_os = "linux")]
#[path = "../../live/link/tests/support/carried.rs"]
mod carried;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // Only Linux has such devices.
    #[cfg(target_os = "linux")]
    carried::carry(data);
    #[cfg(not(target_os = "linux"))]
    let _ = data;
});
