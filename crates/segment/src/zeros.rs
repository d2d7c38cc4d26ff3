//! Scratch memory: "zeros, in pages that the process has already."

/// Zeros written by hand: asked for much zeroed memory (`alloc_zeroed`, which `vec![0; len]` calls), jemalloc
/// gives pages it holds back to the system to have them faulted in anew.
pub fn zeros<T: Copy + Default>(len: usize) -> Vec<T> {
    let mut zeros = Vec::with_capacity(len);
    zeros.resize(len, T::default());
    zeros
}
