//! One operation of a bulk: where it goes, its id, and what can be checked before it is written.

use std::borrow::Cow;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_segment::WriteIdentity;
use limber_work as work;

use crate::api::*;
use crate::catalog::{DataStream, IndexMetadata, alias};
use crate::ingest::ChangedMetadata;
use crate::node::index::live::LiveIndex;
use crate::settings::IndexSettings;
use crate::shard::{Condition, GeneratedIds, Shard, Unsynced, Write, Written};
use crate::translog::{Operation, OperationType};

/// Elasticsearch's `Versions.MATCH_ANY`: the version of a document whose request gives none.
pub(in crate::node) const ANY_VERSION: i64 = -3;

/// The target of the writes to one name.
pub(in crate::node) struct Target {
    pub(in crate::node) name: Box<str>,
    pub(in crate::node) require_alias: bool,
    pub(in crate::node) require_data_stream: bool,
    /// Whether only certain indices are meant ([`Only`](super::bulk_target::Only)).
    pub(in crate::node) is_restricted: bool,
    pub(in crate::node) outcome: Result<Destination>,
}

impl Target {
    /// Whether it is a data stream that the next new document rolls over.
    pub(in crate::node) fn rolls_on_write(&self) -> bool {
        match self.outcome.as_ref().map(|destination| &destination.reach) {
            Ok(Reach::Stream(stream)) => stream.rolls_on_write,
            Ok(Reach::Index | Reach::Backing(_)) | Err(_) => false,
        }
    }
}

/// An index with its settings and mapping, read once per bulk and not for every operation.
pub(in crate::node) struct Destination {
    pub(in crate::node) metadata: Arc<IndexMetadata>,
    pub(in crate::node) live: Arc<LiveIndex>,
    pub(in crate::node) settings: Arc<IndexSettings>,
    pub(in crate::node) routing_required: bool,
    pub(in crate::node) alias_routing: Option<String>,
    pub(in crate::node) reach: Reach,
}

/// How an operation addresses a data stream, which decides what kinds of operations are allowed.
pub(in crate::node) enum Reach {
    /// The request did not address a data stream.
    Index,
    /// The request named the data stream or an alias of it.
    Stream(Arc<DataStream>),
    /// The request named a backing index.
    Backing(Arc<DataStream>),
}

impl Destination {
    pub(in crate::node) fn new(
        metadata: Arc<IndexMetadata>,
        live: Arc<LiveIndex>,
        alias_routing: Option<String>,
        reach: Reach,
    ) -> Destination {
        let settings = live.core.settings.load_full();
        let routing_required = live.core.mapping.load().routing_required();
        Destination { metadata, live, settings, routing_required, alias_routing, reach }
    }

    /// Sets the shard counts of an outcome: only the primary was written, out of `1 + replicas` copies.
    pub(in crate::node) fn counted(&self, outcome: WriteOutcome) -> WriteOutcome {
        WriteOutcome { shards_total: 1 + self.settings.number_of_replicas, shards_successful: 1, ..outcome }
    }
}

/// One operation of a bulk.
pub(in crate::node) struct Step<'r> {
    pub(in crate::node) operation: &'r BulkOperation<'r>,
    /// The range in the bulk's arena with the document from the pipelines, if there were any.
    pub(in crate::node) ingested: Option<std::ops::Range<usize>>,
    pub(in crate::node) changed: Option<Box<ChangedMetadata>>,
    /// The position among the generated ids, if the id is generated.
    pub(in crate::node) generated: Option<u32>,
    /// The id that a document of a time series gets from its dimensions and its timestamp.
    pub(in crate::node) series_id: Option<Box<str>>,
    /// Position among the bulk's targets; [`NO_TARGET`] if it has no destination.
    pub(in crate::node) target: u32,
    pub(in crate::node) outcome: Option<Result<WriteOutcome>>,
    /// The pipelines dropped the document, or failed.
    pub(in crate::node) ended_in_pipelines: bool,
    /// The pipelines that ran on the document, if the response names them.
    pub(in crate::node) pipelines: Option<Vec<String>>,
}

/// Stands for the id of a document that pipelines dropped, or on which they failed, before it got one.
/// Source: `TransportAbstractBulkAction`.
const NO_ID: &str = "auto-generated";

pub(in crate::node) const NO_TARGET: u32 = u32::MAX;

impl<'r> Step<'r> {
    pub(in crate::node) fn of(operation: &'r BulkOperation<'r>) -> Step<'r> {
        Step {
            operation,
            ingested: None,
            changed: None,
            generated: None,
            series_id: None,
            target: NO_TARGET,
            outcome: None,
            ended_in_pipelines: false,
            pipelines: operation.lists_pipelines.then(Vec::new),
        }
    }

    /// Notes whether the operation has ended. Called after the pipelines.
    pub(in crate::node) fn note_end(&mut self) {
        self.ended_in_pipelines = self.outcome.is_some();
    }

    /// Notes the pipelines that run on the document, if the response names them.
    pub(in crate::node) fn note_pipelines(&mut self, names: &[impl AsRef<str>]) -> Result<()> {
        if let Some(noted) = &mut self.pipelines {
            work::claim(names.iter().map(|name| name.as_ref().len() as u64 + 24).sum())?;
            noted.extend(names.iter().map(|name| name.as_ref().to_owned()));
        }
        Ok(())
    }

    pub(in crate::node) fn index(&self) -> &str {
        match self.changed.as_ref().and_then(|changed| changed.index.as_deref()) {
            Some(index) => index,
            None => &self.operation.index,
        }
    }

    pub(in crate::node) fn routing(&self) -> Option<&str> {
        match &self.changed {
            Some(changed) => changed.routing.as_deref(),
            None => self.operation.routing.as_deref(),
        }
    }

    pub(in crate::node) fn given_id(&self) -> Option<&str> {
        match (&self.series_id, &self.changed) {
            (Some(id), _) => Some(id),
            (None, Some(changed)) => changed.id.as_deref(),
            (None, None) => self.operation.id.as_deref(),
        }
    }
}

/// The steps for one shard, in the order of the request. The request may have named its index in several
/// ways, each with a routing of its own.
pub(in crate::node) struct Group {
    pub(in crate::node) shard: Arc<Shard>,
    pub(in crate::node) steps: Vec<usize>,
    /// Total size of the sources, in bytes.
    pub(in crate::node) source_bytes: u64,
    /// What must be durable before the steps are acknowledged. There are several if the shard was opened
    /// again in between.
    pub(in crate::node) unsynced: Vec<Unsynced>,
}

pub(in crate::node) fn id_of<'a>(step: &'a Step<'_>, ids: &'a GeneratedIds) -> &'a str {
    match step.generated {
        Some(number) => ids.get(number),
        None => step.given_id().unwrap_or(""),
    }
}

/// Returns the destination of a step in a group.
pub(in crate::node) fn destination_of<'t>(step: &Step<'_>, targets: &'t [Target]) -> &'t Destination {
    let outcome = &targets[step.target as usize].outcome;
    outcome.as_ref().expect("only steps with a destination are in a group")
}

pub(in crate::node) fn routing_of<'a>(step: &'a Step<'_>, destination: &'a Destination) -> Option<&'a str> {
    step.routing().or(destination.alias_routing.as_deref())
}

pub(in crate::node) fn invalid(why: impl std::fmt::Display) -> RequestError {
    RequestError::validation([why])
}

/// Checks one operation as far as possible without the shard.
pub(in crate::node) fn check(step: &Step<'_>, destination: &Destination) -> Result<()> {
    let operation = step.operation;
    match step.given_id() {
        Some("") => {
            return Err(RequestError::illegal_argument("if _id is specified it must not be empty"));
        }
        // A pipeline may have set it.
        Some(id) => fault_of_id(id).map_or(Ok(()), |fault| Err(invalid(fault)))?,
        None if step.generated.is_none() => {
            return Err(invalid("id is missing"));
        }
        None => {}
    }
    let faults = operation.faults();
    if !faults.is_empty() {
        return Err(RequestError::validation(faults));
    }
    if destination.routing_required && routing_of(step, destination).is_none() {
        let (index, id) = (&destination.metadata.name, step.given_id().unwrap_or("null"));
        return Err(RequestError::bad_request(
            "routing_missing_exception",
            format!("routing is required for [{index}]/[{id}]"),
        )
        .with("index_uuid", &*destination.metadata.uuid)
        .with("index", &**index));
    }
    Ok(())
}

/// Checks that an operation has no other routing than the alias that it names.
pub(in crate::node) fn check_routing(step: &Step<'_>, target: &Target) -> Result<()> {
    let Ok(destination) = &target.outcome else { return Ok(()) };
    alias::index_routing(&target.name, destination.alias_routing.as_deref(), step.routing()).map(drop)
}

/// Checks that a data stream accepts an operation: new documents only by its name, changes to existing ones
/// only by their backing index.
///
/// Source: Elasticsearch's `TransportBulkAction#prohibitCustomRoutingOnDataStream`,
/// `#prohibitAppendWritesInBackingIndices`.
pub(in crate::node) fn check_reach(step: &Step<'_>, reach: &Reach) -> Result<()> {
    let kind = step.operation.kind;
    match reach {
        Reach::Index => Ok(()),
        Reach::Stream(_) if kind != OperationKind::Create => Err(RequestError::illegal_argument(
            "only write ops with an op_type of create are allowed in data streams",
        )),
        Reach::Stream(stream) if step.routing().is_some() && !stream.allow_custom_routing => {
            Err(RequestError::illegal_argument(format!(
                "index request targeting data stream [{}] specifies a custom routing but the [allow_custom_routing] setting was not \
                 enabled in the data stream's template.",
                stream.name
            )))
        }
        Reach::Stream(_) => Ok(()),
        Reach::Backing(stream) => {
            let which = match kind {
                OperationKind::Create => "op_type=create",
                OperationKind::Index if matches!(condition_of(step), Condition::SeqNo { .. }) => {
                    return Ok(());
                }
                OperationKind::Index => "op_type=index and no if_primary_term and if_seq_no set",
                OperationKind::Update | OperationKind::Delete => return Ok(()),
            };
            Err(RequestError::illegal_argument(format!(
                "index request with {which} targeting backing indices is disallowed, target corresponding data stream [{}] instead",
                stream.name
            )))
        }
    }
}

/// Returns the version that a pipeline has set, and how it is compared; `None` means any version.
///
/// # Errors
/// Fails for an unknown type, a negative version, and for a version with the internal type, which no request
/// can have.
pub(in crate::node) fn version_of(changed: &ChangedMetadata) -> Result<(VersionType, Option<u64>)> {
    let unsigned = |version: i64| {
        u64::try_from(version).map_err(|_| {
            RequestError::illegal_argument(format!("illegal version value [{version}] from a pipeline"))
        })
    };
    let version = changed.version.filter(|version| *version != ANY_VERSION).map(unsigned).transpose()?;
    let version_type = VersionType::parse_or_default(changed.version_type.as_deref())?;
    if version_type == VersionType::Internal && version.is_some() {
        return Err(RequestError::unsupported("[_version] from a pipeline with the version type [internal]"));
    }
    Ok((version_type, version))
}

pub(in crate::node) fn condition_of(step: &Step<'_>) -> Condition {
    let operation = step.operation;
    let (seq_no, term) = match &step.changed {
        Some(changed) => (changed.if_seq_no.map(|n| n as u64), changed.if_primary_term.map(|n| n as u64)),
        None => (operation.if_seq_no, operation.if_primary_term),
    };
    let (version_type, version) = match step.changed.as_deref().map(version_of) {
        Some(Ok(given)) => given,
        Some(Err(_)) | None => (operation.version_type, operation.version),
    };
    match (seq_no, term, version_type, version) {
        (Some(seq_no), Some(primary_term), ..) => Condition::SeqNo { seq_no, primary_term },
        (_, _, VersionType::External, Some(version)) => Condition::External(version),
        (_, _, VersionType::ExternalGte, Some(version)) => Condition::ExternalGte(version),
        _ => Condition::None,
    }
}

/// Returns the write for the shard, for any operation but an update.
pub(in crate::node) fn write_of<'a>(
    step: &'a Step<'_>,
    destination: &'a Destination,
    ids: &'a GeneratedIds,
    arena: &'a [u8],
) -> Write<'a> {
    let kind = match step.operation.kind {
        OperationKind::Delete => OperationType::Delete,
        OperationKind::Index | OperationKind::Create | OperationKind::Update => OperationType::Index,
    };
    let source = match &step.ingested {
        Some(range) => &arena[range.clone()],
        None => step.operation.source,
    };
    let operation = Operation { kind, id: id_of(step, ids), routing: routing_of(step, destination), source };
    Write {
        operation,
        condition: condition_of(step),
        must_create: step.operation.kind == OperationKind::Create,
        is_generated: step.generated.is_some(),
        templates: step.operation.dynamic_templates.as_deref(),
    }
}

pub(in crate::node) fn outcome_of(written: Written) -> WriteOutcome {
    WriteOutcome::new(written.result, written.identity)
}

/// Returns the outcome of a document that a pipeline dropped.
pub(in crate::node) fn dropped() -> WriteOutcome {
    WriteOutcome::new(WriteResult::Noop, WriteIdentity::default())
}

/// Returns the items of the response, with the names of the indices that they refer to.
pub(in crate::node) fn into_items<'r>(
    steps: Vec<Step<'r>>,
    targets: Vec<Target>,
    ids: &GeneratedIds,
) -> (Vec<Arc<str>>, Vec<BulkItem<'r>>) {
    let mut indices: Vec<Arc<str>> = targets
        .into_iter()
        .map(|target| match target.outcome {
            Ok(destination) => destination.metadata.name.clone(),
            Err(_) => target.name.into(),
        })
        .collect();
    let items = steps
        .into_iter()
        .map(|step| {
            let index = match step.target {
                NO_TARGET => {
                    indices.push(step.index().into());
                    indices.len() - 1
                }
                target => target as usize,
            };
            into_item(step, index, ids)
        })
        .collect();
    (indices, items)
}

fn into_item<'r>(step: Step<'r>, index: usize, ids: &GeneratedIds) -> BulkItem<'r> {
    let no_id = if step.ended_in_pipelines { NO_ID } else { "" };
    let id = match (step.generated, step.changed) {
        _ if step.series_id.is_some() => {
            ItemId::Given(Cow::Owned(step.series_id.unwrap_or_default().into_string()))
        }
        (Some(number), _) => ItemId::Generated(ids.bytes(number)),
        (None, Some(changed)) => ItemId::Given(Cow::Owned(changed.id.unwrap_or_else(|| no_id.to_owned()))),
        (None, None) => ItemId::Given(Cow::Borrowed(step.operation.id.as_deref().unwrap_or(no_id))),
    };
    let mut outcome = step.outcome.unwrap_or_else(|| {
        Err(RequestError::internal("illegal_state_exception", "the operation was not carried out"))
    });
    if let Ok(outcome) = &mut outcome
        && outcome.result != WriteResult::Noop
    {
        outcome.pipelines = step.pipelines;
    }
    BulkItem { kind: step.operation.kind, index, id, outcome }
}
