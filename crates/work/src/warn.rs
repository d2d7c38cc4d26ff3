//! Warns the client that sent the request of this thread.

use std::sync::Arc;

use crate::current::with_current;
use crate::warnings::Warnings;

/// Adds a warning for the client of this thread's request. Does nothing without a request, for example when
/// an index is opened at startup.
pub fn warn(text: impl Into<String>) {
    if let Some(warnings) = with_current(|current| current.work.warnings.clone()).flatten() {
        warnings.add(text.into());
    }
}

/// Warns about a body's member that has another name now.
pub fn warn_renamed(given: &str, expected: &str) {
    warn(format!("Deprecated field [{given}] used, expected [{expected}] instead"));
}

/// Warns about a body's member that will be removed.
pub fn warn_unused(given: &str) {
    warn(format!("Deprecated field [{given}] used, this field is unused and will be removed entirely"));
}

/// Returns the warnings of this thread's request, for another part of it.
pub fn warnings() -> Option<Arc<Warnings>> {
    with_current(|current| current.work.warnings.clone()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Work;
    use crate::warnings::{BYTES_MAX, COUNT_MAX};

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
