//! The compressed-oops boundary: above some 32 GB of heap the JVM needs eight bytes for each reference
//! instead of four.

use super::contract::{NO_HEAP, Rule, fine, found, not_here};
use crate::advise::experiment::{Goal, megabytes};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::size;
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "compressed_oops",
    question: "Does the heap stay where references take four bytes?",
    references: &[Reference {
        title: "Elasticsearch: JVM heap size",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/advanced-configuration.html#set-jvm-heap-size",
    }],
    check,
};

/// From this size on, a heap without compression holds more than one of 32 GB with it: about half of a heap
/// is references.
const WORTHWHILE_AGAIN_BYTES: f64 = 48.0 * (1u64 << 30) as f64;

fn check(seen: &Seen) -> Checked {
    if seen.is_limber() {
        return not_here(NO_HEAP);
    }
    let mut largest: f64 = 0.0;
    for node in seen.server.nodes()? {
        let heap = node.info("jvm.mem.heap_max_in_bytes")?;
        largest = largest.max(heap);
        let path = "jvm.using_compressed_ordinary_object_pointers";
        let state = node.info_text(path)?;
        let collectors = node.info_list("jvm.gc_collectors")?;
        let is_zgc = collectors.iter().filter_map(|name| name.as_str()).any(|name| name.starts_with("ZGC"));
        if state != "false" || is_zgc {
            continue;
        }
        let percent = if heap < WORTHWHILE_AGAIN_BYTES { 30.0 } else { 5.0 };
        return found(
            format!("Node [{}] has a heap of {} without compressed object pointers", node.name, size(heap)),
            Gain::judged(percent, "of the heap, and of the memory bandwidth it takes"),
            vec![
                Evidence::new("compressed object pointers", state, format!("_nodes {path}")),
                Evidence::new("largest heap", size(heap), "_nodes jvm.mem.heap_max_in_bytes"),
            ],
            "Set -Xms and -Xmx to 30g or 31g, and leave the rest to the page cache; or split the machine into more nodes.",
            seen.experiment().tune(Goal::Searches, &[("heap", &format!("{},31g", megabytes(heap)))]),
        );
    }
    fine(format!(
        "the largest heap is {}, with compressed object pointers or a collector that has none",
        size(largest)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::Nodes;

    #[test]
    fn the_jvm_itself_says_whether_it_compresses() {
        check(&RULE, &recorded("es-9.4.3"), "fine: the largest heap is 512.0MB");
        check(&RULE, &recorded("limber"), "not here");
        let off = |fixture: &str| {
            recorded(fixture).with(
                Nodes,
                "nodes.*.jvm.using_compressed_ordinary_object_pointers",
                json!("false"),
            )
        };
        let large = off("opensearch-3.8.0").with(
            Nodes,
            "nodes.*.jvm.mem.heap_max_in_bytes",
            json!(34_359_738_368u64),
        );
        check(
            &RULE,
            &large,
            "found: Node [opensearch-3.8.0] has a heap of 32.0GB without compressed object pointers",
        );
        check(
            &RULE,
            &off("es-7.10.2").with(Nodes, "nodes.*.jvm.gc_collectors", json!(["ZGC Cycles"])),
            "fine",
        );
        check(&RULE, &recorded("es-7.10.2").without(Nodes), "unread: _nodes");
    }
}
