//! Warnings that accompany a response, such as "this form is deprecated".
//!
//! Elasticsearch sends a header `Warning` for each of them (`HeaderWarning`, `DeprecationLogger`).

use std::sync::{Mutex, PoisonError};

/// Maximum number of warnings per response. Python's client refuses a response with more than 100 headers.
pub(crate) const COUNT_MAX: usize = 64;
/// Maximum bytes of all warnings of one response: clients accept at least 8 KiB of headers.
pub(crate) const BYTES_MAX: usize = 6 << 10;

/// The warnings of one request, from all of its threads. Warnings beyond the limits are dropped.
#[derive(Debug, Default)]
pub struct Warnings {
    texts: Mutex<Vec<String>>,
}

impl Warnings {
    pub(crate) fn add(&self, text: String) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: usize = texts.iter().map(String::len).sum();
        if texts.len() < COUNT_MAX && bytes + text.len() <= BYTES_MAX && !texts.contains(&text) {
            texts.push(text);
        }
    }

    /// Returns the warnings without duplicates, in the order in which they were given.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
