//! Publishes restored indices, all in one step, together with their data streams and the global state.

use std::cell::Cell;
use std::sync::Arc;

use super::global_state::MergedState;
use super::restore::{Plan, UnpublishedIndex};
use crate::api::Result;
use crate::catalog::{Catalog, DataStream, IndexMetadata};
use crate::node::Node;
use crate::node::index::indices::{check_alias_target, check_aliases, check_index_alias};
use crate::node::index::live::{LiveIndex, index_folder};
use crate::node::kept_state::state::NodeState;
use crate::node::stream::data_streams::{check_stream_alias, check_stream_is_free};
use crate::snapshot::errors::restore_error;

impl Node {
    /// Publishes indices, at least one, with the global state if it is to be restored, and deletes the closed
    /// indices that they replace. If that fails, nothing has changed, and the new indices are removed.
    pub(super) fn publish_restored(&self, plan: &Plan, made: Vec<UnpublishedIndex>) -> Result<()> {
        let opened: Vec<Arc<LiveIndex>> = made.iter().map(|one| one.live.clone()).collect();
        let sync = |_: &(), old: &IndexMetadata, next: &IndexMetadata| self.sync_live(old, next);
        let change = |catalog: &Catalog| Ok((self.with_restored(catalog, plan)?, ()));
        let beside = |state: &mut NodeState| -> Result<Option<MergedState>> {
            plan.global_state().map(|saved| self.merge_global_state(saved, state)).transpose()
        };
        let is_blocked = Cell::new(false);
        let written = |merged: Option<MergedState>| {
            let merged = plan.global_state().zip(merged);
            is_blocked.set(merged.is_some_and(|(saved, merged)| self.use_global_state(saved, merged)));
        };
        match self.change_catalog_beside(&opened, change, sync, beside, written) {
            Ok((gone, ())) => {
                if is_blocked.get() {
                    self.settle_all_writes();
                }
                let live = self.live.load();
                let mut restored = self.snapshots.restored.lock();
                restored.retain(|uuid, _| live.contains_key(uuid));
                restored.extend(made.into_iter().map(|one| (one.live.core.uuid.clone(), one.restored)));
                drop(restored);
                self.bury(gone);
                plan.indices.iter().for_each(|index| self.reload_created(&index.metadata));
                Ok(())
            }
            Err(error) => {
                self.discard(made);
                Err(error)
            }
        }
    }

    /// Closes the shards of indices that were never published, and removes their folders.
    pub(super) fn discard(&self, made: Vec<UnpublishedIndex>) {
        for one in made {
            one.live.close();
            // The state on disk may list the index. Its folder then stays until that is known.
            if !self.may_be_listed(&one.live.core.uuid) {
                self.remove_left_over(&index_folder(&one.live.core.uuid));
            }
        }
    }

    /// Returns the catalog with the indices and data streams of a restore, if they may be published now.
    fn with_restored(&self, catalog: &Catalog, plan: &Plan) -> Result<Catalog> {
        self.check_metadata_write_block()?;
        let full_name = plan.full_name();
        for index in &plan.indices {
            self.check_target(catalog, &plan.repository, &full_name, &index.metadata, &index.source)?;
        }
        let mut next = catalog.clone();
        for index in &plan.indices {
            next.indices.insert(index.metadata.name.clone(), index.metadata.clone());
        }
        for stream in &plan.streams {
            if catalog.data_streams.contains_key(&stream.name) {
                let why = format!("data stream [{}] has been created meanwhile", stream.name);
                return Err(restore_error(&plan.repository.name, &full_name, why));
            }
            let stream = beside_others(&next, stream);
            next.data_streams.insert(stream.name.clone(), Arc::new(stream));
        }
        let next = next.derive();
        for alias in plan.indices.iter().flat_map(|index| index.metadata.aliases.keys()) {
            check_index_alias(&next, alias)?;
        }
        for stream in &plan.streams {
            check_stream_is_free(&next, &stream.name)?;
            for alias in stream.aliases.keys() {
                check_stream_alias(catalog, alias)?;
                check_alias_target(&next, alias)?;
            }
        }
        check_aliases(catalog, &next)?;
        Ok(next)
    }
}

/// Returns a restored data stream as it joins the others: an alias that already writes to one of them goes on
/// with that one.
fn beside_others(catalog: &Catalog, restored: &DataStream) -> DataStream {
    let mut stream = restored.clone();
    for (name, alias) in &mut stream.aliases {
        let writes = |other: &Arc<DataStream>| other.aliases[name].is_write_index == Some(true);
        if catalog.streams_with_alias(name).any(writes) {
            alias.is_write_index = None;
        }
    }
    stream
}
