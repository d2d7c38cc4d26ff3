//! The cost of stronger compression while documents are written and merged.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;
use crate::advise::server::at;

pub(super) const RULE: Rule = Rule {
    id: "compression_cost",
    question: "Is stronger compression paid for where it is written often?",
    references: &[
        Reference {
            title: "Elasticsearch: index.codec",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/index-modules.html#index-codec",
        },
        Reference {
            title: "OpenSearch: index codecs",
            url: "https://docs.opensearch.org/latest/im-plugin/index-codecs/",
        },
    ],
    check,
};

/// Below this share of the work, merges cost too little for an experiment.
const MERGE_PERCENT_MIN: f64 = 10.0;
/// The largest share of a merge's time that stronger compression accounts for; measured shares are between a
/// tenth and a third.
const COMPRESSION_SHARE: f64 = 0.3;

fn check(seen: &Seen) -> Checked {
    let mut compressed = Vec::new();
    let (mut merge_millis, mut work_millis, mut store_bytes) = (0.0, 0.0, 0.0);
    for (index, stats) in seen.server.indices()? {
        let millis = |path: &str| at(stats, path).as_f64().unwrap_or(0.0);
        let merge = millis("total.merges.total_time_in_millis");
        work_millis += merge
            + millis("total.indexing.index_time_in_millis")
            + millis("total.refresh.total_time_in_millis");
        let codec = seen.server.index_setting(index, "index.codec")?.unwrap_or("default");
        if !matches!(codec, "default" | "lz4" | "legacy_default")
            && millis("total.indexing.index_total") > 0.0
        {
            merge_millis += merge;
            store_bytes += millis("total.store.size_in_bytes");
            compressed.push(format!("{index} ({codec})"));
        }
    }
    let cost = share(merge_millis, work_millis);
    if compressed.is_empty() {
        return fine("no index that is written has a codec of stronger compression".to_owned());
    }
    if cost < MERGE_PERCENT_MIN {
        return fine(format!(
            "merges of {} compressed indices are {} of the indexing work",
            compressed.len(),
            percent(cost)
        ));
    }
    let shown = compressed.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    found(
        format!("Merges of indices with stronger compression are {} of the indexing work", percent(cost)),
        Gain::judged(cost * COMPRESSION_SHARE, "of the indexing work, for more room on disk"),
        vec![
            Evidence::new("indices", shown, "_settings index.codec"),
            Evidence::new(
                "their merges",
                format!("{:.1} s", merge_millis / 1e3),
                "_stats merges.total_time_in_millis",
            ),
            Evidence::new(
                "all indexing, refreshing and merging",
                format!("{:.1} s", work_millis / 1e3),
                "_stats",
            ),
            Evidence::new("their size", size(store_bytes), "_stats store.size_in_bytes"),
        ],
        "Write with the default codec, and set best_compression when an index is no longer written, before a force-merge.",
        seen.experiment().tune(Goal::Writes, &[("index:index.codec", "default,best_compression")]),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::{IndexSettings, IndexStats};

    #[test]
    fn merges_of_compressed_indices_are_weighed() {
        // The index [archive] was recorded with best_compression, and it had few merges.
        check(&RULE, &recorded("es-9.4.3"), "fine: merges of 1 compressed indices are 0.0 %");
        let merging = recorded("es-9.4.3").with(
            IndexStats,
            "indices.archive.total.merges.total_time_in_millis",
            json!(60_000),
        );
        check(&RULE, &merging, "found: Merges of indices with stronger compression are");
        let plain = recorded("opensearch-3.8.0").with(
            IndexSettings,
            "archive.settings",
            json!({"index.codec": "default"}),
        );
        check(&RULE, &plain, "fine: no index");
        check(&RULE, &recorded("limber").without(IndexSettings), "unread: _settings");
    }
}
