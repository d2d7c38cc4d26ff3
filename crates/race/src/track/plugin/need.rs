//! Whether a race needs Python.
//!
//! Many challenges of tracks with a `track.py` use nothing from it. Python is started only for what Limber
//! does not have: a parameter source, an operation type or a scheduler that only the plugin can provide, a
//! track processor, or a runner that replaces a built-in one.

use super::known_sources;
use crate::model::operations::operation_type;
use crate::model::{Challenge, ScheduleElement, Task};

/// Whether racing `challenge` needs the plugin; `plugin` is the contents of its file.
pub(crate) fn needs_python(plugin: &str, challenge: &Challenge) -> bool {
    let is_known = known_sources::Variant::of_plugin(plugin).is_some();
    let replaces = |kind: &str| {
        plugin.contains("register_runner")
            && ['"', '\''].iter().any(|quote| plugin.contains(&format!("{quote}{kind}{quote}")))
    };
    let tasks = || challenge.schedule.iter().flat_map(ScheduleElement::tasks);
    let is_quick = |task: &Task| {
        is_known
            && task.operation.kind == "search"
            && task.operation.param_source.as_deref().is_some_and(known_sources::is_source)
    };
    plugin.contains("register_track_processor")
        || tasks()
            .any(|task| (wants(task).next().is_some() && !is_quick(task)) || replaces(&task.operation.kind))
}

/// Returns what the task names that only a plugin can provide, as (kind, name).
pub(crate) fn wants(task: &Task) -> impl Iterator<Item = (&'static str, &str)> {
    let operation = &task.operation;
    let kind = Some(operation.kind.as_str()).filter(|kind| operation_type(kind).is_none());
    let source =
        operation.param_source.as_deref().filter(|source| !is_built_in_source(&operation.kind, source));
    let schedule = task.schedule.as_deref().filter(|name| !["deterministic", "poisson"].contains(name));
    let named = [("operation type", kind), ("parameter source", source), ("scheduler", schedule)];
    named.into_iter().filter_map(|(what, name)| Some((what, name?)))
}

/// Whether operations of this type have this parameter source without any plugin.
fn is_built_in_source(operation_type: &str, source: &str) -> bool {
    match operation_type {
        // This is the name of the bulk parameter source itself.
        "bulk" => source == "file-reader",
        // This source takes the operation's `searches` in turn (`drive/operation/searches/search.rs`).
        "search" => source == "limber-searches",
        _ => false,
    }
}
