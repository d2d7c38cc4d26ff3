//! Blobs that no snapshot needs.

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
    /// What would be garbage once `next` is the root; to be called before it is written, and to be deleted
    /// after. `indices`: only folders of these are looked at; `None`: everything there is.
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

    /// Names of all blobs of the snapshots of a root, and folders of shards of which it cannot be told: what
    /// cannot be read is never a reason to delete.
    fn needed(&self, root: &Root, indices: Option<&BTreeSet<String>>) -> (HashSet<String>, Vec<String>) {
        let (mut needed, mut unknown) = (HashSet::new(), Vec::new());
        // Snapshots share manifests; each is read once.
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

    /// Deletes blobs; those that do not go are left to the next cleanup.
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

/// Only what a Limber node writes there is ever deleted: a folder may hold other people's files. Roots are
/// left to whoever writes the next one, apart from those that a crash has left half written.
fn is_deletable(name: &str) -> bool {
    match name.split_once('/') {
        Some((INDICES | SNAPSHOTS, _)) => true,
        Some((GENERATIONS, rest)) => rest.starts_with("pending-"),
        _ => false,
    }
}
