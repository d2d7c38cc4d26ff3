//! Counts a search in the statistics of its shards.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use limber_segment::uses::{self, Uses};

use super::search::Pinned;
use crate::node::Node;

/// Updates the search counters of the shards of a search.
pub(super) struct Meters<'a> {
    node: &'a Node,
    pinned: &'a Pinned,
    start_nanos: u64,
    uses: Arc<Uses>,
    _noted: uses::Entered,
}

impl<'a> Meters<'a> {
    /// Begins to count a search, and to note the fields that this thread and its workers use.
    pub(super) fn start(node: &'a Node, pinned: &'a Pinned) -> Meters<'a> {
        for shard in &pinned.shards {
            shard.counters.query.current.fetch_add(1, Ordering::Relaxed);
        }
        let uses = Arc::new(Uses::default());
        let _noted = uses::enter(Some(uses.clone()));
        Meters { node, pinned, start_nanos: node.environment.clock.monotonic_nanos(), uses, _noted }
    }

    /// Records the end of the search and returns how long it took. The time is divided evenly among the
    /// shards, as it is not measured per shard.
    pub(super) fn finish(self, succeeded: bool, groups: &[String], suggests: bool) -> Duration {
        let nanos = self.node.environment.clock.monotonic_nanos().saturating_sub(self.start_nanos);
        let uses = self.uses.by_segment();
        let share = nanos / self.pinned.shards.len().max(1) as u64;
        for (shard, snapshot) in self.pinned.shards.iter().zip(&self.pinned.snapshots) {
            let counters = &shard.counters;
            counters.field_usage.add(&snapshot.segments, &uses);
            counters.query.current.fetch_sub(1, Ordering::Relaxed);
            counters.query.add(1, share);
            counters.search_groups.add(groups, share, succeeded, suggests);
            if suggests {
                counters.suggest.add(1, 0);
            }
            if succeeded {
                counters.fetch.add(1, 0);
            } else {
                counters.query.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
        Duration::from_nanos(nanos)
    }
}
