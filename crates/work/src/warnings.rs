//! What a request is told beside its answer: "this form is deprecated".
//!
//! Elasticsearch answers with a header `Warning` for each of them (`HeaderWarning`, `DeprecationLogger`).

use std::sync::{Mutex, PoisonError};

/// Warnings of one answer. Python's client refuses an answer with more than 100 headers.
pub(crate) const COUNT_MAX: usize = 64;
/// Bytes of all warnings of one answer: clients give the head of an answer 8 KiB at least.
pub(crate) const BYTES_MAX: usize = 6 << 10;

/// The warnings of one request, whichever of its threads gave them. What goes beyond the bounds is left out.
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

    /// Each once, in the order in which they were given.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
