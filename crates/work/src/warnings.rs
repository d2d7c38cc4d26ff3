//! What a request is told beside its answer: "this form is deprecated".
//!
//! Elasticsearch answers with a header `Warning` for each of them (`HeaderWarning`, `DeprecationLogger`).

use std::sync::{Arc, Mutex, PoisonError};

use crate::current::with_current;

/// Warnings of one answer. Python's client refuses an answer with more than 100 headers.
const COUNT_MAX: usize = 64;
/// Bytes of all warnings of one answer: clients give the head of an answer 8 KiB at least.
const BYTES_MAX: usize = 6 << 10;

/// The warnings of one request, whichever of its threads gave them. What goes beyond the bounds is left out.
#[derive(Debug, Default)]
pub struct Warnings {
    texts: Mutex<Vec<String>>,
}

impl Warnings {
    fn add(&self, text: String) {
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

/// Warns whoever sent the request of this thread; without a request, as when an index is opened at the start,
/// nobody.
pub fn warn(text: impl Into<String>) {
    if let Some(warnings) = with_current(|current| current.work.warnings.clone()).flatten() {
        warnings.add(text.into());
    }
}

/// Warns of a member of a body that has another name now.
pub fn warn_renamed(given: &str, expected: &str) {
    warn(format!("Deprecated field [{given}] used, expected [{expected}] instead"));
}

/// Warns of a member of a body that is to go.
pub fn warn_unused(given: &str) {
    warn(format!("Deprecated field [{given}] used, this field is unused and will be removed entirely"));
}

/// The warnings of the request of this thread, for another part of it.
pub fn warnings() -> Option<Arc<Warnings>> {
    with_current(|current| current.work.warnings.clone()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Work;

    #[test]
    fn warnings_reach_the_request_within_bounds() {
        warn("nobody asked");
        let own = Arc::new(Warnings::default());
        let work = Work { warnings: Some(own.clone()), ..Work::default() };
        let _entered = work.clone().enter();
        warn_renamed("a", "b");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _entered = work.clone().enter();
                warn_unused("a");
                warn_renamed("a", "b");
            });
        });
        let told = own.take();
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0], "Deprecated field [a] used, expected [b] instead");
        (0..1000).for_each(|n| warn(format!("{n}")));
        assert_eq!(own.take().len(), COUNT_MAX);
        warn("x".repeat(BYTES_MAX + 1));
        warn("short");
        assert_eq!(own.take(), ["short"]);
    }
}
