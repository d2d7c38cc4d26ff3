//! Fences detect a panic in a part of a shard's work that must not stop halfway.

use limber_mapping::RequestError;

use super::core::Core;

/// Held during steps that would leave the core in an invalid state if a panic interrupted them. In that case
/// the core fails: it accepts no more writes, commits nothing, and the shard recovers from disk.
pub(super) struct Fence<'c> {
    core: &'c Core,
    what: &'static str,
}

impl<'c> Fence<'c> {
    /// Begins the steps. `what` names them in the log and in errors after a panic, such as "a write".
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
