//! Segments are memory-mapped: the process has to be allowed enough maps.

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "map_count",
    question: "May the server map as many files as it has?",
    references: &[Reference {
        title: "Elasticsearch: virtual memory",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/vm-max-map-count.html",
    }],
    check,
};

const SETTING: &str = "proc/sys/vm/max_map_count";
/// What Elasticsearch and OpenSearch require to start in production.
const WANTED: f64 = 262_144.0;
const NEAR_PERCENT: f64 = 70.0;

fn check(seen: &Seen) -> Checked {
    let machine = seen.machine()?;
    let allowed = machine.number(SETTING)?;
    let used = machine.map_count()? as f64;
    let used_percent = share(used, allowed);
    if used_percent < NEAR_PERCENT && (allowed >= WANTED || seen.is_limber()) {
        return fine(format!("{used:.0} of {allowed:.0} maps are in use"));
    }
    let title = match used_percent >= NEAR_PERCENT {
        true => format!("{} of the memory maps the server may have are in use", percent(used_percent)),
        false => format!("A process may have {allowed:.0} memory maps only"),
    };
    found(
        title,
        Gain::judged(
            if used_percent >= NEAR_PERCENT { 50.0 } else { 5.0 },
            "of the shards: without a map a segment does not open",
        ),
        vec![
            Evidence::new("allowed", allowed, format!("/{SETTING}")),
            Evidence::new("in use", used, format!("/proc/{}/maps", machine.pid)),
        ],
        "Set vm.max_map_count to 262144 (1048576 for Elasticsearch 8.16 and later) in /etc/sysctl.d.",
        seen.experiment().before_and_after("sudo sysctl -w vm.max_map_count=1048576"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;

    #[test]
    fn maps_are_counted_against_the_limit() {
        let with = |server, allowed, maps| {
            recorded(server)
                .on_machine(&[("proc/sys/vm/max_map_count", allowed), ("proc/17/maps", maps)], &[])
        };
        check(&RULE, &with("es-9.4.3", "1048576\n", "a\nb\n"), "fine: 2 of 1048576");
        check(
            &RULE,
            &with("es-9.4.3", "65530\n", "a\nb\n"),
            "found: A process may have 65530 memory maps only",
        );
        check(&RULE, &with("limber", "65530\n", "a\nb\n"), "fine");
        check(&RULE, &with("limber", "4\n", "a\nb\nc\n"), "found: 75 % of the memory maps");
        check(&RULE, &recorded("es-9.4.3").on_machine(&[], &[]), "unread: /proc/sys/vm/max_map_count");
    }
}
