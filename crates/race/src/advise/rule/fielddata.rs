//! Fields of type text that are sorted or aggregated on: their values are uninverted in memory.

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;
use crate::advise::server::at;

pub(super) const RULE: Rule = Rule {
    id: "fielddata",
    question: "Does fielddata leave the memory to others?",
    references: &[Reference {
        title: "Elasticsearch: field data cache settings",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/modules-fielddata.html",
    }],
    check,
};

const HEAP_PERCENT_MAX: f64 = 10.0;

fn check(seen: &Seen) -> Checked {
    let mut most: f64 = 0.0;
    for node in seen.server.data_nodes()? {
        let bytes = node.stat("indices.fielddata.memory_size_in_bytes")?;
        let evictions = node.stat("indices.fielddata.evictions")?;
        let heap = node.info("jvm.mem.heap_max_in_bytes")?;
        let used = share(bytes, heap);
        most = most.max(used);
        if used <= HEAP_PERCENT_MAX && evictions == 0.0 {
            continue;
        }
        let mut evidence = vec![
            Evidence::new(
                "fielddata",
                format!("{} ({} of the heap)", size(bytes), percent(used)),
                "_nodes/stats indices.fielddata.memory_size_in_bytes",
            ),
            Evidence::new("evictions", evictions, "_nodes/stats indices.fielddata.evictions"),
        ];
        let indices = seen.server.indices().unwrap_or_default();
        let of_index = |stats| at(stats, "total.fielddata.memory_size_in_bytes").as_f64().unwrap_or(0.0);
        if let Some((index, stats)) =
            indices.into_iter().max_by(|(_, a), (_, b)| of_index(a).total_cmp(&of_index(b)))
        {
            evidence.push(Evidence::new(
                format!("of index [{index}]"),
                size(of_index(stats)),
                "_stats fielddata",
            ));
        }
        let title = match evictions > 0.0 {
            true => {
                format!("Node [{}] threw fielddata away {evictions:.0} times to build it again", node.name)
            }
            false => format!("Fielddata takes {} of the heap of node [{}]", percent(used), node.name),
        };
        return found(
            title,
            if evictions > 0.0 {
                Gain::judged(15.0, "of the time of aggregations and sorts")
            } else {
                Gain::measured(used, "of the heap")
            },
            evidence,
            "Aggregate and sort on keyword fields (doc values are on disk); _cat/fielddata names the fields.",
            seen.experiment().before_and_after("# map the field as keyword and reindex"),
        );
    }
    fine(format!("fielddata takes {} of a heap at most and was never evicted", percent(most)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    #[test]
    fn fielddata_is_weighed_against_the_heap() {
        check(&RULE, &recorded("es-9.4.3"), "fine: fielddata takes 0.0 %");
        check(&RULE, &recorded("limber"), "fine");
        let large = recorded("es-7.10.2").with(
            NodeStats,
            "nodes.*.indices.fielddata.memory_size_in_bytes",
            json!(134_217_728),
        );
        check(&RULE, &large, "found: Fielddata takes 25 % of the heap of node [es-7.10.2] (up to 25 %");
        let evicted =
            recorded("opensearch-3.8.0").with(NodeStats, "nodes.*.indices.fielddata.evictions", json!(12));
        check(&RULE, &evicted, "found: Node [opensearch-3.8.0] threw fielddata away 12 times");
        check(&RULE, &recorded("es-7.10.2").without(NodeStats), "unread: _nodes/stats");
    }
}
