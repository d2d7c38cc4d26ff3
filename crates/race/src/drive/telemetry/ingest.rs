//! Documents that went through ingest pipelines (`IngestPipelineStats`).

use serde_json::Value;

pub(super) const PATH: &str = "/_nodes/stats/ingest";

/// Sums over all nodes, as differences over the race.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct IngestTotals {
    pub count: i64,
    pub time_ms: i64,
    pub failed: i64,
}

pub(super) fn difference(before: Option<&Value>, after: Option<&Value>) -> Option<IngestTotals> {
    let (before, after) = (before?, after?);
    let mut sums = IngestTotals::default();
    for (name, end) in totals_by_node(after) {
        let Some((_, start)) = totals_by_node(before).find(|(other, _)| *other == name) else { continue };
        let grown = |key: &str| end[key].as_i64().unwrap_or(0) - start[key].as_i64().unwrap_or(0);
        sums.count += grown("count");
        sums.time_ms += grown("time_in_millis");
        sums.failed += grown("failed");
    }
    Some(sums)
}

fn totals_by_node(stats: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let nodes = stats["nodes"].as_object().into_iter().flat_map(|nodes| nodes.values());
    nodes.filter_map(|node| Some((node["name"].as_str()?, node["ingest"].get("total")?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences() {
        let stats = |count: u64| json!({"nodes": {"x": {"name": "n1", "ingest": {"total": {"count": count, "time_in_millis": 3, "failed": 0}}}}});
        let expected = IngestTotals { count: 90, time_ms: 0, failed: 0 };
        assert_eq!(difference(Some(&stats(10)), Some(&stats(100))), Some(expected));
        assert_eq!(difference(Some(&stats(10)), None), None);
        assert_eq!(difference(Some(&json!({})), Some(&stats(5))), Some(IngestTotals::default()));
    }
}
