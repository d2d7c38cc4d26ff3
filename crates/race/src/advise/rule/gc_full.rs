//! Full collections: the whole heap is collected at once because there was no free memory left.

use super::contract::{NO_HEAP, Rule, fine, found, not_here};
use crate::advise::experiment::{COLLECTORS, Goal};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::share;
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "gc_full",
    question: "Does the collector keep up without stopping everything?",
    references: &[Reference {
        title: "Java: garbage-first garbage collector tuning, observing full garbage collections",
        url: "https://docs.oracle.com/en/java/javase/21/gctuning/garbage-first-garbage-collector-tuning.html",
    }],
    check,
};

const PERCENT_MIN: f64 = 3.0;

fn check(seen: &Seen) -> Checked {
    if seen.is_limber() {
        return not_here(NO_HEAP);
    }
    let advice = "Give the heap more room or allocate less; let concurrent marking start earlier (-XX:InitiatingHeapOccupancyPercent), keep more in reserve (-XX:G1ReservePercent).";
    let (memory, sizes) = seen.memory_knob();
    let experiment = || seen.experiment().tune(Goal::Searches, &[(memory, &sizes), COLLECTORS]);
    if let Ok(gc) = &seen.gc {
        if gc.full_count == 0 && gc.evacuation_failures == 0 && gc.stall_count == 0 {
            return fine(format!("no full collection in {:.0} s", gc.span_s));
        }
        let lost_percent = share(gc.full_millis + gc.stall_millis, gc.span_s * 1e3);
        return found(
            format!(
                "The collector had no room left: {} full collections, {} failed evacuations, {} allocation stalls",
                gc.full_count, gc.evacuation_failures, gc.stall_count
            ),
            Gain::measured(lost_percent.max(PERCENT_MIN), "of the time"),
            vec![
                Evidence::new(
                    "full collections",
                    format!("{} in {:.0} s, {:.0} ms together", gc.full_count, gc.span_s, gc.full_millis),
                    "GC log",
                ),
                Evidence::new("failed evacuations", gc.evacuation_failures, "GC log"),
                Evidence::new(
                    "allocation stalls",
                    format!("{}, {:.0} ms together", gc.stall_count, gc.stall_millis),
                    "GC log",
                ),
            ],
            advice,
            experiment(),
        );
    }
    for node in seen.server.nodes()? {
        let count = node.stat("jvm.gc.collectors.old.collection_count")?;
        let millis = node.stat("jvm.gc.collectors.old.collection_time_in_millis")?;
        let uptime = node.stat("jvm.uptime_in_millis")?;
        if count > 0.0 {
            return found(
                format!("Node [{}] had {count:.0} collections of its old generation", node.name),
                Gain::measured(share(millis, uptime).max(PERCENT_MIN), "of the time"),
                vec![
                    Evidence::new(
                        "old collections",
                        format!("{count:.0}, {:.1} s together", millis / 1e3),
                        "_nodes/stats jvm.gc.collectors.old",
                    ),
                    Evidence::new(
                        "uptime",
                        format!("{:.0} s", uptime / 1e3),
                        "_nodes/stats jvm.uptime_in_millis",
                    ),
                ],
                advice,
                experiment(),
            );
        }
    }
    fine("no collection of the old generation since the start".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    #[test]
    fn full_collections_are_found_in_the_log_or_the_counters() {
        check(&RULE, &recorded("es-9.4.3"), "fine: no collection of the old generation");
        check(&RULE, &recorded("limber"), "not here");
        let old =
            recorded("es-7.10.2").with(NodeStats, "nodes.*.jvm.gc.collectors.old.collection_count", json!(3));
        check(&RULE, &old, "found: Node [es-7.10.2] had 3 collections of its old generation");
        let log = recorded("es-7.10.2").with_gc_log("[1.0s][gc] GC(0) Pause Full (G1 Compaction Pause) 126M->61M(128M) 150.0ms\n[2.0s][gc] GC(1) To-space exhausted\n");
        check(
            &RULE,
            &log,
            "found: The collector had no room left: 1 full collections, 1 failed evacuations, 0 allocation stalls (up to 15 %",
        );
        let silent = recorded("es-7.10.2").with(NodeStats, "nodes.*.jvm.gc", json!({}));
        check(&RULE, &silent, "unread: _nodes/stats jvm.gc.collectors.old.collection_count");
    }
}
