//! Stores, shows, deletes, starts and stops transforms, and shows their statistics. For runs see
//! [`super::transform_run`], and for what is known of them [`super::transform_state`].

use limber_access as access;
use limber_mapping::{ErrorClass, ObjectParser, RequestError};
use limber_text::wildcard;
use serde_json::{Map, Value, json};

use crate::api::*;
use crate::node::Node;
use crate::node::kept_state::state::NodeState;
use crate::transform::{TransformConfig, check_id};

/// Maximum number of transforms of a node. All of them are in one file.
const TRANSFORMS_MAX: usize = 1_000;
/// The action that deletes a destination.
const DELETE: &str = "indices:admin/delete";

/// Checks that the user may delete the transform's destination.
fn check_destination_deletion(entry: &Value) -> Result<()> {
    let _acting = access::acting(DELETE);
    match (access::current(), entry["config"]["dest"]["index"].as_str()) {
        (Some(access), Some(index)) => access.check([index]),
        _ => Ok(()),
    }
}

fn missing(id: &str) -> RequestError {
    RequestError::not_found(
        "resource_not_found_exception",
        format!("Transform with id [{id}] could not be found"),
    )
}

fn conflict(reason: String) -> RequestError {
    RequestError::new(ErrorClass::Conflict, "status_exception", reason)
}

/// Returns the stored definition of a transform that is stopped, or of any with `force`. `verb` names the
/// attempted action in errors.
fn stopped_transform(state: &NodeState, id: &str, force: bool, verb: &str) -> Result<Value> {
    let entry = state.transforms[id].clone();
    if entry.is_null() {
        return Err(missing(id));
    }
    if entry["is_started"] == true && !force {
        let reason = format!("Cannot {verb} transform [{id}] as the task is running. Stop the task first");
        return Err(conflict(reason));
    }
    Ok(entry)
}

impl Node {
    /// Carries out `PUT _transform/{id}`.
    pub fn put_transform(&self, id: &str, body: &Value, defers_validation: bool) -> Result<()> {
        check_id(id)?;
        let config = TransformConfig::parse(body, false)?;
        self.check_transform(&config, defers_validation)?;
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let kept = self.state.load().transforms.clone();
        if !kept[id].is_null() {
            let reason = format!("Transform with id [{id}] already exists");
            return Err(RequestError::bad_request("resource_already_exists_exception", reason));
        }
        if kept.as_object().is_some_and(|kept| kept.len() >= TRANSFORMS_MAX) {
            return Err(RequestError::illegal_argument(format!(
                "there are [{TRANSFORMS_MAX}] transforms already"
            )));
        }
        let entry = json!({
            "config": config.body, "author": self.author()?, "create_time": self.now_millis(), "is_started": false,
            "checkpoint": 0, "checkpoint_ms": 0,
        });
        self.change_state(|state| state.transforms[id] = entry)
    }

    /// Checks that the user may read the transform's source and write its destination.
    fn check_transform(&self, config: &TransformConfig, defers_validation: bool) -> Result<()> {
        let catalog = self.catalog.load_full();
        let options = match defers_validation {
            true => IndicesOptions { ignore_unavailable: true, ..IndicesOptions::SEARCH },
            false => IndicesOptions::SEARCH,
        };
        let sources = {
            let _acting = access::acting("indices:data/read/search");
            catalog.resolve(&config.indices.join(","), options)?
        };
        let _acting = access::acting("indices:data/write/bulk");
        if let Ok((index, _)) = catalog.single(&config.dest_index)
            && sources.iter().any(|source| source.uuid == index.uuid)
        {
            return Err(RequestError::cluster_validation(format!(
                "Destination index [{}] is included in source expression [{}]",
                config.dest_index,
                config.indices.join(",")
            )));
        }
        crate::catalog::names::check_index_name(&config.dest_index)?;
        match access::current() {
            Some(access) => access.limits(&config.dest_index, None).map(drop),
            None => Ok(()),
        }
    }

    /// Carries out `POST _transform/{id}/_update`: the given members replace the existing ones.
    pub fn update_transform(&self, id: &str, body: &Value) -> Result<Value> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let kept = self.state.load().transforms[id].clone();
        if kept.is_null() {
            return Err(missing(id));
        }
        let mut merged = kept["config"].clone();
        for (key, value) in body.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("pivot" | "latest", _) => {
                    return Err(ObjectParser::new("data_frame_transform_config_update").unknown(key));
                }
                (_, Value::Null) => drop(merged.as_object_mut().map(|merged| merged.shift_remove(key))),
                _ => merged[key] = value.clone(),
            }
        }
        let config = TransformConfig::parse(&merged, false)?;
        self.check_transform(&config, false)?;
        let mut entry = kept;
        entry["config"] = Value::Object(config.body);
        entry["author"] = self.author()?;
        self.change_state(|state| state.transforms[id] = entry.clone())?;
        Ok(self.shown_transform(id, &entry))
    }

    fn shown_transform(&self, id: &str, entry: &Value) -> Value {
        let mut shown = Map::new();
        shown.insert("id".into(), id.into());
        shown.insert("version".into(), "10.0.0".into());
        shown.insert("create_time".into(), entry["create_time"].clone());
        shown.extend(entry["config"].as_object().cloned().unwrap_or_default());
        Value::Object(shown)
    }

    /// Returns ids and stored definitions of the transforms that match an expression, in order.
    fn transforms_named(&self, expression: &str, allow_no_match: bool) -> Result<Vec<(String, Value)>> {
        let state = self.state.load();
        let all = || state.transforms.as_object().into_iter().flatten();
        let mut found: Vec<(String, Value)> = Vec::new();
        for part in expression.split(',').map(str::trim) {
            let is_pattern = part.is_empty() || part == "_all" || part.contains('*');
            let fits = |id: &str| part.is_empty() || part == "_all" || wildcard::matches(part, id);
            let mut matching = all().filter(|(id, _)| fits(id)).peekable();
            if matching.peek().is_none() && (!is_pattern || !allow_no_match) {
                return Err(missing(part));
            }
            for (id, entry) in matching {
                limber_mapping::claim_tree(entry)?;
                found.push((id.clone(), entry.clone()));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup_by(|a, b| a.0 == b.0);
        Ok(found)
    }

    /// Returns the body of `GET _transform/{ids}`.
    pub fn get_transforms(
        &self,
        ids: &str,
        allow_no_match: bool,
        exclude_generated: bool,
        (from, size): (usize, usize),
    ) -> Result<Value> {
        let found = self.transforms_named(ids, allow_no_match)?;
        let count = found.len();
        let mut shown = Vec::new();
        for (id, entry) in found.iter().skip(from).take(size) {
            limber_mapping::claim_tree(entry)?;
            shown.push(match exclude_generated {
                true => entry["config"].clone(),
                false => self.shown_transform(id, entry),
            });
        }
        Ok(json!({ "count": count, "transforms": shown }))
    }

    /// Carries out `DELETE _transform/{id}`.
    pub fn delete_transform(&self, id: &str, force: bool, deletes_destination: bool) -> Result<()> {
        let delete = |transforms: &mut Map<String, Value>| {
            transforms.shift_remove(id);
        };
        self.end_transform(id, (force, "delete"), deletes_destination, delete)
    }

    /// Ends a transform: `change` changes the stored ones, and a run that is in progress writes nothing more.
    /// The destination is deleted by the same write to the disk, so that neither a crash nor a refusal leaves
    /// one without the other. `verb` names the attempted action in errors.
    fn end_transform(
        &self,
        id: &str,
        (force, verb): (bool, &str),
        deletes_destination: bool,
        change: impl Fn(&mut Map<String, Value>),
    ) -> Result<()> {
        let changing = self.changing.lock();
        let entry = stopped_transform(&self.state.load(), id, force, verb)?;
        if deletes_destination {
            check_destination_deletion(&entry)?;
        }
        let reserved = self.transforms.reserve(id);
        drop(changing);
        reserved.settle();
        // Other requests may have changed the transform since.
        let check = |state: &NodeState| -> Result<()> {
            let now = stopped_transform(state, id, force, verb)?;
            match now["config"]["dest"] == entry["config"]["dest"] {
                true => Ok(()),
                false => Err(conflict(format!("Cannot {verb} transform [{id}] as it was changed meanwhile"))),
            }
        };
        let apply = |state: &mut NodeState| {
            if let Some(transforms) = state.transforms.as_object_mut() {
                change(transforms);
            }
        };
        let beside = |state: &mut NodeState| -> Result<()> {
            check(state)?;
            apply(state);
            Ok(())
        };
        if deletes_destination && self.delete_destination(&entry, beside)? {
            return Ok(());
        }
        let _changing = self.changing.lock();
        check(&self.state.load())?;
        self.change_state(apply)
    }

    /// Deletes the destination index of a transform, and changes the node's state with the same write.
    /// Returns whether there was an index; if not, nothing is changed.
    fn delete_destination(
        &self,
        entry: &Value,
        beside: impl Fn(&mut NodeState) -> Result<()>,
    ) -> Result<bool> {
        let Some(index) = entry["config"]["dest"]["index"].as_str() else { return Ok(false) };
        let options = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::DELETE };
        let _acting = access::acting(DELETE);
        self.delete_index_beside(index, options, beside)
    }

    /// Carries out `POST _transform/{id}/_start`.
    pub fn start_transform(&self, id: &str) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let entry = self.state.load().transforms[id].clone();
        if entry.is_null() {
            return Err(missing(id));
        }
        if entry["is_started"] == true {
            return Err(conflict(format!("Cannot start transform [{id}] as it is already started.")));
        }
        let config = TransformConfig::parse(&entry["config"], false)?;
        self.check_transform(&config, false)?;
        // If no author is known, the user who starts the transform becomes its author.
        let author = match &entry["author"] {
            Value::Null => self.author()?,
            known => known.clone(),
        };
        self.change_state(|state| {
            let entry = &mut state.transforms[id];
            (entry["is_started"], entry["author"]) = (true.into(), author);
        })?;
        self.transforms.change(id, |live| {
            (live.due_ms, live.failure, live.source) = (0, None, None);
        });
        Ok(())
    }

    /// Carries out `POST _transform/{ids}/_stop`. A run in progress ends after its current page.
    pub fn stop_transforms(&self, ids: &str, allow_no_match: bool) -> Result<()> {
        for (id, _) in self.transforms_named(ids, allow_no_match)? {
            let _changing = self.changing.lock();
            if self.state.load().transforms[&id]["is_started"] == true {
                self.change_state(|state| state.transforms[&id]["is_started"] = false.into())?;
            }
            self.transforms.end_run(&id);
        }
        Ok(())
    }

    /// Whether a run of one of these transforms is in progress.
    pub fn is_transforming(&self, ids: &str) -> Result<bool> {
        let found = self.transforms_named(ids, true)?;
        Ok(found.iter().any(|(id, _)| self.transforms.live(id).run.is_some()))
    }

    /// Carries out `POST _transform/{id}/_reset`, after which the transform is as if it had never run: a run
    /// that is in progress writes nothing more, and none begins before the destination is deleted.
    pub fn reset_transform(&self, id: &str, force: bool) -> Result<()> {
        let reset = |transforms: &mut Map<String, Value>| {
            if let Some(entry) = transforms.get_mut(id) {
                (entry["checkpoint"], entry["checkpoint_ms"], entry["is_started"]) =
                    (0.into(), 0.into(), false.into());
            }
        };
        self.end_transform(id, (force, "reset"), true, reset)
    }

    /// Carries out `POST _transform/{id}/_schedule_now`.
    pub fn schedule_transform(&self, id: &str) -> Result<()> {
        match &self.state.load().transforms[id] {
            Value::Null => Err(missing(id)),
            _ => {
                self.transforms.change(id, |live| live.due_ms = 0);
                Ok(())
            }
        }
    }

    /// Returns the body of `GET _transform/{ids}/_stats`.
    pub fn transform_stats(
        &self,
        ids: &str,
        allow_no_match: bool,
        (from, size): (usize, usize),
    ) -> Result<Value> {
        let found = self.transforms_named(ids, allow_no_match)?;
        let count = found.len();
        let shown = found.iter().skip(from).take(size).map(|(id, entry)| self.stats_of(id, entry));
        Ok(json!({ "count": count, "transforms": shown.collect::<Vec<_>>() }))
    }

    fn stats_of(&self, id: &str, entry: &Value) -> Value {
        let live = self.transforms.live(id);
        let state = match (&live.failure, entry["is_started"] == true, live.run.is_some()) {
            (Some(_), ..) => "failed",
            (None, true, true) => "indexing",
            (None, true, false) => "started",
            (None, false, true) => "stopping",
            (None, false, false) => "stopped",
        };
        let stats = &live.stats;
        let mut shown = json!({
            "id": id,
            "state": state,
            "stats": {
                "pages_processed": stats.pages,
                "documents_processed": stats.documents_read,
                "documents_indexed": stats.documents_written,
                "documents_deleted": stats.documents_deleted,
                "trigger_count": stats.triggers,
                "index_time_in_ms": stats.index_ms,
                "index_total": stats.indexing,
                "index_failures": stats.index_failures,
                "search_time_in_ms": stats.search_ms,
                "search_total": stats.searches,
                "search_failures": stats.search_failures,
                "processing_time_in_ms": 0,
                "processing_total": stats.pages,
                "delete_time_in_ms": stats.delete_ms,
                "exponential_avg_checkpoint_duration_ms": 0.0,
                "exponential_avg_documents_indexed": 0.0,
                "exponential_avg_documents_processed": 0.0,
            },
            "checkpointing": {"last": {"checkpoint": entry["checkpoint"]}},
            "health": {"status": if live.failure.is_some() { "red" } else { "green" }},
        });
        if entry["checkpoint_ms"].as_u64().is_some_and(|at| at > 0) {
            shown["checkpointing"]["last"]["timestamp_millis"] = entry["checkpoint_ms"].clone();
        }
        if let Some(source) = live.source {
            shown["checkpointing"]["changes_last_detected_at"] = source.seen_millis.into();
        }
        if let Some(checked_millis) = live.checked_millis {
            shown["checkpointing"]["last_search_time"] = checked_millis.into();
        }
        if let Some(failure) = live.failure {
            shown["reason"] = failure.into();
        }
        shown
    }
}
