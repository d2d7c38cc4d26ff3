//! Requests that were refused because they would have taken too much memory.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{share, size};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "breaker_trips",
    question: "Has no circuit breaker refused a request?",
    references: &[Reference {
        title: "Elasticsearch: circuit breaker errors",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/circuit-breaker-errors.html",
    }],
    check,
};

/// A refused request weighs more than its share of the requests, because a user saw the error.
const PERCENT_MIN: f64 = 10.0;

fn check(seen: &Seen) -> Checked {
    let mut worst: Option<(f64, f64, String, &str)> = None;
    for node in seen.server.nodes()? {
        for (breaker, state) in node.stats("breakers")? {
            let trips = state["tripped"].as_f64().unwrap_or(0.0);
            if trips > 0.0 && worst.as_ref().is_none_or(|(most, ..)| trips > *most) {
                let limit = state["limit_size_in_bytes"].as_f64().unwrap_or(0.0);
                let requests = node.stat("indices.search.query_total").unwrap_or(0.0)
                    + node.stat("indices.bulk.total_operations").unwrap_or(0.0);
                worst = Some((trips, requests, format!("{breaker} ({})", size(limit)), node.name));
            }
        }
    }
    let Some((trips, requests, breaker, node)) = worst else { return fine("none has".to_owned()) };
    let (memory, sizes) = seen.memory_knob();
    found(
        format!("The circuit breaker {breaker} of node [{node}] refused {trips:.0} requests"),
        Gain::judged(share(trips, requests).max(PERCENT_MIN), "of the requests, which fail"),
        vec![
            Evidence::new("requests refused", trips, "_nodes/stats breakers.*.tripped"),
            Evidence::new("searches of shards and bulk operations", requests, "_nodes/stats indices"),
        ],
        "Find the requests (wide aggregations, fielddata, large bulks) in the log and make them smaller; or give more memory.",
        seen.experiment().tune(Goal::Searches, &[(memory, &sizes), ("bulk-size", "1000,5000")]),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::NodeStats;

    #[test]
    fn a_trip_is_found() {
        check(&RULE, &recorded("es-9.4.3"), "fine");
        check(&RULE, &recorded("limber"), "fine");
        let tripped =
            recorded("opensearch-3.8.0").with(NodeStats, "nodes.*.breakers.parent.tripped", json!(7));
        check(
            &RULE,
            &tripped,
            "found: The circuit breaker parent (486.4MB) of node [opensearch-3.8.0] refused 7 requests",
        );
        let silent = recorded("es-7.10.2").with(NodeStats, "nodes.*.breakers", json!(null));
        check(&RULE, &silent, "unread: _nodes/stats breakers");
    }
}
