//! Selects what this race runs of a track, and checks that all of it can be run.
//!
//! Task filters and test mode are Rally's track processors (`esrally/track/loader.py`), applied to every
//! challenge. Only the operations of the selected challenge have to be supported, so that a track stays
//! usable for its other challenges.

use std::collections::BTreeSet;

use serde_json::Value;

use super::LoadError;
use crate::model::{
    Challenge, DocumentSet, Params, ScheduleElement, TEST_MODE_DOCUMENTS, Task, Throughput, Track,
};
use crate::track::plugin::{self, PLUGIN_FILE, Plugin};
use crate::track::track_files::files::TrackFiles;

/// Maximum number of seconds that a task measures in test mode.
const TEST_MODE_TIME_PERIOD_S: f64 = 10.0;
/// Target throughput in test mode. It is so high that no client waits, but it still uses the code for
/// throttling.
const TEST_MODE_THROUGHPUT: i64 = i64::MAX;

/// Returns the challenge of this name, or the default one.
///
/// # Errors
/// `UnknownChallenge`, with the names that the track has.
pub(crate) fn challenge<'a>(track: &'a Track, name: Option<&str>) -> Result<&'a Challenge, LoadError> {
    let found = match name {
        None | Some("") => track.challenges.iter().find(|challenge| challenge.default),
        Some(name) => track.challenges.iter().find(|challenge| challenge.name == name),
    };
    found.ok_or_else(|| LoadError::UnknownChallenge {
        challenge: name.unwrap_or_default().to_owned(),
        track: track.name.clone(),
        known: track.challenges.iter().map(|challenge| challenge.name.clone()).collect(),
    })
}

/// Keeps only the included tasks, or removes the excluded ones. A filter is a task's name,
/// `type:<operation type>` or `tag:<tag>`.
///
/// # Errors
/// `Parameters` for a malformed filter, and for filters that leave no task in any challenge: such a race
/// would do nothing and succeed.
pub(crate) fn filter_tasks(
    track: &mut Track,
    include: &[String],
    exclude: &[String],
) -> Result<(), LoadError> {
    let (given, excluding) = if include.is_empty() { (exclude, true) } else { (include, false) };
    if given.is_empty() {
        return Ok(());
    }
    let filters = given.iter().map(|text| TaskFilter::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let keep = |task: &Task| filters.iter().any(|filter| filter.matches(task)) != excluding;
    let names: BTreeSet<String> = tasks(track).map(|task| task.name.clone()).collect();
    for challenge in &mut track.challenges {
        challenge.schedule.retain_mut(|element| match element {
            ScheduleElement::Task(task) => keep(task),
            ScheduleElement::Parallel(parallel) => {
                // A parallel element without remaining tasks has nothing to run.
                parallel.tasks.retain(keep);
                !parallel.tasks.is_empty()
            }
        });
    }
    if !names.is_empty() && tasks(track).next().is_none() {
        let option = if excluding { "--exclude-tasks" } else { "--include-tasks" };
        return Err(LoadError::Parameters(format!(
            "{option} [{}] leaves no task to run; track [{}] has the tasks [{}]",
            given.join(","),
            track.name,
            names.into_iter().collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(())
}

fn tasks(track: &Track) -> impl Iterator<Item = &Task> {
    track.challenges.iter().flat_map(|challenge| &challenge.schedule).flat_map(ScheduleElement::tasks)
}

enum TaskFilter {
    Name(String),
    OperationType(String),
    Tag(String),
}

impl TaskFilter {
    fn parse(text: &str) -> Result<TaskFilter, LoadError> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [name] => Ok(TaskFilter::Name((*name).to_owned())),
            ["type", kind] => Ok(TaskFilter::OperationType((*kind).to_owned())),
            ["tag", tag] => Ok(TaskFilter::Tag((*tag).to_owned())),
            [kind, _] => Err(LoadError::Parameters(format!(
                "Invalid format for filtered tasks: [{text}]. Expected [type] or [tag] but got [{kind}]."
            ))),
            _ => Err(LoadError::Parameters(format!("Invalid format for filtered tasks: [{text}]"))),
        }
    }

    fn matches(&self, task: &Task) -> bool {
        match self {
            TaskFilter::Name(name) => task.name == *name,
            TaskFilter::OperationType(kind) => task.operation.kind == *kind,
            TaskFilter::Tag(tag) => task.tags.contains(tag),
        }
    }
}

/// Reduces a track to a run of a few seconds: 1,000 documents per set, one iteration per client, at most 10 s
/// per task.
pub(crate) fn apply_test_mode(track: &mut Track) {
    for set in track.corpora.iter_mut().flat_map(|corpus| &mut corpus.documents) {
        shrink_document_set(set);
    }
    let elements = track.challenges.iter_mut().flat_map(|challenge| &mut challenge.schedule);
    for task in elements.flat_map(ScheduleElement::tasks_mut) {
        let clients = u64::from(task.clients);
        task.warmup_iterations = task.warmup_iterations.map(|count| count.min(clients));
        task.iterations = task.iterations.map(|count| count.min(clients));
        task.warmup_time_period_s = task.warmup_time_period_s.map(|_| 0.0);
        task.time_period_s = task.time_period_s.map(|period| period.min(TEST_MODE_TIME_PERIOD_S));
        if let Some(target) = &task.target_throughput {
            let unit = target.unit.clone();
            task.params.shift_remove("target-interval");
            task.params.insert(
                "target-throughput".to_owned(),
                Value::from(format!("{TEST_MODE_THROUGHPUT} {unit}")),
            );
            task.target_throughput = Some(Throughput { value: TEST_MODE_THROUGHPUT as f64, unit });
        }
    }
}

fn shrink_document_set(set: &mut DocumentSet) {
    if set.number_of_documents <= TEST_MODE_DOCUMENTS {
        return;
    }
    set.number_of_documents = TEST_MODE_DOCUMENTS;
    set.compressed_size_bytes = None;
    set.uncompressed_size_bytes = None;
    let (stem, extension) = split_extension(&set.file);
    let shrunk = format!("{stem}-1k{extension}");
    set.archive = set.archive.take().map(|archive| format!("{shrunk}{}", &archive[set.file.len()..]));
    set.source = crate::model::DocumentSource::File(shrunk.clone().into());
    set.file = shrunk;
}

/// Splits `a/b.c` into `a/b` and `.c`. A leading dot does not start an extension.
fn split_extension(file: &str) -> (&str, &str) {
    let name_start = file.rfind('/').map_or(0, |slash| slash + 1);
    match file[name_start..].rfind('.') {
        Some(dot) if dot > 0 => file.split_at(name_start + dot),
        _ => (file, ""),
    }
}

/// Refuses, by name, what the challenge needs and neither `drive` nor the track's plugin provides.
///
/// # Errors
/// `NotSupported`, with the operation type, parameter source or scheduler.
pub(crate) fn check_supported(
    challenge: &Challenge,
    files: &TrackFiles,
    plugin: Option<&Plugin>,
) -> Result<(), LoadError> {
    for task in challenge.schedule.iter().flat_map(ScheduleElement::tasks) {
        for (what, name) in plugin::wants(task) {
            let is_there = match (plugin, what) {
                (Some(plugin), "operation type") => plugin.has_runner(name),
                (Some(plugin), "parameter source") => plugin.has_param_source(name),
                (Some(plugin), _) => plugin.has_scheduler(name),
                // Such a source runs without Python: see `plugin::needs_python`.
                (None, "parameter source") => {
                    files.has(PLUGIN_FILE) && plugin::known_sources::is_source(name)
                }
                (None, _) => false,
            };
            if !is_there {
                let reason = match files.has(PLUGIN_FILE) {
                    true => format!(
                        "the {what} [{name}] is neither built in nor registered by the track's plugin {PLUGIN_FILE}"
                    ),
                    false => format!("unknown {what} [{name}]"),
                };
                return Err(LoadError::NotSupported(format!(
                    "{reason} (task [{}] of challenge [{}])",
                    task.name, challenge.name
                )));
            }
        }
    }
    Ok(())
}

/// Whether a bulk operation with these parameters reads this document set.
pub(crate) fn reads(params: &Params, corpus: &str, set: &DocumentSet) -> bool {
    let listed = |name: &str, value: Option<&str>| match params.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::String(only)) => value == Some(only.as_str()),
        Some(Value::Array(names)) => {
            names.is_empty() || names.iter().any(|name| name.as_str() == value && value.is_some())
        }
        Some(_) => false,
    };
    listed("corpora", Some(corpus))
        && listed("indices", set.target_index.as_deref())
        && listed("data-streams", set.target_data_stream.as_deref())
}

/// Whether the plugin decides which documents the task reads.
fn is_of_plugin(plugin: Option<&Plugin>, task: &Task) -> bool {
    plugin.is_some_and(|plugin| {
        plugin.has_runner(&task.operation.kind)
            || task.operation.param_source.as_deref().is_some_and(|source| plugin.has_param_source(source))
    })
}

/// Returns the indices `(corpus, document set)` of the sets that the challenge's bulk tasks and the plugin's
/// parameter sources read.
///
/// # Errors
/// `TrackInvalid` for a bulk task without any documents.
pub(crate) fn used_document_sets(
    track: &Track,
    challenge: &Challenge,
    plugin: Option<&Plugin>,
) -> Result<Vec<(usize, usize)>, LoadError> {
    let mut used = Vec::new();
    let bulks = challenge
        .schedule
        .iter()
        .flat_map(ScheduleElement::tasks)
        .filter(|task| task.operation.kind == "bulk" && !is_of_plugin(plugin, task));
    for task in bulks {
        if track.corpora.is_empty() {
            return Err(LoadError::invalid(format!(
                "There is no document corpus definition for track {}. You must add at least one before making bulk requests to \
                 Elasticsearch.",
                track.name
            )));
        }
        let before = used.len();
        for (corpus_index, corpus) in track.corpora.iter().enumerate() {
            for (set_index, set) in corpus.documents.iter().enumerate() {
                if reads(&task.operation.params, &corpus.name, set) {
                    used.push((corpus_index, set_index));
                }
            }
        }
        if used.len() == before {
            let names = |names: Vec<&str>| format!("['{}']", names.join("', '"));
            let known: Vec<&str> = track.corpora.iter().map(|corpus| corpus.name.as_str()).collect();
            let wanted = match task.operation.params.get("corpora") {
                Some(Value::String(name)) => vec![name.as_str()],
                Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
                _ => known.clone(),
            };
            return Err(LoadError::invalid(format!(
                "The provided corpus {} does not match any of the corpora {} (task [{}], with its 'indices' and 'data-streams').",
                names(wanted),
                names(known),
                task.name
            )));
        }
    }
    if let Some(plugin) = plugin {
        for (name, file) in plugin.used_documents()? {
            for (corpus_index, corpus) in
                track.corpora.iter().enumerate().filter(|(_, corpus)| corpus.name == name)
            {
                let set_index = corpus.documents.iter().position(|set| set.file == file);
                used.extend(set_index.map(|set_index| (corpus_index, set_index)));
            }
        }
    }
    used.sort_unstable();
    used.dedup();
    Ok(used)
}
