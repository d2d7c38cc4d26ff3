//! Documents of time series: "which index of the data stream, which shard and which id does a document get?"
//!
//! Source: Elasticsearch's `DataStream#getWriteIndex`, `IndexRouting.ExtractFromSource`.

use std::sync::Arc;

use limber_mapping::{Mapping, RequestError};
use limber_work as work;

use super::bulk_step::{Destination, Reach, Step, Target};
use crate::api::*;
use crate::catalog::DataStream;
use crate::node::Node;
use crate::node::stream::series_bounds::shown;
use crate::shard::Growth;

/// How many mapping updates a document may need before its dimensions are known.
const MAPPING_UPDATES_MAX: usize = 8;

impl Node {
    /// Gives every operation on an index of time series its index and its id, or its error.
    pub(super) fn place_series(&self, steps: &mut [Step<'_>], targets: &mut Vec<Target>, arena: &[u8]) {
        let has_series = |target: &Target| {
            target.outcome.as_ref().is_ok_and(|destination| destination.settings.mode.has_series())
        };
        if !targets.iter().any(has_series) {
            return;
        }
        for step in steps.iter_mut().filter(|step| step.outcome.is_none()) {
            if !targets.get(step.target as usize).is_some_and(has_series) {
                continue;
            }
            // The trees of documents that were read before are gone, but their ids stay.
            let placed = work::check().map_err(RequestError::from);
            if let Err(error) = placed.and_then(|()| self.place_in_series(step, targets, arena)) {
                step.outcome = Some(Err(error));
            }
        }
    }

    fn place_in_series(&self, step: &mut Step<'_>, targets: &mut Vec<Target>, arena: &[u8]) -> Result<()> {
        let Ok(destination) = &targets[step.target as usize].outcome else { return Ok(()) };
        let operation = step.operation;
        let name = destination.metadata.name.clone();
        let refused = |what: &str| {
            Err(RequestError::illegal_argument(format!(
                "{what} is not supported because the destination index [{name}] is in time series mode"
            )))
        };
        if step.routing().is_some() || destination.alias_routing.is_some() {
            return refused(match operation.kind {
                OperationKind::Update => "update with a specified routing",
                OperationKind::Delete => "delete with a specified routing",
                _ => "index with a specified routing",
            });
        }
        match operation.kind {
            OperationKind::Update => return refused("update"),
            OperationKind::Delete => return Ok(()),
            OperationKind::Index | OperationKind::Create => {}
        }
        let source = match &step.ingested {
            Some(range) => &arena[range.clone()],
            None => operation.source,
        };
        let mapping = destination.live.core.mapping.load_full();
        let timestamp_ms = mapping.series_timestamp(source)?;
        if let Some(stream) = stream_to_choose_in(destination, timestamp_ms) {
            step.target = self.index_for(&stream, timestamp_ms, step.target, targets)?;
        }
        let Ok(destination) = &targets[step.target as usize].outcome else { return Ok(()) };
        check_bounds(destination, timestamp_ms)?;
        let id = self.series_id(destination, step, source)?;
        match step.given_id() {
            Some(given) if given != id => Err(RequestError::illegal_argument(format!(
                "_id must be unset or set to [{id}] but was [{given}] because [{name}] is in time_series mode"
            ))),
            _ => {
                step.series_id = Some(id.into());
                Ok(())
            }
        }
    }

    /// Returns the id of a document. Fields that may be dimensions are mapped before.
    fn series_id(&self, destination: &Destination, step: &Step<'_>, source: &[u8]) -> Result<String> {
        let core = &destination.live.core;
        for _ in 0..MAPPING_UPDATES_MAX {
            let mapping: Arc<Mapping> = core.mapping.load_full();
            let series = mapping.series_of(source)?;
            if !series.needs_mapping {
                return Ok(series.document_id());
            }
            let growth = Growth::of(&mapping, source, step.operation.dynamic_templates.as_deref())?;
            let before = mapping.to_json();
            let blocks = || self.check_write_block(&destination.metadata, &core.settings.load().blocks);
            crate::shard::Host::update_mapping(self, core, &growth, &blocks)?;
            if core.mapping.load().to_json() == before {
                return Ok(series.document_id());
            }
        }
        Err(RequestError::internal("mapper_exception", "the document's mapping update did not take effect"))
    }

    /// Returns the target for the index of the data stream that accepts this timestamp.
    fn index_for(
        &self,
        stream: &DataStream,
        timestamp_ms: i64,
        named: u32,
        targets: &mut Vec<Target>,
    ) -> Result<u32> {
        let (stream, index) = self.index_at(&stream.name, timestamp_ms)?;
        let is_same = |target: &Target| {
            let found = target.outcome.as_ref().ok();
            found.is_some_and(|found| {
                found.metadata.uuid == index.uuid && matches!(found.reach, Reach::Stream(_))
            })
        };
        if let Some(at) = targets.iter().rposition(is_same) {
            // The bounds that the target knows may have moved.
            if let Ok(found) = &mut targets[at].outcome {
                found.settings = index.typed.clone();
            }
            return Ok(at as u32);
        }
        let live = self.live(&index)?;
        self.check_write_block(&index, &index.typed.blocks)?;
        self.check_is_not_in_doubt(&index)?;
        let reach = Reach::Stream(stream);
        let Target { require_alias, require_data_stream, is_restricted, .. } = targets[named as usize];
        targets.push(Target {
            name: (&*index.name).into(),
            require_alias,
            require_data_stream,
            is_restricted,
            outcome: Ok(Destination::new(index, live, None, reach)),
        });
        Ok(targets.len() as u32 - 1)
    }
}

/// Returns the data stream if the operation names it and its newest index does not accept the timestamp.
fn stream_to_choose_in(destination: &Destination, timestamp_ms: i64) -> Option<Arc<DataStream>> {
    match (&destination.reach, destination.settings.time_bounds) {
        (Reach::Stream(stream), Some(bounds)) if !bounds.contains(timestamp_ms) => Some(stream.clone()),
        _ => None,
    }
}

/// Source: `DataStreamTimestampFieldMapper#validateTimestamp`.
fn check_bounds(destination: &Destination, timestamp_ms: i64) -> Result<()> {
    let Some(bounds) = destination.settings.time_bounds.filter(|bounds| !bounds.contains(timestamp_ms))
    else {
        return Ok(());
    };
    let (what, bound) = match timestamp_ms < bounds.start_ms {
        true => ("larger", bounds.start_ms),
        false => ("smaller", bounds.end_ms),
    };
    let reason = format!(
        "time series index @timestamp value [{}] must be {what} than {}",
        shown(timestamp_ms),
        shown(bound)
    );
    let cause = RequestError::illegal_argument(reason.clone());
    Err(RequestError::bad_request("document_parsing_exception", format!("failed to parse: {reason}"))
        .caused_by(cause))
}
