//! Changes to existing indices: settings, open, close, blocks.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_text::wildcard;
use serde_json::{Map, Value};

use super::create_index::shard_copies;
use super::index_files::check_is_readable;
use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata};
use crate::node::Node;
use crate::node::stream::series_bounds::check_moved_end;
use crate::settings::{
    Durability, FlatSettings, IndexSettings, SettingsUpdate, flatten, normalize_index_keys,
};

impl Node {
    /// Carries out `PUT {index}/_settings`: changes the settings of all indices of the expression, or of
    /// none. With `preserve_existing`, settings that an index already has are kept. A setting that is
    /// unknown, invalid or final is an error.
    pub fn put_settings(
        &self,
        expression: &str,
        options: IndicesOptions,
        body: &Value,
        preserve_existing: bool,
    ) -> Result<()> {
        self.change_settings(expression, options, given_settings(body)?, preserve_existing)
    }

    /// Works like [`Node::put_settings`], but also changes settings that only a closed index may change:
    /// indices that are open are closed, changed, and opened again. They stay closed if the process ends
    /// before.
    pub fn put_settings_reopening(
        &self,
        expression: &str,
        options: IndicesOptions,
        body: &Value,
        preserve_existing: bool,
    ) -> Result<()> {
        let flat = given_settings(body)?;
        let may_lift = is_one_metadata_block(&flat);
        let update = SettingsUpdate::check(flat.clone())?;
        let mut reopened = Vec::new();
        for metadata in
            self.catalog.load().resolve(expression, options)?.into_iter().filter(|index| index.open)
        {
            self.check_settings_block(&metadata, may_lift)?;
            // What is refused is refused before anything is closed.
            let closed = IndexMetadata { open: false, ..(*metadata).clone() };
            self.with_settings(&closed, &update, preserve_existing)?;
            if self.with_settings(&metadata, &update, preserve_existing).is_err() {
                reopened.push(metadata.name.to_string());
            }
        }
        if reopened.is_empty() {
            return self.change_settings(expression, options, flat, preserve_existing);
        }
        let names = reopened.join(",");
        self.close_index(&names, IndicesOptions::METADATA)?;
        let by_name = IndicesOptions { forbid_closed_indices: false, ..options };
        let changed = self.change_settings(expression, by_name, flat, preserve_existing);
        // The settings that were just changed may contain a block, which the closed index is opened with.
        let opened = self.open_found(&names, IndicesOptions::METADATA, |_| Ok(()));
        changed.and(opened.map(drop))
    }

    pub(in crate::node) fn change_settings(
        &self,
        expression: &str,
        options: IndicesOptions,
        flat: FlatSettings,
        preserve_existing: bool,
    ) -> Result<()> {
        let asks_for_durability = flat.contains_key("index.translog.durability");
        let any_block = flat.keys().any(|key| key.starts_with("index.blocks."));
        let may_lift = is_one_metadata_block(&flat);
        let update = SettingsUpdate::check(flat)?;
        let changed = self.change_catalog(|catalog| {
            let (mut next, mut changed) = (catalog.clone(), Vec::new());
            let (mut before, mut after) = (0, 0);
            for metadata in catalog.resolve(expression, options)? {
                self.check_settings_block(&metadata, may_lift)?;
                let index = self.with_settings(&metadata, &update, preserve_existing)?;
                check_moved_end(catalog, &metadata, &index)?;
                if metadata.open {
                    before += shard_copies(&metadata.typed);
                    after += shard_copies(&index.typed);
                }
                next.indices.insert(metadata.name.clone(), Arc::new(index));
                changed.push(metadata.uuid.clone());
            }
            if after > before {
                self.check_added_shards(catalog, after - before)?;
            }
            Ok((next, changed))
        })?;
        let live = self.live.load_full();
        let live = changed.iter().filter_map(|uuid| live.get(uuid));
        if any_block {
            // After the answer no write is carried out that was admitted before.
            live.clone().flat_map(|index| &index.shards).for_each(|shard| shard.settle_writes());
        }
        for index in live.filter(|index| index.core.settings.load().durability == Durability::Request) {
            // Writes that were acknowledged before they were durable become durable now. A failed shard
            // cannot promise that, because searches may still find writes there that never reached its
            // translog.
            for shard in &*index.shards {
                match shard.failure() {
                    None => shard.sync_all()?,
                    Some(error) if asks_for_durability => return Err(error),
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the metadata with changed settings.
    pub(in crate::node) fn with_settings(
        &self,
        metadata: &IndexMetadata,
        update: &SettingsUpdate,
        preserve_existing: bool,
    ) -> Result<IndexMetadata> {
        check_is_readable(metadata)?;
        let name = format!("{}/{}", metadata.name, metadata.uuid);
        let settings = update.apply(&metadata.settings, metadata.open, preserve_existing, &name)?;
        let typed = Arc::new(IndexSettings::from_flat(&settings)?);
        // Invalid analysis settings, and limits that the mapping already exceeds, are refused before anything
        // is stored.
        let read = || typed.mapping_settings(&settings, &self.analysis());
        let for_mapping = match has_same_analysis(&metadata.settings, &settings) {
            // Analyzers that are stored are not refused any more.
            true => limber_work::suspended(read)?,
            false => read()?,
        };
        limber_search::check_similarity_scripts(&for_mapping.similarities, &self.scripts)?;
        Ok(IndexMetadata { settings, typed, ..metadata.clone() })
    }

    /// Checks that the named indices exist.
    ///
    /// # Errors
    /// Fails for names that match nothing.
    pub fn check_names(&self, expression: &str, options: IndicesOptions) -> Result<()> {
        self.catalog.load().resolve(expression, options).map(drop)
    }

    /// Refuses a pattern and "all indices", unless `action.destructive_requires_name` allows them. A pattern
    /// that selects nothing at all (`*,-*`) is always allowed.
    ///
    /// Source: `DestructiveOperations#failDestructive`.
    pub(in crate::node) fn check_is_named(&self, expression: &str) -> Result<()> {
        let is_broad = |part: &str| wildcard::is_pattern(part) || part == "_all" || part.is_empty();
        let is_refused = expression != "*,-*" && expression.split(',').map(str::trim).any(is_broad);
        match is_refused && self.settings.load().boolean("action.destructive_requires_name") {
            true => {
                Err(RequestError::illegal_argument("Wildcard expressions or all indices are not allowed"))
            }
            false => Ok(()),
        }
    }

    /// Opens indices. Returns whether every shard started in time, which here is always true.
    pub fn open_index(&self, expression: &str, options: IndicesOptions) -> Result<bool> {
        self.check_is_named(expression)?;
        self.open_found(expression, options, |index| self.check_metadata_block(index))
    }

    /// Opens indices if all that are found pass `check`. It is called under the lock under which blocks
    /// change.
    fn open_found(
        &self,
        expression: &str,
        options: IndicesOptions,
        check: impl Fn(&IndexMetadata) -> Result<()>,
    ) -> Result<bool> {
        let opened = self.change_catalog(|catalog| {
            let (mut next, mut opened) = (catalog.clone(), Vec::new());
            let found = catalog.resolve(expression, options)?;
            found.iter().try_for_each(|metadata| check(metadata))?;
            for metadata in found.into_iter().filter(|index| !index.open) {
                self.check_shard_limit(&next, &metadata.typed)?;
                self.check_allocation(false)?;
                let changed = IndexMetadata { open: true, ..(*metadata).clone() };
                next.indices.insert(metadata.name.clone(), Arc::new(changed));
                opened.push((metadata.name.clone(), metadata.uuid.clone()));
            }
            Ok((next, opened))
        })?;
        let mut outcome = Ok(true);
        for (name, uuid) in opened {
            // The metadata's lock is not held here, because replay may need a mapping update.
            let _opening = self.names.lock(&uuid);
            let catalog = self.catalog.load_full();
            if let Some(current) = catalog.indices.get(&name).filter(|current| current.uuid == uuid) {
                outcome = outcome.and(self.open_and_admit(current).map(|()| true));
            }
        }
        outcome
    }

    /// Closes indices. Returns the names of those that are closed now.
    pub fn close_index(&self, expression: &str, options: IndicesOptions) -> Result<Vec<Arc<str>>> {
        if !self.settings.load().boolean("cluster.indices.close.enable") {
            return Err(RequestError::internal(
                "illegal_state_exception",
                "closing indices is disabled - set [cluster.indices.close.enable: true] to enable it. NOTE: closed \
                 indices still consume a significant amount of diskspace",
            ));
        }
        self.check_is_named(expression)?;
        let catalog = self.catalog.load_full();
        let found: Vec<Arc<IndexMetadata>> = catalog.resolve(expression, options)?;
        found.iter().try_for_each(|index| self.check_metadata_block(index))?;
        check_are_not_written_by_streams(&catalog, &found)?;
        // What was written is committed before the shards close. Writes that arrive later are in the
        // translog.
        for live in found.iter().filter_map(|metadata| self.live(metadata).ok()) {
            // A failed shard has everything it acknowledged in its translog. Closing and opening its index is
            // a way to recover it.
            for shard in live.shards.iter().filter(|shard| shard.is_started()) {
                shard.flush(false)?;
            }
        }
        let closed = self.change_catalog(|catalog| {
            let (mut next, mut closed) = (catalog.clone(), Vec::new());
            let still_there = found.iter().filter_map(|metadata| {
                catalog.indices.get(&metadata.name).filter(|current| current.uuid == metadata.uuid)
            });
            let current: Vec<Arc<IndexMetadata>> = still_there.filter(|index| index.open).cloned().collect();
            check_are_not_written_by_streams(catalog, &current)?;
            for metadata in current {
                // Blocks may have been set since the index was found.
                self.check_metadata_block(&metadata)?;
                self.check_is_not_copied(&metadata, "close")?;
                let changed = IndexMetadata { open: false, ..(*metadata).clone() };
                next.indices.insert(metadata.name.clone(), Arc::new(changed));
                closed.push(metadata);
            }
            Ok((next, closed))
        })?;
        closed.iter().for_each(|metadata| self.close_shards(metadata));
        Ok(closed.iter().map(|metadata| metadata.name.clone()).collect())
    }

    /// Closes the shards of an index, unless it was opened again meanwhile.
    fn close_shards(&self, metadata: &IndexMetadata) {
        let _opening = self.names.lock(&metadata.uuid);
        let catalog = self.catalog.load_full();
        if catalog.indices.get(&metadata.name).is_some_and(|now| now.uuid == metadata.uuid && now.open) {
            return;
        }
        let mut gone = None;
        self.publish_live(|live| gone = live.remove(&metadata.uuid));
        if let Some(index) = gone {
            index.close();
        }
    }

    /// Carries out `PUT /{index}/_block/{block}` with `write`, `read`, `read_only` or `metadata`.
    pub fn add_block(&self, expression: &str, options: IndicesOptions, block: &str) -> Result<Vec<Arc<str>>> {
        self.set_block(expression, options, block, "true".into())
    }

    /// Carries out `DELETE /{index}/_block/{block}`. Returns the names of the indices.
    pub fn remove_block(
        &self,
        expression: &str,
        options: IndicesOptions,
        block: &str,
    ) -> Result<Vec<Arc<str>>> {
        self.set_block(expression, options, block, Value::Null)
    }

    fn set_block(
        &self,
        expression: &str,
        options: IndicesOptions,
        block: &str,
        value: Value,
    ) -> Result<Vec<Arc<str>>> {
        if block == "read_only_allow_delete" {
            let problem = "read_only_allow_delete block is for internal use only";
            return Err(RequestError::validation([problem]));
        }
        if !["write", "read", "read_only", "metadata"].contains(&block) {
            return Err(RequestError::illegal_argument(format!("No block found with name {block}")));
        }
        self.check_is_named(expression)?;
        let names = self
            .catalog
            .load()
            .resolve(expression, options)?
            .iter()
            .map(|index| index.name.clone())
            .collect();
        let mut flat = Map::new();
        flat.insert(format!("index.blocks.{block}"), value);
        self.change_settings(expression, options, flat, false)?;
        Ok(names)
    }
}

/// Whether the settings are nothing but one block that refuses changes of settings. It has to be possible to
/// lift such a block. Source: `TransportUpdateSettingsAction#checkBlock`.
fn is_one_metadata_block(flat: &FlatSettings) -> bool {
    let blocks = ["index.blocks.metadata", "index.blocks.read_only", "index.blocks.read_only_allow_delete"];
    flat.len() == 1 && blocks.iter().any(|block| flat.contains_key(*block))
}

/// Checks that no index is the write index of a data stream, which must stay open.
fn check_are_not_written_by_streams(catalog: &Catalog, indices: &[Arc<IndexMetadata>]) -> Result<()> {
    let is_written = |index: &&Arc<IndexMetadata>| {
        catalog.stream_of(&index.name).is_some_and(|stream| *stream.write_index() == index.name)
    };
    let written: Vec<&str> = indices.iter().filter(is_written).map(|index| &*index.name).collect();
    match written.is_empty() {
        true => Ok(()),
        false => Err(RequestError::illegal_argument(format!(
            "cannot close the following data stream write indices [{}]",
            written.join(", ")
        ))),
    }
}

/// Whether two versions of an index's settings declare the same analyzers.
fn has_same_analysis(before: &FlatSettings, after: &FlatSettings) -> bool {
    let of = |settings: &FlatSettings| -> Vec<(String, Value)> {
        let analysis = settings.iter().filter(|(key, _)| key.starts_with("index.analysis."));
        analysis.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    of(before) == of(after)
}

/// Returns the settings of a body, which has some.
fn given_settings(body: &Value) -> Result<FlatSettings> {
    // An empty list has no settings either.
    let flat = if body.as_array().is_some_and(Vec::is_empty) { Map::new() } else { settings_of(body)? };
    match flat.is_empty() {
        true => Err(RequestError::validation(["no settings to update"])),
        false => Ok(flat),
    }
}

/// Parses the settings in a `PUT _settings` body: at the top or under `settings`, with or without `index`.
fn settings_of(body: &Value) -> Result<FlatSettings> {
    let inner = match body.as_object() {
        Some(object) if object.get("settings").is_some_and(Value::is_object) => {
            if let Some(other) = object.keys().find(|key| *key != "settings") {
                return Err(RequestError::illegal_argument(format!(
                    "mix of settings map and top-level properties: [{other}] is beside [settings]"
                )));
            }
            &object["settings"]
        }
        _ => body,
    };
    Ok(normalize_index_keys(flatten(inner)?))
}
