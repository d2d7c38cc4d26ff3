//! Stores, returns and deletes scripts, which survive restarts.

use std::collections::HashMap;

use limber_mapping::RequestError;
use limber_script::{ScriptContext, StoredScript};
use serde_json::{Value, json};

use crate::api::Result;
use crate::node::Node;

/// Languages of stored scripts.
const LANGUAGES: [&str; 3] = ["painless", "expression", "mustache"];
/// Longest id of a script, in characters.
const ID_LENGTH_MAX: usize = 512;
/// Maximum number of stored scripts of a node. All of them are in one file.
const SCRIPTS_MAX: usize = 10_000;

/// Reads the scripts of the state file.
pub(in crate::node) fn restored(scripts: &Value) -> HashMap<String, StoredScript> {
    let text = |script: &Value, key: &str| script[key].as_str().unwrap_or_default().to_owned();
    let stored = |script: &Value| StoredScript {
        language: text(script, "lang"),
        source: text(script, "source"),
        content_type: script["options"]["content_type"].as_str().map(str::to_owned),
    };
    scripts.as_object().into_iter().flatten().map(|(id, script)| (id.clone(), stored(script))).collect()
}

/// Contexts for which stored scripts are compiled.
const CONTEXTS: &[ScriptContext] = &[
    ScriptContext::Score,
    ScriptContext::Field,
    ScriptContext::Filter,
    ScriptContext::NumberSort,
    ScriptContext::StringSort,
    ScriptContext::Aggregation,
    ScriptContext::Update,
    ScriptContext::UpdateByQuery,
    ScriptContext::Reindex,
    ScriptContext::Ingest,
    ScriptContext::IngestCondition,
    ScriptContext::BucketScript,
    ScriptContext::BucketSelector,
    ScriptContext::MovingFunction,
    ScriptContext::MetricInit,
    ScriptContext::MetricMap,
    ScriptContext::MetricCombine,
    ScriptContext::MetricReduce,
    ScriptContext::Interval,
    ScriptContext::TokenFilter,
    ScriptContext::Similarity,
    ScriptContext::SimilarityWeight,
    ScriptContext::Test,
];
/// Contexts of templates.
const TEMPLATES: [&str; 3] = ["ingest_template", "template", "xpack_template"];
/// Contexts of what Limber does not have. Their scripts are stored uncompiled.
const OTHERS: [&str; 2] = ["watcher_condition", "watcher_transform"];
/// Contexts of runtime fields, whose scripts are in mappings only.
const OF_FIELDS: [&str; 9] = [
    "boolean_field",
    "composite_field",
    "date_field",
    "double_field",
    "geo_point_field",
    "geometry_field",
    "ip_field",
    "keyword_field",
    "long_field",
];

/// Returns the context for which a script is compiled when it is stored, if there is one for the name in the
/// URL.
///
/// Source: `ScriptService#putStoredScript`.
fn context_of(script: &StoredScript, name: &str) -> Result<Option<ScriptContext>> {
    let compiled_as = match name {
        "script_heuristic" => "bucket_aggregation",
        "terms_set" => "field",
        _ => name,
    };
    let found = CONTEXTS.iter().copied().find(|context| context.name() == compiled_as);
    let is_template = TEMPLATES.contains(&name);
    let reason = if OF_FIELDS.contains(&name) {
        format!("cannot store a script for context [{name}]")
    } else if found.is_none() && !is_template && !OTHERS.contains(&name) {
        format!("Unknown context [{name}]")
    } else if script.language == "mustache" && !is_template {
        format!("mustache engine does not know how to handle context [{name}]")
    } else if script.language == "expression" && found.is_none() {
        format!("expression engine does not know how to handle script context [{name}]")
    } else {
        return Ok(found);
    };
    Err(RequestError::illegal_argument(reason))
}

impl Node {
    /// Returns how many scripts were compiled, how many were evicted from the cache, and how many were
    /// refused because there were too many.
    pub fn script_statistics(&self) -> (u64, u64, u64) {
        self.scripts.statistics()
    }

    /// Carries out `PUT _scripts/ID`. The script is compiled for `context` if one is named.
    pub fn put_script(&self, id: &str, context: Option<&str>, body: &Value) -> Result<()> {
        let script = StoredScript::parse(body)?;
        if id.len() > ID_LENGTH_MAX {
            return Err(RequestError::illegal_argument(format!(
                "stored script id [{id}] has more than {ID_LENGTH_MAX} characters"
            )));
        }
        let limit = self.settings.load().script_limits()?.source_bytes_max;
        if script.source.len() > limit {
            return Err(RequestError::illegal_argument(format!(
                "exceeded max allowed stored script size in bytes [{limit}] with size [{}] for script [{id}]",
                script.source.len()
            )));
        }
        if !LANGUAGES.contains(&script.language.as_str()) {
            let language = &script.language;
            return Err(RequestError::illegal_argument(format!(
                "unable to put stored script with unsupported lang [{language}]"
            )));
        }
        let context = context.map(|name| context_of(&script, name)).transpose().map_err(|cause| {
            RequestError::illegal_argument(format!("failed to parse/compile stored script [{id}]"))
                .caused_by(cause)
        })?;
        self.scripts.check(&script, context.flatten())?;
        let _changing = self.changing.lock();
        self.change_scripts(|scripts| {
            if scripts.as_object().is_some_and(|known| known.len() >= SCRIPTS_MAX && !known.contains_key(id))
            {
                return Err(RequestError::illegal_argument(format!(
                    "there are [{SCRIPTS_MAX}] scripts already"
                )));
            }
            let mut stored = json!({"lang": script.language, "source": script.source});
            if let Some(content_type) = script.content_type {
                stored["options"] = json!({ "content_type": content_type });
            }
            scripts[id] = stored;
            Ok(())
        })
    }

    /// Returns the script with this id.
    pub fn get_script(&self, id: &str) -> Option<StoredScript> {
        self.scripts.stored(id)
    }

    /// Carries out `DELETE _scripts/{id}`. Fails with `NotFound` for an unknown id.
    pub fn delete_script(&self, id: &str) -> Result<()> {
        let _changing = self.changing.lock();
        self.change_scripts(|scripts| match scripts.as_object_mut().and_then(|known| known.remove(id)) {
            Some(_) => Ok(()),
            None => Err(RequestError::not_found(
                "resource_not_found_exception",
                format!("stored script [{id}] does not exist and cannot be deleted"),
            )),
        })
    }

    /// Changes the stored scripts. Called with `changing` locked.
    fn change_scripts(&self, change: impl FnOnce(&mut Value) -> Result<()>) -> Result<()> {
        self.check_metadata_write_block()?;
        let mut scripts = self.state.load().scripts.clone();
        change(&mut scripts)?;
        self.change_state(|state| state.scripts = scripts.clone())?;
        self.scripts.set_stored(restored(&scripts));
        Ok(())
    }
}
