//! A snapshot lifecycle policy: its definition, its statistics, and which snapshots it keeps.
//!
//! Source: Elasticsearch's `SnapshotLifecyclePolicy`, `SnapshotRetentionConfiguration`,
//! `SnapshotLifecycleStats`.

use limber_mapping::{ObjectParser, RequestError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::errors::repository_missing;
use super::format::{Entry, State};
use super::names::check_snapshot_name;
use super::running::PolicyRun;
use crate::api::Result;
use crate::environment::format_utc_millis;
use crate::notation::cron::Schedule;
use crate::notation::value::parse_time_ms;

/// Longest id of a policy, in bytes. Source: `MetadataCreateIndexService#MAX_INDEX_NAME_BYTES`.
const ID_BYTES_MAX: usize = 255;

/// A policy as the node's state stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SnapshotPolicy {
    pub name: String,
    pub schedule: String,
    pub repository: String,
    /// The body of the request for a snapshot.
    pub config: Value,
    pub retention: Option<Retention>,
    pub version: u64,
    pub modified_ms: u64,
    /// Who last put the policy, who must have the right to take snapshots ([`limber_access::Author`]); null
    /// for the server itself, and if security was off.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub author: Value,
    pub last_success: Option<Run>,
    pub last_failure: Option<Run>,
    pub failures_since_success: u64,
    pub stats: PolicyStats,
    /// Runs whose outcome is not stored yet. Those that this process does not know are of an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begun: Vec<Begun>,
}

/// The beginning of one of the policy's snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub repository: String,
    pub snapshot: String,
    pub start_ms: u64,
}

/// The end of one of the policy's snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub snapshot: String,
    pub start_ms: u64,
    pub time_ms: u64,
    /// Why it failed.
    pub details: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PolicyStats {
    pub taken: u64,
    pub failed: u64,
    pub deleted: u64,
    pub deletion_failures: u64,
}

/// When snapshots of a policy expire.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retention {
    pub expire_after: Option<String>,
    pub min_count: Option<u64>,
    pub max_count: Option<u64>,
}

/// Statistics of all runs of retention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RetentionStats {
    pub runs: u64,
    pub failed: u64,
    pub timed_out: u64,
    pub deletion_time_ms: u64,
}

pub(crate) fn check_policy_id(id: &str) -> Result<()> {
    let refuse = |why: &str| Err(RequestError::validation([format!("invalid policy id [{id}]: {why}")]));
    if id.contains(',') {
        return refuse("must not contain ','");
    }
    if id.contains(char::is_whitespace) {
        return refuse("must not contain whitespace");
    }
    if id.starts_with('_') {
        return refuse("must not start with '_'");
    }
    if id.is_empty() || id.len() > ID_BYTES_MAX {
        return refuse(&format!("must have 1 to {ID_BYTES_MAX} bytes"));
    }
    if id.contains(['\\', '/', '*', '?', '"', '<', '>', '|', '#']) || id.chars().any(char::is_control) {
        return refuse("must not contain the following characters [\\, /, *, ?, \", <, >, |, #]");
    }
    Ok(())
}

impl SnapshotPolicy {
    /// Parses the body of `PUT _slm/policy/{id}`. `resolve` resolves date math in names.
    pub(crate) fn parse(body: &Value, resolve: impl Fn(&str) -> Result<String>) -> Result<SnapshotPolicy> {
        let members = body.as_object().ok_or_else(|| RequestError::parsing("a policy is an object"))?;
        let known = ["schedule", "name", "repository", "config", "retention"];
        if let Some(unknown) = members.keys().find(|key| !known.contains(&&***key)) {
            return Err(ObjectParser::new("snapshot_lifecycle").unknown(unknown));
        }
        let text = |key: &str| {
            members
                .get(key)
                .and_then(Value::as_str)
                .map(str::to_owned)
                .ok_or_else(|| RequestError::illegal_argument(format!("Required [{key}]")))
        };
        let policy = SnapshotPolicy {
            name: text("name")?,
            schedule: text("schedule")?,
            repository: text("repository")?,
            config: members.get("config").cloned().unwrap_or(Value::Null),
            retention: members
                .get("retention")
                .filter(|given| !given.is_null())
                .map(Retention::parse)
                .transpose()?,
            version: 1,
            modified_ms: 0,
            author: Value::Null,
            last_success: None,
            last_failure: None,
            failures_since_success: 0,
            stats: PolicyStats::default(),
            begun: Vec::new(),
        };
        let mut problems = Vec::new();
        if let Err(error) = policy.schedule() {
            problems.push(format!("invalid schedule: {}", error.reason));
        }
        match resolve(&policy.name).and_then(|name| check_snapshot_name("repo", &name)) {
            Ok(()) => {}
            Err(error) => problems.push(format!("invalid snapshot name [{}]: {}", policy.name, error.reason)),
        }
        if policy.config["metadata"].get("policy").is_some() {
            problems.push(
                "invalid configuration metadata: field name [policy] is reserved and will be added automatically".into(),
            );
        }
        if policy.repository.is_empty() {
            problems.push("invalid repository name [], cannot be empty".into());
        }
        match problems.is_empty() {
            true => Ok(policy),
            false => Err(RequestError::validation(problems)),
        }
    }

    pub(crate) fn schedule(&self) -> Result<Schedule> {
        Schedule::parse(&self.schedule)
    }

    pub(crate) fn next_after(&self, after_ms: u64) -> Option<u64> {
        self.schedule().ok()?.next_after(after_ms, self.modified_ms)
    }

    /// Returns the body of the request for its snapshot. The snapshot's metadata name the policy.
    pub(crate) fn request_body(&self, id: &str) -> Value {
        let mut body = match &self.config {
            Value::Object(_) => self.config.clone(),
            _ => json!({}),
        };
        if !body["metadata"].is_object() {
            body["metadata"] = json!({});
        }
        body["metadata"]["policy"] = id.into();
        body
    }

    /// Notes the outcome of a run, which has failed if it has details.
    pub(crate) fn note(&mut self, run: Run) {
        self.begun.retain(|begun| begun.snapshot != run.snapshot);
        if run.details.is_none() {
            self.last_success = Some(run);
            self.failures_since_success = 0;
            self.stats.taken += 1;
        } else {
            self.last_failure = Some(run);
            self.failures_since_success += 1;
            self.stats.failed += 1;
        }
    }

    /// Renders the policy as `GET _slm/policy` shows it.
    pub(crate) fn show(&self, id: &str, running: Option<&PolicyRun>, now_ms: u64, human: bool) -> Value {
        let mut shown = Map::new();
        let time = |shown: &mut Map<String, Value>, name: &str, ms: u64| {
            if human {
                shown.insert(name.into(), format_utc_millis(ms).into());
            }
            shown.insert(format!("{name}_millis"), ms.into());
        };
        shown.insert("version".into(), self.version.into());
        time(&mut shown, "modified_date", self.modified_ms);
        let mut policy = json!({
            "name": self.name,
            "schedule": self.schedule,
            "repository": self.repository,
        });
        if !self.config.is_null() {
            policy["config"] = self.config.clone();
        }
        if let Some(retention) = &self.retention {
            policy["retention"] = retention.show();
        }
        shown.insert("policy".into(), policy);
        for (name, run) in [("last_success", &self.last_success), ("last_failure", &self.last_failure)] {
            if let Some(run) = run {
                let mut body = json!({
                    "snapshot_name": run.snapshot,
                    "start_time": run.start_ms,
                    "time": run.time_ms,
                });
                if let Some(details) = &run.details {
                    body["details"] = details.as_str().into();
                }
                if human {
                    body["time_string"] = format_utc_millis(run.time_ms).into();
                    body["start_time_string"] = format_utc_millis(run.start_ms).into();
                }
                shown.insert(name.into(), body);
            }
        }
        if let Some(next_ms) = self.next_after(now_ms) {
            time(&mut shown, "next_execution", next_ms);
        }
        if let Some(PolicyRun { name, uuid, start_ms, .. }) = running {
            let body = json!({"name": name, "uuid": uuid, "state": "STARTED", "start_time_millis": start_ms});
            shown.insert("in_progress".into(), body);
        }
        shown.insert("stats".into(), self.show_stats(id));
        Value::Object(shown)
    }

    pub(crate) fn show_stats(&self, id: &str) -> Value {
        json!({
            "policy": id,
            "snapshots_taken": self.stats.taken,
            "snapshots_failed": self.stats.failed,
            "snapshots_deleted": self.stats.deleted,
            "snapshot_deletion_failures": self.stats.deletion_failures,
        })
    }

    /// # Errors
    /// Fails when the repository of the policy does not exist.
    pub(crate) fn check_repository(&self, exists: bool) -> Result<()> {
        match exists {
            true => Ok(()),
            false => Err(RequestError::illegal_argument(format!("no such repository [{}]", self.repository))
                .caused_by(repository_missing(&self.repository))),
        }
    }
}

impl Retention {
    fn parse(value: &Value) -> Result<Retention> {
        let members = value.as_object().ok_or_else(|| RequestError::parsing("[retention] is an object"))?;
        let mut retention = Retention::default();
        let count = |key: &str, what: &str, value: &Value| match value.as_i64() {
            Some(count) if count >= 1 => Ok(Some(count as u64)),
            Some(count) => Err(RequestError::illegal_argument(format!(
                "{what} snapshot count must be at least 1, but was: {count}"
            ))),
            None => Err(ObjectParser::of_kind("illegal_argument_exception", "").malformed(key)),
        };
        for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            match &**key {
                "expire_after" => {
                    let text = value.as_str().unwrap_or_default();
                    parse_time_ms("snapshot_retention.expire_after", text)?;
                    retention.expire_after = Some(text.to_owned());
                }
                "min_count" => retention.min_count = count(key, "minimum", value)?,
                "max_count" => retention.max_count = count(key, "maximum", value)?,
                _ => {
                    return Err(ObjectParser::new("snapshot_retention").unknown(key));
                }
            }
        }
        if let (Some(min), Some(max)) = (retention.min_count, retention.max_count)
            && min > max
        {
            return Err(RequestError::illegal_argument(format!(
                "minimum snapshot count {min} cannot be larger than maximum snapshot count {max}"
            )));
        }
        Ok(retention)
    }

    fn show(&self) -> Value {
        let mut shown = json!({});
        if let Some(text) = &self.expire_after {
            shown["expire_after"] = text.as_str().into();
        }
        for (name, count) in [("min_count", self.min_count), ("max_count", self.max_count)] {
            if let Some(count) = count {
                shown[name] = count.into();
            }
        }
        shown
    }

    /// Returns the policy's snapshots that have expired. Only successful ones count for `min_count` and
    /// `max_count`; others expire only by age.
    pub(crate) fn expired<'s>(&self, snapshots: &[&'s Entry], now_ms: u64) -> Vec<&'s Entry> {
        let expire_ms = self.expire_after.as_deref();
        let expire_ms = expire_ms.and_then(|text| parse_time_ms("expire_after", text).ok());
        let expire_ms = expire_ms.and_then(|ms| u64::try_from(ms).ok());
        let mut sorted: Vec<&Entry> = snapshots.to_vec();
        sorted.sort_by_key(|one| one.start_ms);
        let whole: Vec<&Entry> = sorted.iter().copied().filter(|one| one.state == State::Success).collect();
        let is_old =
            |one: &Entry| expire_ms.is_some_and(|expire_ms| now_ms.saturating_sub(one.start_ms) >= expire_ms);
        let too_many = self.max_count.map_or(0, |max| whole.len().saturating_sub(max as usize));
        let may_go = self.min_count.map_or(whole.len(), |min| whole.len().saturating_sub(min as usize));
        let expired = |one: &&Entry| match whole.iter().position(|other| other.uuid == one.uuid) {
            Some(at) => at < too_many || (at < may_go && is_old(one)),
            None => is_old(one),
        };
        sorted.into_iter().filter(expired).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn entry(name: &str, start_ms: u64, state: State) -> Entry {
        Entry {
            name: name.into(),
            uuid: name.into(),
            state,
            start_ms,
            end_ms: start_ms,
            indices: BTreeMap::new(),
            data_streams: Vec::new(),
            policy: None,
            failed_shards: 0,
        }
    }

    #[test]
    fn what_retention_lets_go() {
        let all: Vec<Entry> = (0..5)
            .map(|number| entry(&format!("s{number}"), number * 1000, State::Success))
            .chain([entry("p", 500, State::Partial)])
            .collect();
        let all: Vec<&Entry> = all.iter().collect();
        let check = |retention: Value, expected: &[&str]| {
            let retention = Retention::parse(&retention).expect("valid");
            let expired: Vec<&str> =
                retention.expired(&all, 5_000).iter().map(|one| one.name.as_str()).collect();
            assert_eq!(expired, expected, "{retention:?}");
        };
        check(json!({}), &[]);
        check(json!({"max_count": 3}), &["s0", "s1"]);
        check(json!({"expire_after": "3s"}), &["s0", "p", "s1", "s2"]);
        check(json!({"expire_after": "3s", "min_count": 4}), &["s0", "p"]);
        check(json!({"expire_after": "1h", "min_count": 1, "max_count": 4}), &["s0"]);
        check(json!({"expire_after": "0s", "min_count": 5}), &["p"]);
        assert!(Retention::parse(&json!({"min_count": 3, "max_count": 2})).is_err());
        assert!(Retention::parse(&json!({"max_count": 0})).is_err());
        assert!(Retention::parse(&json!({"expire": "1d"})).is_err());
    }

    #[test]
    fn policies_say_what_is_wrong_with_them() {
        let parse = |body: Value| SnapshotPolicy::parse(&body, |name| Ok(name.to_owned()));
        let good = json!({"name": "snap", "schedule": "0 30 1 * * ?", "repository": "r"});
        assert!(parse(good.clone()).is_ok());
        for (key, value, expected) in [
            ("schedule", json!("often"), "invalid schedule: invalid cron expression [often]"),
            ("name", json!("Snap"), "must be lowercase"),
            ("config", json!({"metadata": {"policy": "x"}}), "[policy] is reserved"),
            ("surplus", json!(1), "unknown field [surplus]"),
            ("repository", json!(null), "Required [repository]"),
        ] {
            let mut body = good.clone();
            body[key] = value;
            let error = parse(body).expect_err(key);
            assert!(error.reason.contains(expected), "{}", error.reason);
        }
        assert!(
            check_policy_id("a,b").is_err()
                && check_policy_id("_a").is_err()
                && check_policy_id("daily").is_ok()
        );
    }
}
