//! `_slm`: stores, shows and deletes policies, runs them on request, and starts and stops them.
//!
//! Source: Elasticsearch's `TransportPutSnapshotLifecycleAction` and its sibling classes.

use std::collections::BTreeMap;

use limber_mapping::RequestError;
use limber_text::wildcard;
use serde_json::{Map, Value, json};

use super::request::SnapshotRequest;
use crate::api::Result;
use crate::lifecycle::{RUNNING, STOPPED, STOPPING};
use crate::node::Node;
use crate::snapshot::policy::{PolicyStats, RetentionStats, SnapshotPolicy, check_policy_id};

/// Maximum number of policies of a node. All of them are in one file.
const POLICIES_MAX: usize = 1_000;

fn not_found(id: &str) -> RequestError {
    let reason = format!("snapshot lifecycle policy or policies [{id}] not found");
    RequestError::not_found("resource_not_found_exception", reason)
}

pub(super) fn no_policy(id: &str) -> RequestError {
    RequestError::illegal_argument(format!("no such snapshot lifecycle policy [{id}]"))
}

impl Node {
    /// Returns all policies in the node's state.
    pub(super) fn snapshot_policies(&self) -> BTreeMap<String, SnapshotPolicy> {
        let state = self.state.load();
        let kept = state.snapshot_lifecycle()["policies"].as_object().into_iter().flatten();
        kept.filter_map(|(id, body)| Some((id.clone(), serde_json::from_value(body.clone()).ok()?))).collect()
    }

    /// Changes one policy, if it exists.
    pub(super) fn change_snapshot_policy(
        &self,
        id: &str,
        change: impl FnOnce(&mut SnapshotPolicy),
    ) -> Result<()> {
        let Some(mut policy) = self.snapshot_policies().remove(id) else { return Ok(()) };
        change(&mut policy);
        self.store_snapshot_policy(id, &policy)
    }

    fn store_snapshot_policy(&self, id: &str, policy: &SnapshotPolicy) -> Result<()> {
        let stored = serde_json::to_value(policy)
            .map_err(|error| RequestError::internal("illegal_state_exception", error.to_string()))?;
        self.change_state(|state| state.put_snapshot_policy(id, stored))
    }

    /// Carries out `PUT /_slm/policy/{id}`.
    pub fn put_snapshot_policy(&self, id: &str, body: &Value) -> Result<()> {
        check_policy_id(id)?;
        let catalog = self.catalog.load_full();
        let mut policy =
            SnapshotPolicy::parse(body, |name| Ok(catalog.resolve_date_math(name)?.into_owned()))?;
        SnapshotRequest::parse(&policy.request_body(id))?;
        let exists = self.snapshots.repositories.lock().contains_key(&policy.repository);
        policy.check_repository(exists)?;
        let settings = self.settings.load();
        let (now_ms, minimum_ms) = (self.now_millis(), settings.time_ms("slm.minimum_interval").unwrap_or(0));
        if policy.schedule()?.shortest_gap_ms(now_ms).is_some_and(|gap_ms| gap_ms < minimum_ms) {
            return Err(RequestError::illegal_argument(format!(
                "invalid schedule [{}]: schedule would be too frequent, executing more than every [{}]",
                policy.schedule,
                settings.text("slm.minimum_interval")
            )));
        }
        policy.modified_ms = now_ms;
        policy.author = self.author()?;
        let changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let policies = self.snapshot_policies();
        match policies.get(id) {
            Some(before) => {
                policy.version = before.version + 1;
                policy.stats = before.stats;
                policy.last_success = before.last_success.clone();
                policy.last_failure = before.last_failure.clone();
                policy.failures_since_success = before.failures_since_success;
                policy.begun = before.begun.clone();
            }
            None if policies.len() >= POLICIES_MAX => {
                let why = format!("there are [{POLICIES_MAX}] snapshot lifecycle policies already");
                return Err(RequestError::illegal_argument(why));
            }
            None => {}
        }
        self.store_snapshot_policy(id, &policy)?;
        drop(changing);
        self.settle_retention();
        Ok(())
    }

    /// Waits until no snapshot is deleted any more by a policy as it was before.
    fn settle_retention(&self) {
        limber_work::waiting(|| drop(self.snapshots.retaining.lock()));
    }

    /// Returns the body of `GET /_slm/policy/{ids}`; an empty string means all.
    pub fn get_snapshot_policies(&self, ids: &str, human: bool) -> Result<Value> {
        let policies = self.snapshot_policies();
        let chosen: Vec<&str> = ids.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let is_chosen = |id: &str| chosen.is_empty() || chosen.iter().any(|part| wildcard::matches(part, id));
        let running = self.snapshots.policies_running.lock();
        let shown: Map<String, Value> = policies
            .iter()
            .filter(|(id, _)| is_chosen(id))
            .map(|(id, policy)| {
                let run = running.iter().rev().find(|run| run.policy == **id);
                (id.clone(), policy.show(id, run, self.now_millis(), human))
            })
            .collect();
        match shown.is_empty() && !chosen.is_empty() {
            true => Err(not_found(ids)),
            false => Ok(Value::Object(shown)),
        }
    }

    /// Carries out `DELETE _slm/policy/{id}`. Its snapshots are kept. Fails with `NotFound` for an unknown
    /// id.
    pub fn delete_snapshot_policy(&self, id: &str) -> Result<()> {
        let changing = self.changing.lock();
        self.check_metadata_write_block()?;
        if !self.snapshot_policies().contains_key(id) {
            let reason = format!("snapshot lifecycle policy not found: {id}");
            return Err(RequestError::not_found("resource_not_found_exception", reason));
        }
        self.change_state(|state| state.delete_snapshot_policy(id))?;
        drop(changing);
        self.settle_retention();
        Ok(())
    }

    /// Carries out `PUT /_slm/policy/{id}/_execute`. Returns the name of the snapshot that it starts.
    pub fn execute_snapshot_policy(&self, id: &str) -> Result<Value> {
        self.check_metadata_write_block()?;
        let policy = self.snapshot_policies().remove(id).ok_or_else(|| no_policy(id))?;
        let name = self.run_snapshot_policy(id, &policy)?;
        Ok(json!({"snapshot_name": name}))
    }

    /// Returns `RUNNING`, `STOPPING` or `STOPPED`.
    pub fn snapshot_lifecycle_mode(&self) -> String {
        let state = self.state.load();
        state.snapshot_lifecycle()["mode"].as_str().unwrap_or(RUNNING).to_owned()
    }

    /// Carries out `POST _slm/start`: policies take snapshots from the next round on.
    pub fn start_snapshot_lifecycles(&self) -> Result<()> {
        self.change_snapshot_lifecycle_mode(RUNNING)
    }

    fn change_snapshot_lifecycle_mode(&self, mode: &str) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        self.change_state(|state| state.set_snapshot_lifecycle("mode", mode.into()))
    }

    /// Records that all running snapshots are finished, unless policies were started again meanwhile.
    pub(super) fn note_snapshot_lifecycles_stopped(&self) -> Result<()> {
        let _changing = self.changing.lock();
        match self.snapshot_lifecycle_mode() == STOPPING {
            true => self.change_state(|state| state.set_snapshot_lifecycle("mode", STOPPED.into())),
            false => Ok(()),
        }
    }

    /// Requests a stop. Running snapshots are finished first.
    pub fn stop_snapshot_lifecycles(&self) -> Result<()> {
        match self.snapshot_lifecycle_mode() == STOPPED {
            true => Ok(()),
            false => self.change_snapshot_lifecycle_mode(STOPPING),
        }
    }

    pub(super) fn retention_stats(&self) -> RetentionStats {
        let state = self.state.load();
        serde_json::from_value(state.snapshot_lifecycle()["retention"].clone()).unwrap_or_default()
    }

    /// Returns the body of `GET /_slm/stats`.
    pub fn snapshot_lifecycle_stats(&self) -> Value {
        let (policies, retention) = (self.snapshot_policies(), self.retention_stats());
        let sum =
            |of: fn(&PolicyStats) -> u64| policies.values().map(|policy| of(&policy.stats)).sum::<u64>();
        let each: Vec<Value> = policies.iter().map(|(id, policy)| policy.show_stats(id)).collect();
        json!({
            "retention_runs": retention.runs,
            "retention_failed": retention.failed,
            "retention_timed_out": retention.timed_out,
            "retention_deletion_time": crate::node::policy::lifecycle::human_time(retention.deletion_time_ms),
            "retention_deletion_time_millis": retention.deletion_time_ms,
            "total_snapshots_taken": sum(|stats| stats.taken),
            "total_snapshots_failed": sum(|stats| stats.failed),
            "total_snapshots_deleted": sum(|stats| stats.deleted),
            "total_snapshot_deletion_failures": sum(|stats| stats.deletion_failures),
            "policy_stats": each,
        })
    }
}
