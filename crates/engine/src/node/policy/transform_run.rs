//! One run of a transform: "bring the destination up to date".
//!
//! The whole source is read in pages of groups. A continuous transform runs again when its source has
//! changed, and includes only documents older than its delay. Document ids depend only on the groups, so an
//! interrupted run is simply repeated.
//!
//! A run has the rights of the user who put or last updated the transform, and sees of the source what that
//! user sees. A preview has those of the user who asks for it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_access as access;
use limber_mapping::RequestError;
use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Map, Value, json};

use super::transform_state::{Run, SourceState};
use crate::api::*;
use crate::catalog::{Catalog, WriteTarget};
use crate::node::index::indices::limits_of;
use crate::node::reading::placement::Placement;
use crate::node::{ByQueryRequest, Change, Node, Slices};
use crate::tasks::caught::caught;
use crate::transform::{Page, TransformConfig, deduced};

const ACTION: &str = "data_frame/transforms";
/// The action with which sources are read.
const READ: &str = "indices:data/read/search";
/// How many documents a preview shows.
const PREVIEW_SIZE: u64 = 100;
/// How long after a failed run the next one begins.
const RETRY_MS: u64 = 10_000;

impl Node {
    /// Returns the body of `_transform/_preview`.
    pub fn preview_transform(&self, id: Option<&str>, body: Option<&Value>) -> Result<Value> {
        let config = match (id, body) {
            (Some(id), _) => match &self.state.load().transforms[id] {
                Value::Null => {
                    let reason = format!("Transform with id [{id}] could not be found");
                    return Err(RequestError::not_found("resource_not_found_exception", reason));
                }
                entry => TransformConfig::parse(&entry["config"], true)?,
            },
            (None, Some(body)) => TransformConfig::parse(body, true)?,
            (None, None) => {
                return Err(RequestError::illegal_argument(
                    "Please provide a transform [id] or the config object",
                ));
            }
        };
        let _acting = access::acting(READ);
        let cancelled = limber_work::cancelled().unwrap_or_default();
        let page = self.transform_page(&config, config.query.clone(), PREVIEW_SIZE, None, &cancelled)?;
        let documents: Vec<Value> = page.documents.into_iter().map(|(_, document)| document).collect();
        Ok(json!({ "preview": documents, "generated_dest_index": self.destination_body(&config)? }))
    }

    /// Returns the body with which the destination is created.
    fn destination_body(&self, config: &TransformConfig) -> Result<Value> {
        let properties = match config.deduces_mappings {
            true => self.deduced_mappings(config)?,
            false => json!({}),
        };
        Ok(json!({
            "mappings": {
                "_meta": {
                    "_transform": {
                        "transform": config.body.get("id").cloned().unwrap_or_else(|| "transform-preview".into()),
                        "version": {"created": "10.0.0"},
                        "creation_date_in_millis": self.now_millis(),
                    },
                    "created_by": "transform",
                },
                "properties": properties,
            },
            "settings": {"index": {"number_of_shards": "1", "auto_expand_replicas": "0-1"}},
            "aliases": {},
        }))
    }

    fn deduced_mappings(&self, config: &TransformConfig) -> Result<Value> {
        let indices = self.catalog.load().resolve(&config.indices.join(","), IndicesOptions::SEARCH)?;
        let mut mappings = Vec::with_capacity(indices.len());
        for index in &indices {
            let Ok(live) = self.live(index) else { continue };
            let whole = live.core.mapping.load_full();
            mappings.push(match limits_of(index)? {
                Some(limits) => live.core.seen.of(&whole, &limits)?,
                None => whole,
            });
        }
        let type_of = |path: &str| {
            let runtime =
                config.runtime_mappings.as_ref().and_then(|mappings| mappings[path]["type"].as_str());
            let mapped =
                || mappings.iter().find_map(|mapping| Some(mapping.field(path)?.type_name().to_owned()));
            runtime.map(str::to_owned).or_else(mapped)
        };
        Ok(deduced(&config.shape, &type_of))
    }

    fn transform_page(
        &self,
        config: &TransformConfig,
        query: Value,
        size: u64,
        after: Option<&Value>,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<Page> {
        let body = config.shape.page_request(config, query, size, after);
        let request = SearchRequest::parse(&body, &UrlParameters(Vec::new()))?;
        let expression = config.indices.join(",");
        let found = self.search(
            &expression,
            IndicesOptions::SEARCH,
            Placement::default(),
            &request,
            None,
            cancelled.clone(),
        );
        let (found, _) = found.map_err(|error| error.to_request_error())?;
        if let Some(failure) = found.shards.failures.first() {
            return Err(failure.reason.clone());
        }
        let aggregations = found.aggregations_to_json().map_err(|error| error.to_request_error())?;
        Ok(config.shape.page(&aggregations))
    }

    /// Starts the runs that are due. Called repeatedly by the background thread, or by a test.
    pub fn transform_tick(&self) {
        let state = self.state.load_full();
        let Some(transforms) = state.transforms.as_object().filter(|transforms| !transforms.is_empty())
        else {
            return;
        };
        let now_ms = self.environment.clock.monotonic_millis();
        for (id, _) in transforms.iter().filter(|(_, entry)| entry["is_started"] == true) {
            if !self.tasks.has_place() {
                // The others begin when some of these have ended.
                return;
            }
            if let Some((run, entry)) = self.begin_run(id, now_ms)
                && let Err(error) = self.launch_transform(id, &entry, &run)
            {
                self.end_of_run(id, &run, None, Err(error));
            }
        }
    }

    /// Begins a run if it is due, none is in progress, and the transform is started. Also returns its
    /// definition, which may have changed since it was found.
    fn begin_run(&self, id: &str, now_ms: u64) -> Option<(Arc<Run>, Value)> {
        let _changing = self.changing.lock();
        let entry = self.state.load().transforms[id].clone();
        match entry["is_started"] == true {
            true => Some((self.transforms.begin_run(id, now_ms)?, entry)),
            false => None,
        }
    }

    fn launch_transform(&self, id: &str, entry: &Value, run: &Arc<Run>) -> Result<()> {
        let config = TransformConfig::parse(&entry["config"], false)?;
        let Some(node) = self.this.upgrade() else { return Ok(()) };
        let author = entry["author"].clone();
        let (name, run, of_task) = (id.to_owned(), run.clone(), run.cancelled.clone());
        let work = move || {
            // The end is recorded after a panic too; otherwise the transform would never run again.
            let outcome =
                caught(|| node.on_behalf_of(&author, READ, || node.run_transform(&name, &config, &run)));
            node.end_of_run(&name, &run, Some(&config), outcome);
            Ok(json!({}))
        };
        self.tasks.spawn_cancellable(ACTION, format!("transform [{id}]"), of_task, work).map(drop)
    }

    /// Records the end of a run. A run that did something made a checkpoint; a batch transform is then
    /// finished. A run that is no longer the one in progress records nothing: its transform was deleted or
    /// reset.
    fn end_of_run(&self, id: &str, run: &Arc<Run>, config: Option<&TransformConfig>, outcome: Result<bool>) {
        // Starting and stopping a transform changes both the stored state and that of the run. The lock keeps
        // them from interleaving.
        let _changing = self.changing.lock();
        let now_ms = self.environment.clock.monotonic_millis();
        let is_batch = config.is_some_and(|config| config.sync.is_none());
        let frequency_ms = config.map_or(RETRY_MS, |config| config.frequency_ms);
        let is_current = self.transforms.change_in(id, run, |live| {
            live.run = None;
            live.due_ms = now_ms + if outcome.is_err() { RETRY_MS } else { frequency_ms };
            live.failure = match &outcome {
                Err(error) if !run.is_cancelled() => Some(error.reason.clone()),
                _ => None,
            };
        });
        if let Err(error) = &outcome {
            tracing::warn!(transform = id, %error, "a transform did not run to its end");
        }
        if is_current.is_none() || run.is_cancelled() || !matches!(outcome, Ok(true)) {
            return;
        }
        let at = self.now_millis();
        if self.state.load().transforms[id].is_null() {
            return;
        }
        let kept = self.change_state(|state| {
            let entry = &mut state.transforms[id];
            entry["checkpoint"] = (entry["checkpoint"].as_u64().unwrap_or(0) + 1).into();
            entry["checkpoint_ms"] = at.into();
            if is_batch {
                entry["is_started"] = false.into();
            }
        });
        if let Err(error) = kept {
            tracing::warn!(transform = id, %error, "the checkpoint of a transform is not kept");
        }
    }

    /// Returns a hash of the source's state, which every write to it changes, and again the refresh that
    /// makes the write visible.
    fn source_state(&self, config: &TransformConfig) -> Result<u64> {
        let mut state = 0u64;
        for (metadata, live) in self.live_of(&config.indices.join(","), IndicesOptions::SEARCH)? {
            for byte in metadata.uuid.bytes() {
                state = state.wrapping_mul(31).wrapping_add(u64::from(byte));
            }
            for shard in &live.shards {
                let (stats, visible) = (shard.stats(), shard.visible_seq_no());
                for part in [stats.max_seq_no as u64, stats.docs, visible] {
                    state = state.wrapping_mul(31).wrapping_add(part);
                }
            }
        }
        Ok(state)
    }

    /// Runs a transform. Returns whether there was anything to do.
    fn run_transform(&self, id: &str, config: &TransformConfig, run: &Arc<Run>) -> Result<bool> {
        // The wall clock may jump, so only the query depends on it.
        let (now_ms, begun_ms) = (self.now_millis(), self.environment.clock.monotonic_millis());
        let mut query = config.query.clone();
        if let Some(sync) = &config.sync {
            let (hash, until_ms) = (self.source_state(config)?, now_ms.saturating_sub(sync.delay_ms));
            let is_done = self.transforms.change_in(id, run, |live| {
                let new = SourceState { hash, seen_ms: begun_ms, seen_millis: now_ms };
                let seen = live.source.filter(|before| before.hash == hash).unwrap_or(new);
                live.source = Some(seen);
                live.checked_millis = Some(now_ms);
                live.done_until_ms > seen.seen_ms
            });
            if is_done != Some(false) {
                return Ok(false);
            }
            let range = json!({"range": {sync.field.as_str(): {"lt": until_ms, "format": "epoch_millis"}}});
            query = json!({"bool": {"filter": [query, range]}});
        }
        self.transforms.change_in(id, run, |live| live.stats.triggers += 1);
        let destination = run.writing(|| self.create_destination(config))?;
        self.write_pages(id, config, run, &query)?;
        // Refreshing needs no privilege beyond that to write the documents.
        access::aside(|| self.refresh(&config.dest_index, IndicesOptions::BROADCAST))?;
        run.writing(|| self.retire(id, config, run))?;
        if !self.is_there(destination.as_deref()) {
            let reason = format!("the destination [{}] was deleted during the run", config.dest_index);
            return Err(RequestError::internal("illegal_state_exception", reason));
        }
        if let Some(sync) = &config.sync {
            let until_ms = begun_ms.saturating_sub(sync.delay_ms);
            self.transforms.change_in(id, run, |live| live.done_until_ms = until_ms);
        }
        Ok(true)
    }

    /// Reads the source page by page and writes each page to the destination.
    fn write_pages(&self, id: &str, config: &TransformConfig, run: &Arc<Run>, query: &Value) -> Result<()> {
        let cancelled = &run.cancelled;
        let mut after = None;
        loop {
            // Each page is charged like one request, and released before the next.
            let _entered = self.enter_work(cancelled.clone());
            let begun_ms = self.environment.clock.monotonic_millis();
            let page =
                self.transform_page(config, query.clone(), config.page_size, after.as_ref(), cancelled);
            let took_ms = self.environment.clock.monotonic_millis().saturating_sub(begun_ms);
            self.transforms.change_in(id, run, |live| {
                live.stats.searches += 1;
                live.stats.search_ms += took_ms;
                live.stats.search_failures += u64::from(page.is_err());
            });
            let page = page?;
            run.writing(|| self.write_page(id, config, run, &page))?;
            match page.after {
                Some(next) if page.documents.len() as u64 >= config.page_size => after = Some(next),
                _ => return Ok(()),
            }
        }
    }

    /// Whether the index with this UUID exists, if one is given.
    fn is_there(&self, uuid: Option<&str>) -> bool {
        uuid.is_none_or(|uuid| self.catalog.load().indices.values().any(|index| *index.uuid == *uuid))
    }

    /// Creates the destination if it is missing. Returns the UUID of the index that is written to, if one
    /// is: a run whose destination is deleted meanwhile is not complete, although later pages create another.
    fn create_destination(&self, config: &TransformConfig) -> Result<Option<Arc<str>>> {
        let catalog = self.catalog.load_full();
        let is_there = catalog.indices.contains_key(config.dest_index.as_str())
            || catalog.aliases.contains_key(config.dest_index.as_str());
        if !is_there {
            self.make_destination(&catalog, config)?;
        }
        match self.catalog.load().write_target(&config.dest_index, false) {
            Ok(WriteTarget::Index { index, .. }) => Ok(Some(index.uuid.clone())),
            // Writing reports what is wrong.
            _ => Ok(None),
        }
    }

    fn make_destination(&self, catalog: &Catalog, config: &TransformConfig) -> Result<()> {
        let mut body = self.destination_body(config)?;
        // A single node has no place for replicas.
        body["settings"] = json!({"index": {"number_of_shards": "1", "number_of_replicas": "0"}});
        let _acting = access::acting("indices:admin/create");
        let aliases = config.dest_aliases.iter().map(|(alias, _)| (alias.clone(), json!({})));
        body["aliases"] = Value::Object(aliases.collect::<Map<_, _>>());
        for (alias, _) in config.dest_aliases.iter().filter(|(_, moves)| *moves) {
            for index in catalog.aliases.get(alias.as_str()).into_iter().flatten() {
                let _acting = access::acting("indices:admin/aliases");
                self.delete_alias(index, alias)?;
            }
        }
        match self.create_index(&config.dest_index, &body) {
            Err(error) if error.kind == "resource_already_exists_exception" => Ok(()),
            outcome => outcome.map(drop),
        }
    }

    fn write_page(&self, id: &str, config: &TransformConfig, run: &Arc<Run>, page: &Page) -> Result<()> {
        let mut sources = Vec::with_capacity(page.documents.len());
        for (_, document) in &page.documents {
            let source = document.to_string();
            limber_work::claim(source.len() as u64)?;
            sources.push(source);
        }
        let operations: Vec<BulkOperation<'_>> = page
            .documents
            .iter()
            .zip(&sources)
            .map(|((document_id, _), source)| {
                let mut operation =
                    BulkOperation::new(OperationKind::Index, config.dest_index.as_str(), source.as_bytes());
                operation.id = Some(document_id.as_str().into());
                operation
            })
            .collect();
        let begun_ms = self.environment.clock.monotonic_millis();
        let mut failure = None;
        let mut failures = 0;
        if !operations.is_empty() {
            let _acting = access::acting("indices:data/write/bulk");
            let response = self.bulk(BulkRequest {
                operations: &operations,
                pipeline: config.pipeline.as_deref(),
                refresh: RefreshPolicy::None,
            })?;
            for item in &response.items {
                if let Err(error) = &item.outcome {
                    failures += 1;
                    failure.get_or_insert_with(|| error.clone());
                }
            }
        }
        let took_ms = self.environment.clock.monotonic_millis().saturating_sub(begun_ms);
        self.transforms.change_in(id, run, |live| {
            let stats = &mut live.stats;
            stats.pages += 1;
            stats.documents_read += page.source_count;
            stats.documents_written += operations.len() as u64 - failures;
            stats.indexing += u64::from(!operations.is_empty());
            stats.index_ms += took_ms;
            stats.index_failures += failures;
        });
        failure.map_or(Ok(()), Err)
    }

    /// Deletes documents of the destination that are older than the retention.
    fn retire(&self, id: &str, config: &TransformConfig, run: &Arc<Run>) -> Result<()> {
        let (Some((field, before)), Some(node)) = (&config.retention, self.this.upgrade()) else {
            return Ok(());
        };
        let body = json!({"query": {"range": {field.as_str(): {"lt": before}}}});
        let request = ByQueryRequest {
            source: config.dest_index.clone(),
            remote: None,
            options: IndicesOptions::SEARCH,
            routing: None,
            preference: None,
            search: SearchRequest::parse(&body, &UrlParameters(Vec::new()))?,
            change: Change::Delete,
            script: None,
            pipeline: None,
            max_docs: None,
            proceeds_on_conflicts: true,
            refresh: true,
            copies: ActiveCopies::Number(1),
            timeout_ms: 0,
            requests_per_second: f32::INFINITY,
            slices: Slices::Number(1),
        };
        let response = node.by_query(request, run.cancelled.clone())?;
        let deleted = response.body["deleted"].as_u64().unwrap_or(0);
        let took_ms = response.body["took"].as_u64().unwrap_or(0);
        self.transforms.change_in(id, run, |live| {
            live.stats.documents_deleted += deleted;
            live.stats.delete_ms += took_ms;
        });
        Ok(())
    }
}
