//! Terms of a `terms` query that another document holds: read when the search begins, and put in their place.
//!
//! Source: Elasticsearch's `TermsQueryBuilder#doRewrite` and `TermsLookup`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::Node;
use super::lookups::{check_parse, check_work, each_member};
use crate::api::*;

/// Documents that one request may read for its terms. Ours.
const LOOKUPS_MAX: usize = 1_000;

impl Node {
    /// Replaces `{"terms": {"field": {"index", "id", "path", "routing"}}}` in the JSON of a search by the values found there; none where the
    /// document, or the path in it, is missing.
    ///
    /// Errors: `index_not_found_exception`, and lookups that do not say where to look.
    pub(super) fn resolve_terms_lookups(&self, body: &mut Value) -> Result<()> {
        let mut count = 0;
        each_member(body, "terms", &mut |terms: &mut Value| match terms {
            Value::Object(fields) => {
                fields.values_mut().try_for_each(|terms| self.put_terms(terms, &mut count))
            }
            _ => Ok(()),
        })
    }

    fn put_terms(&self, terms: &mut Value, count: &mut usize) -> Result<()> {
        if let Value::Object(lookup) = terms
            && ["index", "id", "path"].iter().all(|name| lookup.contains_key(*name))
        {
            *count += 1;
            if *count > LOOKUPS_MAX {
                return Err(RequestError::illegal_argument(format!(
                    "more than [{LOOKUPS_MAX}] terms lookups in one request"
                )));
            }
            *terms = self.look_up(lookup)?;
        }
        Ok(())
    }

    fn look_up(&self, lookup: &Map<String, Value>) -> Result<Value> {
        let refused = |what: String| {
            RequestError::new(400, "x_content_parse_exception", format!("[terms_lookup] {what}"))
        };
        let mut texts = [None, None, None, None];
        for (name, value) in lookup {
            let known = ["index", "id", "path", "routing"].iter().position(|known| known == name);
            match (known, value) {
                (Some(place), Value::String(text)) => texts[place] = Some(text.as_str()),
                (Some(_), other) => {
                    let token = limber_mapping::token(other);
                    return Err(refused(format!("{name} doesn't support values of type: {token}")));
                }
                (None, _) => return Err(refused(format!("unknown field [{name}]"))),
            }
        }
        let [index, id, path, routing] = texts;
        let [index, id, path] = [index, id, path].map(Option::unwrap_or_default);
        check_work()?;
        let found = self.get(&GetRequest { routing, ..GetRequest::new(index, id) })?;
        let mut values = Vec::new();
        if let Some(document) = found.found.filter(|document| !document.source.is_empty()) {
            check_parse(&document.source)?;
            let source: Value = serde_json::from_slice(&document.source)
                .map_err(|error| RequestError::new(500, "exception", error.to_string()))?;
            collect(&source, path, &mut values);
        }
        check_work()?;
        Ok(Value::Array(values))
    }
}

/// The values at a dotted path: through lists, and through names that hold dots themselves.
fn collect(value: &Value, path: &str, out: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, out)),
        Value::Object(members) if !path.is_empty() => {
            for (name, value) in members {
                if name == path {
                    collect(value, "", out);
                } else if let Some(rest) =
                    path.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'))
                {
                    collect(value, rest, out);
                }
            }
        }
        Value::Object(_) | Value::Null => {}
        leaf if path.is_empty() => out.push(leaf.clone()),
        _ => {}
    }
}
