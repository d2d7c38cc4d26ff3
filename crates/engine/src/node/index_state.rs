//! Indices that are there: settings, open, close, blocks.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::Node;
use super::live::{LiveIndex, search_settings};
use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata};
use crate::settings::{
    Durability, FlatSettings, IndexSettings, SettingsUpdate, flatten, normalize_index_keys,
};

impl Node {
    pub fn put_settings(
        &self,
        expression: &str,
        options: IndicesOptions,
        body: &Value,
        preserve_existing: bool,
    ) -> Result<()> {
        let flat = settings_of(body)?;
        if flat.is_empty() {
            return Err(RequestError::new(
                400,
                "action_request_validation_exception",
                "Validation Failed: 1: no settings to update;",
            ));
        }
        self.change_settings(expression, options, flat, preserve_existing)
    }

    pub(super) fn change_settings(
        &self,
        expression: &str,
        options: IndicesOptions,
        flat: FlatSettings,
        preserve_existing: bool,
    ) -> Result<()> {
        let only_blocks = flat.keys().all(|key| key.starts_with("index.blocks."));
        let update = SettingsUpdate::check(flat)?;
        let _changing = self.changing.lock();
        let catalog = self.catalog.load_full();
        let mut updated = Vec::new();
        for metadata in catalog.resolve(expression, options)? {
            if !only_blocks {
                self.check_metadata_block(&metadata)?;
            }
            let name = format!("{}/{}", metadata.name, metadata.uuid);
            let settings = update.apply(&metadata.settings, metadata.open, preserve_existing, &name)?;
            let typed = Arc::new(IndexSettings::from_flat(&settings)?);
            // An analysis that does not parse, or limits the mapping has outgrown, are refused before anything is stored.
            let mapping_settings = typed.mapping_settings(&settings)?;
            updated.push((IndexMetadata { settings, typed, ..(*metadata).clone() }, mapping_settings));
        }
        for (metadata, mapping_settings) in updated {
            let (uuid, typed) = (metadata.uuid.clone(), metadata.typed.clone());
            self.store_metadata(metadata)?;
            if let Some(live) = self.live.load().get(&uuid) {
                live.core.settings.store(typed.clone());
                live.core.search_settings.store(Arc::new(search_settings(&typed)));
                if let Ok(mapping) = live.core.mapping.load().with_settings(&mapping_settings) {
                    live.core.mapping.store(Arc::new(mapping));
                }
                if typed.durability == Durability::Request {
                    // What was acknowledged before, without having been durable, is durable from now on.
                    let mut started = live.shards.iter().filter(|shard| shard.is_started());
                    started.try_for_each(|shard| shard.sync_all())?;
                }
            }
        }
        Ok(())
    }

    /// Returns whether every shard started in time (always, here).
    pub fn open_index(&self, expression: &str, options: IndicesOptions) -> Result<bool> {
        let found = self.catalog.load().resolve(expression, options)?;
        for metadata in found.into_iter().filter(|metadata| !metadata.open) {
            let next = {
                let _changing = self.changing.lock();
                let catalog = self.catalog.load_full();
                let current =
                    catalog.indices.get(&metadata.name).filter(|current| current.uuid == metadata.uuid);
                let Some(current) = current.filter(|current| !current.open) else { continue };
                self.check_shard_limit(&catalog, &current.typed)?;
                let next = IndexMetadata { open: true, ..(**current).clone() };
                self.store_metadata(next.clone())?;
                next
            };
            // Not under the lock: replay may ask for a mapping update.
            let index = LiveIndex::open(&next, &self.services())?;
            let _changing = self.changing.lock();
            self.publish_live(|live| drop(live.insert(next.uuid.clone(), Arc::new(index))));
        }
        Ok(true)
    }

    /// Returns the names of the indices that are closed now.
    pub fn close_index(&self, expression: &str, options: IndicesOptions) -> Result<Vec<Arc<str>>> {
        let catalog = self.catalog.load_full();
        let names: Vec<Arc<IndexMetadata>> = catalog.resolve(expression, options)?;
        check_are_not_written_by_streams(&catalog, &names)?;
        let mut closed = Vec::new();
        for metadata in names.into_iter().filter(|metadata| metadata.open) {
            // What was written is committed before the shards go; writes that arrive later are in the translog.
            if let Ok(live) = self.live(&metadata) {
                for shard in &live.shards {
                    shard.flush(false)?;
                }
            }
            let _changing = self.changing.lock();
            let Some(current) = self.catalog.load().indices.get(&metadata.name).cloned() else { continue };
            if current.uuid != metadata.uuid || !current.open {
                continue;
            }
            self.store_metadata(IndexMetadata { open: false, ..(*current).clone() })?;
            let mut gone = None;
            self.publish_live(|live| gone = live.remove(&metadata.uuid));
            drop(_changing);
            if let Some(index) = gone {
                index.close();
            }
            closed.push(metadata.name.clone());
        }
        Ok(closed)
    }

    /// `PUT /{index}/_block/{block}` with `write`, `read`, `read_only`, `metadata`.
    pub fn add_block(&self, expression: &str, options: IndicesOptions, block: &str) -> Result<Vec<Arc<str>>> {
        if !["write", "read", "read_only", "metadata"].contains(&block) {
            return Err(RequestError::illegal_argument(format!("No block found with name {block}")));
        }
        let names = self
            .catalog
            .load()
            .resolve(expression, options)?
            .iter()
            .map(|index| index.name.clone())
            .collect();
        let mut flat = Map::new();
        flat.insert(format!("index.blocks.{block}"), "true".into());
        self.change_settings(expression, options, flat, false)?;
        Ok(names)
    }
}

/// A data stream's newest index must stay open.
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

/// The settings in a `PUT _settings` body: bare, or under `settings`, with or without `index`.
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
