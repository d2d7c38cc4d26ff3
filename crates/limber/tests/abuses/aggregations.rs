//! Unbounded numbers of buckets.

use serde_json::{Value, json};

use super::{Victim, list, nested};

#[test]
fn buckets() {
    let mut victim = Victim::with_documents(1_000);
    victim.ok("PUT", "/i/_doc/max", json!({"n": i64::MAX}).to_string());
    victim.ok("PUT", "/i/_doc/min?refresh=true", json!({"n": i64::MIN}).to_string());
    let of = |aggregation: Value| json!({"size": 0, "aggs": {"a": aggregation}}).to_string();
    for refused in [
        json!({"date_histogram": {"field": "d", "fixed_interval": "1ms"}}),
        json!({"date_histogram": {"field": "d", "fixed_interval": "0ms"}}),
        json!({"date_histogram": {"field": "d", "fixed_interval": "-1ms"}}),
        json!({"date_histogram": {"field": "n", "fixed_interval": "1d"}}),
        json!({"date_histogram": {"field": "d", "fixed_interval": "1h", "extended_bounds": {"min": i64::MIN, "max": i64::MAX}}}),
        json!({"date_histogram": {"field": "n", "calendar_interval": "month", "time_zone": "Europe/Berlin"}}),
        json!({"date_histogram": {"field": "d", "calendar_interval": "day", "time_zone": "+99:99"}}),
        json!({"histogram": {"field": "n", "interval": 1e-9}}),
        json!({"histogram": {"field": "n", "interval": 1e-300}}),
        json!({"histogram": {"field": "n", "interval": 1}}),
        json!({"histogram": {"field": "n", "interval": 0}}),
        json!({"histogram": {"field": "n", "interval": -1}}),
        json!({"histogram": {"field": "n", "interval": 1e17, "extended_bounds": {"min": -1e308, "max": 1e308}}}),
        json!({"terms": {"field": "k", "size": 2_147_483_648u64}}),
        json!({"terms": {"field": "k", "size": 0}}),
        json!({"terms": {"field": "k", "size": -1}}),
        json!({"terms": {"field": "k", "order": {"b>c>d": "asc"}}}),
        json!({"terms": {"field": "k", "include": ".{1000}{1000}"}}),
        json!({"cardinality": {"field": "k", "precision_threshold": -1}}),
        json!({"percentiles": {"field": "n", "percents": [-1, 101]}}),
        json!({"date_histogram": {"field": "d", "fixed_interval": "200d"}, "aggs": {"b": {"date_histogram": {"field": "d", "fixed_interval": "1h"}}}}),
        json!({"terms": {"field": "k", "size": 1_000}, "aggs": {"b": {"histogram": {"field": "n", "interval": 1, "extended_bounds": {"min": 0, "max": 60_000}}}}}),
    ] {
        victim.bad("POST", "/i/_search", of(refused));
    }
    for answered in [
        json!({"terms": {"field": "k", "size": i32::MAX}}),
        json!({"terms": {"field": "k", "shard_size": i32::MAX}}),
        json!({"histogram": {"field": "n", "interval": 1e18}}),
        json!({"date_histogram": {"field": "d", "fixed_interval": "99999999999999d"}}),
        json!({"cardinality": {"field": "k", "precision_threshold": i32::MAX}}),
        json!({"percentiles": {"field": "n", "tdigest": {"compression": 2_000_000_000}}}),
        json!({"terms": {"field": "k", "order": vec![json!({"_count": "asc"}); 20_000]}}),
    ] {
        let status = victim.send("POST", "/i/_search", of(answered.clone())).status;
        let shown: String = answered.to_string().chars().take(80).collect();
        assert!(matches!(status, 200 | 400 | 503), "{shown}: {status}");
    }
}

#[test]
fn trees() {
    let mut victim = Victim::with_documents(1);
    for depth in [100, 1_000, 100_000] {
        victim.bad(
            "POST",
            "/i/_search",
            format!(
                "{{\"size\":0,{}}}",
                nested("\"aggs\":{\"a\":{\"terms\":{\"field\":\"k\"},", "\"meta\":{}", "}}", depth)
            ),
        );
    }
    victim.bad(
        "POST",
        "/i/_search",
        format!("{{\"aggs\":{{{}}}}}", list(50_000, |n| format!("\"a{n}\":{{\"max\":{{\"field\":\"n\"}}}}"))),
    );
    victim.bad("POST", "/i/_search", r#"{"aggs":{"a[b>":{"max":{"field":"n"}}}}"#);
}

/// A cached answer counts with all results in its buckets; one that is larger than the cache is not kept.
#[test]
fn cached_results() {
    let mut victim = Victim::with_documents(1_000);
    victim.ok("POST", "/i/_refresh", "");
    let mut held = |buckets: u64, metrics: u64| {
        let metrics: Vec<String> =
            (0..metrics).map(|n| format!("\"m{n}\":{{\"max\":{{\"field\":\"n\"}}}}")).collect();
        let body = format!(
            "{{\"size\":0,\"aggs\":{{\"a\":{{\"terms\":{{\"field\":\"k\",\"size\":{buckets}}},\"aggs\":{{{}}}}}}}}}",
            metrics.join(",")
        );
        victim.ok("POST", "/i/_search?request_cache=true", body);
        let stats = victim.ok("GET", "/i/_stats/request_cache", "");
        stats["_all"]["total"]["request_cache"]["memory_size_in_bytes"].as_u64().expect("a number")
    };
    let one = held(200, 20);
    assert!(one > 200 * 20 * 32, "{one} bytes");
    assert_eq!(held(1_000, 250), one, "a quarter of a million results");
}

/// Names in the request that each bucket repeats are charged as the response grows.
#[test]
fn names_in_every_bucket() {
    let mut victim = Victim::with_documents(10_000);
    let long = "x".repeat(100_000);
    let below = |subs: Value| {
        json!({"size": 0, "aggs": {"a": {"terms": {"field": "k", "size": 10_000}, "aggs": subs}}}).to_string()
    };
    let percents: Vec<f64> = (0..4_000).map(|n| f64::from(n) / 40.0).collect();
    for subs in [
        json!({long.as_str(): {"max": {"field": "n"}}}),
        json!({"m": {"max": {"field": "n"}, "meta": {"m": long}}}),
        json!({"r": {"range": {"field": "n", "ranges": [{"key": long, "from": 0}]}}}),
        json!({"f": {"filters": {"filters": {long.as_str(): {"match_all": {}}}}}}),
        json!({"m": {"max": {"field": "d", "format": format!("yyyy'{long}'")}}}),
        json!({"p": {"percentiles": {"field": "n", "percents": percents}}}),
    ] {
        // Refused by a shard, or when the shards' results are reduced and rendered. A date pattern of this
        // length is refused anyway.
        let kind = victim.refused(&[400, 429], "POST", "/i/_search", below(subs));
        assert!(
            matches!(&*kind, "circuit_breaking_exception" | "search_phase_execution_exception"),
            "{kind}"
        );
    }
    // The memory has been released.
    victim.ok("POST", "/i/_search", below(json!({"m": {"max": {"field": "n"}, "meta": {"m": 1}}})));
}

/// What one finding or one pipeline aggregation repeats is claimed while it is made: keys of buckets, formats
/// of points, names of fields, terms of sets.
#[test]
fn texts_of_one_finding() {
    let mut victim = Victim::with_documents(10_000);
    let pattern = |length: usize| format!("0'{}'", "x".repeat(length - 3));
    let points: Vec<f64> = (0..10_000).map(|n| f64::from(n) / 100.0).collect();
    let histogram = |format: &str, subs: Value| json!({"histogram": {"field": "n", "interval": 1, "format": format}, "aggs": subs});
    let max = || json!({"m": {"max": {"field": "n"}}});
    let names: Vec<String> = (0..100).map(|n| format!("f{n}{}", "x".repeat(25_000))).collect();
    let missing: serde_json::Map<String, Value> = names.iter().map(|name| (name.clone(), json!(1))).collect();
    let metrics: Vec<Value> =
        names.iter().map(|name| json!({"field": format!("{name}{name}{name}{name}")})).collect();
    let moving = json!({"c": {"percentiles": {"field": "n", "percents": points[..200], "format": pattern(512)}},
        "p": {"moving_percentiles": {"buckets_path": "c", "window": 10}}});
    for (aggs, statuses) in [
        (
            json!({"h": histogram(&pattern(512), max()), "p": {"max_bucket": {"buckets_path": "h>m"}}}),
            &[200][..],
        ),
        (json!({"h": histogram(&pattern(513), max()), "p": {"max_bucket": {"buckets_path": "h>m"}}}), &[400]),
        (
            json!({"p": {"percentiles": {"field": "n", "percents": points, "format": pattern(512)}}}),
            &[200][..],
        ),
        (
            json!({"p": {"percentiles": {"field": "n", "percents": points, "format": pattern(100_000)}}}),
            &[400],
        ),
        (json!({"h": histogram("0", moving)}), &[429]),
        (json!({"m": {"matrix_stats": {"fields": names, "missing": missing}}}), &[429]),
        (json!({"m": {"top_metrics": {"size": 10, "sort": {"n": "desc"}, "metrics": metrics}}}), &[200, 429]),
    ] {
        let shown: String = aggs.to_string().chars().take(80).collect();
        let answer = victim.send("POST", "/i/_search", json!({"size": 0, "aggs": aggs}).to_string());
        assert!(statuses.contains(&answer.status), "{shown}: {}", answer.status);
    }
}

/// A set repeats its terms.
#[test]
fn terms_of_item_sets() {
    let mut victim = Victim::with_documents(1);
    victim.ok("PUT", "/l", json!({"mappings": {"properties": {"l": {"type": "keyword"}}}}).to_string());
    let bulk: String = (0..400u32)
        .map(|n| {
            let has = |item: &u32| (((n + 1).wrapping_mul(2_654_435_761) >> (item * 2)) & 3) > 0;
            let items: Vec<String> =
                (0..12).filter(has).map(|item| format!("{item}{}", "x".repeat(10_000))).collect();
            format!("{{\"index\":{{}}}}\n{}\n", json!({"l": items}))
        })
        .collect();
    victim.ok("POST", "/l/_bulk?refresh=true", bulk);
    let sets = json!({"fields": [{"field": "l"}], "size": 20_000, "minimum_support": 0.001});
    let body = json!({"size": 0, "aggs": {"f": {"frequent_item_sets": sets}}}).to_string();
    victim.refused(&[429], "POST", "/l/_search", body);
}

/// The largest possible date has a bucket too, and the histogram ends.
#[test]
fn the_end_of_time() {
    let mut victim = Victim::with_documents(1);
    victim.ok("PUT", "/i/_doc/max?refresh=true", json!({"d": i64::MAX}).to_string());
    for interval in ["month", "year", "day", "week"] {
        for zone in ["Europe/Berlin", "UTC", "+05:30"] {
            let histogram =
                json!({"field": "d", "calendar_interval": interval, "time_zone": zone, "min_doc_count": 1});
            let body = json!({"size": 0, "aggs": {"a": {"date_histogram": histogram}}}).to_string();
            assert!(matches!(victim.send("POST", "/i/_search", body).status, 200 | 400), "{interval} {zone}");
        }
    }
}
