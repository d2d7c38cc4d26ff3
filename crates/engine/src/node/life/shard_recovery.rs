//! Shards that failed: "is it worth opening this one again now?"
//!
//! A failure of the disk may be over: such a shard is opened again, first at once, then after pauses that
//! double. Damage does not heal by itself: a shard that does not open for that reason is left alone until its
//! index is opened again, and its log is not read in vain.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_mapping::RequestError;
use limber_store::sync::Mutex;

use crate::node::Node;
use crate::shard::Shard;

/// The pause after the first attempt that failed, and the longest one.
const PAUSE_MIN_MS: u64 = 1_000;
const PAUSE_MAX_MS: u64 = 300_000;

/// What opening a shard gave the last time.
#[derive(Debug, Clone)]
struct Attempt {
    error: RequestError,
    pause_ms: u64,
    /// When it may be tried again, on the monotonic clock.
    next_ms: u64,
}

/// The shards that did not open, by uuid and number.
#[derive(Default)]
pub(in crate::node) struct Recoveries {
    attempts: Mutex<HashMap<(Arc<str>, u32), Attempt>>,
}

/// Bytes are wrong, or of a newer version: trying again finds the same.
pub(in crate::node) fn is_damage(error: &RequestError) -> bool {
    matches!(error.kind, "corrupt_index_exception" | "corrupt_state_exception" | "illegal_state_exception")
        || error.caused_by.as_deref().is_some_and(is_damage)
}

impl Node {
    /// Opens the shards again that failed and may open now. For tests without threads, too.
    pub fn recovery_round(&self) {
        self.recover_shards(false);
        self.retry_indices();
    }

    /// Opens failed shards again at once (`_cluster/reroute?retry_failed`). Damaged ones stay as they are.
    pub fn retry_failed_shards(&self) {
        self.recover_shards(true);
        self.retry_indices();
    }

    /// `at_once`: whatever the pauses say.
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
            // A shard that is open and failed is opened again, whatever the reason; one that did not open at
            // the start tells it.
            None => shard.core().is_ok() || !is_damage(&failure),
            Some(last) => !is_damage(&last.error) && (at_once || now_ms >= last.next_ms),
        };
        // Replay and the new translog need a little room.
        const ROOM_BYTES: u64 = 1 << 20;
        let has_room = self.environment.space().is_none_or(|space| space.available_bytes >= ROOM_BYTES);
        if !is_due || !has_room || closed() {
            return;
        }
        match shard.open() {
            Ok(()) => {
                self.recoveries.attempts.lock().remove(&key);
                tracing::info!(index = %shard.index.name, shard = shard.number, "shard recovered from disk");
            }
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

    /// Why a shard does not serve; `None`: it does.
    pub(in crate::node) fn why_failed(&self, shard: &Shard) -> Option<RequestError> {
        let failure = shard.failure()?;
        let key = (shard.index.uuid.clone(), shard.number);
        let last = self.recoveries.attempts.lock().get(&key).map(|last| last.error.clone());
        Some(last.unwrap_or(failure))
    }
}
