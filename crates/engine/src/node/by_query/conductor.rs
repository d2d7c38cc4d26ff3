//! Runs one request by query, from its snapshot to its response.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use limber_mapping::{ErrorClass, RequestError};
use limber_search::request::{Sort, TrackTotalHits};
use limber_search::{Cursor, SearchHit, SearchRequest, SearchResponse, SourceFilter};
use limber_store::sync::{self, Mutex};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::response::{check_all_came, no_thread, search_failure};
use super::scripted::Scripted;
use super::{
    BatchSource, ByQueryFailure, ByQueryRequest, ByQueryResponse, Change, CopyDestination, CopyRouting,
};
use crate::api::*;
use crate::catalog::{Catalog, IndexMetadata, WriteTarget};
use crate::node::Node;
use crate::node::writing::bulk_target::Only;
use crate::shard::Shard;
use crate::tasks::progress::{Progress, Slice};

/// How often a rejected batch is sent again. The pauses double, starting from [`RETRY_FIRST`].
///
/// Source: `AbstractBulkByScrollRequest`, `DEFAULT_MAX_RETRIES`.
const RETRIES_MAX: u32 = 11;
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);
/// Documents that a script has changed are written as soon as they take this many bytes, even in the middle
/// of a batch.
const SCRIPTED_BYTES: usize = 4 << 20;

/// Checks that the destination is not among the sources. Copies of documents onto themselves would always be
/// version conflicts.
///
/// Source: `ReindexValidator#validateAgainstAliases`.
pub(super) fn check_destination(
    catalog: &Catalog,
    sources: &[Arc<IndexMetadata>],
    to: &CopyDestination,
) -> Result<()> {
    if let WriteTarget::Index { index, .. } = catalog.write_target(&to.index, to.require_alias)?
        && sources.iter().any(|source| source.name == index.name)
    {
        let problem = format!("reindex cannot write into an index its reading from [{}]", index.name);
        return Err(RequestError::validation([problem]));
    }
    Ok(())
}

/// Checks that no fields are hidden from the user. A hidden field would be lost when the document is written
/// again.
fn check_sees_whole_documents(shards: &[Arc<Shard>]) -> Result<()> {
    for shard in shards {
        if shard.limits()?.is_some_and(|limits| !limits.fields.is_empty()) {
            let why = "Can't execute an update request if field or document level security is enabled";
            return Err(RequestError::bad_request("security_exception", why));
        }
    }
    Ok(())
}

/// What can end a request early, and the indices that were written.
#[derive(Default)]
struct Findings {
    failures: Vec<ByQueryFailure>,
    timed_out: bool,
    /// An error of a script, which fails the whole request.
    error: Option<RequestError>,
    written: BTreeSet<Arc<str>>,
}

struct Run<'r> {
    node: &'r Node,
    request: &'r ByQueryRequest,
    progress: &'r Progress,
    findings: Mutex<Findings>,
    /// UUIDs of the indices that were found at the start.
    found: OnceLock<HashSet<Arc<str>>>,
}

impl Node {
    pub(super) fn run_by_query(
        &self,
        request: &ByQueryRequest,
        progress: &Arc<Progress>,
    ) -> Result<ByQueryResponse> {
        let start = Instant::now();
        let found = OnceLock::new();
        let run = Run { node: self, request, progress, findings: Mutex::default(), found };
        run.read_and_write()?;
        let findings = run.findings.into_inner();
        if let Some(error) = findings.error {
            return Err(error);
        }
        if request.refresh {
            for index in &findings.written {
                // The index may have been deleted meanwhile.
                let options = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::BROADCAST };
                // Refreshing needs no privilege beyond that to write the documents.
                let _ = limber_access::aside(|| self.refresh(index, options));
            }
        }
        let mut body = Map::from_iter([
            ("took".to_owned(), (start.elapsed().as_millis() as u64).into()),
            ("timed_out".to_owned(), findings.timed_out.into()),
        ]);
        if let Value::Object(status) = progress.to_json() {
            body.extend(status);
        }
        Ok(ByQueryResponse { body, failures: findings.failures })
    }
}

impl Run<'_> {
    /// Reads batches and writes them: on this thread, or with slices on several.
    fn read_and_write(&self) -> Result<()> {
        let count = self.progress.slice_count();
        if let Some(remote) = &self.request.remote {
            return self.read_remote(&**remote);
        }
        // A simulated thread must not wait for threads outside the simulation.
        if count == 1 || sync::is_simulated() {
            return self.read(|batch| self.write(0, &batch.hits));
        }
        std::thread::scope(|scope| {
            let writers = self.progress.writer_count();
            let (give, take) = sync_channel::<SearchResponse>(writers);
            let take = Arc::new(Mutex::new(take));
            for number in 0..writers {
                let take = take.clone();
                let write = limber_access::carried(move || self.write_all(number, &take));
                let thread = sync::thread_builder(format!("slice-{number}")).spawn_scoped(scope, write);
                thread.map_err(|error| no_thread(&error))?;
            }
            drop(take);
            self.hand_out(give)
        })
    }

    fn hand_out(&self, give: SyncSender<SearchResponse>) -> Result<()> {
        self.read(|batch| {
            // Sending fails only when every slice has ended, which before the last batch means a panic.
            let _ = give.send(batch);
        })
    }

    /// Writes batches for some of the slices in turn.
    fn write_all(&self, first: usize, batches: &Mutex<Receiver<SearchResponse>>) {
        let slices = (first..self.progress.slice_count()).step_by(self.progress.writer_count());
        for number in slices.cycle() {
            let batch = batches.lock().recv();
            let Ok(batch) = batch else { return };
            if !self.is_over() {
                self.write(number, &batch.hits);
            }
        }
    }

    /// Whether nothing more may be written, not even the rest of the current batch.
    fn has_ended(&self) -> bool {
        self.progress.is_cancelled() || self.findings.lock().error.is_some()
    }

    fn is_over(&self) -> bool {
        let findings = self.findings.lock();
        self.progress.is_cancelled() || findings.error.is_some() || !findings.failures.is_empty()
    }

    /// Reads the matching documents in batches, until there are no more or enough were read.
    fn read(&self, mut with_batch: impl FnMut(SearchResponse)) -> Result<()> {
        let request = self.request;
        let placement = crate::node::Placement {
            routing: request.routing.as_deref(),
            preference: request.preference.as_deref(),
        };
        let acting = limber_access::acting("indices:data/read/search");
        let pinned = self.node.pin(&request.source, request.options, placement)?;
        if matches!(request.change, Change::Update) {
            check_sees_whole_documents(&pinned.shards)?;
        }
        // It is set only once: each run reads once.
        let _ = self.found.set(pinned.shards.iter().map(|shard| shard.index.uuid.clone()).collect());
        let mut search = self.node.prepared(&self.search(), &pinned, request.options)?;
        let failures = pinned.failures.iter().map(search_failure);
        self.findings.lock().failures.extend(failures);
        let context = self.node.search_context(self.progress.cancelled_flag());
        drop(acting);
        let batch_size = u64::from(search.size());
        let mut left = request.max_docs.unwrap_or(u64::MAX);
        let mut cursor: Option<Cursor> = None;
        while left > 0 && !self.is_over() {
            search.size = Some(batch_size.min(left) as u32);
            let page = limber_search::execute_page(&pinned.snapshots, &search, cursor.as_ref(), &context);
            let mut page = match page {
                Ok(page) => page,
                // The response reports the cancellation.
                Err(_) if self.progress.is_cancelled() => return Ok(()),
                Err(error) => return Err(error.to_request_error().with("root_cause", error.root_causes())),
            };
            if cursor.is_none() {
                let total = page.total.map_or(0, |total| total.value);
                self.progress.set_total(total.min(left));
            }
            if page.timed_out || !page.shards.failures.is_empty() {
                let mut findings = self.findings.lock();
                findings.timed_out |= page.timed_out;
                findings.failures.extend(page.shards.failures.iter().map(search_failure));
                return Ok(());
            }
            if page.hits.is_empty() {
                return Ok(());
            }
            left = left.saturating_sub(page.hits.len() as u64);
            cursor = page.cursor.take();
            with_batch(page);
            if cursor.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads the documents of another server. Each batch is written before the next one is requested.
    fn read_remote(&self, remote: &dyn BatchSource) -> Result<()> {
        let max_docs = self.request.max_docs.unwrap_or(u64::MAX);
        let size = u64::from(self.request.search.size()).min(max_docs) as u32;
        if size == 0 {
            return Ok(());
        }
        let mut batches = remote.open(size, self.progress)?;
        let mut read = 0;
        while read < max_docs && !self.is_over() {
            let mut batch = batches.next(self.progress)?;
            let total = batch.total.min(max_docs);
            self.progress.set_total(total);
            if batch.timed_out || !batch.failures.is_empty() {
                let mut findings = self.findings.lock();
                findings.timed_out |= batch.timed_out;
                findings.failures.append(&mut batch.failures);
                return Ok(());
            }
            if batch.hits.is_empty() {
                return if self.progress.is_cancelled() { Ok(()) } else { check_all_came(read, total) };
            }
            batch.hits.truncate((max_docs - read).try_into().unwrap_or(usize::MAX));
            read += batch.hits.len() as u64;
            self.write(0, &batch.hits);
            // The result of a search does not change while it is read, so after its last document there is
            // nothing more to request.
            if read == total {
                return Ok(());
            }
        }
        Ok(())
    }

    fn search(&self) -> SearchRequest {
        let asked = &self.request.search;
        // The cheapest order, as scores are not needed.
        let sort = if asked.sort.is_empty() { vec![Sort::by("_doc")] } else { asked.sort.clone() };
        let source = if self.needs_source() { asked.source.clone() } else { Some(SourceFilter::none()) };
        SearchRequest {
            sort,
            source,
            track_total_hits: TrackTotalHits::Exact,
            seq_no_primary_term: true,
            version: true,
            is_reindexed: self.needs_source(),
            // The request must process all matching documents, so partial results are an error.
            allows_partial: Some(false),
            ..asked.clone()
        }
    }

    /// Writes a batch, then pauses to keep to `requests_per_second`.
    fn write(&self, number: usize, hits: &[SearchHit]) {
        let start = Instant::now();
        let slice = self.progress.slice(number);
        let count = hits.len() as u64;
        slice.batches.fetch_add(1, Relaxed);
        slice.given.fetch_add(count, Relaxed);
        {
            let _entered = self.node.enter_work(self.progress.cancelled_flag());
            let mut rest = hits;
            while !rest.is_empty() && !self.has_ended() {
                rest = &rest[self.request.writing(|| self.write_hits(slice, rest))..];
            }
        }
        if self.progress.given() < self.progress.total() && !self.is_over() {
            self.progress.throttle(number, start, count);
        }
    }

    /// Whether the documents' sources are needed, which is not so for deletions.
    fn needs_source(&self) -> bool {
        !matches!(self.request.change, Change::Delete)
    }

    /// Writes documents, at least one, as long as the script's results fit into [`SCRIPTED_BYTES`]. Returns
    /// how many were processed.
    fn write_hits(&self, slice: &Slice, hits: &[SearchHit]) -> usize {
        let needs_source = self.needs_source();
        if let Some(hit) = hits.iter().find(|hit| needs_source && hit.source.is_none()) {
            let id = hit.id.as_deref().unwrap_or_default();
            let reason = format!("[{}][{id}] didn't store _source", hit.index);
            self.findings.lock().error.get_or_insert(RequestError::illegal_argument(reason));
            return hits.len();
        }
        let plain: Vec<BulkOperation<'_>> = hits.iter().map(|hit| self.operation(hit)).collect();
        let scripted = match self.run_script(hits, &plain) {
            Ok(scripted) => scripted,
            Err(error) => {
                self.findings.lock().error.get_or_insert(error);
                return hits.len();
            }
        };
        let count = scripted.as_ref().map_or(hits.len(), Vec::len);
        let operations: Vec<BulkOperation<'_>> = match &scripted {
            None => plain,
            Some(scripted) => plain
                .into_iter()
                .zip(scripted)
                .filter_map(|(operation, scripted)| match scripted {
                    Scripted::Nothing => {
                        slice.noops.fetch_add(1, Relaxed);
                        None
                    }
                    Scripted::Write(write) => Some(write.change(operation)),
                })
                .collect(),
        };
        if !operations.is_empty() {
            self.write_operations(slice, operations);
        }
        count
    }

    fn write_operations(&self, slice: &Slice, mut operations: Vec<BulkOperation<'_>>) {
        if !self.has_copies(slice, &operations) {
            return;
        }
        let mut pause = RETRY_FIRST;
        for attempt in 0..=RETRIES_MAX {
            let request = BulkRequest {
                operations: &operations,
                pipeline: self.request.pipeline.as_deref(),
                refresh: RefreshPolicy::None,
            };
            let response = match self.node.bulk_into(request, self.only()) {
                Ok(response) => response,
                // The response reports the cancellation once, so it is not added as a failure here.
                Err(_) if self.progress.is_cancelled() => return,
                Err(error) => {
                    let failure =
                        ByQueryFailure { class: error.class, shown: json!({"cause": error.to_json()}) };
                    self.findings.lock().failures.push(failure);
                    return;
                }
            };
            let mut turned_away = Vec::new();
            for (at, item) in response.items.iter().enumerate() {
                let index = &response.indices[item.index];
                match &item.outcome {
                    Ok(outcome) => self.count(slice, index, outcome.result),
                    Err(error) if error.class == ErrorClass::TooManyRequests && attempt < RETRIES_MAX => {
                        turned_away.push(at);
                    }
                    Err(error) if error.kind == "task_cancelled_exception" => {}
                    Err(error) => self.count_failure(slice, index, &item.id, error),
                }
            }
            if turned_away.is_empty() || self.is_over() {
                return;
            }
            drop(response);
            let mut at = 0;
            operations.retain(|_| {
                at += 1;
                turned_away.binary_search(&(at - 1)).is_ok()
            });
            slice.bulk_retries.fetch_add(1, Relaxed);
            self.progress.pause(pause);
            pause = (pause * 2).min(RETRY_PAUSE_MAX);
        }
    }

    /// Returns the indices that may be written. Documents that are changed or deleted are those that were
    /// read, whatever index has the name of theirs now: an index that is made anew starts with the same
    /// sequence numbers.
    fn only(&self) -> Option<Only<'_>> {
        match &self.request.change {
            Change::Copy(_) => self.request.made().map(Only::Made),
            Change::Delete | Change::Update => self.found.get().map(Only::Read),
        }
    }

    /// Waits for the active copies that the request wants of each index. The documents of an index that has
    /// too few are failures, and nothing is written.
    fn has_copies(&self, slice: &Slice, operations: &[BulkOperation<'_>]) -> bool {
        let ByQueryRequest { copies, timeout_ms, .. } = *self.request;
        let mut has_all = true;
        for of_index in operations.chunk_by(|one, next| one.index == next.index) {
            let waited = self.node.await_active_copies(&of_index[0].index, copies, timeout_ms, of_index);
            let Err(error) = waited else { continue };
            has_all = false;
            for one in of_index {
                self.count_failure(slice, &one.index, one.id.as_deref().unwrap_or_default(), &error);
            }
        }
        has_all
    }

    /// Runs the script on documents until its results reach [`SCRIPTED_BYTES`]; `None` when there is no
    /// script.
    fn run_script(
        &self,
        hits: &[SearchHit],
        operations: &[BulkOperation<'_>],
    ) -> Result<Option<Vec<Scripted>>> {
        let Some(script) = &self.request.script else { return Ok(None) };
        let is_copy = matches!(self.request.change, Change::Copy(_));
        let now_millis = self.node.now_millis();
        let (mut made, mut made_bytes) = (Vec::new(), 0);
        for (hit, operation) in hits.iter().zip(operations) {
            let one = Scripted::run(&self.node.scripts, script, operation, hit, is_copy, now_millis)?;
            work::check_beyond_deadline()?;
            made_bytes += one.bytes();
            made.push(one);
            if made_bytes >= SCRIPTED_BYTES {
                break;
            }
        }
        Ok(Some(made))
    }

    fn count(&self, slice: &Slice, index: &Arc<str>, result: WriteResult) {
        let counter = match result {
            WriteResult::Created => &slice.created,
            WriteResult::Updated => &slice.updated,
            WriteResult::Deleted | WriteResult::NotFound => &slice.deleted,
            WriteResult::Noop => &slice.noops,
        };
        counter.fetch_add(1, Relaxed);
        if self.request.refresh {
            let mut findings = self.findings.lock();
            if !findings.written.contains(index) {
                findings.written.insert(index.clone());
            }
        }
    }

    fn count_failure(&self, slice: &Slice, index: &str, id: &str, error: &RequestError) {
        if error.kind == "version_conflict_engine_exception" {
            slice.version_conflicts.fetch_add(1, Relaxed);
            if self.request.proceeds_on_conflicts {
                return;
            }
        }
        let shown = json!({"index": index, "id": id, "cause": error.to_json()});
        self.findings.lock().failures.push(ByQueryFailure { class: error.class, shown });
    }

    fn operation<'h>(&'h self, hit: &'h SearchHit) -> BulkOperation<'h> {
        let source = hit.source.as_deref().unwrap_or(b"{}");
        let (kind, index) = match &self.request.change {
            Change::Delete => (OperationKind::Delete, &*hit.index),
            Change::Update => (OperationKind::Index, &*hit.index),
            Change::Copy(to) => (to.kind, to.index.as_str()),
        };
        let mut operation =
            BulkOperation::new(kind, index, if kind == OperationKind::Delete { b"" } else { source });
        operation.id = hit.id.as_deref().filter(|_| self.request.keeps_ids()).map(Cow::Borrowed);
        operation.routing = hit.routing.as_deref().map(Cow::Borrowed);
        match &self.request.change {
            Change::Delete | Change::Update => {
                operation.if_seq_no = hit.seq_no.map(|(seq_no, _)| seq_no);
                operation.if_primary_term = hit.seq_no.map(|(_, term)| term);
            }
            Change::Copy(to) => {
                operation.require_alias = to.require_alias;
                operation.version_type = to.version_type;
                operation.version = hit.version.filter(|_| to.version_type != VersionType::Internal);
                match &to.routing {
                    CopyRouting::Keep => {}
                    CopyRouting::Discard => operation.routing = None,
                    CopyRouting::Set(value) => operation.routing = Some(value.as_str().into()),
                }
            }
        }
        operation
    }
}
