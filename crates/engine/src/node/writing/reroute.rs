//! Documents that a pipeline reroutes to another index: "which pipelines run next, and where does it end?"
//!
//! Source: Elasticsearch's `IngestService#executePipelines`. The pipelines of each index run in turn. No
//! index is visited twice, and a final pipeline must not reroute. Where a document makes up a new name each
//! time, Elasticsearch goes on without end; here it visits a limited number of indices.

use limber_mapping::RequestError;

use super::bulk::runner_over;
use super::bulk_step::Step;
use crate::catalog::date_math;
use crate::ingest::{ChangedMetadata, Metadata, Outcome, Pipelines};
use crate::node::Node;

/// How many indices a document may visit, as many as pipelines may call each other.
const INDEX_COUNT_MAX: usize = 100;

/// A document that was rerouted.
pub(in crate::node) struct Rerouted {
    pub changed: Box<ChangedMetadata>,
    pub source: Vec<u8>,
    /// The pipeline that rerouted it.
    pub by: String,
    /// How many pipelines of the last index had run by then.
    pub ran: usize,
    pub is_by_last: bool,
}

impl Node {
    /// Runs the pipelines of one index after the other, until none reroutes the document.
    ///
    /// # Errors
    /// `illegal_state_exception` for a final pipeline that changes the index, for an index that was visited
    /// before, and for too many indices. Errors of the pipelines are returned unchanged.
    pub(in crate::node) fn follow(
        &self,
        step: &mut Step<'_>,
        mut document: Rerouted,
        pipelines: &Pipelines,
        timestamp: &str,
    ) -> Arrival {
        let mut way = vec![step.operation.index.to_string()];
        loop {
            if let Err(error) = self.next_index(&mut document, &mut way) {
                return Arrival::Failed(error);
            }
            let of_index = self.pipelines_of(&way[way.len() - 1]);
            let has_last = of_index.last.is_some();
            let ids: Vec<String> = of_index.default.into_iter().chain(of_index.last).collect();
            if ids.is_empty() {
                return Arrival::Written(document);
            }
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let noted_before = step.pipelines.as_ref().map_or(0, Vec::len);
            if let Err(error) = step.note_pipelines(&ids) {
                return Arrival::Failed(error);
            }
            let metadata = metadata_of(&document.changed, step.operation.kind.as_str());
            let mut source = Vec::new();
            let outcome =
                runner_over(pipelines, timestamp).run(&ids, metadata, &document.source, &mut source);
            match outcome {
                Outcome::Changed(changed) => {
                    let changed = changed.unwrap_or(document.changed);
                    return Arrival::Written(Rerouted { changed, source, ..document });
                }
                Outcome::Dropped => return Arrival::Dropped,
                Outcome::Failed(error) => return Arrival::Failed(*error),
                Outcome::Rerouted { by, changed } => {
                    let is_by_last = has_last && by + 1 == ids.len();
                    if let Some(noted) = &mut step.pipelines {
                        noted.truncate(noted_before + by + 1);
                    }
                    document = Rerouted { changed, source, by: ids[by].to_owned(), ran: by + 1, is_by_last };
                }
            }
        }
    }

    /// Adds the index to which the document was rerouted.
    pub(in crate::node) fn next_index(
        &self,
        document: &mut Rerouted,
        way: &mut Vec<String>,
    ) -> Result<(), RequestError> {
        let from = way[way.len() - 1].clone();
        let to = document.changed.index.clone().unwrap_or_else(|| from.clone());
        let to = date_math::resolve(&to, self.now_millis() as i64)?;
        let id = document.changed.id.as_deref().unwrap_or("null");
        // Elasticsearch answers 500, but the pipelines are the user's.
        let refused = |reason| Err(RequestError::bad_request("illegal_state_exception", reason));
        if document.is_by_last {
            return refused(format!(
                "final pipeline [{}] can't change the target index (from [{from}] to [{to}]) for document [{id}]",
                document.by
            ));
        }
        if way.len() >= INDEX_COUNT_MAX {
            return refused(format!(
                "pipelines reroute document [{id}] to more than [{INDEX_COUNT_MAX}] indices, at last to [{to}]"
            ));
        }
        let is_known = way.contains(&to);
        way.push(to.clone());
        if is_known {
            return refused(format!(
                "index cycle detected while processing pipeline [{}] for document [{id}]: [{}]",
                document.by,
                way.join(", ")
            ));
        }
        document.changed.index = Some(to);
        Ok(())
    }
}

/// The outcome of a rerouted document.
pub(in crate::node) enum Arrival {
    Written(Rerouted),
    Dropped,
    Failed(RequestError),
}

fn metadata_of<'m>(changed: &'m ChangedMetadata, op_type: &'static str) -> Metadata<'m> {
    Metadata {
        index: changed.index.as_deref().unwrap_or_default(),
        id: changed.id.as_deref(),
        routing: changed.routing.as_deref(),
        version: changed.version,
        version_type: changed.version_type.as_deref(),
        if_seq_no: changed.if_seq_no,
        if_primary_term: changed.if_primary_term,
        op_type: Some(op_type),
    }
}
