//! Queries that limit documents and may refer to the user:
//! `{"template": {"source": {"term": {"owner": "{{_user.username}}"}}}}`.
//!
//! Source: `SecurityQueryTemplateEvaluator`. A template is one of `limber_script::mustache`; stored templates
//! are refused with an error that names them.

use limber_mapping::RequestError;
use limber_script::mustache::{Escape, Template};
use serde_json::{Map, Value, json};

use crate::{Identity, Result};

/// A query, or a template that is rendered to one.
#[derive(Debug, Clone)]
pub(crate) enum QueryTemplate {
    Query(Value),
    Template { template: Template, params: Map<String, Value> },
}

fn bad(why: impl std::fmt::Display) -> RequestError {
    RequestError::parsing(format!("failed to parse the query of a role: {why}"))
}

impl QueryTemplate {
    /// Parses the `query` of a role.
    ///
    /// # Errors
    /// Neither JSON nor a template, or a template that is not valid.
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
        let params = match template.get("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params.clone(),
            Some(_) => return Err(bad("[params] in [template] is an object")),
        };
        Ok(QueryTemplate::Template { template: Template::parse(&source, Escape::Json)?, params })
    }

    /// Returns the query for this user.
    ///
    /// # Errors
    /// A rendered template that is too long or not JSON.
    pub(crate) fn render(&self, user: &Identity) -> Result<Value> {
        let (template, params) = match self {
            QueryTemplate::Query(query) => return Ok(query.clone()),
            QueryTemplate::Template { template, params } => (template, params),
        };
        let mut params = params.clone();
        let own = json!({
            "username": user.username,
            "full_name": user.full_name,
            "email": user.email,
            "roles": user.roles,
            "metadata": user.metadata,
        });
        params.insert("_user".to_owned(), own);
        let text = template.render(&Value::Object(params))?;
        serde_json::from_str(&text).map_err(bad)
    }
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
        check(
            r#"{"template":{"source":"{\"terms\":{\"r\":[{{#_user.roles}}\"{{.}}\",{{/_user.roles}}\"\"]}}"}}"#,
            json!({"terms": {"r": ["a", "b", ""]}}),
        );
        check(
            r#"{"template":{"source":{"term":{"t":"{{_user.username}}{{_user.email}}"}},"params":{"_user":1}}}"#,
            json!({"term": {"t": "o'\"k"}}),
        );
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "{",
            "[]",
            r#"{"template":{}}"#,
            r#"{"template":{"source":"{{#if}}x"}}"#,
            r#"{"template":{"source":"{{>part}}"}}"#,
            r#"{"template":{"source":"{}","params":1}}"#,
            r#"{"template":{"source":"{{a"}}"#,
            r#"{"template":{"id":"stored"}}"#,
        ] {
            assert!(QueryTemplate::parse(text).is_err(), "{text}");
        }
    }
}
