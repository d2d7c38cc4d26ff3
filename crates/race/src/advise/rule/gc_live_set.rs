//! Live data in proportion to the heap: a heap that is too small makes collections frequent, one that is too
//! large takes memory from others.

use super::contract::{NO_HEAP, Rule, fine, found, not_here};
use crate::advise::experiment::{Goal, megabytes};
use crate::advise::finding::{Checked, Evidence, Gain, Reference, Unread};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "gc_live_set",
    question: "Is the heap as large as what lives in it needs?",
    references: &[Reference {
        title: "Java: factors affecting garbage collection performance",
        url: "https://docs.oracle.com/en/java/javase/21/gctuning/factors-affecting-garbage-collection-performance.html",
    }],
    check,
};

const FULL_PERCENT: f64 = 75.0;
/// A heap in which so small a share survives could be half as large.
const EMPTY_PERCENT: f64 = 20.0;
/// Halving a heap gives little memory back if it frees less than this.
const GIVEN_BACK_BYTES_MIN: f64 = 2.0 * (1u64 << 30) as f64;

fn check(seen: &Seen) -> Checked {
    if seen.is_limber() {
        return not_here(NO_HEAP);
    }
    let gc = seen.gc.as_ref().map_err(Clone::clone)?;
    let missing = |what: &str| Unread::new(format!("GC log, {what}"), "the log has no line of it");
    let alive = gc.after_bytes.ok_or_else(|| missing("heap after collections"))?;
    let capacity = gc.capacity_bytes.ok_or_else(|| missing("size of the heap"))? as f64;
    let full = share(alive, capacity);
    let evidence = vec![
        Evidence::new("heap after the last collections", size(alive), "GC log"),
        Evidence::new("heap", size(capacity), "GC log"),
        Evidence::new("collections", format!("{:.1} a minute", gc.pauses_per_minute), "GC log"),
    ];
    if full > FULL_PERCENT {
        return found(
            format!("{} of the heap are still in use after collections", percent(full)),
            Gain::judged(gc.pause_percent.max(5.0), "of the time, in collections that find little"),
            evidence,
            "Give the heap more room, or find what fills it (fielddata, many shards, large requests at once).",
            seen.experiment().tune(
                Goal::Searches,
                &[("heap", &format!("{},{}", megabytes(capacity), megabytes(2.0 * capacity)))],
            ),
        );
    }
    if full < EMPTY_PERCENT && capacity / 2.0 >= GIVEN_BACK_BYTES_MIN {
        return found(
            format!("Only {} of a heap of {} survive collections", percent(full), size(capacity)),
            Gain::judged(5.0, "of the time of searches, with half of the heap as page cache"),
            evidence,
            "Try half of the heap: the rest becomes page cache.",
            seen.experiment().tune(
                Goal::Searches,
                &[("heap", &format!("{},{}", megabytes(capacity), megabytes(capacity / 2.0)))],
            ),
        );
    }
    fine(format!("{} of {} survive collections", percent(full), size(capacity)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;

    #[test]
    fn the_live_set_is_weighed_against_the_heap() {
        let with = |change: &str| {
            recorded("es-9.4.3").with_gc_log(&format!(
                "[1.0s][gc] GC(0) Pause Young (Normal) {change} 5.0ms\n[99.0s][gc] x\n"
            ))
        };
        check(&RULE, &with("126M->110M(128M)"), "found: 86 % of the heap are still in use after collections");
        check(&RULE, &with("90M->40M(128M)"), "fine: 31 % of 128.0MB survive");
        check(&RULE, &with("7G->1G(8G)"), "found: Only 12 % of a heap of 8.0GB survive collections");
        check(&RULE, &with(""), "unread: GC log, heap after collections");
        check(&RULE, &recorded("es-9.4.3"), "unread: GC log");
        check(&RULE, &recorded("limber"), "not here");
    }
}
