//! Metadata of an index, and the snapshot of the metadata of all indices.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_text::wildcard;
use serde_json::{Map, Value, json};

use super::date_math::NameClock;
use super::{Alias, DataStream, Templates};
use crate::api::Result;
use crate::checked_file::{Format, damaged};
use crate::lifecycle::LifecycleState;
use crate::settings::{FlatSettings, IndexSettings};

/// The metadata of one index. Immutable; a change makes a new one.
#[derive(Debug, Clone)]
pub struct IndexMetadata {
    /// Its name.
    pub name: Arc<str>,
    /// 22 characters of URL-safe base64. Names the index's folder.
    pub uuid: Arc<str>,
    /// When the index was created, in milliseconds since 1970.
    pub creation_date_ms: u64,
    /// `index.version.created`, such as `8505000`.
    pub version_created: String,
    /// Settings from users and templates, with `index.` prefixes.
    pub settings: FlatSettings,
    /// The same settings, parsed, with defaults.
    pub typed: Arc<IndexSettings>,
    /// The body of `mappings` as `GET _mapping` shows it.
    pub mappings: Arc<Value>,
    /// Its aliases by name.
    pub aliases: BTreeMap<String, Alias>,
    /// Whether it is open; a closed index takes no searches and no writes.
    pub open: bool,
    /// When and why it was rolled over: `{target: {"met_conditions": .., "time": ..}}`.
    pub rollover_info: Map<String, Value>,
    /// How far its lifecycle policy has come; empty before it begins.
    pub lifecycle: LifecycleState,
    /// Counts changes, for `_cluster/state`. The state with the higher version is the newer one.
    pub version: u64,
    /// The index is still being filled with the documents of another index. It is deleted if that stops
    /// early.
    pub is_unfinished: bool,
    /// Why its metadata could not be read. Name, UUID and aliases then come from the node's state; nothing
    /// else is known, and the index can only be deleted.
    pub damage: Option<Arc<RequestError>>,
}

/// The format of `index.json`. Version 1 had no first line and no checksum.
const FORMAT: Format = Format { magic: "limber-index", version: 2 };

impl IndexMetadata {
    /// Renders the content of `index.json`.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        FORMAT.encode(&self.to_json().to_string())
    }

    /// Renders the metadata as `index.json` and the node's state store it; [`IndexMetadata::from_json`] reads
    /// it back.
    pub(crate) fn to_json(&self) -> Value {
        let aliases: Map<String, Value> =
            self.aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect();
        let mut json = json!({
            "name": &*self.name,
            "uuid": &*self.uuid,
            "creation_date_ms": self.creation_date_ms,
            "version_created": self.version_created,
            "open": self.open,
            "version": self.version,
            "settings": self.settings,
            "aliases": aliases,
            "mappings": &*self.mappings,
            "rollover_info": self.rollover_info,
            "lifecycle": self.lifecycle.to_json(),
        });
        if self.is_unfinished {
            json["unfinished"] = true.into();
        }
        json
    }

    /// Reads `index.json`.
    ///
    /// # Errors
    /// `corrupt_state_exception` for damage, `illegal_state_exception` for a file of a newer version. Both
    /// name `file`.
    pub(crate) fn from_bytes(bytes: &[u8], file: &str) -> Result<IndexMetadata> {
        let (_, value) = FORMAT.decode_or_plain(bytes, file)?;
        IndexMetadata::from_json(&value, file)
    }

    /// Makes the metadata of an index that the node's state lists but whose own metadata cannot be read.
    pub(crate) fn unreadable(
        name: &str,
        uuid: &str,
        aliases: BTreeMap<String, Alias>,
        why: RequestError,
    ) -> Result<IndexMetadata> {
        let mut settings = FlatSettings::new();
        settings.insert("index.number_of_shards".into(), "1".into());
        settings.insert("index.number_of_replicas".into(), "0".into());
        Ok(IndexMetadata {
            name: name.into(),
            uuid: uuid.into(),
            creation_date_ms: 0,
            version_created: "0".into(),
            typed: Arc::new(IndexSettings::from_flat(&settings)?),
            settings,
            mappings: Arc::new(json!({})),
            aliases,
            open: true,
            rollover_info: Map::new(),
            lifecycle: LifecycleState::default(),
            version: 0,
            is_unfinished: false,
            damage: Some(Arc::new(why)),
        })
    }

    /// Reads the metadata from JSON. Errors name `file`.
    pub(crate) fn from_json(value: &Value, file: &str) -> Result<IndexMetadata> {
        let bad = |what: &str| damaged(file, what);
        let text = |key: &str| value[key].as_str().ok_or_else(|| bad(&format!("no [{key}]")));
        let settings = value["settings"].as_object().cloned().ok_or_else(|| bad("no [settings]"))?;
        let typed = Arc::new(IndexSettings::from_flat(&settings)?);
        let mut aliases = BTreeMap::new();
        for (name, body) in value["aliases"].as_object().into_iter().flatten() {
            aliases.insert(name.clone(), Alias::parse(body)?);
        }
        Ok(IndexMetadata {
            name: text("name")?.into(),
            uuid: text("uuid")?.into(),
            creation_date_ms: value["creation_date_ms"].as_u64().unwrap_or(0),
            version_created: text("version_created")?.to_owned(),
            settings,
            typed,
            mappings: Arc::new(value["mappings"].clone()),
            aliases,
            rollover_info: value["rollover_info"].as_object().cloned().unwrap_or_default(),
            lifecycle: LifecycleState::from_json(&value["lifecycle"]),
            open: value["open"].as_bool().unwrap_or(true),
            version: value["version"].as_u64().unwrap_or(1),
            is_unfinished: value["unfinished"].as_bool().unwrap_or(false),
            damage: None,
        })
    }

    /// Returns the settings as `GET _settings` shows them: the user's and the node's own.
    pub(crate) fn shown_settings(&self) -> FlatSettings {
        let mut shown = self.settings.clone();
        let mut put = |key: &str, value: String| shown.insert(key.to_owned(), Value::String(value));
        put("index.number_of_shards", self.typed.number_of_shards.to_string());
        put("index.number_of_replicas", self.typed.number_of_replicas.to_string());
        put("index.provided_name", self.name.to_string());
        put("index.creation_date", self.creation_date_ms.to_string());
        put("index.uuid", self.uuid.to_string());
        put("index.version.created", self.version_created.clone());
        shown.sort_keys();
        shown
    }

    /// Whether wildcards skip the index: `index.hidden`.
    pub fn hidden(&self) -> bool {
        self.typed.hidden
    }
}

/// The metadata of all indices, data streams and templates at one moment.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// All indices by name, open and closed.
    pub indices: BTreeMap<Arc<str>, Arc<IndexMetadata>>,
    /// Derived: for each alias, its indices in name order, or its data streams' backing indices, oldest
    /// first.
    pub aliases: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    /// All data streams by name.
    pub data_streams: BTreeMap<Arc<str>, Arc<DataStream>>,
    /// Derived: the data stream of each backing index.
    pub backing: BTreeMap<Arc<str>, Arc<str>>,
    /// All index templates and component templates.
    pub templates: Templates,
    /// Counts changes, for `_cluster/state`.
    pub version: u64,
    /// Resolves date math in names such as `<logs-{now/d}>`.
    pub(crate) clock: NameClock,
}

impl Catalog {
    /// Returns the catalog with one index added or replaced.
    pub(crate) fn with_index(&self, index: Arc<IndexMetadata>) -> Catalog {
        let mut next = self.clone();
        next.indices.insert(index.name.clone(), index);
        next.derive()
    }

    pub(crate) fn without_index(&self, name: &str) -> Catalog {
        let mut next = self.clone();
        next.indices.remove(name);
        if let Some(stream) = self.stream_of(name) {
            next.data_streams.insert(stream.name.clone(), Arc::new(stream.without_index(name)));
        }
        next.derive()
    }

    /// Returns the catalog with one data stream added or replaced.
    pub(crate) fn with_data_stream(&self, stream: DataStream) -> Catalog {
        let mut next = self.clone();
        next.data_streams.insert(stream.name.clone(), Arc::new(stream));
        next.derive()
    }

    /// Recomputes the derived members.
    pub(crate) fn derive(mut self) -> Catalog {
        self.version += 1;
        self.aliases.clear();
        for index in self.indices.values() {
            for alias in index.aliases.keys() {
                match self.aliases.get_mut(alias.as_str()) {
                    Some(indices) => indices.push(index.name.clone()),
                    None => drop(self.aliases.insert(alias.as_str().into(), vec![index.name.clone()])),
                }
            }
        }
        self.backing.clear();
        for stream in self.data_streams.values() {
            for index in &stream.indices {
                self.backing.insert(index.clone(), stream.name.clone());
            }
            for alias in stream.aliases.keys() {
                let indices = self.aliases.entry(alias.as_str().into()).or_default();
                indices.extend(stream.indices.iter().cloned());
            }
        }
        self
    }

    /// Returns the data stream that an index belongs to.
    pub fn stream_of(&self, index: &str) -> Option<&Arc<DataStream>> {
        self.data_streams.get(self.backing.get(index)?)
    }

    /// Returns an alias of an index, or of the data stream that it belongs to.
    pub fn alias_of<'a>(&'a self, index: &'a IndexMetadata, alias: &str) -> Option<&'a Alias> {
        index.aliases.get(alias).or_else(|| self.stream_of(&index.name)?.aliases.get(alias))
    }

    /// Returns the names of all aliases of an index, including those of its data stream.
    pub fn alias_names<'a>(&'a self, index: &'a IndexMetadata) -> impl Iterator<Item = &'a String> {
        let of_stream = self.stream_of(&index.name).into_iter().flat_map(|stream| stream.aliases.keys());
        index.aliases.keys().chain(of_stream)
    }

    /// Whether an expression reaches an index by a name, and not only by patterns.
    pub fn is_named(&self, index: &IndexMetadata, expression: &str) -> bool {
        let mut parts = expression.split(',').map(str::trim);
        parts.any(|part| *index.name == *part || self.alias_of(index, part).is_some())
    }

    /// Whether an index belongs to a data stream whose name matches a pattern.
    pub fn is_of_stream(&self, index: &IndexMetadata, pattern: &str) -> bool {
        self.backing.get(&index.name).is_some_and(|stream| wildcard::matches(pattern, stream))
    }

    /// Returns the data streams that have an alias, in name order.
    pub fn streams_with_alias(&self, alias: &str) -> impl Iterator<Item = &Arc<DataStream>> {
        self.data_streams.values().filter(move |stream| stream.aliases.contains_key(alias))
    }

    /// Returns the indices of an alias for which it is hidden, and those for which it is not.
    pub(crate) fn by_hiding(&self, alias: &str) -> [Vec<&str>; 2] {
        let mut indices = [Vec::new(), Vec::new()];
        for index in self.aliases.get(alias).into_iter().flatten() {
            let own = self.indices.get(index).and_then(|index| index.aliases.get(alias));
            let is_hidden = own.is_some_and(|alias| alias.is_hidden == Some(true));
            indices[usize::from(!is_hidden)].push(&**index);
        }
        indices
    }

    /// Whether an alias is hidden: all its indices must say so.
    pub(crate) fn alias_is_hidden(&self, alias: &str) -> bool {
        self.aliases.get(alias).is_some_and(|indices| {
            indices.iter().all(|index| {
                self.indices
                    .get(index)
                    .and_then(|index| index.aliases.get(alias))
                    .and_then(|alias| alias.is_hidden)
                    .unwrap_or(false)
            })
        })
    }
}
