//! `template` of OpenSearch: a query with variables, which processors of machine learning replace.
//!
//! Source: OpenSearch's `TemplateQueryBuilder`. There are no such processors here, so that only a template
//! without variables can be carried out.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use crate::query::parse::{Parser, Query};

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let query = Value::Object(members.clone());
    if has_variable(&query) {
        return Err(RequestError::unsupported("variables of the query [template]"));
    }
    parser.query(&query)
}

/// Whether a text contains a variable such as `${modelPredictionOutcome}`.
fn has_variable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(items) => items.iter().any(has_variable),
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.contains("${") || has_variable(value))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::request::read_query;

    #[test]
    fn a_template_without_variables_is_its_query() {
        assert!(read_query(&json!({"template": {"match": {"a": "b"}}})).is_ok());
        let error = read_query(&json!({"template": {"match": {"a": "${b}"}}})).expect_err("refused");
        assert_eq!(error.reason, "variables of the query [template] is not supported by Limber yet");
    }
}
