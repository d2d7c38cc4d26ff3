//! Too many shards for the heap: each costs memory, an entry in the cluster state, and a thread's time in
//! every search.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::size;
use crate::advise::seen::Seen;
use crate::advise::server::Kind;

pub(super) const RULE: Rule = Rule {
    id: "shard_count",
    question: "Has a node no more shards than it can carry?",
    references: &[
        Reference {
            title: "Elasticsearch: size your shards",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/size-your-shards.html",
        },
        Reference {
            title: "Elasticsearch 7.10: aim for 20 shards or fewer per GB of heap",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/7.17/size-your-shards.html#shard-count-recommendation",
        },
    ],
    check,
};

/// The recommendation up to Elasticsearch 8.2. It still applies to OpenSearch, whose memory costs are the
/// same.
const SHARDS_PER_GB: f64 = 20.0;
/// The limit since 8.3, and the default of `cluster.max_shards_per_node`.
const SHARDS_PER_NODE: f64 = 1000.0;
/// Share of the limit from which on a node is near it.
const NEAR: f64 = 0.8;

fn check(seen: &Seen) -> Checked {
    let shards = seen.server.shards()?;
    let limit = seen.server.setting("cluster.max_shards_per_node")?.and_then(|text| text.parse().ok());
    let limit: f64 = limit.unwrap_or(SHARDS_PER_NODE);
    let mut most: f64 = 0.0;
    for node in seen.server.data_nodes()? {
        let count = shards.iter().filter(|shard| shard.node() == node.name).count() as f64;
        most = most.max(count);
        let heap = node.info("jvm.mem.heap_max_in_bytes")?;
        let by_heap = SHARDS_PER_GB * heap / (1u64 << 30) as f64;
        let counts_by_heap = match seen.server.product.kind {
            Kind::OpenSearch => true,
            Kind::Elasticsearch => is_before_8_3(&seen.server.product.version),
            Kind::Limber => false,
        };
        let (allowed, why) = match counts_by_heap && by_heap < limit * NEAR {
            true => (by_heap, format!("{SHARDS_PER_GB:.0} a GB of its heap of {}", size(heap))),
            false => (limit * NEAR, format!("{:.0} % of the {limit:.0} it may have", NEAR * 100.0)),
        };
        if count > allowed {
            return found(
                format!("Node [{}] carries {count:.0} shards, more than {why}", node.name),
                Gain::judged(
                    5.0 + 10.0 * (count / allowed).log2().min(3.0),
                    "of the heap and of the time of searches over all indices",
                ),
                vec![
                    Evidence::new("shards", count, "_cat/shards"),
                    Evidence::new("heap", size(heap), "_nodes jvm.mem.heap_max_in_bytes"),
                    Evidence::new("limit", limit, "_cluster/settings cluster.max_shards_per_node"),
                ],
                "Make fewer and larger shards: shrink or reindex small indices, roll over by size instead of by day, delete what is not needed.",
                seen.experiment().tune(Goal::Searches, &[("index:index.number_of_shards", "1,2,5")]),
            );
        }
    }
    fine(format!("{most:.0} shards on a node at most"))
}

fn is_before_8_3(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
    let (major, minor) = (numbers.next().unwrap_or(u32::MAX), numbers.next().unwrap_or(0));
    (major, minor) < (8, 3)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::{ClusterSettings, Nodes, Shards};

    #[test]
    fn the_recommendation_of_each_product_counts() {
        // All three have the same 33 shards in half a gigabyte of heap.
        check(
            &RULE,
            &recorded("es-7.10.2"),
            "found: Node [es-7.10.2] carries 33 shards, more than 20 a GB of its heap of 512.0MB",
        );
        check(&RULE, &recorded("opensearch-3.8.0"), "found: Node [opensearch-3.8.0] carries 33 shards");
        check(&RULE, &recorded("es-9.4.3"), "fine: 33 shards");
        check(&RULE, &recorded("limber"), "fine: 33 shards");
        let near = recorded("es-9.4.3").with(
            ClusterSettings,
            "persistent",
            json!({"cluster.max_shards_per_node": "40"}),
        );
        check(&RULE, &near, "found: Node [es-9.4.3] carries 33 shards, more than 80 % of the 40 it may have");
        let roomy =
            recorded("es-7.10.2").with(Nodes, "nodes.*.jvm.mem.heap_max_in_bytes", json!(4_294_967_296u64));
        check(&RULE, &roomy, "fine");
        check(&RULE, &recorded("es-9.4.3").without(Shards), "unread: _cat/shards");
    }
}
