//! Runs snapshot policies: "which is due, what was its outcome, and which of its snapshots have expired?"
//!
//! The thread of lifecycles checks once a second. Snapshots that were due while the node was down are not
//! made up for. A policy whose snapshot is still in progress is skipped. Source: Elasticsearch's
//! `SnapshotLifecycleTask`, `SnapshotRetentionTask`.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_mapping::RequestError;
use serde_json::{Value, json};

use super::policies::no_policy;
use super::request::SnapshotRequest;
use crate::api::Result;
use crate::lifecycle::{RUNNING, STOPPING};
use crate::node::Node;
use crate::snapshot::format::Entry;
use crate::snapshot::policy::{Begun, Run, SnapshotPolicy};
use crate::snapshot::repository::Repository;
use crate::snapshot::running::PolicyRun;
use crate::snapshot::schedules::Scheduled;
use crate::tasks::caught::caught;

impl Node {
    /// Does what is due now. Called repeatedly by the background thread, or by a test.
    pub fn snapshot_policy_tick(&self) {
        let now_ms = self.now_millis();
        let seen = &self.snapshots.policies_seen_ms;
        let seen_ms = seen.load(Ordering::Relaxed);
        if seen_ms == 0 {
            self.start_finding_lost_runs();
        }
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
        let schedules = &self.snapshots.schedules;
        let policies = schedules.policies(self.state.load().version, || self.snapshot_policies());
        for Scheduled { id, policy, .. } in policies.iter().filter(|one| one.is_due(seen_ms, now_ms)) {
            if self.snapshots.is_policy_running(id) {
                continue;
            }
            if let Err(error) = self.run_snapshot_policy(id, policy) {
                tracing::warn!(policy = id, %error, "the policy does not run");
            }
        }
        let retention = self.settings.load().text("slm.retention_schedule").to_owned();
        if schedules.is_retention_due(&retention, seen_ms, now_ms)
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
        let (id, start_ms) = (id.to_owned(), self.now_millis());
        let run = PolicyRun { policy: id.clone(), name: name.clone(), uuid: String::new(), start_ms };
        self.snapshots.policies_running.lock().push(run);
        let (answer, description) = (name.clone(), format!("snapshot lifecycle policy [{id}]"));
        let work = move || {
            // The run ends after a panic too; otherwise the policy would never run again.
            let outcome = caught(|| {
                node.find_lost_runs(&id);
                node.take_policy_snapshot(&id, &name, start_ms)
            });
            node.note_run(&id, &name, start_ms, outcome.as_ref().err());
            node.forget_policy_run(&name);
            outcome
        };
        if let Err(error) = self.tasks.spawn("cluster:admin/slm/execute", description, work) {
            self.forget_policy_run(&answer);
            return Err(error);
        }
        Ok(answer)
    }

    fn forget_policy_run(&self, name: &str) {
        self.snapshots.policies_running.lock().retain(|run| run.name != name);
    }

    /// Takes a snapshot as the policy says now. It may have been changed or deleted since it was found due.
    fn take_policy_snapshot(&self, id: &str, name: &str, start_ms: u64) -> Result<Value> {
        let policy = self.snapshot_policies().remove(id).ok_or_else(|| no_policy(id))?;
        let request = SnapshotRequest::parse(&policy.request_body(id))?;
        let begun = Begun { repository: policy.repository.clone(), snapshot: name.to_owned(), start_ms };
        self.note_begun(id, begun);
        // A policy takes snapshots with the rights of the user who last put it.
        let running = self.on_behalf_of(&policy.author, "cluster:admin/snapshot/create", || {
            self.begin_snapshot(&policy.repository, name, request, Some(id.to_owned()))
        })?;
        if let Some(run) = self.snapshots.policies_running.lock().iter_mut().find(|run| run.name == name) {
            run.uuid = running.uuid.clone();
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
        let stored = self.change_snapshot_policy(id, |policy| policy.note(run));
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
            if policy.retention.is_none() {
                continue;
            }
            let (deleted, failed) = self.retain_of_policy(&id, &policy.repository);
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
    fn retain_of_policy(&self, id: &str, repository: &str) -> (u64, u64) {
        let repository = self.repository(repository);
        match repository.and_then(|repository| self.delete_expired(id, &repository)) {
            Ok(counts) => counts,
            Err(error) => {
                tracing::warn!(policy = id, %error, "expired snapshots of the policy stay");
                (0, 1)
            }
        }
    }

    /// Deletes what has expired by the policy as it is once nothing else is written to the repository, which
    /// may take as long as a snapshot. Snapshots that are being restored stay and count as failures.
    fn delete_expired(&self, id: &str, repository: &Arc<Repository>) -> Result<(u64, u64)> {
        repository.check_writable("repository is readonly")?;
        let _writing = repository.writing.lock();
        let retaining = self.snapshots.retaining.lock();
        self.use_repository(repository, || Ok(()))?;
        let policy = self.snapshot_policies().remove(id);
        let policy = policy.filter(|policy| policy.repository == *repository.name);
        let Some(mut retention) = policy.and_then(|policy| policy.retention) else { return Ok((0, 0)) };
        if !self.trusts_ages() {
            retention.expire_after = None;
        }
        let root = repository.root()?;
        let own: Vec<_> = root.snapshots.iter().filter(|one| one.policy.as_deref() == Some(id)).collect();
        let expired = retention.expired(&own, self.now_millis()).into_iter();
        let is_read = |one: &&Entry| self.snapshots.is_restoring(&repository.name, &one.uuid);
        let (kept, doomed): (Vec<&Entry>, Vec<&Entry>) = expired.partition(is_read);
        for snapshot in &kept {
            tracing::warn!(policy = id, snapshot = snapshot.name, "the snapshot stays: it is being restored");
        }
        let (failed, doomed) = (kept.len() as u64, uuids_of(&doomed));
        let (deleted, garbage) = self.unlist(repository, root, |one| doomed.contains(&one.uuid))?;
        drop(retaining);
        repository.sweep(&garbage);
        Ok((deleted, failed))
    }
}

fn uuids_of(snapshots: &[&Entry]) -> HashSet<String> {
    snapshots.iter().map(|one| one.uuid.clone()).collect()
}
