//! A heap that may grow and shrink: resizing pauses the application, and the heap is not locked in memory at
//! once.

use super::contract::{NO_HEAP, Rule, fine, found, not_here};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::size;
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "heap_fixed",
    question: "Are the least and the largest heap the same?",
    references: &[Reference {
        title: "Elasticsearch: heap size check",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/bootstrap-checks.html",
    }],
    check,
};

/// A smaller difference comes from rounding to regions and alignments.
const DIFFERENCE_BYTES_MAX: f64 = 64.0 * 1048576.0;

fn check(seen: &Seen) -> Checked {
    if seen.is_limber() {
        return not_here(NO_HEAP);
    }
    for node in seen.server.nodes()? {
        let (least, most) =
            (node.info("jvm.mem.heap_init_in_bytes")?, node.info("jvm.mem.heap_max_in_bytes")?);
        if most - least > DIFFERENCE_BYTES_MAX {
            return found(
                format!(
                    "The heap of node [{}] starts at {} and may grow to {}",
                    node.name,
                    size(least),
                    size(most)
                ),
                Gain::judged(3.0, "of the time, in pauses while the heap is resized"),
                vec![
                    Evidence::new("first heap", size(least), "_nodes jvm.mem.heap_init_in_bytes"),
                    Evidence::new("largest heap", size(most), "_nodes jvm.mem.heap_max_in_bytes"),
                ],
                "Give -Xms the value of -Xmx.",
                seen.experiment().before_and_after("# set -Xms as -Xmx in jvm.options and restart"),
            );
        }
    }
    fine("every heap has one size".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::Nodes;

    #[test]
    fn a_heap_that_may_grow_is_found() {
        check(&RULE, &recorded("es-7.10.2"), "fine");
        check(&RULE, &recorded("limber"), "not here");
        let growing = recorded("opensearch-3.8.0").with(
            Nodes,
            "nodes.*.jvm.mem.heap_init_in_bytes",
            json!(134_217_728),
        );
        check(
            &RULE,
            &growing,
            "found: The heap of node [opensearch-3.8.0] starts at 128.0MB and may grow to 512.0MB",
        );
        let silent = recorded("es-7.10.2").with(Nodes, "nodes.*.jvm.mem", json!({}));
        check(&RULE, &silent, "unread: _nodes jvm.mem.heap_init_in_bytes");
    }
}
