//! One enrich policy: its JSON and its validation.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use crate::api::Result;

/// How a policy matches documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The values must be equal.
    Match,
    /// The value must lie within a range.
    Range,
    /// The location must lie within a shape.
    Geo,
}

impl Kind {
    const ALL: [(&'static str, Kind); 3] =
        [("match", Kind::Match), ("range", Kind::Range), ("geo_match", Kind::Geo)];

    fn name(self) -> &'static str {
        Kind::ALL.into_iter().find(|(_, kind)| *kind == self).map_or("match", |(name, _)| name)
    }
}

/// Largest number of levels of a match field. A mapping has at most 20, unless its index says otherwise.
const LEVELS_MAX: usize = 50;
/// Number of characters of a match field that is too long that its refusal shows.
const SHOWN_CHARS: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Policy {
    pub kind: Kind,
    pub query: Option<Value>,
    pub indices: Vec<String>,
    pub match_field: String,
    pub enrich_fields: Vec<String>,
}

impl Policy {
    /// Returns the alias of the index that executing a policy creates.
    pub(crate) fn alias(name: &str) -> String {
        format!(".enrich-{name}")
    }

    /// Parses `{"match": {...}}`, the body of `PUT _enrich/policy/{name}`.
    pub(crate) fn parse(body: &Value) -> Result<Policy> {
        let Some((name, definition)) =
            body.as_object().filter(|body| body.len() == 1).and_then(|body| body.iter().next())
        else {
            return Err(RequestError::bad_request("parsing_exception", "Only one policy type is allowed"));
        };
        let Some((_, kind)) = Kind::ALL.into_iter().find(|(known, _)| known == name) else {
            return Err(RequestError::illegal_argument(format!(
                "unsupported policy type [{name}], supported types are [match, range, geo_match]"
            )));
        };
        let members = ObjectParser::new(name).members(definition)?;
        let mut policy = Policy {
            kind,
            query: None,
            indices: Vec::new(),
            match_field: String::new(),
            enrich_fields: Vec::new(),
        };
        for (key, value) in members {
            match key.as_str() {
                "query" if value.is_object() => policy.query = Some(value.clone()),
                "indices" => policy.indices = texts(key, value)?,
                "match_field" => policy.match_field = texts(key, value)?.pop().unwrap_or_default(),
                "enrich_fields" => policy.enrich_fields = texts(key, value)?,
                // Elasticsearch's own responses contain these members.
                "name" | "elasticsearch_version" => drop(texts(key, value)?),
                _ => return Err(ObjectParser::new("policy").unknown(key)),
            }
        }
        let missing = |field: &str| Err(ObjectParser::required(field));
        match (policy.indices.is_empty(), policy.match_field.is_empty(), policy.enrich_fields.is_empty()) {
            (true, ..) => missing("indices"),
            (_, true, _) => missing("match_field"),
            (.., true) => missing("enrich_fields"),
            _ => Ok(policy),
        }
    }

    /// Checks the depth of the match field in the index that executing the policy creates. A policy that is
    /// stored already may be deeper, so this is not a part of [`Policy::parse`].
    pub(crate) fn check_levels(&self) -> Result<()> {
        if self.match_field.split('.').count() > LEVELS_MAX {
            let start: String = self.match_field.chars().take(SHOWN_CHARS).collect();
            return Err(RequestError::illegal_argument(format!(
                "[match_field] [{start}] has more than [{LEVELS_MAX}] levels"
            )));
        }
        Ok(())
    }

    /// Renders the policy as [`Policy::parse`] reads it.
    pub(crate) fn to_json(&self) -> Value {
        let mut body = Map::new();
        body.insert("indices".into(), json!(self.indices));
        body.insert("match_field".into(), self.match_field.as_str().into());
        body.insert("enrich_fields".into(), json!(self.enrich_fields));
        if let Some(query) = &self.query {
            body.insert("query".into(), query.clone());
        }
        json!({ self.kind.name(): body })
    }

    /// Renders the policy as `GET _enrich/policy` shows it.
    pub(crate) fn shown(&self, name: &str) -> Value {
        let mut body = self.to_json();
        let members = &mut body[self.kind.name()];
        let mut named = Map::new();
        named.insert("name".into(), name.into());
        named.extend(members.as_object().cloned().unwrap_or_default());
        *members = Value::Object(named);
        json!({ "config": body })
    }
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let list = match value {
        Value::Array(items) => items.iter().map(text).collect(),
        one => text(one).map(|one| vec![one]),
    };
    list.ok_or_else(|| ObjectParser::new("policy").unsupported(key, value))
}

/// Checks that a policy may have this name, which becomes part of an index name.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let refused = |why: &str| {
        let reason = format!("Invalid policy name [{name}], {why}");
        Err(RequestError::bad_request("illegal_argument_exception", reason))
    };
    if name.chars().any(char::is_uppercase) {
        return refused("must be lowercase");
    }
    if name.contains(['\\', '/', '*', '?', '"', '<', '>', '|', ' ', ',', '#', ':']) {
        return refused(
            "must not contain the following characters [' ','\"','*','\\','<','|',',','>','/','?']",
        );
    }
    if name.starts_with(['_', '-', '+', '.']) {
        return refused("must not start with '_', '-', or '+'");
    }
    if name.len() > 200 {
        return refused("policy name is too long");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_shown() {
        let body =
            json!({"match": {"indices": "users", "match_field": "email", "enrich_fields": ["name", "city"]}});
        let policy = Policy::parse(&body).expect("a policy");
        assert_eq!(Policy::parse(&policy.to_json()).expect("again"), policy);
        assert_eq!(
            policy.shown("p"),
            json!({"config": {"match": {"name": "p", "indices": ["users"], "match_field": "email", "enrich_fields": ["name", "city"]}}})
        );
        let refused = |body: Value, part: &str| {
            let error = Policy::parse(&body).expect_err("refused");
            assert!(error.reason.contains(part), "{} lacks {part}", error.reason);
        };
        let deep = "a.".repeat(LEVELS_MAX) + "b";
        let deep =
            Policy::parse(&json!({"match": {"indices": "a", "match_field": deep, "enrich_fields": ["b"]}}));
        assert!(deep.expect("read as it is stored").check_levels().is_err() && policy.check_levels().is_ok());
        refused(json!({"other": {}}), "unsupported policy type [other]");
        refused(json!({"match": {"indices": "a", "match_field": "b"}}), "Required [enrich_fields]");
        refused(json!({"match": {"index": "a"}}), "unknown field [index]");
        assert!(
            check_name("Upper").is_err() && check_name("_x").is_err() && check_name("users-policy").is_ok()
        );
    }
}
