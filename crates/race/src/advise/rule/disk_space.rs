//! Disks near the watermarks above which shards move away and writes stop.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;
use crate::notation::units::bytes_of;

pub(super) const RULE: Rule = Rule {
    id: "disk_space",
    question: "Are the disks below their watermarks?",
    references: &[Reference {
        title: "Elasticsearch: disk-based shard allocation settings",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/modules-cluster.html#disk-based-shard-allocation",
    }],
    check,
};

const WATERMARK: &str = "cluster.routing.allocation.disk.watermark";
const ENABLED: &str = "cluster.routing.allocation.disk.threshold_enabled";

fn check(seen: &Seen) -> Checked {
    let mut fullest: f64 = 0.0;
    let is_off = seen.server.setting(ENABLED)? == Some("false");
    for node in seen.server.data_nodes()? {
        let (total, free) =
            (node.stat("fs.total.total_in_bytes")?, node.stat("fs.total.available_in_bytes")?);
        let used = share(total - free, total);
        fullest = fullest.max(used);
        if is_off {
            continue;
        }
        // Report the highest watermark that is passed.
        for (name, fallback, gain, meaning) in [
            ("flood_stage", 95.0, 100.0, "indices with a shard there take no more writes"),
            ("high", 90.0, 20.0, "shards are moved away from it"),
            ("low", 85.0, 5.0, "no new copies of shards are put there"),
        ] {
            let text = seen.server.setting(&format!("{WATERMARK}.{name}"))?;
            let headroom =
                seen.server.setting(&format!("{WATERMARK}.{name}.max_headroom"))?.and_then(bytes_of);
            let passed = match text.map(str::trim) {
                // On large disks, a percentage keeps more free than is needed, so the headroom applies if it
                // is less.
                Some(text) if text.ends_with('%') => {
                    let most: f64 = text.trim_end_matches('%').parse().unwrap_or(fallback);
                    let least_free = total * (1.0 - most / 100.0);
                    free < headroom
                        .filter(|bytes| *bytes >= 0.0)
                        .map_or(least_free, |bytes| bytes.min(least_free))
                }
                Some(text) => bytes_of(text).is_some_and(|least_free| free < least_free),
                None => used > fallback,
            };
            if !passed {
                continue;
            }
            return found(
                format!("The disk of node [{}] is above its watermark [{name}]: {meaning}", node.name),
                Gain::judged(gain, "of the writes and of the room for copies"),
                vec![
                    Evidence::new(
                        "in use",
                        format!("{} of {}", percent(used), size(total)),
                        "_nodes/stats fs.total",
                    ),
                    Evidence::new("free", size(free), "_nodes/stats fs.total.available_in_bytes"),
                    Evidence::new(
                        format!("watermark {name}"),
                        text.unwrap_or("not set"),
                        format!("_cluster/settings {WATERMARK}.{name}"),
                    ),
                ],
                "Delete what is not needed, add disks, or compress what is no longer written (best_compression).",
                seen.experiment().tune(Goal::StoreSize, &[("index:index.codec", "default,best_compression")]),
            );
        }
    }
    let off = if is_off { "; the watermarks are switched off" } else { "" };
    fine(format!("{} of a disk are in use at most{off}", percent(fullest)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::{ENABLED, RULE};
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::{ClusterSettings, NodeStats};

    #[test]
    fn the_highest_passed_watermark_is_named() {
        check(&RULE, &recorded("es-9.4.3"), "fine: 81 %");
        let free = |bytes: u64| {
            recorded("es-9.4.3").with(NodeStats, "nodes.*.fs.total.available_in_bytes", json!(bytes))
        };
        check(
            &RULE,
            &free(39_000_000_000),
            "found: The disk of node [es-9.4.3] is above its watermark [low]",
        );
        check(
            &RULE,
            &free(24_000_000_000),
            "found: The disk of node [es-9.4.3] is above its watermark [high]",
        );
        check(
            &RULE,
            &free(1_000_000),
            "found: The disk of node [es-9.4.3] is above its watermark [flood_stage]",
        );
        let off = free(1_000_000).with(ClusterSettings, "transient", json!({ENABLED: "false"}));
        check(&RULE, &off, "fine: 100 % of a disk are in use at most; the watermarks are switched off");
        let absolute = recorded("es-7.10.2").with(
            ClusterSettings,
            "persistent",
            json!({"cluster.routing.allocation.disk.watermark.low": "100gb"}),
        );
        check(&RULE, &absolute, "found: The disk of node [es-7.10.2] is above its watermark [low]");
        check(&RULE, &recorded("limber").without(ClusterSettings), "unread: _cluster/settings");
    }
}
