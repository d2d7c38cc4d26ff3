//! The share of the time in which the application is stopped for the garbage collector.

use super::contract::{NO_HEAP, Rule, fine, found, not_here};
use crate::advise::experiment::{COLLECTORS, Goal};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::gc::GcFigures;
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "gc_pauses",
    question: "Does garbage collection take little of the time?",
    references: &[
        Reference {
            title: "Java: garbage-first garbage collector tuning",
            url: "https://docs.oracle.com/en/java/javase/21/gctuning/garbage-first-garbage-collector-tuning.html",
        },
        Reference {
            title: "Elasticsearch: high JVM memory pressure",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/high-jvm-memory-pressure.html",
        },
    ],
    check,
};

const PERCENT_MAX: f64 = 1.0;
/// The figures of a JVM that has just started describe its start rather than its load.
const UPTIME_S_MIN: f64 = 60.0;

fn check(seen: &Seen) -> Checked {
    if seen.is_limber() {
        return not_here(NO_HEAP);
    }
    let (memory, sizes) = seen.memory_knob();
    let knobs = [(memory, &*sizes), COLLECTORS];
    if let Ok(gc) = &seen.gc {
        if gc.pause_percent <= PERCENT_MAX {
            return fine(format!("{} of {:.0} s in pauses", percent(gc.pause_percent), gc.span_s));
        }
        return found(
            format!("Garbage collection stops the application for {} of the time", percent(gc.pause_percent)),
            Gain::measured(gc.pause_percent, "of the time"),
            of_log(gc),
            "Allocate less (smaller bulks, narrower aggregations), give the heap more room, or compare collectors.",
            seen.experiment().tune(Goal::Writes, &knobs),
        );
    }
    let mut most: f64 = 0.0;
    for node in seen.server.nodes()? {
        let uptime = node.stat("jvm.uptime_in_millis")?;
        let collectors = node.stats("jvm.gc.collectors")?;
        // Collectors with "Cycles" in their name are concurrent: they run beside the application.
        let stopping = collectors.iter().filter(|(name, _)| !name.contains("Cycles"));
        let millis: f64 = stopping.filter_map(|(_, state)| state["collection_time_in_millis"].as_f64()).sum();
        let of_time = share(millis, uptime);
        most = most.max(of_time);
        if of_time > PERCENT_MAX && uptime >= UPTIME_S_MIN * 1e3 {
            return found(
                format!("Garbage collection took {} of the time of node [{}]", percent(of_time), node.name),
                Gain::measured(of_time, "of the time"),
                vec![
                    Evidence::new(
                        "time in collections",
                        format!("{:.1} s", millis / 1e3),
                        "_nodes/stats jvm.gc.collectors",
                    ),
                    Evidence::new(
                        "uptime",
                        format!("{:.0} s", uptime / 1e3),
                        "_nodes/stats jvm.uptime_in_millis",
                    ),
                ],
                "Log collections (-Xlog:gc*:file=gc.log) and give the log to `limber advise --gc-log`: it tells pauses from work beside the application.",
                seen.experiment().tune(Goal::Writes, &knobs),
            );
        }
    }
    fine(format!("{} of the time since the start, as the node counts it", percent(most)))
}

fn of_log(gc: &GcFigures) -> Vec<Evidence> {
    let log = "GC log";
    let mut evidence = vec![
        Evidence::new("collector", gc.collector.as_deref().unwrap_or("not named in the log"), log),
        Evidence::new(
            "pauses",
            format!("{} in {:.0} s, {:.1} a minute", gc.pause_count, gc.span_s, gc.pauses_per_minute),
            log,
        ),
        Evidence::new(
            "pause",
            format!(
                "mean {:.1} ms, p50 {:.1}, p99 {:.1}, maximum {:.1}",
                gc.pause_mean_millis,
                gc.percentile_millis(50.0),
                gc.percentile_millis(99.0),
                gc.pause_max_millis
            ),
            log,
        ),
        Evidence::new("allocation", format!("{}/s", size(gc.allocation_rate)), log),
    ];
    if let Some(promotion) = gc.promotion_rate {
        evidence.push(Evidence::new("promotion", format!("{}/s", size(promotion)), log));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    #[test]
    fn the_log_goes_before_the_counters() {
        check(
            &RULE,
            &recorded("es-9.4.3"),
            "found: Garbage collection took 1.3 % of the time of node [es-9.4.3] (up to 1.3 %",
        );
        check(&RULE, &recorded("limber"), "not here");
        let calm = recorded("es-9.4.3").with_gc_log(
            "[1.000s][info][gc] GC(0) Pause Young (Normal) 40M->9M(128M) 5.000ms\n[11.000s][info][gc] x\n",
        );
        check(&RULE, &calm, "fine: 0.1 % of 10 s in pauses");
        let busy = recorded("es-9.4.3").with_gc_log(
            "[1.000s][info][gc] GC(0) Pause Young (Normal) 40M->9M(128M) 500.000ms\n[11.000s][info][gc] x\n",
        );
        check(&RULE, &busy, "found: Garbage collection stops the application for 5.0 % of the time");
        let zgc = json!({"ZGC Cycles": {"collection_time_in_millis": 90_000}, "ZGC Pauses": {"collection_time_in_millis": 1}});
        check(&RULE, &recorded("es-9.4.3").with(NodeStats, "nodes.*.jvm.gc.collectors", zgc), "fine: 0.0 %");
        check(
            &RULE,
            &recorded("es-9.4.3").with(NodeStats, "nodes.*.jvm", json!({})),
            "unread: _nodes/stats jvm.uptime_in_millis",
        );
    }
}
