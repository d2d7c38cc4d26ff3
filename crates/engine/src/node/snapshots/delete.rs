//! Deletes snapshots: first removes them from the list, then deletes their blobs.
//!
//! Source: Elasticsearch's `SnapshotsService#deleteSnapshots`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::repository::Blob;
use serde_json::{Value, json};

use super::shards::index_ids;
use crate::api::Result;
use crate::node::Node;
use crate::snapshot::errors::{concurrent_execution, snapshot_missing};
use crate::snapshot::format::{Entry, Root};
use crate::snapshot::names::Chosen;
use crate::snapshot::repository::Repository;

impl Node {
    /// Carries out `DELETE /_snapshot/{repository}/{snapshots}`. A snapshot in progress is aborted. With
    /// `wait`, returns when everything is done.
    pub fn delete_snapshots(&self, repository: &str, expression: &str, wait: bool) -> Result<Value> {
        let repository = self.repository(repository)?;
        repository.check_writable("repository is readonly")?;
        let chosen = Chosen::parse(expression);
        let running = self.snapshots.running_in(&repository.name);
        let root = repository.root()?;
        let exists = |name: &str| {
            running.iter().any(|one| one.name == name) || root.snapshots.iter().any(|one| one.name == name)
        };
        if let Some(missing) = chosen.concrete().find(|name| !exists(name)) {
            return Err(snapshot_missing(&repository.name, missing));
        }
        self.check_are_not_read(&repository, &root, &chosen)?;
        let aborted = running.iter().filter(|one| chosen.takes(&one.name));
        aborted.for_each(|one| one.cancel());
        if wait {
            limber_work::waiting(|| self.delete_chosen(&repository, &chosen))?;
            return Ok(json!({"acknowledged": true}));
        }
        let gone = || RequestError::unavailable("node_closed_exception", "the node is closing");
        let node: Arc<Node> = self.this.upgrade().ok_or_else(gone)?;
        let description = format!("delete snapshots [{}:{expression}]", repository.name);
        self.tasks.spawn("cluster:admin/snapshot/delete", description, move || {
            node.delete_chosen(&repository, &chosen).map(|()| json!({"acknowledged": true}))
        })?;
        Ok(json!({"acknowledged": true}))
    }

    fn check_are_not_read(&self, repository: &Repository, root: &Root, chosen: &Chosen) -> Result<()> {
        let is_read = |uuid: &str| self.snapshots.is_restoring(&repository.name, uuid);
        let doomed = root.snapshots.iter().filter(|one| chosen.takes(&one.name));
        match doomed.filter(|one| is_read(&one.uuid)).map(|one| &one.name).next() {
            None => Ok(()),
            Some(name) => {
                let why = "cannot delete snapshot during a restore in progress";
                Err(concurrent_execution(&repository.name, name, why))
            }
        }
    }

    /// Waits until nothing is written to the repository, then deletes those of the chosen snapshots that
    /// exist.
    fn delete_chosen(&self, repository: &Arc<Repository>, chosen: &Chosen) -> Result<()> {
        let _writing = repository.writing.lock();
        self.use_repository(repository, || Ok(()))?;
        let root = repository.root()?;
        // A restore registers before it reads the root, so one that began meanwhile is found here.
        self.check_are_not_read(repository, &root, chosen)?;
        let (_, garbage) = self.unlist(repository, root, |snapshot| chosen.takes(&snapshot.name))?;
        repository.sweep(&garbage);
        Ok(())
    }

    /// Removes snapshots from the list. Returns how many there were, and the blobs that nothing needs any
    /// more. Called with the repository's lock for writing held.
    pub(super) fn unlist(
        &self,
        repository: &Repository,
        mut root: Root,
        is_doomed: impl Fn(&Entry) -> bool,
    ) -> Result<(u64, Vec<Blob>)> {
        let (doomed, kept): (Vec<_>, Vec<_>) = root.snapshots.into_iter().partition(is_doomed);
        if doomed.is_empty() {
            return Ok((0, Vec::new()));
        }
        root.snapshots = kept;
        let garbage = repository.garbage(&root, Some(&index_ids(doomed.iter())))?;
        repository.publish(root, &self.environment, self.node_id())?;
        Ok((doomed.len() as u64, garbage))
    }
}
