//! Creates, shows and deletes data streams, and shows their statistics.
//!
//! Source: Elasticsearch's `MetadataCreateDataStreamService`, `TransportGetDataStreamsAction`,
//! `TransportDeleteDataStreamAction`.

use std::collections::BTreeSet;
use std::sync::Arc;

use limber_mapping::{IndexMode, RequestError};
use limber_text::wildcard;
use serde_json::{Map, Value, json};

use super::stream_lifecycles::ManagedBy;
use crate::api::HealthStatus;
use crate::api::*;
use crate::catalog::names::index_not_found;
use crate::catalog::{Catalog, DataStream, IndexMetadata};
use crate::environment::format_utc_millis;
use crate::node::Node;
use crate::node::kept_state::security::check_is_on_indices;
use crate::settings::TimeBounds;
use crate::shard::Shard;

impl Catalog {
    /// Returns the data streams that an expression matches, in name order.
    ///
    /// # Errors
    /// Fails with `NotFound` for a name without wildcards that does not exist, unless the options ignore
    /// that. An index or an alias of indices is left out.
    pub(crate) fn resolve_data_streams(
        &self,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<Arc<DataStream>>> {
        let mut found: BTreeSet<&Arc<str>> = BTreeSet::new();
        let mut wildcard_seen = false;
        for part in expression.split(',').map(str::trim) {
            if let Some(excluded) = part.strip_prefix('-').filter(|_| wildcard_seen) {
                found.retain(|name| !wildcard::matches(excluded, name));
                continue;
            }
            if part.is_empty() || part == "_all" || wildcard::is_pattern(part) {
                wildcard_seen = true;
                let pattern = if wildcard::is_pattern(part) { part } else { "*" };
                let shown = self.data_streams.values().filter(|stream| {
                    !stream.hidden
                        || options.expand_hidden
                        || (pattern.starts_with('.') && stream.name.starts_with('.'))
                });
                let matching = shown.filter(|stream| {
                    wildcard::matches(pattern, &stream.name) && self.may_be_touched(&stream.name)
                });
                found.extend(matching.filter(|_| options.expand_open).map(|stream| &stream.name));
                continue;
            }
            match self.data_streams.get_key_value(part) {
                _ if !self.may_be_touched(part) => {
                    if !options.ignore_unavailable {
                        self.check_may_touch(part)?;
                    }
                }
                Some((name, _)) => {
                    found.insert(name);
                }
                None if options.ignore_unavailable => {}
                // An index or an alias of indices is no data stream, but it exists.
                None if self.indices.contains_key(part) || self.aliases.contains_key(part) => {}
                None => return Err(index_not_found(part)),
            }
        }
        Ok(found.into_iter().filter_map(|name| self.data_streams.get(name).cloned()).collect())
    }
}

impl Node {
    /// Carries out `PUT /_data_stream/{name}`.
    pub fn create_data_stream(&self, name: &str) -> Result<()> {
        self.catalog.load().check_may_touch(name)?;
        let _creating = self.names.lock(name);
        self.create_named_data_stream(name)
    }

    /// Creates a data stream. Called with its name locked.
    pub(in crate::node) fn create_named_data_stream(&self, name: &str) -> Result<()> {
        self.check_metadata_write_block()?;
        let catalog = self.catalog.load_full();
        check_stream_is_new(&catalog, name)?;
        crate::catalog::names::check_data_stream_name(name)?;
        let mut template = catalog.templates.of_data_stream(name)?;
        check_stream_is_free(&catalog, name)?;
        let mut stream = DataStream::new(name, &template.options, template.meta)?;
        stream.lifecycle = template.lifecycle.take();
        stream.aliases = std::mem::take(&mut template.resolved.aliases);
        let index = stream.next_index(self.now_millis());
        crate::node::index::create_index::check_is_free(&catalog, &index)?;
        let metadata = self.metadata_of(&catalog, &index, template.resolved)?;
        let stream = stream.rolled_over(&index);
        self.install(metadata, |catalog, metadata| {
            check_stream_is_new(catalog, name)?;
            check_stream_is_free(catalog, name)?;
            let next = self.with_new_index(catalog, metadata)?.with_data_stream(stream.clone());
            for alias in stream.aliases.keys() {
                check_stream_alias(catalog, alias)?;
                crate::node::index::indices::check_alias_target(&next, alias)?;
            }
            Ok(next)
        })
    }

    /// Carries out `DELETE /_data_stream/{name}`: deletes the data streams and all their indices.
    pub fn delete_data_streams(&self, expression: &str, options: IndicesOptions) -> Result<()> {
        self.change_catalog(|catalog| {
            self.check_metadata_write_block()?;
            let mut next = catalog.clone();
            let streams = catalog.resolve_data_streams(expression, options)?;
            let is_broad = wildcard::is_pattern(expression) || expression == "_all";
            if streams.is_empty() && !is_broad && !options.ignore_unavailable {
                let reason = format!("data streams [{expression}] not found");
                return Err(RequestError::not_found("resource_not_found_exception", reason));
            }
            for stream in streams {
                check_is_on_indices(&stream.name)?;
                next.data_streams.remove(&stream.name);
                for index in stream.indices.iter().filter_map(|name| catalog.indices.get(name)) {
                    self.check_delete_block(index)?;
                    next.indices.remove(&index.name);
                }
            }
            Ok((next, ()))
        })
    }

    /// Returns the body of `GET /_data_stream/{name}`. `with_rollover` adds the rollover conditions to
    /// lifecycles.
    pub fn get_data_streams(
        &self,
        expression: &str,
        options: IndicesOptions,
        with_rollover: bool,
    ) -> Result<Value> {
        let catalog = self.catalog.load();
        let streams = catalog.resolve_data_streams(expression, options)?;
        let shown: Vec<Value> = streams
            .iter()
            .map(|stream| self.show_data_stream(&catalog, stream, with_rollover))
            .collect::<Result<_>>()?;
        Ok(json!({"data_streams": shown}))
    }

    fn show_data_stream(&self, catalog: &Catalog, stream: &DataStream, with_rollover: bool) -> Result<Value> {
        let backing: Vec<&Arc<IndexMetadata>> =
            stream.indices.iter().filter_map(|name| catalog.indices.get(name)).collect();
        let status = backing.iter().map(|index| self.status_of(index)).max().unwrap_or(HealthStatus::Green);
        let indices: Vec<Value> = backing
            .iter()
            .map(|index| {
                let mut shown = json!({
                    "index_name": &*index.name,
                    "index_uuid": &*index.uuid,
                    "prefer_ilm": index.typed.lifecycle.prefer_ilm,
                });
                if let Some(policy) = &index.typed.lifecycle.name {
                    shown["ilm_policy"] = policy.as_str().into();
                }
                shown["managed_by"] = index.managed_by(stream).name().into();
                // As in 8.14, an index without a mode shows none.
                if index.typed.mode != IndexMode::Standard {
                    shown["index_mode"] = index.typed.mode.name().into();
                }
                shown
            })
            .collect();
        let template = catalog.templates.of_stream(stream).ok();
        let setting = |key: &str| {
            let settings = template.as_ref().map(|template| &template.resolved.settings)?;
            settings.get(key).and_then(Value::as_str).map(str::to_owned)
        };
        let policy = setting("index.lifecycle.name");
        let mut shown = Map::from_iter([
            ("name".to_owned(), Value::from(&*stream.name)),
            ("timestamp_field".to_owned(), json!({"name": "@timestamp"})),
            ("indices".to_owned(), indices.into()),
            ("generation".to_owned(), stream.generation.into()),
        ]);
        stream.meta.as_ref().map(|meta| shown.insert("_meta".into(), meta.clone()));
        shown.insert("status".into(), status.as_str().to_uppercase().into());
        if let Some(name) = catalog.templates.makes_data_streams(&stream.name) {
            shown.insert("template".into(), name.into());
        }
        if let Some(lifecycle) = &stream.lifecycle {
            shown.insert("lifecycle".into(), self.show_lifecycle(lifecycle, with_rollover)?);
        }
        policy.as_ref().map(|policy| shown.insert("ilm_policy".into(), policy.as_str().into()));
        let prefers = setting("index.lifecycle.prefer_ilm").is_none_or(|text| text != "false");
        let managing = ManagedBy::of(policy.as_deref(), prefers, stream.lifecycle.as_ref());
        shown.insert("next_generation_managed_by".into(), managing.name().into());
        shown.insert("prefer_ilm".into(), prefers.into());
        let mode = backing.last().map(|index| &index.typed.mode);
        if let Some(mode) = mode.filter(|mode| **mode != IndexMode::Standard) {
            shown.insert("index_mode".into(), mode.name().into());
        }
        let bounds: Vec<TimeBounds> = backing.iter().filter_map(|index| index.typed.time_bounds).collect();
        if !bounds.is_empty() {
            shown.insert("time_series".into(), json!({"temporal_ranges": temporal_ranges(bounds)}));
        }
        for (key, flag) in [
            ("hidden", stream.hidden),
            ("system", false),
            ("allow_custom_routing", stream.allow_custom_routing),
            ("replicated", false),
            ("rollover_on_write", stream.rolls_on_write),
        ] {
            shown.insert(key.into(), flag.into());
        }
        shown.insert("settings".into(), crate::settings::nest(&stream.overrides.settings));
        shown.insert("mappings".into(), stream.overrides.mappings.clone().into());
        Ok(Value::Object(shown))
    }

    /// Returns the aliases of every data stream, by its name.
    pub fn data_stream_aliases(&self) -> Vec<(Arc<str>, Map<String, Value>)> {
        let shown = |stream: &Arc<DataStream>| {
            let aliases = stream.aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json()));
            (stream.name.clone(), aliases.collect())
        };
        let catalog = self.catalog.load();
        catalog
            .data_streams
            .values()
            .filter(|stream| catalog.may_be_touched(&stream.name))
            .map(shown)
            .collect()
    }

    /// Returns the body of `GET /_data_stream/{name}/_stats`. `words`, if given, formats sizes for people.
    pub fn data_stream_stats(
        &self,
        expression: &str,
        options: IndicesOptions,
        words: Option<fn(u64) -> String>,
    ) -> Result<Value> {
        let catalog = self.catalog.load();
        let mut shards = BroadcastResponse::default();
        let (mut total_bytes, mut index_count, mut shown) = (0, 0, Vec::new());
        for stream in catalog.resolve_data_streams(expression, options)? {
            let (mut bytes, mut newest) = (0, 0);
            for metadata in stream.indices.iter().filter_map(|name| catalog.indices.get(name)) {
                index_count += 1;
                let Ok(live) = self.live(metadata) else { continue };
                for shard in &live.shards {
                    shards.total += 1 + metadata.typed.number_of_replicas;
                    shards.successful += u32::from(shard.is_started());
                    bytes += shard.stats().store_bytes;
                    newest = newest.max(newest_timestamp(shard));
                }
            }
            total_bytes += bytes;
            let mut entry = Map::from_iter([
                ("data_stream".to_owned(), Value::from(&*stream.name)),
                ("backing_indices".to_owned(), stream.indices.len().into()),
            ]);
            words.map(|words| entry.insert("store_size".into(), words(bytes).into()));
            entry.insert("store_size_bytes".into(), bytes.into());
            entry.insert("maximum_timestamp".into(), newest.into());
            shown.push(Value::Object(entry));
        }
        let mut body = Map::from_iter([
            ("_shards".to_owned(), shards.to_json()),
            ("data_stream_count".to_owned(), shown.len().into()),
            ("backing_indices".to_owned(), index_count.into()),
        ]);
        words.map(|words| body.insert("total_store_size".into(), words(total_bytes).into()));
        body.insert("total_store_size_bytes".into(), total_bytes.into());
        body.insert("data_streams".into(), shown.into());
        Ok(Value::Object(body))
    }
}

/// Joins the bounds of indices that follow one another.
fn temporal_ranges(mut bounds: Vec<TimeBounds>) -> Vec<Value> {
    bounds.sort_by_key(|bounds| bounds.start_ms);
    let mut ranges: Vec<TimeBounds> = Vec::new();
    for next in bounds {
        match ranges.last_mut() {
            Some(last) if last.end_ms >= next.start_ms => last.end_ms = last.end_ms.max(next.end_ms),
            _ => ranges.push(next),
        }
    }
    let shown = |ms: i64| format_utc_millis(ms.max(0) as u64);
    ranges.iter().map(|range| json!({"start": shown(range.start_ms), "end": shown(range.end_ms)})).collect()
}

/// Returns the largest `@timestamp` of a shard's documents, in milliseconds since 1970; 0 without documents.
fn newest_timestamp(shard: &Shard) -> i64 {
    let Ok(snapshot) = shard.snapshot() else { return 0 };
    let newest = |view: &limber_segment::SegmentView| view.segment.numbers("@timestamp").ok()??.max();
    snapshot.segments.iter().filter_map(newest).max().unwrap_or(0)
}

fn check_stream_is_new(catalog: &Catalog, name: &str) -> Result<()> {
    match catalog.data_streams.contains_key(name) {
        false => Ok(()),
        true => Err(RequestError::bad_request(
            "resource_already_exists_exception",
            format!("data_stream [{name}] already exists"),
        )),
    }
}

/// Checks that no index or alias has the name of a new data stream.
pub(in crate::node) fn check_stream_is_free(catalog: &Catalog, name: &str) -> Result<()> {
    let taken =
        [(catalog.indices.contains_key(name), "index"), (catalog.aliases.contains_key(name), "alias")];
    match taken.into_iter().find(|(is_taken, _)| *is_taken) {
        None => Ok(()),
        Some((_, what)) => Err(names_collide(name, what)),
    }
}

/// Makes the error (`Internal`) for two things with the same name.
pub(in crate::node) fn names_collide(stream: &str, with: &str) -> RequestError {
    RequestError::internal(
        "illegal_state_exception",
        format!(
            "index, alias, and data stream names need to be unique, but the following duplicates were found [data stream [{stream}] \
             conflicts with {with}]"
        ),
    )
}

/// Checks that a data stream may have an alias with this name: it must not be the name of an index or of
/// another data stream, nor an alias of indices.
pub(in crate::node) fn check_stream_alias(catalog: &Catalog, alias: &str) -> Result<()> {
    crate::node::index::indices::check_alias_target(catalog, alias)?;
    let is_of_index = catalog.aliases.contains_key(alias) && !catalog.means_data_stream(alias);
    match is_of_index {
        true => Err(aliases_collide(alias)),
        false => Ok(()),
    }
}

/// Makes the error (`Internal`) for an alias of both indices and data streams.
pub(in crate::node) fn aliases_collide(alias: &str) -> RequestError {
    RequestError::internal(
        "illegal_state_exception",
        format!(
            "index, alias, and data stream names need to be unique, but the following duplicates were found [data stream alias and \
             indices alias have the same name ({alias})]"
        ),
    )
}
