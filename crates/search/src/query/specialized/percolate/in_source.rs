//! Finds the queries in the JSON of a document.

use limber_mapping::RequestError;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::values::gather::gather_whole;

/// Returns the queries at a dotted path; lists are flattened, and nulls are ignored.
pub(crate) fn queries_at<'v>(document: &'v Value, path: &str) -> Vec<&'v Value> {
    let (mut found, mut queries) = (Vec::new(), Vec::new());
    gather_whole(document, path, &mut found);
    found.into_iter().for_each(|value| flatten(value, &mut queries));
    queries
}

fn flatten<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        // The recursion is limited by the depth of JSON, which was checked before.
        Value::Array(items) => items.iter().for_each(|item| flatten(item, out)),
        Value::Null => {}
        query => out.push(query),
    }
}

/// Returns the query in the source of its document.
pub(crate) fn query_in_source(source: &[u8], path: &str) -> Result<Value> {
    let unreadable = |why: String| Error::Request(RequestError::internal("exception", why));
    limber_mapping::claim_parsed(source)?;
    let document: Value =
        limber_mapping::parse_source(source).map_err(|error| unreadable(error.to_string()))?;
    match queries_at(&document, path).first() {
        Some(query) => Ok((*query).clone()),
        None => Err(unreadable(format!("the source of a document has no query at [{path}]"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn queries_are_found_through_lists_and_dotted_names() {
        let document =
            json!({"a": [{"q": {"n": 1}}, {"q": [[{"n": 2}], null]}], "a.q": {"n": 3}, "q": {"n": 4}});
        assert_eq!(queries_at(&document, "a.q"), [&json!({"n": 1}), &json!({"n": 2}), &json!({"n": 3})]);
        assert!(queries_at(&document, "a.q.n.x").is_empty());
    }
}
