//! A user whose role hides documents and fields of an index tries to see them, with every part of a request
//! that returns values.

use serde_json::{Value, json};

use super::{Attacked, PASSWORD};

/// Contained in every hidden document, and in every hidden field of the visible documents.
const SECRET: &str = "sesame";
const SECRET_NUMBER: &str = "777001";

/// Hidden fields of every type whose values can be returned.
const HIDDEN: [&str; 8] =
    ["h_keyword", "h_number", "h_text", "h_flat.a", "o.h_inner", "c.h_inner", "alias_of_hidden", "h_date"];

fn prepare(attacked: &Attacked) {
    let properties = json!({
        "owner": {"type": "keyword"}, "n": {"type": "long"}, "t": {"type": "text", "fields": {"raw": {"type": "keyword"}}}, "flat": {"type": "flattened"},
        "suggested": {"type": "completion"}, "h_keyword": {"type": "keyword"}, "h_number": {"type": "long"}, "h_text": {"type": "text", "fielddata": true}, "h_flat": {"type": "flattened"},
        "h_date": {"type": "date"}, "h_suggested": {"type": "completion"}, "alias_of_hidden": {"type": "alias", "path": "h_keyword"},
        "o": {"properties": {"h_inner": {"type": "keyword"}}}, "c": {"type": "nested", "properties": {"h_inner": {"type": "keyword"}, "open": {"type": "keyword"}, "count": {"type": "long"}, "d": {"type": "nested", "properties": {"deep": {"type": "keyword"}}}}},
    });
    attacked.elastic("PUT", "/docs", json!({"mappings": {"properties": properties}}));
    let document = |owner: &str, mark: &str| {
        json!({
            "owner": owner, "n": 1, "t": format!("hello world {mark}"), "flat": {"key": mark}, "suggested": format!("comp {mark}"), "h_keyword": SECRET, "h_number": 777_001,
            "h_text": format!("{SECRET} text"), "h_flat": {"a": SECRET}, "h_date": "1977-07-07", "h_suggested": SECRET, "o": {"h_inner": SECRET}, "c": [{"h_inner": SECRET, "open": format!("nested {mark}"), "count": if mark == SECRET { 777_001 } else { 5 },
                "d": [{"deep": format!("deep {mark}")}]}],
        })
    };
    attacked.elastic("PUT", "/docs/_doc/1?refresh", document("mallory", "mine"));
    attacked.elastic("PUT", "/docs/_doc/2?refresh", document("alice", SECRET));
    attacked.elastic("PUT", "/docs/_doc/3?refresh", document("mallory", "mine"));
    let role = json!({"cluster": ["monitor"], "indices": [{
        "names": ["docs"], "privileges": ["read", "view_index_metadata", "monitor"], "query": {"term": {"owner": "mallory"}},
        "field_security": {"grant": ["*"], "except": ["h_*", "o.h_*", "c.h_*"]}}]});
    attacked.elastic("PUT", "/_security/role/limited", role);
    attacked.elastic("PUT", "/_security/user/mallory", json!({"password": PASSWORD, "roles": ["limited"]}));
    // Cached responses to other users must not be returned to this user.
    for _ in 0..3 {
        let all = json!({"size": 0, "aggs": {"a": {"terms": {"field": "h_keyword"}}}});
        attacked.elastic("POST", "/docs/_search?request_cache=true", all);
    }
}

/// Returns searches that return values of a field.
fn searches(field: &str) -> Vec<Value> {
    let aggregated = |kind: &str, mut body: Value| {
        body["field"] = field.into();
        json!({"size": 0, "aggs": {"a": {kind: body}}})
    };
    let queried = |query: Value| json!({"query": query, "explain": true, "_source": true});
    vec![
        aggregated("terms", json!({"min_doc_count": 0})),
        aggregated("max", json!({})),
        aggregated("rare_terms", json!({})),
        aggregated("string_stats", json!({})),
        aggregated("significant_terms", json!({"min_doc_count": 1})),
        json!({"size": 0, "aggs": {"a": {"composite": {"sources": [{"s": {"terms": {"field": field}}}]}}}}),
        json!({"size": 0, "aggs": {"a": {"top_metrics": {"metrics": {"field": field}, "sort": {"n": "asc"}}}}}),
        json!({"size": 0, "aggs": {"g": {"global": {}, "aggs": {"a": {"terms": {"field": field, "min_doc_count": 0}}}}}}),
        json!({"size": 0, "aggs": {"c": {"nested": {"path": "c"}, "aggs": {"a": {"terms": {"field": field, "min_doc_count": 0}}}}}}),
        json!({"fields": [field, "*"], "docvalue_fields": [field], "stored_fields": ["*"], "_source": true}),
        json!({"sort": [{field: {"order": "asc", "unmapped_type": "keyword"}}]}),
        json!({"collapse": {"field": field, "inner_hits": {"name": "a"}}}),
        json!({"highlight": {"fields": {field: {"no_match_size": 500}, "*": {"no_match_size": 500}}, "require_field_match": false}}),
        json!({"script_fields": {"a": {"script": format!("doc['{field}'].value")}, "b": {"script": "params._source.toString()"}}}),
        json!({"runtime_mappings": {"r": {"type": "keyword", "script": "emit(params._source.toString())"}}, "fields": ["r"]}),
        json!({"runtime_mappings": {field: {"type": "keyword"}}, "fields": [field]}),
        queried(json!({"prefix": {field: "s"}})),
        queried(json!({"query_string": {"query": "text OR 777001", "fields": ["*"]}})),
        queried(json!({"function_score": {"field_value_factor": {"field": field, "missing": 1}}})),
        queried(
            json!({"nested": {"path": "c", "query": {"match_all": {}}, "inner_hits": {"fields": ["*"], "_source": true}}}),
        ),
        queried(
            json!({"more_like_this": {"fields": ["t"], "like": [{"_index": "docs", "_id": "2"}], "min_term_freq": 1, "min_doc_freq": 1}}),
        ),
        json!({"suggest": {"a": {"text": "sesamy texd", "term": {"field": "t", "suggest_mode": "always"}}}}),
        json!({"suggest": {"a": {"prefix": "comp", "completion": {"field": "suggested"}}}}),
        json!({"size": 0, "aggs": {"a": {"terms": {"field": "t.raw", "min_doc_count": 0}}, "b": {"terms": {"field": "flat.key", "min_doc_count": 0}}}}),
    ]
}

/// Returns requests to other endpoints, with their bodies.
fn others() -> Vec<(&'static str, &'static str, Value)> {
    let everything = || json!({"query": {"match_all": {}}});
    vec![
        ("GET", "/docs/_doc/2", Value::Null),
        ("GET", "/docs/_source/2", Value::Null),
        ("GET", "/docs/_doc/1?stored_fields=*&_source=true", Value::Null),
        (
            "POST",
            "/_mget",
            json!({"docs": [{"_index": "docs", "_id": "2"}, {"_index": "docs", "_id": "1", "_source": ["h_*"]}]}),
        ),
        ("POST", "/docs/_explain/2", everything()),
        ("POST", "/docs/_explain/1?_source=true", everything()),
        ("GET", "/docs/_termvectors/1?fields=*", Value::Null),
        ("GET", "/docs/_termvectors/2?fields=*", Value::Null),
        ("POST", "/docs/_terms_enum", json!({"field": "h_keyword", "string": ""})),
        ("POST", "/docs/_terms_enum", json!({"field": "t.raw", "string": ""})),
        ("GET", "/docs/_field_caps?fields=*", Value::Null),
        ("GET", "/docs/_mapping", Value::Null),
        ("GET", "/docs/_mapping/field/*", Value::Null),
        ("GET", "/docs", Value::Null),
        ("GET", "/_cat/segment_memory", Value::Null),
        ("GET", "/docs/_field_usage_stats", Value::Null),
        ("GET", "/docs/_stats?fields=*", Value::Null),
        ("GET", "/docs/_stats/completion,fielddata,segment_memory?fields=*&level=shards", Value::Null),
        (
            "POST",
            "/docs/_validate/query?explain=true&rewrite=true",
            json!({"query": {"prefix": {"t": "se"}}}),
        ),
        ("POST", "/docs/_search/template", json!({"source": "{\"_source\": \"h_*\"}"})),
        (
            "POST",
            "/docs/_search?request_cache=true",
            json!({"size": 0, "aggs": {"a": {"terms": {"field": "h_keyword"}}}}),
        ),
        ("POST", "/docs/_search?scroll=1m", json!({"fields": ["*"]})),
        ("POST", "/docs/_async_search?wait_for_completion_timeout=5s", json!({"fields": ["*"]})),
        (
            "POST",
            "/docs/_rank_eval",
            json!({"requests": [{"id": "a", "request": everything(), "ratings": [], "summary_fields": ["*"]}], "metric": {"precision": {}}}),
        ),
    ]
}

#[test]
fn hidden_documents_and_fields_are_in_no_answer() {
    let attacked = Attacked::start();
    prepare(&attacked);
    let mut wrong = Vec::new();
    let mut attack = |method: &str, path: &str, body: &Value| {
        let sent = if body.is_null() { String::new() } else { body.to_string() };
        let answer = attacked.send(Some("mallory"), method, path, &sent);
        let is_told = |word: &str| answer.text.contains(word) && !sent.contains(word);
        let names = ["h_inner", "h_text", "h_keyword", "h_number", "h_flat", "h_date", "h_suggested"];
        let tells = [SECRET, SECRET_NUMBER, "1977"].into_iter().chain(names).any(is_told);
        if tells || answer.status >= 500 {
            wrong.push(format!("{method} {path} {sent}: {}", answer.text));
        }
    };
    for field in HIDDEN {
        searches(field).iter().for_each(|body| attack("POST", "/docs/_search", body));
    }
    others().iter().for_each(|(method, path, body)| attack(method, path, body));
    assert!(wrong.is_empty(), "{} answers:\n{}", wrong.len(), wrong.join("\n---\n"));
    // Only the fields of others are hidden, not everything.
    let seen = attacked.send(
        Some("mallory"),
        "POST",
        "/docs/_search",
        "{\"size\": 0, \"aggs\": {\"a\": {\"terms\": {\"field\": \"t.raw\", \"min_doc_count\": 0}}}}",
    );
    assert!(seen.text.contains("\"key\":\"hello world mine\",\"doc_count\":2"), "{}", seen.text);
}

/// Empty buckets of nested documents, at any depth, are only those of visible documents.
#[test]
fn nested_documents_of_hidden_documents_are_hidden() {
    let attacked = Attacked::start();
    prepare(&attacked);
    let all = |field: &str| json!({"t": {"terms": {"field": field, "min_doc_count": 0}}});
    let nested = |path: &str, aggs: Value| json!({"n": {"nested": {"path": path}, "aggs": aggs}});
    let back = |aggs: Value| json!({"r": {"reverse_nested": {}, "aggs": aggs}});
    for (aggs, own) in [
        (nested("c", all("c.open")), "nested mine"),
        (nested("c", all("c.count")), "\"key\":5"),
        (nested("c.d", all("c.d.deep")), "deep mine"),
        (nested("c", nested("c.d", all("c.d.deep"))), "deep mine"),
        (nested("c", back(all("t.raw"))), "hello world mine"),
        (nested("c", back(nested("c", all("c.open")))), "nested mine"),
        (json!({"g": {"global": {}, "aggs": nested("c", all("c.open"))}}), "nested mine"),
        (json!({"g": {"global": {}, "aggs": nested("c", all("c.count"))}}), "\"key\":5"),
        (json!({"o": {"terms": {"field": "owner"}, "aggs": nested("c", all("c.open"))}}), "nested mine"),
    ] {
        let body = json!({"size": 0, "query": {"match_none": {}}, "aggs": aggs}).to_string();
        let whole = json!({"size": 0, "aggs": aggs}).to_string();
        for (body, has_documents) in [(body, false), (whole, true)] {
            let answer = attacked.send(Some("mallory"), "POST", "/docs/_search", &body);
            assert_eq!(answer.status, 200, "{body}: {}", answer.text);
            assert!(!answer.text.contains(SECRET), "{body}: {}", answer.text);
            assert!(!answer.text.contains(SECRET_NUMBER), "{body}: {}", answer.text);
            assert!(!has_documents || answer.text.contains(own), "{body}: {}", answer.text);
        }
    }
}

#[test]
fn suggestions_are_refused_where_documents_are_hidden() {
    let attacked = Attacked::start();
    prepare(&attacked);
    let body = json!({"suggest": {"a": {"text": "helo", "term": {"field": "t"}}}}).to_string();
    let answer = attacked.send(Some("mallory"), "POST", "/docs/_search", &body);
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert!(
        answer.text.contains("Suggest isn't supported if document level security is enabled"),
        "{}",
        answer.text
    );
    assert_eq!(attacked.send(Some("elastic"), "POST", "/docs/_search", &body).status, 200);
}

/// The query of a role that names a document of its own index would need itself to read that document. It
/// fails, and the server goes on.
#[test]
fn queries_of_roles_name_no_documents() {
    let attacked = Attacked::start();
    prepare(&attacked);
    let document = json!({"index": "docs", "id": "1", "path": "owner"});
    let like = json!({"_index": "docs", "_id": "1"});
    for query in [
        json!({"terms": {"owner": document}}),
        json!({"bool": {"must_not": [{"terms": {"owner": document}}]}}),
        json!({"more_like_this": {"fields": ["t"], "like": [like], "min_term_freq": 1, "min_doc_freq": 1}}),
    ] {
        let role = json!({"indices": [{"names": ["docs"], "privileges": ["read"], "query": query}]});
        attacked.elastic("PUT", "/_security/role/limited", role);
        for path in ["/docs/_search", "/docs/_doc/1", "/docs/_count"] {
            let answer = attacked.send(Some("mallory"), "GET", path, "");
            assert!(!answer.text.contains("hello world"), "{path} {query}: {}", answer.text);
            assert!(!answer.text.contains("failed unexpectedly"), "{path} {query}: {}", answer.text);
        }
        let searched = attacked.send(Some("mallory"), "GET", "/docs/_doc/1", "");
        assert_eq!(searched.status, 400, "{query}: {}", searched.text);
    }
    assert_eq!(attacked.send(Some("elastic"), "GET", "/docs/_count", "").status, 200);
}

/// The names of fields that users made may begin with `_` like those of metadata, and are hidden all the
/// same.
#[test]
fn fields_with_names_like_metadata_are_hidden() {
    let attacked = Attacked::start();
    attacked.elastic("PUT", "/docs/_doc/1?refresh", json!({"_pay": SECRET, "_o": {"pay": SECRET}, "n": 1}));
    let role = json!({"indices": [{"names": ["docs"], "privileges": ["read", "view_index_metadata"],
        "field_security": {"grant": ["*"], "except": ["_pay*", "_o.*"]}}]});
    attacked.elastic("PUT", "/_security/role/limited", role);
    attacked.elastic("PUT", "/_security/user/mallory", json!({"password": PASSWORD, "roles": ["limited"]}));
    let terms = json!({"size": 0, "aggs": {"a": {"terms": {"field": "_pay.keyword"}}, "b": {"terms": {"field": "_o.pay.keyword"}}}});
    for (path, body) in [
        ("/docs/_doc/1", Value::Null),
        ("/docs/_search", json!({"fields": ["*"]})),
        ("/docs/_search", terms),
        ("/docs/_mapping", Value::Null),
    ] {
        let sent = if body.is_null() { String::new() } else { body.to_string() };
        let answer = attacked.send(Some("mallory"), "GET", path, &sent);
        assert_eq!(answer.status, 200, "{path} {sent}: {}", answer.text);
        assert!(
            !answer.text.contains(SECRET) && !answer.text.contains("_pay"),
            "{path} {sent}: {}",
            answer.text
        );
        assert!(path != "/docs/_doc/1" || answer.text.contains("\"n\":1"), "{}", answer.text);
    }
}

/// `_ignored` names fields, also hidden ones, and keys of a flattened field can be hidden one by one.
#[test]
fn names_of_ignored_fields_and_keys_are_hidden_like_fields() {
    let attacked = Attacked::start();
    let properties = json!({"h_short": {"type": "keyword", "ignore_above": 3}, "short": {"type": "keyword", "ignore_above": 3},
        "flat": {"type": "flattened"}});
    attacked.elastic("PUT", "/docs", json!({"mappings": {"properties": properties}}));
    let document = json!({"h_short": SECRET, "short": "long", "flat": {"open": "value", "hidden": SECRET}});
    attacked.elastic("PUT", "/docs/_doc/1?refresh", document);
    let role = json!({"indices": [{"names": ["docs"], "privileges": ["read"],
        "field_security": {"grant": ["*"], "except": ["h_*", "flat.hidden"]}}]});
    attacked.elastic("PUT", "/_security/role/limited", role);
    attacked.elastic("PUT", "/_security/user/mallory", json!({"password": PASSWORD, "roles": ["limited"]}));
    for body in [
        json!({"fields": ["_ignored", "flat.*"]}),
        json!({"size": 0, "aggs": {"a": {"terms": {"field": "_ignored"}}}}),
        json!({"size": 0, "aggs": {"a": {"terms": {"field": "flat.hidden"}}}}),
        json!({"query": {"exists": {"field": "flat.hidden"}}, "docvalue_fields": ["flat.hidden"]}),
    ] {
        let answer = attacked.send(Some("mallory"), "POST", "/docs/_search", &body.to_string());
        assert_eq!(answer.status, 200, "{body}: {}", answer.text);
        assert!(!answer.text.contains(SECRET) && !answer.text.contains("h_short"), "{body}: {}", answer.text);
    }
    let all = attacked.send(Some("mallory"), "POST", "/docs/_search", "");
    assert!(all.text.contains("\"_ignored\":[\"short\"]"), "{}", all.text);
    let own = json!({"size": 0, "aggs": {"a": {"terms": {"field": "flat.open"}}}}).to_string();
    let answer = attacked.send(Some("mallory"), "POST", "/docs/_search", &own);
    assert!(answer.text.contains("\"key\":\"value\""), "{}", answer.text);
}

/// A script that selects documents would tell by its error what it reads, so it does not run on hidden
/// documents.
#[test]
fn scripts_of_queries_run_on_visible_documents_only() {
    let attacked = Attacked::start();
    prepare(&attacked);
    let number = "doc['owner'].value == 'alice' ? Integer.parseInt(doc['t.raw'].value) : 1";
    let flag = "doc['owner'].value == 'alice' ? Integer.parseInt(doc['t.raw'].value) > 0 : true";
    let inner = "doc['c.count'].value > 5 ? Integer.parseInt(doc['c.open'].value) > 0 : true";
    let emit =
        "if (doc['owner'].value == 'alice') { emit(Integer.parseInt(doc['t.raw'].value)) } else { emit(1) }";
    let runtime = json!({"r": {"type": "long", "script": emit}});
    let script = |source: &str| json!({"script": {"script": source}});
    let functions = json!([{"script_score": {"script": number}}]);
    for query in [
        script(flag),
        json!({"bool": {"must_not": [{"bool": {"must_not": [script(flag)]}}]}}),
        json!({"bool": {"should": [script(flag), {"term": {"n": 7}}]}}),
        json!({"nested": {"path": "c", "query": script(inner)}}),
        json!({"term": {"r": 1}}),
        json!({"script_score": {"query": {"match_all": {}}, "min_score": 0.5, "script": {"source": number}}}),
        json!({"function_score": {"functions": functions, "min_score": 0.5}}),
        json!({"terms_set": {"owner": {"terms": ["mallory", "alice"], "minimum_should_match_script": {"source": number}}}}),
    ] {
        let body = json!({"query": query, "runtime_mappings": runtime, "_source": false}).to_string();
        let answer = attacked.send(Some("mallory"), "POST", "/docs/_search", &body);
        assert_eq!(answer.status, 200, "{body}: {}", answer.text);
        assert!(!answer.text.contains(SECRET), "{body}: {}", answer.text);
        let is_whole = answer.text.contains("\"failed\":0") && answer.text.contains("\"value\":2");
        assert!(is_whole, "{body}: {}", answer.text);
        let whole = attacked.send(Some("elastic"), "POST", "/docs/_search", &body);
        assert!(whole.text.contains(SECRET), "{body}: {}", whole.text);
    }
}
