//! Restores indices from snapshots.
//!
//! Each index is created in its own folder, file by file, verified and synced; then its shards are opened;
//! and only then all indices are published, in one step. A failure before that leaves folders that no state
//! lists, which are removed. Source: Elasticsearch's `RestoreService`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use limber_mapping::{Mapping, RequestError};
use serde_json::{Value, json};

use super::restore_request::RestoreRequest;
use crate::api::Result;
use crate::catalog::names::check_index_name;
use crate::catalog::{Alias, Catalog, DataStream, IndexMetadata};
use crate::lifecycle::LifecycleState;
use crate::node::Node;
use crate::node::index::indices::check_alias_target;
use crate::node::index::live::{LiveIndex, index_folder, shard_folder};
use crate::settings::IndexSettings;
use crate::shard::{restore_commit, store_error};
use crate::snapshot::errors::{restore_error, snapshot_missing};
use crate::snapshot::format::{
    Entry, IndexBody, IndexEntry, Manifest, SnapshotBody, index_name, manifest_name, snapshot_name,
};
use crate::snapshot::names::filter_indices;
use crate::snapshot::repository::Repository;
use crate::snapshot::running::{Ending, RestoredIndex, Restoring};
use crate::snapshot::transfer::{ShardPlace, Transfer};

/// What a restore is going to do, checked before it begins.
pub(super) struct Plan {
    pub repository: Arc<Repository>,
    pub entry: Entry,
    body: SnapshotBody,
    pub indices: Vec<PlannedIndex>,
    pub streams: Vec<Arc<DataStream>>,
    include_global_state: bool,
}

impl Plan {
    /// Returns `name/uuid`, as Elasticsearch writes a snapshot in its messages.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.entry.name, self.entry.uuid)
    }

    /// Returns the global state if it is to be restored.
    pub fn global_state(&self) -> Option<&Value> {
        self.body.global_state.as_ref().filter(|_| self.include_global_state)
    }
}

pub(super) struct PlannedIndex {
    from: IndexEntry,
    /// Name of the index in the snapshot.
    pub source: String,
    pub metadata: Arc<IndexMetadata>,
}

/// An index that is complete in its folder but not published yet.
pub(super) struct UnpublishedIndex {
    pub live: Arc<LiveIndex>,
    pub restored: RestoredIndex,
}

/// Keeps a snapshot from being deleted while it is read.
struct Reading {
    /// Dropped before the outcome is published, because a waiting thread may then open the data folder again.
    node: Option<Arc<Node>>,
    restoring: Restoring,
    ending: Arc<Ending>,
    outcome: Option<Result<Value>>,
}

impl Reading {
    fn end(mut self, outcome: Result<Value>) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            let mut restoring = node.snapshots.restoring.lock();
            if let Some(at) = restoring.iter().position(|one| *one == self.restoring) {
                restoring.swap_remove(at);
            }
        }
        // A waiting thread may delete the snapshot as soon as the outcome is published.
        let ended_early =
            || Err(restore_error(&self.restoring.repository, "_na_", "the restore ended early"));
        self.ending.finish(self.outcome.take().unwrap_or_else(ended_early));
    }
}

impl Node {
    /// Returns how an index was restored since the node was started; `None` if it was not.
    pub fn restored_index(&self, uuid: &str) -> Option<RestoredIndex> {
        self.snapshots.restored.lock().get(uuid).cloned()
    }

    /// Carries out `POST /_snapshot/{repository}/{snapshot}/_restore`. Without `wait` it returns at once, and
    /// the indices appear when they are complete.
    pub fn restore_snapshot(
        &self,
        repository: &str,
        snapshot: &str,
        body: &Value,
        wait: bool,
    ) -> Result<Value> {
        let request = RestoreRequest::parse(body)?;
        self.check_metadata_write_block()?;
        let repository = self.repository(repository)?;
        let plan = self.plan(&repository, snapshot, &request)?;
        let gone = || RequestError::unavailable("node_closed_exception", "the node is closing");
        let node: Arc<Node> = self.this.upgrade().ok_or_else(gone)?;
        let restoring = Restoring { repository: repository.name.clone(), uuid: plan.entry.uuid.clone() };
        self.use_repository(&repository, || {
            node.snapshots.restoring.lock().push(restoring.clone());
            Ok(())
        })?;
        let ending = Arc::new(Ending::default());
        let reading = Reading { node: Some(node.clone()), restoring, ending: ending.clone(), outcome: None };
        let description = format!("restore snapshot [{}:{snapshot}]", repository.name);
        let work = move || {
            let outcome = node.restore(&plan);
            if let Err(error) = &outcome {
                tracing::warn!(repository = %plan.repository.name, snapshot = plan.entry.name, %error, "not restored");
            }
            drop(node);
            reading.end(outcome.clone());
            outcome
        };
        self.tasks.spawn("cluster:admin/snapshot/restore", description, work)?;
        match wait {
            true => limber_work::waiting(|| ending.wait()),
            false => Ok(json!({"accepted": true})),
        }
    }

    fn plan(&self, repository: &Arc<Repository>, snapshot: &str, request: &RestoreRequest) -> Result<Plan> {
        let root = repository.root()?;
        let entry = root.snapshots.into_iter().find(|one| one.name == snapshot);
        let missing = || restore_error(&repository.name, snapshot, "snapshot does not exist");
        let entry = entry.ok_or_else(missing)?;
        let body: SnapshotBody = repository.read(&snapshot_name(&entry.uuid))?;
        let full_name = format!("{}/{}", entry.name, entry.uuid);
        let (chosen, streams) = choose(&entry, &body, request)?;
        let refuse = |why: String| Err(restore_error(&repository.name, &full_name, why));
        let catalog = self.catalog.load_full();
        let streams = renamed_streams(streams, request)?;
        if let Some(taken) = streams.iter().find(|stream| catalog.data_streams.contains_key(&stream.name)) {
            return refuse(format!(
                "cannot restore data stream [{}] because a data stream with the same name already exists in the cluster",
                taken.name
            ));
        }
        if let Some(state) = body.global_state.as_ref().filter(|_| request.include_global_state) {
            self.check_global_state(state)?;
        }
        let mut targets: BTreeMap<String, String> = BTreeMap::new();
        let mut indices = Vec::new();
        for source in chosen {
            let from = entry.indices[&source].clone();
            if from.shards.iter().any(Option::is_none) && !request.partial {
                return refuse(format!("index [{source}] wasn't fully snapshotted - cannot restore"));
            }
            let target = request.renamed(&source);
            if let Some(other) = targets.insert(target.clone(), source.clone()) {
                return refuse(format!(
                    "indices [{source}] and [{other}] are renamed into the same index [{target}]"
                ));
            }
            let body: IndexBody = repository.read(&index_name(&from.id, &from.meta))?;
            let metadata = self.metadata_of_restored(repository, &full_name, &body, &target, request)?;
            self.check_target(&catalog, repository, &full_name, &metadata, &source)?;
            indices.push(PlannedIndex { from, source, metadata: Arc::new(metadata) });
        }
        let include_global_state = request.include_global_state;
        let streams = streams.into_iter().map(Arc::new).collect();
        let repository = repository.clone();
        Ok(Plan { repository, entry, body, indices, streams, include_global_state })
    }

    fn metadata_of_restored(
        &self,
        repository: &Repository,
        snapshot: &str,
        body: &IndexBody,
        target: &str,
        request: &RestoreRequest,
    ) -> Result<IndexMetadata> {
        check_index_name(target)?;
        let settings = request.settings(&repository.name, snapshot, &body.settings)?;
        let typed = Arc::new(IndexSettings::from_flat(&settings)?);
        if typed.number_of_shards != body.number_of_shards {
            let why = format!("index [{}] has [{}] shards", body.name, body.number_of_shards);
            return Err(restore_error(&repository.name, snapshot, why));
        }
        let mapping =
            Mapping::restore(&body.mappings, &typed.mapping_settings(&settings, &self.analysis())?)?;
        let mut aliases = BTreeMap::new();
        if request.include_aliases {
            for (name, alias) in &body.aliases {
                aliases.insert(request.renamed_alias(name), Alias::parse(alias)?);
            }
        }
        Ok(IndexMetadata {
            name: target.into(),
            uuid: self.environment.uuid().into(),
            creation_date_ms: body.creation_date_ms,
            version_created: body.version_created.clone(),
            settings,
            typed,
            mappings: Arc::new(mapping.to_json()),
            aliases,
            open: true,
            rollover_info: body.rollover_info.clone(),
            lifecycle: LifecycleState::from_json(&body.lifecycle).with_author(self.author()?),
            version: 1,
            is_unfinished: false,
            damage: None,
        })
    }

    /// Checks that an index may be published under its name now, replacing a closed index or none.
    pub(super) fn check_target(
        &self,
        catalog: &Catalog,
        repository: &Repository,
        snapshot: &str,
        metadata: &IndexMetadata,
        source: &str,
    ) -> Result<()> {
        let name = &*metadata.name;
        let refuse = |why: String| Err(restore_error(&repository.name, snapshot, why));
        self.check_allocation(true)?;
        for alias in metadata.aliases.keys() {
            check_alias_target(catalog, alias)?;
        }
        if catalog.aliases.contains_key(name) || catalog.data_streams.contains_key(name) {
            return refuse(format!(
                "cannot rename index [{source}] into [{name}] because of conflict with an alias with the same name"
            ));
        }
        let Some(current) = catalog.indices.get(name) else {
            return self.check_shard_limit(catalog, &metadata.typed);
        };
        if current.open {
            return refuse(format!(
                "cannot restore index [{name}] because an open index with same name already exists in the cluster. Either close or \
                 delete the existing index or restore the index under a different name by providing a rename pattern and replacement \
                 name"
            ));
        }
        if current.typed.number_of_shards != metadata.typed.number_of_shards {
            return refuse(format!(
                "cannot restore index [{name}] with [{}] shards from a snapshot of index [{source}] with [{}] shards",
                current.typed.number_of_shards, metadata.typed.number_of_shards
            ));
        }
        // The closed index that is replaced is deleted.
        self.check_is_not_copied(current, "delete")
    }

    /// Copies the files, opens the indices and publishes them.
    fn restore(&self, plan: &Plan) -> Result<Value> {
        self.check_is_still_there(plan)?;
        let mut made = Vec::new();
        for index in &plan.indices {
            match self.make_index(plan, index) {
                Ok(whole) => made.push(whole),
                Err(error) => {
                    self.remove_left_over(&index_folder(&index.metadata.uuid));
                    self.discard(made);
                    return Err(error);
                }
            }
        }
        match plan.global_state() {
            Some(state) if made.is_empty() => self.restore_global_state(state)?,
            _ => self.publish_restored(plan, made)?,
        }
        let shards: u64 = plan.indices.iter().map(|one| u64::from(one.metadata.typed.number_of_shards)).sum();
        let lacking = plan.indices.iter().flat_map(|one| &one.from.shards).filter(|shard| shard.is_none());
        let failed = lacking.count() as u64;
        let names: Vec<&str> = plan.indices.iter().map(|one| &*one.metadata.name).collect();
        Ok(json!({"snapshot": {
            "snapshot": plan.entry.name,
            "indices": names,
            "shards": {"total": shards, "failed": failed, "successful": shards - failed},
        }}))
    }

    /// Checks that the snapshot still exists. It was chosen before it was protected from deletion.
    fn check_is_still_there(&self, plan: &Plan) -> Result<()> {
        let root = plan.repository.root()?;
        match root.snapshots.iter().any(|one| one.uuid == plan.entry.uuid) {
            true => Ok(()),
            false => Err(snapshot_missing(&plan.repository.name, &plan.entry.name)),
        }
    }

    pub(super) fn remove_left_over(&self, folder: &str) {
        if let Err(error) = self.environment.disk.remove_folder(folder) {
            tracing::warn!(folder, %error, "what is left of a restore is removed at the next start");
        }
    }

    fn make_index(&self, plan: &Plan, index: &PlannedIndex) -> Result<UnpublishedIndex> {
        let mut restored = RestoredIndex {
            repository: plan.repository.name.to_string(),
            snapshot: plan.entry.name.clone(),
            snapshot_uuid: plan.entry.uuid.clone(),
            index: index.source.clone(),
            version: plan.body.version.clone(),
            shards: Vec::new(),
        };
        for number in 0..index.from.shards.len() {
            restored.shards.push(self.make_shard(plan, index, number)?);
        }
        let live = Arc::new(LiveIndex::open(&index.metadata, &self.services())?);
        match live.shards.iter().find_map(|shard| shard.failure()) {
            None => Ok(UnpublishedIndex { live, restored }),
            Some(failure) => {
                live.close();
                Err(failure)
            }
        }
    }

    /// Creates a shard. Returns the number of files, the bytes, when it began, and how long it took.
    fn make_shard(&self, plan: &Plan, index: &PlannedIndex, number: usize) -> Result<(u64, u64, u64, u64)> {
        let (start_ms, start) = (self.now_millis(), self.environment.clock.monotonic_nanos());
        let folder = shard_folder(&index.metadata.uuid, number as u32);
        let directory = self.environment.folder(&folder).map_err(|error| store_error(&error))?;
        let took_ms = || self.environment.clock.monotonic_nanos().saturating_sub(start) / 1_000_000;
        let Some(uuid) = &index.from.shards[number] else {
            crate::shard::create_files(&*directory, &self.environment)
                .map_err(|error| store_error(&error))?;
            return Ok((0, 0, start_ms, took_ms()));
        };
        let place = ShardPlace { index_id: &index.from.id, shard: number };
        let manifest: Manifest = plan.repository.read(&manifest_name(place.index_id, number, uuid))?;
        let transfer = Transfer {
            repository: &plan.repository.name,
            blobs: plan.repository.blobs(),
            ledger: &self.ledger,
            clock: &*self.environment.clock,
            throttle: &plan.repository.opened.restore_rate,
            cancelled: &self.snapshots.is_closing,
        };
        for file in &manifest.files {
            check_file_name(&plan.repository, &file.name)?;
            transfer.download(&*directory, file, place)?;
        }
        let commit = serde_json::to_string(&manifest.commit).map_or(0, |text| text.len() as u64);
        directory
            .sync_names()
            .and_then(|()| restore_commit(&*directory, &self.environment, &manifest.commit))
            .map_err(|error| store_error(&error))?;
        let bytes = commit + manifest.files.iter().map(|file| file.bytes).sum::<u64>();
        Ok((1 + manifest.files.len() as u64, bytes, start_ms, took_ms()))
    }
}

/// Returns the indices and data streams that a request selects.
fn choose(
    entry: &Entry,
    body: &SnapshotBody,
    request: &RestoreRequest,
) -> Result<(BTreeSet<String>, Vec<DataStream>)> {
    let names: BTreeSet<&str> =
        entry.indices.keys().chain(entry.data_streams.iter()).map(String::as_str).collect();
    let chosen = filter_indices(names.iter().copied(), &request.indices, request.ignore_unavailable)?;
    let (mut indices, mut streams) = (BTreeSet::new(), Vec::new());
    for name in chosen {
        match body.data_streams.get(&name).filter(|_| !entry.indices.contains_key(&name)) {
            Some(saved) => {
                let mut stream = DataStream::from_json(&name, saved)?;
                // The snapshot may lack indices of the stream, and a repository may say anything.
                stream.indices.retain(|index| entry.indices.contains_key(&**index));
                if stream.indices.is_empty() {
                    let why = format!("the snapshot has no index of the data stream [{name}]");
                    return Err(RequestError::illegal_argument(why));
                }
                indices.extend(stream.indices.iter().map(|index| index.to_string()));
                streams.push(stream);
            }
            None => drop(indices.insert(name)),
        }
    }
    indices.retain(|name| entry.indices.contains_key(name));
    Ok((indices, streams))
}

fn renamed_streams(streams: Vec<DataStream>, request: &RestoreRequest) -> Result<Vec<DataStream>> {
    let rename = |mut stream: DataStream| {
        stream.name = request.renamed(&stream.name).into();
        crate::catalog::names::check_data_stream_name(&stream.name)?;
        stream.indices = stream.indices.iter().map(|index| request.renamed(index).into()).collect();
        if !request.include_aliases {
            stream.aliases.clear();
        }
        Ok(stream)
    };
    streams.into_iter().map(rename).collect()
}

/// Checks a file name from the repository: only names that segment files can have are allowed.
fn check_file_name(repository: &Repository, name: &str) -> Result<()> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    match is_plain && !name.contains("..") && limber_segment::SegmentId::of_file(name).is_some() {
        true => Ok(()),
        false => {
            let why = format!("a manifest names the file [{name:?}], which is none of a segment");
            Err(crate::snapshot::errors::repository_error(&repository.name, why))
        }
    }
}
