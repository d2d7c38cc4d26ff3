//! Data that does not fit into the memory left for it, and is read from the disk again and again.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference, Unread};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;
use crate::advise::server::Node;

pub(super) const RULE: Rule = Rule {
    id: "page_cache",
    question: "Does the data that is read fit into the page cache?",
    references: &[Reference {
        title: "Elasticsearch: give memory to the filesystem cache",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/tune-for-search-speed.html#_give_memory_to_the_filesystem_cache_2",
    }],
    check,
};

/// Fewer reads come from a merge or a log rotation, not from searches that miss the cache.
const READ_BYTES_A_SECOND_MIN: f64 = 4.0 * 1048576.0;
/// Estimated gain in the searches' time for each percent of the data that does not fit into memory.
const SHARE_JUDGED: f64 = 0.4;

/// Returns the bytes per second that the disk of a node's data read, and where the number was found.
fn bytes_read(seen: &Seen, node: &Node<'_>, is_local: bool) -> Result<(f64, String), Unread> {
    match is_local {
        true => {
            let folder = node.list("fs.data")?.first().and_then(|data| data["path"].as_str()).unwrap_or("/");
            let disk = seen.machine()?.disk_of(folder)?;
            Ok((
                seen.machine()?.disk_activity(&disk.name)?.read_bytes,
                format!("/proc/diskstats {}", disk.name),
            ))
        }
        false => {
            let read = node.growth("fs.io_stats.total.read_kilobytes")? * 1024.0 / seen.window_s.max(0.001);
            Ok((read, "_nodes/stats fs.io_stats.total.read_kilobytes, twice".to_owned()))
        }
    }
}

fn check(seen: &Seen) -> Checked {
    let mut calmest = String::new();
    for node in seen.server.data_nodes()? {
        let data = node.stat("indices.store.size_in_bytes")?;
        let heap = match seen.is_limber() {
            true => node.stat("limber.memory.anonymous_in_bytes")?,
            false => node.info("jvm.mem.heap_max_in_bytes")?,
        };
        let is_local = seen.local_node().is_ok_and(|local| local.name == node.name);
        let (memory, source) = match is_local {
            true => seen.machine()?.usable_memory()?,
            false => (node.stat("os.mem.total_in_bytes")?, "_nodes/stats os.mem.total_in_bytes".to_owned()),
        };
        let room = (memory - heap).max(0.0);
        calmest = format!("{} of data, {} of memory for them", size(data), size(room));
        if data <= room {
            continue;
        }
        let (read, read_source) = bytes_read(seen, &node, is_local)?;
        if read < READ_BYTES_A_SECOND_MIN {
            calmest = format!("{calmest}; only {}/s were read from the disk", size(read));
            continue;
        }
        let (knob, sizes) = seen.memory_knob();
        return found(
            format!(
                "Node [{}] has {} of data and {} of memory to keep them in, and reads {}/s from the disk",
                node.name,
                size(data),
                size(room),
                size(read)
            ),
            Gain::judged(
                share(data - room, data) * SHARE_JUDGED,
                "of the time of searches that read what is not in memory",
            ),
            vec![
                Evidence::new("data on the node", size(data), "_nodes/stats indices.store.size_in_bytes"),
                Evidence::new("memory", size(memory), source),
                Evidence::new(
                    "heap, or memory of Limber's own",
                    size(heap),
                    if seen.is_limber() {
                        "_nodes/stats limber.memory.anonymous_in_bytes"
                    } else {
                        "_nodes jvm.mem.heap_max_in_bytes"
                    },
                ),
                Evidence::new(
                    "share of the data that fits",
                    percent(share(room, data)),
                    "memory less heap, over data",
                ),
                Evidence::new("read from the disk", format!("{}/s", size(read)), read_source),
            ],
            "Give the node more memory or fewer shards, make the heap smaller if collections leave it half empty, or compress what is seldom read.",
            seen.experiment()
                .tune(Goal::Searches, &[(knob, &sizes), ("index:index.codec", "default,best_compression")]),
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
    fn data_that_is_read_from_the_disk_is_found() {
        check(&RULE, &recorded("es-9.4.3"), "fine: 7.8MB of data, 23.0GB of memory");
        check(&RULE, &recorded("limber"), "fine");
        let large = |name: &str| {
            recorded(name).with(NodeStats, "nodes.*.indices.store.size_in_bytes", json!(107_374_182_400u64))
        };
        check(&RULE, &large("es-7.10.2"), "fine: 100.0GB of data, 23.0GB of memory for them; only 0B/s");
        let reading = large("es-9.4.3").grown("nodes.*.fs.io_stats.total.read_kilobytes", 512_000.0);
        check(
            &RULE,
            &reading,
            "found: Node [es-9.4.3] has 100.0GB of data and 23.0GB of memory to keep them in, and reads 100.0MB/s",
        );
        check(&RULE, &large("limber"), "unread: _nodes/stats fs.io_stats.total.read_kilobytes");
    }
}
