//! The actions of a phase that Limber can carry out, and the steps of each.
//!
//! Source: Elasticsearch's `RolloverAction`, `AllocateAction`, `ForceMergeAction` and similar classes.

use limber_mapping::{ObjectParser, RequestError, java_text};
use serde_json::{Map, Value, json};

use super::conditions::Conditions;
use super::policy::object;
use crate::api::Result;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// `None` removes the priority.
    SetPriority(Option<u32>),
    Rollover(Conditions),
    ReadOnly,
    Allocate {
        replicas: Option<u32>,
        shards_per_node: Option<i64>,
    },
    /// Moves the index to the tier of the phase. Phases have this action even if the policy does not name it
    /// (`is_given`).
    Migrate {
        is_enabled: bool,
        is_given: bool,
    },
    ForceMerge {
        segments_max: u32,
    },
    Delete {
        deletes_snapshot: bool,
    },
}

impl Action {
    pub(super) fn parse(name: &str, body: &Value) -> Result<Action> {
        let members = Members { action: name, body: object(name, body)? };
        match name {
            "set_priority" => {
                members.only(&["priority"])?;
                let priority = match members.body.get("priority") {
                    Some(Value::Null) => None,
                    _ => {
                        Some(members.number("priority", 0)?.ok_or_else(|| members.required("priority"))?
                            as u32)
                    }
                };
                Ok(Action::SetPriority(priority))
            }
            "rollover" => {
                let conditions = Conditions::parse(body)?;
                if !conditions.has_max() {
                    let why = "At least one max_* rollover condition must be set.";
                    return Err(RequestError::illegal_argument(why));
                }
                Ok(Action::Rollover(conditions))
            }
            "readonly" => members.only(&[]).map(|()| Action::ReadOnly),
            "allocate" => allocate(&members),
            "migrate" => {
                members.only(&["enabled"])?;
                Ok(Action::Migrate { is_enabled: members.flag("enabled", true)?, is_given: true })
            }
            "forcemerge" => {
                members.only(&["max_num_segments", "index_codec"])?;
                if members.body.get("index_codec").is_some_and(|codec| !codec.is_null()) {
                    return Err(members.unsupported("index_codec"));
                }
                let segments = members.number("max_num_segments", 1)?;
                let segments_max = segments.ok_or_else(|| members.required("max_num_segments"))? as u32;
                Ok(Action::ForceMerge { segments_max })
            }
            "delete" => {
                members.only(&["delete_searchable_snapshot"])?;
                let deletes_snapshot = members.flag("delete_searchable_snapshot", true)?;
                Ok(Action::Delete { deletes_snapshot })
            }
            other => Err(RequestError::unsupported(format_args!("the lifecycle action [{other}]"))),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Action::SetPriority(_) => "set_priority",
            Action::Rollover(_) => "rollover",
            Action::ReadOnly => "readonly",
            Action::Allocate { .. } => "allocate",
            Action::Migrate { .. } => "migrate",
            Action::ForceMerge { .. } => "forcemerge",
            Action::Delete { .. } => "delete",
        }
    }

    /// Returns the names of its steps, in order.
    pub(crate) fn steps(&self) -> &'static [&'static str] {
        match self {
            Action::SetPriority(_) => &["set_priority"],
            Action::Rollover(_) => &[
                "check-rollover-ready",
                "attempt-rollover",
                "wait-for-active-shards",
                "update-rollover-lifecycle-date",
                "set-indexing-complete",
            ],
            Action::ReadOnly => &["check-not-write-index", "readonly"],
            Action::Allocate { .. } => &["allocate", "check-allocation"],
            Action::Migrate { is_enabled: true, .. } => &["migrate", "check-migration"],
            Action::Migrate { is_enabled: false, .. } => &[],
            Action::ForceMerge { .. } => &["check-not-write-index", "forcemerge"],
            Action::Delete { .. } => &["delete"],
        }
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Action::SetPriority(priority) => json!({"priority": priority}),
            Action::Rollover(conditions) => conditions.to_json(),
            Action::ReadOnly => json!({}),
            Action::Allocate { replicas, shards_per_node } => {
                let mut body = Map::new();
                replicas.map(|count| body.insert("number_of_replicas".into(), count.into()));
                shards_per_node.map(|count| body.insert("total_shards_per_node".into(), count.into()));
                for rules in ["include", "exclude", "require"] {
                    body.insert(rules.into(), json!({}));
                }
                Value::Object(body)
            }
            Action::Migrate { is_enabled, .. } => json!({"enabled": is_enabled}),
            Action::ForceMerge { segments_max } => json!({"max_num_segments": segments_max}),
            Action::Delete { deletes_snapshot } => json!({"delete_searchable_snapshot": deletes_snapshot}),
        }
    }
}

/// Parses `allocate`, refusing the allocation rules, which make no sense on a single node.
fn allocate(members: &Members<'_>) -> Result<Action> {
    members.only(&["number_of_replicas", "total_shards_per_node", "include", "exclude", "require"])?;
    for rules in ["include", "exclude", "require"] {
        let given = members.body.get(rules).and_then(Value::as_object);
        if given.is_some_and(|rules| !rules.is_empty()) {
            return Err(members.unsupported(rules));
        }
    }
    let replicas = members.number("number_of_replicas", 0)?.map(|count| count as u32);
    let shards_per_node = members.number("total_shards_per_node", -1)?;
    if replicas.is_none() && shards_per_node.is_none() {
        return Err(RequestError::illegal_argument(
            "At least one of [include], [exclude], [require], [number_of_replicas] or [total_shards_per_node] must be provided for \
             action [allocate]",
        ));
    }
    Ok(Action::Allocate { replicas, shards_per_node })
}

/// The members of one action.
struct Members<'a> {
    action: &'a str,
    body: &'a Map<String, Value>,
}

impl Members<'_> {
    fn only(&self, allowed: &[&str]) -> Result<()> {
        match self.body.keys().find(|key| !allowed.contains(&key.as_str())) {
            None => Ok(()),
            Some(other) => Err(ObjectParser::new(self.action).unknown(other)),
        }
    }

    fn required(&self, name: &str) -> RequestError {
        RequestError::illegal_argument(format!("Required [{name}] of action [{}]", self.action))
    }

    fn unsupported(&self, name: &str) -> RequestError {
        RequestError::unsupported(format_args!("[{name}] of the lifecycle action [{}]", self.action))
    }

    /// Reads an optional whole number of at least `min`.
    fn number(&self, name: &str, min: i64) -> Result<Option<i64>> {
        let Some(value) = self.body.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
        let number = match value {
            Value::String(text) => text.parse().ok(),
            other => other.as_i64(),
        };
        match number.filter(|number| (min..=i64::from(i32::MAX)).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(RequestError::illegal_argument(format!("[{name}] must be >= {min}, got [{value}]"))),
        }
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.body.get(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(RequestError::not_a_boolean(java_text(other))),
        }
    }
}
