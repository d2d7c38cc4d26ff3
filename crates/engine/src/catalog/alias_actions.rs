//! The body of `POST /_aliases`.
//!
//! Source: `IndicesAliasesRequest`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::alias::{self, Alias};
use crate::api::Result;

/// One action; index names are expressions.
#[derive(Debug)]
pub(crate) enum AliasAction {
    Add { indices: Vec<String>, aliases: Vec<String>, alias: Alias },
    Remove { indices: Vec<String>, aliases: Vec<String>, must_exist: Option<bool> },
    RemoveIndex { indices: Vec<String> },
}

/// Maximum number of actions in one request.
const ACTIONS_MAX: usize = 10_000;

pub(crate) fn parse_actions(body: &Value) -> Result<Vec<AliasAction>> {
    let actions = match body.get("actions") {
        Some(Value::Array(actions)) => actions.as_slice(),
        // As everywhere in Elasticsearch's lists of objects, one object may stand for a list of one.
        Some(action @ Value::Object(_)) => std::slice::from_ref(action),
        _ => return Err(no_action()),
    };
    if let Some(other) = body.as_object().and_then(|object| object.keys().find(|key| *key != "actions")) {
        return Err(ObjectParser::new("aliases").unknown(other));
    }
    if actions.is_empty() {
        return Err(no_action());
    }
    if actions.len() > ACTIONS_MAX {
        return Err(RequestError::illegal_argument(format!(
            "more than [{ACTIONS_MAX}] alias actions in one request"
        )));
    }
    actions.iter().map(parse_action).collect()
}

fn no_action() -> RequestError {
    RequestError::validation(["Must specify at least one alias action"])
}

fn parse_failed(reason: String) -> RequestError {
    RequestError::bad_request("x_content_parse_exception", reason)
}

fn parse_action(action: &Value) -> Result<AliasAction> {
    let object = action.as_object().filter(|object| object.len() == 1);
    let Some((kind, Value::Object(given))) = object.and_then(|object| object.iter().next()) else {
        return Err(parse_failed("[alias_action] expected one action with an object".into()));
    };
    let mut rest = given.clone();
    let indices = names(kind, &mut rest, "index", "indices")?;
    let must_exist = match rest.shift_remove("must_exist") {
        Some(value) => alias::flag("must_exist", &value)?,
        None => None,
    };
    match kind.as_str() {
        "add" if must_exist.is_some() => Err(ObjectParser::new(kind).unknown("must_exist")),
        "add" => {
            let aliases = names(kind, &mut rest, "alias", "aliases")?;
            Ok(AliasAction::Add { indices, aliases, alias: Alias::parse(&Value::Object(rest))? })
        }
        "remove" => {
            let aliases = names(kind, &mut rest, "alias", "aliases")?;
            nothing_left(kind, &rest)?;
            Ok(AliasAction::Remove { indices, aliases, must_exist })
        }
        "remove_index" => {
            nothing_left(kind, &rest)?;
            Ok(AliasAction::RemoveIndex { indices })
        }
        other => Err(ObjectParser::new("alias_action").unknown(other)),
    }
}

fn nothing_left(kind: &str, rest: &Map<String, Value>) -> Result<()> {
    match rest.keys().next() {
        None => Ok(()),
        Some(key) => Err(ObjectParser::new(kind).unknown(key)),
    }
}

fn names(kind: &str, rest: &mut Map<String, Value>, one: &str, many: &str) -> Result<Vec<String>> {
    let single = rest.shift_remove(one);
    let list = rest.shift_remove(many);
    let names: Vec<String> = match (single, list) {
        (Some(Value::String(name)), None) => name.split(',').map(|name| name.trim().to_owned()).collect(),
        (None, Some(Value::Array(items))) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .unwrap_or_default(),
        (None, Some(Value::String(name))) => vec![name],
        (Some(_), Some(_)) => {
            return Err(RequestError::illegal_argument(format!(
                "Only one of [{one}] and [{many}] is supported"
            )));
        }
        _ => Vec::new(),
    };
    if names.is_empty() || names.iter().any(String::is_empty) {
        return Err(RequestError::illegal_argument(format!(
            "One of [{one}] or [{many}] is required for [{kind}]"
        )));
    }
    Ok(names)
}
