//! Recovery at the start: "which indices exist, and what are the folders that are not listed?"
//!
//! Data that cannot be read is never deleted. A listed index whose metadata cannot be read stays listed and
//! reports why (red); the others serve. A folder that is not listed is removed only when it has a tombstone,
//! or when it certainly has no metadata and therefore comes from an interrupted creation. All other folders
//! are set aside as dangling.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::Directory;

use super::open::LiveIndices;
use crate::api::Result;
use crate::catalog::{Alias, Catalog, IndexMetadata};
use crate::checked_file::damaged;
use crate::node::Node;
use crate::node::index::dangling::Dangling;
use crate::node::index::index_files::{METADATA_NAME, read_index_file};
use crate::node::index::live::{LiveIndex, index_folder};
use crate::node::kept_state::state::{BegunRollover, Listed, Newest, NodeState, Origin, Pending};
use crate::node::kept_state::state_file::AtStake;
use crate::shard::store_error;

/// The metadata of one listed index, and what is known of its file.
struct Read {
    metadata: IndexMetadata,
    /// The version in the file; 0 when there is no file.
    durable: u64,
}

impl Node {
    /// Reads the metadata of every index, and opens the open ones.
    ///
    /// # Errors
    /// Fails when the folder of all indices cannot be listed.
    pub(in crate::node) fn recover_indices(&self, origin: Origin) -> Result<()> {
        let changing = self.changing.lock();
        let mut state = (*self.state.load_full()).clone();
        let folders = self.environment.disk.folders("indices").map_err(|e| store_error(&e))?;
        let folders: HashSet<Arc<str>> = folders.into_iter().map(Arc::from).collect();
        if let Origin::Unlisted { .. } = origin {
            self.list_indices(&mut state, &folders);
        }
        let mut catalog = (*self.catalog.load_full()).clone();
        let mut dangling = BTreeMap::new();
        for (uuid, listed) in &state.indices {
            let read = match folders.contains(uuid) {
                true => self.read_listed(uuid, state.pending.get(uuid)),
                false => Err(damaged(&index_folder(uuid), "the folder is not there")),
            };
            let read = self.as_listed(uuid, listed, read)?;
            let metadata = Arc::new(read.metadata);
            if let Some(other) = catalog.indices.get(&metadata.name) {
                let why = format!("its name is that of index [{}/{}]", other.name, other.uuid);
                dangling.insert(uuid.clone(), Dangling::of(&metadata, &why));
                continue;
            }
            self.index_files.add(uuid, read.durable, metadata.version);
            self.kept.keep_index_always(&metadata);
            catalog.indices.insert(metadata.name.clone(), metadata);
        }
        state.indices.retain(|uuid, _| !dangling.contains_key(uuid));
        state.pending.retain(|uuid, _| !dangling.contains_key(uuid));
        for uuid in folders.iter().filter(|uuid| !state.indices.contains_key(*uuid)) {
            if !dangling.contains_key(uuid) {
                self.judge_unlisted(&state, uuid, &mut dangling);
            }
        }
        for uuid in state.tombstones.iter().filter(|uuid| !folders.contains(*uuid)) {
            self.buried.lock().insert(uuid.clone());
        }
        if let Origin::Unlisted { rollover } = origin {
            drop_missing_indices(&mut catalog, &state);
            let streams = catalog.data_streams.values();
            state.data_streams = streams.map(|stream| (stream.name.to_string(), stream.to_json())).collect();
            if let Some(begun) = rollover {
                finish_rollover(&begun, &mut catalog, &mut state);
            }
        }
        for index in catalog.indices.values().filter(|index| index.damage.is_none()) {
            state.indices.insert(index.uuid.clone(), Listed::of(index));
        }
        for (uuid, found) in &dangling {
            tracing::warn!(%uuid, name = found.name.as_deref(), reason = found.reason, "dangling index, see GET /_dangling");
        }
        *self.dangling.lock() = dangling;
        self.state.store(Arc::new(state));
        self.catalog.store(Arc::new(catalog.derive()));
        drop(changing);
        self.open_indices();
        Ok(())
    }

    /// Opens the shards of all open indices. Keeps the reason for an index that fails to open.
    fn open_indices(&self) {
        let mut live = LiveIndices::new();
        let catalog = self.catalog.load_full();
        for metadata in catalog.indices.values().filter(|index| index.open && index.damage.is_none()) {
            // The metadata is durable, so it cannot be refused any more.
            match limber_work::suspended(|| LiveIndex::open(metadata, &self.services())) {
                Ok(index) => drop(live.insert(metadata.uuid.clone(), Arc::new(index))),
                Err(error) => {
                    tracing::error!(index = %metadata.name, %error, "index does not open");
                    self.not_opened.lock().insert(metadata.uuid.clone(), error);
                }
            }
        }
        self.live.store(Arc::new(live));
    }

    /// Lists the indices of a node with version 1: every folder that has metadata or of which that is
    /// unknown.
    fn list_indices(&self, state: &mut NodeState, folders: &HashSet<Arc<str>>) {
        for uuid in folders.iter().filter(|uuid| !state.tombstones.contains(*uuid)) {
            let directory = self.environment.folder(&index_folder(uuid));
            if !matches!(directory.and_then(|directory| directory.exists(METADATA_NAME)), Ok(false)) {
                state.indices.insert(uuid.clone(), Listed { name: None, aliases: BTreeMap::new() });
            }
        }
    }

    /// Reads the newer metadata of an index: its own file, or what the state holds of it.
    fn read_listed(&self, uuid: &Arc<str>, pending: Option<&Pending>) -> Result<Read> {
        let folder = index_folder(uuid);
        let directory = self.environment.folder(&folder).map_err(|e| store_error(&e))?;
        let own = read_index_file(&*directory, uuid)?;
        // The process before may have ended between the rename of the file and the fsync of its name. What is
        // read counts as durable from here on.
        sync_names(&*directory)?;
        match Newest::of(own, pending) {
            Newest::Pending { pending, own_version } => {
                let metadata = IndexMetadata::from_json(&pending.metadata, &folder)?;
                Ok(Read { metadata, durable: own_version })
            }
            Newest::Own(own) => Ok(Read { durable: own.version, metadata: *own }),
            Newest::Lost | Newest::None => {
                Err(damaged(&format!("{folder}/{METADATA_NAME}"), "it is not there"))
            }
        }
    }

    /// Returns metadata that match what is listed, or metadata with the reason why they cannot be read.
    fn as_listed(&self, uuid: &Arc<str>, listed: &Listed, read: Result<Read>) -> Result<Read> {
        let error = match (read, &listed.name) {
            (Ok(read), Some(name)) if read.metadata.name != *name => {
                let what = format!("it is of index [{}], and [{name}] is listed", read.metadata.name);
                damaged(&format!("{}/{METADATA_NAME}", index_folder(uuid)), &what)
            }
            (Ok(read), _) => return Ok(read),
            (Err(error), _) => error,
        };
        // An index whose name was never read is listed under its UUID, which is not a valid index name.
        let name = listed.name.as_ref().unwrap_or(uuid);
        tracing::error!(index = %name, %uuid, %error, "the metadata of an index cannot be read");
        Ok(Read {
            metadata: IndexMetadata::unreadable(name, uuid, listed.aliases.clone(), error)?,
            durable: 0,
        })
    }

    /// Decides about a folder that the state does not list.
    fn judge_unlisted(
        &self,
        state: &NodeState,
        uuid: &Arc<str>,
        dangling: &mut BTreeMap<Arc<str>, Dangling>,
    ) {
        if state.tombstones.contains(uuid) {
            return self.remove_index_folder(uuid);
        }
        let read = self
            .environment
            .folder(&index_folder(uuid))
            .map_err(|e| store_error(&e))
            .and_then(|directory| read_index_file(&*directory, uuid));
        match read {
            Ok(None) if !state.set_aside.contains(uuid) => {
                tracing::info!(%uuid, "the folder of an index whose creation was cut short is removed");
                self.remove_index_folder(uuid);
            }
            read => drop(dangling.insert(uuid.clone(), Dangling::found(read))),
        }
    }

    /// Completes what changes that span indices left to do (the files of indices, the folders of deleted
    /// ones), and ends doubts.
    pub(in crate::node) fn metadata_round(&self) {
        if let Err(error) = self.settle_state() {
            tracing::debug!(%error, "the node's state is still in doubt");
            return;
        }
        self.security_round();
        let state = self.state.load_full();
        for (uuid, pending) in &state.pending {
            let is_behind = self.index_files.get(uuid).is_some_and(|file| file.durable() < pending.version());
            if let Some(name) = state.indices.get(uuid).and_then(|listed| listed.name.as_ref())
                && is_behind
            {
                self.catch_up(name, uuid);
            }
        }
        for uuid in &state.tombstones {
            let is_done = self.buried.lock().contains(uuid);
            if !is_done {
                self.remove_index_folder(uuid);
            }
        }
        let _changing = self.changing.lock();
        let state = self.state.load_full();
        // A copy of the whole state every second would cost an idle node more than anything else.
        if state.pending.is_empty() && state.tombstones.is_empty() && self.buried.lock().is_empty() {
            return;
        }
        let mut next = (*state).clone();
        if self.forget_what_is_done(&mut next)
            && let Err(error) = self.write_state(next, AtStake::default())
        {
            tracing::warn!(%error, "the node's state still holds what the files of indices have");
        }
    }

    /// Tries again where the disk had refused to read metadata or to open folders of indices. Damage is
    /// permanent and not tried again.
    pub(in crate::node) fn retry_indices(&self) {
        self.reread_indices();
        self.reopen_indices();
    }

    /// Opens the indices whose folders the disk had refused, and those that are not open because the thread
    /// that opened them has panicked.
    fn reopen_indices(&self) {
        let catalog = self.catalog.load_full();
        let closed: Vec<Arc<str>> = {
            let (live, mut not_opened) = (self.live.load(), self.not_opened.lock());
            not_opened.retain(|uuid, _| catalog.indices.values().any(|index| index.uuid == *uuid));
            let should_open = |index: &&Arc<IndexMetadata>| {
                index.open
                    && index.damage.is_none()
                    && !live.contains_key(&index.uuid)
                    && not_opened.get(&index.uuid).is_none_or(is_io)
            };
            catalog.indices.values().filter(should_open).map(|index| index.uuid.clone()).collect()
        };
        for uuid in closed {
            // Another thread may be opening it now.
            let Some(_opening) = self.names.try_lock(&uuid) else { continue };
            let catalog = self.catalog.load_full();
            if let Some(metadata) = catalog.indices.values().find(|index| index.uuid == uuid) {
                // If it fails again, the reason is in the log and in responses about the index.
                drop(self.open_and_admit(metadata));
            }
        }
    }

    /// Reads metadata again that the disk had refused.
    fn reread_indices(&self) {
        for index in self.catalog.load_full().indices.values() {
            let Some(damage) = &index.damage else { continue };
            if !is_io(damage) {
                continue;
            }
            let state = self.state.load_full();
            let Some(listed) = state.indices.get(&index.uuid) else { continue };
            let read = self.read_listed(&index.uuid, state.pending.get(&index.uuid));
            let is_it = |read: &Read| listed.name.as_ref().is_none_or(|name| *name == read.metadata.name);
            if let Ok(read) = read
                && is_it(&read)
            {
                self.readmit(index, read);
            }
        }
    }

    fn readmit(&self, unreadable: &Arc<IndexMetadata>, read: Read) {
        let _opening = self.names.lock(&unreadable.uuid);
        let metadata = Arc::new(read.metadata);
        // Other threads may hold or wait for this file, so it is not replaced: two files of an index would be
        // two locks for its metadata.
        let Some(file) = self.index_files.get(&unreadable.uuid) else { return };
        {
            let mut written = file.lock();
            let changing = self.changing.lock();
            let catalog = self.catalog.load_full();
            let is_there =
                catalog.indices.get(&unreadable.name).is_some_and(|now| Arc::ptr_eq(now, unreadable));
            let is_taken = metadata.name != unreadable.name
                && (catalog.indices.contains_key(&metadata.name)
                    || catalog.aliases.contains_key(&metadata.name)
                    || catalog.data_streams.contains_key(&metadata.name));
            if !is_there || is_taken {
                return;
            }
            written.was_read(read.durable, metadata.version);
            let mut state = (*self.state.load_full()).clone();
            state.indices.insert(metadata.uuid.clone(), Listed::of(&metadata));
            self.state.store(Arc::new(state));
            self.publish(|catalog| {
                catalog.indices.remove(&unreadable.name);
                catalog.indices.insert(metadata.name.clone(), metadata.clone());
            });
            drop(changing);
        }
        tracing::info!(index = %metadata.name, "the metadata of an index can be read again");
        // If it fails, the reason is in the log and in responses about the index.
        let _ = self.open_and_admit(&metadata);
    }

    /// Opens the shards of an index if it is to be open. Called with its UUID locked in `names`.
    pub(in crate::node) fn open_and_admit(&self, metadata: &Arc<IndexMetadata>) -> Result<()> {
        if !metadata.open || self.live.load().contains_key(&metadata.uuid) {
            return Ok(());
        }
        // The metadata is durable, so the request that opens the index is refused no more than the start is.
        let open = || limber_work::suspended(|| LiveIndex::open(metadata, &self.services()));
        match limber_work::waiting(open) {
            Ok(index) => {
                self.not_opened.lock().remove(&metadata.uuid);
                self.admit(Arc::new(index), metadata);
                Ok(())
            }
            Err(error) => {
                let before = self.not_opened.lock().insert(metadata.uuid.clone(), error.clone());
                // The same failure is logged only once.
                if before.is_none_or(|before| before.reason != error.reason) {
                    tracing::error!(index = %metadata.name, %error, "index does not open");
                }
                Err(error)
            }
        }
    }

    /// Returns why an open index has no shards.
    pub(in crate::node) fn why_not_open(&self, metadata: &IndexMetadata) -> Option<RequestError> {
        let damage = metadata.damage.as_deref().cloned();
        damage.or_else(|| self.not_opened.lock().get(&metadata.uuid).cloned())
    }
}

/// Makes the names in a folder durable. A failure counts as one to read them, which is tried again.
fn sync_names(directory: &dyn Directory) -> Result<()> {
    directory.sync_names().map_err(|error| RequestError::internal("i_o_exception", error.to_string()))
}

/// Whether the error came from the disk, so that trying again may help.
fn is_io(error: &RequestError) -> bool {
    error.kind == "i_o_exception"
}

/// Removes indices from data streams if their creation was interrupted in a node with version 1, which wrote
/// the data streams first. Does nothing when the name of some index cannot be read, as that may be the
/// missing one.
fn drop_missing_indices(catalog: &mut Catalog, state: &NodeState) {
    let Catalog { data_streams, indices, .. } = catalog;
    if indices.values().any(|index| index.damage.is_some() && state.indices.contains_key(&index.uuid)) {
        return;
    }
    for stream in data_streams.values_mut() {
        if let Some(missing) = stream.indices.iter().find(|index| !indices.contains_key(*index)) {
            tracing::warn!(stream = %stream.name, index = %missing, "an index of a data stream is not there");
            let mut edited = (**stream).clone();
            edited.indices.retain(|index| indices.contains_key(index));
            *stream = Arc::new(edited);
        }
    }
    data_streams.retain(|_, stream| !stream.indices.is_empty());
}

/// Completes a rollover that a node with version 1 had begun, if the new index exists: moves the alias to it.
fn finish_rollover(begun: &BegunRollover, catalog: &mut Catalog, state: &mut NodeState) {
    let found = |name: &str| catalog.indices.get(name).filter(|index| index.damage.is_none());
    let (Some(old), Some(new)) = (found(&begun.old), found(&begun.new)) else { return };
    let (mut old, mut new) = ((**old).clone(), (**new).clone());
    hand_over(&mut old, &mut new, &begun.alias, &begun.definition, begun.is_explicit);
    for mut index in [old, new] {
        index.version += 1;
        state.pending.insert(index.uuid.clone(), Pending { metadata: index.to_json(), is_first: false });
        catalog.indices.insert(index.name.clone(), Arc::new(index));
    }
}

/// Makes a new index the write index of an alias.
pub(in crate::node) fn hand_over(
    old: &mut IndexMetadata,
    new: &mut IndexMetadata,
    alias: &str,
    definition: &Alias,
    is_explicit: bool,
) {
    let is_write_index = is_explicit.then_some(true);
    new.aliases.insert(alias.to_owned(), Alias { is_write_index, ..definition.clone() });
    match (is_explicit, old.aliases.get_mut(alias)) {
        (true, Some(of_old)) => of_old.is_write_index = Some(false),
        (false, Some(_)) => drop(old.aliases.remove(alias)),
        (_, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::IndicesOptions;
    use crate::node::life::open::node_of_tests;

    #[test]
    fn an_index_that_can_be_read_again_keeps_the_lock_of_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let node = node_of_tests(folder.path());
        node.create_index("late", &json!({})).expect("created");
        let uuid = node.get_index("late", IndicesOptions::METADATA).expect("shown")[0].uuid.clone();
        node.close();
        drop(node);
        // A link to itself cannot be read, but it is there.
        let file = folder.path().join(index_folder(&uuid)).join(METADATA_NAME);
        let aside = folder.path().join("aside");
        std::fs::rename(&file, &aside).expect("renamed");
        std::os::unix::fs::symlink(METADATA_NAME, &file).expect("linked");
        let node = node_of_tests(folder.path());
        let held = node.index_files.get(&uuid).expect("listed");
        assert_eq!(held.durable(), 0, "nothing is known of the file");
        std::fs::remove_file(&file).expect("removed");
        std::fs::rename(&aside, &file).expect("renamed");
        node.retry_indices();
        let now = node.index_files.get(&uuid).expect("listed");
        assert!(Arc::ptr_eq(&held, &now), "a thread that waits for it waits for the right one");
        let before = held.durable();
        assert!(before > 0);
        let mapping = json!({"properties": {"field": {"type": "keyword"}}});
        node.put_mapping("late", IndicesOptions::METADATA, false, &mapping).expect("changed");
        assert!(held.durable() > before, "a new version, in the same file");
    }
}
