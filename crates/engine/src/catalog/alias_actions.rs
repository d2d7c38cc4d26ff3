//! The body of `POST /_aliases`.
//!
//! Source: `IndicesAliasesRequest`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::alias::{Alias, INDEX_ROUTING, SEARCH_ROUTING};
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

const ALIASES: ObjectParser<'_> = ObjectParser::new("aliases");
const ACTION: ObjectParser<'_> = ObjectParser::new("alias_action");

pub(crate) fn parse_actions(body: &Value) -> Result<Vec<AliasAction>> {
    let members = ALIASES.members(body)?;
    if let Some(other) = members.keys().find(|key| *key != "actions") {
        return Err(ALIASES.unknown(other));
    }
    let actions = match members.get("actions") {
        None => &[],
        Some(Value::Array(actions)) => actions.as_slice(),
        // As everywhere in Elasticsearch's lists of objects, one object may stand for a list of one.
        Some(action @ Value::Object(_)) => std::slice::from_ref(action),
        Some(other) => return Err(ALIASES.unsupported("actions", other)),
    };
    if actions.is_empty() {
        return Err(RequestError::illegal_argument("No action specified"));
    }
    if actions.len() > ACTIONS_MAX {
        return Err(RequestError::illegal_argument(format!(
            "more than [{ACTIONS_MAX}] alias actions in one request"
        )));
    }
    let parsed = actions.iter().map(parse_action);
    parsed.map(|action| action.map_err(|cause| ALIASES.failed("actions", cause))).collect()
}

fn parse_action(action: &Value) -> Result<AliasAction> {
    let members = ACTION.members(action)?;
    let Some((kind, given)) = members.iter().next() else {
        return Err(RequestError::illegal_argument("No action specified"));
    };
    if members.len() > 1 {
        let cause = RequestError::illegal_argument("Too many operations declared on operation entry");
        return Err(ACTION.failed_to_build(cause));
    }
    if !matches!(kind.as_str(), "add" | "remove" | "remove_index") {
        return Err(ACTION.unknown(kind));
    }
    let Value::Object(given) = given else { return Err(ACTION.unsupported(kind, given)) };
    let given = Given::parse(kind, given).map_err(|cause| ACTION.failed(kind, cause))?;
    let required = |one: &str, many: &str, names: Option<Vec<String>>| {
        let missing = || RequestError::illegal_argument(format!("One of [{one}] or [{many}] is required"));
        names.ok_or_else(missing)
    };
    let indices = required("index", "indices", given.indices)?;
    if kind == "remove_index" {
        return Ok(AliasAction::RemoveIndex { indices });
    }
    let aliases = required("alias", "aliases", given.aliases)?;
    Ok(match kind.as_str() {
        "add" => {
            AliasAction::Add { indices, aliases, alias: Alias::parse(&Value::Object(given.definition))? }
        }
        _ => AliasAction::Remove { indices, aliases, must_exist: given.must_exist },
    })
}

/// The members of one action.
#[derive(Default)]
struct Given {
    indices: Option<Vec<String>>,
    aliases: Option<Vec<String>>,
    must_exist: Option<bool>,
    /// What an added alias defines.
    definition: Map<String, Value>,
}

impl Given {
    /// Reads the members of an action of a kind. Errors do not name the action.
    fn parse(kind: &str, members: &Map<String, Value>) -> Result<Given> {
        let parser = ObjectParser::new(kind);
        let mut given = Given::default();
        for (name, value) in members {
            match name.as_str() {
                "index" | "indices" => {
                    put_names(parser, name, value, ["index", "indices"], &mut given.indices)?
                }
                "alias" | "aliases" if kind == "remove_index" => {
                    let reason = format!("[{name}] is unsupported for [REMOVE_INDEX]");
                    return Err(parser.failed(name, RequestError::illegal_argument(reason)));
                }
                "alias" | "aliases" => {
                    put_names(parser, name, value, ["alias", "aliases"], &mut given.aliases)?
                }
                "must_exist" if kind == "remove" => given.must_exist = Some(parser.flag(name, value)?),
                _ if kind != "add" => return Err(parser.unknown(name)),
                "filter" if !value.is_object() => return Err(parser.unsupported(name, value)),
                other if is_routing(other) && !value.is_string() && !value.is_number() => {
                    return Err(parser.unsupported(name, value));
                }
                "is_write_index" | "is_hidden" => {
                    given.definition.insert(name.clone(), parser.flag(name, value)?.into());
                }
                other if other == "filter" || is_routing(other) => {
                    given.definition.insert(name.clone(), value.clone());
                }
                other => return Err(parser.unknown(other)),
            }
        }
        Ok(given)
    }
}

/// Whether a member of an alias is one of its routings.
fn is_routing(member: &str) -> bool {
    member == "routing" || INDEX_ROUTING.contains(&member) || SEARCH_ROUTING.contains(&member)
}

/// Reads the names of indices or aliases into `names`. The member `one` has a list in a text, and `many` has
/// an array; only one of them may be given.
fn put_names(
    parser: ObjectParser<'_>,
    member: &str,
    value: &Value,
    [one, many]: [&str; 2],
    names: &mut Option<Vec<String>>,
) -> Result<()> {
    let failed = |reason: String| Err(parser.failed(member, RequestError::illegal_argument(reason)));
    if names.is_some() {
        return failed(format!("Only one of [{one}] and [{many}] is supported"));
    }
    let given: Vec<String> = match value {
        Value::String(text) if member == one => {
            limber_work::claim_pieces(text, ",")?;
            text.split(',').map(|name| name.trim().to_owned()).collect()
        }
        Value::String(text) => vec![text.clone()],
        Value::Array(items) if member == many => {
            let text = |item: &Value| parser.text(member, item).map(str::to_owned);
            items.iter().map(text).collect::<Result<_>>()?
        }
        other => return Err(parser.unsupported(member, other)),
    };
    match given.iter().any(String::is_empty) {
        _ if given.is_empty() => failed(format!("[{member}] can't be empty")),
        true if value.is_string() => failed(format!("[{member}] can't be empty string")),
        true => failed(format!("[{member}] can't contain empty string")),
        false => {
            *names = Some(given);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_name_what_is_wrong_with_which_action() {
        let check = |body: Value, expected: &[&str]| {
            let mut error = Some(Box::new(parse_actions(&body).expect_err("refused")));
            let mut reasons = Vec::new();
            while let Some(one) = error {
                reasons.push(one.reason.clone());
                error = one.caused_by;
            }
            assert_eq!(reasons, expected, "{body}");
        };
        let actions = "[aliases] failed to parse field [actions]";
        let add = "[alias_action] failed to parse field [add]";
        check(json!({}), &["No action specified"]);
        check(json!({"actions": []}), &["No action specified"]);
        check(json!([]), &["[aliases] Expected START_OBJECT but was: START_ARRAY"]);
        check(json!({"actions": 3}), &["[aliases] actions doesn't support values of type: VALUE_NUMBER"]);
        check(json!({"actions": [{"bogus": {}}]}), &[actions, "[alias_action] unknown field [bogus]"]);
        check(
            json!({"actions": [{"add": {"index": "i"}}]}),
            &[actions, "One of [alias] or [aliases] is required"],
        );
        check(
            json!({"actions": [{"add": {"index": "i", "alias": "a", "filter": null}}]}),
            &[actions, add, "[add] filter doesn't support values of type: VALUE_NULL"],
        );
        check(
            json!({"actions": [{"add": {"index": "i", "aliases": []}}]}),
            &[actions, add, "[add] failed to parse field [aliases]", "[aliases] can't be empty"],
        );
        check(
            json!({"actions": [{"remove_index": {"index": "i", "alias": "a"}}]}),
            &[
                actions,
                "[alias_action] failed to parse field [remove_index]",
                "[remove_index] failed to parse field [alias]",
                "[alias] is unsupported for [REMOVE_INDEX]",
            ],
        );
    }

    #[test]
    fn actions_are_read() {
        let body = json!({"actions": {"add": {"index": "i,j", "aliases": ["a"], "is_write_index": "true"}}});
        let actions = parse_actions(&body).expect("valid");
        let AliasAction::Add { indices, aliases, alias } = &actions[0] else { panic!("{actions:?}") };
        assert_eq!((indices.len(), aliases.len(), alias.is_write_index), (2, 1, Some(true)));
    }
}
