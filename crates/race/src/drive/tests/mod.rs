//! Tests that a race against a server runs as in Rally.

mod composites;
mod hosts;
mod loops;
mod operations;
mod plugin_bulks;
mod plugins;
mod recorded;
pub mod stub;
mod watch;
pub mod whole_race;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;

use super::client::OnError;
use super::driver::{DriveConfig, DriveProgress, PlannedSchedule, Target, TaskResult};
pub(crate) use super::schedule::tests::plain_task;
use crate::error::Error;
use crate::model::{Corpus, DocumentSet, DocumentSource, Index, Params, ScheduleElement, Task, Track};
use crate::protocol::Protocol;
use crate::server::hosts::{ClientOptions, Retries, resolve};
use stub::Stub;

pub struct Silent;

impl DriveProgress for Silent {
    fn step_started(&mut self, _names: &str) {}
    fn step_advanced(&mut self, _share: f64) {}
    fn step_finished(&mut self, _error_rate_max: f64) {}
}

/// Returns a set of `documents` documents in memory, for the index `logs`; `text` has a line for each.
pub fn document_set(text: String, documents: usize) -> DocumentSet {
    DocumentSet {
        source: DocumentSource::Memory(text.into()),
        includes_action_and_meta_data: false,
        number_of_documents: documents as u64,
        compressed_size_bytes: None,
        uncompressed_size_bytes: None,
        target_index: Some("logs".into()),
        target_data_stream: None,
        target_type: None,
        file: String::new(),
        archive: None,
        base_url: None,
        sha256: None,
        meta: Params::new(),
    }
}

/// Returns a track with one index `logs`, and a corpus of this many documents in memory.
pub fn track(documents: usize) -> Track {
    let text = (0..documents).map(|i| format!("{{\"n\":{i}}}\n")).collect();
    let set = document_set(text, documents);
    Track {
        name: "test".into(),
        description: String::new(),
        root: None,
        revision: None,
        indices: vec![Index { name: "logs".into(), body: None }],
        data_streams: Vec::new(),
        templates: Vec::new(),
        composable_templates: Vec::new(),
        component_templates: Vec::new(),
        corpora: vec![Corpus { name: "logs".into(), documents: vec![set], meta: Params::new() }],
        challenges: Vec::new(),
        meta: Params::new(),
        params: Params::new(),
    }
}

pub fn task(kind: &str, params: Value, change: impl FnOnce(&mut Task)) -> ScheduleElement {
    let mut task = plain_task(kind, params);
    change(&mut task);
    ScheduleElement::Task(task)
}

pub fn config(stub: &Stub) -> DriveConfig {
    DriveConfig {
        target: Target {
            hosts: resolve(std::slice::from_ref(&stub.host), &ClientOptions::default()).unwrap(),
            protocol: Protocol::plain(),
            headers: "user-agent: test\r\n".into(),
            client_headers: Vec::new(),
            timeout: Duration::from_secs(5),
            compresses: false,
            retries: Retries::default(),
        },
        on_error: OnError::Continue,
        checks_assertions: true,
        keeps_meta: true,
        workers_max: 2,
        seed: 1,
        samples: None,
        plugin: None,
    }
}

pub fn race<'a>(
    track: &'a Track,
    schedule: &'a [ScheduleElement],
    config: &DriveConfig,
) -> Result<Vec<TaskResult<'a>>, Error> {
    let driven = PlannedSchedule::new(track, schedule, config)?.run(
        config,
        &Arc::new(AtomicBool::new(false)),
        &mut Silent,
    )?;
    Ok(driven.tasks)
}
