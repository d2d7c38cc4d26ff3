//! Single pauses that a user notices, whatever their share of the time.

use super::contract::{NO_HEAP, Rule, fine, found, not_here};
use crate::advise::experiment::{COLLECTORS, Goal};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "gc_long_pauses",
    question: "Is no single garbage collection felt by a user?",
    references: &[Reference {
        title: "Java: garbage-first garbage collector tuning, pause times",
        url: "https://docs.oracle.com/en/java/javase/21/gctuning/garbage-first-garbage-collector-tuning.html",
    }],
    check,
};

/// G1 aims at 200 ms; users notice pauses this long.
const PAUSE_MILLIS_MAX: f64 = 500.0;
/// After a pause this long, other nodes begin to suspect that the node has left.
const GRAVE_MILLIS: f64 = 5_000.0;

fn check(seen: &Seen) -> Checked {
    if seen.is_limber() {
        return not_here(NO_HEAP);
    }
    let gc = seen.gc.as_ref().map_err(Clone::clone)?;
    if gc.pause_max_millis <= PAUSE_MILLIS_MAX {
        return fine(format!("the longest of {} pauses took {:.0} ms", gc.pause_count, gc.pause_max_millis));
    }
    let (memory, sizes) = seen.memory_knob();
    found(
        format!("A garbage collection stopped the application for {:.1} s", gc.pause_max_millis / 1e3),
        Gain::judged(
            if gc.pause_max_millis > GRAVE_MILLIS { 40.0 } else { 10.0 },
            "of the slowest requests' time",
        ),
        vec![
            Evidence::new("longest pause", format!("{:.0} ms", gc.pause_max_millis), "GC log"),
            Evidence::new(
                "p99, p99.9",
                format!("{:.0} ms, {:.0} ms", gc.percentile_millis(99.0), gc.percentile_millis(99.9)),
                "GC log",
            ),
            Evidence::new("full collections", gc.full_count, "GC log"),
            Evidence::new(
                "longest way to a safepoint",
                format!("{:.0} ms", gc.reaching_millis_max),
                "GC log",
            ),
        ],
        "See whether it was a full collection (too little heap), swapped memory, or a large live set; ZGC and Shenandoah do not stop for its size.",
        seen.experiment().tune(Goal::Searches, &[COLLECTORS, (memory, &sizes)]),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;

    #[test]
    fn a_long_pause_is_found() {
        let with = |millis: &str| {
            recorded("es-7.10.2").with_gc_log(&format!(
                "[1.0s][gc] GC(0) Pause Full (System.gc()) 40M->9M(128M) {millis}ms\n[99.0s][gc] x\n"
            ))
        };
        check(&RULE, &with("90.1"), "fine: the longest of 1 pauses took 90 ms");
        check(
            &RULE,
            &with("900.1"),
            "found: A garbage collection stopped the application for 0.9 s (about 10 %",
        );
        check(
            &RULE,
            &with("9000.1"),
            "found: A garbage collection stopped the application for 9.0 s (about 40 %",
        );
        check(&RULE, &recorded("es-7.10.2"), "unread: GC log");
        check(&RULE, &recorded("limber"), "not here");
    }
}
