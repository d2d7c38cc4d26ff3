//! The metadata file of each index, `indices/<uuid>/index.json`: "what is in it, and who may change it?"
//!
//! A change of one index alone is one replacement of its own file, under the lock of that file; it waits for
//! nothing else. See [`crate::node::kept_state::changes`] for changes that span indices, and for the order of
//! the locks.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use limber_mapping::RequestError;
use limber_store::Directory;
use limber_store::sync::{Mutex, MutexGuard};

use super::live::index_folder;
use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::catalog::names::index_not_found;
use crate::node::Node;
use crate::shard::disk_error;
use limber_store::directory::{Replaced, replace};

/// Metadata of an index, in its folder.
pub(crate) const METADATA_NAME: &str = "index.json";

/// One file; whoever holds the lock is the only one to change the index's metadata.
pub(in crate::node) struct IndexFile {
    pub uuid: Arc<str>,
    durable: Arc<AtomicU64>,
    written: Mutex<Written>,
}

/// What is known of the content.
#[derive(Debug)]
pub(in crate::node) struct Written {
    /// The version that is durably there; 0 where there is no file yet.
    durable: Arc<AtomicU64>,
    /// The highest version that any write may have left anywhere: new ones are higher, so that equal versions
    /// mean equal contents.
    tried: u64,
    /// A write failed on its way, and the file may have what nobody was told.
    doubt: Option<RequestError>,
}

impl Written {
    pub(in crate::node) fn next_version(&mut self, current: &IndexMetadata) -> u64 {
        self.tried = self.tried.max(current.version) + 1;
        self.tried
    }

    pub(in crate::node) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    fn is_durable(&mut self, version: u64) {
        self.durable.store(version, Ordering::Release);
        self.doubt = None;
    }
}

impl IndexFile {
    /// The version that is durably in the file, as far as is known without waiting for its lock.
    pub(in crate::node) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    pub(in crate::node) fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock()
    }

    /// `None`: somebody has it.
    pub(in crate::node) fn try_lock(&self) -> Option<MutexGuard<'_, Written>> {
        self.written.try_lock()
    }
}

/// The files of all indices, by uuid.
#[derive(Default)]
pub(in crate::node) struct IndexFiles {
    files: Mutex<HashMap<Arc<str>, Arc<IndexFile>>>,
}

impl IndexFiles {
    /// `durable`: the version in the file, 0 where there is none; `tried`: the highest one known.
    pub(in crate::node) fn add(&self, uuid: &Arc<str>, durable: u64, tried: u64) {
        let durable = Arc::new(AtomicU64::new(durable));
        let written = Mutex::new(Written { durable: durable.clone(), tried, doubt: None });
        self.files.lock().insert(uuid.clone(), Arc::new(IndexFile { uuid: uuid.clone(), durable, written }));
    }

    pub(in crate::node) fn remove(&self, uuid: &str) {
        self.files.lock().remove(uuid);
    }

    pub(in crate::node) fn get(&self, uuid: &str) -> Option<Arc<IndexFile>> {
        self.files.lock().get(uuid).cloned()
    }
}

impl Node {
    /// Changes the metadata of one index alone: neither its aliases nor whether it exists. `change` sees it
    /// under its lock and answers `None` where nothing is to be done.
    ///
    /// # Errors
    /// `NotFound` for an index that is gone; its metadata is damaged; the disk. Nothing has changed then.
    pub(in crate::node) fn change_index(
        &self,
        name: &str,
        uuid: &str,
        change: impl FnOnce(&IndexMetadata) -> Result<Option<IndexMetadata>>,
    ) -> Result<()> {
        self.change_index_with(name, uuid, |current| Ok((change(current)?, ())), |()| {})
    }

    /// As [`Node::change_index`]; `done` gets what `change` made beside the metadata, still under the lock.
    pub(in crate::node) fn change_index_with<T>(
        &self,
        name: &str,
        uuid: &str,
        change: impl FnOnce(&IndexMetadata) -> Result<(Option<IndexMetadata>, T)>,
        done: impl FnOnce(T),
    ) -> Result<()> {
        let file = self.index_files.get(uuid).ok_or_else(|| index_not_found(name))?;
        let mut written = file.lock();
        let current = self.current(name, uuid)?;
        let (next, made) = change(&current)?;
        if let Some(next) = next {
            self.write_index(&mut written, &current, next)?;
        }
        done(made);
        Ok(())
    }

    /// The metadata of an index as it is now.
    fn current(&self, name: &str, uuid: &str) -> Result<Arc<IndexMetadata>> {
        let catalog = self.catalog.load();
        let current = catalog.indices.get(name).filter(|current| *current.uuid == *uuid);
        current.cloned().ok_or_else(|| index_not_found(name))
    }

    /// Writes and publishes changed metadata. Called with the index's lock held.
    pub(in crate::node) fn write_index(
        &self,
        written: &mut Written,
        current: &IndexMetadata,
        mut next: IndexMetadata,
    ) -> Result<()> {
        check_is_readable(current)?;
        // What the node's state has of this index may be more than is known here.
        self.settle_state()?;
        self.settle_index(written, current)?;
        next.version = written.next_version(current);
        self.kept.keep(&next.uuid, next.to_bytes().len())?;
        match self.replace_index_file(&next) {
            Replaced::Done => {
                written.is_durable(next.version);
                self.publish_index(next);
                Ok(())
            }
            Replaced::Untouched(error) => Err(self.refused_by_disk(&error, &current.name)),
            Replaced::Unknown(error) => {
                let error = self.refused_by_disk(&error, &current.name);
                written.doubt = Some(error.clone());
                // The change is refused, so it is taken back before anybody is told; later changes try again
                // where that fails.
                if let Err(still) = self.settle_index(written, current) {
                    tracing::error!(index = %current.name, error = %still, "metadata of an index is in doubt");
                }
                Err(error)
            }
        }
    }

    /// Makes the file say what is known here again, after a write whose outcome is unknown.
    fn settle_index(&self, written: &mut Written, current: &IndexMetadata) -> Result<()> {
        let Some(doubt) = &written.doubt else { return Ok(()) };
        let doubt = doubt.clone();
        let mut again = current.clone();
        again.version = written.next_version(current);
        match self.replace_index_file(&again) {
            Replaced::Done => {
                written.is_durable(again.version);
                self.publish_index(again);
                Ok(())
            }
            Replaced::Untouched(_) | Replaced::Unknown(_) => Err(RequestError::unavailable("illegal_state_exception",
                format!(
                    "the metadata of index [{}] does not change until its file can be written again after a failure",
                    current.name
                ),
            )
            .caused_by(doubt)),
        }
    }

    /// Writes what the node's state holds of an index to its own file, where that is out of date. Failures
    /// are met again by the next round.
    pub(in crate::node) fn catch_up(&self, name: &str, uuid: &str) {
        let Some(file) = self.index_files.get(uuid) else { return };
        let mut written = file.lock();
        let Ok(current) = self.current(name, uuid) else { return };
        if current.damage.is_some() {
            return;
        }
        if written.doubt.is_some() {
            let _ = self.settle_index(&mut written, &current);
        }
        // While the state is in doubt nothing is written that might complete half of a change.
        if written.durable() >= current.version || self.is_state_in_doubt() {
            return;
        }
        match self.replace_index_file(&current) {
            Replaced::Done => written.is_durable(current.version),
            // Both the old and the new file are good: the node's state has what the old one lacks.
            Replaced::Untouched(error) | Replaced::Unknown(error) => {
                tracing::warn!(index = name, %error, "the file of an index is not up to date yet");
            }
        }
    }

    fn replace_index_file(&self, metadata: &IndexMetadata) -> Replaced {
        match self.environment.folder(&index_folder(&metadata.uuid)) {
            Ok(directory) => replace(&*directory, METADATA_NAME, &metadata.to_bytes()),
            Err(error) => Replaced::Untouched(error),
        }
    }

    pub(in crate::node) fn refused_by_disk(&self, error: &limber_store::Error, index: &str) -> RequestError {
        if error.is_disk_full() {
            self.note_full_disk();
        }
        disk_error(error, index)
    }
}

/// An index whose metadata could not be read cannot be changed.
pub(in crate::node) fn check_is_readable(index: &IndexMetadata) -> Result<()> {
    match &index.damage {
        None => Ok(()),
        Some(why) => Err(unreadable(index, why)),
    }
}

/// What requests of an index are answered whose metadata could not be read.
pub(in crate::node) fn unreadable(index: &IndexMetadata, why: &RequestError) -> RequestError {
    let reason = format!("the metadata of index [{}] cannot be read", index.name);
    RequestError::unavailable("no_shard_available_action_exception", reason).caused_by(why.clone())
}

/// Reads the file in an index's folder; `None`: there is none.
pub(crate) fn read_index_file(directory: &dyn Directory, uuid: &str) -> Result<Option<IndexMetadata>> {
    let file = format!("{}/{METADATA_NAME}", index_folder(uuid));
    let failed = |error: limber_store::Error| {
        RequestError::internal("i_o_exception", format!("[{file}] cannot be read: {error}"))
    };
    if !directory.exists(METADATA_NAME).map_err(failed)? {
        return Ok(None);
    }
    let metadata = IndexMetadata::from_bytes(&directory.open(METADATA_NAME).map_err(failed)?, &file)?;
    if *metadata.uuid != *uuid {
        let what = format!("it is of the index [{}/{}]", metadata.name, metadata.uuid);
        return Err(crate::checked_file::damaged(&file, &what));
    }
    Ok(Some(metadata))
}
