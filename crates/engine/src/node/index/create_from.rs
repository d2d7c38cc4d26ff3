//! `_create_from` creates an empty index with the mappings and settings of another one.
//!
//! Source: Elasticsearch's `CreateIndexFromSourceTransportAction`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::resize::{OWN_SETTINGS, merge_settings};
use crate::api::{CreateIndexResponse, Result};
use crate::node::Node;
use crate::node::writing::update::merge;
use crate::settings::{FlatSettings, flatten, normalize_index_keys};

impl Node {
    /// Creates `target` with the mappings and settings of `source`, without its aliases and documents. `body`
    /// may have `settings_override`, `mappings_override` and `remove_index_blocks` (true).
    ///
    /// # Errors
    /// Fails when `source` matches no index or several, when the body is malformed, or when the target cannot
    /// be created.
    pub fn create_index_from(
        &self,
        source: &str,
        target: &str,
        body: Option<&Value>,
    ) -> Result<CreateIndexResponse> {
        let overrides = Overrides::parse(body)?;
        let info = self.only_index(source)?;
        let mut settings = info.settings;
        settings.retain(|key, _| {
            let is_removed = overrides.removes_blocks && key.starts_with("index.blocks.");
            // Even if the source has received all its documents, the target has not.
            let is_own = OWN_SETTINGS.contains(&key.as_str()) || key == "index.lifecycle.indexing_complete";
            !is_removed && !is_own
        });
        merge_settings(&mut settings, overrides.settings);
        let mut mappings = info.mappings.as_object().cloned().unwrap_or_default();
        merge(&mut mappings, &overrides.mappings, false, 0)?;
        self.create_index(target, &json!({"settings": settings, "mappings": mappings}))
    }
}

/// The body of `_create_from`.
struct Overrides {
    settings: FlatSettings,
    mappings: Map<String, Value>,
    removes_blocks: bool,
}

impl Overrides {
    fn parse(body: Option<&Value>) -> Result<Overrides> {
        let mut overrides = Overrides { settings: Map::new(), mappings: Map::new(), removes_blocks: true };
        let Some(body) = body else { return Ok(overrides) };
        let members = body.as_object().ok_or_else(|| RequestError::parsing("expected an object"))?;
        for (key, value) in members {
            match (key.as_str(), value) {
                ("settings_override", settings) => {
                    overrides.settings = normalize_index_keys(flatten(settings)?);
                }
                ("mappings_override", Value::Object(mappings)) => overrides.mappings = mappings.clone(),
                ("remove_index_blocks", Value::Bool(removes)) => overrides.removes_blocks = *removes,
                ("mappings_override" | "remove_index_blocks", _) => {
                    return Err(RequestError::parsing(format!("[{key}] has a value of the wrong type")));
                }
                (other, _) => {
                    return Err(ObjectParser::parsing("create_index_from").unknown(other));
                }
            }
        }
        Ok(overrides)
    }
}
