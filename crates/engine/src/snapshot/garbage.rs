//! Finds and deletes blobs that no snapshot needs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use limber_store::repository::Blob;

use super::errors::storage_error;
use super::format::{
    GENERATIONS, INDICES, Manifest, Root, SNAPSHOTS, data_name, index_folder, index_name, manifest_name,
    shard_folder, snapshot_name,
};
use super::repository::Repository;
use crate::api::Result;

/// What was deleted.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Deleted {
    pub blobs: u64,
    pub bytes: u64,
}

impl Repository {
    /// Lists the blobs that would be garbage if `next` were the root. It is called before the root is
    /// written, and the blobs are deleted afterwards. Only folders of `indices` are listed; `None` means
    /// everything.
    pub(crate) fn garbage(&self, next: &Root, indices: Option<&BTreeSet<String>>) -> Result<Vec<Blob>> {
        let mut listed = Vec::new();
        let folders: Vec<String> = match indices {
            None => vec![String::new()],
            Some(ids) => ids.iter().map(|id| index_folder(id)).chain([SNAPSHOTS.to_owned()]).collect(),
        };
        for folder in folders {
            listed.extend(self.blobs().list(&folder).map_err(|error| storage_error(&self.name, &error))?);
        }
        let (needed, unknown) = self.needed(next, indices);
        listed.retain(|blob| {
            let is_unknown = || unknown.iter().any(|folder| blob.name.starts_with(folder));
            is_deletable(&blob.name) && !needed.contains(&blob.name) && !is_unknown()
        });
        Ok(listed)
    }

    /// Returns the names of all blobs that the snapshots of a root need, and the folders of shards for which
    /// this is unknown: an unreadable manifest is never a reason to delete.
    fn needed(&self, root: &Root, indices: Option<&BTreeSet<String>>) -> (HashSet<String>, Vec<String>) {
        let (mut needed, mut unknown) = (HashSet::new(), Vec::new());
        // Snapshots share manifests, and each is read only once.
        let mut manifests: BTreeMap<String, (&str, usize)> = BTreeMap::new();
        for snapshot in &root.snapshots {
            needed.insert(snapshot_name(&snapshot.uuid));
            for index in snapshot.indices.values() {
                needed.insert(index_name(&index.id, &index.meta));
                if indices.is_some_and(|ids| !ids.contains(&index.id)) {
                    continue;
                }
                for (shard, uuid) in index.shards.iter().enumerate() {
                    if let Some(uuid) = uuid {
                        manifests.insert(manifest_name(&index.id, shard, uuid), (&index.id, shard));
                    }
                }
            }
        }
        for (name, (id, shard)) in manifests {
            match self.read::<Manifest>(&name) {
                Ok(manifest) => {
                    for file in &manifest.files {
                        needed
                            .extend((0..file.parts.len()).map(|part| data_name(id, shard, &file.blob, part)));
                    }
                }
                Err(error) => {
                    tracing::warn!(repository = %self.name, %error, "nothing of this shard is deleted");
                    unknown.push(format!("{}/", shard_folder(id, shard)));
                }
            }
            needed.insert(name);
        }
        (needed, unknown)
    }

    /// Deletes blobs. Those that cannot be deleted are left to the next cleanup.
    pub(crate) fn sweep(&self, garbage: &[Blob]) -> Deleted {
        let mut deleted = Deleted::default();
        for blob in garbage {
            match self.blobs().delete(&blob.name) {
                Ok(()) => {
                    deleted.blobs += 1;
                    deleted.bytes += blob.bytes;
                }
                Err(error) => {
                    tracing::warn!(repository = %self.name, %error, "a blob is left to the next cleanup");
                }
            }
        }
        deleted
    }
}

/// Whether a blob may be deleted. A folder may contain files of others, so only names that Limber writes
/// qualify. Roots are deleted by the writer of the next one, except those that a crash has left incomplete.
fn is_deletable(name: &str) -> bool {
    match name.split_once('/') {
        Some((INDICES | SNAPSHOTS, _)) => true,
        Some((GENERATIONS, rest)) => rest.starts_with("pending-"),
        _ => false,
    }
}
