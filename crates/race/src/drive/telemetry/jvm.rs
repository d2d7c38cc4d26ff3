//! How long the garbage collectors stopped the server (`JvmStatsSummary`).

use std::collections::BTreeMap;

use serde_json::Value;

pub(super) const PATH: &str = "/_nodes/stats/jvm";

/// Time in ms and count by collector, in Rally's names: `young_gen`, `old_gen`, `zgc_cycles`, `zgc_pauses`,
/// ...
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct GarbageCollection {
    pub collectors: BTreeMap<String, (u64, u64)>,
}

impl GarbageCollection {
    pub(crate) fn time_ms(&self, collector: &str) -> Option<u64> {
        self.collectors.get(collector).map(|(time_ms, _)| *time_ms)
    }

    pub(crate) fn count(&self, collector: &str) -> Option<u64> {
        self.collectors.get(collector).map(|(_, count)| *count)
    }
}

/// Sums the differences over the nodes that were present at both times. They are never negative, since a node
/// may have restarted.
pub(super) fn difference(before: Option<&Value>, after: Option<&Value>) -> GarbageCollection {
    let mut difference = GarbageCollection::default();
    let (Some(before), Some(after)) = (before, after) else { return difference };
    for (node, collectors_after) in collectors_by_node(after) {
        let Some((_, collectors_before)) = collectors_by_node(before).find(|(name, _)| *name == node) else {
            continue;
        };
        for (name, start) in collectors_before {
            let end = &collectors_after[name];
            let grown = |key: &str| {
                let value = |stats: &Value| stats[key].as_u64().unwrap_or(0);
                value(end).saturating_sub(value(start))
            };
            let sums = difference.collectors.entry(metric_name(name)).or_default();
            sums.0 += grown("collection_time_in_millis");
            sums.1 += grown("collection_count");
        }
    }
    difference
}

fn collectors_by_node(stats: &Value) -> impl Iterator<Item = (&str, &serde_json::Map<String, Value>)> {
    let nodes = stats["nodes"].as_object().into_iter().flat_map(|nodes| nodes.values());
    nodes.filter_map(|node| Some((node["name"].as_str()?, node["jvm"]["gc"]["collectors"].as_object()?)))
}

fn metric_name(collector: &str) -> String {
    match collector {
        "young" | "old" => format!("{collector}_gen"),
        other => other.to_lowercase().replace(' ', "_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_by_collector() {
        let stats = |young_ms: u64, cycles: u64| {
            json!({"nodes": {"x": {"name": "n1", "jvm": {"gc": {"collectors": {
                "young": {"collection_time_in_millis": young_ms, "collection_count": 2},
                "ZGC Cycles": {"collection_count": cycles},
            }}}}}})
        };
        let found = difference(Some(&stats(10, 1)), Some(&stats(25, 0)));
        assert_eq!((found.time_ms("young_gen"), found.count("young_gen")), (Some(15), Some(0)));
        assert_eq!((found.time_ms("zgc_cycles"), found.count("zgc_cycles")), (Some(0), Some(0)));
        assert_eq!(found.time_ms("old_gen"), None);
        assert_eq!(difference(None, Some(&stats(1, 1))), GarbageCollection::default());
        assert_eq!(difference(Some(&json!({})), Some(&json!([]))), GarbageCollection::default());
    }
}
