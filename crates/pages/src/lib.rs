#![doc = include_str!("../README.md")]
#![cfg_attr(
    any(target_os = "linux", target_arch = "x86_64"),
    expect(unsafe_code, reason = "the kernel and the processor are told of memory by its address")
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

/// Bytes in a line of the caches.
const LINE: usize = 64;

/// Asks for the lines of the caches in which every 64th byte of a value lies, so that they are at hand soon: all of its
/// lines, if it begins where one does. What it refers to is not asked for.
///
/// It does not wait for them, once the processor has found the page in the page table, which is why large networks lie in
/// large pages. Nothing else changes; on processors other than x86-64 nothing at all.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for byte in (0..size_of_val(value)).step_by(LINE) {
        prefetch_line(std::ptr::from_ref(value).cast::<u8>().wrapping_add(byte));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, LINE);
}

/// The same for the line in which it begins alone.
#[inline]
pub fn prefetch_start<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    prefetch_line(std::ptr::from_ref(value).cast());
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch_line(byte: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    // SAFETY: The instruction is part of SSE, which x86-64 always has. It takes any address: it reads nothing that the
    // program could see, and where there is no memory it does nothing.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(byte.cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_for_a_value_changes_nothing() {
        let values: Vec<u64> = (0..1000).collect();
        let shown: &dyn std::fmt::Debug = &values;
        prefetch(values.as_slice());
        prefetch(shown);
        prefetch(&[0_u8; 0]);
        prefetch(&());
        prefetch("text");
        prefetch_start(shown);
        prefetch_start(&[(); 3]);
        assert!(values.into_iter().eq(0..1000));
    }

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
