//! Memory of the server that is swapped out: a garbage collection or a search that has to wait for it takes
//! seconds.

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::size;
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "swap",
    question: "Does the server's memory stay in memory?",
    references: &[Reference {
        title: "Elasticsearch: disable swapping",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/setup-configuration-memory.html",
    }],
    check,
};

/// The value that Elastic recommends where swap has to stay on.
const SWAPPINESS_MAX: f64 = 1.0;

fn check(seen: &Seen) -> Checked {
    let Ok(machine) = seen.machine() else { return from_server_stats(seen) };
    let memory = machine.memory()?;
    if memory.swap_total == 0.0 {
        return fine("the machine has no swap".to_owned());
    }
    let swapped = machine.status_bytes("VmSwap")?;
    let rate = machine.vmstat_rate("pswpin")? + machine.vmstat_rate("pswpout")?;
    let swappiness = machine.number("proc/sys/vm/swappiness")?;
    let is_locked = seen.local_node()?.info_flag("process.mlockall").unwrap_or(false);
    let evidence = vec![
        Evidence::new(
            "the server's memory on swap",
            size(swapped),
            format!("/proc/{}/status VmSwap", machine.pid),
        ),
        Evidence::new("pages in and out", format!("{rate:.0}/s"), "/proc/vmstat pswpin, pswpout"),
        Evidence::new(
            "swap in use",
            format!("{} of {}", size(memory.swap_total - memory.swap_free), size(memory.swap_total)),
            "/proc/meminfo",
        ),
        Evidence::new("swappiness", swappiness, "/proc/sys/vm/swappiness"),
        Evidence::new("memory locked", is_locked, "_nodes process.mlockall"),
    ];
    let advice =
        "Switch swap off (swapoff -a), or set bootstrap.memory_lock: true; at least vm.swappiness=1.";
    let experiment = seen.experiment().before_and_after("sudo swapoff -a");
    if swapped > 0.0 {
        let gain = if rate > 0.0 { 60.0 } else { 20.0 };
        return found(
            format!("{} of the server's memory are on swap", size(swapped)),
            Gain::judged(gain, "of the time of what touches that memory"),
            evidence,
            advice,
            experiment,
        );
    }
    if !is_locked && swappiness > SWAPPINESS_MAX {
        return found(
            format!(
                "The kernel may swap the server out: swap is on, swappiness is {swappiness:.0}, nothing is locked"
            ),
            Gain::judged(2.0, "of the time, when memory gets scarce"),
            evidence,
            advice,
            experiment,
        );
    }
    fine(format!("nothing of the server is on swap; swappiness {swappiness:.0}"))
}

/// Uses the machine's swap as the server reports it. The report does not say whose memory is swapped out.
fn from_server_stats(seen: &Seen) -> Checked {
    for node in seen.server.nodes()? {
        let used = node.stat("os.swap.used_in_bytes")?;
        if used > 0.0 && !node.info_flag("process.mlockall").unwrap_or(false) {
            return found(
                format!("{} of swap are in use on the machine of node [{}]", size(used), node.name),
                Gain::judged(10.0, "of the time of what touches that memory"),
                vec![Evidence::new("swap in use", size(used), "_nodes/stats os.swap.used_in_bytes")],
                "See on that machine whose memory it is (VmSwap in /proc/PID/status); switch swap off there, or lock the memory.",
                seen.experiment().before_and_after("# switch swap off on that machine"),
            );
        }
    }
    fine("no swap is in use".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    const MEMINFO: (&str, &str) = (
        "proc/meminfo",
        "MemTotal: 9 kB\nMemAvailable: 6 kB\nCached: 5 kB\nSwapTotal: 4096 kB\nSwapFree: 1024 kB\n",
    );
    const VMSTAT: (&str, &str) = ("proc/vmstat", "pswpin 10\npswpout 10\n");
    const SWAPPINESS: (&str, &str) = ("proc/sys/vm/swappiness", "60\n");

    #[test]
    fn swapped_memory_is_found_and_so_is_the_danger() {
        let with = |status: &str, files: &[(&str, &str)]| {
            let status = ("proc/17/status", status);
            recorded("es-9.4.3").on_machine(
                &[&[MEMINFO, VMSTAT, SWAPPINESS, status], files].concat(),
                &[("proc/vmstat", "pswpin 90\npswpout 10\n")],
            )
        };
        check(
            &RULE,
            &with("VmSwap: 2048 kB\n", &[]),
            "found: 2.0MB of the server's memory are on swap (about 60 %",
        );
        check(
            &RULE,
            &with("VmSwap: 0 kB\n", &[]),
            "found: The kernel may swap the server out: swap is on, swappiness is 60",
        );
        check(&RULE, &with("VmSwap: 0 kB\n", &[("proc/sys/vm/swappiness", "1\n")]), "fine");
        check(&RULE, &with("", &[]), "unread: /proc/17/status VmSwap");
        check(&RULE, &recorded("limber"), "fine: no swap is in use");
        let used = recorded("es-7.10.2").with(NodeStats, "nodes.*.os.swap.used_in_bytes", json!(1_048_576));
        check(&RULE, &used, "found: 1.0MB of swap are in use");
    }
}
