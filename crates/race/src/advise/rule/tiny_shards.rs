//! Shards far too small to be worth their cost.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share, size};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "tiny_shards",
    question: "Are most shards large enough to be worth their cost?",
    references: &[Reference {
        title: "Elasticsearch: aim for shards of 10 GB to 50 GB",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/size-your-shards.html#shard-size-recommendation",
    }],
    check,
};

const TINY_BYTES: f64 = (1u64 << 30) as f64;
/// Fewer tiny shards cost little.
const TINY_COUNT_MIN: usize = 20;
const TINY_PERCENT_MIN: f64 = 50.0;

fn check(seen: &Seen) -> Checked {
    let shards = seen.server.shards()?;
    let sizes: Vec<f64> =
        shards.iter().filter(|shard| shard.is_primary()).filter_map(|shard| shard.store_bytes()).collect();
    let tiny_count = sizes.iter().filter(|bytes| **bytes < TINY_BYTES).count();
    let tiny_percent = share(tiny_count as f64, sizes.len() as f64);
    let total: f64 = sizes.iter().sum();
    if tiny_count < TINY_COUNT_MIN || tiny_percent < TINY_PERCENT_MIN {
        return fine(format!("{tiny_count} of {} primary shards are below 1 GB", sizes.len()));
    }
    let mean = total / sizes.len() as f64;
    found(
        format!(
            "{tiny_count} of {} primary shards are below 1 GB; their mean is {}",
            sizes.len(),
            size(mean)
        ),
        Gain::judged(tiny_percent / 5.0, "of the time of searches over all indices"),
        vec![
            Evidence::new(
                "primary shards below 1 GB",
                format!("{tiny_count} ({})", percent(tiny_percent)),
                "_cat/shards store",
            ),
            Evidence::new("all primary shards", size(total), "_cat/shards store"),
        ],
        "Put small indices together, shrink those with several shards to one, roll over by size.",
        seen.experiment().tune(Goal::Searches, &[("index:index.number_of_shards", "1,2,5")]),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::Shards;

    #[test]
    fn many_small_shards_are_found() {
        for name in ["es-9.4.3", "opensearch-3.8.0", "es-7.10.2", "limber"] {
            check(&RULE, &recorded(name), "found: 33 of 33 primary shards are below 1 GB");
        }
        let large = recorded("es-9.4.3").with(Shards, "*.store", json!("21474836480"));
        check(&RULE, &large, "fine: 0 of 33");
        check(&RULE, &recorded("limber").without(Shards), "unread: _cat/shards");
    }
}
