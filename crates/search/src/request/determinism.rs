//! "Does this request mean the same whenever it is sent?"

use serde_json::{Map, Value};

use crate::context::documents::DocumentName;

/// Whether a request's answer depends on nothing but the documents, including those of [`named_documents`].
/// It looks at the JSON and says no when in doubt: wherever a text could be a date relative to `now`, a
/// function could draw random numbers or start at today, or a script could be another one tomorrow.
pub(crate) fn is_deterministic(body: &Value) -> bool {
    match body {
        Value::String(text) => is_timeless(text),
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
                // Documents that others are to be like may be those of an index.
                "like" | "unlike" => !has_objects(value),
                // The queries that it runs may ask for the time, for random numbers or for stored scripts.
                "percolate" => false,
                // Its rules may be others tomorrow.
                "rule" => false,
                // What is inside cannot be read here.
                "wrapper" | "collate" => false,
                "profile" => value != &Value::Bool(true),
                _ => true,
            };
            is_itself && is_deterministic(value)
        }),
        _ => true,
    }
}

/// Neither a date relative to now nor a script that asks for the time or for random numbers.
pub(crate) fn is_timeless(text: &str) -> bool {
    !["now", "random", "Date", "currentTime"].iter().any(|word| text.contains(word))
}

/// A decay function on dates starts at now unless it is told otherwise.
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

/// The documents whose values `terms` queries take, in the order of the request.
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
