//! "Does this request have the same answer whenever it is sent, as long as the documents do not change?"

use serde_json::{Map, Value};

use super::SearchRequest;
use super::url::UrlParameters;
use crate::context::documents::DocumentName;

impl SearchRequest {
    /// Notes how the answer is found again in the request cache, if it may be kept there. Only for whole
    /// requests.
    pub(super) fn note_cache_key(&mut self, body: &Value, url: &UrlParameters) {
        if self.request_cache.unwrap_or(self.size() == 0) && is_deterministic(body) {
            self.cache_key = url.cache_key(body);
            self.named_documents = named_documents(body);
        }
    }
}

/// Whether a request's answer depends only on the documents, including those of [`named_documents`]. The
/// function looks at the JSON and returns `false` when in doubt: wherever a string could be a date relative
/// to `now`, a function could use random numbers or the current time, or a stored script could change.
pub(crate) fn is_deterministic(body: &Value) -> bool {
    match body {
        Value::String(text) => is_timeless(text) && !text.contains("_index:"),
        Value::Array(items) => items.iter().all(is_deterministic),
        Value::Object(members) => members.iter().all(|(name, value)| {
            let is_itself = match name.as_str() {
                "random_score" | "random_sampler" => value.get("seed").is_some(),
                "gauss" | "exp" | "linear" => has_origins(value),
                // A stored script.
                "script"
                | "init_script"
                | "map_script"
                | "combine_script"
                | "reduce_script"
                | "minimum_should_match_script" => value.get("id").is_none(),
                "indexed_shape" => false,
                // The aliases of an index, which are names of it as well, may change.
                "_index" => false,
                // The documents of `like` may be documents of an index.
                "like" | "unlike" => !has_objects(value),
                // The stored queries may use the time, random numbers or stored scripts.
                "percolate" => false,
                // The query rules may change.
                "rule" => false,
                // The query inside cannot be inspected here.
                "wrapper" | "collate" => false,
                "profile" => value != &Value::Bool(true),
                _ => true,
            };
            is_itself && is_deterministic(value)
        }),
        _ => true,
    }
}

/// Whether a string is neither a date relative to now nor a script that uses the time or random numbers.
pub(crate) fn is_timeless(text: &str) -> bool {
    !["now", "random", "Random", "Date", "currentTime", "nanoTime"].iter().any(|word| text.contains(word))
}

/// Whether all fields of a decay function have an origin. Without one, a decay on dates starts at now.
fn has_origins(decay: &Value) -> bool {
    let mut fields = decay.as_object().into_iter().flatten().filter(|(_, value)| value.is_object());
    fields.all(|(_, field)| field.get("origin").is_some())
}

fn has_objects(examples: &Value) -> bool {
    match examples {
        Value::Array(items) => items.iter().any(Value::is_object),
        one => one.is_object(),
    }
}

/// Returns the documents whose values `terms` queries use, in the order of the request.
pub(crate) fn named_documents(body: &Value) -> Vec<DocumentName> {
    fn look(body: &Value, found: &mut Vec<DocumentName>) {
        match body {
            Value::Array(items) => items.iter().for_each(|item| look(item, found)),
            Value::Object(members) => {
                if let Some(Value::Object(terms)) = members.get("terms") {
                    found.extend(terms.values().filter_map(Value::as_object).filter_map(name_in));
                }
                members.values().for_each(|value| look(value, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    look(body, &mut found);
    found
}

fn name_in(lookup: &Map<String, Value>) -> Option<DocumentName> {
    let text = |name: &str| lookup.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(DocumentName { index: text("index")?, id: text("id")?, routing: text("routing"), version: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_are_named_wherever_a_query_stands() {
        let lookup = json!({"terms": {"u": {"index": "i", "id": "1", "path": "p", "routing": "r"}}});
        let body = json!({"query": {"bool": {"filter": [lookup]}}, "aggs": {"a": {"filter": lookup}}});
        let name = DocumentName {
            index: "i".to_owned(),
            id: "1".to_owned(),
            routing: Some("r".to_owned()),
            version: None,
        };
        assert_eq!(named_documents(&body), [name.clone(), name]);
        assert_eq!(named_documents(&json!({"aggs": {"a": {"terms": {"field": "n"}}}})), []);
    }

    #[test]
    fn what_depends_on_more_than_documents_is_told() {
        for (body, expected) in [
            (
                json!({"query": {"range": {"d": {"gte": "2024-01-01"}}}, "aggs": {"a": {"avg": {"field": "n"}}}}),
                true,
            ),
            (json!({"query": {"range": {"d": {"gte": "now-1d/d"}}}}), false),
            (json!({"query": {"query_string": {"query": "d:[now-1d TO *]"}}}), false),
            (json!({"query": {"function_score": {"random_score": {}}}}), false),
            (json!({"query": {"function_score": {"random_score": {"seed": 3, "field": "n"}}}}), true),
            (json!({"query": {"function_score": {"gauss": {"d": {"scale": "1d"}}}}}), false),
            (json!({"query": {"function_score": {"gauss": {"n": {"origin": 1, "scale": 2}}}}}), true),
            (json!({"query": {"script": {"script": {"id": "stored"}}}}), false),
            (json!({"query": {"script": {"script": {"source": "Math.random() > 0.5"}}}}), false),
            (json!({"terms_set": {"a": {"minimum_should_match_script": {"id": "stored"}}}}), false),
            (json!({"query": {"terms": {"u": {"index": "i", "id": "1", "path": "p"}}}}), true),
            (json!({"query": {"geo_shape": {"a": {"indexed_shape": {"id": "1"}}}}}), false),
            (json!({"query": {"more_like_this": {"like": [{"_id": "1"}]}}}), false),
            (json!({"query": {"more_like_this": {"like": "a text"}}}), true),
            (json!({"query": {"percolate": {"field": "q", "document": {"n": 1}}}}), false),
        ] {
            assert_eq!(is_deterministic(&body), expected, "{body}");
        }
    }
}
