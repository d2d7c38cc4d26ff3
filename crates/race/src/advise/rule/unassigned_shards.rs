//! Shards that are on no node: data that cannot be searched, or a copy that is missing.

use std::collections::BTreeSet;

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::share;
use crate::advise::seen::Seen;
use crate::advise::server::Question;

pub(super) const RULE: Rule = Rule {
    id: "unassigned_shards",
    question: "Is every shard on a node?",
    references: &[Reference {
        title: "Elasticsearch: diagnose unassigned shards",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/diagnose-unassigned-shards.html",
    }],
    check,
};

fn check(seen: &Seen) -> Checked {
    let shards = seen.server.shards()?;
    let unassigned: Vec<_> = shards.iter().filter(|shard| shard.is_unassigned()).collect();
    if unassigned.is_empty() {
        return fine(format!("all {} are", shards.len()));
    }
    let primary_count = unassigned.iter().filter(|shard| shard.is_primary()).count();
    let names = |list: BTreeSet<&str>| {
        list.into_iter().filter(|name| !name.is_empty()).take(5).collect::<Vec<_>>().join(", ")
    };
    let mut evidence = vec![
        Evidence::new("unassigned", format!("{} of {}", unassigned.len(), shards.len()), "_cat/shards state"),
        Evidence::new("of them primaries", primary_count, "_cat/shards prirep"),
        Evidence::new(
            "indices",
            names(unassigned.iter().map(|shard| shard.index()).collect()),
            "_cat/shards index",
        ),
        Evidence::new(
            "reasons",
            names(unassigned.iter().map(|shard| shard.unassigned_reason()).collect()),
            "_cat/shards unassigned.reason",
        ),
    ];
    let status = seen.server.answer(Question::Health)?["status"].as_str().unwrap_or("not told");
    evidence.push(Evidence::new("status of the cluster", status, "_cluster/health status"));
    let is_alone = seen.server.data_nodes()?.len() == 1;
    if primary_count > 0 {
        return found(
            format!("{primary_count} primary shards are on no node: their documents cannot be found"),
            Gain::measured(100.0, "of the data in these shards"),
            evidence,
            "Ask GET _cluster/allocation/explain why.",
            seen.experiment().before_and_after("# bring the shards back"),
        );
    }
    let advice = match is_alone {
        true => {
            "A copy never stands beside its original, and this cluster has one node: set index.number_of_replicas to 0 for these indices. Copies \
             need a second node."
        }
        false => "Ask GET _cluster/allocation/explain why.",
    };
    found(
        format!("{} copies of shards are on no node", unassigned.len()),
        Gain::measured(
            share(unassigned.len() as f64, shards.len() as f64),
            "of the shards, which have no copy to search or to fall back on",
        ),
        evidence,
        advice,
        seen.experiment().before_and_after(match is_alone {
            true => "# set index.number_of_replicas to 0 for these indices",
            false => "# assign the copies",
        }),
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
    fn copies_and_originals_are_told_apart() {
        for name in ["es-9.4.3", "opensearch-3.8.0", "es-7.10.2", "limber"] {
            check(&RULE, &recorded(name), "found: 3 copies of shards are on no node (up to 8.3 %");
        }
        let all = recorded("es-9.4.3").with(Shards, "*.state", json!("STARTED"));
        check(&RULE, &all, "fine: all 36 are");
        let lost = recorded("es-9.4.3").with(Shards, "*.state", json!("UNASSIGNED"));
        check(
            &RULE,
            &lost,
            "found: 33 primary shards are on no node: their documents cannot be found (up to 100 %",
        );
        check(&RULE, &recorded("es-9.4.3").without(Shards), "unread: _cat/shards");
    }
}
