//! Scratch memory: zeros in pages that the process already has.

/// Returns zeros that are written one by one. For a large `alloc_zeroed`, which `vec![0; len]` calls,
/// jemalloc returns pages it holds to the system and has them faulted in again.
pub fn zeros<T: Copy + Default>(len: usize) -> Vec<T> {
    let mut zeros = Vec::with_capacity(len);
    zeros.resize(len, T::default());
    zeros
}
