//! Requests that were refused because a queue was full.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::share;
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "rejections",
    question: "Has no thread pool refused a request?",
    references: &[Reference {
        title: "Elasticsearch: rejected requests",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/rejected-requests.html",
    }],
    check,
};

const PERCENT_MIN: f64 = 5.0;

fn check(seen: &Seen) -> Checked {
    let mut worst: Option<(f64, f64, f64, &str, &str)> = None;
    for node in seen.server.nodes()? {
        for (pool, state) in node.stats("thread_pool")? {
            let number = |name: &str| state[name].as_f64().unwrap_or(0.0);
            let rejected = number("rejected");
            if rejected > 0.0 && worst.is_none_or(|(most, ..)| rejected > most) {
                worst = Some((rejected, number("completed"), number("queue"), pool, node.name));
            }
        }
    }
    let Some((rejected, completed, queue, pool, node)) = worst else { return fine("none has".to_owned()) };
    let experiment = match pool {
        "write" | "bulk" | "index" => {
            seen.experiment().tune(Goal::Writes, &[("clients:bulk", "2,4,8"), ("bulk-size", "500,1000,5000")])
        }
        _ => seen.experiment().tune(Goal::Searches, &[("clients:query", "1,2,4,8")]),
    };
    found(
        format!("The thread pool [{pool}] of node [{node}] refused {rejected:.0} requests"),
        Gain::measured(
            share(rejected, rejected + completed).max(PERCENT_MIN),
            "of the requests, which fail or are sent again",
        ),
        vec![
            Evidence::new("refused", rejected, format!("_nodes/stats thread_pool.{pool}.rejected")),
            Evidence::new("done", completed, format!("_nodes/stats thread_pool.{pool}.completed")),
            Evidence::new("waiting now", queue, format!("_nodes/stats thread_pool.{pool}.queue")),
        ],
        "Send fewer requests at a time, and larger bulks; look for slow requests that hold the threads. A longer queue only hides it.",
        experiment,
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
    fn a_full_queue_is_found() {
        check(&RULE, &recorded("es-9.4.3"), "fine");
        check(&RULE, &recorded("limber"), "fine");
        let full = recorded("limber").with(
            NodeStats,
            "nodes.*.thread_pool.search",
            json!({"threads": 4, "queue": 1000, "active": 4, "rejected": 250, "largest": 4, "completed": 750}),
        );
        check(&RULE, &full, "found: The thread pool [search] of node [vm] refused 250 requests (up to 25 %");
        let silent = recorded("es-7.10.2").with(NodeStats, "nodes.*.thread_pool", json!(null));
        check(&RULE, &silent, "unread: _nodes/stats thread_pool");
    }
}
