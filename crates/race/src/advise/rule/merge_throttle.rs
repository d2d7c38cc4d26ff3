//! Merges that are throttled, and indexing that is throttled because merges cannot keep up.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "merge_throttle",
    question: "Do merges follow the indexing?",
    references: &[Reference {
        title: "Elasticsearch: merge scheduling",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/index-modules-merge.html",
    }],
    check,
};

/// Merges throttled for up to this share of their time are normal: they leave the disk to searches.
const MERGE_PERCENT_MAX: f64 = 50.0;
const INDEXING_PERCENT_MAX: f64 = 1.0;

fn check(seen: &Seen) -> Checked {
    let (mut most_merge, mut most_indexing): (f64, f64) = (0.0, 0.0);
    for node in seen.server.data_nodes()? {
        let indexing = node.stat("indices.indexing.index_time_in_millis")?;
        let held_indexing = node.stat("indices.indexing.throttle_time_in_millis")?;
        let merging = node.stat("indices.merges.total_time_in_millis")?;
        let held_merging = node.stat("indices.merges.total_throttled_time_in_millis")?;
        let indexing_percent = share(held_indexing, held_indexing + indexing);
        let merge_percent = share(held_merging, merging);
        most_merge = most_merge.max(merge_percent);
        most_indexing = most_indexing.max(indexing_percent);
        let evidence = vec![
            Evidence::new(
                "indexing held back",
                format!("{:.1} s of {:.1} s", held_indexing / 1e3, indexing / 1e3),
                "_nodes/stats indices.indexing.throttle_time_in_millis",
            ),
            Evidence::new(
                "merges held back",
                format!("{:.1} s of {:.1} s", held_merging / 1e3, merging / 1e3),
                "_nodes/stats indices.merges.total_throttled_time_in_millis",
            ),
        ];
        let experiment = || {
            seen.experiment().tune(
                Goal::Writes,
                &[
                    ("index:index.merge.scheduler.max_thread_count", "1,2,4"),
                    ("index:index.refresh_interval", "1s,30s"),
                ],
            )
        };
        if indexing_percent > INDEXING_PERCENT_MAX {
            return found(
                format!(
                    "Indexing on node [{}] waits {} of its time for merges",
                    node.name,
                    percent(indexing_percent)
                ),
                Gain::measured(indexing_percent, "of the indexing time"),
                evidence,
                "Make fewer segments (a longer refresh interval, a larger index buffer) or let more merges run on a fast disk (index.merge.scheduler.max_thread_count).",
                experiment(),
            );
        }
        if merge_percent > MERGE_PERCENT_MAX {
            return found(
                format!(
                    "Merges on node [{}] are held back {} of their time",
                    node.name,
                    percent(merge_percent)
                ),
                Gain::judged(5.0, "of the time of searches, in fewer segments"),
                evidence,
                "On a fast disk let merges write faster or side by side; on a slow one write less.",
                experiment(),
            );
        }
    }
    fine(format!(
        "merges are held back {} of their time, indexing {}",
        percent(most_merge),
        percent(most_indexing)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    #[test]
    fn held_back_work_is_found() {
        for name in ["es-9.4.3", "opensearch-3.8.0", "es-7.10.2", "limber"] {
            check(&RULE, &recorded(name), "fine: merges are held back 0.0 %");
        }
        let held = recorded("es-9.4.3")
            .with(NodeStats, "nodes.*.indices.indexing.throttle_time_in_millis", json!(30_000))
            .with(NodeStats, "nodes.*.indices.indexing.index_time_in_millis", json!(70_000));
        check(
            &RULE,
            &held,
            "found: Indexing on node [es-9.4.3] waits 30 % of its time for merges (up to 30 %",
        );
        let slow = recorded("es-7.10.2")
            .with(NodeStats, "nodes.*.indices.merges.total_throttled_time_in_millis", json!(9_000))
            .with(NodeStats, "nodes.*.indices.merges.total_time_in_millis", json!(10_000));
        check(&RULE, &slow, "found: Merges on node [es-7.10.2] are held back 90 %");
        let silent = recorded("es-7.10.2").with(NodeStats, "nodes.*.indices.merges", json!({}));
        check(&RULE, &silent, "unread: _nodes/stats indices.merges.total_time_in_millis");
    }
}
