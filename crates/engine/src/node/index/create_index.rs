//! Creates indices: "may this index be created, and what does it start from?"

use std::sync::Arc;

use limber_mapping::{Mapping, RequestError};
use limber_text::wildcard;
use limber_work as work;
use serde_json::{Map, Value};

use super::indices::{check_alias_target, check_aliases, check_index_alias};
use super::live::{LiveIndex, index_folder, shard_folder};
use crate::api::*;
use crate::catalog::names::{check_index_name, index_not_found_because};
use crate::catalog::{Alias, BACKING_PREFIX, Catalog, IndexMetadata, ResolvedTemplate, TemplateBody};
use crate::lifecycle::LifecycleState;
use crate::node::Node;
use crate::notation::body::optional_members;
use crate::settings::{ALLOCATION, IndexSettings, check_index_sort, check_new, settle_mode};
use crate::shard::create_files;

/// The data tiers that an index prefers. The only node belongs to all of them.
const TIER_PREFERENCE: &str = "index.routing.allocation.include._tier_preference";

/// Indices of Elasticsearch's own features and of Kibana, whose names may begin with a dot. Source: the
/// `SystemIndexDescriptor`s of its plugins.
const OF_SYSTEM: &[&str] = &[
    ".apm-",
    ".async-search",
    ".enrich-",
    ".fleet-",
    ".geoip_databases",
    ".internal.",
    ".kibana",
    ".ml-",
    ".reporting",
    ".security",
    ".synonyms",
    ".tasks",
    ".transform-",
    ".triggered_watches",
    ".watch",
    ".workplace",
];

/// Source: `MetadataCreateIndexService#validateDotIndex`.
fn warn_of_dot(index: &IndexMetadata) {
    let name = &index.name;
    if name.starts_with('.') && !index.hidden() && !OF_SYSTEM.iter().any(|prefix| name.starts_with(prefix)) {
        work::warn(format!(
            "index name [{name}] starts with a dot '.', in the next major version, index names starting with a dot are reserved for hidden \
             indices and system indices"
        ));
    }
}

impl Node {
    /// Carries out `PUT /{index}`; `body` is the whole body (`settings`, `mappings`, `aliases`) or `{}`.
    pub fn create_index(&self, name: &str, body: &Value) -> Result<CreateIndexResponse> {
        self.create_index_marked(name, body, false, ActiveCopies::Number(1))
    }

    /// Works like [`Node::create_index`], but the response tells whether these copies have started. Copies
    /// that never will are not waited for.
    ///
    /// # Errors
    /// Also fails if each shard has fewer copies.
    pub fn create_index_awaiting(
        &self,
        name: &str,
        body: &Value,
        copies: ActiveCopies,
    ) -> Result<CreateIndexResponse> {
        self.create_index_marked(name, body, false, copies)
    }

    /// Works like [`Node::create_index`], but can mark the index as unfinished. An unfinished index is
    /// deleted unless it is [finished](Node::finish_copy). Templates do not apply to it: it is made from
    /// another index, and their pipelines and aliases are not meant for what is copied.
    pub(in crate::node) fn create_index_marked(
        &self,
        name: &str,
        body: &Value,
        is_unfinished: bool,
        awaited: ActiveCopies,
    ) -> Result<CreateIndexResponse> {
        let mut given = TemplateBody::default();
        for (key, value) in optional_members(body)?.into_iter().flatten() {
            if matches!(key.as_str(), "settings" | "mappings" | "aliases") && !value.is_object() {
                let reason = format!("key [{key}] must be an object");
                return Err(RequestError::bad_request("parse_exception", reason));
            }
            if key == "aliases" {
                let mut aliases = value.as_object().into_iter().flatten();
                aliases.try_for_each(|(alias, body)| Alias::check_types(alias, body))?;
            }
            if !given.read(key, value)? {
                return Err(RequestError::bad_request(
                    "parse_exception",
                    format!("unknown key [{key}] for create index"),
                ));
            }
        }
        let dated = self.catalog.load().resolve_date_math(name)?.into_owned();
        let name = dated.as_str();
        self.check_creation(name, &given)?;
        let _creating = self.names.lock(name);
        let metadata = IndexMetadata { is_unfinished, ..self.plan_index_from(name, &given, !is_unfinished)? };
        let copies = 1 + metadata.typed.number_of_replicas;
        let awaited = crate::node::writing::active_copies::copies_of(awaited, &metadata.typed);
        if awaited > copies {
            return Err(RequestError::illegal_argument(format!(
                "invalid wait_for_active_shards[{awaited}]: cannot be greater than number of shard copies [{copies}]"
            )));
        }
        self.install(metadata, |catalog, metadata| self.with_new_index(catalog, metadata))?;
        Ok(CreateIndexResponse { index: name.into(), shards_acknowledged: awaited <= 1 })
    }

    /// Checks that the request is authorized to create an index with this name and these aliases.
    pub(in crate::node) fn check_creation(&self, name: &str, given: &TemplateBody) -> Result<()> {
        let Some(access) = limber_access::current() else { return Ok(()) };
        access.check([name])?;
        let Some(aliases) = given.aliases.as_ref().filter(|aliases| !aliases.is_empty()) else {
            return Ok(());
        };
        let aliases = aliases.keys().map(String::as_str);
        access.check_action("indices:admin/aliases", [name].into_iter().chain(aliases))
    }

    /// Creates an index or data stream with this name if it is missing and if `action.auto_create_index` and
    /// the templates allow it.
    pub(in crate::node) fn auto_create(&self, name: &str) -> Result<()> {
        if let Some(access) = limber_access::current() {
            access.check_action("indices:admin/auto_create", [name])?;
        }
        // One request creates it, and others for the same name wait. Requests for other names do not wait.
        let _creating = self.names.lock(name);
        let catalog = self.catalog.load();
        if catalog.indices.contains_key(name)
            || catalog.aliases.contains_key(name)
            || catalog.data_streams.contains_key(name)
        {
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
        if catalog.templates.makes_data_streams(name).is_some() {
            return self.create_named_data_stream(name);
        }
        self.create_named(name, &TemplateBody::default())
    }

    /// Creates an index from its templates and the request. Called with its name locked.
    fn create_named(&self, name: &str, given: &TemplateBody) -> Result<()> {
        let metadata = self.plan_index(name, given)?;
        self.install(metadata, |catalog, metadata| self.with_new_index(catalog, metadata))
    }

    /// Makes the metadata of a new index from its templates and the request.
    pub(in crate::node) fn plan_index(&self, name: &str, given: &TemplateBody) -> Result<IndexMetadata> {
        self.plan_index_from(name, given, true)
    }

    /// Works like [`Node::plan_index`], with or without templates.
    ///
    /// Source: `MetadataCreateIndexService#applyCreateIndexRequestWithExistingMetadata`.
    fn plan_index_from(
        &self,
        name: &str,
        given: &TemplateBody,
        takes_templates: bool,
    ) -> Result<IndexMetadata> {
        self.check_metadata_write_block()?;
        check_index_name(name)?;
        let catalog = self.catalog.load_full();
        check_is_free(&catalog, name)?;
        if let Some(template) = catalog.templates.makes_data_streams(name).filter(|_| takes_templates) {
            return Err(RequestError::illegal_argument(format!(
                "cannot create index with name [{name}], because it matches with template [{template}] that creates data streams \
                 only, use create data stream api instead"
            )));
        }
        if catalog.data_streams.contains_key(name) {
            return Err(crate::node::stream::data_streams::names_collide(name, "index"));
        }
        if let Some(settings) = &given.settings {
            check_new(settings)?;
        }
        let mut resolved = match takes_templates {
            true => catalog.templates.resolve(name),
            false => ResolvedTemplate::default(),
        };
        resolved.lay(given);
        let metadata = self.metadata_of(&catalog, name, resolved)?;
        warn_of_dot(&metadata);
        Ok(metadata)
    }

    /// Returns the catalog with a new index, if it may be created now.
    pub(in crate::node) fn with_new_index(
        &self,
        catalog: &Catalog,
        metadata: &Arc<IndexMetadata>,
    ) -> Result<Catalog> {
        let name = &metadata.name;
        // The blocks may have been set since the index was planned.
        self.check_metadata_write_block()?;
        check_is_free(catalog, name)?;
        if catalog.data_streams.contains_key(name) {
            return Err(crate::node::stream::data_streams::names_collide(name, "index"));
        }
        self.check_shard_limit(catalog, &metadata.typed)?;
        self.check_allocation(true)?;
        let next = catalog.with_index(metadata.clone());
        for alias in metadata.aliases.keys() {
            check_index_alias(&next, alias)?;
        }
        check_aliases(catalog, &next)?;
        Ok(next)
    }

    /// Creates the files of a new index, opens its shards, and replaces the catalog by the one that `plan`
    /// returns, all in one step. Leftovers of a failure are removed here or at the next start.
    pub(in crate::node) fn install(
        &self,
        metadata: IndexMetadata,
        plan: impl Fn(&Catalog, &Arc<IndexMetadata>) -> Result<Catalog>,
    ) -> Result<()> {
        // Fails before anything is written.
        let metadata = Arc::new(metadata);
        plan(&self.catalog.load(), &metadata)?;
        let made = self.open_new_shards(&metadata);
        let outcome = made.and_then(|index| {
            let opened = [index];
            let sync = |_: &(), old: &IndexMetadata, next: &IndexMetadata| self.sync_live(old, next);
            let outcome =
                self.change_catalog_with(&opened, |catalog| Ok((plan(catalog, &metadata)?, ())), sync);
            if outcome.is_err() {
                opened.iter().for_each(|index| index.close());
            }
            outcome
        });
        match outcome {
            Ok((gone, ())) => {
                self.bury(gone);
                self.reload_created(&metadata);
                Ok(())
            }
            Err(error) => {
                // The state on disk may list the index. Its folder then stays until that is known.
                if !self.may_be_listed(&metadata.uuid) {
                    let _ = self.environment.disk.remove_folder(&index_folder(&metadata.uuid));
                }
                Err(error)
            }
        }
    }

    /// Creates and opens the shards of an index that does not exist yet. Either all of them open, or the call
    /// fails.
    fn open_new_shards(&self, metadata: &IndexMetadata) -> Result<Arc<LiveIndex>> {
        self.write_new_shards(metadata)?;
        let index = Arc::new(LiveIndex::open(metadata, &self.services())?);
        match index.shards.iter().find_map(|shard| shard.failure()) {
            None => Ok(index),
            Some(failure) => {
                index.close();
                Err(failure)
            }
        }
    }

    pub(in crate::node) fn metadata_of(
        &self,
        catalog: &Catalog,
        name: &str,
        resolved: ResolvedTemplate,
    ) -> Result<IndexMetadata> {
        let ResolvedTemplate { mut settings, mut mappings, aliases, .. } = resolved;
        settings.retain(|_, value| !value.is_null());
        let is_backing = name.starts_with(BACKING_PREFIX);
        settle_mode(&mut settings, &mut mappings, is_backing, self.now_millis())?;
        for key in ["index.number_of_shards", "index.number_of_replicas"] {
            settings.entry(key).or_insert_with(|| "1".into());
        }
        // Source: `DataTier.DefaultHotAllocationSettingProvider`.
        let tier = if is_backing { "data_hot" } else { "data_content" };
        settings.entry(TIER_PREFERENCE).or_insert_with(|| tier.into());
        check_new(&settings)?;
        let typed = Arc::new(IndexSettings::from_flat(&settings)?);
        self.check_shard_limit(catalog, &typed)?;
        for (alias, defined) in &aliases {
            check_alias_target(catalog, alias)?;
            check_is_not_own_name(alias, name)?;
            super::aliases::check_alias(alias, defined)?;
        }
        if typed.mode.has_series() {
            aliases.values().try_for_each(check_series_alias)?;
        }
        let for_mapping = typed.mapping_settings(&settings, &self.analysis())?;
        limber_search::check_similarity_scripts(&for_mapping.similarities, &self.scripts)?;
        let mapping = Mapping::parse(&Value::Object(mappings), &for_mapping)?;
        check_index_sort(&typed.sort, &mapping, name)?;
        self.check_runtime_scripts(&mapping)?;
        Ok(IndexMetadata {
            name: name.into(),
            uuid: self.environment.uuid().into(),
            creation_date_ms: self.now_millis(),
            version_created: index_version(&self.config.compat_version),
            settings,
            typed,
            mappings: Arc::new(mapping.to_json()),
            aliases,
            open: true,
            rollover_info: Map::new(),
            lifecycle: LifecycleState::default(),
            version: 1,
            is_unfinished: false,
            damage: None,
        })
    }

    /// Writes only the shards. The index exists once the node's state lists it; its own metadata file is
    /// written later.
    fn write_new_shards(&self, metadata: &IndexMetadata) -> Result<()> {
        for number in 0..metadata.typed.number_of_shards {
            let folder = self.environment.folder(&shard_folder(&metadata.uuid, number));
            folder
                .and_then(|directory| create_files(&*directory, &self.environment))
                .map_err(|error| self.refused_by_disk(&error, &metadata.name))?;
        }
        Ok(())
    }

    /// Returns `index.version.created` of an index that is created now.
    pub fn index_version(&self) -> String {
        index_version(&self.config.compat_version)
    }

    pub(in crate::node) fn check_shard_limit(&self, catalog: &Catalog, typed: &IndexSettings) -> Result<()> {
        self.check_added_shards(catalog, shard_copies(typed))
    }

    /// Refuses to add shards that `cluster.routing.allocation.enable` keeps from being allocated; in
    /// Elasticsearch they would wait for another value. `is_new` says that no shard has data on this node
    /// yet.
    ///
    /// Source: `EnableAllocationDecider#canAllocate`.
    pub(in crate::node) fn check_allocation(&self, is_new: bool) -> Result<()> {
        let settings = self.settings.load();
        let set = settings.text(ALLOCATION);
        match set {
            "all" | "primaries" => Ok(()),
            "new_primaries" if is_new => Ok(()),
            _ => Err(RequestError::unavailable(
                "unavailable_shards_exception",
                format!("no shard can be allocated, because [{ALLOCATION}] is [{set}]"),
            )),
        }
    }

    /// Refuses to add as many copies of shards if the cluster would have too many.
    pub(in crate::node) fn check_added_shards(&self, catalog: &Catalog, more: u64) -> Result<()> {
        let limit = self.settings.load().integer("cluster.max_shards_per_node").max(1) as u64;
        let open: u64 =
            catalog.indices.values().filter(|index| index.open).map(|index| shard_copies(&index.typed)).sum();
        if open + more > limit {
            return Err(RequestError::cluster_validation(format!(
                "this action would add [{more}] shards, but this cluster currently has [{open}]/[{limit}] maximum \
                 normal shards open"
            )));
        }
        Ok(())
    }
}

/// Returns the number of an index's shards, replicas included.
pub(in crate::node) fn shard_copies(settings: &IndexSettings) -> u64 {
    u64::from(settings.number_of_shards) * (1 + u64::from(settings.number_of_replicas))
}

/// Checks that an alias does not have the name of the index it is created with.
fn check_is_not_own_name(alias: &str, index: &str) -> Result<()> {
    match alias == index {
        true => Err(super::indices::name_is_taken(alias)),
        false => Ok(()),
    }
}

/// Checks that an alias of an index of time series has no routing.
pub(in crate::node) fn check_series_alias(alias: &Alias) -> Result<()> {
    match alias.index_routing.is_some() || alias.search_routing.is_some() {
        false => Ok(()),
        true => Err(RequestError::illegal_argument(
            "routing is forbidden on CRUD operations that target indices in [index.mode=time_series]",
        )),
    }
}

/// Checks that no index or alias has this name.
pub(in crate::node) fn check_is_free(catalog: &Catalog, name: &str) -> Result<()> {
    if let Some(existing) = catalog.indices.get(name) {
        return Err(RequestError::bad_request(
            "resource_already_exists_exception",
            format!("index [{name}/{}] already exists", existing.uuid),
        )
        .with("index_uuid", &*existing.uuid)
        .with("index", name));
    }
    if catalog.aliases.contains_key(name) {
        return Err(RequestError::bad_request(
            "invalid_index_name_exception",
            format!("Invalid index name [{name}], already exists as alias"),
        )
        .with("index_uuid", "_na_")
        .with("index", name));
    }
    Ok(())
}

/// Evaluates `action.auto_create_index`: `true`, `false`, or patterns with `+` and `-`.
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
                if wildcard::matches(pattern, name) {
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

/// Converts a version such as `8.14.3` to the id that Elasticsearch writes into `index.version.created`.
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
