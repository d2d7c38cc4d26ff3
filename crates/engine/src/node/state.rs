//! What the node keeps beside its indices: identity, persistent settings, templates, pipelines, scripts, data streams, lifecycle
//! policies.
//!
//! One file, `state/node.json`, replaced atomically with every change.

use std::collections::BTreeMap;

use limber_mapping::RequestError;
use limber_store::directory::write_atomically;
use serde_json::{Map, Value, json};

use crate::api::Result;
use crate::catalog::{Catalog, DataStream, Templates};
use crate::environment::Environment;
use crate::lifecycle::RUNNING;
use crate::shard::store_error;

const FOLDER: &str = "state";
const NAME: &str = "node.json";
/// Layout of the file; raised when it changes.
const FORMAT: u64 = 1;

#[derive(Debug, Clone)]
pub(super) struct NodeState {
    pub node_id: String,
    pub cluster_uuid: String,
    pub persistent_settings: Map<String, Value>,
    pub templates: Templates,
    pub pipelines: Value,
    /// Stored scripts by id: `lang`, `source`.
    pub scripts: Value,
    /// By name: [`DataStream::to_json`].
    pub data_streams: Value,
    /// Policies by name: [`crate::lifecycle::Policy::to_json`].
    pub policies: Value,
    /// `STOPPING` or `STOPPED` where lifecycles stand still; else `RUNNING`.
    pub lifecycle_mode: String,
    /// A rollover of an alias that has begun: `{"alias", "old", "new"}`; null when there is none.
    pub rollover: Value,
    /// Uuids of indices of data streams whose deletion has begun.
    pub doomed: Vec<String>,
}

impl NodeState {
    /// Reads the file, or begins a new node.
    pub(super) fn load(environment: &Environment) -> Result<NodeState> {
        let directory = environment.folder(FOLDER).map_err(|e| store_error(&e))?;
        if !directory.exists(NAME).map_err(|e| store_error(&e))? {
            let state = NodeState {
                node_id: environment.uuid(),
                cluster_uuid: environment.uuid(),
                persistent_settings: Map::new(),
                templates: Templates::default(),
                pipelines: json!({}),
                scripts: json!({}),
                data_streams: json!({}),
                policies: json!({}),
                lifecycle_mode: RUNNING.to_owned(),
                rollover: Value::Null,
                doomed: Vec::new(),
            };
            state.store(environment)?;
            return Ok(state);
        }
        let bytes = directory.open(NAME).map_err(|e| store_error(&e))?;
        let bad = |why: String| {
            RequestError::new(500, "corrupt_state_exception", format!("[state/node.json] is damaged: {why}"))
        };
        let value: Value = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
        if value["format"] != FORMAT {
            return Err(bad(format!("format [{}] instead of [{FORMAT}]", value["format"])));
        }
        let text =
            |key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| bad(format!("no [{key}]")));
        let bodies = |key: &str| -> BTreeMap<String, Value> {
            value[key]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, body)| (name.clone(), body.clone()))
                .collect()
        };
        let object = |key: &str| if value[key].is_object() { value[key].clone() } else { json!({}) };
        let texts = |key: &str| -> Vec<String> {
            let items = value[key].as_array().into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Ok(NodeState {
            node_id: text("node_id")?,
            cluster_uuid: text("cluster_uuid")?,
            persistent_settings: value["persistent_settings"].as_object().cloned().unwrap_or_default(),
            templates: Templates {
                legacy: bodies("templates"),
                composable: bodies("index_templates"),
                components: bodies("component_templates"),
            },
            pipelines: value["pipelines"].clone(),
            // Files of before there were such things have none.
            scripts: object("scripts"),
            data_streams: object("data_streams"),
            policies: object("policies"),
            lifecycle_mode: value["lifecycle_mode"].as_str().unwrap_or(RUNNING).to_owned(),
            rollover: value["rollover"].clone(),
            doomed: texts("doomed"),
        })
    }

    pub(super) fn put_data_stream(&mut self, stream: &DataStream) {
        self.data_streams[&*stream.name] = stream.to_json();
    }

    /// As the catalog has it.
    pub(super) fn restore_data_stream(&mut self, catalog: &Catalog, name: &str) {
        match catalog.data_streams.get(name) {
            Some(stream) => self.put_data_stream(stream),
            None => self.delete_data_stream(name),
        }
    }

    pub(super) fn delete_data_stream(&mut self, name: &str) {
        if let Some(streams) = self.data_streams.as_object_mut() {
            streams.shift_remove(name);
        }
    }

    pub(super) fn store(&self, environment: &Environment) -> Result<()> {
        let body = json!({
            "format": FORMAT,
            "node_id": self.node_id,
            "cluster_uuid": self.cluster_uuid,
            "persistent_settings": self.persistent_settings,
            "templates": self.templates.legacy,
            "index_templates": self.templates.composable,
            "component_templates": self.templates.components,
            "pipelines": self.pipelines,
            "scripts": self.scripts,
            "data_streams": self.data_streams,
            "policies": self.policies,
            "lifecycle_mode": self.lifecycle_mode,
            "rollover": self.rollover,
            "doomed": self.doomed,
        });
        let directory = environment.folder(FOLDER).map_err(|e| store_error(&e))?;
        write_atomically(&*directory, NAME, body.to_string().as_bytes()).map_err(|e| store_error(&e))
    }
}
