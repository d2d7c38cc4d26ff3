//! The loaded track, which `load` passes to `drive` and `report`.
//!
//! Names and defaults are Rally's (`esrally/track/track.py`). Everything is rendered, validated and
//! immutable; nothing refers to templates, and to no files other than the corpora's.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// Number of documents of a document set in test mode. The file with this number of documents is named
/// `<stem>-1k.<extension>`.
pub(crate) const TEST_MODE_DOCUMENTS: u64 = 1_000;

/// A JSON object with the author's key order.
pub(crate) type Params = Map<String, Value>;

/// Returns a string without its quotes, and any other value as JSON.
pub(crate) fn bare_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A track: what is raced, on which documents.
#[derive(Debug, Clone)]
pub struct Track {
    pub name: String,
    pub description: String,
    /// The folder the track was loaded from; `None` for a built-in one.
    pub root: Option<PathBuf>,
    /// Commit of the track repository it comes from.
    pub revision: Option<String>,
    pub indices: Vec<Index>,
    pub data_streams: Vec<String>,
    pub templates: Vec<Template>,
    pub composable_templates: Vec<Template>,
    pub component_templates: Vec<Template>,
    pub corpora: Vec<Corpus>,
    pub challenges: Vec<Challenge>,
    /// The track's `meta` object, merged into samples.
    pub meta: Params,
    /// The user's `--track-params` as given.
    pub params: Params,
}

/// An index that the track creates.
#[derive(Debug, Clone)]
pub struct Index {
    pub name: String,
    /// Rendered body (`settings`, `mappings`, `aliases`); `None` when the track has none.
    pub body: Option<Value>,
}

/// An index template, composable template or component template that the track puts.
#[derive(Debug, Clone)]
pub struct Template {
    pub name: String,
    pub index_pattern: String,
    pub delete_matching_indices: bool,
    pub body: Value,
}

/// A named set of documents that the track's bulk requests read.
#[derive(Debug, Clone)]
pub struct Corpus {
    pub name: String,
    pub documents: Vec<DocumentSet>,
    pub meta: Params,
}

/// One data file of a corpus, or the built-in generator.
#[derive(Debug, Clone)]
pub struct DocumentSet {
    pub source: DocumentSource,
    /// Name of the data file as the track gives it, without the archive's extension.
    pub file: String,
    /// Name of the archive (`source-file`) when the data file comes compressed.
    pub archive: Option<String>,
    /// The address at which the author publishes the file.
    pub base_url: Option<String>,
    /// Hexadecimal SHA-256 of the published file (`sha256`, a property that Rally ignores).
    pub sha256: Option<String>,
    /// Whether every document is preceded by its bulk action line (`includes-action-and-meta-data`).
    pub includes_action_and_meta_data: bool,
    pub number_of_documents: u64,
    pub compressed_size_bytes: Option<u64>,
    pub uncompressed_size_bytes: Option<u64>,
    pub target_index: Option<String>,
    pub target_data_stream: Option<String>,
    pub target_type: Option<String>,
    pub meta: Params,
}

/// The place from which the documents of a set are read.
#[derive(Debug, Clone)]
pub enum DocumentSource {
    /// An uncompressed NDJSON file. If the selected challenge uses it, then after `load::load` it exists, has
    /// the declared sizes, and has its offset table beside it. After `load::read` alone it is only a name.
    File(PathBuf),
    /// Documents in memory (built-in generator, converted access logs): one NDJSON buffer, shared by all
    /// clients.
    Memory(bytes::Bytes),
}

/// A challenge: one of the track's schedules, with its parameters.
#[derive(Debug, Clone)]
pub struct Challenge {
    pub name: String,
    pub description: String,
    pub default: bool,
    /// Whether it was made from a track that has only a `schedule`; reports do not name it.
    pub auto_generated: bool,
    pub user_info: Option<String>,
    /// `parameters` of the track, overridden by those of the challenge. Only plugins read them.
    pub parameters: Params,
    pub meta: Params,
    pub schedule: Vec<ScheduleElement>,
}

/// One step of a schedule.
///
/// A schedule has tens of elements, so boxing the larger variant would not save much.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone)]
pub enum ScheduleElement {
    Task(Task),
    Parallel(Parallel),
}

/// Tasks that run at the same time.
#[derive(Debug, Clone)]
pub struct Parallel {
    pub tasks: Vec<Task>,
    /// Explicit `clients` of the element; by default the sum of its tasks' clients.
    pub clients: Option<u32>,
    /// Name of the task whose end completes the element, or `any`.
    pub completed_by: Option<String>,
}

/// An operation with its place in the schedule: how many clients repeat it, how often or for how long.
#[derive(Debug, Clone)]
pub struct Task {
    pub name: String,
    pub operation: Operation,
    pub tags: Vec<String>,
    pub meta: Params,
    pub clients: u32,
    pub warmup_iterations: Option<u64>,
    pub iterations: Option<u64>,
    pub warmup_time_period_s: Option<f64>,
    pub time_period_s: Option<f64>,
    pub ramp_up_time_period_s: Option<f64>,
    /// Total over all clients of the task; `None` if unthrottled. See rally-facts D.3.
    pub target_throughput: Option<Throughput>,
    /// `deterministic` (default), `poisson`, or a name that a plugin would register (refused at load).
    pub schedule: Option<String>,
    pub ignore_response_error_level: Option<String>,
    /// All task-level parameters as written (schedulers read extra ones).
    pub params: Params,
}

/// The pace that a task should have.
#[derive(Debug, Clone, PartialEq)]
pub struct Throughput {
    pub value: f64,
    /// `ops/s`, `docs/s`, `pages/s`, ...
    pub unit: String,
}

/// What a task does: an operation type with its parameters.
#[derive(Debug, Clone)]
pub struct Operation {
    pub name: String,
    /// Rally's operation type, such as `bulk` or `search`; known ones only (others are refused at load).
    pub kind: String,
    pub params: Params,
    /// Named parameter source of the operation, if any.
    pub param_source: Option<String>,
    pub meta: Params,
    pub include_in_reporting: bool,
}

impl ScheduleElement {
    /// Returns the element's tasks: itself, or those that run in parallel.
    pub fn tasks(&self) -> &[Task] {
        match self {
            ScheduleElement::Task(task) => std::slice::from_ref(task),
            ScheduleElement::Parallel(parallel) => &parallel.tasks,
        }
    }

    /// Returns the same tasks as `tasks`, to change them.
    pub fn tasks_mut(&mut self) -> &mut [Task] {
        match self {
            ScheduleElement::Task(task) => std::slice::from_mut(task),
            ScheduleElement::Parallel(parallel) => &mut parallel.tasks,
        }
    }

    /// Returns the number of clients that the element runs with.
    pub fn clients(&self) -> u32 {
        match self {
            ScheduleElement::Task(task) => task.clients,
            ScheduleElement::Parallel(parallel) => parallel.clients.unwrap_or_else(|| {
                parallel.tasks.iter().fold(0, |sum, task| sum.saturating_add(task.clients))
            }),
        }
    }
}
