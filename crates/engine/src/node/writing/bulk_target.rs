//! Resolves the names in a bulk to indices, and creates or rolls over what is necessary.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use limber_access::Access;
use limber_mapping::RequestError;
use limber_work as work;

use super::bulk_step::{Destination, NO_TARGET, Reach, Step, Target};
use crate::api::*;
use crate::catalog::names::index_not_found;
use crate::catalog::{IndexMetadata, WriteTarget};
use crate::node::Node;
use crate::node::index::resize::unfinished;

impl Node {
    /// Resolves each name once, and creates missing indices. `only`: see [`Node::bulk_into`].
    ///
    /// # Errors
    /// Fails when the request is cancelled, or when there is no memory for the names and their errors.
    pub(in crate::node) fn find_targets(
        &self,
        steps: &mut [Step<'_>],
        only: Option<Only<'_>>,
    ) -> Result<Vec<Target>> {
        let mut targets = Targets::default();
        let access = limber_access::current();
        // The last write that was authorized, as a bulk mostly does the same to one index.
        let mut allowed: Option<(String, OperationKind)> = None;
        for step in steps.iter_mut() {
            if let Some(access) = &access
                && !allowed
                    .as_ref()
                    .is_some_and(|(name, kind)| *kind == step.operation.kind && name.as_str() == step.index())
            {
                work::check_beyond_deadline()?;
                if let Err(error) = self.check_write(access, step) {
                    (step.outcome, step.target) = (Some(Err(error)), NO_TARGET);
                    continue;
                }
                allowed = Some((step.index().to_owned(), step.operation.kind));
            }
            let asked = asked_of(step, only);
            if let Some(at) = targets.find(step.index(), asked) {
                step.target = at;
                continue;
            }
            let name = step.index();
            // Each operation may have a name of its own, for which an index is created.
            work::check_beyond_deadline()?;
            let outcome = self.destination(name, asked);
            let Asked { require_alias, require_data_stream, only, .. } = asked;
            let is_restricted = only.is_some();
            let target =
                Target { name: name.into(), require_alias, require_data_stream, is_restricted, outcome };
            let creates = may_create(step.operation);
            // The error of a delete must not apply to later writes, which may create the index.
            match target.outcome {
                Err(error) if !creates || step.outcome.is_some() => {
                    step.outcome.get_or_insert(Err(error));
                    step.target = NO_TARGET;
                }
                _ => {
                    step.target = targets.push(target);
                }
            }
        }
        Ok(targets.all)
    }

    /// Checks the authorization of one operation. Each operation of a bulk is authorized separately.
    fn check_write(&self, access: &Access, step: &Step<'_>) -> Result<()> {
        let catalog = self.catalog.load();
        let name = &*catalog.resolve_date_math(step.index())?;
        access.check_is_on_indices(name)?;
        catalog.check_may_touch(name)?;
        let (action, is_update) = match step.operation.kind {
            OperationKind::Index => ("indices:data/write/index:op_type/index", false),
            OperationKind::Create => ("indices:data/write/index:op_type/create", false),
            OperationKind::Update => ("indices:data/write/update", true),
            OperationKind::Delete => ("indices:data/write/delete", false),
        };
        let stream = catalog.backing.get(name).map(|stream| &**stream);
        if stream.is_none_or(|stream| access.check_action(action, [stream]).is_err()) {
            access.check_action(action, [name])?;
        }
        if is_update && let Ok(WriteTarget::Index { index, .. }) = catalog.write_target(name, false) {
            access.check_unlimited(&index.name, stream, NO_UPDATES)?;
        }
        Ok(())
    }

    fn destination(&self, name: &str, asked: Asked<'_>) -> Result<Destination> {
        let dated = self.catalog.load().resolve_date_math(name)?.into_owned();
        let name = dated.as_str();
        for _ in 0..3 {
            let catalog = self.catalog.load_full();
            match catalog.write_target(name, asked.require_alias)? {
                WriteTarget::Index { stream: None, .. } if asked.require_data_stream => {
                    return Err(RequestError::not_found(
                        "resource_not_found_exception",
                        format!(
                            "[require_data_stream] request flag is [true] and [{name}] is not a data stream"
                        ),
                    ));
                }
                WriteTarget::Index { stream: Some(stream), .. } if stream.rolls_on_write && asked.adds => {
                    self.roll_lazily(&stream.name)?;
                }
                WriteTarget::Index { index, alias_routing, stream } => {
                    let reach = match (stream, catalog.stream_of(&index.name)) {
                        (Some(stream), _) => Reach::Stream(stream),
                        (None, Some(stream)) => Reach::Backing(stream.clone()),
                        (None, None) => Reach::Index,
                    };
                    self.check_write_block(&index, &index.typed.blocks)?;
                    self.check_is_not_in_doubt(&index)?;
                    check_is_meant(&index, asked.only)?;
                    match self.live(&index) {
                        Ok(live) => return Ok(Destination::new(index, live, alias_routing, reach)),
                        // Since the name was looked up, the index was deleted or the alias moved, so it is
                        // looked up again.
                        Err(_) if self.is_outdated(&index) => continue,
                        Err(error) => return Err(error),
                    }
                }
                WriteTarget::Missing
                    if asked.require_data_stream && catalog.templates.makes_data_streams(name).is_none() =>
                {
                    return Err(not_required_data_stream(name));
                }
                WriteTarget::Missing if asked.creates => self.auto_create(name)?,
                WriteTarget::Missing => break,
            }
        }
        Err(index_not_found(name))
    }
}

/// The targets that were found.
#[derive(Default)]
struct Targets {
    all: Vec<Target>,
    /// Their positions by name. There are at most nine of a name.
    by_name: HashMap<Box<str>, Vec<u32>>,
}

impl Targets {
    /// Returns the position of the target of an operation that writes to `name`.
    fn find(&self, name: &str, asked: Asked<'_>) -> Option<u32> {
        let is_same = |at: &u32| {
            let target = &self.all[*at as usize];
            &*target.name == name
                && target.require_alias == asked.require_alias
                && target.require_data_stream == asked.require_data_stream
                && target.is_restricted == asked.only.is_some()
                && !(asked.adds && target.rolls_on_write())
        };
        // A bulk mostly writes to one index.
        let last = (self.all.len() as u32).checked_sub(1).filter(is_same);
        last.or_else(|| self.by_name.get(name)?.iter().copied().find(is_same))
    }

    /// Adds a target. Returns its position.
    fn push(&mut self, target: Target) -> u32 {
        let at = self.all.len() as u32;
        self.by_name.entry(target.name.clone()).or_default().push(at);
        self.all.push(target);
        at
    }
}

/// Source: `UpdateRequestInterceptor`.
const NO_UPDATES: &str = "Can't execute an update request if field or document level security is enabled";

/// What a bulk requires of the name that it writes to.
#[derive(Clone, Copy)]
struct Asked<'a> {
    /// A missing index may be created.
    creates: bool,
    /// New documents are added, so a data stream that is marked for rollover is rolled over.
    adds: bool,
    require_alias: bool,
    require_data_stream: bool,
    only: Option<Only<'a>>,
}

/// Returns what an operation requires of its name. `only`: see [`Node::bulk_into`].
fn asked_of<'a>(step: &Step<'_>, only: Option<Only<'a>>) -> Asked<'a> {
    let &BulkOperation { require_alias, require_data_stream, kind, .. } = step.operation;
    let is_sent_elsewhere = step.index() != &*step.operation.index;
    let only = only.filter(|only| !(is_sent_elsewhere && matches!(only, Only::Read(_))));
    let is_written = step.outcome.is_none();
    Asked {
        // If nothing will be written, nothing is created.
        creates: may_create(step.operation) && is_written && only.is_none(),
        adds: kind == OperationKind::Create && is_written,
        require_alias,
        require_data_stream,
        only,
    }
}

/// Whether an operation creates an index that is missing.
fn may_create(operation: &BulkOperation<'_>) -> bool {
    operation.kind != OperationKind::Delete || operation.version_type != VersionType::Internal
}

/// The indices that a bulk may write to, by their UUIDs: another index may have taken the name of one.
#[derive(Clone, Copy)]
pub(in crate::node) enum Only<'a> {
    /// The unfinished index that is being filled.
    Made(&'a str),
    /// Those whose documents were read. What a pipeline sends elsewhere may go there.
    Read(&'a HashSet<Arc<str>>),
}

/// Refuses writes to an index that is being filled from another one, because it is deleted if that fails, and
/// to one that is not meant.
fn check_is_meant(index: &IndexMetadata, only: Option<Only<'_>>) -> Result<()> {
    match only {
        Some(Only::Made(made)) if *index.uuid == *made => Ok(()),
        Some(Only::Made(_)) => Err(index_not_found(&index.name)),
        _ if index.is_unfinished => Err(unfinished(index)),
        Some(Only::Read(read)) if !read.contains(&index.uuid) => Err(index_not_found(&index.name)),
        _ => Ok(()),
    }
}

fn not_required_data_stream(name: &str) -> RequestError {
    crate::catalog::names::index_not_found_because(
        name,
        format!(
            "no such index [{name}] and [require_data_stream] request flag is [true] and [{name}] is not a data stream"
        ),
    )
}
