//! The steps of lifecycles, and what each of them does to an index.
//!
//! Source: Elasticsearch's `WaitForRolloverReadyStep`, `RolloverStep`, `UpdateRolloverLifecycleDateStep`,
//! `CheckNotDataStreamWriteIndexStep`, `AllocationRoutedStep`, `DataTierMigrationRoutedStep`, `DeleteStep`.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Value, json};

use super::lifecycle_round::Outcome;
use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata};
use crate::lifecycle::Conditions;
use crate::lifecycle::{Action, Phase};
use crate::node::Node;
use crate::settings::{FlatSettings, SettingsUpdate};

/// Returns the tiers that a phase prefers, best first.
fn tiers_of(phase: &str) -> &'static str {
    match phase {
        "cold" => "data_cold,data_warm,data_hot",
        _ => "data_warm,data_hot",
    }
}

/// What a rollover of an index applies to.
enum RollsBy {
    Name(String),
    /// The index was already rolled over.
    Done,
}

impl Node {
    /// Checks that the author of the policy may do to the index what its current step does.
    pub(in crate::node) fn check_author(
        &self,
        index: &IndexMetadata,
        action: &Action,
        author: &Value,
    ) -> Result<()> {
        if author.is_null() {
            return Ok(());
        }
        let catalog = self.catalog.load();
        let stream = catalog.stream_of(&index.name);
        let (needed, by) = match (&*index.lifecycle.step, action) {
            ("set_priority" | "set-indexing-complete" | "allocate" | "migrate", _) => {
                ("indices:admin/settings/update", None)
            }
            ("check-rollover-ready" | "attempt-rollover", _) => match rolls_by(&catalog, index)? {
                RollsBy::Name(target) => ("indices:admin/rollover", Some(target)),
                RollsBy::Done => return Ok(()),
            },
            ("readonly", _) => ("indices:admin/block/add", None),
            ("forcemerge", _) => ("indices:admin/forcemerge", None),
            // The last index of a data stream is deleted with the stream.
            ("delete", _) => match stream.filter(|stream| stream.indices.len() == 1) {
                Some(stream) => ("indices:admin/data_stream/delete", Some(stream.name.to_string())),
                None => ("indices:admin/delete", None),
            },
            _ => return Ok(()),
        };
        self.on_behalf_of(author, needed, || {
            let Some(access) = limber_access::current() else { return Ok(()) };
            match (by, stream) {
                (Some(name), _) => access.check([name.as_str()]),
                // Rights to a data stream are rights to its indices.
                (None, Some(stream)) if access.allows(&stream.name) => Ok(()),
                (None, _) => access.check([&*index.name]),
            }
        })
    }

    /// Takes the current step of an index.
    pub(in crate::node) fn take_step(
        &self,
        index: &Arc<IndexMetadata>,
        policy: &str,
        phase: &Phase,
        action: &Action,
    ) -> Result<Outcome> {
        match (&*index.lifecycle.step, action) {
            ("set_priority", Action::SetPriority(priority)) => {
                let value = priority.map_or(Value::Null, |priority| priority.to_string().into());
                self.set(index, [("index.priority", value)])
            }
            ("check-rollover-ready", Action::Rollover(conditions)) => self.check_ready(index, conditions),
            ("attempt-rollover", Action::Rollover(_)) => self.attempt_rollover(index),
            ("wait-for-active-shards", _) => Ok(Outcome::DONE),
            ("update-rollover-lifecycle-date", _) => {
                Ok(Outcome::Done { lifecycle_date_ms: Some(self.rolled_at(index)) })
            }
            ("set-indexing-complete", _) => {
                self.set(index, [("index.lifecycle.indexing_complete", "true".into())])
            }
            ("check-not-write-index", _) => Ok(check_not_written(&self.catalog.load(), index, policy)),
            ("readonly", Action::ReadOnly) => self.set(index, [("index.blocks.write", "true".into())]),
            ("allocate", Action::Allocate { replicas, shards_per_node }) => {
                let replicas = replicas.map(|count| ("index.number_of_replicas", count.to_string().into()));
                let per_node = shards_per_node.map(|count| {
                    ("index.routing.allocation.total_shards_per_node", count.to_string().into())
                });
                self.set(index, replicas.into_iter().chain(per_node))
            }
            ("migrate", Action::Migrate { .. }) => {
                let key = "index.routing.allocation.include._tier_preference";
                self.set(index, [(key, tiers_of(phase.name).into())])
            }
            ("check-allocation" | "check-migration", _) => Ok(check_copies(index)),
            ("forcemerge", Action::ForceMerge { segments_max }) => self.merge_down(index, *segments_max),
            ("delete", Action::Delete { .. }) => self.delete_aged(index, policy),
            (step, action) => Err(RequestError::internal(
                "illegal_state_exception",
                format!("the action [{}] has no step [{step}]", action.name()),
            )),
        }
    }

    fn set(
        &self,
        index: &IndexMetadata,
        settings: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Result<Outcome> {
        let flat: FlatSettings = settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let update = SettingsUpdate::check(flat)?;
        self.change_as_seen(index, |catalog, index| {
            self.check_metadata_block(index)?;
            let index = self.with_settings(index, &update, false)?;
            let mut next = catalog.clone();
            next.indices.insert(index.name.clone(), Arc::new(index));
            Ok(next)
        })
    }

    /// Changes an index if it is still at the step that was seen.
    fn change_as_seen(
        &self,
        seen: &IndexMetadata,
        plan: impl Fn(&Catalog, &Arc<IndexMetadata>) -> Result<Catalog>,
    ) -> Result<Outcome> {
        self.change_catalog(|catalog| {
            match catalog.indices.get(&seen.name).filter(|index| index.is_at_the_step_of(seen)) {
                Some(index) => Ok((plan(catalog, index)?, Outcome::DONE)),
                None => Ok((catalog.clone(), Outcome::Gone)),
            }
        })
    }

    fn check_ready(&self, index: &IndexMetadata, conditions: &Conditions) -> Result<Outcome> {
        if let RollsBy::Done = rolls_by(&self.catalog.load(), index)? {
            return Ok(Outcome::DONE);
        }
        let only_filled = self.settings.load().boolean("indices.lifecycle.rollover.only_if_has_documents");
        match self.is_ready_to_roll(index, conditions, only_filled) {
            true => Ok(Outcome::DONE),
            false => Ok(Outcome::Waits(Value::Null)),
        }
    }

    fn attempt_rollover(&self, index: &IndexMetadata) -> Result<Outcome> {
        if let RollsBy::Name(target) = rolls_by(&self.catalog.load(), index)? {
            self.rollover_from(&target, index)?;
        }
        Ok(Outcome::DONE)
    }

    /// Returns when an index was rolled over: the time that was recorded, or else when the next index of its
    /// data stream was created.
    fn rolled_at(&self, index: &IndexMetadata) -> u64 {
        let noted = index.rollover_info.values().filter_map(|info| info["time"].as_u64()).max();
        let successor = || {
            let catalog = self.catalog.load();
            let stream = catalog.stream_of(&index.name)?;
            let next = stream.indices.iter().skip_while(|name| **name != index.name).nth(1)?;
            Some(catalog.indices.get(next)?.creation_date_ms)
        };
        noted.or_else(successor).unwrap_or_else(|| self.now_millis())
    }

    fn merge_down(&self, index: &IndexMetadata, segments_max: u32) -> Result<Outcome> {
        let request =
            ForceMergeRequest { max_num_segments: Some(segments_max), ..ForceMergeRequest::default() };
        let merged = self.force_merge(&index.name, IndicesOptions::BROADCAST, &request)?;
        match merged.failures.into_iter().next() {
            None => Ok(Outcome::DONE),
            Some(failure) => Err(failure.error),
        }
    }

    /// Deletes an index at the end of its life. If it is the only index of a data stream, the stream is
    /// deleted too.
    fn delete_aged(&self, index: &Arc<IndexMetadata>, policy: &str) -> Result<Outcome> {
        self.change_as_seen(index, |catalog, index| {
            self.check_delete_block(index)?;
            let written =
                catalog.stream_of(&index.name).filter(|stream| *stream.write_index() == index.name);
            match written {
                Some(stream) if stream.indices.len() == 1 => {
                    let mut next = catalog.without_index(&index.name);
                    next.data_streams.remove(&stream.name);
                    Ok(next)
                }
                Some(stream) => {
                    let name = &index.name;
                    Err(RequestError::internal("illegal_state_exception",
                        format!(
                            "index [{name}] is the write index for data stream [{}]. stopping execution of lifecycle [{policy}] as a \
                             data stream's write index cannot be deleted. manually rolling over the index will resume the execution \
                             of the policy as the index will not be the data stream's write index anymore",
                            stream.name
                        ),
                    ))
                }
                None => Ok(catalog.without_index(&index.name)),
            }
        })?;
        Ok(Outcome::Gone)
    }
}

/// Returns the data stream or alias to roll over.
fn rolls_by(catalog: &Catalog, index: &IndexMetadata) -> Result<RollsBy> {
    if let Some(stream) = catalog.stream_of(&index.name) {
        return Ok(match *stream.write_index() == index.name {
            true => RollsBy::Name(stream.name.to_string()),
            false => RollsBy::Done,
        });
    }
    let name = &index.name;
    let refused = |why: String| Err(RequestError::illegal_argument(why));
    let Some(alias) = index.typed.lifecycle.rollover_alias.as_deref().filter(|alias| !alias.is_empty())
    else {
        return refused(format!(
            "setting [index.lifecycle.rollover_alias] for index [{name}] is empty or not defined"
        ));
    };
    if index.rollover_info.contains_key(alias) || index.typed.lifecycle.indexing_complete {
        return Ok(RollsBy::Done);
    }
    let Some(of_index) = index.aliases.get(alias) else {
        return refused(format!("index.lifecycle.rollover_alias [{alias}] does not point to index [{name}]"));
    };
    match of_index.is_write_index {
        Some(false) => refused(format!("index [{name}] is not the write index for alias [{alias}]")),
        _ => Ok(RollsBy::Name(alias.to_owned())),
    }
}

fn check_not_written(catalog: &Catalog, index: &IndexMetadata, policy: &str) -> Outcome {
    match catalog.stream_of(&index.name).filter(|stream| *stream.write_index() == index.name) {
        None => Outcome::DONE,
        Some(stream) => Outcome::Waits(json!({"message": format!(
            "index [{}] is the write index for data stream [{}], pausing ILM execution of lifecycle [{policy}] until this index is no \
             longer the write index for the data stream via manual or automated rollover",
            index.name, stream.name
        )})),
    }
}

/// Waits for replicas. One node holds only one copy of a shard, so this waits like a cluster that is too
/// small.
fn check_copies(index: &IndexMetadata) -> Outcome {
    match index.typed.number_of_replicas {
        0 => Outcome::DONE,
        replicas => Outcome::Waits(json!({
            "message": "Waiting for all shard copies to be active",
            "shards_left_to_allocate": -1,
            "all_shards_active": false,
            "number_of_replicas": replicas,
        })),
    }
}
