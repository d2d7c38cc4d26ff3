//! Fences: "this part of a shard's work must not stop half-way".

use limber_mapping::RequestError;

use super::core::Core;

/// Held over steps that leave the core in no state to go on from when they are cut short by a panic: the core
/// fails then, takes no more writes, commits nothing, and the shard recovers from disk.
pub(super) struct Fence<'c> {
    core: &'c Core,
    what: &'static str,
}

impl<'c> Fence<'c> {
    /// `what` panicked, in the words of the log and of those who wait: "a write".
    pub(super) fn new(core: &'c Core, what: &'static str) -> Fence<'c> {
        Fence { core, what }
    }
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let why = format!("{} panicked; the shard recovers from disk", self.what);
            tracing::error!(why, "shard failed");
            self.core.fail(RequestError::internal("engine_exception", why));
        }
    }
}
