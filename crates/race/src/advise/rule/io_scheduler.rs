//! The I/O scheduler of the data disk, and its read-ahead.

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference, Unread};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "io_scheduler",
    question: "Does the kernel drive the data's disk as it should?",
    references: &[
        Reference {
            title: "Elasticsearch: use modest readahead values",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/tune-for-search-speed.html#_avoid_page_cache_thrashing_by_using_modest_readahead_values_on_linux",
        },
        Reference {
            title: "Linux: switching I/O schedulers",
            url: "https://docs.kernel.org/block/switching-sched.html",
        },
    ],
    check,
};

/// The kernel's default, which Elastic recommends.
const READ_AHEAD_KIB_MAX: u64 = 128;

fn check(seen: &Seen) -> Checked {
    let machine = seen.machine()?;
    let node = seen.local_node()?;
    let folder = node.list("fs.data")?.first().and_then(|data| data["path"].as_str());
    let folder =
        folder.ok_or_else(|| Unread::new("_nodes/stats fs.data.path", "the answer does not have it"))?;
    let disk = machine.disk_of(folder)?;
    let queue = format!("/sys/class/block/{}/queue", disk.name);
    let missing = |file: &str| Unread::new(format!("{queue}/{file}"), "the disk does not have it");
    let read_ahead = disk.read_ahead_kib.ok_or_else(|| missing("read_ahead_kb"))?;
    let scheduler = disk.scheduler.clone().ok_or_else(|| missing("scheduler"))?;
    let is_rotational = disk.is_rotational.ok_or_else(|| missing("rotational"))?;
    let evidence = vec![
        Evidence::new("read-ahead", format!("{read_ahead} KiB"), format!("{queue}/read_ahead_kb")),
        Evidence::new("scheduler", &scheduler, format!("{queue}/scheduler")),
        Evidence::new("rotating", is_rotational, format!("{queue}/rotational")),
    ];
    if read_ahead > READ_AHEAD_KIB_MAX {
        return found(
            format!(
                "The disk [{}] reads {read_ahead} KiB ahead: searches read a few pages here and there",
                disk.name
            ),
            Gain::judged(5.0, "of the page cache, filled with what nobody asked for"),
            evidence,
            format!("Set the read-ahead of the disk to {READ_AHEAD_KIB_MAX} KiB."),
            seen.experiment()
                .before_and_after(&format!("echo {READ_AHEAD_KIB_MAX} | sudo tee {queue}/read_ahead_kb")),
        );
    }
    let wanted = match (is_rotational, scheduler.as_str()) {
        (true, "none" | "noop") => Some("mq-deadline"),
        (false, "bfq" | "cfq") => Some("none"),
        _ => None,
    };
    if let Some(wanted) = wanted {
        let kind = if is_rotational { "rotating" } else { "solid-state" };
        return found(
            format!("The {kind} disk [{}] has the I/O scheduler {scheduler}", disk.name),
            Gain::judged(3.0, "of the time of requests that wait for the disk"),
            evidence,
            format!("Set its scheduler to {wanted}."),
            seen.experiment().before_and_after(&format!("echo {wanted} | sudo tee {queue}/scheduler")),
        );
    }
    fine(format!("disk {}: scheduler {scheduler}, read-ahead {read_ahead} KiB", disk.name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;

    #[test]
    fn scheduler_and_read_ahead() {
        let with = |scheduler: &str, read_ahead: &str, rotational: &str| {
            recorded("es-9.4.3").on_machine(
                &[
                    ("proc/17/mountinfo", "30 1 254:0 / / rw - ext4 /dev/vda rw\n"),
                    ("proc/diskstats", "254 0 vda 0 0 0 0 0 0 0 0 0 0 0\n"),
                    ("sys/class/block/vda/queue/scheduler", scheduler),
                    ("sys/class/block/vda/queue/read_ahead_kb", read_ahead),
                    ("sys/class/block/vda/queue/rotational", rotational),
                ],
                &[],
            )
        };
        check(
            &RULE,
            &with("none [mq-deadline] bfq\n", "128\n", "0\n"),
            "fine: disk vda: scheduler mq-deadline",
        );
        check(&RULE, &with("[none]\n", "4096\n", "0\n"), "found: The disk [vda] reads 4096 KiB ahead");
        check(
            &RULE,
            &with("none [bfq]\n", "128\n", "0\n"),
            "found: The solid-state disk [vda] has the I/O scheduler bfq",
        );
        check(
            &RULE,
            &with("[none] bfq\n", "128\n", "1\n"),
            "found: The rotating disk [vda] has the I/O scheduler none",
        );
        check(&RULE, &with("[none]\n", "\n", "1\n"), "unread: /sys/class/block/vda/queue/read_ahead_kb");
        check(&RULE, &recorded("es-9.4.3"), "unread: the server's machine");
    }
}
