//! Indices: create, delete, get, mapping, names.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use limber_mapping::{Mapping, RequestError};
use limber_store::directory::write_atomically;
use serde_json::{Value, json};

use super::Node;
use super::live::{LiveIndex, index_folder, shard_folder};
use super::open::LiveIndices;
use crate::api::*;
use crate::catalog::names::{check_index_name, has_wildcard, index_not_found_because};
use crate::catalog::{Catalog, IndexMetadata, ResolvedTemplate, TemplateBody};
use crate::settings::{IndexSettings, check_index_sort, check_new, defaults};
use crate::shard::{Host, IndexCore, create_files, largest_buffer, store_error};

/// Metadata of an index, in its folder.
pub(crate) const METADATA_NAME: &str = "index.json";

impl Node {
    /// `PUT /{index}`; `body` is the whole body (`settings`, `mappings`, `aliases`) or `{}`.
    pub fn create_index(&self, name: &str, body: &Value) -> Result<CreateIndexResponse> {
        let mut given = TemplateBody::default();
        match body {
            Value::Null => {}
            Value::Object(members) => {
                for (key, value) in members {
                    if !given.read(key, value)? {
                        return Err(RequestError::new(
                            400,
                            "parse_exception",
                            format!("unknown key [{key}] for create index"),
                        ));
                    }
                }
            }
            _ => {
                return Err(RequestError::new(
                    400,
                    "parse_exception",
                    "request body is required to be an object",
                ));
            }
        }
        let _changing = self.changing.lock();
        self.create_locked(name, &given)?;
        Ok(CreateIndexResponse { index: name.into(), shards_acknowledged: true })
    }

    /// The index under `name`, created when absent, as `action.auto_create_index` and templates allow.
    pub(super) fn auto_create(&self, name: &str) -> Result<()> {
        let _changing = self.changing.lock();
        let catalog = self.catalog.load();
        if catalog.indices.contains_key(name) || catalog.aliases.contains_key(name) {
            return Ok(());
        }
        let settings = self.settings.load();
        let rule = settings.text("action.auto_create_index");
        let allowed = catalog.templates.allows_auto_create(name);
        if allowed != Some(true) {
            auto_create_allowed(rule, name)?;
            if allowed == Some(false) {
                return Err(index_not_found_because(
                    name,
                    format!("no such index [{name}] and composable template forbids index auto creation"),
                ));
            }
        }
        self.create_locked(name, &TemplateBody::default())
    }

    fn create_locked(&self, name: &str, given: &TemplateBody) -> Result<()> {
        self.check_metadata_write_block()?;
        check_index_name(name)?;
        let catalog = self.catalog.load_full();
        if let Some(existing) = catalog.indices.get(name) {
            return Err(RequestError::new(
                400,
                "resource_already_exists_exception",
                format!("index [{name}/{}] already exists", existing.uuid),
            )
            .with("index_uuid", &*existing.uuid)
            .with("index", name));
        }
        if catalog.aliases.contains_key(name) {
            return Err(RequestError::new(
                400,
                "invalid_index_name_exception",
                format!("Invalid index name [{name}], already exists as alias"),
            )
            .with("index_uuid", "_na_")
            .with("index", name));
        }
        if let Some(settings) = &given.settings {
            check_new(settings)?;
        }
        let mut resolved = catalog.templates.resolve(name);
        resolved.lay(given);
        let ResolvedTemplate { mut settings, mappings, aliases } = resolved;
        settings.retain(|_, value| !value.is_null());
        for key in ["index.number_of_shards", "index.number_of_replicas"] {
            settings.entry(key).or_insert_with(|| "1".into());
        }
        check_new(&settings)?;
        let typed = Arc::new(IndexSettings::from_flat(&settings)?);
        self.check_shard_limit(&catalog, &typed)?;
        for alias in aliases.keys() {
            check_alias_target(&catalog, alias)?;
        }
        let mapping = Mapping::parse(&Value::Object(mappings), &typed.mapping_settings(&settings)?)?;
        check_index_sort(&typed.sort, &mapping, name)?;
        self.check_runtime_scripts(&mapping)?;
        let metadata = IndexMetadata {
            name: name.into(),
            uuid: self.environment.uuid().into(),
            creation_date_ms: self.now_millis(),
            version_created: index_version(&self.config.compat_version),
            settings,
            typed,
            mappings: Arc::new(mapping.to_json()),
            aliases,
            open: true,
            version: 1,
        };
        check_write_indices(&catalog.with_index(Arc::new(metadata.clone())))?;
        if let Err(error) = self.write_new_index(&metadata) {
            // What is left without metadata is removed here or at the next start.
            let _ = self.environment.disk.remove_folder(&index_folder(&metadata.uuid));
            return Err(error);
        }
        let index = LiveIndex::open(&metadata, &self.services())?;
        self.publish_live(|live| drop(live.insert(metadata.uuid.clone(), Arc::new(index))));
        self.catalog.store(Arc::new(catalog.with_index(Arc::new(metadata))));
        Ok(())
    }

    /// Shards first, metadata last: the index exists once its metadata does.
    fn write_new_index(&self, metadata: &IndexMetadata) -> Result<()> {
        let write = || -> limber_store::Result<()> {
            for number in 0..metadata.typed.number_of_shards {
                let directory = self.environment.folder(&shard_folder(&metadata.uuid, number))?;
                create_files(&*directory, &self.environment)?;
            }
            let directory = self.environment.folder(&index_folder(&metadata.uuid))?;
            write_atomically(&*directory, METADATA_NAME, &metadata.to_bytes())
        };
        write().map_err(|error| crate::shard::disk_error(&error, &metadata.name))
    }

    pub(super) fn check_shard_limit(&self, catalog: &Catalog, typed: &IndexSettings) -> Result<()> {
        let limit = self.settings.load().integer("cluster.max_shards_per_node").max(1) as u64;
        let of = |typed: &IndexSettings| {
            u64::from(typed.number_of_shards) * (1 + u64::from(typed.number_of_replicas))
        };
        let open: u64 =
            catalog.indices.values().filter(|index| index.open).map(|index| of(&index.typed)).sum();
        let more = of(typed);
        if open + more > limit {
            return Err(RequestError::new(
                400,
                "validation_exception",
                format!(
                    "Validation Failed: 1: this action would add [{more}] shards, but this cluster currently has [{open}]/[{limit}] \
                     maximum normal shards open;"
                ),
            ));
        }
        Ok(())
    }

    pub(super) fn publish_live(&self, change: impl FnOnce(&mut LiveIndices)) {
        let mut live: HashMap<_, _> = (**self.live.load()).clone();
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
        }
        let gone = self.delete_locked(&doomed)?;
        drop(changing);
        self.bury(&doomed, gone);
        Ok(())
    }

    /// Takes indices out of the catalog. Called with `changing` held; what it answers is to be given to [`Node::bury`] afterwards.
    pub(super) fn delete_locked(&self, doomed: &[Arc<IndexMetadata>]) -> Result<Vec<Arc<LiveIndex>>> {
        let mut gone = Vec::new();
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
        Ok(gone)
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
        let found = self.catalog.load().resolve(expression, options)?;
        Ok(found
            .iter()
            .map(|index| IndexInfo {
                name: index.name.clone(),
                uuid: index.uuid.clone(),
                open: index.open,
                aliases: index.aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect(),
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

    pub fn put_mapping(&self, expression: &str, options: IndicesOptions, body: &Value) -> Result<()> {
        let _changing = self.changing.lock();
        let catalog = self.catalog.load_full();
        let indices = catalog.resolve(expression, options)?;
        let mut updates = Vec::new();
        for metadata in &indices {
            self.check_metadata_block(metadata)?;
            let mapping = match self.live.load().get(&metadata.uuid) {
                Some(live) => live.core.mapping.load().merge(body)?,
                None => {
                    let settings = metadata.typed.mapping_settings(&metadata.settings)?;
                    Mapping::parse(&metadata.mappings, &settings)?.merge(body)?
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
    fn check_runtime_scripts(&self, mapping: &Mapping) -> Result<()> {
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
    pub(super) fn store_metadata(&self, mut metadata: IndexMetadata) -> Result<()> {
        metadata.version += 1;
        let directory =
            self.environment.folder(&index_folder(&metadata.uuid)).map_err(|e| store_error(&e))?;
        if let Err(error) = write_atomically(&*directory, METADATA_NAME, &metadata.to_bytes()) {
            if error.is_disk_full() {
                self.disk_is_full();
            }
            return Err(crate::shard::disk_error(&error, &metadata.name));
        }
        let next = self.catalog.load().with_index(Arc::new(metadata));
        self.catalog.store(Arc::new(next));
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
            IndicesOptions { resolve_aliases: false, ignore_unavailable: true, ..options },
        );
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
                shown
            })
            .collect();
        let aliases: Vec<Value> = catalog
            .matching_aliases(expression)
            .iter()
            .filter(|alias| options.expand_hidden || !catalog.alias_is_hidden(alias))
            .map(|alias| json!({"name": &**alias, "indices": catalog.aliases[alias].iter().map(|name| &**name).collect::<Vec<_>>()}))
            .collect();
        if indices.is_empty()
            && aliases.is_empty()
            && !has_wildcard(expression)
            && expression != "_all"
            && !options.ignore_unavailable
        {
            return Err(crate::catalog::names::index_not_found(expression));
        }
        Ok(json!({"indices": indices, "aliases": aliases, "data_streams": []}))
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

    fn relieve_indexing_memory(&self, bytes: u64) {
        let pool = &self.ledger.indexing;
        let is_full = || pool.used_bytes().saturating_add(bytes) > pool.limit_bytes();
        if let Some(shard) = largest_buffer(&self.shards(), pool)
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

/// `action.auto_create_index`: `true`, `false`, or patterns with `+` and `-`.
fn auto_create_allowed(rule: &str, name: &str) -> Result<()> {
    let refused =
        |why: String| Err(index_not_found_because(name, format!("no such index [{name}] and {why}")));
    match rule {
        "true" => Ok(()),
        "false" => refused("[action.auto_create_index] is [false]".into()),
        patterns => {
            for pattern in patterns.split(',').map(str::trim) {
                let (allows, pattern) = match pattern.strip_prefix('-') {
                    Some(pattern) => (false, pattern),
                    None => (true, pattern.strip_prefix('+').unwrap_or(pattern)),
                };
                if crate::catalog::names::wildcard_matches(pattern, name) {
                    return match allows {
                        true => Ok(()),
                        false => refused(format!(
                            "[action.auto_create_index] contains [-{pattern}] which forbids automatic creation of the index"
                        )),
                    };
                }
            }
            refused(format!("[action.auto_create_index] ([{patterns}]) doesn't match"))
        }
    }
}

/// An alias may not have the name of an index.
pub(super) fn check_alias_target(catalog: &Catalog, alias: &str) -> Result<()> {
    crate::catalog::names::check_alias_name(alias)?;
    if catalog.indices.contains_key(alias) {
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

/// `8.14.3` to the id that Elasticsearch writes into `index.version.created`.
fn index_version(version: &str) -> String {
    // Source: org.elasticsearch.index.IndexVersions; from 8.11 on ids are no longer derived from the version.
    const IDS: [((u32, u32), &str); 11] = [
        ((8, 11), "8500003"),
        ((8, 12), "8500008"),
        ((8, 13), "8503000"),
        ((8, 14), "8505000"),
        ((8, 15), "8512000"),
        ((8, 16), "8518000"),
        ((8, 17), "8521000"),
        ((8, 18), "8525000"),
        ((8, 19), "8536000"),
        ((9, 0), "9009000"),
        ((9, 4), "9060000"),
    ];
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor, patch) =
        (parts.next().unwrap_or(8), parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    match IDS.iter().rev().find(|(from, _)| *from <= (major, minor)) {
        Some((_, id)) => (*id).to_owned(),
        None => format!("{major}{minor:02}{patch:02}99"),
    }
}
