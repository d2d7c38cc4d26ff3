//! Cold term indexes: FSTs that are read again for every search because their cache is too small.

use super::contract::{Rule, fine, found, not_here};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "term_index_cold",
    question: "Does Limber's cache of the term index hold what searches need?",
    references: &[Reference {
        title: "Limber: settings of the term index (README.md)",
        url: "README.md#settings",
    }],
    check,
};

const CACHE: &str = "limber.memory.term_index_cache";
const HIT_PERCENT_MIN: f64 = 99.0;
/// With fewer page requests the hit rate says nothing.
const ASKED_MIN: f64 = 1_000.0;

fn check(seen: &Seen) -> Checked {
    if !seen.is_limber() {
        return not_here(
            "only Limber counts what its term index reads; page_cache says whether there is room for it",
        );
    }
    let mut calmest = String::new();
    for node in seen.server.nodes()? {
        let number = |name: &str| node.stat(&format!("{CACHE}.{name}"));
        let (hits, misses, evictions) =
            (number("hit_count")?, number("miss_count")?, number("eviction_count")?);
        let (budget, resident) = (number("budget_in_bytes")?, number("resident_size_in_bytes")?);
        let hit_percent = share(hits, hits + misses);
        calmest =
            format!("{} of {:.0} pages asked for were in the cache", percent(hit_percent), hits + misses);
        // Without evictions, every miss was the first request for its page.
        if hits + misses < ASKED_MIN || evictions == 0.0 || hit_percent >= HIT_PERCENT_MIN {
            continue;
        }
        let load_millis = number("load_time_in_nanos")? / 1e6;
        let query_millis = node.stat("indices.search.query_time_in_millis")?;
        let whole = node.stat("indices.segment_memory.term_index_size_in_bytes")?;
        return found(
            format!(
                "{} of the asked pages of the term index were not in the cache of {}",
                percent(100.0 - hit_percent),
                size(budget)
            ),
            Gain::measured(
                share(load_millis, query_millis.max(load_millis)),
                "of the time in queries, loading pages of the term index",
            ),
            vec![
                Evidence::new(
                    "hits, misses, evictions",
                    format!("{hits}, {misses}, {evictions}"),
                    format!("_nodes/stats {CACHE}"),
                ),
                Evidence::new(
                    "resident, budget",
                    format!("{}, {}", size(resident), size(budget)),
                    format!("_nodes/stats {CACHE}"),
                ),
                Evidence::new(
                    "term index on disk",
                    size(whole),
                    "_nodes/stats indices.segment_memory.term_index_size_in_bytes",
                ),
                Evidence::new(
                    "time loading pages",
                    format!("{load_millis:.0} ms"),
                    format!("_nodes/stats {CACHE}.load_time_in_nanos"),
                ),
                Evidence::new(
                    "time in queries",
                    format!("{query_millis:.0} ms"),
                    "_nodes/stats indices.search.query_time_in_millis",
                ),
            ],
            "Raise indices.segment_memory.off_heap.size; _cat/segment_memory says which fields have the large term indices.",
            seen.experiment()
                .tune(Goal::Searches, &[("engine:indices.segment_memory.off_heap.size", "5%,10%,20%,40%")]),
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
    fn a_cache_that_evicts_what_it_needs_is_found() {
        check(&RULE, &recorded("limber"), "fine: 100 % of 8657 pages");
        check(&RULE, &recorded("es-9.4.3"), "not here");
        let cold = recorded("limber").with(
            NodeStats,
            "nodes.*.limber.memory.term_index_cache",
            json!({"hit_count": 900, "miss_count": 300, "eviction_count": 250, "budget_in_bytes": 1048576,
                   "resident_size_in_bytes": 1048000, "load_time_in_nanos": 9_000_000}),
        );
        check(
            &RULE,
            &cold,
            "found: 25 % of the asked pages of the term index were not in the cache of 1.0MB (up to 50 %",
        );
        let silent = recorded("limber").with(NodeStats, "nodes.*.limber.memory", json!({}));
        check(&RULE, &silent, "unread: _nodes/stats limber.memory.term_index_cache.hit_count");
    }
}
