//! Runs snapshot policies: "which is due, what was its outcome, and which of its snapshots have expired?"
//!
//! The thread of lifecycles checks once a second. Snapshots that were due while the node was down are not
//! made up for. A policy whose snapshot is still in progress is skipped. Source: Elasticsearch's
//! `SnapshotLifecycleTask`, `SnapshotRetentionTask`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_mapping::RequestError;
use serde_json::{Value, json};

use super::request::SnapshotRequest;
use crate::api::Result;
use crate::lifecycle::{RUNNING, STOPPING};
use crate::node::Node;
use crate::notation::cron::Schedule;
use crate::snapshot::policy::{Retention, Run, SnapshotPolicy};
use crate::tasks::caught::caught;

impl Node {
    /// Does what is due now. Called repeatedly by the background thread, or by a test.
    pub fn snapshot_policy_tick(&self) {
        let now_ms = self.now_millis();
        let seen = &self.snapshots.policies_seen_ms;
        let seen_ms = seen.load(Ordering::Relaxed);
        // The first call, and one after the clock was set back, only record the time.
        if seen_ms == 0 || now_ms < seen_ms {
            seen.store(now_ms, Ordering::Relaxed);
            return;
        }
        if now_ms / 1000 == seen_ms / 1000 {
            return;
        }
        seen.store(now_ms, Ordering::Relaxed);
        let mode = self.snapshot_lifecycle_mode();
        if mode == STOPPING
            && self.snapshots.policies_running.lock().is_empty()
            && let Err(error) = self.note_snapshot_lifecycles_stopped()
        {
            tracing::warn!(%error, "snapshot lifecycles are not stopped");
        }
        if mode != RUNNING {
            return;
        }
        for (id, policy) in self.snapshot_policies() {
            let is_due = policy.next_after(seen_ms).is_some_and(|next_ms| next_ms <= now_ms);
            if !is_due || self.snapshots.policies_running.lock().contains_key(&id) {
                continue;
            }
            if let Err(error) = self.run_snapshot_policy(&id, &policy) {
                tracing::warn!(policy = id, %error, "the policy does not run");
            }
        }
        let schedule = Schedule::parse(self.settings.load().text("slm.retention_schedule"));
        let due_ms = schedule.ok().and_then(|schedule| schedule.next_after(seen_ms, 0));
        if due_ms.is_some_and(|due_ms| due_ms <= now_ms)
            && let Err(error) = self.start_retention()
        {
            tracing::warn!(%error, "retention does not run");
        }
    }

    /// Starts a policy's snapshot on a separate thread. Returns its name.
    pub(super) fn run_snapshot_policy(&self, id: &str, policy: &SnapshotPolicy) -> Result<String> {
        let gone = || RequestError::unavailable("node_closed_exception", "the node is closing");
        let node: Arc<Node> = self.this.upgrade().ok_or_else(gone)?;
        let base = self.catalog.load().resolve_date_math(&policy.name)?.into_owned();
        let name = format!("{base}-{}", self.environment.uuid().to_lowercase());
        let (id, policy, start_ms) = (id.to_owned(), policy.clone(), self.now_millis());
        let running = (name.clone(), String::new(), start_ms);
        self.snapshots.policies_running.lock().insert(id.clone(), running);
        let (answer, listed) = (name.clone(), id.clone());
        let work = move || {
            // The run ends after a panic too; otherwise the policy would never run again.
            let outcome = caught(|| node.take_policy_snapshot(&id, &policy, &name));
            node.note_run(&id, &name, start_ms, outcome.as_ref().err());
            node.forget_policy_run(&id, &name);
            outcome
        };
        let description = format!("snapshot lifecycle policy [{listed}]");
        if let Err(error) = self.tasks.spawn("cluster:admin/slm/execute", description, work) {
            self.forget_policy_run(&listed, &answer);
            return Err(error);
        }
        Ok(answer)
    }

    fn forget_policy_run(&self, id: &str, name: &str) {
        let mut running = self.snapshots.policies_running.lock();
        if running.get(id).is_some_and(|(running, ..)| running == name) {
            running.remove(id);
        }
    }

    fn take_policy_snapshot(&self, id: &str, policy: &SnapshotPolicy, name: &str) -> Result<Value> {
        let request = SnapshotRequest::parse(&policy.request_body(id))?;
        // A policy takes snapshots with the rights of the user who last put it.
        let running = self.on_behalf_of(&policy.author, "cluster:admin/snapshot/create", || {
            self.begin_snapshot(&policy.repository, name, request, Some(id.to_owned()))
        })?;
        if let Some((_, uuid, _)) = self.snapshots.policies_running.lock().get_mut(id) {
            *uuid = running.uuid.clone();
        }
        let shown = running.ending.wait()?;
        match shown["state"] == "SUCCESS" {
            true => Ok(shown),
            false => Err(RequestError::internal(
                "snapshot_exception",
                format!(
                    "failed to create snapshot successfully, {} shards failed",
                    shown["shards"]["failed"]
                ),
            )),
        }
    }

    fn note_run(&self, id: &str, name: &str, start_ms: u64, failure: Option<&RequestError>) {
        let time_ms = self.now_millis();
        let details = failure.map(|error| error.to_json().to_string());
        let run = Run { snapshot: name.to_owned(), start_ms, time_ms, details };
        let _changing = self.changing.lock();
        let stored = self.change_snapshot_policy(id, |policy| match failure {
            None => {
                policy.last_success = Some(run);
                policy.failures_since_success = 0;
                policy.stats.taken += 1;
            }
            Some(_) => {
                policy.last_failure = Some(run);
                policy.failures_since_success += 1;
                policy.stats.failed += 1;
            }
        });
        if let Err(error) = stored {
            tracing::warn!(policy = id, %error, "what came of a policy's snapshot is not stored");
        }
    }

    /// Carries out `POST /_slm/_execute_retention`: starts the retention on a separate thread, unless it
    /// already runs.
    pub fn start_retention(&self) -> Result<()> {
        let gone = || RequestError::unavailable("node_closed_exception", "the node is closing");
        let node: Arc<Node> = self.this.upgrade().ok_or_else(gone)?;
        if self.snapshots.retention_runs.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let spawned = self.tasks.spawn("cluster:admin/slm/execute_retention", String::new(), move || {
            struct Ends<'n>(&'n Node);
            impl Drop for Ends<'_> {
                fn drop(&mut self) {
                    self.0.snapshots.retention_runs.store(false, Ordering::Release);
                }
            }
            let _ends = Ends(&node);
            node.retain_snapshots();
            Ok(json!({"acknowledged": true}))
        });
        if spawned.is_err() {
            self.snapshots.retention_runs.store(false, Ordering::Release);
        }
        spawned.map(drop)
    }

    /// Deletes the snapshots that have expired according to their policies.
    fn retain_snapshots(&self) {
        let start = self.environment.clock.monotonic_nanos();
        let mut has_failed = false;
        for (id, policy) in self.snapshot_policies() {
            let Some(retention) = &policy.retention else { continue };
            let (deleted, failed) = self.retain_of_policy(&id, &policy, retention);
            has_failed |= failed > 0;
            if deleted + failed > 0 {
                let _changing = self.changing.lock();
                let stored = self.change_snapshot_policy(&id, |policy| {
                    policy.stats.deleted += deleted;
                    policy.stats.deletion_failures += failed;
                });
                if let Err(error) = stored {
                    tracing::warn!(policy = id, %error, "counts of retention are not stored");
                }
            }
        }
        let took_ms = self.environment.clock.monotonic_nanos().saturating_sub(start) / 1_000_000;
        let _changing = self.changing.lock();
        let mut stats = self.retention_stats();
        stats.runs += 1;
        stats.failed += u64::from(has_failed);
        stats.deletion_time_ms += took_ms;
        let stats = serde_json::to_value(stats).unwrap_or_default();
        if let Err(error) = self.change_state(|state| state.set_snapshot_lifecycle("retention", stats)) {
            tracing::warn!(%error, "counts of retention are not stored");
        }
    }

    /// Deletes a policy's expired snapshots. Returns how many were deleted, and how many failed.
    fn retain_of_policy(&self, id: &str, policy: &SnapshotPolicy, retention: &Retention) -> (u64, u64) {
        let root = match self.repository(&policy.repository).and_then(|repository| repository.root()) {
            Ok(root) => root,
            Err(error) => {
                tracing::warn!(policy = id, %error, "snapshots of the policy are not looked through");
                return (0, 1);
            }
        };
        let own: Vec<_> = root.snapshots.iter().filter(|one| one.policy.as_deref() == Some(id)).collect();
        let (mut deleted, mut failed) = (0, 0);
        for expired in retention.expired(&own, self.now_millis()) {
            match self.delete_snapshots(&policy.repository, &expired.name, true) {
                Ok(_) => deleted += 1,
                Err(error) => {
                    tracing::warn!(policy = id, snapshot = expired.name, %error, "the snapshot stays");
                    failed += 1;
                }
            }
        }
        (deleted, failed)
    }
}
