//! Creates snapshots.
//!
//! Order of writing: the data of the shards, their manifests, the metadata of the indices, the snapshot, and
//! last the root, which makes the snapshot exist. Source: Elasticsearch's `SnapshotsService#createSnapshot`,
//! `TransportCreateSnapshotAction`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::request::SnapshotRequest;
use crate::api::Result;
use crate::catalog::{Catalog, IndexMetadata};
use crate::node::Node;
use crate::snapshot::errors::{
    concurrent_execution, invalid_snapshot_name, repository_error, snapshot_error,
};
use crate::snapshot::format::{Entry, Root, SnapshotBody, State, snapshot_name};
use crate::snapshot::names::check_snapshot_name;
use crate::snapshot::repository::Repository;
use crate::snapshot::running::Running;
use crate::snapshot::show::{Detail, show};

/// The content of a snapshot, which is fixed when it begins.
struct Content {
    indices: Vec<Arc<IndexMetadata>>,
    /// Data streams by name.
    data_streams: Map<String, Value>,
    global_state: Option<Value>,
    partial: bool,
}

/// Removes a snapshot from the list of running ones, however its thread ends.
struct Listed {
    /// Dropped before the outcome is published, because a waiting thread may then open the data folder again.
    node: Option<Arc<Node>>,
    running: Arc<Running>,
    outcome: Option<Result<Value>>,
}

impl Listed {
    fn end(mut self, outcome: Result<Value>) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            node.snapshots.running.lock().retain(|other| !Arc::ptr_eq(other, &self.running));
        }
        let running = &self.running;
        let unknown = || {
            Err(snapshot_error(&running.repository.name, &running.full_name(), "the snapshot ended early"))
        };
        running.ending.finish(self.outcome.take().unwrap_or_else(unknown));
    }
}

impl Node {
    /// Carries out `PUT /_snapshot/{repository}/{snapshot}`. With `wait`, returns the finished snapshot;
    /// otherwise returns that the request was accepted.
    pub fn create_snapshot(&self, repository: &str, name: &str, body: &Value, wait: bool) -> Result<Value> {
        let request = SnapshotRequest::parse(body)?;
        let running = self.begin_snapshot(repository, name, request, None)?;
        match wait {
            true => Ok(json!({"snapshot": limber_work::waiting(|| running.ending.wait())?})),
            false => Ok(json!({"accepted": true})),
        }
    }

    /// Checks a request and starts the snapshot on a separate thread.
    pub(super) fn begin_snapshot(
        &self,
        repository_name: &str,
        name: &str,
        request: SnapshotRequest,
        policy: Option<String>,
    ) -> Result<Arc<Running>> {
        let catalog = self.catalog.load_full();
        let repository = self.repository(repository_name)?;
        let name = catalog.resolve_date_math(name)?.into_owned();
        check_snapshot_name(repository_name, &name)?;
        repository.check_writable("cannot create snapshot in a readonly repository")?;
        check_is_new(&repository.root()?, repository_name, &name, repository.opened.snapshots_max)?;
        let (running, content) = {
            // An index that is deleted from here on is found to be copied, and one that was deleted before is
            // not among them.
            let _changing = self.changing.lock();
            let content = self.content(&self.catalog.load_full(), &request)?;
            let running = self.running_of(repository, &name, request, &content, policy)?;
            self.use_repository(&running.repository, || self.list_running(&running))?;
            (running, content)
        };
        self.start_snapshot(running.clone(), content)?;
        Ok(running)
    }

    /// Makes what is known of a snapshot while it is taken.
    ///
    /// # Errors
    /// Fails when shards are missing, unless the snapshot may be partial.
    fn running_of(
        &self,
        repository: Arc<Repository>,
        name: &str,
        request: SnapshotRequest,
        content: &Content,
        policy: Option<String>,
    ) -> Result<Arc<Running>> {
        let counts: BTreeMap<String, u32> = content
            .indices
            .iter()
            .map(|index| (index.name.to_string(), index.typed.number_of_shards))
            .collect();
        let uuid = self.environment.uuid();
        let mut running = Running::new(repository, name.to_owned(), uuid, self.now_millis(), counts);
        running.include_global_state = request.include_global_state;
        running.metadata = request.metadata;
        running.data_streams = content.data_streams.keys().cloned().collect();
        running.policy = policy;
        if !content.partial {
            running.held = content.indices.iter().map(|index| index.uuid.clone()).collect();
            let missing = self.with_missing_shards(&content.indices);
            if !missing.is_empty() {
                let why = format!("Indices don't have primary shards [{}]", missing.join(", "));
                return Err(snapshot_error(&running.repository.name, &running.full_name(), why));
            }
        }
        Ok(Arc::new(running))
    }

    /// Checks that no snapshot in progress needs an index, which is to be deleted or closed (`verb`).
    ///
    /// Source: Elasticsearch's `MetadataDeleteIndexService`, `MetadataIndexStateService`.
    pub(in crate::node) fn check_is_not_copied(&self, index: &IndexMetadata, verb: &str) -> Result<()> {
        match self.snapshots.holds(&index.uuid) {
            false => Ok(()),
            true => Err(RequestError::bad_request(
                "snapshot_in_progress_exception",
                format!(
                    "Cannot {verb} indices that are being snapshotted: [[{}/{}]]. Try again after snapshot finishes or cancel the \
                     currently running snapshot.",
                    index.name, index.uuid
                ),
            )),
        }
    }

    fn list_running(&self, new: &Arc<Running>) -> Result<()> {
        let repository = &new.repository.name;
        let mut running = self.snapshots.running.lock();
        if self.snapshots.is_closing.load(Ordering::Acquire) {
            return Err(RequestError::unavailable("node_closed_exception", "the node is closing"));
        }
        if running.iter().any(|other| other.repository.name == *repository && other.name == new.name) {
            let why = "snapshot with the same name is already in-progress";
            return Err(invalid_snapshot_name(repository, &new.name, why));
        }
        let limit = self.settings.load().integer("snapshot.max_concurrent_operations").max(1) as usize;
        if running.len() >= limit {
            let why = format!(
                "Cannot start another operation, already running [{}] operations and the current limit for concurrent snapshot \
                 operations is set to [{limit}]",
                running.len()
            );
            return Err(concurrent_execution(repository, &new.name, &why));
        }
        running.push(new.clone());
        Ok(())
    }

    fn start_snapshot(&self, running: Arc<Running>, content: Content) -> Result<()> {
        let gone = || RequestError::unavailable("node_closed_exception", "the node is closing");
        let node = self.this.upgrade().ok_or_else(gone)?;
        let description = format!("snapshot [{}:{}]", running.repository.name, running.full_name());
        let cancelled = running.cancelled.clone();
        let listed = Listed { node: Some(node.clone()), running: running.clone(), outcome: None };
        let work = move || {
            let outcome = node.take_snapshot(&running, content);
            if let Err(error) = &outcome {
                tracing::warn!(repository = %running.repository.name, snapshot = running.name, %error, "no snapshot");
            }
            drop(node);
            listed.end(outcome.clone());
            outcome
        };
        self.tasks.spawn_cancellable("cluster:admin/snapshot/create", description, cancelled, work).map(drop)
    }

    fn content(&self, catalog: &Catalog, request: &SnapshotRequest) -> Result<Content> {
        let mut indices = catalog.resolve(&request.indices, request.options)?;
        // An index that is still being filled would be restored as if it were complete.
        indices.retain(|index| !index.is_unfinished);
        let holds = |name: &Arc<str>| indices.iter().any(|index| index.name == *name);
        let streams = catalog.data_streams.values().filter(|stream| stream.indices.iter().all(holds));
        Ok(Content {
            data_streams: streams.map(|stream| (stream.name.to_string(), stream.to_json())).collect(),
            global_state: request.include_global_state.then(|| self.global_state()),
            partial: request.partial,
            indices,
        })
    }

    /// Copies the shards and lists the snapshot in the root. Returns its description.
    fn take_snapshot(&self, running: &Running, content: Content) -> Result<Value> {
        let repository = &running.repository;
        let _writing = repository.writing.lock();
        let aborted = || {
            snapshot_error(
                &repository.name,
                &running.full_name(),
                "Snapshot was aborted by deletion or cancelled",
            )
        };
        let check = || match running.cancelled.load(Ordering::Relaxed) {
            true => Err(aborted()),
            false => Ok(()),
        };
        check()?;
        let mut root = repository.root()?;
        check_is_new(&root, &repository.name, &running.name, repository.opened.snapshots_max)?;
        let (mut indices, mut shards, mut failures) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for index in &content.indices {
            let copied = self.copy_index(running, &root, index);
            check()?;
            let (entry, failed, figures) = copied?;
            indices.insert(index.name.to_string(), entry);
            shards.insert(index.name.to_string(), figures);
            failures.extend(failed);
        }
        let state = if failures.is_empty() { State::Success } else { State::Partial };
        let entry = Entry {
            name: running.name.clone(),
            uuid: running.uuid.clone(),
            state,
            start_ms: running.start_ms,
            end_ms: self.now_millis().max(running.start_ms),
            indices,
            data_streams: running.data_streams.clone(),
            policy: running.policy.clone(),
            failed_shards: failures.len() as u64,
        };
        let body = SnapshotBody {
            version: self.config.compat_version.clone(),
            index_version: self.index_version(),
            include_global_state: running.include_global_state,
            metadata: running.metadata.clone(),
            failures,
            shards,
            data_streams: content.data_streams,
            global_state: content.global_state,
        };
        repository.write(&snapshot_name(&running.uuid), &body)?;
        check()?;
        root.snapshots.push(entry.clone());
        repository.publish(root, &self.environment, self.node_id())?;
        Ok(show(&repository.name, &entry, Some(&body), &Detail::default()))
    }

    /// Cancels running snapshots and restores and waits for them. Called when the node closes.
    pub(in crate::node) fn close_snapshots(&self) {
        self.snapshots.is_closing.store(true, Ordering::Release);
        let running = self.snapshots.running.lock().clone();
        running.iter().for_each(|one| one.cancel());
        for one in running {
            let _ = one.ending.wait();
        }
    }
}

fn check_is_new(root: &Root, repository: &str, name: &str, snapshots_max: u64) -> Result<()> {
    if root.snapshots.iter().any(|snapshot| snapshot.name == name) {
        return Err(invalid_snapshot_name(repository, name, "snapshot with the same name already exists"));
    }
    if root.snapshots.len() as u64 >= snapshots_max {
        let why = format!(
            "Cannot add another snapshot to this repository as it already contains [{}] snapshots and is configured to hold up to \
             [{snapshots_max}] snapshots only.",
            root.snapshots.len()
        );
        return Err(repository_error(repository, why));
    }
    Ok(())
}
