//! A user whose role hides documents tries to read their words where queries show the terms that they were
//! expanded to: profiles, validations, explanations, highlights.

use serde_json::{Value, json};

use super::{Attacked, PASSWORD};

/// A word that only a hidden document has.
const SECRET: &str = "sesame";

/// Makes an index of which mallory sees two documents and not the third, each in a segment of its own.
fn prepare(attacked: &Attacked) {
    let raw = json!({"raw": {"type": "keyword"}, "say": {"type": "search_as_you_type"}, "pre": {"type": "text", "index_prefixes": {}}});
    let properties = json!({
        "owner": {"type": "keyword"}, "t": {"type": "text", "fields": raw}, "m": {"type": "match_only_text"}, "w": {"type": "wildcard"},
        "flat": {"type": "flattened"}, "features": {"type": "rank_features"}, "stored_query": {"type": "percolator"},
        "c": {"type": "nested", "properties": {"word": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}},
    });
    let runtime = json!({"r": {"type": "keyword", "script": "emit(params._source.t)"}});
    let mappings = json!({"properties": properties, "runtime": runtime});
    attacked.elastic("PUT", "/docs", json!({"settings": {"number_of_shards": 1}, "mappings": mappings}));
    for (id, owner, mark) in [(1, "mallory", "mine"), (2, "alice", SECRET), (3, "mallory", "mine")] {
        let text = format!("hello world {mark}");
        let document = json!({
            "owner": owner, "t": text, "m": text, "w": text, "flat": {"key": mark}, "features": {mark: 3},
            "stored_query": {"match": {"t": mark}}, "c": [{"word": mark}, {"word": "both"}],
        });
        attacked.elastic("PUT", &format!("/docs/_doc/{id}?refresh"), document);
    }
    let role = json!({"indices": [{"names": ["docs"], "privileges": ["read", "view_index_metadata", "monitor"], "query": {"term": {"owner": "mallory"}}}]});
    attacked.elastic("PUT", "/_security/role/limited", role);
    attacked.elastic("PUT", "/_security/user/mallory", json!({"password": PASSWORD, "roles": ["limited"]}));
}

/// Returns the queries on a text field that expand to terms.
fn of_words(t: &str) -> Vec<Value> {
    let pattern =
        |kind: &str, value: &str, rewrite: &str| json!({kind: {t: {"value": value, "rewrite": rewrite}}});
    let span = |inner: Value| json!({"span_multi": {"match": inner}});
    let mut queries = vec![
        json!({"fuzzy": {t: "sesamx"}}),
        json!({"fuzzy": {t: {"value": "sesamx", "rewrite": "scoring_boolean"}}}),
        json!({"match": {t: {"query": "sesamx", "fuzziness": 2}}}),
        json!({"match": {t: {"query": "hello sesamx", "fuzziness": 1, "operator": "and"}}}),
        json!({"match_bool_prefix": {t: "hello s"}}),
        json!({"match_bool_prefix": {t: {"query": "sesamx s", "fuzziness": 2}}}),
        json!({"match_phrase_prefix": {t: "hello world s"}}),
        json!({"match_phrase_prefix": {t: "s"}}),
        json!({"multi_match": {"query": "world s", "type": "phrase_prefix", "fields": [t]}}),
        json!({"multi_match": {"query": "world s", "type": "bool_prefix", "fields": [t]}}),
        json!({"multi_match": {"query": "sesamx", "fuzziness": 2, "fields": [t]}}),
        json!({"query_string": {"query": "sesamx~2", "default_field": t}}),
        json!({"query_string": {"query": "s*", "default_field": t, "rewrite": "top_terms_9"}}),
        json!({"query_string": {"query": "/s.*/", "default_field": t, "rewrite": "scoring_boolean"}}),
        json!({"query_string": {"query": "\"world s*\"", "default_field": t, "analyze_wildcard": true}}),
        json!({"simple_query_string": {"query": "sesamx~2 s* \"world s\"*", "fields": [t]}}),
        json!({"more_like_this": {"fields": [t], "like": [{"_index": "docs", "_id": "2"}], "min_term_freq": 1, "min_doc_freq": 1}}),
        span(json!({"prefix": {t: "s"}})),
        span(json!({"wildcard": {t: "*"}})),
        span(json!({"regexp": {t: "s.*"}})),
        span(json!({"range": {t: {"gte": "s", "lt": "t"}}})),
        span(json!({"fuzzy": {t: "sesamx"}})),
        span(pattern("prefix", "s", "top_terms_9")),
        json!({"span_near": {"clauses": [span(json!({"wildcard": {t: "*"}})), {"span_term": {t: "hello"}}], "slop": 9, "in_order": false}}),
        json!({"span_or": {"clauses": [span(json!({"fuzzy": {t: "sesamx"}}))]}}),
        json!({"span_not": {"include": span(json!({"wildcard": {t: "*"}})), "exclude": {"span_term": {t: "x"}}}}),
        json!({"bool": {"should": [{"constant_score": {"filter": pattern("prefix", "s", "top_terms_9")}}, {"dis_max": {"queries": [pattern("wildcard", "*", "top_terms_9")]}}]}}),
        json!({"function_score": {"query": pattern("wildcard", "*", "scoring_boolean")}}),
    ];
    for rewrite in [
        "scoring_boolean",
        "top_terms_50",
        "top_terms_boost_50",
        "top_terms_blended_freqs_50",
        "constant_score",
    ] {
        queries.extend([
            pattern("prefix", "s", rewrite),
            pattern("wildcard", "*", rewrite),
            pattern("regexp", ".*", rewrite),
            json!({"prefix": {t: {"value": "S", "case_insensitive": true, "rewrite": rewrite}}}),
        ]);
    }
    let rules = [
        json!({"prefix": {"prefix": "s"}}),
        json!({"wildcard": {"pattern": "s*"}}),
        json!({"regexp": {"pattern": "s.*"}}),
        json!({"range": {"gte": "s", "lte": "t"}}),
        json!({"fuzzy": {"term": "sesamx"}}),
    ];
    queries.extend(rules.map(|rule| json!({"intervals": {t: rule}})));
    queries
}

fn queries() -> Vec<Value> {
    let mut queries = of_words("t");
    queries.extend(of_words("t.pre"));
    let nested = |query: Value| json!({"nested": {"path": "c", "query": query, "inner_hits": {"explain": true, "highlight": {"fields": {"*": {}}}}}});
    queries.extend(of_words("c.word").into_iter().map(nested));
    let top = |kind: &str, field: &str, value: &str| json!({kind: {field: {"value": value, "rewrite": "top_terms_50"}}});
    queries.extend(["t.raw", "m", "w", "flat.key", "r", "t.say"].into_iter().flat_map(|field| {
        [
            top("prefix", field, "h"),
            top("prefix", field, "s"),
            top("wildcard", field, "*"),
            top("regexp", field, ".*"),
        ]
    }));
    queries.extend([
        json!({"nested": {"path": "c", "query": top("wildcard", "c.word.raw", "*")}}),
        json!({"match_phrase_prefix": {"t.say": "hello world s"}}),
        json!({"match_phrase_prefix": {"m": "hello world s"}}),
        json!({"multi_match": {"query": "hello world s", "type": "bool_prefix", "fields": ["t.say", "t.say._2gram"]}}),
        json!({"fuzzy": {"t.raw": {"value": "hello world sesamx", "fuzziness": 2}}}),
        json!({"fuzzy": {"m": "sesamx"}}),
        json!({"rank_feature": {"field": "features.mine"}}),
        json!({"percolate": {"field": "stored_query", "document": {"t": "hello mine"}}}),
        json!({"percolate": {"field": "stored_query", "index": "docs", "id": "2"}}),
        json!({"exists": {"field": "flat"}}),
    ]);
    queries
}

/// Returns the requests that show a query.
fn shown(query: &Value) -> Vec<(&'static str, Value)> {
    let asked = json!({"query": query});
    let highlight = |fields: Value| json!({"highlight_query": query, "fields": fields});
    vec![
        ("/docs/_search", json!({"size": 0, "profile": true, "query": query})),
        ("/docs/_search", json!({"explain": true, "query": query})),
        (
            "/docs/_search",
            json!({"profile": true, "size": 0, "aggs": {"f": {"filters": {"filters": [query]}}}}),
        ),
        (
            "/docs/_search",
            json!({"explain": true, "rescore": {"window_size": 9, "query": {"rescore_query": query}}}),
        ),
        (
            "/docs/_search",
            json!({"highlight": highlight(json!({"t": {}, "t.raw": {"type": "plain"}, "c.word": {}}))}),
        ),
        (
            "/docs/_search",
            json!({"highlight": highlight(json!({"t": {"type": "fvh", "no_match_size": 99}}))}),
        ),
        ("/docs/_search?search_type=dfs_query_then_fetch", json!({"profile": true, "query": query})),
        ("/docs/_validate/query?explain=true", asked.clone()),
        ("/docs/_validate/query?explain=true&rewrite=true", asked.clone()),
        ("/docs/_validate/query?explain=true&all_shards=true", asked.clone()),
        ("/docs/_validate/query?rewrite=true&all_shards=true", asked.clone()),
        ("/docs/_explain/1", asked.clone()),
        ("/docs/_explain/2", asked),
    ]
}

#[test]
fn expanded_queries_show_no_words_of_hidden_documents() {
    let attacked = Attacked::start();
    prepare(&attacked);
    let queries = queries();
    let mut wrong = Vec::new();
    for is_merged in [false, true] {
        if is_merged {
            attacked.elastic("POST", "/docs/_forcemerge?max_num_segments=1", Value::Null);
        }
        for query in &queries {
            for (path, body) in shown(query) {
                let sent = body.to_string();
                let answer = attacked.send(Some("mallory"), "POST", path, &sent);
                if answer.text.contains(SECRET) || answer.status >= 500 {
                    wrong.push(format!("{is_merged} {path} {sent}: {}", answer.text));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} answers:\n{}", wrong.len(), wrong.join("\n---\n"));
}

/// The words of visible documents are still shown, and everything to those who see everything.
#[test]
fn expanded_queries_show_words_of_visible_documents() {
    let attacked = Attacked::start();
    prepare(&attacked);
    let all = json!({"size": 0, "profile": true, "query": {"wildcard": {"t": {"value": "*", "rewrite": "top_terms_50"}}}}).to_string();
    let seen = attacked.send(Some("mallory"), "POST", "/docs/_search", &all);
    assert!(seen.text.contains("t:hello t:mine t:world\""), "{}", seen.text);
    let mut telling = 0;
    for query in queries() {
        let body = json!({"size": 0, "profile": true, "query": query}).to_string();
        telling +=
            usize::from(attacked.send(Some("elastic"), "POST", "/docs/_search", &body).text.contains(SECRET));
    }
    assert!(telling > 60, "only {telling} queries show their terms");
}

/// Terms are chosen among those of visible documents: hidden ones take no places.
#[test]
fn hidden_words_take_no_places_of_an_expansion() {
    let attacked = Attacked::start();
    prepare(&attacked);
    attacked.elastic("PUT", "/docs/_doc/4?refresh", json!({"owner": "mallory", "t": "hello world settled"}));
    attacked.elastic("PUT", "/docs/_doc/5?refresh", json!({"owner": "alice", "t": "hello world seat"}));
    attacked.elastic("POST", "/docs/_forcemerge?max_num_segments=1", Value::Null);
    for query in [
        json!({"match_phrase_prefix": {"t": {"query": "hello world se", "max_expansions": 1}}}),
        json!({"prefix": {"t": {"value": "se", "rewrite": "top_terms_1"}}}),
        json!({"span_multi": {"match": {"prefix": {"t": {"value": "se", "rewrite": "top_terms_1"}}}}}),
    ] {
        let body = json!({"query": query, "_source": false}).to_string();
        let answer = attacked.send(Some("mallory"), "POST", "/docs/_search", &body);
        assert!(answer.text.contains("\"_id\":\"4\""), "{body}: {}", answer.text);
    }
}

/// Other places where terms of an index are listed.
#[test]
fn lists_of_terms_show_no_words_of_hidden_documents() {
    let attacked = Attacked::start();
    prepare(&attacked);
    let statistics = "fields=*&term_statistics=true&field_statistics=true&positions=true";
    for (method, path, body) in [
        ("GET", format!("/docs/_termvectors/1?{statistics}"), Value::Null),
        ("GET", format!("/docs/_termvectors/2?{statistics}"), Value::Null),
        (
            "POST",
            "/docs/_termvectors".into(),
            json!({"doc": {"t": "hello"}, "term_statistics": true, "filter": {"max_num_terms": 9}}),
        ),
        ("POST", format!("/docs/_mtermvectors?ids=1,2&{statistics}"), Value::Null),
        ("POST", "/docs/_terms_enum".into(), json!({"field": "t.raw"})),
        ("POST", "/docs/_terms_enum".into(), json!({"field": "c.word.raw"})),
        ("POST", "/docs/_terms_enum".into(), json!({"field": "flat.key"})),
        (
            "POST",
            "/docs/_search".into(),
            json!({"size": 0, "aggs": {"a": {"significant_text": {"field": "t", "min_doc_count": 1}}, "b": {"categorize_text": {"field": "t"}}, "c": {"rare_terms": {"field": "t.raw"}}}}),
        ),
        (
            "POST",
            "/docs/_search".into(),
            json!({"size": 0, "aggs": {"a": {"terms": {"field": "r", "min_doc_count": 0}}, "b": {"terms": {"field": "flat", "min_doc_count": 0}}}}),
        ),
        (
            "POST",
            "/docs/_search".into(),
            json!({"suggest": {"a": {"text": "helo sesamx", "phrase": {"field": "t", "max_errors": 9}}}}),
        ),
        ("GET", "/docs/_field_caps?fields=flat*,features*&include_empty_fields=false".into(), Value::Null),
        ("GET", "/docs/_field_usage_stats".into(), Value::Null),
        ("GET", "/docs/_stats?fields=*&level=shards".into(), Value::Null),
        ("POST", "/docs/_disk_usage?run_expensive_tasks=true".into(), Value::Null),
    ] {
        let sent = if body.is_null() { String::new() } else { body.to_string() };
        let answer = attacked.send(Some("mallory"), method, &path, &sent);
        assert!(
            !answer.text.contains(SECRET) && answer.status < 500,
            "{method} {path} {sent}: {}",
            answer.text
        );
    }
}
