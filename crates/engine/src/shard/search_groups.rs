//! Statistics of searches by the groups that they name in `stats`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use limber_store::sync::Mutex;
use limber_text::wildcard;
use serde_json::{Map, Value, json};

/// Maximum number of groups of a shard. Searches of further groups are counted only in the totals.
const GROUPS_MAX: usize = 1_000;
/// Maximum number of groups of all shards of the process together: each shard has the names for itself, and a
/// few searches reach all shards.
const GROUPS_OF_ALL_MAX: usize = 20_000;
/// The number of groups of all shards.
static GROUPS_OF_ALL: AtomicUsize = AtomicUsize::new(0);
/// Bytes of a group's name. Longer names are truncated to limit their memory.
const NAME_BYTES_MAX: usize = 512;

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    queries: u64,
    query_nanos: u64,
    failed: u64,
    fetches: u64,
    suggestions: u64,
}

/// The groups of one shard.
#[derive(Debug, Default)]
pub(crate) struct SearchGroups(Mutex<BTreeMap<String, Counts>>);

impl SearchGroups {
    /// Counts one search for these groups.
    pub fn add(&self, names: &[String], nanos: u64, succeeded: bool, suggests: bool) {
        if names.is_empty() {
            return;
        }
        let mut known = self.0.lock();
        for name in names {
            let mut end = name.len().min(NAME_BYTES_MAX);
            while !name.is_char_boundary(end) {
                end -= 1;
            }
            let name = &name[..end];
            let Some(counts) = counts_of(&mut known, name) else { continue };
            counts.queries += 1;
            counts.query_nanos += nanos;
            counts.fetches += u64::from(succeeded);
            counts.failed += u64::from(!succeeded);
            counts.suggestions += u64::from(suggests);
        }
    }

    /// Renders the groups that match one of the patterns; `None` when none is requested or none matches.
    pub fn to_json(&self, patterns: &[String]) -> Option<Value> {
        let fits =
            |name: &str| patterns.iter().any(|pattern| pattern == "_all" || wildcard::matches(pattern, name));
        let shown: Map<String, Value> = self
            .0
            .lock()
            .iter()
            .filter(|(name, _)| fits(name))
            .map(|(name, counts)| (name.clone(), counts.to_json()))
            .collect();
        (!shown.is_empty()).then_some(Value::Object(shown))
    }
}

/// Returns the counts of a group; `None` if it is new and there are too many already.
fn counts_of<'k>(known: &'k mut BTreeMap<String, Counts>, name: &str) -> Option<&'k mut Counts> {
    if !known.contains_key(name) {
        if known.len() >= GROUPS_MAX || GROUPS_OF_ALL.load(Ordering::Relaxed) >= GROUPS_OF_ALL_MAX {
            return None;
        }
        GROUPS_OF_ALL.fetch_add(1, Ordering::Relaxed);
        known.insert(name.to_owned(), Counts::default());
    }
    known.get_mut(name)
}

impl Drop for SearchGroups {
    fn drop(&mut self) {
        GROUPS_OF_ALL.fetch_sub(self.0.get_mut().len(), Ordering::Relaxed);
    }
}

impl Counts {
    fn to_json(self) -> Value {
        json!({
            "query_total": self.queries,
            "query_time_in_millis": self.query_nanos / 1_000_000,
            "query_current": 0,
            "query_failure": self.failed,
            "fetch_total": self.fetches,
            "fetch_time_in_millis": 0,
            "fetch_current": 0,
            "fetch_failure": 0,
            "scroll_total": 0,
            "scroll_time_in_millis": 0,
            "scroll_current": 0,
            "suggest_total": self.suggestions,
            "suggest_time_in_millis": 0,
            "suggest_current": 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shards_together_have_so_many_groups() {
        let names: Vec<String> = (0..GROUPS_MAX + 1).map(|number| format!("group{number}")).collect();
        let shards: Vec<SearchGroups> =
            (0..2 * GROUPS_OF_ALL_MAX / GROUPS_MAX).map(|_| SearchGroups::default()).collect();
        shards.iter().for_each(|shard| shard.add(&names, 1, true, false));
        let counts: Vec<usize> = shards.iter().map(|shard| shard.0.lock().len()).collect();
        assert_eq!(counts[0], GROUPS_MAX);
        assert!(counts.iter().sum::<usize>() <= GROUPS_OF_ALL_MAX);
        // Those that are known are still counted.
        shards[0].add(&names[..1], 1, true, false);
        assert_eq!(shards[0].0.lock()["group0"].queries, 2);
        drop(shards);
        let next = SearchGroups::default();
        next.add(&names, 1, true, false);
        assert_eq!(next.0.lock().len(), GROUPS_MAX, "those of closed shards are forgotten");
    }
}
