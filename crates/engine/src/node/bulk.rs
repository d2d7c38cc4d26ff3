//! Bulk: many writes, grouped by shard, in one translog append and one shared fsync a shard.

use std::borrow::Cow;
use std::sync::Arc;

use limber_mapping::RequestError;

use super::Node;
use super::live::LiveIndex;
use crate::api::*;
use crate::catalog::{IndexMetadata, WriteTarget};
use crate::ingest::{ChangedMetadata, Metadata, Outcome, Pipelines, Runner};
use crate::shard::{Condition, Shard, ShardOperation, ShardOperationKind, Timer, Written, routing};
use crate::translog::LogPosition;

/// Longest `_id` in bytes.
const ID_BYTES_MAX: usize = 512;

/// Where the writes of one name go.
struct Target {
    name: Box<str>,
    require_alias: bool,
    outcome: Result<Destination>,
}

#[derive(Clone)]
struct Destination {
    metadata: Arc<IndexMetadata>,
    live: Arc<LiveIndex>,
    alias_routing: Option<String>,
}

/// One operation on its way.
struct Step<'r> {
    operation: &'r BulkOperation<'r>,
    /// Where the document came out of pipelines: its range in the bulk's arena.
    ingested: Option<std::ops::Range<usize>>,
    changed: Option<Box<ChangedMetadata>>,
    /// Number of a generated id.
    generated: Option<usize>,
    target: usize,
    outcome: Option<Result<WriteOutcome>>,
}

impl<'r> Step<'r> {
    fn index(&self) -> &str {
        match self.changed.as_ref().and_then(|changed| changed.index.as_deref()) {
            Some(index) => index,
            None => &self.operation.index,
        }
    }

    fn routing(&self) -> Option<&str> {
        match &self.changed {
            Some(changed) => changed.routing.as_deref(),
            None => self.operation.routing.as_deref(),
        }
    }

    fn given_id(&self) -> Option<&str> {
        match &self.changed {
            Some(changed) => changed.id.as_deref(),
            None => self.operation.id.as_deref(),
        }
    }
}

/// Steps of one shard, in the order of the request.
struct Group {
    target: usize,
    shard: Arc<Shard>,
    steps: Vec<usize>,
    written: Option<LogPosition>,
}

impl Node {
    /// Carries out the operations, in the order of each document's shard; never fails as a whole but for a cluster block.
    pub fn bulk(&self, request: BulkRequest<'_>) -> Result<BulkResponse> {
        let clock = &*self.environment.clock;
        let start_nanos = clock.monotonic_nanos();
        let description = format!("requests[{}]", request.operations.len());
        let _task = self.tasks.register("indices:data/write/bulk", description, false);
        let mut steps: Vec<Step<'_>> = request
            .operations
            .iter()
            .map(|operation| Step {
                operation,
                ingested: None,
                changed: None,
                generated: None,
                target: 0,
                outcome: None,
            })
            .collect();
        let mut arena = Vec::new();
        let ingest_took_ms = self.ingest(&mut steps, request.pipeline, &mut arena);
        let targets = self.find_targets(&mut steps);
        let ids = self.generate_ids(&mut steps);
        let mut groups = self.group(&mut steps, &targets, &ids);
        for group in &mut groups {
            self.write_group(group, &mut steps, &targets, &ids, &arena);
        }
        for group in &groups {
            if let Some(position) = group.written
                && let Err(error) = group.shard.sync(position)
            {
                // Nothing of it may be called written.
                for step in &group.steps {
                    if matches!(steps[*step].outcome, Some(Ok(_))) {
                        steps[*step].outcome = Some(Err(error.clone()));
                    }
                }
            }
        }
        self.refresh_groups(&groups, &mut steps, request.refresh);
        let items: Vec<BulkItem> = steps.into_iter().map(|step| into_item(step, &targets, &ids)).collect();
        let took_ms = clock.monotonic_nanos().saturating_sub(start_nanos) / 1_000_000;
        Ok(BulkResponse {
            took_ms,
            ingest_took_ms,
            errors: items.iter().any(|item| item.outcome.is_err()),
            items,
        })
    }

    /// One write of any kind (`_doc`, `_create`, `_update`, `DELETE`). For `Delete` of a missing document `Ok` with status 404.
    pub fn write(
        &self,
        operation: BulkOperation<'_>,
        refresh: RefreshPolicy,
        pipeline: Option<&str>,
    ) -> Result<WriteResponse> {
        let response = self.bulk(BulkRequest { operations: vec![operation], pipeline, refresh })?;
        let item = response.items.into_iter().next().ok_or_else(|| {
            RequestError::new(500, "illegal_state_exception", "a bulk of one operation answers one item")
        })?;
        Ok(WriteResponse { index: item.index, id: item.id, outcome: item.outcome? })
    }

    /// Runs pipelines over the documents that have any; answers the time that took.
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
        // The pipelines of the last name that was looked up: a bulk mostly writes to one index.
        let mut last: Option<(&str, IndexPipelines)> = None;
        for step in steps.iter_mut() {
            let operation = step.operation;
            if matches!(operation.kind, OperationKind::Delete) {
                continue;
            }
            if last.as_ref().is_none_or(|(name, _)| *name != operation.index) {
                last = Some((&operation.index, self.pipelines_of(&operation.index)));
            }
            let Some((_, of_index)) = &last else { continue };
            let asked = operation.pipeline.as_deref().or(default);
            let first = match asked {
                Some(name) => Some(name).filter(|name| *name != "_none"),
                None => of_index.default.as_deref(),
            };
            let ids: Vec<&str> = first.into_iter().chain(of_index.last.as_deref()).collect();
            if ids.is_empty() {
                continue;
            }
            if operation.kind == OperationKind::Update {
                // Elasticsearch runs them over the upsert document.
                if asked.is_some() {
                    let error = RequestError::unsupported("[pipeline] on an update");
                    step.outcome = Some(Err(error));
                }
                continue;
            }
            let runner = runner.get_or_insert_with(|| runner_over(&pipelines, &timestamp));
            self.ingest_one(step, runner, &ids, arena);
        }
        let ran = runner.is_some();
        drop(runner);
        ran.then(|| clock.monotonic_nanos().saturating_sub(start_nanos) / 1_000_000)
    }

    fn ingest_one<'p, 'r: 'p>(
        &self,
        step: &mut Step<'r>,
        runner: &mut Runner<'p>,
        ids: &[&str],
        arena: &mut Vec<u8>,
    ) {
        let operation = step.operation;
        let metadata = Metadata {
            index: &operation.index,
            id: operation.id.as_deref(),
            routing: operation.routing.as_deref(),
            version: operation.version.map(|version| version as i64),
            version_type: match operation.version_type {
                VersionType::Internal => None,
                VersionType::External => Some("external"),
                VersionType::ExternalGte => Some("external_gte"),
            },
            if_seq_no: operation.if_seq_no.map(|seq_no| seq_no as i64),
            if_primary_term: operation.if_primary_term.map(|term| term as i64),
            op_type: Some(operation.kind.as_str()),
        };
        let before = arena.len();
        match runner.run(ids, metadata, operation.source, arena) {
            Outcome::Changed(changed) => {
                step.ingested = Some(before..arena.len());
                step.changed = changed;
            }
            Outcome::Dropped => {
                step.outcome = Some(Ok(WriteOutcome {
                    result: WriteResult::Noop,
                    version: 0,
                    seq_no: 0,
                    primary_term: 0,
                    shards_total: 0,
                    shards_successful: 0,
                    forced_refresh: false,
                    source: None,
                }));
            }
            Outcome::Failed(error) => step.outcome = Some(Err(*error)),
        }
    }

    /// `default_pipeline` and `final_pipeline` of the index a name means, or would mean once it is created.
    fn pipelines_of(&self, name: &str) -> IndexPipelines {
        let catalog = self.catalog.load();
        match catalog.write_target(name, false) {
            Ok(WriteTarget::Index { index, .. }) => IndexPipelines {
                default: index.typed.default_pipeline.clone(),
                last: index.typed.final_pipeline.clone(),
            },
            Ok(WriteTarget::Missing) => {
                let settings = catalog.templates.resolve(name).settings;
                let text = |key: &str| {
                    settings
                        .get(key)
                        .and_then(|value| value.as_str())
                        .filter(|name| *name != "_none")
                        .map(str::to_owned)
                };
                IndexPipelines { default: text("index.default_pipeline"), last: text("index.final_pipeline") }
            }
            Err(_) => IndexPipelines::default(),
        }
    }

    /// Resolves the names, each once; creates what is missing.
    fn find_targets(&self, steps: &mut [Step<'_>]) -> Vec<Target> {
        let mut targets: Vec<Target> = Vec::new();
        for step in steps.iter_mut() {
            let require_alias = step.operation.require_alias;
            let is_same =
                |target: &Target| &*target.name == step.index() && target.require_alias == require_alias;
            // The last one first: a bulk mostly writes to one index.
            if let Some(at) = targets.iter().rposition(is_same) {
                step.target = at;
                continue;
            }
            let name = step.index();
            let creates = match step.operation.kind {
                OperationKind::Delete => step.operation.version_type != VersionType::Internal,
                _ => true,
            };
            let outcome = match &step.outcome {
                // Nothing will be written: nothing is created.
                Some(_) => self.destination(name, require_alias, false),
                None => self.destination(name, require_alias, creates),
            };
            // A delete must not decide for the writes that follow.
            let target = Target { name: name.into(), require_alias, outcome };
            match target.outcome {
                Err(error) if !creates || step.outcome.is_some() => {
                    step.outcome.get_or_insert(Err(error));
                    step.target = usize::MAX;
                }
                _ => {
                    targets.push(target);
                    step.target = targets.len() - 1;
                }
            }
        }
        targets
    }

    fn destination(&self, name: &str, require_alias: bool, creates: bool) -> Result<Destination> {
        for _ in 0..3 {
            match self.catalog.load().write_target(name, require_alias)? {
                WriteTarget::Index { index, alias_routing } => {
                    self.check_write_block(&index, &index.typed.blocks)?;
                    match self.live(&index) {
                        Ok(live) => return Ok(Destination { metadata: index, live, alias_routing }),
                        // Deleted and created anew between the two look-ups: once more.
                        Err(_) if !self.catalog.load().indices.contains_key(&index.name) => continue,
                        Err(error) => return Err(error),
                    }
                }
                WriteTarget::Missing if creates => self.auto_create(name)?,
                WriteTarget::Missing => break,
            }
        }
        Err(crate::catalog::names::index_not_found(name))
    }

    fn generate_ids(&self, steps: &mut [Step<'_>]) -> Vec<[u8; 20]> {
        let needs_id = |step: &Step<'_>| {
            step.outcome.is_none()
                && step.given_id().is_none()
                && matches!(step.operation.kind, OperationKind::Index | OperationKind::Create)
        };
        let count = steps.iter().filter(|step| needs_id(step)).count();
        let mut ids = Vec::with_capacity(count);
        if count > 0 {
            let mut run = self.flake_ids.reserve(count as u32, self.environment.clock.now_millis());
            for step in steps.iter_mut().filter(|step| needs_id(step)) {
                step.generated = Some(ids.len());
                ids.push(run.next());
            }
        }
        ids
    }

    /// Steps to shards; a step that cannot be written gets its error here.
    fn group(&self, steps: &mut [Step<'_>], targets: &[Target], ids: &[[u8; 20]]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (number, step) in steps.iter_mut().enumerate() {
            if step.outcome.is_some() {
                continue;
            }
            let destination = match &targets[step.target].outcome {
                Ok(destination) => destination,
                Err(error) => {
                    step.outcome = Some(Err(error.clone()));
                    continue;
                }
            };
            let shard = match check(step, destination).and_then(|()| {
                let settings = destination.live.core.settings.load();
                let id = id_of(step, ids);
                let shard = routing::shard_of(&settings, id, routing_of(step, destination));
                destination.live.shard(shard)
            }) {
                Ok(shard) => shard,
                Err(error) => {
                    step.outcome = Some(Err(error));
                    continue;
                }
            };
            match groups.iter_mut().rev().find(|group| Arc::ptr_eq(&group.shard, shard)) {
                Some(group) => group.steps.push(number),
                None => groups.push(Group {
                    target: step.target,
                    shard: shard.clone(),
                    steps: vec![number],
                    written: None,
                }),
            }
        }
        groups
    }

    fn write_group(
        &self,
        group: &mut Group,
        steps: &mut [Step<'_>],
        targets: &[Target],
        ids: &[[u8; 20]],
        arena: &[u8],
    ) {
        let Ok(destination) = &targets[group.target].outcome else { return };
        let copies = 1 + destination.live.core.settings.load().number_of_replicas;
        let shard = group.shard.clone();
        let counters = &shard.counters;
        let _timer = Timer::start(&*self.environment.clock, &counters.bulk, 1);
        let bytes: usize = group.steps.iter().map(|step| steps[*step].operation.source.len()).sum();
        counters.bulk_bytes.fetch_add(bytes as u64, std::sync::atomic::Ordering::Relaxed);
        let is_update = |step: &usize| steps[*step].operation.kind == OperationKind::Update;
        let runs: Vec<Vec<usize>> =
            group.steps.chunk_by(|a, b| !is_update(a) && !is_update(b)).map(<[usize]>::to_vec).collect();
        for run in runs {
            if let [only] = run[..]
                && steps[only].operation.kind == OperationKind::Update
            {
                let step = &steps[only];
                let routing = routing_of(step, destination);
                let outcome = self.update(&group.shard, step.operation, id_of(step, ids), routing);
                let (outcome, position) = match outcome {
                    Ok((outcome, position)) => (Ok(outcome), position),
                    Err(error) => (Err(error), None),
                };
                group.written = group.written.max(position);
                steps[only].outcome = Some(outcome);
                continue;
            }
            self.write_run(group, &run, steps, destination, ids, arena);
        }
        for step in &group.steps {
            if let Some(Ok(outcome)) = &mut steps[*step].outcome
                && outcome.result != WriteResult::Noop
            {
                (outcome.shards_total, outcome.shards_successful) = (copies, 1);
            }
        }
    }

    /// Consecutive operations that need no look at the document before.
    fn write_run(
        &self,
        group: &mut Group,
        run: &[usize],
        steps: &mut [Step<'_>],
        destination: &Destination,
        ids: &[[u8; 20]],
        arena: &[u8],
    ) {
        let operations: Vec<ShardOperation<'_>> = run
            .iter()
            .map(|number| {
                let step = &steps[*number];
                ShardOperation {
                    kind: match step.operation.kind {
                        OperationKind::Create => ShardOperationKind::Create,
                        OperationKind::Delete => ShardOperationKind::Delete,
                        _ => ShardOperationKind::Index,
                    },
                    id: id_of(step, ids),
                    is_generated: step.generated.is_some(),
                    routing: routing_of(step, destination),
                    source: match &step.ingested {
                        Some(range) => &arena[range.clone()],
                        None => step.operation.source,
                    },
                    condition: condition_of(step),
                }
            })
            .collect();
        let mut results = Vec::with_capacity(operations.len());
        let outcome = group.shard.write(&operations, &mut results);
        drop(operations);
        match outcome {
            Ok(position) => {
                group.written = group.written.max(position);
                for (number, result) in run.iter().zip(results) {
                    steps[*number].outcome = Some(result.map(outcome_of));
                }
            }
            // The shard failed: whatever was carried out in memory is not to be acknowledged.
            Err(error) => run.iter().for_each(|number| steps[*number].outcome = Some(Err(error.clone()))),
        }
    }

    fn refresh_groups(&self, groups: &[Group], steps: &mut [Step<'_>], policy: RefreshPolicy) {
        if policy == RefreshPolicy::None {
            return;
        }
        for group in groups.iter().filter(|group| group.written.is_some()) {
            let forced = match policy {
                RefreshPolicy::WaitFor => self.wait_for_refresh(&group.shard),
                _ => group.shard.refresh().is_ok(),
            };
            for step in &group.steps {
                if let Some(Ok(outcome)) = &mut steps[*step].outcome {
                    outcome.forced_refresh = forced && outcome.result != WriteResult::Noop;
                }
            }
        }
    }
}

#[derive(Debug, Default, Clone)]
struct IndexPipelines {
    default: Option<String>,
    last: Option<String>,
}

fn runner_over<'p>(pipelines: &'p Pipelines, timestamp: &'p str) -> Runner<'p> {
    Runner::new(pipelines, timestamp)
}

fn id_of<'a>(step: &'a Step<'_>, ids: &'a [[u8; 20]]) -> &'a str {
    match step.generated {
        Some(number) => std::str::from_utf8(&ids[number]).expect("base64 is ASCII"),
        None => step.given_id().unwrap_or(""),
    }
}

fn routing_of<'a>(step: &'a Step<'_>, destination: &'a Destination) -> Option<&'a str> {
    step.routing().or(destination.alias_routing.as_deref())
}

fn invalid(why: impl std::fmt::Display) -> RequestError {
    RequestError::new(400, "action_request_validation_exception", format!("Validation Failed: 1: {why};"))
}

/// What can be said of one operation without looking at the shard.
fn check(step: &Step<'_>, destination: &Destination) -> Result<()> {
    let operation = step.operation;
    match step.given_id() {
        Some("") => {
            return Err(RequestError::illegal_argument("if _id is specified it must not be empty"));
        }
        Some(id) if id.len() > ID_BYTES_MAX => {
            let message = format!(
                "id [{id}] is too long, must be no longer than {ID_BYTES_MAX} bytes but was: {}",
                id.len()
            );
            return Err(RequestError::illegal_argument(message));
        }
        None if step.generated.is_none() => {
            return Err(invalid("id is missing"));
        }
        _ => {}
    }
    if operation.if_seq_no.is_some() != operation.if_primary_term.is_some() {
        return Err(invalid(match operation.if_seq_no {
            Some(_) => "ifSeqNo is set, but primary term is [0]",
            None => "ifSeqNo is unassigned, but primary term is set",
        }));
    }
    match operation.version_type {
        VersionType::Internal if operation.version.is_some() => {
            return Err(invalid(
                "internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and \
                 `if_primary_term` instead",
            ));
        }
        VersionType::Internal => {}
        _ if operation.if_seq_no.is_some() => {
            return Err(invalid("compare and write operations can not use versioning"));
        }
        _ if operation.version.is_none() => {
            return Err(invalid("version must be set for version type [external]"));
        }
        _ if operation.kind == OperationKind::Create => {
            return Err(invalid("create operations only support internal versioning. use index instead"));
        }
        _ => {}
    }
    if operation.kind == OperationKind::Create && operation.if_seq_no.is_some() {
        return Err(invalid("create operations do not support compare and set. use index instead"));
    }
    if routing_of(step, destination).is_none() && destination.live.core.mapping.load().routing_required() {
        let (index, id) = (&destination.metadata.name, step.given_id().unwrap_or("null"));
        return Err(RequestError::new(
            400,
            "routing_missing_exception",
            format!("routing is required for [{index}]/[{id}]"),
        )
        .with("index_uuid", &*destination.metadata.uuid)
        .with("index", &**index));
    }
    Ok(())
}

fn condition_of(step: &Step<'_>) -> Condition {
    let operation = step.operation;
    let (seq_no, term) = match &step.changed {
        Some(changed) => (changed.if_seq_no.map(|n| n as u64), changed.if_primary_term.map(|n| n as u64)),
        None => (operation.if_seq_no, operation.if_primary_term),
    };
    let version = match &step.changed {
        Some(changed) => changed.version.map(|version| version as u64),
        None => operation.version,
    };
    match (seq_no, term, operation.version_type, version) {
        (Some(seq_no), Some(primary_term), ..) => Condition::SeqNo { seq_no, primary_term },
        (_, _, VersionType::External, Some(version)) => Condition::External(version),
        (_, _, VersionType::ExternalGte, Some(version)) => Condition::ExternalGte(version),
        _ => Condition::None,
    }
}

pub(super) fn outcome_of(written: Written) -> WriteOutcome {
    WriteOutcome {
        result: written.result,
        version: written.version,
        seq_no: written.seq_no,
        primary_term: written.primary_term,
        shards_total: 0,
        shards_successful: 0,
        forced_refresh: false,
        source: None,
    }
}

fn into_item(step: Step<'_>, targets: &[Target], ids: &[[u8; 20]]) -> BulkItem {
    let id: Box<str> = id_of(&step, ids).into();
    let index: Arc<str> = match targets.get(step.target).map(|target| &target.outcome) {
        Some(Ok(destination)) => destination.metadata.name.clone(),
        _ => Cow::Borrowed(step.index()).into(),
    };
    let outcome = step.outcome.unwrap_or_else(|| {
        Err(RequestError::new(500, "illegal_state_exception", "the operation was not carried out"))
    });
    BulkItem { kind: step.operation.kind, index, id, outcome }
}
