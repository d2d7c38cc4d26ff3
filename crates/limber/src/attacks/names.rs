//! A user who only has rights on an alias tries to use its index in ways that these rights do not allow.

use serde_json::{Value, json};

use super::{Attacked, SECRET};

/// Makes the index of `prepare` known by an alias that mallory may use and that only shows its second
/// document.
fn prepared() -> Attacked {
    let attacked = Attacked::start();
    attacked.prepare();
    attacked.elastic("PUT", "/bobs-index/_doc/2?refresh", json!({"name": "open", "shared": true}));
    let alias = json!({"index": "bobs-index", "alias": "a-pub", "filter": {"term": {"shared": true}}});
    attacked.elastic("POST", "/_aliases", json!({"actions": [{"add": alias}]}));
    attacked
}

impl Attacked {
    fn tried(&self, method: &str, path: &str, body: Value) -> (u16, String) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.send(Some("mallory"), method, path, &body);
        (answer.status, answer.text)
    }

    fn body_of(&self, path: &str) -> String {
        self.elastic("GET", path, Value::Null).text
    }
}

/// An index that a request reaches through an alias has no other name in that request.
#[test]
fn an_index_is_not_deleted_by_who_may_only_use_its_alias() {
    let attacked = prepared();
    let named = json!({"persistent": {"action.destructive_requires_name": "false"}});
    attacked.elastic("PUT", "/_cluster/settings", named);
    for path in ["/a-pub,bobs-index", "/a-pub,bobs*", "/a-pub,b*,-bs", "/a-pub,*"] {
        attacked.tried("DELETE", &format!("{path}?ignore_unavailable=true"), Value::Null);
        assert!(attacked.body_of("/bobs-index/_count").contains("\"count\":2"), "{path}");
    }
    attacked.elastic("PUT", "/a1/_doc/1?refresh", json!({"name": "open"}));
    let add = |index: &str, alias: &str| json!({"add": {"index": index, "alias": alias}});
    let (status, text) =
        attacked.tried("POST", "/_aliases", json!({"actions": [add("a1", "a-pub"), add("*", "a-all")]}));
    assert_eq!(status, 200, "{text}");
    let aliases = attacked.body_of("/bobs-index/_alias");
    assert!(aliases.contains("a-pub") && !aliases.contains("a-all"), "{aliases}");
    let remove = json!({"remove": {"index": "*", "alias": "a-pub"}});
    let (status, text) = attacked.tried("POST", "/_aliases", json!({"actions": [remove]}));
    assert_eq!(status, 200, "{text}");
    assert!(attacked.body_of("/bobs-index/_alias").contains("a-pub"));
}

/// Who may use a data stream may delete its indices, so an index does not become part of one by its alias.
#[test]
fn an_index_does_not_join_a_data_stream_by_its_alias() {
    let attacked = prepared();
    attacked.elastic("PUT", "/_index_template/ta", json!({"index_patterns": ["a-moved"], "data_stream": {}}));
    let mappings = json!({"properties": {"@timestamp": {"type": "date"}}});
    let body = json!({"mappings": mappings, "aliases": {"a-moved": {}}});
    attacked.elastic("PUT", "/bobs-series", body);
    let (status, text) = attacked.tried("POST", "/_data_stream/_migrate/a-moved", Value::Null);
    assert_eq!(status, 403, "{text}");
    attacked.elastic("POST", "/_data_stream/_migrate/a-moved", Value::Null);
}

/// A query shows the documents that it names only to those who may read them, also where the request itself
/// only needs the right to see metadata.
#[test]
fn queries_name_only_documents_that_may_be_read() {
    let attacked = prepared();
    let role = json!({"indices": [
        {"names": ["bobs-index"], "privileges": ["view_index_metadata", "manage"]}, {"names": ["a*"], "privileges": ["all"]}]});
    attacked.elastic("PUT", "/_security/role/on_a", role);
    let document = json!({"index": "bobs-index", "id": "1", "path": "name"});
    let like = json!({"_index": "bobs-index", "_id": "1"});
    for query in [
        json!({"terms": {"name": document}}),
        json!({"more_like_this": {"fields": ["name"], "like": [like], "min_term_freq": 1, "min_doc_freq": 1}}),
    ] {
        for index in ["bobs-index", "a1", "a-pub"] {
            let path = format!("/{index}/_validate/query?explain=true&rewrite=true");
            let (_, text) = attacked.tried("POST", &path, json!({"query": query}));
            assert!(!text.contains("sesame"), "{path} {query}: {text}");
        }
    }
    let (status, text) =
        attacked.tried("POST", "/a1/_validate/query?explain=true", json!({"query": {"term": {"name": "x"}}}));
    assert_eq!(status, 200, "{text}");
}

/// Whoever may only use an alias sees by every expression what its filter shows.
#[test]
fn patterns_do_not_lose_the_filter_of_an_alias() {
    let attacked = prepared();
    for expression in ["/a-pub", "", "/*", "/_all", "/a-*", "/a-pub,*", "/a-pub,b*", "/a-pub,bobs-index"] {
        for call in ["_search?ignore_unavailable=true", "_count?ignore_unavailable=true&q=shared:true"] {
            let (status, text) = attacked.tried("GET", &format!("{expression}/{call}"), Value::Null);
            assert_eq!(status, 200, "{expression}/{call}: {text}");
            assert!(!text.contains(SECRET), "{expression}/{call}: {text}");
            let is_found = text.contains("\"_index\":\"bobs-index\"") || text.contains("\"count\":1");
            assert!(is_found, "{expression}/{call}: {text}");
        }
    }
    // Those who may use the index see it as a whole, unless only the alias is meant.
    for (expression, is_shown) in [("*", true), ("a-*,b*", true), ("a-*", false)] {
        let text = attacked.body_of(&format!("/{expression}/_search"));
        assert_eq!(text.contains(SECRET), is_shown, "{expression}: {text}");
    }
}

/// Aliases that mallory has no rights on are neither added by a rollover nor removed by a pattern.
#[test]
fn aliases_of_others_stay_as_they_are() {
    let attacked = prepared();
    attacked.elastic("PUT", "/a-roll-000001", json!({"aliases": {"a-roll": {"is_write_index": true}}}));
    let (status, text) =
        attacked.tried("POST", "/a-roll/_rollover", json!({"aliases": {"balias": {"is_write_index": true}}}));
    assert_eq!(status, 403, "{text}");
    assert!(!attacked.body_of("/_alias/balias").contains("a-roll"));
    let (status, text) = attacked.tried("POST", "/a-roll/_rollover", json!({"aliases": {"a-more": {}}}));
    assert_eq!(status, 200, "{text}");
    attacked.elastic(
        "PUT",
        "/_index_template/ta",
        json!({"index_patterns": ["a-series"], "data_stream": {}}),
    );
    attacked.elastic("PUT", "/_data_stream/a-series", Value::Null);
    let add = |alias: &str| json!({"add": {"index": "a-series", "alias": alias}});
    attacked.elastic("POST", "/_aliases", json!({"actions": [add("bobs-view"), add("a-view")]}));
    let remove = json!({"remove": {"index": "a-series", "alias": "*"}});
    let (status, text) = attacked.tried("POST", "/_aliases", json!({"actions": [remove]}));
    assert_eq!(status, 200, "{text}");
    let left = attacked.body_of("/a-series/_alias");
    assert!(left.contains("bobs-view") && !left.contains("a-view"), "{left}");
}
