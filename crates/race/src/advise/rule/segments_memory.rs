//! Memory that segments hold in the heap permanently: the term index of Elasticsearch up to 7.x.

use super::contract::{NO_HEAP, Rule, fine, found, not_here};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "segments_memory",
    question: "Do segments leave the heap to requests?",
    references: &[Reference {
        title: "Elasticsearch 7.10: index stats, segments",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/7.10/cat-segments.html",
    }],
    check,
};

const HEAP_PERCENT_MAX: f64 = 10.0;

fn check(seen: &Seen) -> Checked {
    if seen.is_limber() {
        return not_here(NO_HEAP);
    }
    let mut most: f64 = 0.0;
    for node in seen.server.data_nodes()? {
        let bytes = node.stat("indices.segments.memory_in_bytes")?;
        let heap = node.info("jvm.mem.heap_max_in_bytes")?;
        let used = share(bytes, heap);
        most = most.max(used);
        if used <= HEAP_PERCENT_MAX {
            continue;
        }
        let terms = node.stat("indices.segments.terms_memory_in_bytes")?;
        let count = node.stat("indices.segments.count")?;
        return found(
            format!("Segments hold {} of the heap of node [{}] for good", percent(used), node.name),
            Gain::measured(used, "of the heap"),
            vec![
                Evidence::new(
                    "segments in the heap",
                    size(bytes),
                    "_nodes/stats indices.segments.memory_in_bytes",
                ),
                Evidence::new(
                    "of it term indices (FSTs)",
                    size(terms),
                    "_nodes/stats indices.segments.terms_memory_in_bytes",
                ),
                Evidence::new("segments", count, "_nodes/stats indices.segments.count"),
                Evidence::new("heap", size(heap), "_nodes jvm.mem.heap_max_in_bytes"),
            ],
            "Force-merge indices that are no longer written, close or freeze what nobody searches, or move to a version with the term index off the heap.",
            seen.experiment().before_and_after("# force-merge the indices that are no longer written"),
        );
    }
    fine(format!(
        "segments hold {} of a heap at most; newer versions read their files through the page cache",
        percent(most)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    #[test]
    fn term_indices_in_the_heap_are_weighed() {
        check(&RULE, &recorded("es-7.10.2"), "fine: segments hold 0.");
        check(&RULE, &recorded("es-9.4.3"), "fine: segments hold 0.0 %");
        check(&RULE, &recorded("limber"), "not here");
        let full = recorded("es-7.10.2").with(
            NodeStats,
            "nodes.*.indices.segments.memory_in_bytes",
            json!(134_217_728),
        );
        check(&RULE, &full, "found: Segments hold 25 % of the heap of node [es-7.10.2] for good (up to 25 %");
        check(&RULE, &recorded("es-7.10.2").without(NodeStats), "unread: _nodes/stats");
    }
}
