//! Asking for memory without waiting for it.
//!
//! A read waits, and where each step of the way to a value is read from memory, the waits add up. A processor takes the
//! request for a cache line and goes on, once it has found the page in the page table: that is why large networks lie in
//! large pages (`longfat-pages`).

/// Asks for the cache line in which a value begins, so that it is at hand soon. Nothing else changes; on processors other
/// than x86-64 nothing at all.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
    safe_arch::prefetch_t0(value);
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse")))]
    let _ = value;
}
