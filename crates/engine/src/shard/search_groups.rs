//! Statistics of searches by the groups that they name in `stats`.

use std::collections::BTreeMap;

use limber_store::sync::Mutex;
use limber_text::wildcard;
use serde_json::{Map, Value, json};

/// Maximum number of groups of a shard. Searches of further groups are counted only in the totals.
const GROUPS_MAX: usize = 1_000;
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
            if known.len() >= GROUPS_MAX && !known.contains_key(name) {
                continue;
            }
            let counts = known.entry(name.to_owned()).or_default();
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
