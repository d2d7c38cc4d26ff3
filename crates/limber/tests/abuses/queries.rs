//! Searches that ask for too much, and invented scroll ids.

use serde_json::{Value, json};

use super::{Victim, check_refusal, list, nested};

#[test]
fn depth() {
    let mut victim = Victim::with_documents(1);
    for depth in [50, 1_000, 100_000] {
        victim.bad(
            "POST",
            "/i/_search",
            format!("{{\"query\":{}}}", nested("{\"bool\":{\"must\":", "{\"match_all\":{}}", "}}", depth)),
        );
        victim.bad("POST", "/i/_search", format!("{{\"sort\":{}}}", nested("[", "", "]", depth)));
        victim.bad(
            "POST",
            "/i/_search",
            format!("{{\"_source\":{}}}", nested("{\"includes\":", "1", "}", depth)),
        );
        let nested_query =
            nested("{\"nested\":{\"path\":\"k\",\"query\":", "{\"match_all\":{}}", "}}", depth);
        victim.bad("POST", "/i/_search", format!("{{\"query\":{nested_query}}}"));
        let levels = nested("{\"path\":\"k\",\"nested\":", "{\"path\":\"k\"}", "}", depth);
        victim.bad("POST", "/i/_search", format!("{{\"sort\":[{{\"k\":{{\"nested\":{levels}}}}}]}}"));
        let circles = nested(
            "{\"nested\":{\"path\":\"k\",\"query\":{\"match_all\":{}},\"inner_hits\":{\"sort\":[{\"k\":{\"nested\":{\"path\":\"k\",\"filter\":",
            "{\"match_all\":{}}",
            "}}}]}}}",
            depth,
        );
        victim.bad("POST", "/i/_search", format!("{{\"query\":{circles}}}"));
        let line = format!(
            "{{}}\n{{\"query\":{}}}\n",
            nested("{\"bool\":{\"must\":", "{\"match_all\":{}}", "}}", depth)
        );
        victim.bad("POST", "/_msearch", line);
    }
}

#[test]
fn clauses_and_terms() {
    let mut victim = Victim::with_documents(200);
    let clauses = list(100_000, |n| format!("{{\"term\":{{\"k\":\"x{n}\"}}}}"));
    victim.bad("POST", "/i/_search", format!("{{\"query\":{{\"bool\":{{\"should\":[{clauses}]}}}}}}"));
    victim.bad(
        "POST",
        "/i/_search",
        format!("{{\"query\":{{\"terms\":{{\"n\":[{}]}}}}}}", list(70_000, |n| n.to_string())),
    );
    let words = "word ".repeat(100_000);
    victim.bad("POST", "/i/_search", json!({"query": {"match": {"t": words}}}).to_string());
    victim.bad("POST", "/i/_search", json!({"query": {"match_phrase": {"t": words}}}).to_string());
    victim.ok(
        "POST",
        "/i/_search",
        json!({"query": {"match_phrase": {"t": {"query": "hello world ".repeat(100), "slop": i32::MAX}}}})
            .to_string(),
    );
}

#[test]
fn patterns() {
    let mut victim = Victim::start();
    victim.ok("PUT", "/i", json!({"mappings": {"properties": {"k": {"type": "keyword"}}}}).to_string());
    victim.ok("PUT", "/i/_doc/1?refresh=true", json!({"k": "a".repeat(8_000)}).to_string());
    for pattern in
        ["*a".repeat(500) + "b", "?*".repeat(15_000), "*".repeat(100_000), "a*".repeat(10_000) + "?"]
    {
        victim.ok("POST", "/i/_search", json!({"query": {"wildcard": {"k": pattern}}}).to_string());
    }
    victim.ok("POST", "/i/_search", json!({"query": {"prefix": {"k": "a".repeat(50_000)}}}).to_string());
    for query in [
        json!({"regexp": {"k": "(a|aa)+b"}}),
        json!({"regexp": {"k": "((a{1,100}){1,100}){1,100}"}}),
        json!({"regexp": {"k": "(.*a){20}.{20}"}}),
        json!({"fuzzy": {"k": {"value": "a".repeat(5_000), "fuzziness": 2}}}),
        json!({"query_string": {"query": "(".repeat(50_000)}}),
        json!({"query_string": {"query": "NOT ".repeat(50_000)}}),
    ] {
        let status =
            victim.send("POST", "/i/_search", json!({"query": query, "timeout": "2s"}).to_string()).status;
        assert!(matches!(status, 200 | 400 | 429), "{query}: {status}");
    }
}

#[test]
fn windows_and_sorts() {
    let mut victim = Victim::with_documents(10);
    for body in [
        json!({"from": i32::MAX, "size": i32::MAX}),
        json!({"size": 10_001}),
        json!({"size": -1}),
        json!({"from": -1}),
        json!({"size": 1e300}),
        json!({"size": 99_999_999_999_999u64}),
        json!({"track_total_hits": -5}),
        json!({"terminate_after": -5}),
        json!({"timeout": "-5s"}),
        json!({"sort": ["n"], "search_after": ["abc"]}),
        json!({"sort": ["n"], "search_after": [{"a": 1}]}),
        json!({"sort": ["n"], "search_after": [1, 2]}),
        json!({"sort": ["d"], "search_after": ["zzz"]}),
        json!({"search_after": [1]}),
        json!({"sort": ["t"]}),
        json!({"sort": [null]}),
        json!({"query": null}),
        json!({"query": {"match": {"t": null}}}),
        json!({"query": {"constant_score": {"filter": null}}}),
        json!({"aggs": {"a": null}}),
        json!({"query": {"range": {"d": {"gte": "now+99999999999999999y"}}}}),
        json!({"query": {"range": {"d": {"gte": "1", "format": "y".repeat(100_000)}}}}),
        json!({"query": {"range": {"d": {"gte": "1", "time_zone": "x".repeat(100_000)}}}}),
        json!({"query": {"match": {"t": {"query": "a", "boost": -1}}}}),
        json!({"docvalue_fields": vec!["n"; 10_000]}),
    ] {
        victim.bad("POST", "/i/_search", body.to_string());
    }
    for body in [json!({"sort": vec!["n"; 1_000]}), json!({"_source": vec!["a*".repeat(1_000); 20]})] {
        let status = victim.send("POST", "/i/_search", body.to_string()).status;
        assert!(matches!(status, 200 | 400), "{status}");
    }
}

#[test]
fn scrolls() {
    let mut victim = Victim::with_documents(3);
    let first = victim.ok("POST", "/i/_search?scroll=1m", r#"{"size":1}"#);
    let id = first["_scroll_id"].as_str().expect("a scroll id").to_owned();
    let changed = format!("{}{}", &id[..id.len() - 2], if id.ends_with("AA") { "BB" } else { "AA" });
    for forged in [
        "",
        "a",
        &"A".repeat(100_000),
        &id[..id.len() - 3],
        &(id.clone() + "A"),
        &changed,
        "../../etc/passwd",
        "\u{0}",
        "é",
    ] {
        let body = json!({"scroll": "1m", "scroll_id": forged}).to_string();
        victim.refused(&[400, 404], "POST", "/_search/scroll", body);
        let answer = victim.send("DELETE", "/_search/scroll", json!({"scroll_id": [forged]}).to_string());
        assert!(matches!(answer.status, 400 | 404), "{}", answer.status);
    }
    for keep_alive in ["99999999d", "-2", "x", ""] {
        victim.bad("POST", "/_search/scroll", json!({"scroll": keep_alive, "scroll_id": id}).to_string());
    }
    let mut refused = 0;
    for _ in 0..600 {
        let answer = victim.send("POST", "/i/_search?scroll=1m", r#"{"size":1}"#);
        if answer.status != 200 {
            check_refusal(&answer, &[429], "a scroll too many");
            refused += 1;
        }
    }
    assert_eq!(refused, 101, "500 contexts may be open");
    assert_eq!(victim.ok("DELETE", "/_search/scroll/_all", "")["num_freed"], Value::from(500));
    victim.ok("POST", "/i/_search?scroll=1m", r#"{"size":1}"#);
}

#[test]
fn points_in_time_and_slices() {
    let mut victim = Victim::with_documents(3);
    let id = victim.ok("POST", "/i/_pit?keep_alive=1m", "")["id"].as_str().expect("an id").to_owned();
    for forged in
        ["", "a", &"A".repeat(100_000), &id[..id.len() - 3], &(id.clone() + "A"), "../../etc/passwd", "\u{0}"]
    {
        victim.refused(&[400, 404], "POST", "/_search", json!({"pit": {"id": forged}}).to_string());
        let answer = victim.send("DELETE", "/_pit", json!({"id": forged}).to_string());
        assert!(matches!(answer.status, 400 | 404), "{}", answer.status);
    }
    for pit in
        [json!(null), json!([]), json!({}), json!({"id": [id]}), json!({"id": id, "keep_alive": "99999999d"})]
    {
        victim.bad("POST", "/_search", json!({"pit": pit}).to_string());
    }
    for slice in [
        json!({"id": 0, "max": 4_000_000_000u64}),
        json!({"id": -1, "max": 2}),
        json!({"id": 0, "max": 2, "field": "x".repeat(100_000)}),
        json!({"id": 0, "max": 2, "field": "*"}),
        json!([]),
    ] {
        victim.bad("POST", "/_search", json!({"pit": {"id": id}, "slice": slice}).to_string());
        victim.bad("POST", "/i/_search?scroll=1m", json!({"slice": slice}).to_string());
    }
    let many = json!({"pit": {"id": id}, "slice": {"id": i32::MAX - 1, "max": i32::MAX}}).to_string();
    victim.ok("POST", "/_search", many);
    let mut refused = 0;
    for _ in 0..600 {
        let answer = victim.send("POST", "/i/_pit?keep_alive=1m", "");
        if answer.status != 200 {
            check_refusal(&answer, &[429], "a point in time too many");
            refused += 1;
        }
    }
    assert_eq!(refused, 101, "500 contexts may be open");
    victim.ok("DELETE", "/_pit", json!({"id": id}).to_string());
}

#[test]
fn rated_searches_and_lookups() {
    let mut victim = Victim::with_documents(3);
    let rated =
        json!({"id": "a", "request": {}, "ratings": [{"_index": "i", "_id": "1", "rating": i32::MAX}]});
    let metric = json!({"dcg": {"normalize": true}});
    victim.ok("POST", "/i/_rank_eval", json!({"requests": [rated], "metric": metric}).to_string());
    for body in [
        json!({"requests": vec![rated.clone(); 1_001], "metric": metric}),
        json!({"requests": rated, "metric": metric}),
        json!({"requests": [rated], "metric": {"dcg": {"k": 1_000_000_000}, "recall": {}}, "foo": 1}),
        json!({"requests": [{"id": "a", "ratings": [{"rating": "x"}], "request": []}], "metric": metric}),
        json!([]),
    ] {
        victim.bad("POST", "/i/_rank_eval", body.to_string());
    }
    let lookup = json!({"terms": {"n": {"index": "i", "id": "1", "path": "n"}}});
    let many = json!({"query": {"bool": {"should": vec![lookup; 1_001]}}}).to_string();
    let status = victim.send("POST", "/i/_search", many).status;
    assert!(matches!(status, 200 | 429), "{status}");
    for path in [".", "..", "a..b", ""] {
        let lookup = json!({"terms": {"n": {"index": "i", "id": "1", "path": path}}});
        let status = victim.send("POST", "/i/_search", json!({"query": lookup}).to_string()).status;
        assert!(matches!(status, 200 | 400), "{status}");
    }
    for path in ["/_async_search/x", "/_async_search/status/x", "/_async_search/%00"] {
        victim.refused(&[400, 404], "GET", path, "");
    }
}
