//! Deletes and shows indices, and changes and shows mappings.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_access::Limits;
use limber_mapping::{ErrorClass, Mapping, RequestError, plain_text, shown_mapping};
use limber_text::wildcard;
use serde_json::{Value, json};

use super::index_files::check_is_readable;
use super::live::LiveIndex;
use crate::api::*;
use crate::catalog::names::{index_closed, index_not_found};
use crate::catalog::{Catalog, IndexMetadata};
use crate::node::Node;
use crate::node::kept_state::security::check_is_on_indices;
use crate::node::kept_state::state::NodeState;
use crate::node::life::open::LiveIndices;
use crate::settings::{check_index_sort, defaults};
use crate::shard::{Growth, Host, IndexCore, largest_buffer};

impl Node {
    pub(in crate::node) fn publish_live(&self, change: impl FnOnce(&mut LiveIndices)) {
        let _publishing = self.publishing.lock();
        let mut live: LiveIndices = (**self.live.load()).clone();
        change(&mut live);
        self.live.store(Arc::new(live));
    }

    /// Deletes all indices of the expression, or none of them.
    pub fn delete_index(&self, expression: &str, options: IndicesOptions) -> Result<()> {
        let is_broad = expression
            .split(',')
            .map(str::trim)
            .any(|part| wildcard::is_pattern(part) || part == "_all" || part.is_empty());
        if is_broad && self.settings.load().boolean("action.destructive_requires_name") {
            return Err(RequestError::illegal_argument(
                "Wildcard expressions or all indices are not allowed",
            ));
        }
        self.change_catalog(|catalog| Ok((self.without_matching(catalog, expression, options)?.0, ())))
    }

    /// Deletes all indices of the expression, and changes the node's state by `beside` with the same write.
    /// Returns whether there are such indices; if not, nothing is changed.
    pub(in crate::node) fn delete_index_beside(
        &self,
        expression: &str,
        options: IndicesOptions,
        beside: impl Fn(&mut NodeState) -> Result<()>,
    ) -> Result<bool> {
        let plan = |catalog: &Catalog| self.without_matching(catalog, expression, options);
        let sync = |_: &bool, old: &IndexMetadata, next: &IndexMetadata| self.sync_live(old, next);
        let (gone, is_any) = self.change_catalog_beside(&[], plan, sync, beside, |()| {})?;
        self.bury(gone);
        Ok(is_any)
    }

    /// Returns the catalog without the indices of the expression, and whether there are any.
    fn without_matching(
        &self,
        catalog: &Catalog,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<(Catalog, bool)> {
        let mut next = catalog.clone();
        let found = catalog.resolve(expression, options)?;
        for metadata in &found {
            check_is_on_indices(&metadata.name)?;
            self.check_delete_block(metadata)?;
            check_is_not_written_by_stream(catalog, metadata)?;
            next = next.without_index(&metadata.name);
        }
        Ok((next, !found.is_empty()))
    }

    /// Carries out `GET /{index}`, `_mapping` and `_settings`. Indices are in name order.
    ///
    /// # Errors
    /// Also fails for an index whose metadata is blocked.
    pub fn show_index(&self, expression: &str, options: IndicesOptions) -> Result<Vec<IndexInfo>> {
        let catalog = self.catalog.load();
        let found = catalog.resolve(expression, options)?;
        found.iter().try_for_each(|index| self.check_metadata_read_block(index))?;
        infos(&catalog, &found)
    }

    /// Returns what is known of indices, in name order, whatever is blocked.
    pub fn get_index(&self, expression: &str, options: IndicesOptions) -> Result<Vec<IndexInfo>> {
        let catalog = self.catalog.load();
        infos(&catalog, &catalog.resolve(expression, options)?)
    }

    /// Returns the compiled mapping of an open index, for the field APIs.
    pub fn mapping(&self, index: &str) -> Result<Arc<Mapping>> {
        let (metadata, _) = self.catalog.load().single(index)?;
        let live = self.live(&metadata)?;
        seen_mapping(&metadata, &live)
    }

    /// Returns the compiled mapping of the index that a document was read from.
    ///
    /// # Errors
    /// The index was deleted or closed since. Another index may have its name by now.
    pub fn mapping_of(&self, response: &GetResponse) -> Result<Arc<Mapping>> {
        let (metadata, live) = self.index_of(response)?;
        seen_mapping(&metadata, &live)
    }

    /// Returns the index that a document was read from.
    ///
    /// # Errors
    /// As [`Node::mapping_of`].
    pub(in crate::node) fn index_of(
        &self,
        response: &GetResponse,
    ) -> Result<(Arc<IndexMetadata>, Arc<LiveIndex>)> {
        let named = self.catalog.load().indices.get(&response.index).cloned();
        let same = named.filter(|index| index.uuid == response.uuid);
        let metadata = same.ok_or_else(|| index_not_found(&response.index))?;
        let live = self.live(&metadata)?;
        Ok((metadata, live))
    }

    /// Returns `index.analyze.max_token_count`: how many tokens one `_analyze` request may produce.
    pub fn tokens_max(&self, index: &str) -> Result<usize> {
        let (metadata, _) = self.catalog.load().single(index)?;
        let set = metadata.settings.get("index.analyze.max_token_count");
        let text = set.map(plain_text);
        Ok(text.and_then(|text| text.parse().ok()).unwrap_or(10_000))
    }

    /// Carries out `HEAD /{index}`: whether every name in the expression exists.
    pub fn index_exists(&self, expression: &str, options: IndicesOptions) -> Result<bool> {
        match self.catalog.load().resolve(expression, options) {
            Ok(found) => {
                found.iter().try_for_each(|index| self.check_metadata_read_block(index))?;
                Ok(!found.is_empty()
                    || options.ignore_unavailable
                    || wildcard::is_pattern(expression)
                    || expression == "_all")
            }
            Err(error) if error.class == ErrorClass::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Carries out `PUT /{index}/_mapping`. Aliases and data streams stand for all their indices, or with
    /// `write_index_only` for their write index.
    pub fn put_mapping(
        &self,
        expression: &str,
        options: IndicesOptions,
        write_index_only: bool,
        body: &Value,
    ) -> Result<()> {
        let plan = |catalog: &Catalog| {
            let indices = match write_index_only {
                true => catalog.write_indices(expression)?,
                false => catalog.resolve(expression, options)?,
            };
            let (mut next, mut mappings) = (catalog.clone(), HashMap::new());
            for metadata in &indices {
                let mapping = self.merged_mapping(metadata, body)?;
                let shown = mapping.to_json();
                if shown != *metadata.mappings {
                    let changed = IndexMetadata { mappings: Arc::new(shown), ..(**metadata).clone() };
                    next.indices.insert(metadata.name.clone(), Arc::new(changed));
                }
                mappings.insert(metadata.uuid.clone(), Arc::new(mapping));
            }
            Ok((next, mappings))
        };
        let sync = |mappings: &HashMap<Arc<str>, Arc<Mapping>>, _: &IndexMetadata, next: &IndexMetadata| {
            if let (Some(live), Some(mapping)) = (self.live.load().get(&next.uuid), mappings.get(&next.uuid))
            {
                live.core.mapping.store(mapping.clone());
            }
        };
        let (gone, _) = self.change_catalog_with(&[], plan, sync)?;
        self.bury(gone);
        Ok(())
    }

    /// Returns the mapping of an index merged with the mapping of a request.
    fn merged_mapping(&self, metadata: &IndexMetadata, body: &Value) -> Result<Mapping> {
        self.check_metadata_block(metadata)?;
        check_is_readable(metadata)?;
        let mapping = match self.live.load().get(&metadata.uuid) {
            Some(live) => live.core.mapping.load().merge(body)?,
            None => {
                // What is stored is not refused any more.
                let stored = limber_work::suspended(|| {
                    let settings = metadata.typed.mapping_settings(&metadata.settings, &self.analysis())?;
                    Mapping::restore(&metadata.mappings, &settings)
                });
                stored?.merge(body)?
            }
        };
        check_index_sort(&metadata.typed.sort, &mapping, &metadata.name)?;
        self.check_runtime_scripts(&mapping)?;
        Ok(mapping)
    }

    /// Checks that the scripts of runtime fields compile. Errors are reported as errors of the mapping.
    pub(in crate::node) fn check_runtime_scripts(&self, mapping: &Mapping) -> Result<()> {
        limber_search::check_runtime_scripts(mapping, &self.scripts).map_err(|cause| {
            let reason = format!("Failed to parse mapping: {}", cause.reason);
            RequestError::bad_request("mapper_parsing_exception", reason).caused_by(cause)
        })
    }

    /// Resolves names, wildcards, exclusions, aliases, `_all` and `""` to indices.
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

    /// Returns the body of `GET /_resolve/index/{name}`. Unless `modes` is empty, it only lists indices of
    /// these modes, and the aliases and data streams that have such an index.
    pub fn resolve_index(
        &self,
        expression: &str,
        options: IndicesOptions,
        modes: &[String],
    ) -> Result<Value> {
        let catalog = self.catalog.load();
        // Every name that the expression contains must exist, whatever else it finds.
        let named = IndicesOptions {
            resolve_aliases: true,
            data_streams: true,
            forbid_closed_indices: false,
            ..options
        };
        catalog.resolve(expression, named)?;
        let has_mode = |index: &IndexMetadata| {
            modes.is_empty() || modes.iter().any(|mode| mode == index.typed.mode.name())
        };
        let is_wanted = |name: &Arc<str>| {
            modes.is_empty() || catalog.indices.get(name).is_some_and(|index| has_mode(index))
        };
        let lenient = IndicesOptions { ignore_unavailable: true, allow_no_indices: true, ..options };
        let only_indices = IndicesOptions { resolve_aliases: false, data_streams: false, ..lenient };
        let mut found = catalog.resolve(expression, only_indices)?;
        if !options.ignore_unavailable {
            let named = expression.split(',').filter_map(|name| catalog.indices.get(name.trim()));
            let closed = named.filter(|index| !index.open && catalog.may_be_named(&index.name));
            found.extend(closed.cloned());
            found.sort_by(|left, right| left.name.cmp(&right.name));
            found.dedup_by(|left, right| left.name == right.name);
        }
        let streams = catalog.resolve_data_streams(expression, lenient)?;
        let aliases: Vec<Arc<str>> = catalog
            .matching_aliases(expression)?
            .into_iter()
            .filter(|alias| options.expand_hidden || !catalog.alias_is_hidden(alias))
            .collect();
        let indices: Vec<Value> = found
            .iter()
            .filter(|index| has_mode(index))
            .map(|index| show_resolved(&catalog, index))
            .collect();
        let aliases = aliases.into_iter().filter_map(|alias| {
            let names = catalog.aliases[&alias].iter().filter(|name| is_wanted(name));
            let names: Vec<&str> = names.map(|name| &**name).collect();
            (!names.is_empty()).then(|| json!({"name": &*alias, "indices": names}))
        });
        let streams = streams.iter().filter_map(|stream| {
            let backing = stream.indices.iter().filter(|name| is_wanted(name));
            let backing: Vec<&str> = backing.map(|name| &**name).collect();
            (modes.is_empty() || !backing.is_empty()).then(|| {
                json!({"name": &*stream.name, "backing_indices": backing, "timestamp_field": "@timestamp"})
            })
        });
        let (aliases, streams): (Vec<Value>, Vec<Value>) = (aliases.collect(), streams.collect());
        Ok(json!({"indices": indices, "aliases": aliases, "data_streams": streams}))
    }
}

/// Returns an index as `_resolve/index` shows it.
fn show_resolved(catalog: &Catalog, index: &IndexMetadata) -> Value {
    let mut attributes = vec![if index.open { "open" } else { "closed" }];
    if index.hidden() {
        attributes.insert(0, "hidden");
    }
    attributes.sort_unstable();
    let mut shown = json!({"name": &*index.name});
    if !index.aliases.is_empty() {
        shown["aliases"] = index.aliases.keys().cloned().collect();
    }
    shown["attributes"] = attributes.into();
    if let Some(stream) = catalog.backing.get(&index.name) {
        shown["data_stream"] = (**stream).into();
    }
    shown["mode"] = index.typed.mode.name().into();
    shown
}

impl Host for Node {
    fn update_mapping(
        &self,
        index: &IndexCore,
        growth: &Growth,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        check_may_grow(&self.catalog.load(), &index.name)?;
        // Only the lock of this index is held, so writers of other indices do not wait for the disk.
        self.change_index_with(
            &index.name,
            &index.uuid,
            |metadata| {
                // While this write waited, the index may have been closed and its mapping changed, which this
                // mapping does not know.
                if !metadata.open || index.is_closed.load(Ordering::Acquire) {
                    return Err(index_closed(&index.name, &index.uuid));
                }
                check()?;
                let present = index.mapping.load_full();
                let merged = match Arc::ptr_eq(&present, &growth.base) {
                    true => growth.merged.clone(),
                    false => Arc::new(present.merge(&growth.inferred)?),
                };
                let shown = merged.to_json();
                let changed = (shown != *metadata.mappings)
                    .then(|| IndexMetadata { mappings: Arc::new(shown), ..metadata.clone() });
                Ok((changed, merged))
            },
            |merged| index.mapping.store(merged),
        )
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

/// Checks that documents of this request may add fields to the mapping of a data stream. Those of an index
/// may, with any right to write.
///
/// Source: `IndicesPermission#containsPrivilegeThatGrantsMappingUpdatesForBwc`.
fn check_may_grow(catalog: &Catalog, index: &str) -> Result<()> {
    const GROW: &str = "indices:admin/mapping/auto_put";
    let (Some(access), Some(stream)) = (limber_access::current(), catalog.stream_of(index)) else {
        return Ok(());
    };
    let mut names = stream.aliases.keys().map(String::as_str).chain([&*stream.name]);
    match names.any(|name| access.check_action(GROW, [name]).is_ok()) {
        true => Ok(()),
        false => access.check_action(GROW, [index]),
    }
}

/// Describes indices.
fn infos(catalog: &Catalog, found: &[Arc<IndexMetadata>]) -> Result<Vec<IndexInfo>> {
    let shown = |index: &Arc<IndexMetadata>| -> Result<IndexInfo> {
        limber_work::check_beyond_deadline()?;
        Ok(IndexInfo {
            name: index.name.clone(),
            uuid: index.uuid.clone(),
            open: index.open,
            aliases: index.aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect(),
            data_stream: catalog.backing.get(&index.name).cloned(),
            mappings: shown_mappings(index)?,
            settings: index.shown_settings(),
            defaults: defaults(&index.settings),
        })
    };
    found.iter().map(shown).collect()
}

/// Returns the compiled mapping of an index, with only the fields that the request of this thread may see.
fn seen_mapping(metadata: &IndexMetadata, live: &LiveIndex) -> Result<Arc<Mapping>> {
    let whole = live.core.mapping.load_full();
    match limits_of(metadata)? {
        Some(limits) => live.core.seen.of(&whole, &limits),
        None => Ok(whole),
    }
}

/// Returns what is hidden of an index from the request of this thread.
pub(in crate::node) fn limits_of(index: &IndexMetadata) -> Result<Option<Limits>> {
    limber_access::current().map_or(Ok(None), |access| access.limits(&index.name, None))
}

/// Returns the mappings, with only the fields that the request of this thread may see.
fn shown_mappings(index: &IndexMetadata) -> Result<Value> {
    match limits_of(index)?.filter(|limits| !limits.fields.is_empty()) {
        None => Ok((*index.mappings).clone()),
        Some(limits) => Ok(shown_mapping(&index.mappings, &|path: &str| limits.allows_field(path))),
    }
}

/// Checks that no index is the write index of a data stream, which must be kept.
pub(in crate::node) fn check_is_not_written_by_stream(
    catalog: &Catalog,
    index: &IndexMetadata,
) -> Result<()> {
    match catalog.stream_of(&index.name).filter(|stream| *stream.write_index() == index.name) {
        None => Ok(()),
        Some(stream) => Err(RequestError::illegal_argument(format!(
            "index [{}] is the write index for data stream [{}] and cannot be deleted",
            index.name, stream.name
        ))),
    }
}

/// Checks that an alias does not have the name of an index.
pub(in crate::node) fn check_alias_target(catalog: &Catalog, alias: &str) -> Result<()> {
    crate::catalog::names::check_alias_name(alias)?;
    match catalog.indices.contains_key(alias) || catalog.data_streams.contains_key(alias) {
        true => Err(name_is_taken(alias)),
        false => Ok(()),
    }
}

/// Checks that an alias of indices has neither the name of an index nor that of an alias of data streams.
pub(in crate::node) fn check_index_alias(catalog: &Catalog, alias: &str) -> Result<()> {
    check_alias_target(catalog, alias)?;
    match catalog.streams_with_alias(alias).next() {
        None => Ok(()),
        Some(_) => Err(crate::node::stream::data_streams::aliases_collide(alias)),
    }
}

pub(in crate::node) fn name_is_taken(alias: &str) -> RequestError {
    let reason = format!(
        "Invalid alias name [{alias}]: an index or data stream exists with the same name as the alias"
    );
    RequestError::bad_request("invalid_alias_name_exception", reason)
}

/// Checks that every alias has at most one write index, and that the indices of an alias agree on whether it
/// is hidden, unless they already differed `before` the change.
pub(in crate::node) fn check_aliases(before: &Catalog, next: &Catalog) -> Result<()> {
    check_write_indices(next)?;
    for alias in next.aliases.keys() {
        let differs = |of: &[Vec<&str>; 2]| of.iter().all(|indices| !indices.is_empty());
        let both @ [hidden, shown] = &next.by_hiding(alias);
        if differs(both) && !differs(&before.by_hiding(alias)) {
            return Err(RequestError::bad_request(
                "illegal_state_exception",
                format!(
                    "alias [{alias}] has is_hidden set to true on indices [{}] but does not have is_hidden set to true on indices \
                     [{}]; alias must have the same is_hidden setting on all indices",
                    hidden.join(","),
                    shown.join(",")
                ),
            ));
        }
    }
    Ok(())
}

fn check_write_indices(catalog: &Catalog) -> Result<()> {
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
        Some((alias, indices)) => Err(RequestError::bad_request(
            "illegal_state_exception",
            format!("alias [{alias}] has more than one write index [{}]", indices.join(",")),
        )),
    }
}
