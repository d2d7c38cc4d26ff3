//! Turns every request into documents, at the rate of millions of requests.
//!
//! The thread that receives samples copies what the documents need of each ([`SampleRecord`]) and passes
//! batches to the writer. When the writer cannot keep up, the batch is dropped and counted: neither the load
//! nor the memory may depend on a disk. The documents of a task's requests differ only in some numbers; the
//! rest of their text is prepared once per task ([`StepTexts`]).

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::document::RaceContext;
use super::writer::MetricsSender;
use crate::model::{Params, Task};
use crate::record::sample::{DependentTiming, Details, ErrorNote, Note, Sample};

/// Number of samples passed on at a time.
const BATCH_SAMPLES: usize = 512;

/// The parts of a [`Sample`] that its documents need.
#[derive(Debug)]
pub(crate) struct SampleRecord {
    task_index: u32,
    client: u32,
    is_warmup: bool,
    is_success: bool,
    processing_start: Duration,
    request_start: Duration,
    latency: Duration,
    service_time: Duration,
    processing_time: Duration,
    took: Option<Duration>,
    error: Option<Box<ErrorNote>>,
    details: Option<Box<Details>>,
}

impl SampleRecord {
    fn of(sample: &Sample) -> SampleRecord {
        SampleRecord {
            task_index: sample.task_index,
            client: sample.client,
            is_warmup: sample.is_warmup,
            is_success: sample.is_success,
            processing_start: sample.processing_start,
            request_start: sample.request_start,
            latency: sample.latency,
            service_time: sample.service_time,
            processing_time: sample.processing_time,
            took: sample.took,
            error: sample.error.clone(),
            details: sample.details.clone(),
        }
    }
}

/// Writes documents for a race's requests.
#[derive(Debug, Clone)]
pub(crate) struct SampleLog {
    pub context: Arc<RaceContext>,
    pub sender: MetricsSender,
    /// The merged meta information of the track and the challenge.
    pub meta: Params,
    /// One request in this many is written.
    pub downsample_factor: u64,
}

impl SampleLog {
    /// Starts a step. The times of its samples are relative to `start`.
    pub(crate) fn step(&self, tasks: &[&Task], start: Instant) -> StepLog {
        let since_race = start.saturating_duration_since(self.context.started);
        let texts = StepTexts {
            start,
            start_epoch: self.context.started_epoch + since_race,
            cluster_meta: members(&self.context.cluster_meta),
            track_params: self.context.track_params().into_iter().collect(),
            tasks: tasks.iter().map(|task| TaskTexts::of(task, &self.context, &self.meta)).collect(),
        };
        StepLog {
            texts: Arc::new(texts),
            sender: self.sender.clone(),
            batch: Vec::with_capacity(BATCH_SAMPLES),
            downsample_factor: self.downsample_factor.max(1),
            seen: 0,
        }
    }
}

/// The requests of one step.
pub(crate) struct StepLog {
    texts: Arc<StepTexts>,
    sender: MetricsSender,
    batch: Vec<SampleRecord>,
    downsample_factor: u64,
    seen: u64,
}

impl StepLog {
    pub(crate) fn record(&mut self, sample: &Sample) {
        let is_wanted = self.seen.is_multiple_of(self.downsample_factor);
        self.seen += 1;
        if !is_wanted {
            return;
        }
        self.batch.push(SampleRecord::of(sample));
        if self.batch.len() == BATCH_SAMPLES {
            let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH_SAMPLES));
            self.sender.try_samples(&self.texts, batch);
        }
    }

    /// Ends the step. The load is over, so there is time to wait for the writer. `throughput` has the notes
    /// and the unit of each task.
    pub(crate) fn finish(self, throughput: &[(&[Note], String)]) {
        self.sender.samples(&self.texts, self.batch);
        for (index, (notes, unit)) in throughput.iter().enumerate() {
            for note in *notes {
                self.sender.metric_text(self.texts.throughput(index, note, unit));
            }
        }
    }
}

/// Text that the documents of a step share.
#[derive(Debug)]
pub(crate) struct StepTexts {
    /// The step's start, by both clocks.
    start: Instant,
    start_epoch: Duration,
    /// Members of `meta` for requests inside of others, each followed by a comma.
    cluster_meta: String,
    track_params: Params,
    tasks: Vec<TaskTexts>,
}

/// Pieces of JSON that all documents of a task share.
#[derive(Debug)]
struct TaskTexts {
    /// The members from `race-id` to `car`.
    identity: String,
    /// Members of `meta`, each followed by a comma.
    meta: String,
    /// The members from `task` on.
    tail: String,
    name: String,
}

impl TaskTexts {
    fn of(task: &Task, context: &RaceContext, shared: &Params) -> TaskTexts {
        let mut meta = context.cluster_meta.clone();
        for more in [shared, &task.operation.meta, &task.meta] {
            meta.extend(more.clone());
        }
        let track_params = context.track_params().into_iter().collect();
        TaskTexts {
            identity: inner(&context.identity()),
            meta: members(&meta),
            tail: tail(&task.name, &task.operation.name, &task.operation.kind, &track_params),
            name: task.name.clone(),
        }
    }
}

fn tail(task: &str, operation: &str, operation_type: &str, track_params: &Params) -> String {
    let mut tail = Params::new();
    tail.insert("task".into(), task.into());
    tail.insert("operation".into(), operation.into());
    tail.insert("operation-type".into(), operation_type.into());
    tail.extend(track_params.clone());
    inner(&tail)
}

/// Returns the members of an object, each followed by a comma.
fn members(object: &Params) -> String {
    object.iter().map(|(key, value)| format!("{}:{value},", Value::from(key.as_str()))).collect()
}

/// Returns the members of an object without its braces.
fn inner(object: &Params) -> String {
    let text = Value::from(object.clone()).to_string();
    text[1..text.len() - 1].to_owned()
}

impl StepTexts {
    /// Appends the documents of a request, one per line.
    pub(crate) fn write(&self, out: &mut Vec<u8>, record: &SampleRecord) {
        let Some(task) = self.tasks.get(record.task_index as usize) else { return };
        let times = [
            ("latency", record.latency),
            ("service_time", record.service_time),
            ("processing_time", record.processing_time),
        ];
        for (name, time) in times {
            self.write_start(out, task, record.processing_start, record.request_start, name);
            push_ms(out, time);
            push_type(out, record.is_warmup);
            out.extend_from_slice(task.meta.as_bytes());
            push_request_meta(out, record);
            push(out, format_args!("\"client_id\":{}}},{}}}\n", record.client, task.tail));
        }
        for timing in record.details.iter().flat_map(|details| &details.dependent) {
            self.write_dependent(out, task, record, timing);
        }
    }

    /// Appends the documents of a request inside of another: its service time under the name of its own
    /// operation.
    fn write_dependent(
        &self,
        out: &mut Vec<u8>,
        task: &TaskTexts,
        record: &SampleRecord,
        timing: &DependentTiming,
    ) {
        let at = timing.request_start.saturating_duration_since(self.start);
        self.write_start(out, task, at, at, "service_time");
        push_ms(out, timing.service_time);
        push_type(out, record.is_warmup);
        out.extend_from_slice(self.cluster_meta.as_bytes());
        push_request_meta(out, record);
        out.extend_from_slice(members(&timing.meta).as_bytes());
        let tail = tail(&task.name, &timing.operation, &timing.operation_type, &self.track_params);
        push(out, format_args!("\"client_id\":{}}},{tail}}}\n", record.client));
    }

    fn throughput(&self, task_index: usize, note: &Note, unit: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(512);
        let Some(task) = self.tasks.get(task_index) else { return out };
        let at = Duration::try_from_secs_f64(note.at_s).unwrap_or_default();
        self.write_start(&mut out, task, at, at, "throughput");
        let (value, unit) = (Value::from(note.value), Value::from(unit));
        let kind = sample_type(note.is_warmup);
        let meta = task.meta.trim_end_matches(',');
        push(
            &mut out,
            format_args!(
                "{value},\"unit\":{unit},\"sample-type\":{kind},\"meta\":{{{meta}}},{}}}\n",
                task.tail
            ),
        );
        out
    }

    fn write_start(&self, out: &mut Vec<u8>, task: &TaskTexts, at: Duration, relative: Duration, name: &str) {
        push(
            out,
            format_args!("{{\"@timestamp\":{},\"relative-time\":", (self.start_epoch + at).as_millis()),
        );
        push_ms(out, relative);
        out.push(b',');
        out.extend_from_slice(task.identity.as_bytes());
        push(out, format_args!(",\"name\":\"{name}\",\"value\":"));
    }
}

/// Appends what the operation reports about the request, whether it succeeded, and why not.
fn push_request_meta(out: &mut Vec<u8>, record: &SampleRecord) {
    let told = record.details.as_ref().map(|details| &details.meta).filter(|meta| !meta.is_empty());
    for (key, value) in told.into_iter().flatten().filter(|(key, _)| *key != "success") {
        push(out, format_args!("{}:{value},", Value::from(key.as_str())));
    }
    if let Some(took) = record.took.filter(|_| told.is_none_or(|meta| !meta.contains_key("took"))) {
        push(out, format_args!("\"took\":{},", took.as_millis()));
    }
    push(out, format_args!("\"success\":{},", record.is_success));
    if let Some(error) = &record.error {
        push(out, format_args!("\"error-type\":\"{}\",", error.kind));
        push(out, format_args!("\"error-description\":{},", Value::from(error.description.as_str())));
        if let Some(status) = error.status {
            push(out, format_args!("\"http-status\":{status},"));
        }
    }
}

fn push_type(out: &mut Vec<u8>, is_warmup: bool) {
    let kind = sample_type(is_warmup);
    push(out, format_args!(",\"unit\":\"ms\",\"sample-type\":{kind},\"meta\":{{"));
}

fn sample_type(is_warmup: bool) -> &'static str {
    if is_warmup { "\"warmup\"" } else { "\"normal\"" }
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}

fn push_ms(out: &mut Vec<u8>, time: Duration) {
    let _ = serde_json::to_writer(out, &(time.as_secs_f64() * 1000.0));
}
