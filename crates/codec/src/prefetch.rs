//! Hints to the processor: "this will be read soon".

/// Makes the processor fetch `values[at]` in the background; `at` may be out of bounds.
#[inline(always)]
pub fn prefetch<T>(values: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint; it reads nothing and faults at no address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, at);
}

/// Bytes that are fetched at once; the processor prefetches what follows by itself.
const START_BYTES: usize = 768;
const LINE_BYTES: usize = 64;

/// Makes the processor fetch the start of `bytes` in the background.
#[inline]
pub fn prefetch_start(bytes: &[u8]) {
    (0..bytes.len().min(START_BYTES)).step_by(LINE_BYTES).for_each(|at| prefetch(bytes, at));
}
