//! A data disk that is busy all the time, by iostat's figures.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::machine::DiskActivity;
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;
use crate::drive::conditions::proc_files::pressure;

pub(super) const RULE: Rule = Rule {
    id: "disk_busy",
    question: "Does the disk under the data have time left?",
    references: &[
        Reference {
            title: "Elasticsearch: use faster hardware",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/tune-for-indexing-speed.html#indexing-use-faster-hardware",
        },
        Reference {
            title: "Linux: I/O statistics fields",
            url: "https://docs.kernel.org/admin-guide/iostats.html",
        },
    ],
    check,
};

const BUSY_PERCENT_MAX: f64 = 80.0;
/// Requests in flight from which on they wait for each other: solid-state disks serve several at once.
const QUEUE_MAX: f64 = 2.0;

fn evidence_of(activity: &DiskActivity, file: &str) -> Vec<Evidence> {
    vec![
        Evidence::new("busy", percent(activity.busy_percent), file),
        Evidence::new("requests on their way", format!("{:.1}", activity.queue), file),
        Evidence::new(
            "reads",
            format!(
                "{:.0}/s, {}/s, {:.1} ms each",
                activity.reads,
                size(activity.read_bytes),
                activity.read_await_millis
            ),
            file,
        ),
        Evidence::new(
            "writes",
            format!(
                "{:.0}/s, {}/s, {:.1} ms each",
                activity.writes,
                size(activity.written_bytes),
                activity.write_await_millis
            ),
            file,
        ),
    ]
}

fn check(seen: &Seen) -> Checked {
    let Ok(machine) = seen.machine() else { return from_server_stats(seen) };
    let node = seen.local_node()?;
    let mut calmest = String::new();
    for data in node.list("fs.data")? {
        let Some(folder) = data["path"].as_str() else { continue };
        let disk = machine.disk_of(folder)?;
        let activity = machine.disk_activity(&disk.name)?;
        let file = format!("/proc/diskstats {}", disk.name);
        if activity.busy_percent < BUSY_PERCENT_MAX || activity.queue < QUEUE_MAX {
            calmest = format!(
                "disk {} is busy {} of the time, queue {:.1}",
                disk.name,
                percent(activity.busy_percent),
                activity.queue
            );
            continue;
        }
        let pressure = pressure(&machine.read("proc/pressure/io").unwrap_or_default(), "avg10");
        let mut evidence = evidence_of(&activity, &file);
        let gain = match pressure {
            Some(stalled) => {
                evidence.push(Evidence::new(
                    "time in which a task waited for I/O",
                    percent(stalled),
                    "/proc/pressure/io some avg10",
                ));
                Gain::measured(stalled, "of the time, in which some task waits for the disk")
            }
            None => Gain::judged(
                activity.busy_percent / 2.0,
                "of the time, in which some task waits for the disk",
            ),
        };
        let kind = if disk.is_rotational == Some(true) { "rotating disk" } else { "disk" };
        return found(
            format!(
                "The {kind} [{}] under [{folder}] is busy {} of the time",
                disk.name,
                percent(activity.busy_percent)
            ),
            gain,
            evidence,
            "Use a faster disk, spread the shards over nodes with disks of their own, or write less: a longer refresh interval, a larger index buffer.",
            seen.experiment().tune(
                Goal::Writes,
                &[
                    ("index:index.refresh_interval", "1s,30s"),
                    ("engine:indices.memory.index_buffer_size", "10%,25%"),
                ],
            ),
        );
    }
    fine(calmest)
}

/// Uses what the server says about its disks. Elasticsearch and OpenSearch report it on Linux.
fn from_server_stats(seen: &Seen) -> Checked {
    let mut busiest: f64 = 0.0;
    for node in seen.server.data_nodes()? {
        let busy = share(node.growth("fs.io_stats.total.io_time_in_millis")? / 1e3, seen.window_s);
        busiest = busiest.max(busy);
        if busy < BUSY_PERCENT_MAX {
            continue;
        }
        return found(
            format!("The disk of node [{}] is busy {} of the time", node.name, percent(busy)),
            Gain::judged(busy / 2.0, "of the time, in which some task waits for the disk"),
            vec![Evidence::new(
                "busy",
                percent(busy),
                "_nodes/stats fs.io_stats.total.io_time_in_millis, twice",
            )],
            "Look at iostat on that machine, or run `limber advise` there: a queue says whether the disk is the limit.",
            seen.experiment().tune(Goal::Writes, &[("index:index.refresh_interval", "1s,30s")]),
        );
    }
    fine(format!("disks are busy {} of the time at most", percent(busiest)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;

    const MOUNTS: (&str, &str) = ("proc/17/mountinfo", "30 1 254:0 / / rw - ext4 /dev/vda rw\n");

    #[test]
    fn a_busy_disk_with_a_queue_is_found() {
        let idle = ("proc/diskstats", "254 0 vda 0 0 0 0 0 0 0 0 0 0 0\n");
        let busy = ("proc/diskstats", "254 0 vda 500 0 8000 5000 1000 0 80000 25000 4 4800 30000\n");
        let pressure = (
            "proc/pressure/io",
            "some avg10=41.50 avg60=9.00 avg300=1.00 total=5\nfull avg10=1.00 avg60=0 avg300=0 total=1\n",
        );
        let server = recorded("es-9.4.3").on_machine(&[MOUNTS, idle, pressure], &[busy]);
        check(&RULE, &server, "found: The disk [vda] under [/data] is busy 96 % of the time (up to 42 %");
        check(&RULE, &recorded("es-9.4.3").on_machine(&[MOUNTS, idle], &[]), "fine: disk vda is busy 0.0 %");
        check(&RULE, &recorded("es-9.4.3").on_machine(&[], &[]), "unread: /proc/17/mountinfo");
    }

    #[test]
    fn from_afar_the_server_has_to_say_it() {
        let busy = recorded("opensearch-3.8.0").grown("nodes.*.fs.io_stats.total.io_time_in_millis", 4_900.0);
        check(&RULE, &busy, "found: The disk of node [opensearch-3.8.0] is busy 98 %");
        check(&RULE, &recorded("es-9.4.3"), "fine: disks are busy 0.0 %");
        check(&RULE, &recorded("es-7.10.2"), "unread: _nodes/stats fs.io_stats.total.io_time_in_millis");
        check(&RULE, &recorded("limber"), "unread: _nodes/stats fs.io_stats.total.io_time_in_millis");
    }
}
