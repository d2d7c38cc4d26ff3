//! `_data_stream/_modify` adds indices to data streams and removes them.
//!
//! Source: Elasticsearch's `MetadataDataStreamsService`,
//! `MetadataMigrateToDataStreamService#prepareBackingIndex`.

use std::sync::Arc;

use limber_mapping::{Mapping, ObjectParser, RequestError};
use serde_json::{Value, json};

use crate::analysis::AnalysisOf;
use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata};
use crate::node::Node;
use crate::node::index::index_files::check_is_readable;
use crate::node::stream::series_bounds::check_joined;
use crate::settings::IndexSettings;

/// Maximum number of actions in one request.
const ACTIONS_MAX: usize = 1_000;

/// One action of the body.
struct Action {
    adds: bool,
    stream: String,
    index: String,
}

impl Node {
    /// Carries out `POST /_data_stream/_modify`: all actions or none.
    pub fn modify_data_streams(&self, body: &Value) -> Result<()> {
        let actions = parse_actions(body)?;
        self.change_catalog(|catalog| {
            self.check_metadata_write_block()?;
            let mut next = catalog.clone();
            actions.iter().try_for_each(|action| apply(&mut next, action))?;
            Ok((next, ()))
        })
    }
}

fn parse_actions(body: &Value) -> Result<Vec<Action>> {
    let missing = || RequestError::illegal_argument("Required [actions]");
    let object = body.as_object().ok_or_else(missing)?;
    if let Some(other) = object.keys().find(|key| *key != "actions") {
        return Err(ObjectParser::new("data_stream_actions").unknown(other));
    }
    let actions = object.get("actions").and_then(Value::as_array).ok_or_else(missing)?;
    if actions.is_empty() {
        return Err(RequestError::validation(["must specify at least one data stream modification action"]));
    }
    if actions.len() > ACTIONS_MAX {
        let reason = format!("more than [{ACTIONS_MAX}] data stream actions in one request");
        return Err(RequestError::illegal_argument(reason));
    }
    let parse = |action: &Value| {
        let Some((kind, members)) = action.as_object().and_then(|object| object.iter().next()) else {
            return Err(RequestError::illegal_argument("a data stream action is an object"));
        };
        let adds = match kind.as_str() {
            "add_backing_index" => true,
            "remove_backing_index" => false,
            other => return Err(ObjectParser::new("data_stream_action").unknown(other)),
        };
        let text = |key: &str| match members[key].as_str() {
            Some("") | None => Err(RequestError::illegal_argument(format!("Required [{key}]"))),
            Some(text) => Ok(text.to_owned()),
        };
        let mut keys = members.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
        if let Some(other) = keys.find(|key| !matches!(*key, "index" | "data_stream" | "failure_store")) {
            return Err(ObjectParser::new(kind).unknown(other));
        }
        if members.get("failure_store").is_some_and(|flag| *flag != false) {
            return Err(RequestError::unsupported("[failure_store] of a data stream action"));
        }
        Ok(Action { adds, stream: text("data_stream")?, index: text("index")? })
    };
    actions.iter().map(parse).collect()
}

fn apply(catalog: &mut Catalog, action: &Action) -> Result<()> {
    let refused = |why: String| Err(RequestError::illegal_argument(why));
    let Action { stream: name, index, .. } = action;
    catalog.check_may_touch(name)?;
    catalog.check_may_touch(index)?;
    let Some(stream) = catalog.data_streams.get(name.as_str()).cloned() else {
        return refused(format!("data stream [{name}] not found"));
    };
    let Some(metadata) = catalog.indices.get(index.as_str()).cloned() else {
        return refused(format!("index [{index}] not found"));
    };
    let belongs = stream.indices.contains(&metadata.name);
    let changed = if action.adds {
        let other = catalog.backing.get(&metadata.name).filter(|_| !belongs);
        if let Some(other) = other {
            return refused(format!(
                "cannot add index [{index}] to data stream [{name}] because it is already a backing index on data stream [{other}]"
            ));
        }
        if belongs {
            return Ok(());
        }
        if !metadata.aliases.is_empty() {
            let aliases: Vec<&str> = metadata.aliases.keys().map(String::as_str).collect();
            return refused(format!(
                "cannot add index [{index}] to data stream [{name}] until its alias(es) [{}] are removed",
                aliases.join(",")
            ));
        }
        check_joined(catalog, &stream, &metadata)?;
        joined(&metadata, &catalog.templates.analysis)?
    } else {
        if !belongs {
            return refused(format!("index [{index}] not found in data stream [{name}]"));
        }
        if *stream.write_index() == metadata.name {
            return refused(format!(
                "cannot remove backing index [{index}] of data stream [{name}] because it is the write index"
            ));
        }
        hidden(&metadata, false)?
    };
    let stream = if action.adds { stream.with_index(index) } else { stream.without_index(index) };
    catalog.indices.insert(changed.name.clone(), Arc::new(changed));
    *catalog = catalog.with_data_stream(stream);
    Ok(())
}

/// Returns an index as it becomes part of a data stream: hidden, and with exactly one `@timestamp` per
/// document.
pub(in crate::node) fn joined(index: &IndexMetadata, analysis: &AnalysisOf) -> Result<IndexMetadata> {
    check_is_readable(index)?;
    let mut changed = hidden(index, true)?;
    let settings = changed.typed.mapping_settings(&changed.settings, &analysis.get())?;
    let mapping = Mapping::restore(&index.mappings, &settings)?;
    let mapping = mapping.merge(&json!({"_data_stream_timestamp": {"enabled": true}}))?;
    changed.mappings = Arc::new(mapping.to_json());
    Ok(changed)
}

/// Returns the index with another value of `index.hidden`.
fn hidden(index: &IndexMetadata, flag: bool) -> Result<IndexMetadata> {
    let mut changed = index.clone();
    changed.settings.insert("index.hidden".into(), flag.to_string().into());
    changed.typed = Arc::new(IndexSettings::from_flat(&changed.settings)?);
    Ok(changed)
}
