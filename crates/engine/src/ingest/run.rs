//! Runs documents through pipelines: "what becomes of this document?"
//!
//! Source: Elasticsearch's `IngestService.executePipelines`, `CompoundProcessor` and
//! `IngestDocument.executePipeline`.

use std::sync::atomic::Ordering;
use std::time::Instant;

use limber_mapping::RequestError;
use limber_work as work;

use super::document::node::{Kind, Node};
use super::document::{IngestDocument, Metadata, ROOT};
use super::failure::{Failure, Origin, put_failure, remove_failure};
use super::pipeline::{Action, Step};
use super::processor::Flow;
use super::registry::{Entry, Pipelines};
use super::stats::Tally;
use super::trace::{Status, Trace};

/// How deeply pipelines may call pipelines (Elasticsearch's `ingest.max_pipelines`).
const PIPELINE_DEPTH_MAX: usize = 100;

/// How many processors may run for one document. Pipelines that each call another one twice would multiply
/// the work with every level.
const STEP_RUN_COUNT_MAX: u32 = 100_000;

/// One in this many documents is timed.
const TIMED_DOCUMENT_EVERY: u64 = 32;

/// The result of running pipelines over a document.
#[derive(Debug)]
pub enum Outcome {
    /// The document is to be indexed; its new source was appended to the output. `None` means that no
    /// pipeline used the metadata, so they are unchanged.
    Changed(Option<Box<ChangedMetadata>>),
    /// A `drop` processor dropped it; Elasticsearch answers `noop`.
    Dropped,
    /// It belongs to another index, whose pipelines have not run yet. Its new source was appended to the
    /// output.
    Rerouted {
        /// Position of the pipeline that rerouted it among those of the run.
        by: usize,
        /// Its metadata, including the new index.
        changed: Box<ChangedMetadata>,
    },
    /// A processor failed, and nothing handled the failure.
    Failed(Box<RequestError>),
}

/// The metadata after a pipeline used any of them. `None` means absent, or removed by the pipeline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedMetadata {
    /// `_index`.
    pub index: Option<String>,
    /// `_id`.
    pub id: Option<String>,
    /// `_routing`.
    pub routing: Option<String>,
    /// `_version`.
    pub version: Option<i64>,
    /// `_version_type`.
    pub version_type: Option<String>,
    /// `_if_seq_no`.
    pub if_seq_no: Option<i64>,
    /// `_if_primary_term`.
    pub if_primary_term: Option<i64>,
}

/// Whether an error ends the whole request: nobody waits for it any more, or there is no memory for it.
pub(crate) fn ends_request(error: &RequestError) -> bool {
    matches!(error.kind, "task_cancelled_exception" | "circuit_breaking_exception")
}

/// This runner's tallies of one pipeline.
#[derive(Debug)]
struct Counters<'p> {
    entry: &'p Entry,
    whole: Tally,
    steps: Vec<Tally>,
    ingested_bytes: u64,
    produced_bytes: u64,
}

/// Runs the documents of one request, on one thread, over one snapshot of the pipelines. Its tallies are
/// added to the statistics when it is dropped.
#[derive(Debug)]
pub struct Runner<'p> {
    pipelines: &'p Pipelines,
    /// The reused document; `None` while a document is being run.
    document: Option<Box<IngestDocument<'p>>>,
    counters: Vec<Counters<'p>>,
    /// The positions in `counters` of the running pipelines, outermost first.
    active: Vec<usize>,
    total: Tally,
    is_timed: bool,
    /// How many processors may still run for the current document.
    steps_left: u32,
    /// How many levels of processors run within each other.
    pub(super) depth: u32,
    pub(super) trace: Option<Trace>,
}

impl<'p> Runner<'p> {
    /// Makes a runner. `timestamp` is formatted by [`super::timestamp`]; it outlives the runner so that every
    /// document can borrow it.
    pub fn new(pipelines: &'p Pipelines, timestamp: &'p str) -> Runner<'p> {
        pipelines.total().enter();
        Runner {
            pipelines,
            document: Some(Box::new(IngestDocument::new(timestamp))),
            counters: Vec::new(),
            active: Vec::new(),
            total: Tally::default(),
            is_timed: false,
            steps_left: STEP_RUN_COUNT_MAX,
            depth: 0,
            trace: None,
        }
    }

    /// Runs the pipelines `ids` in order over one document and appends its new source to `out`.
    pub fn run(
        &mut self,
        ids: &[&str],
        metadata: Metadata<'p>,
        source: &'p [u8],
        out: &mut Vec<u8>,
    ) -> Outcome {
        self.is_timed = self.total.count.is_multiple_of(TIMED_DOCUMENT_EVERY);
        let start = self.is_timed.then(Instant::now);
        self.total.count += 1;
        let before = out.len();
        let outcome = match self.run_document(ids, metadata, source, out) {
            Ok(outcome) => outcome,
            Err(failure) => {
                out.truncate(before);
                self.total.failed += 1;
                Outcome::Failed(Box::new(failure.error))
            }
        };
        if let Some(first) = ids.first()
            && let Some(counters) =
                self.counters.iter_mut().find(|counters| &*counters.entry.pipeline.id == *first)
        {
            counters.ingested_bytes += source.len() as u64;
            counters.produced_bytes += (out.len() - before) as u64;
        }
        if let Some(start) = start {
            self.total.timed_count += 1;
            self.total.timed_nanos += start.elapsed().as_nanos() as u64;
        }
        outcome
    }

    fn run_document(
        &mut self,
        ids: &[&str],
        metadata: Metadata<'p>,
        source: &'p [u8],
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Failure<'p>> {
        self.with_document(source, metadata, |runner, document| {
            let (flow, by) = runner.run_all(ids, document)?;
            if flow == Flow::Dropped {
                return Ok(Outcome::Dropped);
            }
            document.write(ROOT, out)?;
            let changed = changed_metadata(document);
            Ok(match (flow, changed) {
                (Flow::Rerouted, Some(changed)) => Outcome::Rerouted { by, changed },
                (_, changed) => Outcome::Changed(changed),
            })
        })
    }

    /// Parses the document and calls `then` with it.
    #[inline]
    fn with_document<T>(
        &mut self,
        source: &'p [u8],
        metadata: Metadata<'p>,
        then: impl FnOnce(&mut Self, &mut IngestDocument<'p>) -> Result<T, Failure<'p>>,
    ) -> Result<T, Failure<'p>> {
        let mut document = self.document.take().expect("one document is run at a time");
        let outcome = match document.load(source, metadata) {
            Ok(()) => then(self, &mut document),
            Err(error) => Err(error.into()),
        };
        self.document = Some(document);
        outcome
    }

    /// Runs all pipelines. Returns how they ended, and at which of them.
    fn run_all(
        &mut self,
        ids: &[&str],
        document: &mut IngestDocument<'p>,
    ) -> Result<(Flow, usize), Failure<'p>> {
        self.steps_left = STEP_RUN_COUNT_MAX;
        work::begin_patterns();
        for (place, id) in ids.iter().enumerate() {
            let Some(counter) = self.counter(id) else {
                return Err(RequestError::illegal_argument(format!(
                    "pipeline with id [{id}] does not exist"
                ))
                .into());
            };
            match self.run_pipeline(counter, document)? {
                Flow::Continue | Flow::Terminated => {}
                Flow::Rerouted if !has_another_index(document) => {}
                flow => return Ok((flow, place)),
            }
        }
        Ok((Flow::Continue, 0))
    }

    /// Returns the position of the pipeline's counters, which the first call makes.
    fn counter(&mut self, id: &str) -> Option<usize> {
        if let Some(found) = self.counters.iter().position(|counters| &*counters.entry.pipeline.id == id) {
            return Some(found);
        }
        let entry: &'p Entry = self.pipelines.get(id)?;
        entry.metrics.whole.enter();
        let steps = vec![Tally::default(); entry.pipeline.steps.len()];
        self.counters.push(Counters {
            entry,
            whole: Tally::default(),
            steps,
            ingested_bytes: 0,
            produced_bytes: 0,
        });
        Some(self.counters.len() - 1)
    }

    fn run_pipeline(
        &mut self,
        counter: usize,
        document: &mut IngestDocument<'p>,
    ) -> Result<Flow, Failure<'p>> {
        let entry = self.counters[counter].entry;
        let pipeline = &entry.pipeline;
        if self.active.contains(&counter) {
            let reason = format!("Cycle detected for pipeline: {}", pipeline.id);
            return Err(RequestError::bad_request("graph_structure_exception", reason).into());
        }
        if self.active.len() >= PIPELINE_DEPTH_MAX {
            let reason = format!(
                "Too many nested pipelines. Cannot have more than {PIPELINE_DEPTH_MAX} nested pipelines"
            );
            return Err(RequestError::bad_request("graph_structure_exception", reason).into());
        }
        let start = self.is_timed.then(Instant::now);
        let outer = std::mem::replace(&mut document.pipeline, &pipeline.id);
        self.active.push(counter);
        let mut result = self.deeper(|runner| runner.run_steps(&pipeline.steps, document));
        if let Err(failure) = &result
            && !pipeline.on_failure.is_empty()
            && !ends_request(&failure.error)
        {
            result = match put_failure(document, failure) {
                Ok(()) => self.run_on_failure(&pipeline.on_failure, document),
                Err(error) => Err(error.into()),
            };
        }
        self.active.pop();
        document.pipeline = outer;
        tally(&mut self.counters[counter].whole, start, result.is_err());
        match result {
            Ok(Flow::Terminated) => Ok(Flow::Continue),
            other => other,
        }
    }

    fn run_steps(
        &mut self,
        steps: &'p [Step],
        document: &mut IngestDocument<'p>,
    ) -> Result<Flow, Failure<'p>> {
        for step in steps {
            match self.run_step(step, document)? {
                Flow::Continue => {}
                ends => return Ok(ends),
            }
        }
        Ok(Flow::Continue)
    }

    pub(super) fn run_step(
        &mut self,
        step: &'p Step,
        document: &mut IngestDocument<'p>,
    ) -> Result<Flow, Failure<'p>> {
        // `ignore_failure` cannot help here, because every later step fails as well.
        let Some(steps_left) = self.steps_left.checked_sub(1) else {
            return Err(RequestError::illegal_argument(format!(
                "more than [{STEP_RUN_COUNT_MAX}] processors run for one document"
            ))
            .into());
        };
        self.steps_left = steps_left;
        work::check().map_err(RequestError::from)?;
        if let Some(condition) = &step.condition {
            let holds = condition.test(document).map_err(|error| {
                let tag = step.tag.as_deref();
                let origin = Some(Origin { kind: "conditional", tag, pipeline: document.pipeline });
                Failure { error, origin }
            })?;
            if !holds {
                if let Some(trace) = &mut self.trace {
                    trace.push(step, Status::Skipped, document);
                }
                return Ok(Flow::Continue);
            }
        }
        let start = (self.is_timed && step.counted.is_some()).then(Instant::now);
        let result = match &step.action {
            Action::Process(processor) => processor.execute(document).map_err(Failure::from),
            Action::Run { name, ignore_missing } => self.run_nested(step, name, *ignore_missing, document),
            Action::Each { field, ignore_missing, step } => {
                self.run_each(field, *ignore_missing, step, document)
            }
        };
        if let Some(counted) = step.counted
            && let Some(&counter) = self.active.last()
        {
            tally(&mut self.counters[counter].steps[counted as usize], start, result.is_err());
        }
        if self.trace.is_some() && !matches!(step.action, Action::Run { .. }) {
            self.record(step, &result, document);
        }
        let mut failure = match result {
            Ok(flow) => return Ok(flow),
            Err(failure) => failure,
        };
        if failure.origin.is_none() {
            failure.origin =
                Some(Origin { kind: step.kind, tag: step.tag.as_deref(), pipeline: document.pipeline });
        }
        // This is not a failure of the processor; the whole request ends.
        if ends_request(&failure.error) {
            return Err(failure);
        }
        if step.ignore_failure {
            return Ok(Flow::Continue);
        }
        if step.on_failure.is_empty() {
            return Err(failure);
        }
        put_failure(document, &failure)?;
        self.run_on_failure(&step.on_failure, document)
    }

    fn run_nested(
        &mut self,
        step: &'p Step,
        name: &'p super::template::Text,
        ignore_missing: bool,
        document: &mut IngestDocument<'p>,
    ) -> Result<Flow, Failure<'p>> {
        let name = name.render(document)?;
        match self.counter(&name) {
            Some(counter) => {
                if self.trace.is_some() {
                    self.record(step, &Ok(Flow::Continue), document);
                }
                self.run_pipeline(counter, document)
            }
            None => {
                let reason = format!("Pipeline processor configured for non-existent pipeline [{name}]");
                if let Some(trace) = &mut self.trace {
                    let error = RequestError::illegal_argument(reason.clone());
                    let status = if ignore_missing { Status::ErrorIgnored } else { Status::Error };
                    trace.push(step, status(error), document);
                }
                if ignore_missing {
                    return Ok(Flow::Continue);
                }
                Err(RequestError::bad_request("illegal_state_exception", reason).into())
            }
        }
    }

    fn run_on_failure(
        &mut self,
        steps: &'p [Step],
        document: &mut IngestDocument<'p>,
    ) -> Result<Flow, Failure<'p>> {
        let result = self.deeper(|runner| runner.run_steps(steps, document));
        remove_failure(document)?;
        result
    }

    /// Records every step from now on; for `verbose` simulations.
    pub(super) fn start_trace(&mut self) {
        self.trace = Some(Trace::default());
    }

    pub(super) fn take_trace(&mut self) -> Trace {
        self.trace.take().unwrap_or_default()
    }

    fn record(&mut self, step: &Step, result: &Result<Flow, Failure<'p>>, document: &mut IngestDocument<'p>) {
        let status = match result {
            Ok(Flow::Dropped) => Status::Dropped,
            Ok(_) => Status::Success,
            Err(failure) if step.ignore_failure => Status::ErrorIgnored(failure.error.clone()),
            Err(failure) => Status::Error(failure.error.clone()),
        };
        if let Some(trace) = &mut self.trace {
            trace.push(step, status, document);
        }
    }

    /// Runs one document and passes it to `then` before it is written; for simulations.
    pub(super) fn run_and_keep<T>(
        &mut self,
        id: &str,
        metadata: Metadata<'p>,
        source: &'p [u8],
        then: impl FnOnce(&mut IngestDocument<'p>) -> Result<T, RequestError>,
    ) -> Result<Option<T>, RequestError> {
        let outcome = self.with_document(source, metadata, |runner, document| {
            match runner.run_all(&[id], document)? {
                (Flow::Dropped, _) => Ok(None),
                _ => Ok(then(document).map(Some)?),
            }
        });
        outcome.map_err(|failure| failure.error)
    }

    /// Discards the tallies. Simulations are not part of the statistics.
    pub(crate) fn forget(&mut self) {
        self.total = Tally::default();
        for counters in &mut self.counters {
            counters.whole = Tally::default();
            counters.steps.fill(Tally::default());
        }
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        let total = self.pipelines.total();
        total.add(&self.total);
        total.leave();
        for counters in &self.counters {
            let metrics = &counters.entry.metrics;
            metrics.whole.add(&counters.whole);
            metrics.whole.leave();
            for (metric, tally) in metrics.steps.iter().zip(&counters.steps) {
                metric.2.add(tally);
            }
            metrics.ingested_bytes.fetch_add(counters.ingested_bytes, Ordering::Relaxed);
            metrics.produced_bytes.fetch_add(counters.produced_bytes, Ordering::Relaxed);
        }
    }
}

fn tally(tally: &mut Tally, start: Option<Instant>, is_failure: bool) {
    tally.count += 1;
    tally.failed += u64::from(is_failure);
    if let Some(start) = start {
        tally.timed_count += 1;
        tally.timed_nanos += start.elapsed().as_nanos() as u64;
    }
}

/// Whether the document's index was changed.
fn has_another_index(document: &IngestDocument<'_>) -> bool {
    let changed = changed_metadata(document).and_then(|changed| changed.index);
    changed.is_some_and(|index| index != document.given().index)
}

/// Returns the metadata after the pipelines; `None` when none of them used the metadata.
fn changed_metadata(document: &IngestDocument<'_>) -> Option<Box<ChangedMetadata>> {
    let root = document.metadata_if_made()?;
    let member = |name: &str| document.member(root, name).map(|(node, _)| (node, *document.node(node)));
    let text = |name: &str| match member(name) {
        Some((id, Node { kind: Kind::String, .. })) => Some(document.string(id).into_owned()),
        _ => None,
    };
    let number = |name: &str| match member(name) {
        Some((_, node)) if node.kind == Kind::Number => {
            document.text(node.text).parse::<f64>().ok().map(|value| value as i64)
        }
        _ => None,
    };
    Some(Box::new(ChangedMetadata {
        index: text("_index"),
        id: text("_id"),
        routing: text("_routing"),
        version: number("_version"),
        version_type: text("_version_type"),
        if_seq_no: number("_if_seq_no"),
        if_primary_term: number("_if_primary_term"),
    }))
}
