//! Indices: delete, get, mapping, names.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::{Mapping, RequestError};
use limber_store::directory::write_atomically;
use serde_json::{Value, json};

use super::Node;
use super::live::{LiveIndex, index_folder};
use super::open::LiveIndices;
use crate::api::*;
use crate::catalog::names::has_wildcard;
use crate::catalog::{Catalog, DataStream, IndexMetadata};
use crate::settings::{check_index_sort, defaults};
use crate::shard::{Host, IndexCore, largest_buffer, store_error};

/// Indices that are taken out of the catalog, and those of them that were open.
pub(super) type Doomed = (Vec<Arc<IndexMetadata>>, Vec<Arc<LiveIndex>>);

/// Metadata of an index, in its folder.
pub(crate) const METADATA_NAME: &str = "index.json";

impl Node {
    pub(super) fn publish_live(&self, change: impl FnOnce(&mut LiveIndices)) {
        let mut live: LiveIndices = (**self.live.load()).clone();
        change(&mut live);
        self.live.store(Arc::new(live));
    }

    pub fn delete_index(&self, expression: &str, options: IndicesOptions) -> Result<()> {
        let changing = self.changing.lock();
        let is_broad = expression
            .split(',')
            .map(str::trim)
            .any(|part| has_wildcard(part) || part == "_all" || part.is_empty());
        if is_broad && self.settings.load().boolean("action.destructive_requires_name") {
            return Err(RequestError::illegal_argument(
                "Wildcard expressions or all indices are not allowed",
            ));
        }
        let catalog = self.catalog.load_full();
        let doomed = catalog.resolve(expression, options)?;
        for metadata in &doomed {
            self.check_delete_block(metadata)?;
            check_is_not_written_by_stream(&catalog, metadata)?;
        }
        let gone = self.delete_locked(&doomed)?;
        drop(changing);
        self.bury(&doomed, gone);
        Ok(())
    }

    /// Takes indices out of the catalog. Called with `changing` held; what it answers is to be given to [`Node::bury`] afterwards.
    pub(super) fn delete_locked(&self, doomed: &[Arc<IndexMetadata>]) -> Result<Vec<Arc<LiveIndex>>> {
        let mut gone = Vec::new();
        let were_listed = self.forget_backing(doomed)?;
        let mut next = (*self.catalog.load_full()).clone();
        for metadata in doomed {
            // The metadata goes first, durably: from then on the index does not exist, whatever becomes of the folder.
            let directory =
                self.environment.folder(&index_folder(&metadata.uuid)).map_err(|e| store_error(&e))?;
            let delete = || directory.delete(METADATA_NAME).and_then(|()| directory.sync_names());
            delete().map_err(|e| store_error(&e))?;
            next = next.without_index(&metadata.name);
            self.catalog.store(Arc::new(next.clone()));
            self.publish_live(|live| gone.extend(live.remove(&metadata.uuid)));
        }
        if were_listed {
            self.change_state(|state| state.doomed.clear())?;
        }
        Ok(gone)
    }

    /// Takes indices out of the lists of their data streams. From then on they go, now or at the next start.
    fn forget_backing(&self, doomed: &[Arc<IndexMetadata>]) -> Result<bool> {
        let catalog = self.catalog.load_full();
        let mut changed: BTreeMap<Arc<str>, DataStream> = BTreeMap::new();
        for metadata in doomed {
            if let Some(stream) = catalog.stream_of(&metadata.name) {
                let stream = changed.entry(stream.name.clone()).or_insert_with(|| (**stream).clone());
                *stream = stream.without_index(&metadata.name);
            }
        }
        if changed.is_empty() {
            return Ok(false);
        }
        self.change_state(|state| {
            state.doomed = doomed.iter().map(|index| index.uuid.to_string()).collect();
            changed.values().for_each(|stream| state.put_data_stream(stream));
        })?;
        let mut next = (*catalog).clone();
        next.data_streams.extend(changed.into_iter().map(|(name, stream)| (name, Arc::new(stream))));
        self.catalog.store(Arc::new(next.derive()));
        Ok(true)
    }

    /// Ends what still runs on deleted indices and removes their folders.
    pub(super) fn bury(&self, doomed: &[Arc<IndexMetadata>], gone: Vec<Arc<LiveIndex>>) {
        gone.iter().for_each(|index| index.close());
        for metadata in doomed {
            if let Err(error) = self.environment.disk.remove_folder(&index_folder(&metadata.uuid)) {
                tracing::warn!(index = %metadata.name, %error, "folder of a deleted index is left until the next start");
            }
        }
    }

    /// `GET /{index}`, `_mapping`, `_settings`, `_alias`: in name order.
    pub fn get_index(&self, expression: &str, options: IndicesOptions) -> Result<Vec<IndexInfo>> {
        let catalog = self.catalog.load();
        let found = catalog.resolve(expression, options)?;
        Ok(found
            .iter()
            .map(|index| IndexInfo {
                name: index.name.clone(),
                uuid: index.uuid.clone(),
                open: index.open,
                aliases: index.aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect(),
                data_stream: catalog.backing.get(&index.name).cloned(),
                mappings: (*index.mappings).clone(),
                settings: index.shown_settings(),
                defaults: defaults(&index.settings),
            })
            .collect())
    }

    /// The compiled mapping of an open index, for the field APIs.
    pub fn mapping(&self, index: &str) -> Result<Arc<Mapping>> {
        let (metadata, _) = self.catalog.load().single(index)?;
        Ok(self.live(&metadata)?.core.mapping.load_full())
    }

    /// `HEAD /{index}`: every name in the expression exists.
    pub fn index_exists(&self, expression: &str, options: IndicesOptions) -> Result<bool> {
        match self.catalog.load().resolve(expression, options) {
            Ok(found) => Ok(!found.is_empty() || has_wildcard(expression) || expression == "_all"),
            Err(error) if error.status == 404 => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// `PUT /{index}/_mapping`; of aliases and data streams all indices, or those alone that are written to.
    pub fn put_mapping(
        &self,
        expression: &str,
        options: IndicesOptions,
        write_index_only: bool,
        body: &Value,
    ) -> Result<()> {
        let _changing = self.changing.lock();
        let catalog = self.catalog.load_full();
        let indices = match write_index_only {
            true => catalog.write_indices(expression)?,
            false => catalog.resolve(expression, options)?,
        };
        let mut updates = Vec::new();
        for metadata in &indices {
            self.check_metadata_block(metadata)?;
            let mapping = match self.live.load().get(&metadata.uuid) {
                Some(live) => live.core.mapping.load().merge(body)?,
                None => {
                    let settings = metadata.typed.mapping_settings(&metadata.settings)?;
                    Mapping::restore(&metadata.mappings, &settings)?.merge(body)?
                }
            };
            check_index_sort(&metadata.typed.sort, &mapping, &metadata.name)?;
            self.check_runtime_scripts(&mapping)?;
            updates.push((metadata, mapping));
        }
        for (metadata, mapping) in updates {
            self.change_mapping(metadata, mapping)?;
        }
        Ok(())
    }

    /// Compiles the scripts of runtime fields; what is wrong with them is the mapping's fault.
    pub(super) fn check_runtime_scripts(&self, mapping: &Mapping) -> Result<()> {
        limber_search::check_runtime_scripts(mapping, &self.scripts).map_err(|cause| {
            let reason = format!("Failed to parse mapping: {}", cause.reason);
            RequestError::new(400, "mapper_parsing_exception", reason).caused_by(cause)
        })
    }

    /// Stores and publishes a mapping. Called with `changing` held.
    fn change_mapping(&self, metadata: &IndexMetadata, mapping: Mapping) -> Result<()> {
        let shown = mapping.to_json();
        if shown != *metadata.mappings {
            let mut next = metadata.clone();
            next.mappings = Arc::new(shown);
            self.store_metadata(next)?;
        }
        if let Some(live) = self.live.load().get(&metadata.uuid) {
            live.core.mapping.store(Arc::new(mapping));
        }
        Ok(())
    }

    /// Writes changed metadata and publishes it in the catalog. Called with `changing` held.
    pub(super) fn store_metadata(&self, metadata: IndexMetadata) -> Result<()> {
        self.store_all_metadata(vec![metadata])
    }

    /// Writes the metadata of several indices and publishes them together. Called with `changing` held.
    pub(super) fn store_all_metadata(&self, changed: Vec<IndexMetadata>) -> Result<()> {
        let mut next = (*self.catalog.load_full()).clone();
        for mut metadata in changed {
            metadata.version += 1;
            let directory =
                self.environment.folder(&index_folder(&metadata.uuid)).map_err(|e| store_error(&e))?;
            if let Err(error) = write_atomically(&*directory, METADATA_NAME, &metadata.to_bytes()) {
                if error.is_disk_full() {
                    self.disk_is_full();
                }
                return Err(crate::shard::disk_error(&error, &metadata.name));
            }
            next.indices.insert(metadata.name.clone(), Arc::new(metadata));
        }
        self.catalog.store(Arc::new(next.derive()));
        Ok(())
    }

    /// Names, wildcards, exclusions, aliases, `_all` and `""` to indices.
    pub fn resolve(&self, expression: &str, options: IndicesOptions) -> Result<Vec<ResolvedIndex>> {
        let found = self.catalog.load().resolve(expression, options)?;
        Ok(found
            .iter()
            .map(|index| ResolvedIndex {
                name: index.name.clone(),
                uuid: index.uuid.clone(),
                open: index.open,
            })
            .collect())
    }

    /// The body of `GET /_resolve/index/{name}`.
    pub fn resolve_index(&self, expression: &str, options: IndicesOptions) -> Result<Value> {
        let catalog = self.catalog.load();
        let found = catalog.resolve(
            expression,
            IndicesOptions {
                resolve_aliases: false,
                data_streams: false,
                ignore_unavailable: true,
                ..options
            },
        );
        let streams = catalog
            .resolve_data_streams(expression, IndicesOptions { ignore_unavailable: true, ..options })?;
        let indices: Vec<Value> = found?
            .iter()
            .map(|index| {
                let mut attributes = vec![if index.open { "open" } else { "closed" }];
                if index.hidden() {
                    attributes.insert(0, "hidden");
                }
                let mut shown = json!({"name": &*index.name});
                if !index.aliases.is_empty() {
                    shown["aliases"] = index.aliases.keys().cloned().collect();
                }
                attributes.sort_unstable();
                shown["attributes"] = attributes.into();
                if let Some(stream) = catalog.backing.get(&index.name) {
                    shown["data_stream"] = (**stream).into();
                }
                shown
            })
            .collect();
        let aliases: Vec<Value> = catalog
            .matching_aliases(expression)
            .iter()
            .filter(|alias| options.expand_hidden || !catalog.alias_is_hidden(alias))
            .map(|alias| json!({"name": &**alias, "indices": catalog.aliases[alias].iter().map(|name| &**name).collect::<Vec<_>>()}))
            .collect();
        let streams: Vec<Value> = streams
            .iter()
            .map(|stream| {
                let backing: Vec<&str> = stream.indices.iter().map(|index| &**index).collect();
                json!({"name": &*stream.name, "backing_indices": backing, "timestamp_field": "@timestamp"})
            })
            .collect();
        if indices.is_empty()
            && aliases.is_empty()
            && streams.is_empty()
            && !has_wildcard(expression)
            && expression != "_all"
            && !options.ignore_unavailable
        {
            return Err(crate::catalog::names::index_not_found(expression));
        }
        Ok(json!({"indices": indices, "aliases": aliases, "data_streams": streams}))
    }
}

impl Host for Node {
    fn update_mapping(&self, index: &IndexCore, inferred: &Value) -> Result<()> {
        let _changing = self.changing.lock();
        let merged = index.mapping.load().merge(inferred)?;
        let catalog = self.catalog.load_full();
        match catalog.indices.get(&index.name).filter(|metadata| metadata.uuid == index.uuid) {
            Some(metadata) => {
                let shown = merged.to_json();
                if shown != *metadata.mappings {
                    self.store_metadata(IndexMetadata { mappings: Arc::new(shown), ..(**metadata).clone() })?;
                }
                index.mapping.store(Arc::new(merged));
                Ok(())
            }
            None => Err(crate::catalog::names::index_not_found(&index.name)),
        }
    }

    fn relieve_indexing_memory(&self, is_full: &dyn Fn() -> bool) {
        if let Some(shard) = largest_buffer(&self.shards(), &self.ledger.indexing)
            && let Err(error) = shard.write_buffers_if(is_full)
        {
            tracing::warn!(index = %shard.index.name, %error, "buffers could not be written out");
        }
    }

    fn write_buffers_soon(&self) {
        if let Some(thread) = self.buffers_thread.get() {
            thread.unpark();
        }
    }

    fn disk_is_full(&self) {
        self.note_full_disk();
    }
}

/// A data stream must keep the index that it is written to.
pub(super) fn check_is_not_written_by_stream(catalog: &Catalog, index: &IndexMetadata) -> Result<()> {
    match catalog.stream_of(&index.name).filter(|stream| *stream.write_index() == index.name) {
        None => Ok(()),
        Some(stream) => Err(RequestError::illegal_argument(format!(
            "index [{}] is the write index for data stream [{}] and cannot be deleted",
            index.name, stream.name
        ))),
    }
}

/// An alias may not have the name of an index.
pub(super) fn check_alias_target(catalog: &Catalog, alias: &str) -> Result<()> {
    crate::catalog::names::check_alias_name(alias)?;
    if catalog.indices.contains_key(alias) || catalog.data_streams.contains_key(alias) {
        return Err(RequestError::new(
            400,
            "invalid_alias_name_exception",
            format!(
                "Invalid alias name [{alias}]: an index or data stream exists with the same name as the alias"
            ),
        ));
    }
    Ok(())
}

/// An alias has at most one write index.
pub(super) fn check_write_indices(catalog: &Catalog) -> Result<()> {
    let mut writers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for index in catalog.indices.values() {
        for (name, alias) in &index.aliases {
            if alias.is_write_index == Some(true) {
                writers.entry(name).or_default().push(&index.name);
            }
        }
    }
    match writers.into_iter().find(|(_, indices)| indices.len() > 1) {
        None => Ok(()),
        Some((alias, indices)) => Err(RequestError::new(
            500,
            "illegal_state_exception",
            format!("alias [{alias}] has more than one write index [{}]", indices.join(",")),
        )),
    }
}
