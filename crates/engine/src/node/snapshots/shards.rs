//! Copies the shards of a snapshot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use limber_mapping::RequestError;

use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::node::Node;
use crate::node::index::index_files::check_is_readable;
use crate::node::index::live::shard_folder;
use crate::shard::{CommitFile, PinnedCommit, commit_of_closed, store_error};
use crate::snapshot::errors::storage_error;
use crate::snapshot::format::{
    File, IndexBody, IndexEntry, Manifest, Root, ShardFailure, ShardFigures, data_name, index_name,
    manifest_name, shard_folder as blob_folder,
};
use crate::snapshot::repository::Repository;
use crate::snapshot::running::{Running, Stage};
use crate::snapshot::transfer::{ShardPlace, Transfer, part_bytes};

/// What the repository already has of a shard.
struct Known {
    /// The manifest from the last snapshot in which the shard did not fail.
    manifest: Option<(String, Manifest)>,
    /// Sizes of the blobs that really exist.
    blobs: HashMap<String, u64>,
}

impl Known {
    /// Whether every part of a file exists with the right length. A blob that was lost is copied again.
    fn has(&self, place: ShardPlace<'_>, file: &File) -> bool {
        file.is_consistent()
            && (0..file.parts.len()).all(|part| {
                let name = data_name(place.index_id, place.shard, &file.blob, part);
                self.blobs.get(&name) == Some(&file.bytes_of(part))
            })
    }

    /// Finds a file in the repository that is the same as this one of a shard with this history.
    fn find(&self, place: ShardPlace<'_>, history: &str, wanted: &CommitFile) -> Option<&File> {
        let (_, manifest) =
            self.manifest.as_ref().filter(|(_, manifest)| manifest.commit.history == history)?;
        let file = manifest.files.iter().find(|file| file.name == wanted.name)?;
        let is_same = file.bytes == wanted.bytes && file.crc == wanted.crc && file.own_crc == wanted.own_crc;
        (is_same && self.has(place, file)).then_some(file)
    }
}

impl Node {
    /// Copies new files of an index, shard by shard. Returns its entry, the failures, and statistics of each
    /// shard.
    pub(super) fn copy_index(
        &self,
        running: &Running,
        root: &Root,
        index: &IndexMetadata,
    ) -> Result<(IndexEntry, Vec<ShardFailure>, Vec<ShardFigures>)> {
        let repository = &running.repository;
        let (mut shards, mut failures, mut figures) = (Vec::new(), Vec::new(), Vec::new());
        let mut body = body_of(index);
        for number in 0..index.typed.number_of_shards {
            running.change(&index.name, number as usize, |progress| progress.stage = Stage::Runs);
            let outcome = self.copy_shard(running, root, index, number, &mut body);
            if running.cancelled.load(std::sync::atomic::Ordering::Relaxed) {
                outcome?;
                self.transfer(running).check_cancelled()?;
                return Err(RequestError::bad_request("task_cancelled_exception", "task cancelled"));
            }
            let (stage, copied) = match outcome {
                Ok((manifest, copied)) => {
                    shards.push(Some(manifest));
                    (Stage::Done, copied)
                }
                Err(error) => {
                    tracing::warn!(index = %index.name, shard = number, %error, "a shard is not in the snapshot");
                    shards.push(None);
                    failures.push(ShardFailure {
                        index: index.name.to_string(),
                        index_uuid: index.uuid.to_string(),
                        shard: number,
                        reason: format!("{}: {}", error.kind, error.reason),
                    });
                    (Stage::Failed, ShardFigures::default())
                }
            };
            running.change(&index.name, number as usize, |progress| {
                (progress.stage, progress.figures) = (stage, copied);
                (progress.copied_file_count, progress.copied_bytes) =
                    (copied.new_file_count, copied.new_bytes);
            });
            figures.push(copied);
        }
        let meta = self.environment.uuid();
        repository.write(&index_name(&index.uuid, &meta), &body)?;
        Ok((IndexEntry { id: index.uuid.to_string(), meta, shards }, failures, figures))
    }

    fn transfer<'a>(&'a self, running: &'a Running) -> Transfer<'a> {
        Transfer {
            repository: &running.repository.name,
            blobs: running.repository.blobs(),
            ledger: &self.ledger,
            clock: &*self.environment.clock,
            throttle: &running.repository.opened.snapshot_rate,
            cancelled: &running.cancelled,
        }
    }

    /// Copies a shard. Returns the UUID of its manifest, and statistics. `body` gets the mappings that the
    /// shard's documents need.
    fn copy_shard(
        &self,
        running: &Running,
        root: &Root,
        index: &IndexMetadata,
        number: u32,
        body: &mut IndexBody,
    ) -> Result<(String, ShardFigures)> {
        let (start_ms, start) = (self.now_millis(), self.environment.clock.monotonic_nanos());
        let transfer = self.transfer(running);
        transfer.check_cancelled()?;
        let commit = self.commit_of(index, number)?;
        self.note_growth(index, body);
        let repository = &*running.repository;
        let place = ShardPlace { index_id: &index.uuid, shard: number as usize };
        let known = known(repository, root, place)?;
        // The commit itself counts as a file, which the manifest contains.
        let commit_bytes = serde_json::to_string(&commit.point).map_or(0, |text| text.len() as u64);
        let mut figures = ShardFigures {
            file_count: 1 + commit.files.len() as u64,
            bytes: commit_bytes + commit.files.iter().map(|file| file.bytes).sum::<u64>(),
            segment_count: commit.point.segments.len() as u64,
            start_ms,
            ..ShardFigures::default()
        };
        let done_ms = || (self.environment.clock.monotonic_nanos().saturating_sub(start)) / 1_000_000;
        let find = |file: &CommitFile| known.find(place, &commit.point.history, file);
        if let Some((uuid, manifest)) = &known.manifest
            && manifest.commit == commit.point
            && commit.files.iter().all(|file| find(file).is_some())
        {
            figures.time_ms = done_ms();
            return Ok((uuid.clone(), figures));
        }
        let is_new = |file: &&CommitFile| find(file).is_none();
        figures.new_file_count = 1 + commit.files.iter().filter(is_new).count() as u64;
        figures.new_bytes =
            commit_bytes + commit.files.iter().filter(is_new).map(|file| file.bytes).sum::<u64>();
        running.change(&index.name, place.shard, |progress| progress.figures = figures);
        let part_bytes = part_bytes(&self.ledger, repository.opened.chunk_bytes);
        let mut files = Vec::with_capacity(commit.files.len());
        for file in &commit.files {
            if let Some(there) = find(file) {
                files.push(there.clone());
                continue;
            }
            let blob = self.environment.uuid();
            files.push(transfer.upload(&*commit.directory, file, place, blob, part_bytes)?);
            running.change(&index.name, place.shard, |progress| {
                progress.copied_file_count += 1;
                progress.copied_bytes += file.bytes;
            });
        }
        let manifest = Manifest { commit: commit.point.clone(), files };
        let uuid = self.environment.uuid();
        repository.write(&manifest_name(place.index_id, place.shard, &uuid), &manifest)?;
        figures.time_ms = done_ms();
        Ok((uuid, figures))
    }

    /// Notes the mappings that an index has now. A commit may have fields that were not mapped yet when the
    /// snapshot began, and without their mappings they could neither be searched nor merged.
    fn note_growth(&self, index: &IndexMetadata, body: &mut IndexBody) {
        let catalog = self.catalog.load();
        if let Some(now) = catalog.indices.get(&index.name).filter(|now| now.uuid == index.uuid) {
            (body.mappings, body.settings) = ((*now.mappings).clone(), now.settings.clone());
        }
    }

    fn commit_of(&self, index: &IndexMetadata, number: u32) -> Result<PinnedCommit> {
        check_is_readable(index)?;
        if index.open {
            return self.live(index)?.shard(number)?.pin_commit();
        }
        // Shards are opened and closed under this lock. Those of a closed index may not be closed yet, or
        // open again.
        let _opening = self.names.lock(&index.uuid);
        if let Some(live) = self.live.load().get(&index.uuid).cloned() {
            return live.shard(number)?.pin_commit();
        }
        let folder = self.environment.folder(&shard_folder(&index.uuid, number));
        commit_of_closed(folder.map_err(|error| store_error(&error))?)
    }

    /// Returns the indices with shards that cannot be copied now.
    pub(super) fn with_missing_shards(&self, indices: &[Arc<IndexMetadata>]) -> Vec<String> {
        let is_missing = |index: &&Arc<IndexMetadata>| {
            if check_is_readable(index).is_err() {
                return true;
            }
            let live = index.open.then(|| self.live(index));
            live.is_some_and(|live| {
                live.map_or(true, |live| !live.shards.iter().all(|shard| shard.is_started()))
            })
        };
        indices.iter().filter(is_missing).map(|index| index.name.to_string()).collect()
    }
}

fn known(repository: &Repository, root: &Root, place: ShardPlace<'_>) -> Result<Known> {
    let entries = root.snapshots.iter().rev().flat_map(|snapshot| snapshot.indices.values());
    let uuid = entries
        .filter(|index| index.id == place.index_id)
        .find_map(|index| index.shards.get(place.shard).cloned().flatten());
    let Some(uuid) = uuid else { return Ok(Known { manifest: None, blobs: HashMap::new() }) };
    let listed = repository.blobs().list(&blob_folder(place.index_id, place.shard));
    let listed = listed.map_err(|error| storage_error(&repository.name, &error))?;
    let name = manifest_name(place.index_id, place.shard, &uuid);
    // A lost or damaged manifest makes only its own snapshot unusable. Later snapshots copy everything again.
    let manifest = match repository.read::<Manifest>(&name) {
        Ok(manifest) => Some((uuid, manifest)),
        Err(error) if error.kind == "repository_exception" => {
            tracing::warn!(repository = %repository.name, %error, "a shard is copied as a whole");
            None
        }
        Err(error) => return Err(error),
    };
    Ok(Known { manifest, blobs: listed.into_iter().map(|blob| (blob.name, blob.bytes)).collect() })
}

fn body_of(index: &IndexMetadata) -> IndexBody {
    IndexBody {
        name: index.name.to_string(),
        creation_date_ms: index.creation_date_ms,
        version_created: index.version_created.clone(),
        number_of_shards: index.typed.number_of_shards,
        settings: index.settings.clone(),
        mappings: (*index.mappings).clone(),
        aliases: index.aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect(),
        rollover_info: index.rollover_info.clone(),
        lifecycle: index.lifecycle.clone().with_author(serde_json::Value::Null).to_json(),
    }
}

/// Returns the ids of the indices in these snapshots.
pub(super) fn index_ids<'s>(
    snapshots: impl Iterator<Item = &'s crate::snapshot::format::Entry>,
) -> std::collections::BTreeSet<String> {
    let ids: HashSet<&String> =
        snapshots.flat_map(|snapshot| snapshot.indices.values().map(|index| &index.id)).collect();
    ids.into_iter().cloned().collect()
}
