//! One registered repository. Its root is replaced by compare-and-set.

use std::sync::Arc;

use limber_mapping::tree_bytes;
use limber_store::repository::{Blobs, too_large};
use limber_store::sync::Mutex;
use limber_store::{Charge, Ledger};
use limber_work as work;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::definition::Opened;
use super::errors::{concurrent_modification, repository_error, storage_error, verification_error};
use super::format::{
    GENERATIONS, JSON_BYTES_MAX, LINEAGE_MAX, Root, VERIFY, generation_name, generation_of, json_bytes,
    json_of, seal,
};
use crate::api::Result;
use crate::environment::Environment;

/// How often a reader tries again if the root it found was replaced before it could be read.
const READ_TRIES: u32 = 10;

/// A repository as this node uses it. Replaced when its definition changes.
pub(crate) struct Repository {
    pub name: Arc<str>,
    pub opened: Opened,
    pub ledger: Ledger,
    /// Held during a change, so that this node makes one at a time.
    pub writing: Mutex<()>,
    /// The UUID that was last read, for `GET _snapshot`.
    pub uuid: Mutex<Option<String>>,
}

impl Repository {
    pub(crate) fn new(name: &str, opened: Opened, ledger: Ledger) -> Repository {
        Repository { name: name.into(), opened, ledger, writing: Mutex::new(()), uuid: Mutex::new(None) }
    }

    pub(crate) fn blobs(&self) -> &dyn Blobs {
        &*self.opened.blobs
    }

    /// Reads and verifies a metadata blob. Anybody with access to the storage may have written it.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let (blob, charge) = self.blob(name)?.ok_or_else(|| self.missing(name))?;
        self.parse(name, blob, charge)
    }

    /// Reads a blob, whose memory is charged before it is allocated; `None` if it does not exist.
    fn blob(&self, name: &str) -> Result<Option<(Vec<u8>, Charge)>> {
        let failed = |error: limber_store::Error| storage_error(&self.name, &error);
        let mut charge = self.ledger.request.charge(0, "snapshot metadata").map_err(failed)?;
        let read = self.blobs().get_if(name, &mut |bytes| match bytes > JSON_BYTES_MAX {
            true => Err(too_large(self.blobs().place(), name, bytes, JSON_BYTES_MAX)),
            false => charge.grow(bytes, "snapshot metadata"),
        });
        match read {
            Ok(blob) => Ok(Some((blob, charge))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn missing(&self, name: &str) -> limber_mapping::RequestError {
        repository_error(&self.name, format!("[{name}] is missing"))
    }

    /// Parses a blob. Its JSON and the tree of it are charged before they are allocated: the tree may take
    /// fifty times as much as the text. The value stays with the request, which measures it.
    fn parse<T: DeserializeOwned>(&self, name: &str, blob: Vec<u8>, mut charge: Charge) -> Result<T> {
        let damaged = |why: String| self.damaged(name, &why);
        let mut grow = |bytes: u64| {
            let grown = charge.grow(bytes, "snapshot metadata");
            grown.map_err(|error| storage_error(&self.name, &error))
        };
        grow(json_bytes(&blob).map_err(damaged)?)?;
        let json = json_of(blob).map_err(damaged)?;
        grow(tree_bytes(&json))?;
        let value = serde_json::from_slice(&json).map_err(|error| damaged(error.to_string()))?;
        drop(json);
        drop(charge);
        // From here on the value counts among what the request holds.
        work::check_beyond_deadline()?;
        Ok(value)
    }

    fn damaged(&self, name: &str, why: &str) -> limber_mapping::RequestError {
        repository_error(&self.name, format!("[{name}] is damaged: {why}"))
    }

    /// Writes a metadata blob under a name that no other writer uses.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let blob = self.seal(value)?;
        self.blobs().put_if_absent(name, blob).map(drop).map_err(|error| storage_error(&self.name, &error))
    }

    fn seal(&self, value: &impl Serialize) -> Result<Vec<u8>> {
        seal(value, self.opened.compress).map_err(|why| repository_error(&self.name, why))
    }

    fn generations(&self) -> Result<Vec<u64>> {
        let listed = self.blobs().list(GENERATIONS).map_err(|error| storage_error(&self.name, &error))?;
        Ok(listed.iter().filter_map(|blob| generation_of(&blob.name)).collect())
    }

    /// Reads the root; an empty repository has no snapshots.
    pub(crate) fn root(&self) -> Result<Root> {
        for _ in 0..READ_TRIES {
            let Some(newest) = self.generations()?.into_iter().max() else { return Ok(Root::default()) };
            let name = generation_name(newest);
            // None: the root was replaced since it was listed.
            let Some((blob, charge)) = self.blob(&name)? else { continue };
            let root: Root = self.parse(&name, blob, charge)?;
            if root.generation != newest {
                return Err(
                    self.damaged(&name, &format!("it says that it is generation [{}]", root.generation))
                );
            }
            *self.uuid.lock() = Some(root.uuid.clone());
            return Ok(root);
        }
        Err(concurrent_modification(&self.name, "its root changes faster than it can be read"))
    }

    /// Replaces the root by `next`, which was made from it and still has its generation. Called with
    /// `writing` held.
    ///
    /// After `Ok`, every reader sees the snapshots in `next`, and blobs that it does not need may be deleted.
    /// After an error nothing may be deleted: another writer may have been first, or the response to this
    /// write was lost.
    pub(crate) fn publish(&self, mut next: Root, environment: &Environment, node_id: &str) -> Result<()> {
        if next.uuid.is_empty() {
            next.uuid = environment.uuid();
        }
        next.generation += 1;
        next.writer = node_id.to_owned();
        let write = environment.uuid();
        next.lineage.insert(0, write.clone());
        next.lineage.truncate(LINEAGE_MAX);
        let name = generation_name(next.generation);
        let blob = self.seal(&next)?;
        let put = self.blobs().put_if_absent(&name, blob.clone());
        if !matches!(put, Ok(true)) {
            self.check_is_ours(&name, &blob, &write, put.err())?;
        }
        let generations = self.generations()?;
        if generations.iter().any(|generation| *generation > next.generation) {
            return self.check_is_built_upon(&name, &write);
        }
        *self.uuid.lock() = Some(next.uuid);
        for old in generations.into_iter().filter(|generation| *generation < next.generation) {
            if let Err(error) = self.blobs().delete(&generation_name(old)) {
                tracing::warn!(repository = %self.name, %error, "an old root is left to the next cleanup");
            }
        }
        Ok(())
    }

    /// Checks whether the root of this generation, which could not be written or already existed, is
    /// nevertheless the one of this write.
    fn check_is_ours(
        &self,
        name: &str,
        ours: &[u8],
        write: &str,
        failure: Option<limber_store::Error>,
    ) -> Result<()> {
        match (self.blob(name), failure) {
            (Ok(Some((found, _))), Some(failure)) if found == ours && !self.blobs().may_lose_answers() => {
                Err(storage_error(&self.name, &failure))
            }
            (Ok(Some((found, _))), _) if found == ours => Ok(()),
            (Ok(Some((found, charge))), _) => {
                let root = self.parse::<Root>(name, found, charge);
                let writer = root.map_or_else(|_| "another".into(), |root| root.writer);
                let why =
                    format!("[{name}] was written by node [{writer}]; nothing of this operation counts");
                Err(concurrent_modification(&self.name, why))
            }
            // The write never arrived, or other writers have already replaced it.
            (Ok(None), failure) => self.check_is_built_upon(name, write).map_err(|stale| match failure {
                Some(failure) => storage_error(&self.name, &failure),
                None => stale,
            }),
            (Err(_), Some(failure)) => Err(storage_error(&self.name, &failure)),
            (Err(error), None) => Err(error),
        }
    }

    /// Checks that the newest root is based on this node's write with the id `write`. If not, the write came
    /// too late: a delayed writer can create a generation again that others have long replaced and deleted,
    /// and this has no effect.
    fn check_is_built_upon(&self, name: &str, write: &str) -> Result<()> {
        let newest = self.root()?;
        if newest.lineage.iter().any(|other| other == write) {
            return Ok(());
        }
        let why = format!(
            "node [{}] has written generation [{}] before [{name}]; nothing of this operation counts",
            newest.writer, newest.generation
        );
        Err(concurrent_modification(&self.name, why))
    }

    /// Fails when the repository is read-only.
    pub(crate) fn check_writable(&self, why: &str) -> Result<()> {
        match self.opened.readonly {
            true => Err(repository_error(&self.name, why)),
            false => Ok(()),
        }
    }

    /// Checks that a blob can be written, read, listed and deleted. In a read-only repository only the root
    /// is read.
    pub(crate) fn verify(&self, environment: &Environment) -> Result<()> {
        let failed = |error: limber_store::Error| {
            verification_error(
                &self.name,
                format!("path [{}] is not accessible on master node", self.blobs().place()),
            )
            .caused_by(storage_error(&self.name, &error))
        };
        if self.opened.readonly {
            return self.root().map(drop);
        }
        let name = format!("{VERIFY}/{}", environment.uuid());
        let mut bytes = vec![0; 32];
        environment.randomness.fill(&mut bytes);
        let is_new = self.blobs().put_if_absent(&name, bytes.clone()).map_err(failed)?;
        let found = self.blobs().get(&name, 64).map_err(failed)?;
        let is_new_again = self.blobs().put_if_absent(&name, bytes.clone()).map_err(failed)?;
        let is_listed = self.blobs().list(VERIFY).map_err(failed)?.iter().any(|blob| blob.name == name);
        self.blobs().delete(&name).map_err(failed)?;
        if !is_new || found != bytes || !is_listed {
            return Err(verification_error(&self.name, "a blob is not what was written, or is not listed"));
        }
        if is_new_again {
            return Err(verification_error(
                &self.name,
                "its storage overwrites blobs that are there already, so that two nodes would overwrite each other",
            ));
        }
        self.root().map(drop)
    }
}
