//! The node's state: what it stores besides its indices, and which indices exist.
//!
//! It is one file, `state/node.json`, which is verified and replaced as a whole ([`crate::checked_file`]).
//! One replacement is one change, whatever it spans. An index exists when it is listed here and is being
//! deleted when it has a tombstone. Its metadata is the one in `pending` if that is newer than its own file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::Error;
use serde_json::{Map, Value, json};

use crate::api::Result;
use crate::catalog::{Alias, DataStream, IndexMetadata, Templates};
use crate::checked_file::{Format, damaged};
use crate::environment::Environment;
use crate::lifecycle::RUNNING;
use crate::node::kept_state::security_files::{SecurityFiles, security_folder};
use crate::shard::store_error;
use limber_store::directory::{Replaced, replace};

pub(crate) const STATE_FOLDER: &str = "state";
pub(crate) const STATE_NAME: &str = "node.json";
/// The path of the file in messages.
const FILE: &str = "state/node.json";
/// Version 1 had no first line, and neither listed indices nor had pending metadata: an index existed when
/// its file did. Until version 2, the file contained users, roles and keys; since version 3 they have files
/// of their own ([`super::security_files`]).
const FORMAT: Format = Format { magic: "limber-node", version: 3 };
const FORMAT_WITH_SECURITY: Format = Format { magic: "limber-node", version: 2 };

/// An index that exists, with what must be known even if its own file cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    /// `None` for an index from a file of version 1, which had no names, if the index's own file could not be
    /// read since.
    pub name: Option<Arc<str>>,
    pub aliases: BTreeMap<String, Alias>,
}

/// Metadata from a change that spans indices, until the index's own file contains it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pending {
    /// The result of [`IndexMetadata::to_json`].
    pub metadata: Value,
    /// Whether the index had no file of its own yet.
    pub is_first: bool,
}

impl Pending {
    pub(crate) fn version(&self) -> u64 {
        self.metadata["version"].as_u64().unwrap_or(0)
    }
}

/// Which metadata of an index is the newest: that in its own file, or that in the node's state.
pub(crate) enum Newest<'s> {
    Own(Box<IndexMetadata>),
    /// The file has the older version `own_version`, which is 0 when there is no file yet.
    Pending {
        pending: &'s Pending,
        own_version: u64,
    },
    /// The file existed and is missing now. It may have been newer than what the state has.
    Lost,
    None,
}

impl Newest<'_> {
    pub(crate) fn of(own: Option<IndexMetadata>, pending: Option<&Pending>) -> Newest<'_> {
        match (own, pending) {
            (Some(own), Some(pending)) if pending.version() > own.version => {
                Newest::Pending { pending, own_version: own.version }
            }
            (Some(own), _) => Newest::Own(Box::new(own)),
            (None, Some(pending)) if pending.is_first => Newest::Pending { pending, own_version: 0 },
            (None, Some(_)) => Newest::Lost,
            (None, None) => Newest::None,
        }
    }
}

/// A rollover of an alias that a node with version 1 had begun.
#[derive(Debug, Clone)]
pub(crate) struct BegunRollover {
    pub alias: String,
    pub definition: Alias,
    pub is_explicit: bool,
    pub old: String,
    pub new: String,
}

#[derive(Debug, Clone)]
pub(crate) struct NodeState {
    pub node_id: String,
    pub cluster_uuid: String,
    /// Counts changes of the state.
    pub version: u64,
    pub persistent_settings: Map<String, Value>,
    pub templates: Templates,
    pub pipelines: Value,
    /// Search pipelines by id, as the user put them ([`crate::search_pipeline`]).
    pub search_pipelines: Value,
    /// Stored scripts by id: `lang`, `source`.
    pub scripts: Value,
    /// Synonym sets by name: their rules by id.
    pub synonyms: Value,
    /// Query rulesets by name: their rules ([`crate::query_rules`]).
    pub query_rules: Value,
    /// Data streams by name: [`DataStream::to_json`].
    pub data_streams: Value,
    /// Transforms by id: `config`, `author`, `is_started`, `checkpoint`
    /// ([`crate::node::policy::transforms`]).
    pub transforms: Value,
    /// Enrich policies by name: [`crate::enrich::Policy::to_json`].
    pub enrich_policies: Value,
    /// Lifecycle policies by name: [`crate::lifecycle::Policy::to_json`].
    pub policies: Value,
    /// `STOPPING` or `STOPPED` when lifecycles are stopped; else `RUNNING`.
    pub lifecycle_mode: String,
    /// Repositories by name: their definitions.
    pub repositories: Value,
    /// `policies` by id, `mode`, `retention`: see [`crate::snapshot::policy`].
    pub snapshot_lifecycle: Value,
    /// Nodes that are excluded from elections: `node_id`, `node_name`.
    pub voting_exclusions: Vec<Value>,
    /// Users, roles and keys in a state of version 2 or older ([`limber_access::Store::from_node_state`]).
    /// `None` once they are in files of their own. Until then the state is written in version 2.
    pub security: Option<Value>,
    /// The indices that exist, by UUID.
    pub indices: BTreeMap<Arc<str>, Listed>,
    /// UUIDs of indices that were deleted and whose folders may still exist.
    pub tombstones: BTreeSet<Arc<str>>,
    pub pending: BTreeMap<Arc<str>, Pending>,
    /// UUIDs of folders that are older than this file. Whatever they contain, they are not left over from
    /// interrupted creations.
    pub set_aside: BTreeSet<Arc<str>>,
}

/// Which kind of state was found at the start. It decides what a folder means that the state does not list.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one value, read once at start")]
pub(crate) enum Origin {
    /// A file of version 1: every index with its own file exists.
    Unlisted {
        rollover: Option<BegunRollover>,
    },
    Listed,
}

impl NodeState {
    /// Makes the state of a new node. `set_aside` are the folders of indices that already exist.
    fn new(environment: &Environment, set_aside: BTreeSet<Arc<str>>) -> NodeState {
        NodeState {
            node_id: environment.uuid(),
            cluster_uuid: environment.uuid(),
            version: 0,
            persistent_settings: Map::new(),
            templates: Templates::default(),
            pipelines: json!({}),
            search_pipelines: json!({}),
            scripts: json!({}),
            synonyms: json!({}),
            query_rules: json!({}),
            data_streams: json!({}),
            transforms: json!({}),
            enrich_policies: json!({}),
            policies: json!({}),
            lifecycle_mode: RUNNING.to_owned(),
            repositories: json!({}),
            snapshot_lifecycle: json!({}),
            voting_exclusions: Vec::new(),
            security: None,
            indices: BTreeMap::new(),
            tombstones: BTreeSet::new(),
            pending: BTreeMap::new(),
            set_aside,
        }
    }

    /// Reads the file, or makes the state of a new node. The state is durable when this returns.
    ///
    /// # Errors
    /// Fails when the file cannot be read, is damaged or has a newer version. The error names the file.
    pub(in crate::node) fn load(environment: &Environment) -> Result<(NodeState, Origin)> {
        let directory = environment.folder(STATE_FOLDER).map_err(|e| store_error(&e))?;
        if directory.exists(STATE_NAME).map_err(|e| unreadable(&e))? {
            let bytes = directory.read_whole(STATE_NAME).map_err(|e| unreadable(&e))?;
            let loaded = NodeState::from_bytes(&bytes)?;
            // The process before may have ended between the rename of the file and the fsync of its name.
            directory.sync_names().map_err(|e| unreadable(&e))?;
            return Ok(loaded);
        }
        let folders = environment.disk.folders("indices").map_err(|e| store_error(&e))?;
        let state = NodeState::new(environment, folders.into_iter().map(Arc::from).collect());
        // A state of version 3 exists only together with these files.
        SecurityFiles::create(environment, &state.cluster_uuid, &limber_access::Store::default())
            .map_err(|error| store_error(&error))?;
        match state.replace(environment) {
            Replaced::Done => Ok((state, Origin::Listed)),
            Replaced::Untouched(error) | Replaced::Unknown(error) => Err(store_error(&error)),
        }
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<(NodeState, Origin)> {
        let bad = |why: &str| damaged(FILE, why);
        let (version, value) = FORMAT.decode_or_plain_since(FORMAT_WITH_SECURITY.version, bytes, FILE)?;
        let is_listed = version >= FORMAT_WITH_SECURITY.version;
        let contains_security = version <= FORMAT_WITH_SECURITY.version;
        // The first line is not covered by the checksum, so the version is also told by this member.
        if contains_security == value["security"].is_string() {
            return Err(bad(&format!("[security] does not fit version [{version}]")));
        }
        let text =
            |key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| bad(&format!("no [{key}]")));
        let members = |key: &str| value[key].as_object().into_iter().flatten();
        let bodies = |key: &str| -> BTreeMap<String, Value> {
            members(key).map(|(name, body)| (name.clone(), body.clone())).collect()
        };
        // Files written before a member was introduced do not have it.
        let object = |key: &str| if value[key].is_object() { value[key].clone() } else { json!({}) };
        let uuids = |key: &str| -> BTreeSet<Arc<str>> {
            value[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(Arc::from).collect()
        };
        let mut indices = BTreeMap::new();
        for (uuid, body) in members("indices") {
            indices.insert(uuid.as_str().into(), Listed::from_json(body)?);
        }
        let pending = members("pending").map(|(uuid, body)| {
            let is_first = body["is_first"] == true;
            (uuid.as_str().into(), Pending { metadata: body["metadata"].clone(), is_first })
        });
        let state = NodeState {
            node_id: text("node_id")?,
            cluster_uuid: text("cluster_uuid")?,
            version: value["version"].as_u64().unwrap_or(0),
            persistent_settings: value["persistent_settings"].as_object().cloned().unwrap_or_default(),
            templates: Templates {
                legacy: bodies("templates"),
                composable: bodies("index_templates"),
                components: bodies("component_templates"),
                ..Templates::default()
            },
            pipelines: value["pipelines"].clone(),
            search_pipelines: object("search_pipelines"),
            scripts: object("scripts"),
            synonyms: object("synonyms"),
            query_rules: object("query_rules"),
            data_streams: object("data_streams"),
            transforms: object("transforms"),
            enrich_policies: object("enrich_policies"),
            policies: object("policies"),
            lifecycle_mode: value["lifecycle_mode"].as_str().unwrap_or(RUNNING).to_owned(),
            repositories: object("repositories"),
            snapshot_lifecycle: object("snapshot_lifecycle"),
            voting_exclusions: value["voting_exclusions"].as_array().cloned().unwrap_or_default(),
            security: contains_security.then(|| object("security")),
            indices,
            tombstones: uuids(if is_listed { "tombstones" } else { "doomed" }),
            pending: pending.collect(),
            set_aside: uuids("set_aside"),
        };
        let origin = match is_listed {
            true => Origin::Listed,
            false => Origin::Unlisted { rollover: BegunRollover::from_json(&value["rollover"])? },
        };
        Ok((state, origin))
    }

    pub(in crate::node) fn replace(&self, environment: &Environment) -> Replaced {
        self.replace_by(&self.to_text(), environment)
    }

    /// Renders its JSON.
    pub(in crate::node) fn to_text(&self) -> String {
        self.to_json().to_string()
    }

    /// Replaces the file by `text`, its JSON.
    pub(in crate::node) fn replace_by(&self, text: &str, environment: &Environment) -> Replaced {
        match environment.folder(STATE_FOLDER) {
            Ok(directory) => {
                let format = if self.security.is_some() { FORMAT_WITH_SECURITY } else { FORMAT };
                replace(&*directory, STATE_NAME, &format.encode(text))
            }
            Err(error) => Replaced::Untouched(error),
        }
    }

    fn to_json(&self) -> Value {
        let indices: Map<String, Value> =
            self.indices.iter().map(|(uuid, listed)| (uuid.to_string(), listed.to_json())).collect();
        let pending = self.pending.iter().map(|(uuid, pending)| {
            let body = json!({"is_first": pending.is_first, "metadata": pending.metadata});
            (uuid.to_string(), body)
        });
        json!({
            "node_id": self.node_id,
            "cluster_uuid": self.cluster_uuid,
            "version": self.version,
            "persistent_settings": self.persistent_settings,
            "templates": self.templates.legacy,
            "index_templates": self.templates.composable,
            "component_templates": self.templates.components,
            "pipelines": self.pipelines,
            "search_pipelines": self.search_pipelines,
            "scripts": self.scripts,
            "synonyms": self.synonyms,
            "query_rules": self.query_rules,
            "data_streams": self.data_streams,
            "transforms": self.transforms,
            "enrich_policies": self.enrich_policies,
            "policies": self.policies,
            "lifecycle_mode": self.lifecycle_mode,
            "repositories": self.repositories,
            "snapshot_lifecycle": self.snapshot_lifecycle,
            "voting_exclusions": self.voting_exclusions,
            "security": self.security.clone().unwrap_or_else(|| security_folder(&self.cluster_uuid).into()),
            "indices": indices,
            "tombstones": texts(&self.tombstones),
            "set_aside": texts(&self.set_aside),
            "pending": pending.collect::<Map<_, _>>(),
        })
    }

    pub(in crate::node) fn put_data_stream(&mut self, stream: &DataStream) {
        self.data_streams[&*stream.name] = stream.to_json();
    }

    pub(in crate::node) fn delete_data_stream(&mut self, name: &str) {
        if let Some(streams) = self.data_streams.as_object_mut() {
            streams.shift_remove(name);
        }
    }
}

impl Listed {
    pub(in crate::node) fn of(index: &IndexMetadata) -> Listed {
        Listed { name: Some(index.name.clone()), aliases: index.aliases.clone() }
    }

    fn to_json(&self) -> Value {
        let aliases: Map<String, Value> =
            self.aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect();
        json!({"name": self.name.as_deref(), "aliases": aliases})
    }

    fn from_json(body: &Value) -> Result<Listed> {
        let mut aliases = BTreeMap::new();
        for (name, alias) in body["aliases"].as_object().into_iter().flatten() {
            aliases.insert(name.clone(), Alias::parse(alias)?);
        }
        Ok(Listed { name: body["name"].as_str().map(Arc::from), aliases })
    }
}

impl BegunRollover {
    fn from_json(begun: &Value) -> Result<Option<BegunRollover>> {
        let text = |key: &str| begun[key].as_str().map(str::to_owned);
        let (Some(alias), Some(old), Some(new)) = (text("alias"), text("old"), text("new")) else {
            return Ok(None);
        };
        let definition = Alias::parse(&begun["definition"])?;
        Ok(Some(BegunRollover { alias, definition, is_explicit: begun["is_explicit"] == true, old, new }))
    }
}

fn texts(set: &BTreeSet<Arc<str>>) -> Vec<&str> {
    set.iter().map(|text| &**text).collect()
}

fn unreadable(error: &Error) -> RequestError {
    RequestError::internal("i_o_exception", format!("[{FILE}] cannot be read: {error}"))
}
