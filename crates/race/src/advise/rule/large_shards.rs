//! Shards that take too long to move and to recover, and that a single thread searches.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::size;
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "large_shards",
    question: "Is every shard small enough to be moved and searched in time?",
    references: &[Reference {
        title: "Elasticsearch: aim for shards of 10 GB to 50 GB",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/size-your-shards.html#shard-size-recommendation",
    }],
    check,
};

const SHARD_BYTES_MAX: f64 = 50.0 * (1u64 << 30) as f64;

fn check(seen: &Seen) -> Checked {
    let shards = seen.server.shards()?;
    let largest = shards
        .iter()
        .filter_map(|shard| Some((shard.store_bytes()?, shard.index())))
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    let Some((bytes, index)) = largest else { return fine("there is no shard".to_owned()) };
    if bytes <= SHARD_BYTES_MAX {
        return fine(format!("the largest shard has {}", size(bytes)));
    }
    let count = shards
        .iter()
        .filter(|shard| shard.store_bytes().is_some_and(|bytes| bytes > SHARD_BYTES_MAX))
        .count();
    found(
        format!("The largest shard, of [{index}], has {}, and {count} have more than 50 GB", size(bytes)),
        Gain::judged(10.0, "of the time of searches in that index, which more shards share"),
        vec![Evidence::new("largest shard", size(bytes), "_cat/shards store")],
        "Split the index or reindex it with more shards; roll over at 50 GB.",
        seen.experiment().tune(Goal::Searches, &[("index:index.number_of_shards", "1,2,4")]),
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
    fn a_large_shard_is_found() {
        check(&RULE, &recorded("es-9.4.3"), "fine: the largest shard has");
        let large = recorded("limber").with(Shards, "0.store", json!("64424509440"));
        check(
            &RULE,
            &large,
            "found: The largest shard, of [archive], has 60.0GB, and 1 have more than 50 GB",
        );
        check(&RULE, &recorded("limber").without(Shards), "unread: _cat/shards");
    }
}
