//! One policy: "which phases does it have, when does each begin, and what happens in it?"
//!
//! A policy with an action that Limber cannot carry out is refused when it is put. Source: Elasticsearch's
//! `LifecyclePolicy`, `TimeseriesLifecycleType`, `Phase`, and the classes of the actions.

use limber_mapping::{ObjectParser, RequestError, plain_text};
use serde_json::{Map, Value, json};

use super::Action;
use crate::api::Result;
use crate::notation::value::parse_time_ms;

/// Longest name of a policy, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// The phases in order, each with its possible actions in the order in which they are carried out.
const PHASES: [(&str, &[&str]); 5] = [
    (
        "hot",
        &[
            "set_priority",
            "unfollow",
            "rollover",
            "readonly",
            "downsample",
            "shrink",
            "forcemerge",
            "searchable_snapshot",
        ],
    ),
    (
        "warm",
        &[
            "set_priority",
            "unfollow",
            "readonly",
            "downsample",
            "allocate",
            "migrate",
            "shrink",
            "forcemerge",
        ],
    ),
    (
        "cold",
        &[
            "set_priority",
            "unfollow",
            "readonly",
            "downsample",
            "searchable_snapshot",
            "allocate",
            "migrate",
            "freeze",
        ],
    ),
    ("frozen", &["unfollow", "searchable_snapshot"]),
    ("delete", &["wait_for_snapshot", "delete"]),
];

/// Actions that require a rollover before them in the hot phase.
const AFTER_ROLLOVER: [&str; 5] = ["readonly", "shrink", "forcemerge", "downsample", "searchable_snapshot"];

/// A policy of `_ilm`: phases, each with actions.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// In their order.
    pub(crate) phases: Vec<Phase>,
    /// `_meta`.
    meta: Option<Value>,
    deprecated: Option<bool>,
    /// Counts how often the policy was put.
    pub version: u64,
    /// When the policy was last put, in milliseconds since 1970.
    pub modified_ms: u64,
    /// Who last put the policy, whose rights its steps need ([`limber_access::Author`]); null for the server
    /// itself, and if security was off.
    pub author: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Phase {
    pub name: &'static str,
    pub min_age_ms: u64,
    /// As the user gave it.
    min_age: String,
    /// In the order in which they are carried out.
    pub actions: Vec<Action>,
}

/// Checks that a policy may have this name.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let refused =
        |why: &str| Err(RequestError::illegal_argument(format!("invalid policy name [{name}]: {why}")));
    if name.contains(',') {
        return refused("must not contain ','");
    }
    if name.contains(' ') {
        return refused("must not contain spaces");
    }
    if name.starts_with('_') {
        return refused("must not start with '_'");
    }
    if name.len() > NAME_BYTES_MAX {
        return refused(&format!("name is too long, ({} > {NAME_BYTES_MAX})", name.len()));
    }
    Ok(())
}

pub(super) fn object<'a>(what: &str, value: &'a Value) -> Result<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| RequestError::parsing(format!("[{what}] is an object, not [{value}]")))
}

impl Policy {
    /// Parses the body of `PUT _ilm/policy/{name}`.
    ///
    /// # Errors
    /// Fails for phases and actions that do not exist, that exclude each other, or that Limber cannot carry
    /// out.
    pub fn parse(body: &Value) -> Result<Policy> {
        let members = object("policy", body)?;
        if let Some(other) = members.keys().find(|key| *key != "policy") {
            return Err(ObjectParser::new("put_lifecycle_request").unknown(other));
        }
        let Some(policy) = members.get("policy") else {
            return Err(RequestError::illegal_argument("Required [policy]"));
        };
        Policy::parse_inner(policy)
    }

    /// Parses what is under `policy`.
    fn parse_inner(body: &Value) -> Result<Policy> {
        let mut policy = Policy {
            phases: Vec::new(),
            meta: None,
            deprecated: None,
            version: 1,
            modified_ms: 0,
            author: Value::Null,
        };
        for (key, value) in object("policy", body)? {
            match key.as_str() {
                "phases" => policy.phases = phases(object(key, value)?)?,
                "_meta" => policy.meta = Some(Value::Object(object(key, value)?.clone())),
                "deprecated" => policy.deprecated = value.as_bool(),
                other => return Err(ObjectParser::new("lifecycle_policy").unknown(other)),
            }
        }
        if !body["phases"].is_object() {
            return Err(RequestError::illegal_argument("Required [phases]"));
        }
        policy.check()?;
        Ok(policy)
    }

    fn check(&self) -> Result<()> {
        if let Some(hot) = self.phase("hot")
            && !hot.actions.iter().any(|action| matches!(action, Action::Rollover(_)))
        {
            let names = hot.actions.iter().map(Action::name).filter(|name| AFTER_ROLLOVER.contains(name));
            let names: Vec<&str> = names.collect();
            if !names.is_empty() {
                return Err(RequestError::illegal_argument(format!(
                    "the [{}] action(s) may not be used in the [hot] phase without an accompanying [rollover] action",
                    names.join(", ")
                )));
            }
        }
        if let Some(delete) = self.phase("delete").filter(|phase| phase.actions.is_empty()) {
            return Err(RequestError::illegal_argument(format!(
                "phase [{}] must define at least one action",
                delete.name
            )));
        }
        for pair in self.phases.windows(2) {
            if pair[1].min_age_ms < pair[0].min_age_ms {
                return Err(RequestError::validation([format!(
                    "Your policy is configured to run the {} phase (min_age: {}) before the {} phase (min_age: {}). You should change \
                     the phase timing so that the phases will execute in the order of hot, warm, then cold.",
                    pair[1].name, pair[1].min_age, pair[0].name, pair[0].min_age
                )]));
            }
        }
        Ok(())
    }

    pub(crate) fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// Returns the phase after the one with this name (after `new`, the first).
    pub(crate) fn phase_after(&self, name: &str) -> Option<&Phase> {
        let place = |name: &str| PHASES.iter().position(|(known, _)| *known == name);
        self.phases.iter().find(|phase| place(phase.name) > place(name))
    }

    /// Renders what is under `policy` in `GET _ilm/policy`.
    pub(crate) fn body(&self) -> Value {
        let phases = self.phases.iter().map(|phase| (phase.name.to_owned(), phase.to_json())).collect();
        let mut body = Map::from_iter([("phases".to_owned(), Value::Object(phases))]);
        self.meta.as_ref().map(|meta| body.insert("_meta".into(), meta.clone()));
        self.deprecated.map(|flag| body.insert("deprecated".into(), flag.into()));
        Value::Object(body)
    }

    /// Renders the policy as the node's state stores it; [`Policy::from_json`] reads it back.
    pub(crate) fn to_json(&self) -> Value {
        let mut kept =
            json!({"policy": self.body(), "version": self.version, "modified_ms": self.modified_ms});
        if !self.author.is_null() {
            kept["author"] = self.author.clone();
        }
        kept
    }

    pub(crate) fn from_json(value: &Value) -> Result<Policy> {
        let number = |key: &str| value[key].as_u64().unwrap_or(1);
        let policy = Policy::parse_inner(&value["policy"])?;
        Ok(Policy {
            version: number("version"),
            modified_ms: number("modified_ms"),
            author: value["author"].clone(),
            ..policy
        })
    }
}

fn phases(members: &Map<String, Value>) -> Result<Vec<Phase>> {
    if let Some(other) = members.keys().find(|name| PHASES.iter().all(|(known, _)| known != name)) {
        return Err(RequestError::illegal_argument(format!(
            "Timeseries lifecycle does not support phase [{other}]"
        )));
    }
    let given = PHASES.iter().filter_map(|(name, _)| Some((*name, members.get(*name)?)));
    given.map(|(name, body)| Phase::parse(name, body)).collect()
}

impl Phase {
    /// Parses the phase with this name.
    pub(crate) fn parse(name: &str, body: &Value) -> Result<Phase> {
        let Some((name, allowed)) = PHASES.iter().copied().find(|(known, _)| *known == name) else {
            return Err(RequestError::illegal_argument(format!(
                "Timeseries lifecycle does not support phase [{name}]"
            )));
        };
        let mut phase = Phase { name, min_age_ms: 0, min_age: "0ms".to_owned(), actions: Vec::new() };
        for (key, value) in object(name, body)? {
            match key.as_str() {
                "min_age" => {
                    let text = plain_text(value);
                    phase.min_age_ms = parse_time_ms("min_age", &text)?.max(0) as u64;
                    phase.min_age = text;
                }
                "actions" => phase.actions = actions(name, allowed, object(key, value)?)?,
                other => return Err(ObjectParser::new("phase").unknown(other)),
            }
        }
        Ok(phase)
    }

    pub(crate) fn to_json(&self) -> Value {
        let given =
            self.actions.iter().filter(|action| !matches!(action, Action::Migrate { is_given: false, .. }));
        let actions = given.map(|action| (action.name().to_owned(), action.to_json())).collect();
        json!({"min_age": self.min_age, "actions": Value::Object(actions)})
    }

    pub(crate) fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.name() == name)
    }
}

fn actions(phase: &str, allowed: &[&str], members: &Map<String, Value>) -> Result<Vec<Action>> {
    if let Some(other) = members.keys().find(|name| !allowed.contains(&name.as_str())) {
        let is_known = PHASES.iter().any(|(_, actions)| actions.contains(&other.as_str()));
        return Err(match is_known {
            true => {
                RequestError::illegal_argument(format!("invalid action [{other}] defined in phase [{phase}]"))
            }
            false => RequestError::bad_request(
                "x_content_parse_exception",
                format!("[{phase}] failed to parse: unknown action [{other}]"),
            ),
        });
    }
    let mut found = Vec::new();
    for name in allowed {
        match members.get(*name) {
            Some(body) => found.push(Action::parse(name, body)?),
            None if *name == "migrate" => {
                found.push(Action::Migrate { is_enabled: true, is_given: false });
            }
            None => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(phases: Value) -> Result<Policy> {
        Policy::parse(&json!({"policy": {"phases": phases}}))
    }

    #[test]
    fn policies_are_shown_as_they_were_put() {
        let phases = json!({
            "hot": {"min_age": "0ms", "actions": {"set_priority": {"priority": 100}, "rollover": {"max_age": "30d", "max_docs": 5, "max_size": "50gb"}}},
            "warm": {"min_age": "2d", "actions": {
                "readonly": {},
                "allocate": {"number_of_replicas": 1, "include": {}, "exclude": {}, "require": {}},
                "forcemerge": {"max_num_segments": 1},
            }},
            "delete": {"min_age": "90d", "actions": {"delete": {"delete_searchable_snapshot": true}}},
        });
        let policy = parse(phases.clone()).expect("valid");
        assert_eq!(policy.body(), json!({"phases": phases}));
        assert_eq!(Policy::from_json(&policy.to_json()), Ok(policy.clone()));
        let warm: Vec<&str> = policy.phases[1].actions.iter().map(Action::name).collect();
        assert_eq!(warm, ["readonly", "allocate", "migrate", "forcemerge"]);
        assert_eq!(policy.phase_after("new").map(|phase| phase.name), Some("hot"));
        assert_eq!(policy.phase_after("warm").map(|phase| phase.name), Some("delete"));
        assert!(policy.phase_after("delete").is_none());
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        let check = |phases: Value, expected: &str| {
            assert_eq!(parse(phases).expect_err("refused").reason, expected);
        };
        check(json!({"lukewarm": {}}), "Timeseries lifecycle does not support phase [lukewarm]");
        check(
            json!({"delete": {"actions": {"rollover": {"max_docs": 1}}}}),
            "invalid action [rollover] defined in phase [delete]",
        );
        check(
            json!({"hot": {"actions": {"forcemerge": {"max_num_segments": 1}}}}),
            "the [forcemerge] action(s) may not be used in the [hot] phase without an accompanying [rollover] action",
        );
        check(json!({"delete": {"actions": {}}}), "phase [delete] must define at least one action");
        check(
            json!({"hot": {"actions": {"rollover": {}}}}),
            "At least one max_* rollover condition must be set.",
        );
        for (phase, action, body) in [
            ("warm", "shrink", json!({"number_of_shards": 1})),
            ("cold", "freeze", json!({})),
            ("cold", "searchable_snapshot", json!({"snapshot_repository": "r"})),
            ("frozen", "searchable_snapshot", json!({"snapshot_repository": "r"})),
            ("warm", "downsample", json!({"fixed_interval": "1h"})),
            ("delete", "wait_for_snapshot", json!({"policy": "p"})),
            ("hot", "unfollow", json!({})),
        ] {
            let reason = format!("the lifecycle action [{action}] is not supported by Limber yet");
            check(json!({phase: {"actions": {action: body}}}), &reason);
        }
        check(
            json!({"warm": {"actions": {"allocate": {"include": {"a": "b"}}}}}),
            "[include] of the lifecycle action [allocate] is not supported by Limber yet",
        );
        check(
            json!({"warm": {"min_age": "2d", "actions": {}}, "cold": {"min_age": "1d", "actions": {}}}),
            "Validation Failed: 1: Your policy is configured to run the cold phase (min_age: 1d) before the warm phase (min_age: 2d). \
             You should change the phase timing so that the phases will execute in the order of hot, warm, then cold.;",
        );
    }
}
