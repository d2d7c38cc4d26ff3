//! A query cache that evicts entries that it would be asked for again.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "query_cache_thrash",
    question: "Is what the query cache keeps asked for again?",
    references: &[Reference {
        title: "Elasticsearch: node query cache settings",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-cache.html",
    }],
    check,
};

const ASKED_MIN: f64 = 1_000.0;
const EVICTED_PERCENT_MAX: f64 = 50.0;
const HIT_PERCENT_MIN: f64 = 30.0;

fn check(seen: &Seen) -> Checked {
    let mut calmest = String::new();
    for node in seen.server.data_nodes()? {
        let number = |name: &str| node.stat(&format!("indices.query_cache.{name}"));
        let (asked, hits) = (number("total_count")?, number("hit_count")?);
        let (kept, evicted) = (number("cache_count")?, number("evictions")?);
        let (hit_percent, evicted_percent) = (share(hits, asked), share(evicted, kept));
        calmest = format!(
            "{} of {asked:.0} lookups hit, {evicted:.0} of {kept:.0} entries were evicted",
            percent(hit_percent)
        );
        if asked < ASKED_MIN || evicted_percent <= EVICTED_PERCENT_MAX || hit_percent >= HIT_PERCENT_MIN {
            continue;
        }
        return found(
            format!(
                "The query cache of node [{}] evicted {} of what it kept, and {} of lookups hit",
                node.name,
                percent(evicted_percent),
                percent(hit_percent)
            ),
            Gain::judged(5.0, "of the time of searches with filters"),
            vec![
                Evidence::new(
                    "lookups, hits",
                    format!("{asked}, {hits}"),
                    "_nodes/stats indices.query_cache",
                ),
                Evidence::new(
                    "kept, evicted",
                    format!("{kept}, {evicted}"),
                    "_nodes/stats indices.query_cache",
                ),
                Evidence::new(
                    "size",
                    size(number("memory_size_in_bytes")?),
                    "_nodes/stats indices.query_cache.memory_size_in_bytes",
                ),
            ],
            "Round times in range filters (now/m instead of now), so that filters repeat; or give the cache more (indices.queries.cache.size).",
            seen.experiment().tune(Goal::Searches, &[("engine:indices.queries.cache.size", "5%,10%,20%")]),
        );
    }
    fine(calmest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    #[test]
    fn a_thrashing_cache_is_found() {
        check(&RULE, &recorded("es-9.4.3"), "fine: 0.0 % of 124 lookups hit");
        check(&RULE, &recorded("limber"), "fine");
        let thrashing = recorded("es-7.10.2").with(
            NodeStats,
            "nodes.*.indices.query_cache",
            json!({"memory_size_in_bytes": 5_000_000, "total_count": 90_000, "hit_count": 9_000, "cache_count": 8_000, "evictions": 7_600}),
        );
        check(
            &RULE,
            &thrashing,
            "found: The query cache of node [es-7.10.2] evicted 95 % of what it kept, and 10 % of lookups hit",
        );
        let silent = recorded("limber").with(NodeStats, "nodes.*.indices.query_cache", json!({}));
        check(&RULE, &silent, "unread: _nodes/stats indices.query_cache.total_count");
    }
}
