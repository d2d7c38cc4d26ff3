//! A heap above half of the memory takes memory from the page cache, through which Lucene reads its files.

use std::collections::BTreeMap;

use super::contract::{Rule, fine, found};
use crate::advise::experiment::{Goal, megabytes};
use crate::advise::finding::{Checked, Evidence, Gain, Reference, Unread};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;
use crate::advise::server::Node;

pub(super) const RULE: Rule = Rule {
    id: "heap_share",
    question: "Does the heap leave half of the memory to the page cache?",
    references: &[
        Reference {
            title: "Elasticsearch: JVM heap size",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/advanced-configuration.html#set-jvm-heap-size",
        },
        Reference {
            title: "OpenSearch: important settings",
            url: "https://docs.opensearch.org/latest/install-and-configure/install-opensearch/index/#important-settings",
        },
    ],
    check,
};

/// The most that Elastic recommends.
const HEAP_PERCENT_MAX: f64 = 50.0;
/// Limber's limit covers all memory it holds and not only a heap; the page cache needs at least a quarter.
const LIMBER_PERCENT_MAX: f64 = 75.0;

fn check(seen: &Seen) -> Checked {
    let (allowed, path, knob) = match seen.is_limber() {
        true => (LIMBER_PERCENT_MAX, "jvm.mem.heap_max_in_bytes", "memory.limit"),
        false => (HEAP_PERCENT_MAX, "jvm.mem.heap_max_in_bytes", "heap"),
    };
    // Nodes on one machine share its memory.
    let mut machines: BTreeMap<&str, (f64, f64, String, usize)> = BTreeMap::new();
    for node in seen.server.nodes()? {
        let (memory, source) = memory_of(seen, &node)?;
        let host = node.stats_text("host")?;
        let machine = machines.entry(host).or_insert((0.0, memory, source, 0));
        machine.0 += node.info(path)?;
        machine.3 += 1;
    }
    let worst = machines.iter().max_by(|(_, a), (_, b)| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let Some((host, (heap, memory, source, node_count))) = worst else {
        return Err(Unread::new("_nodes/stats", "the answer has no nodes"));
    };
    let heap_percent = share(*heap, *memory);
    if heap_percent <= allowed {
        return fine(format!("at most {} of a machine's memory ({})", percent(heap_percent), size(*memory)));
    }
    let what = if seen.is_limber() { "Memory limits" } else { "Heaps" };
    found(
        format!("{what} of {} take {} of the memory of [{host}]", size(*heap), percent(heap_percent)),
        Gain::measured(heap_percent - allowed, "of the memory, for the page cache"),
        vec![
            Evidence::new(format!("{what} of {node_count} nodes"), size(*heap), format!("_nodes {path}")),
            Evidence::new("memory", size(*memory), source),
        ],
        format!("Set {knob} to {} a node or less.", size(*memory * allowed / 100.0 / *node_count as f64)),
        seen.experiment().tune(
            Goal::Searches,
            &[(
                seen.memory_knob().0,
                &[
                    megabytes(*heap / *node_count as f64),
                    megabytes(*memory * allowed / 100.0 / *node_count as f64),
                ]
                .join(","),
            )],
        ),
    )
}

/// Returns how much memory the node's process may use, and where that was read.
fn memory_of(seen: &Seen, node: &Node<'_>) -> Result<(f64, String), Unread> {
    let is_local = seen.local_node().is_ok_and(|local| local.name == node.name);
    if is_local && let Ok(usable) = seen.machine()?.usable_memory() {
        return Ok(usable);
    }
    Ok((node.stat("os.mem.total_in_bytes")?, "_nodes/stats os.mem.total_in_bytes".to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::{NodeStats, Nodes};

    #[test]
    fn half_of_the_memory_is_the_most() {
        check(&RULE, &recorded("es-9.4.3"), "fine: at most 2.1 % of a machine's memory (23.5GB)");
        check(&RULE, &recorded("limber"), "fine");
        let large =
            recorded("es-9.4.3").with(Nodes, "nodes.*.jvm.mem.heap_max_in_bytes", json!(20_221_211_443u64));
        check(
            &RULE,
            &large,
            "found: Heaps of 18.8GB take 80 % of the memory of [127.0.0.1] (up to 30 % of the memory",
        );
        let unknown = recorded("es-9.4.3").with(NodeStats, "nodes.*.os.mem", json!({}));
        check(&RULE, &unknown, "unread: _nodes/stats os.mem.total_in_bytes");
        let meminfo =
            "MemTotal: 24684096 kB\nMemAvailable: 6 kB\nCached: 5 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n";
        let contained = recorded("es-7.10.2").on_machine(
            &[
                ("proc/meminfo", meminfo),
                ("proc/17/cgroup", "0::/box\n"),
                ("sys/fs/cgroup/box/memory.max", "600000000\n"),
            ],
            &[],
        );
        check(&RULE, &contained, "found: Heaps of 512.0MB take 89 % of the memory");
    }
}
