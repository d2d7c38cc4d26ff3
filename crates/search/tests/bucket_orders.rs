//! Buckets ordered by their sub-aggregations: answers of Elasticsearch 9.4.3 over sixty documents, recorded
//! in `data/bucket-orders-9.4.3.ndjson` (the documents, then one request per line), and cases that this
//! build does not support.

mod support;

use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Value, json};
use support::{context, recorded_shards};

const RECORDED: &str = include_str!("data/bucket-orders-9.4.3.ndjson");

fn recorded() -> impl Iterator<Item = Value> {
    RECORDED.lines().map(|line| serde_json::from_str(line).expect("JSON"))
}

fn shards(documents: Value, segment_documents: usize) -> (Vec<support::Shards>, Vec<ShardSnapshot>) {
    let mapping = json!({"properties": {
        "k": {"type": "keyword"}, "n": {"type": "integer"}, "d": {"type": "double"}, "t": {"type": "date"}, "w": {"type": "integer"}
    }});
    recorded_shards(&mapping, &json!([documents]), segment_documents)
}

/// Returns the keys of the buckets of `b`, or the error.
fn keys(shards: &[ShardSnapshot], aggregations: &Value) -> Result<Value, Value> {
    let shown = |error: limber_mapping::RequestError| json!({"type": error.kind, "reason": error.reason});
    let body = json!({"size": 0, "aggs": aggregations});
    let request = SearchRequest::parse(&body, &UrlParameters::default()).map_err(shown)?;
    match limber_search::execute(shards, &request, &context()) {
        Ok(response) => {
            let answer = response.aggregations_to_json().expect("JSON");
            let buckets = answer["b"]["buckets"].as_array().expect("buckets");
            Ok(buckets.iter().map(|bucket| bucket["key"].clone()).collect())
        }
        Err(Error::AllShardsFailed { failures, .. }) => Err(shown(failures[0].reason.clone())),
        Err(error) => Err(shown(error.to_request_error())),
    }
}

#[test]
fn as_elasticsearch_orders() {
    let mut lines = recorded();
    let documents = lines.next().expect("documents");
    for segment_documents in [60, 7] {
        let (_kept, shards) = shards(documents.clone(), segment_documents);
        for line in recorded().skip(1) {
            let expected = match line.get("error") {
                Some(error) => Err(error.clone()),
                None => Ok(line["keys"].clone()),
            };
            assert_eq!(keys(&shards, &line["aggs"]), expected, "{}", line["aggs"]);
        }
    }
}

/// Returns documents of three kinds. The last one of `a` has two numbers, that of `c` has none.
fn days() -> Value {
    json!([
        {"k": "a", "t": 1, "n": 50, "d": 9.5}, {"k": "b", "t": 1, "n": 1, "d": 0.5}, {"k": "a", "t": 9, "n": [4, 7], "d": 1.5},
        {"k": "c", "t": 5, "d": 2.5}, {"k": "b", "t": 7, "n": 30, "d": 2.25}, {"k": "c", "t": 2, "n": 3},
    ])
}

fn ordered_by(order: Value, metrics: Value) -> Value {
    json!({"b": {"terms": {"field": "k", "order": order}, "aggs": {"last": metrics}}})
}

#[test]
fn by_the_metrics_of_the_last_document() {
    let last = json!({"top_metrics": {"metrics": [{"field": "n"}, {"field": "d"}], "sort": {"t": "desc"}}});
    for segment_documents in [1, 2, 6] {
        let (_kept, shards) = shards(days(), segment_documents);
        let check = |order: Value, expected: Value| {
            assert_eq!(keys(&shards, &ordered_by(order.clone(), last.clone())), Ok(expected), "{order}");
        };
        check(json!({"last.n": "desc"}), json!(["c", "b", "a"]));
        check(json!({"last.n": "asc"}), json!(["a", "b", "c"]));
        check(json!({"last[d]": "desc"}), json!(["c", "b", "a"]));
        check(json!([{"last.d": "asc"}, {"_key": "asc"}]), json!(["a", "b", "c"]));
    }
}

#[test]
fn a_shard_keeps_its_best_buckets_by_their_metrics() {
    let (_kept, shards) = shards(days(), 6);
    let order = json!({"b": {"terms": {"field": "k", "size": 1, "shard_size": 1, "order": {"last.d": "asc"}},
        "aggs": {"last": {"top_metrics": {"metrics": {"field": "d"}, "sort": {"t": "desc"}}}}}});
    assert_eq!(keys(&shards, &order), Ok(json!(["a"])));
    let order = json!({"b": {"terms": {"field": "k", "size": 1, "shard_size": 1, "order": {"q.q2": "desc"}},
        "aggs": {"q": {"boxplot": {"field": "d"}}}}});
    assert_eq!(keys(&shards, &order), Ok(json!(["a"])));
}

#[test]
fn what_no_metric_says() {
    let (_kept, shards) = shards(days(), 6);
    let check = |order: &str, metrics: Value, reason: &str| {
        let error = keys(&shards, &ordered_by(json!({order: "asc"}), metrics)).expect_err("refused");
        assert_eq!(error["reason"], format!("Invalid aggregation order path [{order}]. {reason}"));
    };
    let last =
        |size: u32| json!({"top_metrics": {"metrics": {"field": "n"}, "sort": {"t": "desc"}, "size": size}});
    check("last.x", last(1), "unknown metric [x]");
    check("last", last(1), "Missing value key in [null] which refers to a multi-value metric aggregation");
    check("last.n", last(2), "[top_metrics] can only the be target if [size] is [1] but was [2]");
    check(
        "last.count",
        json!({"string_stats": {"field": "k"}}),
        "Can't sort a [string_stats] aggregation [last]",
    );
    let reason = "No enum constant org.elasticsearch.xpack.analytics.boxplot.InternalBoxplot.Metrics.Q9";
    check("last.q9", json!({"boxplot": {"field": "n"}}), reason);
}
