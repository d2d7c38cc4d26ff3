//! Queries that limit documents and may refer to the user:
//! `{"template": {"source": {"term": {"owner": "{{_user.username}}"}}}}`.
//!
//! Source: `SecurityQueryTemplateEvaluator`. Mustache's values and `{{#toJson}}` are supported; sections
//! and partials are refused with an error that names them.

use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::{Identity, Result};

/// A query, or a template that is rendered to one.
#[derive(Debug, Clone)]
pub(crate) enum QueryTemplate {
    Query(Value),
    /// Literal text and the tags in between.
    Template {
        parts: Vec<Part>,
        params: Value,
    },
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(String),
    /// The value at this path, escaped for a JSON string.
    Value(String),
    /// The value at this path as JSON.
    Json(String),
}

fn bad(why: impl std::fmt::Display) -> RequestError {
    RequestError::parsing(format!("failed to parse the query of a role: {why}"))
}

impl QueryTemplate {
    /// Parses the `query` of a role.
    ///
    /// # Errors
    /// Neither JSON nor a template, or a template with unsupported parts.
    pub(crate) fn parse(text: &str) -> Result<QueryTemplate> {
        let value: Value = serde_json::from_str(text).map_err(bad)?;
        let object = value.as_object().ok_or_else(|| bad("a query is an object"))?;
        let Some(template) = object.get("template") else { return Ok(QueryTemplate::Query(value)) };
        let template = template.as_object().ok_or_else(|| bad("[template] is an object"))?;
        if let Some(other) = template.keys().find(|key| !["source", "params", "lang"].contains(&key.as_str()))
        {
            return Err(bad(format_args!("[{other}] in [template] is not supported")));
        }
        let source = match template.get("source") {
            Some(Value::String(source)) => source.clone(),
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => return Err(bad("[template] needs a [source]")),
        };
        let params = template.get("params").cloned().unwrap_or(Value::Null);
        Ok(QueryTemplate::Template { parts: parts(&source)?, params })
    }

    /// Returns the query for this user.
    ///
    /// # Errors
    /// A rendered template that is not JSON.
    pub(crate) fn render(&self, user: &Identity) -> Result<Value> {
        let (parts, params) = match self {
            QueryTemplate::Query(query) => return Ok(query.clone()),
            QueryTemplate::Template { parts, params } => (parts, params),
        };
        let own = json!({
            "username": user.username,
            "full_name": user.full_name,
            "email": user.email,
            "roles": user.roles,
            "metadata": user.metadata,
        });
        let lookup = |path: &str| match path.strip_prefix("_user.") {
            Some(rest) => walk(&own, rest),
            None => walk(params, path),
        };
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Json(path) => text.push_str(&lookup(path).unwrap_or(&Value::Null).to_string()),
                Part::Value(path) => match lookup(path) {
                    None | Some(Value::Null) => {}
                    Some(Value::String(value)) => {
                        let quoted = Value::from(value.as_str()).to_string();
                        text.push_str(&quoted[1..quoted.len() - 1]);
                    }
                    Some(scalar @ (Value::Bool(_) | Value::Number(_))) => text.push_str(&scalar.to_string()),
                    Some(other) => {
                        let quoted = Value::from(other.to_string()).to_string();
                        text.push_str(&quoted[1..quoted.len() - 1]);
                    }
                },
            }
        }
        serde_json::from_str(&text).map_err(bad)
    }
}

/// Finds a member by its path; tries a name with dots as a whole first.
fn walk<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    if let Some(found) = value.get(path) {
        return Some(found);
    }
    let (first, rest) = path.split_once('.')?;
    match value {
        Value::Array(items) => walk(items.get(first.parse::<usize>().ok()?)?, rest),
        _ => walk(value.get(first)?, rest),
    }
}

fn parts(source: &str) -> Result<Vec<Part>> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(start) = rest.find("{{") {
        found.push(Part::Text(rest[..start].to_owned()));
        let (tag, after) = tag(&rest[start..])?;
        rest = after;
        if tag == "#toJson" {
            let end = rest.find("{{/toJson}}").ok_or_else(|| bad("[{{#toJson}}] has no end"))?;
            found.push(Part::Json(rest[..end].trim().to_owned()));
            rest = &rest[end + "{{/toJson}}".len()..];
        } else if tag.starts_with(['#', '^', '/', '>', '!', '=', '&']) {
            return Err(bad(format_args!("[{{{{{tag}}}}}] in a template is not supported")));
        } else {
            found.push(Part::Value(tag.to_owned()));
        }
    }
    found.push(Part::Text(rest.to_owned()));
    Ok(found)
}

/// Splits `text`, which begins with `{{` or `{{{`, into the contents of the tag and the rest after it.
fn tag(text: &str) -> Result<(&str, &str)> {
    let (open, close) = if text.starts_with("{{{") { (3, "}}}") } else { (2, "}}") };
    let end = text[open..].find(close).ok_or_else(|| bad("[{{] has no end"))?;
    Ok((text[open..open + end].trim(), &text[open + end + close.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AuthenticationType, Realm};

    fn user() -> Identity {
        Identity {
            username: "o'\"k".into(),
            roles: vec!["a".into(), "b".into()],
            full_name: None,
            email: None,
            metadata: json!({"team": {"id": 7}, "tags": ["x"]}).as_object().expect("an object").clone(),
            realm: Realm::NATIVE,
            authentication: AuthenticationType::Realm,
            run_by: None,
        }
    }

    #[test]
    fn templates() {
        let check = |text: &str, expected: Value| {
            let rendered = QueryTemplate::parse(text).and_then(|template| template.render(&user()));
            assert_eq!(rendered.expect("valid"), expected, "{text}");
        };
        check(r#"{"term":{"a":1}}"#, json!({"term": {"a": 1}}));
        check(
            r#"{"template":{"source":{"term":{"owner":"{{_user.username}}"}}}}"#,
            json!({"term": {"owner": "o'\"k"}}),
        );
        check(
            r#"{"template":{"source":"{\"terms\":{\"r\":{{#toJson}}_user.roles{{/toJson}}}}"}}"#,
            json!({"terms": {"r": ["a", "b"]}}),
        );
        check(
            r#"{"template":{"source":{"term":{"t":"{{_user.metadata.team.id}}"}}}}"#,
            json!({"term": {"t": "7"}}),
        );
        check(
            r#"{"template":{"source":{"term":{"t":"{{p}}"}},"params":{"p":"v"}}}"#,
            json!({"term": {"t": "v"}}),
        );
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "{",
            "[]",
            r#"{"template":{}}"#,
            r#"{"template":{"source":"{{#if}}x{{/if}}"}}"#,
            r#"{"template":{"source":"{{a"}}"#,
            r#"{"template":{"id":"stored"}}"#,
        ] {
            assert!(QueryTemplate::parse(text).is_err(), "{text}");
        }
    }
}
