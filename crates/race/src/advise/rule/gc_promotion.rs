//! Objects that are promoted before they die: the young generation is too small for the requests' data.

use super::contract::{NO_HEAP, Rule, fine, found, not_here};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference, Unread};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "gc_promotion",
    question: "Do short-lived objects die young?",
    references: &[Reference {
        title: "Java: factors affecting garbage collection performance, the young generation",
        url: "https://docs.oracle.com/en/java/javase/21/gctuning/factors-affecting-garbage-collection-performance.html",
    }],
    check,
};

/// Nearly all allocations of a server belong to a request, so few of them should be promoted.
const PROMOTED_PERCENT_MAX: f64 = 15.0;
/// Below this rate the old generation fills too slowly to matter.
const ALLOCATED_BYTES_A_SECOND_MIN: f64 = 20.0 * 1048576.0;

fn check(seen: &Seen) -> Checked {
    if seen.is_limber() {
        return not_here(NO_HEAP);
    }
    let gc = seen.gc.as_ref().map_err(Clone::clone)?;
    let promotion = gc.promotion_rate.ok_or_else(|| {
        Unread::new(
            "GC log, sizes of the old generation",
            "the log has no line of it (log with -Xlog:gc*, not -Xlog:gc)",
        )
    })?;
    let promoted = share(promotion, gc.allocation_rate);
    if promoted <= PROMOTED_PERCENT_MAX || gc.allocation_rate < ALLOCATED_BYTES_A_SECOND_MIN {
        return fine(format!("{}/s of {}/s grow old", size(promotion), size(gc.allocation_rate)));
    }
    let (memory, sizes) = seen.memory_knob();
    found(
        format!("{} of what is allocated is promoted to the old generation", percent(promoted)),
        Gain::judged((promoted / 5.0).min(10.0), "of the time, in collections of the old generation"),
        vec![
            Evidence::new("allocation", format!("{}/s", size(gc.allocation_rate)), "GC log"),
            Evidence::new("promotion", format!("{}/s", size(promotion)), "GC log"),
        ],
        "Give the young generation more room: a larger heap, a longer pause goal (G1), or smaller bulks that die sooner.",
        seen.experiment().tune(Goal::Writes, &[(memory, &sizes), ("bulk-size", "1000,5000")]),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;

    #[test]
    fn promotion_is_weighed_against_allocation() {
        let with = |old: &str| {
            let young = |id: u32, at: &str| {
                format!(
                    "[{at}s][gc] GC({id}) ParOldGen: {old}\n[{at}s][gc] GC({id}) Pause Young (Allocation Failure) 400M->100M(512M) 5.0ms\n"
                )
            };
            recorded("es-9.4.3").with_gc_log(&(young(0, "1.0") + &young(1, "2.0")))
        };
        // 300 MB were allocated in the second between the two collections.
        check(&RULE, &with("0K(90M)->102400K(400M)"), "found: 67 % of what is allocated is promoted");
        check(&RULE, &with("0K(90M)->1024K(400M)"), "fine: 2.0MB/s of 300.0MB/s grow old");
        let plain = recorded("es-9.4.3")
            .with_gc_log("[1.0s][gc] GC(0) Pause Young (Normal) 4M->1M(5M) 5.0ms\n[2.0s][gc] x\n");
        check(&RULE, &plain, "unread: GC log, sizes of the old generation");
        check(&RULE, &recorded("limber"), "not here");
    }
}
