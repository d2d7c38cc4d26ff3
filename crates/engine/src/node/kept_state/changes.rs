//! Changes that span indices: "all or nothing, for readers and after a crash".
//!
//! A change is planned on a catalog and returns the next catalog. Replacing the node's state once makes it
//! durable: which indices exist, the data streams, and the new metadata of every index that it touches. Then
//! the catalog is published once. The indices' own files are written later ([`Node::metadata_round`]).
//!
//! **Order of locks**: [`crate::node::index::name_locks`], then the files of indices (several: [`lock_all`]),
//! then `changing` (the state), then `publishing`. `changing` is held while the state is written to disk, and
//! the lock of an index's file while that file is written; the other locks are never held across disk access.
//! A thread that holds `changing` or an index's file never waits for the file of an index. Readers take no
//! locks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use limber_store::sync::MutexGuard;
use limber_work as work;

use super::state::{Listed, NodeState, Pending};
use super::state_file::AtStake;
use crate::api::Result;
use crate::catalog::{Catalog, DataStream, IndexMetadata};
use crate::node::Node;
use crate::node::index::index_files::{IndexFile, Written, check_is_readable};
use crate::node::index::live::{LiveIndex, index_folder, search_settings};
use crate::shard::IndexCore;

/// The difference between two catalogs.
#[derive(Default)]
pub(in crate::node) struct Change {
    /// Indices before and after the change, ordered by UUID.
    changed: Vec<(Arc<IndexMetadata>, IndexMetadata)>,
    created: Vec<Arc<IndexMetadata>>,
    pub deleted: Vec<Arc<IndexMetadata>>,
    /// `None` means deleted.
    streams: BTreeMap<Arc<str>, Option<Arc<DataStream>>>,
}

/// Indices that were deleted, and the open ones among them.
#[derive(Default)]
#[must_use = "what was deleted is to be buried"]
pub(in crate::node) struct Gone {
    deleted: Vec<Arc<IndexMetadata>>,
    live: Vec<Arc<LiveIndex>>,
}

impl Change {
    pub(in crate::node) fn between(before: &Catalog, next: &Catalog) -> Change {
        let mut change = Change::default();
        for (name, index) in &next.indices {
            match before.indices.get(name) {
                Some(old) if Arc::ptr_eq(old, index) => {}
                Some(old) if old.uuid == index.uuid => change.changed.push((old.clone(), (**index).clone())),
                _ => change.created.push(index.clone()),
            }
        }
        for (name, old) in &before.indices {
            if next.indices.get(name).is_none_or(|index| index.uuid != old.uuid) {
                change.deleted.push(old.clone());
            }
        }
        for (name, stream) in &next.data_streams {
            if before.data_streams.get(name) != Some(stream) {
                change.streams.insert(name.clone(), Some(stream.clone()));
            }
        }
        for name in before.data_streams.keys().filter(|name| !next.data_streams.contains_key(*name)) {
            change.streams.insert(name.clone(), None);
        }
        change.changed.sort_by(|(left, _), (right, _)| left.uuid.cmp(&right.uuid));
        change
    }

    /// Returns the UUIDs of the existing indices whose metadata must not change meanwhile.
    fn touched(&self) -> BTreeSet<Arc<str>> {
        let changed = self.changed.iter().map(|(old, _)| old);
        changed.chain(&self.deleted).map(|index| index.uuid.clone()).collect()
    }

    fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.is_inside_indices()
    }

    fn is_inside_indices(&self) -> bool {
        self.created.is_empty() && self.deleted.is_empty() && self.streams.is_empty()
    }

    /// Whether the file of one index can hold the whole change. Aliases are stored in the node's state too.
    /// An index is closed with `changing` held, under which a snapshot begins.
    fn is_of_one_index(&self) -> bool {
        let is_inside = |old: &IndexMetadata, next: &IndexMetadata| {
            old.aliases == next.aliases && (next.open || !old.open)
        };
        matches!(&self.changed[..], [(old, next)] if is_inside(old, next)) && self.is_inside_indices()
    }

    fn at_stake(&self) -> AtStake {
        AtStake {
            deleted: self.deleted.iter().map(|index| index.uuid.clone()).collect(),
            created: self.created.iter().map(|index| index.uuid.clone()).collect(),
        }
    }

    fn apply_to_state(&self, state: &mut NodeState) {
        for index in &self.created {
            let pending = Pending { metadata: index.to_json(), is_first: true };
            state.pending.insert(index.uuid.clone(), pending);
            state.indices.insert(index.uuid.clone(), Listed::of(index));
            state.set_aside.remove(&index.uuid);
        }
        for index in &self.deleted {
            state.indices.remove(&index.uuid);
            state.pending.remove(&index.uuid);
            state.tombstones.insert(index.uuid.clone());
        }
        for (name, stream) in &self.streams {
            match stream {
                Some(stream) => state.put_data_stream(stream),
                None => state.delete_data_stream(name),
            }
        }
    }

    fn apply_to_catalog(&self, catalog: &mut Catalog) {
        for index in &self.deleted {
            catalog.indices.remove(&index.name);
        }
        for index in &self.created {
            catalog.indices.insert(index.name.clone(), index.clone());
        }
        for (_, next) in &self.changed {
            catalog.indices.insert(next.name.clone(), Arc::new(next.clone()));
        }
        for (name, stream) in &self.streams {
            match stream {
                Some(stream) => drop(catalog.data_streams.insert(name.clone(), stream.clone())),
                None => drop(catalog.data_streams.remove(name)),
            }
        }
    }
}

/// Locks all files. While a thread waits for one of them it holds no other, so that a slow file does not
/// block threads that need others.
fn lock_all(files: &[Arc<IndexFile>]) -> Guards<'_> {
    let mut first = 0;
    loop {
        let mut guards = Guards::new();
        if let Some(file) = files.get(first) {
            guards.insert(file.uuid.clone(), file.lock());
        }
        let mut others = files.iter().enumerate().filter(|(at, _)| *at != first);
        let held = others.find_map(|(at, file)| match file.try_lock() {
            Some(guard) => {
                guards.insert(file.uuid.clone(), guard);
                None
            }
            None => Some(at),
        });
        match held {
            None => return guards,
            Some(at) => first = at,
        }
    }
}

type Guards<'f> = BTreeMap<Arc<str>, MutexGuard<'f, Written>>;

impl Node {
    /// Changes the catalog to the one that `plan` returns. `plan` must have no side effects; it is called
    /// again once the locks are held.
    ///
    /// # Errors
    /// Fails with the errors of `plan`, when the metadata of an index to be changed is damaged, or when the
    /// disk fails. Nothing has changed then.
    pub(in crate::node) fn change_catalog<T>(
        &self,
        plan: impl Fn(&Catalog) -> Result<(Catalog, T)>,
    ) -> Result<T> {
        let (gone, answer) = self.change_catalog_with(&[], plan, |_, old, next| self.sync_live(old, next))?;
        self.bury(gone);
        Ok(answer)
    }

    /// Works like [`Node::change_catalog`]. `opened` are the open shards of indices that the change creates.
    /// `sync` applies the new metadata to the shards of each changed index, under the index's lock. The
    /// caller passes what was deleted to [`Node::bury`].
    pub(in crate::node) fn change_catalog_with<T>(
        &self,
        opened: &[Arc<LiveIndex>],
        plan: impl Fn(&Catalog) -> Result<(Catalog, T)>,
        sync: impl Fn(&T, &IndexMetadata, &IndexMetadata),
    ) -> Result<(Gone, T)> {
        self.change_catalog_beside(opened, plan, sync, |_| Ok(()), |()| {})
    }

    /// Works like [`Node::change_catalog_with`], for a change that creates indices and changes other parts of
    /// the node's state with the same write: `beside` changes the state that is about to be written, and
    /// `written` makes visible what it returned once the state is durable, before the indices are. Both are
    /// called with `changing` held.
    pub(in crate::node) fn change_catalog_beside<T, B>(
        &self,
        opened: &[Arc<LiveIndex>],
        plan: impl Fn(&Catalog) -> Result<(Catalog, T)>,
        sync: impl Fn(&T, &IndexMetadata, &IndexMetadata),
        beside: impl Fn(&mut NodeState) -> Result<B>,
        written: impl FnOnce(B),
    ) -> Result<(Gone, T)> {
        loop {
            let catalog = self.catalog.load_full();
            let touched = Change::between(&catalog, &plan(&catalog)?.0).touched();
            let files: Vec<Arc<IndexFile>> =
                touched.iter().filter_map(|uuid| self.index_files.get(uuid)).collect();
            let mut guards = lock_all(&files);
            // This plan stays valid: no other thread can change these indices, and from here on none can make
            // a change that spans indices.
            let catalog = self.catalog.load_full();
            let (next, answer) = plan(&catalog)?;
            let change = Change::between(&catalog, &next);
            if !change.touched().iter().all(|uuid| guards.contains_key(uuid)) {
                continue;
            }
            if change.is_of_one_index() {
                self.make_own_change(change, &mut guards, |old, next| sync(&answer, old, next))?;
                return Ok((Gone::default(), answer));
            }
            drop((change, next, answer));
            let _changing = self.changing.lock();
            let catalog = self.catalog.load_full();
            work::check_beyond_deadline()?;
            let (next, answer) = plan(&catalog)?;
            let change = Change::between(&catalog, &next);
            if !change.touched().iter().all(|uuid| guards.contains_key(uuid)) {
                continue;
            }
            if change.is_empty() {
                return Ok((Gone::default(), answer));
            }
            let sync = |old: &IndexMetadata, next: &IndexMetadata| sync(&answer, old, next);
            let gone = self.make_change(change, &mut guards, opened, sync, (&beside, written))?;
            return Ok((gone, answer));
        }
    }

    fn make_own_change(
        &self,
        change: Change,
        guards: &mut Guards<'_>,
        sync: impl Fn(&IndexMetadata, &IndexMetadata),
    ) -> Result<()> {
        for (old, next) in change.changed {
            if let Some(written) = guards.get_mut(&old.uuid) {
                self.write_index(written, &old, next.clone())?;
                sync(&old, &next);
            }
        }
        Ok(())
    }

    /// Makes a change. Called with the locks of all touched indices and `changing` held.
    fn make_change<B>(
        &self,
        mut change: Change,
        guards: &mut Guards<'_>,
        opened: &[Arc<LiveIndex>],
        sync: impl Fn(&IndexMetadata, &IndexMetadata),
        (beside, written): (impl Fn(&mut NodeState) -> Result<B>, impl FnOnce(B)),
    ) -> Result<Gone> {
        let mut state = (*self.state.load_full()).clone();
        for (old, next) in &mut change.changed {
            check_is_readable(old)?;
            let Some(written) = guards.get_mut(&old.uuid) else { continue };
            next.version = written.next_version(old);
            let pending = Pending { metadata: next.to_json(), is_first: written.durable() == 0 };
            state.pending.insert(next.uuid.clone(), pending);
            state.indices.insert(next.uuid.clone(), Listed::of(next));
        }
        change.apply_to_state(&mut state);
        let added = beside(&mut state)?;
        self.keep_metadata(&change)?;
        if let Err(error) = self.write_state(state, change.at_stake()) {
            change.created.iter().for_each(|index| self.kept.forget(&index.uuid));
            return Err(error);
        }
        written(added);
        for index in &change.created {
            self.index_files.add(&index.uuid, 0, index.version);
        }
        self.publish_live(|live| {
            live.extend(opened.iter().map(|index| (index.core.uuid.clone(), index.clone())));
        });
        self.publish(|catalog| change.apply_to_catalog(catalog));
        for index in &change.created {
            let shards = index.typed.number_of_shards;
            tracing::info!(index = %index.name, uuid = %index.uuid, shards, "index is created");
        }
        for index in &change.deleted {
            tracing::info!(index = %index.name, uuid = %index.uuid, "index is deleted");
        }
        for (old, next) in &change.changed {
            sync(old, next);
        }
        let mut gone = Gone { deleted: change.deleted, live: Vec::new() };
        self.publish_live(|live| {
            gone.live.extend(gone.deleted.iter().filter_map(|index| live.remove(&index.uuid)));
        });
        for index in &gone.deleted {
            self.index_files.remove(&index.uuid);
            self.kept.forget(&index.uuid);
        }
        Ok(gone)
    }

    /// Charges the metadata of new and changed indices.
    fn keep_metadata(&self, change: &Change) -> Result<()> {
        for (_, next) in &change.changed {
            self.kept.keep_index(next)?;
        }
        for (at, index) in change.created.iter().enumerate() {
            if let Err(error) = self.kept.keep_index(index) {
                change.created[..at].iter().for_each(|index| self.kept.forget(&index.uuid));
                return Err(error);
            }
        }
        Ok(())
    }

    /// Publishes a changed catalog. The lock is held only briefly, never across disk access.
    pub(in crate::node) fn publish(&self, change: impl FnOnce(&mut Catalog)) {
        let _publishing = self.publishing.lock();
        let mut next = (*self.catalog.load_full()).clone();
        change(&mut next);
        self.catalog.store(Arc::new(next.derive()));
    }

    /// Publishes the changed metadata of one index.
    pub(in crate::node) fn publish_index(&self, metadata: IndexMetadata) {
        self.publish(|catalog| drop(catalog.indices.insert(metadata.name.clone(), Arc::new(metadata))));
    }

    /// Applies settings and mapping of changed metadata to open shards. Called with the index's lock held.
    pub(in crate::node) fn sync_live(&self, old: &IndexMetadata, next: &IndexMetadata) {
        if let Some(live) = self.live.load().get(&next.uuid) {
            sync(live, old, next);
        }
    }

    /// Publishes open shards if their index is still to be open; otherwise closes them. Called with the lock
    /// of its name held.
    pub(in crate::node) fn admit(&self, index: Arc<LiveIndex>, opened_with: &IndexMetadata) {
        let core = &index.core;
        let file = self.index_files.get(&core.uuid);
        let _written = file.as_ref().map(|file| file.lock());
        let catalog = self.catalog.load_full();
        let current = catalog.indices.get(&core.name).filter(|current| current.uuid == core.uuid);
        match current.filter(|current| current.open) {
            Some(current) => {
                // Settings and mapping may have changed while the shards were being opened.
                sync(&index, opened_with, current);
                self.publish_live(|live| drop(live.insert(index.core.uuid.clone(), index.clone())));
                self.reload_opened(current);
            }
            None => index.close(),
        }
    }

    /// Closes the shards of deleted indices and removes their folders.
    pub(in crate::node) fn bury(&self, gone: Gone) {
        gone.live.iter().for_each(|index| index.close());
        for index in gone.deleted {
            self.remove_index_folder(&index.uuid);
        }
    }

    /// Removes the folder of an index that has a tombstone. The next change of the state removes the
    /// tombstone.
    pub(in crate::node) fn remove_index_folder(&self, uuid: &Arc<str>) {
        let _opening = self.names.lock(uuid);
        let disk = &self.environment.disk;
        let remove = || {
            disk.remove_folder(&index_folder(uuid))?;
            // The tombstone may be removed only when a crash cannot bring the folder back.
            disk.folder("indices")?.sync_names()
        };
        match remove() {
            Ok(()) => drop(self.buried.lock().insert(uuid.clone())),
            Err(error) => tracing::warn!(%uuid, %error, "the folder of a deleted index is not removed yet"),
        }
    }
}

/// Applies changed settings and the mapping. They were validated when the change was planned, so this cannot
/// fail.
fn sync(live: &LiveIndex, old: &IndexMetadata, next: &IndexMetadata) {
    // The change is durable, so it cannot be refused any more.
    work::suspended(|| sync_core(&live.core, old, next));
}

fn sync_core(core: &IndexCore, old: &IndexMetadata, next: &IndexMetadata) {
    if old.settings != next.settings {
        core.settings.store(next.typed.clone());
        core.search_settings.store(Arc::new(search_settings(&next.typed)));
    }
    // Merging into the existing mapping keeps the ordinals of its fields.
    let mut mapping = core.mapping.load_full();
    if old.mappings != next.mappings
        && let Ok(merged) = mapping.merge(&next.mappings)
    {
        mapping = Arc::new(merged);
    }
    if old.settings != next.settings
        && let Ok(settings) =
            next.typed.mapping_settings(&next.settings, mapping.settings().analyzers.resources())
        && let Ok(adapted) = mapping.with_settings(&settings)
    {
        mapping = Arc::new(adapted);
    }
    core.mapping.store(mapping);
}
