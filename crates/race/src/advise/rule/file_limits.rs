//! Each segment has several files and each client needs a socket: the process has to be allowed enough of
//! both, and enough threads.

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "file_limits",
    question: "May the server open as many files and threads as it needs?",
    references: &[
        Reference {
            title: "Elasticsearch: file descriptors",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/file-descriptors.html",
        },
        Reference {
            title: "Elasticsearch: number of threads",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/max-number-of-threads.html",
        },
    ],
    check,
};

const FILES_WANTED: f64 = 65_535.0;
const THREADS_WANTED: f64 = 4_096.0;
const NEAR_PERCENT: f64 = 70.0;

fn check(seen: &Seen) -> Checked {
    let mut calmest = String::new();
    for node in seen.server.nodes()? {
        let (open, allowed) =
            (node.stat("process.open_file_descriptors")?, node.stat("process.max_file_descriptors")?);
        let used = share(open, allowed);
        calmest = format!("{open:.0} of {allowed:.0} files are open");
        // Limber opens one or two files per segment and keeps them mapped, so only what it uses counts and
        // not the number that other servers want.
        if used < NEAR_PERCENT && (allowed >= FILES_WANTED || seen.is_limber()) {
            continue;
        }
        let title = match used >= NEAR_PERCENT {
            true => format!("Node [{}] has {} of the files open that it may", node.name, percent(used)),
            false => format!("Node [{}] may open {allowed:.0} files only", node.name),
        };
        return found(
            title,
            Gain::judged(
                if used >= NEAR_PERCENT { 50.0 } else { 4.0 },
                "of the shards: without a file a segment does not open",
            ),
            vec![
                Evidence::new("open", open, "_nodes/stats process.open_file_descriptors"),
                Evidence::new("allowed", allowed, "_nodes/stats process.max_file_descriptors"),
            ],
            "Raise the limit to 65535 or more (LimitNOFILE of the service, nofile in limits.conf).",
            seen.experiment().before_and_after("# raise nofile and restart"),
        );
    }
    if let Ok(machine) = seen.machine()
        && let Some(threads) = machine.limit("Max processes")?
        && threads < THREADS_WANTED
    {
        return found(
            format!("The server may start {threads:.0} threads only"),
            Gain::judged(4.0, "of the requests, when threads run out"),
            vec![Evidence::new("allowed", threads, format!("/proc/{}/limits Max processes", machine.pid))],
            "Raise the limit to 4096 or more (LimitNPROC of the service, nproc in limits.conf).",
            seen.experiment().before_and_after("# raise nproc and restart"),
        );
    }
    fine(calmest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    #[test]
    fn limits_of_files_and_threads() {
        // It was recorded on a machine that allows 20,000.
        check(&RULE, &recorded("es-9.4.3"), "found: Node [es-9.4.3] may open 20000 files only");
        check(&RULE, &recorded("limber"), "fine");
        let full = recorded("limber").with(NodeStats, "nodes.*.process.open_file_descriptors", json!(18_000));
        check(&RULE, &full, "found: Node [vm] has 90 % of the files open that it may (about 50 %");
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax processes             1024                96365                processes \n";
        let few = recorded("limber").on_machine(&[("proc/17/limits", limits)], &[]);
        check(&RULE, &few, "found: The server may start 1024 threads only");
        check(&RULE, &recorded("limber").on_machine(&[], &[]), "unread: /proc/17/limits");
        check(&RULE, &recorded("limber").without(NodeStats), "unread: _nodes/stats");
    }
}
