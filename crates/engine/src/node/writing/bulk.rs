//! Bulk: many writes, grouped by shard, with one translog append and one shared fsync per shard.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_work as work;

use super::bulk_step::{
    ANY_VERSION, Group, NO_TARGET, Step, Target, check, check_reach, check_routing, destination_of, dropped,
    id_of, into_items, outcome_of, routing_of, version_of, write_of,
};
use super::bulk_target::Only;
use super::index_pipelines::IndexPipelines;
use super::reroute::{Arrival, Rerouted};
use crate::api::*;
use crate::catalog::date_math;
use crate::ingest::{ChangedMetadata, Metadata, Outcome, Pipelines, Runner, tree_of};
use crate::node::Node;
use crate::shard::ids::routing;
use crate::shard::{GeneratedIds, Timer, Unsynced, Write};

impl Node {
    /// Carries out the operations, for each shard in their order. The request fails as a whole only when it
    /// is cancelled or when there is no memory for its errors.
    pub fn bulk<'r>(&self, request: BulkRequest<'r>) -> Result<BulkResponse<'r>> {
        self.bulk_into(request, None)
    }

    /// Works like [`Node::bulk`], but writes only to certain indices.
    pub(in crate::node) fn bulk_into<'r>(
        &self,
        request: BulkRequest<'r>,
        only: Option<Only<'_>>,
    ) -> Result<BulkResponse<'r>> {
        let clock = &*self.environment.clock;
        let start_nanos = clock.monotonic_nanos();
        let description = format!("requests[{}]", request.operations.len());
        let _task = match work::cancelled() {
            Some(flag) => self.tasks.register_cancellable("indices:data/write/bulk", description, flag),
            None => self.tasks.register("indices:data/write/bulk", description, false),
        };
        let mut steps: Vec<Step<'r>> = request.operations.iter().map(Step::of).collect();
        let mut arena = Vec::new();
        let ingest_took_ms = self.ingest(&mut steps, request.pipeline, &mut arena);
        steps.iter_mut().for_each(Step::note_end);
        let mut targets = self.find_targets(&mut steps, only)?;
        self.place_series(&mut steps, &mut targets, &arena);
        let ids = self.generate_ids(&mut steps);
        // Each operation without a destination gets its own error, whose memory is reserved here.
        let is_refused = |step: &&Step<'_>| {
            targets.get(step.target as usize).is_some_and(|target| target.outcome.is_err())
        };
        work::claim(steps.iter().filter(is_refused).count() as u64 * ERROR_BYTES)?;
        let mut groups = self.group(&mut steps, &targets, &ids)?;
        // Long names and the operations' errors may have exhausted the memory; nothing is written yet.
        work::check()?;
        for group in &mut groups {
            self.write_group(group, &mut steps, &targets, &ids, &arena);
        }
        for group in &groups {
            if let Err(error) = group.unsynced.iter().try_for_each(|unsynced| group.shard.sync(unsynced)) {
                // Without a successful sync no write of the group may be acknowledged.
                for step in &group.steps {
                    if matches!(steps[*step].outcome, Some(Ok(_))) {
                        steps[*step].outcome = Some(Err(error.clone()));
                    }
                }
            }
        }
        self.refresh_groups(&groups, &mut steps, request.refresh);
        let errors = steps.iter().any(|step| !matches!(step.outcome, Some(Ok(_))));
        let (indices, items) = into_items(steps, targets, &ids);
        let took_ms = clock.monotonic_nanos().saturating_sub(start_nanos) / 1_000_000;
        Ok(BulkResponse { took_ms, ingest_took_ms, errors, indices, items })
    }

    /// Carries out one write of any kind (`_doc`, `_create`, `_update`, `DELETE`). A `Delete` of a missing
    /// document returns `Ok` with [`WriteResult::NotFound`].
    pub fn write(
        &self,
        operation: BulkOperation<'_>,
        refresh: RefreshPolicy,
        pipeline: Option<&str>,
    ) -> Result<WriteResponse> {
        let operations = std::slice::from_ref(&operation);
        let mut response = self.bulk(BulkRequest { operations, pipeline, refresh })?;
        let item = response.items.pop().ok_or_else(|| {
            RequestError::internal("illegal_state_exception", "a bulk of one operation answers one item")
        })?;
        Ok(WriteResponse {
            index: response.indices.swap_remove(item.index),
            id: (*item.id).into(),
            outcome: item.outcome?,
        })
    }

    /// Runs pipelines on the documents that have any. Returns how long that took.
    fn ingest<'r>(
        &self,
        steps: &mut [Step<'r>],
        default: Option<&'r str>,
        arena: &mut Vec<u8>,
    ) -> Option<u64> {
        let clock = &*self.environment.clock;
        let start_nanos = clock.monotonic_nanos();
        let pipelines = self.pipelines.snapshot();
        let timestamp = crate::ingest::timestamp(i128::from(clock.now_millis()) * 1_000_000);
        let mut runner: Option<Runner<'_>> = None;
        // The pipelines of the last name that was looked up, as a bulk mostly writes to one index.
        let mut last: Option<(&str, IndexPipelines)> = None;
        let mut ran_on_updates = false;
        for step in steps.iter_mut() {
            let operation = step.operation;
            if matches!(operation.kind, OperationKind::Delete) {
                continue;
            }
            // The results for earlier documents stay in memory until all are written.
            if let Err(error) = work::check() {
                step.outcome = Some(Err(error.into()));
                continue;
            }
            if last.as_ref().is_none_or(|(name, _)| *name != operation.index) {
                last = Some((&operation.index, self.pipelines_of(&operation.index)));
            }
            let Some((_, of_index)) = &last else { continue };
            let asked = super::update::asked_pipeline(operation, default);
            let first = match asked {
                Some(name) => Some(name).filter(|name| *name != "_none"),
                None => of_index.default.as_deref(),
            };
            let last = of_index.last.as_deref();
            let both = [first.or(last).unwrap_or(""), last.unwrap_or("")];
            let ids = match (first, last) {
                (None, None) => continue,
                (Some(_), Some(_)) => &both[..],
                _ => &both[..1],
            };
            if operation.kind == OperationKind::Update {
                ran_on_updates |= self.ingest_upsert(step, &pipelines, &timestamp, ids, arena);
                continue;
            }
            if let Err(error) = step.note_pipelines(ids) {
                step.outcome = Some(Err(error));
                continue;
            }
            let runner = runner.get_or_insert_with(|| runner_over(&pipelines, &timestamp));
            if let Some(rerouted) = self.ingest_one(step, runner, ids, last.is_some(), arena) {
                if let Some(noted) = &mut step.pipelines {
                    noted.truncate(rerouted.ran);
                }
                match self.follow(step, rerouted, &pipelines, &timestamp) {
                    Arrival::Written(document) => {
                        let before = arena.len();
                        arena.extend_from_slice(&document.source);
                        self.ingested(step, Some(document.changed), before..arena.len());
                    }
                    Arrival::Dropped => step.outcome = Some(Ok(dropped())),
                    Arrival::Failed(error) => step.outcome = Some(Err(error)),
                }
            }
        }
        let ran = runner.is_some() || ran_on_updates;
        drop(runner);
        ran.then(|| clock.monotonic_nanos().saturating_sub(start_nanos) / 1_000_000)
    }

    /// Runs the pipelines on the document that an update may create, whether it will be created or not.
    /// Returns whether there is one.
    ///
    /// Source: `IngestService#getIndexWriteRequest`.
    fn ingest_upsert(
        &self,
        step: &mut Step<'_>,
        pipelines: &Pipelines,
        timestamp: &str,
        ids: &[&str],
        arena: &mut Vec<u8>,
    ) -> bool {
        let operation = step.operation;
        if let Err(stop) = limber_mapping::claim_parsed(operation.source) {
            step.outcome = Some(Err(stop.into()));
            return true;
        }
        let Some((mut body, member)) = super::update::upserted_member(operation.source) else { return false };
        let document = body[member].to_string();
        let metadata = Metadata {
            index: &operation.index,
            id: operation.id.as_deref(),
            routing: operation.routing.as_deref(),
            version: Some(ANY_VERSION),
            version_type: Some("internal"),
            op_type: Some("index"),
            ..Metadata::default()
        };
        let mut changed = Vec::new();
        match runner_over(pipelines, timestamp).run(ids, metadata, document.as_bytes(), &mut changed) {
            // The update decides where the document goes, so a reroute has no effect.
            Outcome::Changed(_) | Outcome::Rerouted { .. } => match tree_of(&changed) {
                Ok(document) => {
                    body[member] = document;
                    let before = arena.len();
                    arena.extend_from_slice(body.to_string().as_bytes());
                    step.ingested = Some(before..arena.len());
                }
                Err(error) => step.outcome = Some(Err(error)),
            },
            Outcome::Dropped => step.outcome = Some(Ok(dropped())),
            Outcome::Failed(error) => step.outcome = Some(Err(*error)),
        }
        true
    }

    /// Runs the pipelines on one document. Returns how to continue when one of them reroutes it to another
    /// index.
    fn ingest_one<'p, 'r: 'p>(
        &self,
        step: &mut Step<'r>,
        runner: &mut Runner<'p>,
        ids: &[&str],
        has_last: bool,
        arena: &mut Vec<u8>,
    ) -> Option<Rerouted> {
        let operation = step.operation;
        let metadata = Metadata {
            index: &operation.index,
            id: operation.id.as_deref(),
            routing: operation.routing.as_deref(),
            version: Some(operation.version.map_or(ANY_VERSION, |version| version as i64)),
            version_type: Some(match operation.version_type {
                VersionType::Internal => "internal",
                VersionType::External => "external",
                VersionType::ExternalGte => "external_gte",
            }),
            if_seq_no: operation.if_seq_no.map(|seq_no| seq_no as i64),
            if_primary_term: operation.if_primary_term.map(|term| term as i64),
            op_type: Some(operation.kind.as_str()),
        };
        let before = arena.len();
        match runner.run(ids, metadata, operation.source, arena) {
            Outcome::Changed(changed) => self.ingested(step, changed, before..arena.len()),
            Outcome::Dropped => step.outcome = Some(Ok(dropped())),
            Outcome::Failed(error) => step.outcome = Some(Err(*error)),
            Outcome::Rerouted { by, changed } => {
                let source = arena.split_off(before);
                let is_by_last = has_last && by + 1 == ids.len();
                return Some(Rerouted { changed, source, by: ids[by].to_owned(), ran: by + 1, is_by_last });
            }
        }
        None
    }

    /// Stores the result of the pipelines in the step.
    fn ingested(
        &self,
        step: &mut Step<'_>,
        changed: Option<Box<ChangedMetadata>>,
        source: std::ops::Range<usize>,
    ) {
        if let Some(Err(error)) = changed.as_deref().map(version_of) {
            step.outcome = Some(Err(error));
            return;
        }
        step.ingested = Some(source);
        step.changed = changed;
        let index = step.changed.as_mut().and_then(|changed| changed.index.as_mut());
        if let Some(index) = index.filter(|index| index.starts_with('<')) {
            match date_math::resolve(index, self.environment.clock.now_millis() as i64) {
                Ok(resolved) => *index = resolved,
                Err(error) => step.outcome = Some(Err(error)),
            }
        }
    }

    fn generate_ids(&self, steps: &mut [Step<'_>]) -> GeneratedIds {
        let needs_id = |step: &Step<'_>| {
            step.outcome.is_none()
                && step.given_id().is_none()
                && matches!(step.operation.kind, OperationKind::Index | OperationKind::Create)
        };
        let mut count = 0;
        for step in steps.iter_mut().filter(|step| needs_id(step)) {
            step.generated = Some(count);
            count += 1;
        }
        self.flake_ids.generate(count)
    }

    /// Groups the steps by shard. A step that cannot be written gets its error here.
    ///
    /// # Errors
    /// Fails when there is no memory for the errors; nothing is written yet.
    fn group(&self, steps: &mut [Step<'_>], targets: &[Target], ids: &GeneratedIds) -> Result<Vec<Group>> {
        let mut groups: Vec<Group> = Vec::new();
        let step_count = steps.len();
        for (number, step) in steps.iter_mut().enumerate() {
            if number.is_multiple_of(STEPS_PER_CHECK) {
                work::check_beyond_deadline()?;
            }
            if step.outcome.is_some() {
                continue;
            }
            let destination = match &targets[step.target as usize].outcome {
                Ok(destination) => destination,
                Err(error) => {
                    step.outcome = Some(Err(error.clone()));
                    work::check_beyond_deadline()?;
                    continue;
                }
            };
            let fits = check_routing(step, &targets[step.target as usize]);
            if let Err(error) = check_reach(step, &destination.reach).and(fits) {
                // The operation was refused before it had an index or an id.
                (step.target, step.generated, step.outcome) = (NO_TARGET, None, Some(Err(error)));
                continue;
            }
            let shard = match check(step, destination).and_then(|()| {
                let id = id_of(step, ids);
                let shard = routing::shard_of(&destination.settings, id, routing_of(step, destination));
                destination.live.shard(shard)
            }) {
                Ok(shard) => shard,
                Err(error) => {
                    step.outcome = Some(Err(error));
                    continue;
                }
            };
            let place = match groups.iter().rposition(|group| Arc::ptr_eq(&group.shard, shard)) {
                Some(place) => place,
                None => {
                    groups.push(Group {
                        shard: shard.clone(),
                        // Most bulks write to one shard.
                        steps: Vec::with_capacity(if groups.is_empty() { step_count } else { 0 }),
                        source_bytes: 0,
                        unsynced: Vec::new(),
                    });
                    groups.len() - 1
                }
            };
            groups[place].steps.push(number);
            groups[place].source_bytes += step.operation.source.len() as u64;
        }
        Ok(groups)
    }

    fn write_group(
        &self,
        group: &mut Group,
        steps: &mut [Step<'_>],
        targets: &[Target],
        ids: &GeneratedIds,
        arena: &[u8],
    ) {
        let shard = group.shard.clone();
        let counters = &shard.counters;
        let _timer = Timer::start(&*self.environment.clock, &counters.bulk, 1);
        counters.bulk_bytes.fetch_add(group.source_bytes, std::sync::atomic::Ordering::Relaxed);
        let is_update = |step: &Step<'_>| step.operation.kind == OperationKind::Update;
        let numbers = std::mem::take(&mut group.steps);
        let mut rest = &numbers[..];
        while let Some(first) = rest.first() {
            if is_update(&steps[*first]) {
                rest = &rest[1..];
                // Sources that were requested stay in memory until the whole response is ready.
                match work::check_beyond_deadline() {
                    Ok(()) => self.write_update(group, &mut steps[*first], targets, ids, arena),
                    Err(stop) => steps[*first].outcome = Some(Err(stop.into())),
                }
                continue;
            }
            let count = rest.iter().take_while(|number| !is_update(&steps[**number])).count();
            let (run, behind) = rest.split_at(count.min(RUN_MAX));
            rest = behind;
            self.write_run(group, run, steps, targets, ids, arena);
            // Errors stay in memory until the whole response is ready.
            let is_failed = |number: &&usize| matches!(steps[**number].outcome, Some(Err(_)));
            let failed_count = run.iter().filter(is_failed).count() as u64;
            if failed_count > 0
                && let Err(stop) = work::hold_bytes(failed_count * ERROR_BYTES)
            {
                let error = RequestError::from(stop);
                rest.iter().for_each(|number| steps[*number].outcome = Some(Err(error.clone())));
                break;
            }
        }
        group.steps = numbers;
    }

    fn write_update(
        &self,
        group: &mut Group,
        step: &mut Step<'_>,
        targets: &[Target],
        ids: &GeneratedIds,
        arena: &[u8],
    ) {
        let destination = destination_of(step, targets);
        let routing = routing_of(step, destination);
        let body = match &step.ingested {
            Some(range) => &arena[range.clone()],
            None => step.operation.source,
        };
        let outcome = self.update(&group.shard, step.operation, body, id_of(step, ids), routing);
        step.outcome = Some(outcome.map(|(outcome, unsynced)| {
            Unsynced::add(&mut group.unsynced, unsynced);
            destination.counted(outcome)
        }));
    }

    /// Writes consecutive operations that do not depend on the existing document.
    fn write_run(
        &self,
        group: &mut Group,
        run: &[usize],
        steps: &mut [Step<'_>],
        targets: &[Target],
        ids: &GeneratedIds,
        arena: &[u8],
    ) {
        let write = |step| write_of(step, destination_of(step, targets), ids, arena);
        let writes: Vec<Write<'_>> = run.iter().map(|number| write(&steps[*number])).collect();
        let mut results = Vec::with_capacity(writes.len());
        // Buffers and the translog are charged where they grow, not to this request.
        let outcome = work::aside(|| group.shard.write(&writes, &mut results));
        drop(writes);
        match outcome {
            Ok(unsynced) => {
                Unsynced::add(&mut group.unsynced, unsynced);
                for (number, result) in run.iter().zip(results) {
                    let step = &mut steps[*number];
                    let destination = destination_of(step, targets);
                    step.outcome = Some(result.map(|written| destination.counted(outcome_of(written))));
                }
            }
            // The shard failed, so whatever it applied in memory must not be acknowledged.
            Err(error) => run.iter().for_each(|number| steps[*number].outcome = Some(Err(error.clone()))),
        }
    }

    fn refresh_groups(&self, groups: &[Group], steps: &mut [Step<'_>], policy: RefreshPolicy) {
        if policy == RefreshPolicy::None {
            return;
        }
        for group in groups.iter().filter(|group| !group.unsynced.is_empty()) {
            let forced = match policy {
                RefreshPolicy::WaitFor => self.wait_for_refresh(&group.shard),
                _ => work::aside(|| group.shard.refresh()).is_ok(),
            };
            for step in &group.steps {
                if let Some(Ok(outcome)) = &mut steps[*step].outcome {
                    outcome.forced_refresh = forced && outcome.result != WriteResult::Noop;
                }
            }
        }
    }
}

/// Estimated memory of an operation's error, including its item in the response.
const ERROR_BYTES: u64 = 2 << 10;
/// Number of operations that are assigned to shards between two checks. Any of them may get an error.
const STEPS_PER_CHECK: usize = 64;
/// How many operations are written at once.
const RUN_MAX: usize = 8192;

pub(in crate::node) fn runner_over<'p>(pipelines: &'p Pipelines, timestamp: &'p str) -> Runner<'p> {
    Runner::new(pipelines, timestamp)
}
