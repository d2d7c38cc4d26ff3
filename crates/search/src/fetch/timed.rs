//! The time of a shard's fetch phase (`profile`): "how long did each part of the hits take?"
//!
//! Source: Elasticsearch's `FetchProfiler`. Here documents are read together with their sources, so loading
//! stored fields includes loading the source.

use std::time::Instant;

use serde_json::{Value, json};

use crate::request::SearchRequest;

/// A step in fetching a hit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FetchStep {
    NextReader,
    StoredFields,
    Versions,
    Fields,
    Highlight,
    Explain,
    InnerHits,
}

const STEP_COUNT: usize = 7;

/// The time of each step.
#[derive(Debug)]
pub(crate) struct FetchTimes {
    started: Instant,
    nanos: u64,
    /// Indexed by [`FetchStep`]: nanoseconds and count.
    steps: [(u64, u64); STEP_COUNT],
}

impl FetchTimes {
    /// Starts measuring.
    pub fn start() -> FetchTimes {
        FetchTimes { started: Instant::now(), nanos: 0, steps: [(0, 0); STEP_COUNT] }
    }

    /// Records the end of a step; returns the time of it.
    pub fn add(&mut self, step: FetchStep, started: Instant) -> Instant {
        let now = Instant::now();
        let (nanos, count) = &mut self.steps[step as usize];
        *nanos += now.saturating_duration_since(started).as_nanos() as u64;
        *count += 1;
        now
    }

    /// Stops measuring, after the last hit.
    pub fn finish(mut self) -> FetchTimes {
        self.nanos = self.started.elapsed().as_nanos() as u64;
        self
    }

    /// Returns the times as Elasticsearch shows them, with the sub-phases that the request uses.
    pub fn to_json(&self, request: &SearchRequest) -> Value {
        let of = |step: FetchStep| self.steps[step as usize];
        let (reader_nanos, reader_count) = of(FetchStep::NextReader);
        let (stored_nanos, stored_count) = of(FetchStep::StoredFields);
        let shows_source = match &request.source {
            Some(filter) => filter.fetch,
            None => request.stored_fields.is_none(),
        };
        let phases = [
            ("ExplainPhase", request.explain, FetchStep::Explain),
            ("FetchDocValuesPhase", !request.docvalue_fields.is_empty(), FetchStep::Fields),
            ("FetchFieldsPhase", true, FetchStep::Fields),
            ("FetchSourcePhase", shows_source, FetchStep::StoredFields),
            ("FetchVersionPhase", request.version, FetchStep::Versions),
            ("HighlightPhase", request.highlight.is_some(), FetchStep::Highlight),
            (
                "InnerHitsPhase",
                of(FetchStep::InnerHits).0 > 0 && request.collapse.is_some(),
                FetchStep::InnerHits,
            ),
            ("ScriptFieldsPhase", !request.script_fields.is_empty(), FetchStep::Fields),
            ("SeqNoPrimaryTermPhase", request.seq_no_primary_term, FetchStep::Versions),
            ("StoredFieldsPhase", true, FetchStep::StoredFields),
        ];
        let shown = phases.iter().filter(|(_, is_wanted, _)| *is_wanted).map(|(name, _, step)| {
            let (nanos, count) = of(*step);
            json!({
                "type": name,
                "description": "",
                "time_in_nanos": nanos,
                "breakdown": {
                    "process": nanos,
                    "process_count": count,
                    "next_reader": reader_nanos,
                    "next_reader_count": reader_count,
                },
            })
        });
        let stored: &[&str] =
            if shows_source { &["_id", "_routing", "_source"] } else { &["_id", "_routing"] };
        json!({
            "type": "fetch",
            "description": "",
            "time_in_nanos": self.nanos,
            "breakdown": {
                "load_stored_fields": stored_nanos,
                "load_stored_fields_count": stored_count,
                "load_source": if shows_source { stored_nanos } else { 0 },
                "load_source_count": if shows_source { stored_count } else { 0 },
                "next_reader": reader_nanos,
                "next_reader_count": reader_count,
            },
            "debug": {"stored_fields": stored},
            "children": shown.collect::<Vec<_>>(),
        })
    }
}
