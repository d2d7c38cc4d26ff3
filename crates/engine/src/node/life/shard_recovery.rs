//! Failed shards: "is it worth opening this shard again now?"
//!
//! A disk failure may be temporary, so the shard is opened again: first at once, then after pauses that
//! double. Damage is permanent: a shard that fails to open because of damage is left alone until its index is
//! opened again, so that its translog is not read needlessly.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_mapping::RequestError;
use limber_store::sync::Mutex;

use crate::node::Node;
use crate::shard::Shard;

/// The pause after the first failed attempt.
const PAUSE_MIN_MS: u64 = 1_000;
const PAUSE_MAX_MS: u64 = 300_000;

/// The result of the last attempt to open a shard.
#[derive(Debug, Clone)]
struct Attempt {
    error: RequestError,
    pause_ms: u64,
    /// When the next attempt may be made, by the monotonic clock.
    next_ms: u64,
}

/// The shards that failed to open, by UUID and ordinal.
#[derive(Default)]
pub(in crate::node) struct Recoveries {
    attempts: Mutex<HashMap<(Arc<str>, u32), Attempt>>,
}

/// Whether the failure is damage or a newer version, so that another attempt would fail in the same way.
pub(in crate::node) fn is_damage(error: &RequestError) -> bool {
    matches!(error.kind, "corrupt_index_exception" | "corrupt_state_exception" | "illegal_state_exception")
        || error.caused_by.as_deref().is_some_and(is_damage)
}

impl Node {
    /// Tries to open failed shards whose pause is over. Tests without threads call it too.
    pub fn recovery_round(&self) {
        self.recover_shards(false);
        self.retry_indices();
    }

    /// Tries to open failed shards at once (`_cluster/reroute?retry_failed`). Damaged ones are left alone.
    pub fn retry_failed_shards(&self) {
        self.recover_shards(true);
        self.retry_indices();
    }

    /// Tries to open failed shards. `at_once` ignores the pauses.
    pub(in crate::node) fn recover_shards(&self, at_once: bool) {
        let shards = self.shards();
        self.recoveries.attempts.lock().retain(|(uuid, number), _| {
            shards.iter().any(|shard| shard.index.uuid == *uuid && shard.number == *number)
        });
        for shard in shards {
            self.recover_if_failed(&shard, at_once);
        }
    }

    fn recover_if_failed(&self, shard: &Shard, at_once: bool) {
        let closed = || self.closed.load(Ordering::Acquire);
        let key = (shard.index.uuid.clone(), shard.number);
        let Some(failure) = shard.failure() else {
            self.recoveries.attempts.lock().remove(&key);
            return;
        };
        let now_ms = self.environment.clock.monotonic_millis();
        let last = self.recoveries.attempts.lock().get(&key).cloned();
        let is_due = match &last {
            // No attempt was made yet. A shard that was open when it failed is tried whatever the reason; one
            // that failed to open at the start has already reported damage.
            None => shard.core().is_ok() || !is_damage(&failure),
            Some(last) => !is_damage(&last.error) && (at_once || now_ms >= last.next_ms),
        };
        // Replay and the new translog need a little space.
        const ROOM_BYTES: u64 = 1 << 20;
        let space = self.environment.space_at(shard.directory.path());
        let has_room = space.is_none_or(|space| space.available_bytes >= ROOM_BYTES);
        if !is_due || !has_room || closed() {
            return;
        }
        match shard.open() {
            Ok(()) => {
                self.recoveries.attempts.lock().remove(&key);
                tracing::info!(index = %shard.index.name, shard = shard.number, "shard recovered from disk");
            }
            // Its index was closed meanwhile, and may have been opened again with another shard.
            Err(_) if shard.is_closed() => {}
            Err(error) => {
                let pause_ms = last.map_or(PAUSE_MIN_MS, |last| (2 * last.pause_ms).min(PAUSE_MAX_MS));
                let next_ms = self.environment.clock.monotonic_millis() + pause_ms;
                match is_damage(&error) {
                    true => {
                        tracing::error!(index = %shard.index.name, shard = shard.number, %error, "shard is damaged")
                    }
                    false => tracing::warn!(
                        index = %shard.index.name, shard = shard.number, %error, again_ms = pause_ms,
                        "shard not recovered yet"
                    ),
                }
                self.recoveries.attempts.lock().insert(key, Attempt { error, pause_ms, next_ms });
            }
        }
    }

    /// Returns why a shard is not active; `None` if it is.
    pub(in crate::node) fn why_failed(&self, shard: &Shard) -> Option<RequestError> {
        let failure = shard.failure()?;
        let key = (shard.index.uuid.clone(), shard.number);
        let last = self.recoveries.attempts.lock().get(&key).map(|last| last.error.clone());
        Some(last.unwrap_or(failure))
    }
}
