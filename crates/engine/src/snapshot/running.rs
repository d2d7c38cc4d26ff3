//! Snapshots and restores in progress: "how far are they, can they be stopped, and when are they done?"

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use limber_store::sync::{Condvar, Mutex};
use serde_json::Value;

use super::definition::{Definition, Locations};
use super::format::ShardFigures;
use super::repository::Repository;
use super::schedules::Schedules;
use crate::api::Result;

/// The stage of a shard in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Waits,
    Runs,
    Done,
    Failed,
}

impl Stage {
    /// Returns the name in `_status`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Waits => "INIT",
            Stage::Runs => "STARTED",
            Stage::Done => "DONE",
            Stage::Failed => "FAILURE",
        }
    }
}

/// Progress of one shard in a running snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShardProgress {
    pub stage: Stage,
    pub figures: ShardFigures,
    /// New files that are already copied.
    pub copied_file_count: u64,
    pub copied_bytes: u64,
}

/// The outcome of work on another thread.
#[derive(Default)]
pub(crate) struct Ending {
    outcome: Mutex<Option<Result<Value>>>,
    ended: Condvar,
}

impl Ending {
    pub(crate) fn finish(&self, outcome: Result<Value>) {
        self.outcome.lock().get_or_insert(outcome);
        self.ended.notify_all();
    }

    /// Waits for the end and returns the outcome.
    pub(crate) fn wait(&self) -> Result<Value> {
        let mut outcome = self.outcome.lock();
        loop {
            match &*outcome {
                Some(outcome) => return outcome.clone(),
                None => self.ended.wait(&mut outcome),
            }
        }
    }
}

/// A snapshot in progress.
pub(crate) struct Running {
    pub repository: Arc<Repository>,
    pub name: String,
    pub uuid: String,
    pub start_ms: u64,
    pub include_global_state: bool,
    pub metadata: Option<Value>,
    pub data_streams: Vec<String>,
    pub policy: Option<String>,
    /// UUIDs of the indices that must stay until they are copied; none if the snapshot may be partial.
    pub held: Vec<Arc<str>>,
    /// Keyed by index name and shard.
    pub shards: Mutex<BTreeMap<String, Vec<ShardProgress>>>,
    /// Set when the snapshot is deleted, its task is cancelled or the node closes.
    pub cancelled: Arc<AtomicBool>,
    pub ending: Ending,
}

impl Running {
    pub(crate) fn new(
        repository: Arc<Repository>,
        name: String,
        uuid: String,
        start_ms: u64,
        shard_counts: BTreeMap<String, u32>,
    ) -> Running {
        let waits = ShardProgress {
            stage: Stage::Waits,
            figures: ShardFigures::default(),
            copied_file_count: 0,
            copied_bytes: 0,
        };
        let shards = shard_counts.into_iter().map(|(index, count)| (index, vec![waits; count as usize]));
        Running {
            repository,
            name,
            uuid,
            start_ms,
            include_global_state: true,
            metadata: None,
            data_streams: Vec::new(),
            policy: None,
            held: Vec::new(),
            shards: Mutex::new(shards.collect()),
            cancelled: Arc::default(),
            ending: Ending::default(),
        }
    }

    /// Returns `name/uuid`, as Elasticsearch writes a snapshot in its messages.
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.name, self.uuid)
    }

    pub(crate) fn change(&self, index: &str, shard: usize, change: impl FnOnce(&mut ShardProgress)) {
        if let Some(progress) = self.shards.lock().get_mut(index).and_then(|shards| shards.get_mut(shard)) {
            change(progress);
        }
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// How the shards of an index were restored, for `_recovery`.
#[derive(Debug, Clone)]
pub struct RestoredIndex {
    /// Name of the repository.
    pub repository: String,
    /// Name of the snapshot.
    pub snapshot: String,
    /// UUID of the snapshot.
    pub snapshot_uuid: String,
    /// Name that the index had.
    pub index: String,
    /// The Elasticsearch version in the snapshot.
    pub version: String,
    /// For each shard: number of files, bytes, when copying began, and how long it took.
    pub shards: Vec<(u64, u64, u64, u64)>,
}

/// A snapshot that is being restored and must not be deleted meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Restoring {
    pub repository: Arc<str>,
    pub uuid: String,
}

/// A snapshot of a policy that is in progress. A policy may have several: one by its schedule, others because
/// users asked for them.
#[derive(Debug, Clone)]
pub(crate) struct PolicyRun {
    pub policy: String,
    /// The name of the snapshot, which no other run has.
    pub name: String,
    /// The snapshot's UUID; empty before it begins.
    pub uuid: String,
    pub start_ms: u64,
}

/// A definition, and its repository or the reason why it cannot be opened.
pub(crate) struct Registered {
    pub definition: Definition,
    pub opened: Result<Arc<Repository>>,
}

/// The repositories of a node, and the operations that use them.
#[derive(Default)]
pub(crate) struct Snapshots {
    pub locations: Mutex<Arc<Locations>>,
    pub repositories: Mutex<BTreeMap<String, Registered>>,
    pub running: Mutex<Vec<Arc<Running>>>,
    pub restoring: Mutex<Vec<Restoring>>,
    /// Keyed by the UUID of the new index.
    pub restored: Mutex<BTreeMap<Arc<str>, RestoredIndex>>,
    /// Set when the node closes. Restores and snapshots check it for every part.
    pub is_closing: Arc<AtomicBool>,
    /// Snapshots of policies that are in progress, in the order in which they began.
    pub policies_running: Mutex<Vec<PolicyRun>>,
    pub retention_runs: AtomicBool,
    /// Held while retention reads a policy and unlists its snapshots. Who changes a policy and then takes
    /// this lock knows that none is deleted by the earlier one any more.
    pub retaining: Mutex<()>,
    pub schedules: Schedules,
    /// When policies were last checked, in milliseconds since 1970; 0 when they were not yet.
    pub policies_seen_ms: std::sync::atomic::AtomicU64,
}

impl Snapshots {
    pub(crate) fn running_in(&self, repository: &str) -> Vec<Arc<Running>> {
        let running = self.running.lock();
        running.iter().filter(|running| *running.repository.name == *repository).cloned().collect()
    }

    /// Whether a snapshot in progress needs this index.
    pub(crate) fn holds(&self, index_uuid: &str) -> bool {
        self.running.lock().iter().any(|running| running.held.iter().any(|uuid| **uuid == *index_uuid))
    }

    pub(crate) fn is_restoring(&self, repository: &str, uuid: &str) -> bool {
        let restoring = self.restoring.lock();
        restoring.iter().any(|one| *one.repository == *repository && one.uuid == uuid)
    }

    /// Whether a snapshot of this policy is in progress.
    pub(crate) fn is_policy_running(&self, id: &str) -> bool {
        self.policies_running.lock().iter().any(|run| run.policy == id)
    }

    /// Whether a run of a policy with this snapshot is in progress.
    pub(crate) fn is_run_known(&self, snapshot: &str) -> bool {
        self.policies_running.lock().iter().any(|run| run.name == snapshot)
    }

    pub(crate) fn is_used(&self, repository: &str) -> Option<&'static str> {
        if !self.running_in(repository).is_empty() {
            return Some("snapshot is in progress");
        }
        let restoring = self.restoring.lock();
        restoring
            .iter()
            .any(|one| *one.repository == *repository)
            .then_some("snapshot restore is in progress")
    }
}
