//! Shards with many segments: a search has to visit each of them.

use std::collections::BTreeMap;

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference, Unread};
use crate::advise::quantity::size;
use crate::advise::seen::Seen;
use crate::advise::server::Question;

pub(super) const RULE: Rule = Rule {
    id: "many_segments",
    question: "Does a shard have no more segments than merges leave?",
    references: &[Reference {
        title: "Elasticsearch: force-merge read-only indices",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/tune-for-search-speed.html#_force_merge_read_only_indices",
    }],
    check,
};

/// The tiered merge policy leaves about ten segments per tier, and large shards have three tiers.
const SEGMENTS_MAX: usize = 40;

fn check(seen: &Seen) -> Checked {
    let rows = seen.server.answer(Question::Segments)?.as_array();
    let rows = rows.ok_or_else(|| Unread::new("_cat/segments", "the answer is no list"))?;
    let mut shards: BTreeMap<(&str, &str), (usize, f64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row["prirep"] == "p") {
        let text = |column: &str| row[column].as_str().unwrap_or_default();
        let shard = shards.entry((text("index"), text("shard"))).or_default();
        shard.0 += 1;
        shard.1 += text("size").parse().unwrap_or(0.0);
    }
    let worst = shards.iter().max_by_key(|(_, (count, _))| *count);
    let Some(((index, shard), (count, bytes))) = worst else { return fine("there is no segment".to_owned()) };
    if *count <= SEGMENTS_MAX {
        return fine(format!("{count} segments in a shard at most"));
    }
    let affected = shards.values().filter(|(count, _)| *count > SEGMENTS_MAX).count();
    found(
        format!("Shard {shard} of [{index}] has {count} segments"),
        Gain::judged(
            10.0 * (*count as f64 / SEGMENTS_MAX as f64).log2().min(2.0),
            "of the time of searches in such shards",
        ),
        vec![
            Evidence::new(format!("segments of [{index}], shard {shard}"), count, "_cat/segments"),
            Evidence::new("their mean size", size(bytes / *count as f64), "_cat/segments size"),
            Evidence::new(
                format!("shards with more than {SEGMENTS_MAX}"),
                format!("{affected} of {}", shards.len()),
                "_cat/segments",
            ),
        ],
        "Force-merge indices that are no longer written; where documents are written, refresh less often and see merge_throttle.",
        seen.experiment().before_and_after(&format!(
            "curl -X POST '{}/{index}/_forcemerge?max_num_segments=1'",
            seen.host
        )),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::Segments;

    #[test]
    fn segments_are_counted_a_shard() {
        for name in ["es-9.4.3", "opensearch-3.8.0", "es-7.10.2", "limber"] {
            check(&RULE, &recorded(name), "fine: ");
        }
        let row = |shard: usize, kind: &str| json!({"index": "logs", "shard": shard.to_string(), "prirep": kind, "size": "1048576"});
        let rows: Vec<Value> =
            (0..120).map(|number| row(number % 2, if number < 100 { "p" } else { "r" })).collect();
        let many = recorded("es-9.4.3").with(Segments, "", json!(rows));
        check(&RULE, &many, "found: Shard 1 of [logs] has 50 segments (about 3.2 %");
        check(&RULE, &recorded("limber").without(Segments), "unread: _cat/segments");
    }
}
