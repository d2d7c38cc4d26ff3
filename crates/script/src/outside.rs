//! What a script may know besides its document and its parameters: the time, and random numbers.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock and the random numbers of scripts.
pub trait Outside: Debug + Send + Sync {
    /// Returns the wall clock in milliseconds since 1970.
    fn now_millis(&self) -> i64;

    /// Returns 64 random bits.
    fn random_bits(&self) -> u64;
}

/// The machine's clock and random numbers, for scripts that no node compiled.
#[derive(Debug)]
pub(crate) struct OfMachine;

impl Outside for OfMachine {
    fn now_millis(&self) -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
    }

    fn random_bits(&self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}
