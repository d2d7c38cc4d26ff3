//! The metadata file of each index, `indices/<uuid>/index.json`: "what does it contain, and who may change
//! it?"
//!
//! A change of a single index replaces its file once, under the lock of that file, and waits for nothing
//! else. See [`crate::node::kept_state::changes`] for changes that span indices, and for the order of the
//! locks.

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

/// Name of the file with an index's metadata, in the index's folder.
pub(crate) const METADATA_NAME: &str = "index.json";

/// One file. Only the holder of its lock may change the index's metadata.
pub(in crate::node) struct IndexFile {
    pub uuid: Arc<str>,
    durable: Arc<AtomicU64>,
    written: Mutex<Written>,
}

/// What is known of the file's content.
#[derive(Debug)]
pub(in crate::node) struct Written {
    /// The version that is durable in the file; 0 when there is no file yet.
    durable: Arc<AtomicU64>,
    /// The highest version that any write may have stored anywhere. New versions are higher, so that equal
    /// versions mean equal contents.
    tried: u64,
    /// The error of a write that failed midway. The file may then contain a change that was never published.
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

    /// Notes the version in a file that could not be read before, and the highest version known. The file
    /// stays the one that other threads wait for.
    pub(in crate::node) fn was_read(&mut self, durable: u64, tried: u64) {
        self.tried = self.tried.max(tried);
        self.is_durable(durable);
    }

    fn is_durable(&mut self, version: u64) {
        self.durable.store(version, Ordering::Release);
        self.doubt = None;
    }
}

impl IndexFile {
    /// Returns the version that is durable in the file, as far as known without waiting for its lock.
    pub(in crate::node) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    pub(in crate::node) fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock()
    }

    /// Tries to lock the file; `None` when another thread holds the lock.
    pub(in crate::node) fn try_lock(&self) -> Option<MutexGuard<'_, Written>> {
        self.written.try_lock()
    }
}

/// The files of all indices, by UUID.
#[derive(Default)]
pub(in crate::node) struct IndexFiles {
    files: Mutex<HashMap<Arc<str>, Arc<IndexFile>>>,
}

impl IndexFiles {
    /// Adds the file of an index. `durable` is the version in the file (0 when there is none), `tried` the
    /// highest version known.
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
    /// Changes the metadata of a single index, but neither its aliases nor whether it exists. `change` is
    /// called under the lock and returns `None` when there is nothing to do.
    ///
    /// # Errors
    /// `NotFound` when the index is gone. Fails too when its metadata is damaged or the disk fails. Nothing
    /// has changed then.
    pub(in crate::node) fn change_index(
        &self,
        name: &str,
        uuid: &str,
        change: impl FnOnce(&IndexMetadata) -> Result<Option<IndexMetadata>>,
    ) -> Result<()> {
        self.change_index_with(name, uuid, |current| Ok((change(current)?, ())), |()| {})
    }

    /// Works like [`Node::change_index`]. `done` receives the second value that `change` returned, still
    /// under the lock.
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

    /// Returns the current metadata of an index.
    pub(in crate::node) fn current(&self, name: &str, uuid: &str) -> Result<Arc<IndexMetadata>> {
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
        // The state on disk may hold newer metadata of this index than is known here.
        self.settle_state()?;
        self.settle_index(written, current)?;
        next.version = written.next_version(current);
        self.kept.keep_index(&next)?;
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
                // The change is refused, so it is undone before the caller learns of it. If that fails, later
                // changes try again.
                if let Err(still) = self.settle_index(written, current) {
                    tracing::error!(index = %current.name, error = %still, "metadata of an index is in doubt");
                }
                Err(error)
            }
        }
    }

    /// Makes the file contain the known metadata again, after a write whose outcome is unknown.
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

    /// Writes the metadata that the node's state holds to the index's own file if that is out of date. The
    /// next round repeats what fails.
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
        // While the state is in doubt, nothing may be written that could complete half of a change.
        if written.durable() >= current.version || self.is_state_in_doubt() {
            return;
        }
        match self.replace_index_file(&current) {
            Replaced::Done => written.is_durable(current.version),
            // Both the old and the new file are good, because the node's state has what the old one lacks.
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

/// Checks that the metadata of an index could be read. Otherwise the index cannot be changed.
pub(in crate::node) fn check_is_readable(index: &IndexMetadata) -> Result<()> {
    match &index.damage {
        None => Ok(()),
        Some(why) => Err(unreadable(index, why)),
    }
}

/// Makes the error for requests to an index whose metadata could not be read.
pub(in crate::node) fn unreadable(index: &IndexMetadata, why: &RequestError) -> RequestError {
    let reason = format!("the metadata of index [{}] cannot be read", index.name);
    RequestError::unavailable("no_shard_available_action_exception", reason).caused_by(why.clone())
}

/// Reads the metadata file in an index's folder; `None` when there is none.
pub(crate) fn read_index_file(directory: &dyn Directory, uuid: &str) -> Result<Option<IndexMetadata>> {
    let file = format!("{}/{METADATA_NAME}", index_folder(uuid));
    let failed = |error: limber_store::Error| {
        RequestError::internal("i_o_exception", format!("[{file}] cannot be read: {error}"))
    };
    if !directory.exists(METADATA_NAME).map_err(failed)? {
        return Ok(None);
    }
    let metadata = IndexMetadata::from_bytes(&directory.read_whole(METADATA_NAME).map_err(failed)?, &file)?;
    if *metadata.uuid != *uuid {
        let what = format!("it is of the index [{}/{}]", metadata.name, metadata.uuid);
        return Err(crate::checked_file::damaged(&file, &what));
    }
    Ok(Some(metadata))
}
