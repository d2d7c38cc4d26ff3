//! The index buffer against the translog: whichever is full first makes a segment, and then the size of the
//! other has no effect.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference, Unread};
use crate::advise::quantity::{bytes_or_share_of, percent, share, size};
use crate::advise::seen::Seen;
use crate::advise::server::{Node, at};
use crate::notation::units::{MB, bytes_of};

pub(super) const RULE: Rule = Rule {
    id: "index_buffer",
    question: "Do the index buffer and the translog's flush threshold fit each other and the load?",
    references: &[
        Reference {
            title: "Elasticsearch: indexing buffer settings",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/indexing-buffer.html",
        },
        Reference {
            title: "Elasticsearch: translog settings",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/index-modules-translog.html",
        },
        Reference {
            title: "Elasticsearch: tune for indexing speed",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/tune-for-indexing-speed.html",
        },
    ],
    check,
};

const SETTING: &str = "indices.memory.index_buffer_size";
const THRESHOLD: &str = "index.translog.flush_threshold_size";
/// According to Elastic, a shard has no use for more than this.
const SHARD_BYTES_MAX: f64 = 512.0 * MB;
/// Indexing is heavy if threads spend at least this share of the watched time on it.
const HEAVY_PERCENT: f64 = 20.0;

fn check(seen: &Seen) -> Checked {
    let setting = seen.server.setting(SETTING)?.ok_or_else(|| {
        Unread::new(format!("_cluster/settings {SETTING}"), "neither set nor among the defaults")
    })?;
    let nodes = seen.server.data_nodes()?;
    let node = *nodes.first().ok_or_else(|| Unread::new("_nodes/stats", "no data node"))?;
    let buffer = match node.info("total_indexing_buffer") {
        Ok(bytes) => bytes,
        Err(_) => bytes_or_share_of(setting, node.info("jvm.mem.heap_max_in_bytes")?)
            .ok_or_else(|| Unread::new(SETTING, format!("[{setting}] is no size")))?,
    };
    let written = Written::read(seen)?;
    if written.shards == 0.0 {
        return fine("no index has been written since its last flush".to_owned());
    }
    let shards_per_node = written.shards / nodes.len() as f64;
    let (threshold, index) = written
        .threshold
        .ok_or_else(|| Unread::new(format!("_settings {THRESHOLD}"), "neither set nor among the defaults"))?;
    let periodic = node.stat("indices.flush.periodic")?;
    let evidence = vec![
        Evidence::new(
            "index buffer",
            format!("{} ({setting})", size(buffer)),
            format!("_cluster/settings {SETTING}"),
        ),
        Evidence::new(
            format!("flush threshold of [{index}]"),
            size(threshold),
            format!("_settings {THRESHOLD}"),
        ),
        Evidence::new(
            "shards being written, a node",
            format!("{shards_per_node:.1}"),
            "_stats translog.uncommitted_operations",
        ),
        Evidence::new("flushes by the translog's size", periodic, "_nodes/stats indices.flush.periodic"),
    ];
    let part = buffer / shards_per_node;
    // A shard whose translog is full first never fills its part of the buffer.
    if threshold < part && periodic > 0.0 {
        return flushed_early(seen, &node, (threshold, index), part, evidence);
    }
    let busy = share(node.growth("indices.indexing.index_time_in_millis")? / 1e3, seen.window_s);
    if busy >= HEAVY_PERCENT && part < SHARD_BYTES_MAX {
        return too_small(seen, busy, part, evidence);
    }
    fine(format!(
        "a buffer of {} for {shards_per_node:.1} written shards; threads spend {} of the time indexing",
        size(buffer),
        percent(busy)
    ))
}

/// The shards of all indices that have been written since their last flush.
struct Written<'a> {
    shards: f64,
    /// The lowest flush threshold in bytes, and the index that has it.
    threshold: Option<(f64, &'a str)>,
}

impl Written<'_> {
    fn read(seen: &Seen) -> Result<Written<'_>, Unread> {
        let mut written = Written { shards: 0.0, threshold: None };
        for (index, stats) in seen.server.indices()? {
            if at(stats, "total.translog.uncommitted_operations").as_f64().unwrap_or(0.0) == 0.0 {
                continue;
            }
            let shards = seen.server.shards()?;
            let assigned = shards.iter().filter(|shard| shard.index() == index && !shard.is_unassigned());
            written.shards += assigned.count() as f64;
            let bytes = seen.server.index_setting(index, THRESHOLD)?.and_then(bytes_of);
            let is_least = |bytes: &f64| written.threshold.is_none_or(|(least, _)| *bytes < least);
            if let Some(bytes) = bytes.filter(is_least) {
                written.threshold = Some((bytes, index));
            }
        }
        Ok(written)
    }
}

/// `part`: the bytes of the buffer for each shard that is written.
fn flushed_early(
    seen: &Seen,
    node: &Node<'_>,
    (threshold, index): (f64, &str),
    part: f64,
    mut evidence: Vec<Evidence>,
) -> Checked {
    let flush_millis = node.stat("indices.flush.total_time_in_millis")?;
    let index_millis = node.stat("indices.indexing.index_time_in_millis")?;
    evidence.push(Evidence::new(
        "time in flushes",
        format!("{flush_millis:.0} ms"),
        "_nodes/stats indices.flush.total_time_in_millis",
    ));
    found(
        format!(
            "The translog of [{index}] is flushed at {}, before its shards fill their {} of the index buffer",
            size(threshold),
            size(part)
        ),
        Gain::measured(share(flush_millis, flush_millis + index_millis), "of the indexing time, in flushes"),
        evidence,
        format!("Raise {THRESHOLD} to twice the buffer's part of a shard, or give the buffer's memory back."),
        seen.experiment().tune(
            Goal::Writes,
            &[
                ("index:index.translog.flush_threshold_size", "512mb,1gb,2gb"),
                ("engine:indices.memory.index_buffer_size", "10%,25%"),
            ],
        ),
    )
}

/// `busy`: the percentage of the watched time that threads spend indexing. `part`: the bytes of the buffer
/// for each shard that is written.
fn too_small(seen: &Seen, busy: f64, part: f64, mut evidence: Vec<Evidence>) -> Checked {
    evidence.push(Evidence::new(
        "threads' time in indexing",
        percent(busy),
        "_nodes/stats indices.indexing.index_time_in_millis, twice",
    ));
    found(
        format!("Heavy indexing with {} of index buffer a shard", size(part)),
        Gain::judged(
            3.0 * (SHARD_BYTES_MAX / part).log2().clamp(0.0, 5.0),
            "of the indexing time, in small segments and their merges",
        ),
        evidence,
        format!(
            "Raise {SETTING} until a shard that is written has up to 512 MB, as long as the memory is there."
        ),
        seen.experiment().tune(Goal::Writes, &[("engine:indices.memory.index_buffer_size", "10%,25%,40%")]),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::{ClusterSettings, IndexSettings, IndexStats, NodeStats};

    #[test]
    fn the_buffer_and_the_translog_are_compared() {
        check(&RULE, &recorded("es-7.10.2"), "fine: a buffer of 51.2MB for");
        check(&RULE, &recorded("limber"), "fine: a buffer of 51.2MB for");
        let flushing = recorded("es-9.4.3")
            .with(IndexSettings, "logs.settings", json!({"index.translog.flush_threshold_size": "1mb"}))
            .with(
                NodeStats,
                "nodes.*.indices.flush",
                json!({"total": 9, "periodic": 9, "total_time_in_millis": 9188}),
            );
        check(
            &RULE,
            &flushing,
            "found: The translog of [logs] is flushed at 1.0MB, before its shards fill their 10.2MB",
        );
        let heavy =
            recorded("opensearch-3.8.0").grown("nodes.*.indices.indexing.index_time_in_millis", 4_000.0);
        check(&RULE, &heavy, "found: Heavy indexing with 10.2MB of index buffer a shard (about 15 %");
        let still = recorded("es-7.10.2").with(
            IndexStats,
            "indices.*.total.translog.uncommitted_operations",
            json!(0),
        );
        check(&RULE, &still, "fine: no index has been written");
        check(&RULE, &recorded("es-7.10.2").without(ClusterSettings), "unread: _cluster/settings");
    }
}
