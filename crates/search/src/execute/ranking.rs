//! Ranking alone: "which documents are the best, and how many match?"

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_segment::DocId;
use limber_work::Account;

use super::conductor::{as_carried_out, ask_shards, entered, reduce, with_runtime_mappings};
use super::query_phase::{Answered, QueryPhase};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::request::SearchRequest;
use crate::response::TotalHits;

/// A document that [`rank`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedDocument {
    /// The index of its shard among those that were searched.
    pub shard: usize,
    /// The index of its segment in the shard.
    pub segment: u32,
    /// Its number in the segment.
    pub doc: DocId,
    /// Its score; 0 if it was not scored.
    pub score: f32,
}

/// The answer of [`rank`].
#[derive(Debug)]
pub struct RankedDocuments {
    /// The number of documents that match; `None` under `track_total_hits: false`.
    pub total: Option<TotalHits>,
    /// The requested page of documents, best first.
    pub documents: Vec<RankedDocument>,
    /// The account of the ranking's memory.
    _account: Option<Arc<dyn Account>>,
}

/// Finds the best documents of all shards without fetching anything of them. Aggregations and suggestions of
/// the request are not computed.
///
/// # Errors
/// Those of [`crate::execute`] without partial results; the request combines several rankings (`retriever`).
pub fn rank(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<RankedDocuments> {
    if request.fusion.is_some() {
        let reason = "a ranking without hits cannot combine several retrievers";
        return Err(RequestError::illegal_argument(reason).into());
    }
    let shards = &*with_runtime_mappings(shards, request, context)?;
    let request = &*as_carried_out(request, None, false);
    let (mut ranking, account) =
        entered(shards, request, context, |context| ranked(shards, request, context))?;
    ranking._account = account;
    Ok(ranking)
}

fn ranked(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<RankedDocuments> {
    // A shard that fails fails the ranking, which has no place to report it.
    let (aggregations, cursor, is_scroll, allows_partial) = (None, None, false, false);
    let phase = QueryPhase { shards, request, aggregations, cursor, is_scroll, allows_partial, context };
    let (Answered { found, best, .. }, _, _charge) = ask_shards(&phase)?;
    let total = reduce(shards.len(), &found, best.first(), request).total;
    let documents = best.page(request.from() as usize).into_iter().map(|(shard, hit)| RankedDocument {
        shard,
        segment: hit.segment,
        doc: hit.doc,
        score: hit.score,
    });
    Ok(RankedDocuments { total, documents: documents.collect(), _account: None })
}
