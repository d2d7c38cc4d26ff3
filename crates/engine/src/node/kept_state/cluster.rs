//! Cluster state and settings.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::kept::Content;
use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata};
use crate::environment::format_utc_millis;
use crate::node::Node;
use crate::node::life::open::apply_limits;
use crate::node::life::segment_memory::{SIZE, check_budget};
use crate::settings::blocks::READ_ONLY_ALLOW_DELETE;
use crate::settings::{ClusterSettings, nest};

/// The key under which transient settings are charged in [`Kept`](super::kept::Kept).
const TRANSIENT: &str = "transient settings";

impl Node {
    /// Returns the body of `GET /_cluster/state/{metrics}/{index}`; `metrics` is a comma-separated list or
    /// `_all`. As in Elasticsearch, unknown names select nothing.
    pub fn cluster_state(&self, metrics: &str, expression: &str, options: IndicesOptions) -> Result<Value> {
        let list: Vec<&str> = metrics.split(',').map(str::trim).filter(|metric| !metric.is_empty()).collect();
        let wants = |metric: &str| list.is_empty() || list.contains(&"_all") || list.contains(&metric);
        let catalog = self.catalog.load();
        let indices = catalog.resolve(expression, options)?;
        let mut state = Map::new();
        state.insert("cluster_name".into(), self.config.cluster_name.clone().into());
        state.insert("cluster_uuid".into(), self.cluster_uuid().into());
        if wants("version") {
            state.insert("version".into(), catalog.version.into());
            state.insert("state_uuid".into(), format!("{}-{}", self.cluster_uuid(), catalog.version).into());
        }
        // OpenSearch's name, which is only shown where it is asked for.
        if list.contains(&"cluster_manager_node") {
            state.insert("cluster_manager_node".into(), self.node_id().into());
        }
        if wants("master_node") {
            state.insert("master_node".into(), self.node_id().into());
        }
        if wants("blocks") {
            state.insert("blocks".into(), self.blocks_of(&indices));
        }
        if wants("nodes") {
            state.insert("nodes".into(), self.nodes_of_state());
        }
        if wants("metadata") {
            state.insert("metadata".into(), self.state_metadata(&catalog, &indices)?);
        }
        if wants("routing_table") {
            state.insert("routing_table".into(), self.routing_table_of(&indices));
        }
        if wants("routing_nodes") {
            state.insert("routing_nodes".into(), self.routing_nodes_of(&indices));
        }
        Ok(Value::Object(state))
    }

    /// Returns the section `blocks`: which operations are blocked on the whole cluster (`global`) and on
    /// which index.
    fn blocks_of(&self, indices: &[Arc<IndexMetadata>]) -> Value {
        const WRITES: &[&str] = &["write", "metadata_write"];
        let settings = self.settings.load();
        let read_only = settings.boolean("cluster.blocks.read_only");
        let deletable = settings.boolean("cluster.blocks.read_only_allow_delete");
        let global = set_blocks(&[
            (read_only, "6", "cluster read-only (api)", WRITES),
            (deletable, "13", "cluster read-only / allow delete (api)", WRITES),
        ]);
        let mut of_indices = Map::new();
        for index in indices {
            let flags = &index.typed.blocks;
            let set = set_blocks(&[
                (!index.open, "4", "index closed", &["read", "write"]),
                (flags.read_only, "5", "index read-only (api)", WRITES),
                (flags.read, "7", "index read (api)", &["read"]),
                (flags.write, "8", "index write (api)", &["write"]),
                (flags.metadata, "9", "index metadata (api)", &["metadata_read", "metadata_write"]),
                (flags.read_only_allow_delete, "12", READ_ONLY_ALLOW_DELETE.description(), &["write"]),
            ]);
            if !set.is_empty() {
                of_indices.insert(index.name.to_string(), Value::Object(set));
            }
        }
        let mut shown = Map::new();
        for (name, blocks) in [("global", global), ("indices", of_indices)] {
            if !blocks.is_empty() {
                shown.insert(name.to_owned(), Value::Object(blocks));
            }
        }
        Value::Object(shown)
    }

    /// Returns the section `nodes`: this node.
    fn nodes_of_state(&self) -> Value {
        let node = json!({
            "name": self.config.node_name,
            "ephemeral_id": self.node_id(),
            "transport_address": "127.0.0.1:9300",
            "attributes": {},
            "roles": ["data", "ingest", "master"],
        });
        json!({self.node_id(): node})
    }

    /// Returns the section `metadata`: templates, pipelines, scripts and repositories, and settings, mappings
    /// and aliases of indices.
    ///
    /// # Errors
    /// There is not enough memory for it.
    fn state_metadata(&self, catalog: &Catalog, indices: &[Arc<IndexMetadata>]) -> Result<Value> {
        let mut shown = Map::new();
        for index in indices {
            limber_mapping::claim_tree(&index.mappings)?;
            let body = json!({
                    "version": index.version,
                    "mapping_version": index.version,
                    "settings_version": index.version,
                    "aliases_version": index.version,
                    "routing_num_shards": index.typed.routing_num_shards,
                    "state": if index.open { "open" } else { "close" },
                    "settings": nest(&index.shown_settings()),
                    "mappings": {"_doc": &*index.mappings},
                    "aliases": index.aliases.keys().collect::<Vec<_>>(),
                    "primary_terms": (0..index.typed.number_of_shards).map(|shard| (shard.to_string(), json!(1))).collect::<Map<_, _>>(),
                    "in_sync_allocations": (0..index.typed.number_of_shards).map(|shard| (shard.to_string(), json!([allocation_id(index, shard)]))).collect::<Map<_, _>>(),
                    "rollover_info": index.rollover_info,
                    "system": false,
            });
            limber_mapping::claim_tree(&body["settings"])?;
            shown.insert(index.name.to_string(), body);
        }
        let mut metadata = json!({
            "cluster_uuid": self.cluster_uuid(),
            "cluster_uuid_committed": true,
            "cluster_coordination": {"term": 1, "last_committed_config": [self.node_id()], "last_accepted_config": [self.node_id()], "voting_config_exclusions": self.voting_exclusions()},
            "templates": catalog.templates.get_legacy(""),
            "indices": shown,
            "index-graveyard": {"tombstones": []},
        });
        limber_mapping::claim_tree(&metadata["templates"])?;
        self.add_named(&mut metadata)?;
        Ok(metadata)
    }

    /// Adds what the node keeps by name, each as its own API shows it. Elasticsearch leaves out kinds of
    /// which there are none.
    fn add_named(&self, metadata: &mut Value) -> Result<()> {
        let state = self.state.load();
        let pipelines = state.pipelines.as_object().into_iter().flatten();
        let pipelines: Vec<Value> =
            pipelines.map(|(id, config)| json!({"id": id, "config": config})).collect();
        let is_set = |kept: &Value| kept.as_object().is_some_and(|kept| !kept.is_empty());
        let templates = &state.templates;
        for (name, shown) in [
            (
                "component_template",
                (!templates.components.is_empty())
                    .then(|| json!({"component_template": templates.components})),
            ),
            (
                "index_template",
                (!templates.composable.is_empty()).then(|| json!({"index_template": templates.composable})),
            ),
            ("ingest", (!pipelines.is_empty()).then(|| json!({"pipeline": pipelines}))),
            ("stored_scripts", is_set(&state.scripts).then(|| state.scripts.clone())),
            ("repositories", is_set(state.repositories()).then(|| state.repositories().clone())),
        ] {
            if let Some(shown) = shown {
                limber_mapping::claim_tree(&shown)?;
                metadata[name] = shown;
            }
        }
        Ok(())
    }

    /// Returns the section `routing_table`: where the copies of each shard are, by index.
    fn routing_table_of(&self, indices: &[Arc<IndexMetadata>]) -> Value {
        let table: Map<String, Value> = indices
            .iter()
            .map(|index| (index.name.to_string(), json!({"shards": self.routing_of(index)})))
            .collect();
        json!({"indices": table})
    }

    /// Returns the section `routing_nodes`: which copies of shards each node has.
    fn routing_nodes_of(&self, indices: &[Arc<IndexMetadata>]) -> Value {
        let all: Vec<Value> = indices
            .iter()
            .flat_map(|index| {
                self.routing_of(index).into_iter().flat_map(|(_, copies)| match copies {
                    Value::Array(copies) => copies,
                    _ => Vec::new(),
                })
            })
            .collect();
        let (assigned, unassigned): (Vec<Value>, Vec<Value>) =
            all.into_iter().partition(|copy| copy["state"] == "STARTED");
        json!({"unassigned": unassigned, "nodes": {self.node_id(): assigned}})
    }

    /// Returns the copies of each shard of an index, by the shard's number.
    fn routing_of(&self, index: &Arc<IndexMetadata>) -> Map<String, Value> {
        let live = self.live.load().get(&index.uuid).cloned();
        (0..index.typed.number_of_shards)
            .map(|number| {
                let is_started = match &live {
                    Some(live) => live.shards.get(number as usize).is_some_and(|shard| shard.is_started()),
                    None => !index.open,
                };
                let mut copies = vec![self.copy_of(index, number, true, is_started)];
                let replica = |_| self.copy_of(index, number, false, false);
                copies.extend((0..index.typed.number_of_replicas.min(1000)).map(replica));
                (number.to_string(), Value::Array(copies))
            })
            .collect()
    }

    /// Returns a copy of a shard as the routing table shows it. Source: `ShardRouting#toXContent`.
    fn copy_of(&self, index: &IndexMetadata, number: u32, is_primary: bool, is_started: bool) -> Value {
        let state = if is_started { "STARTED" } else { "UNASSIGNED" };
        let node = if is_started { Value::from(self.node_id()) } else { Value::Null };
        let mut copy = json!({
            "state": state,
            "primary": is_primary,
            "node": node,
            "relocating_node": null,
            "shard": number,
            "index": &*index.name,
        });
        if is_started {
            copy["allocation_id"] = json!({"id": allocation_id(index, number)});
        } else {
            let (source, reason, status) = match is_primary {
                true => ("EXISTING_STORE", "ALLOCATION_FAILED", "no_valid_shard_copy"),
                false => ("PEER", "INDEX_CREATED", "no_attempt"),
            };
            let at = format_utc_millis(index.creation_date_ms);
            copy["recovery_source"] = json!({"type": source});
            copy["unassigned_info"] =
                json!({"reason": reason, "at": at, "delayed": false, "allocation_status": status});
        }
        copy["relocation_failure_info"] = json!({"failed_attempts": 0});
        copy
    }

    /// Returns `{"persistent": {..}, "transient": {..}}` with flat keys, and `defaults` on request.
    pub fn cluster_settings(&self, include_defaults: bool) -> Result<Value> {
        let settings = self.settings.load();
        let mut shown = json!({"persistent": settings.persistent, "transient": settings.transient});
        if include_defaults {
            shown["defaults"] = Value::Object(settings.defaults());
        }
        Ok(shown)
    }

    /// Returns [`ClusterSettings::loggers`](crate::settings::ClusterSettings::loggers).
    pub fn loggers(&self) -> Vec<(String, String)> {
        self.settings.load().loggers()
    }

    /// Returns the effective value of one cluster setting, as a string.
    pub fn cluster_setting(&self, key: &'static str) -> String {
        self.settings.load().text(key).to_owned()
    }

    /// Carries out `PUT /_cluster/settings`. Returns what was set, flat:
    /// `{"persistent": {..}, "transient": {..}}`.
    pub fn put_cluster_settings(&self, body: &Value) -> Result<Value> {
        let (set, is_blocked) = self.change_cluster_settings(body)?;
        if is_blocked {
            self.settle_all_writes();
        }
        Ok(set)
    }

    /// Waits until no write is carried out any more that was admitted under earlier settings of the cluster,
    /// and no mapping or other metadata of an index is changed that way. Called without a lock.
    pub(in crate::node) fn settle_all_writes(&self) {
        self.shards().iter().for_each(|shard| shard.settle_writes());
        // A change of an index's metadata looks at the blocks and is published under the lock of its file.
        let catalog = self.catalog.load_full();
        let files = catalog.indices.values().filter_map(|index| self.index_files.get(&index.uuid));
        limber_work::waiting(|| files.for_each(|file| drop(file.lock())));
    }

    /// Returns what was set, and whether the cluster takes no writes from now on.
    fn change_cluster_settings(&self, body: &Value) -> Result<(Value, bool)> {
        let _changing = self.changing.lock();
        if !ClusterSettings::only_lifts_blocks(body)? {
            self.check_metadata_write_block()?;
        }
        let (next, persistent, transient) = self.settings.load().update(body)?;
        if persistent.contains_key(SIZE) || transient.contains_key(SIZE) {
            check_budget(&next, self.ledger.limit_bytes)?;
        }
        self.keep_transient(&next)?;
        if next.persistent != self.settings.load().persistent
            && let Err(error) = self.change_state(|state| state.persistent_settings = next.persistent.clone())
        {
            self.kept.keep_always(TRANSIENT, &Content::of_state(&transient_text(&self.settings.load())));
            return Err(error);
        }
        apply_limits(&self.ledger, &next);
        self.apply_segment_memory(&next);
        self.scripts.set_limits(next.script_limits()?);
        let is_blocked = self.use_settings(next);
        Ok((json!({"persistent": persistent, "transient": transient}), is_blocked))
    }

    /// Charges the transient settings, which no file holds.
    fn keep_transient(&self, next: &ClusterSettings) -> Result<()> {
        match next.transient == self.settings.load().transient {
            true => Ok(()),
            false => self.kept.keep(TRANSIENT, &Content::of_state(&transient_text(next))),
        }
    }

    /// Makes settings of the cluster the current ones. Returns whether it takes no writes from now on. Called
    /// with `changing` held.
    pub(in crate::node) fn use_settings(&self, next: ClusterSettings) -> bool {
        let next = Arc::new(next);
        self.settings.store(next.clone());
        self.cluster_blocks.set(&next)
    }
}

fn transient_text(settings: &ClusterSettings) -> String {
    Value::Object(settings.transient.clone()).to_string()
}

/// Returns the id of the only copy of a shard.
fn allocation_id(index: &IndexMetadata, shard: u32) -> String {
    format!("{}-{shard}", index.uuid)
}

/// A block as the state of the cluster shows it: whether it is set, its id, its description, and the kinds of
/// operations that it refuses.
type ShownBlock = (bool, &'static str, &'static str, &'static [&'static str]);

/// Returns those blocks that are set, by their ids. Source: `ClusterBlock#toXContent`.
fn set_blocks(blocks: &[ShownBlock]) -> Map<String, Value> {
    let set = blocks.iter().filter(|(is_set, ..)| *is_set).map(|(_, id, description, levels)| {
        let block = json!({"description": description, "retryable": false, "levels": levels});
        ((*id).to_owned(), block)
    });
    set.collect()
}
