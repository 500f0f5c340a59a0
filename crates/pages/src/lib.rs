#![doc = include_str!("../README.md")]
#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "a call of the kernel about memory, which takes its address")
)]

/// Bytes in a large page, where there are any: x86-64, and 64-bit ARM with small pages of 4 kB.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// An empty vector with room for `count` values, in large pages if it fills some and the kernel has them
/// (`/sys/kernel/mm/transparent_hugepage/enabled` says `always` or `madvise`). Elsewhere it is a vector like any other,
/// and it always behaves like one: only how long it takes to reach a value differs.
///
/// # Panics
/// If that is more than a vector can hold, as [`Vec::with_capacity`].
pub fn with_capacity<T>(count: usize) -> Vec<T> {
    #[cfg_attr(not(target_os = "linux"), expect(unused_mut, reason = "only Linux is told"))]
    let mut values = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    prefer_large_pages(values.spare_capacity_mut());
    values
}

/// A vector of so many times the same `value`, made [`with_capacity`].
pub fn filled<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut values = with_capacity(count);
    values.resize(count, value);
    values
}

/// Asks the kernel for large pages behind memory that holds nothing yet (madvise(2), `MADV_HUGEPAGE`). It may refuse.
#[cfg(target_os = "linux")]
fn prefer_large_pages<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    use rustix::mm::{Advice, madvise};

    let bytes = size_of_val(memory);
    let begin = memory.as_mut_ptr().cast::<u8>();
    // The advice must begin at a page; only large pages that lie inside matter.
    let before = begin.align_offset(LARGE);
    let whole = bytes.saturating_sub(before) / LARGE * LARGE;
    if whole == 0 {
        return;
    }
    let begin = begin.wrapping_add(before);
    // SAFETY: `before + whole` is at most `bytes`, so the range lies within `memory`, which nobody else can reach while it
    // is borrowed. This advice changes neither what memory holds nor who may use it, only what pages it is made of.
    let _refused = unsafe { madvise(begin.cast(), whole, Advice::LinuxHugepage) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_vector_like_any_other() {
        for count in [0, 1, 1000, 3_000_000] {
            let mut values = with_capacity(count);
            assert!(values.is_empty() && values.capacity() >= count);
            values.extend(0..count as u64 + 10);
            assert!(values.iter().copied().eq(0..count as u64 + 10), "{count} values and ten more");
        }
        assert_eq!(with_capacity::<()>(7).len(), 0);
        assert_eq!(filled('x', 300), ['x'; 300]);
    }

    /// The flags of each mapping are in `/proc/self/smaps` (proc(5)): `hg` is the advice.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_has_been_told_of_a_large_one() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage/enabled").exists() {
            return;
        }
        let mut large: Vec<u64> = with_capacity(16 * LARGE / 8);
        large.push(1);
        let small: Vec<u8> = with_capacity(LARGE / 2);
        assert!(is_advised(large.as_ptr().wrapping_add(8 * LARGE / 8).addr()));
        assert!(!is_advised(small.as_ptr().addr()));
    }

    #[cfg(target_os = "linux")]
    fn is_advised(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("a process may read its own");
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let range = range.and_then(|(from, to)| {
                Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
            });
            if let Some(range) = range {
                inside = range.contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return flags.split(' ').any(|flag| flag == "hg");
            }
        }
        panic!("{address:x} is in no mapping");
    }
}
