//! Runs of snapshot policies that ended with their process: "which were they, and what came of them?"
//!
//! A run is noted in its policy before its snapshot begins, and the note is replaced by the outcome. A note
//! of a run that this process does not know is of an earlier process, which ended before it stored the
//! outcome. The repository says what came of such a run; while the repository cannot be read, the note stays.
//! Source: Elasticsearch's `RegisteredPolicySnapshots`.

use serde_json::json;

use crate::api::Result;
use crate::node::Node;
use crate::snapshot::errors::snapshot_error;
use crate::snapshot::format::State;
use crate::snapshot::policy::{Begun, Run};

impl Node {
    /// Notes in its policy that a run begins. If the disk refuses that, for instance because it is full, the
    /// snapshot is needed all the more.
    pub(super) fn note_begun(&self, id: &str, begun: Begun) {
        let _changing = self.changing.lock();
        if let Err(error) = self.change_snapshot_policy(id, |policy| policy.begun.push(begun)) {
            tracing::warn!(policy = id, %error, "that a policy's snapshot begins is not stored");
        }
    }

    /// Starts to find out what came of the runs of earlier processes, if there are any. The repository may be
    /// slow, so another thread does that.
    pub(super) fn start_finding_lost_runs(&self) {
        let policies = self.snapshot_policies();
        let ids: Vec<String> =
            policies.into_iter().filter(|(_, policy)| !policy.begun.is_empty()).map(|(id, _)| id).collect();
        let Some(node) = self.this.upgrade().filter(|_| !ids.is_empty()) else { return };
        let description = "runs of policies that ended with the process".to_owned();
        let work = move || {
            ids.iter().for_each(|id| node.find_lost_runs(id));
            Ok(json!({"acknowledged": true}))
        };
        if let Err(error) = self.tasks.spawn("cluster:admin/slm/execute", description, work) {
            tracing::warn!(%error, "what came of earlier runs of policies is found out when they run again");
        }
    }

    /// Stores what came of a policy's runs in earlier processes.
    pub(super) fn find_lost_runs(&self, id: &str) {
        let begun = self.snapshot_policies().remove(id).map_or(Vec::new(), |policy| policy.begun);
        for lost in begun.into_iter().filter(|begun| !self.snapshots.is_run_known(&begun.snapshot)) {
            let run = match self.outcome_of_lost(&lost) {
                Ok(run) => run,
                Err(error) => {
                    tracing::warn!(policy = id, snapshot = lost.snapshot, %error, "a run may have failed");
                    continue;
                }
            };
            let _changing = self.changing.lock();
            let stored = self.change_snapshot_policy(id, |policy| {
                // It may have ended in this process since the notes were read.
                if policy.begun.contains(&lost) {
                    policy.note(run);
                }
            });
            if let Err(error) = stored {
                tracing::warn!(policy = id, %error, "what came of a policy's snapshot is not stored");
            }
        }
    }

    /// Looks for the snapshot of a run in the repository.
    ///
    /// # Errors
    /// The repository cannot be read.
    fn outcome_of_lost(&self, lost: &Begun) -> Result<Run> {
        let snapshots = match self.repository(&lost.repository).and_then(|repository| repository.root()) {
            Ok(root) => root.snapshots,
            Err(error) if error.kind == "repository_missing_exception" => Vec::new(),
            Err(error) => return Err(error),
        };
        let (time_ms, failure) = match snapshots.iter().find(|one| one.name == lost.snapshot) {
            Some(made) if made.state == State::Success => (made.end_ms, None),
            Some(made) => (made.end_ms, Some(format!("{} shards failed", made.failed_shards))),
            None => {
                let why = "the node ended before the snapshot was complete";
                (self.now_millis(), Some(why.to_owned()))
            }
        };
        let details = failure.map(|why| {
            let error = snapshot_error(&lost.repository, &lost.snapshot, why);
            error.to_json().to_string()
        });
        Ok(Run { snapshot: lost.snapshot.clone(), start_ms: lost.start_ms, time_ms, details })
    }
}
