//! Lists for the APIs about ingestion: the names of processors, and the grok library.

use std::collections::BTreeMap;

use limber_text::grok::{Ecs, library};

use super::processor::{PROCESSORS, WITH_RESOURCES};

/// Returns the names of all processors, sorted (`GET _nodes/ingest`).
pub fn processor_names() -> Vec<&'static str> {
    let mut names: Vec<_> = PROCESSORS.iter().map(|(name, _)| *name).chain(WITH_RESOURCES).collect();
    names.sort_unstable();
    names
}

/// Returns the grok library (`GET _ingest/processor/grok`), sorted by name; `ecs` chooses the Elastic Common
/// Schema names.
pub fn grok_patterns(ecs: bool) -> BTreeMap<&'static str, &'static str> {
    let library = library(if ecs { Ecs::V1 } else { Ecs::Disabled });
    library.iter().map(|(name, expression)| (name.as_str(), expression.as_str())).collect()
}
