//! Rescoring of a shard's best hits by a second query: "what is their order then?"
//!
//! Source: Lucene's `QueryRescorer`, Elasticsearch's `QueryRescorer` and `RescorePhase`.

use limber_mapping::RequestError;
use limber_segment::DocId;

use crate::collect::Hit;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::query::{self, BoundQuery};
use crate::request::{RescoreMode, SearchRequest};
use crate::values::sort_key::SortKey;

/// A `rescore` on one shard.
#[derive(Debug)]
pub(crate) struct BoundRescore {
    window: usize,
    pub query: BoundQuery,
    pub query_weight: f32,
    pub rescore_query_weight: f32,
    pub mode: RescoreMode,
}

impl BoundRescore {
    /// Binds the rescores of a request, in their order.
    ///
    /// # Errors
    /// Hits are not sorted by score alone; a window exceeds `index.max_rescore_window`; a query cannot be
    /// bound.
    pub fn bind_all(
        request: &SearchRequest,
        shard: &ShardSnapshot,
        context: &SearchContext,
    ) -> Result<Vec<BoundRescore>> {
        if !request.rescores.is_empty() && !request.is_by_score() {
            let reason = "Cannot use [sort] option in conjunction with [rescore].";
            return Err(RequestError::illegal_argument(reason).into());
        }
        let window_max = shard.settings.max_rescore_window;
        let mut bound = Vec::with_capacity(request.rescores.len());
        for rescore in &request.rescores {
            if rescore.window > window_max {
                return Err(RequestError::illegal_argument(format!(
                    "Rescore window [{}] is too large. It must be less than [{window_max}]. This prevents allocating massive heaps for \
                     storing the results to be rescored. This limit can be set by changing the [index.max_rescore_window] index level \
                     setting.",
                    rescore.window
                ))
                .into());
            }
            bound.push(BoundRescore {
                window: rescore.window as usize,
                query: query::bind_in(&rescore.query, shard, context)?,
                query_weight: rescore.query_weight,
                rescore_query_weight: rescore.rescore_query_weight,
                mode: rescore.mode,
            });
        }
        Ok(bound)
    }

    /// Changes scores and order of hits that are sorted by score. Hits beyond the window are treated as
    /// hits that the second query does not match.
    pub fn rescore(&self, shard: &ShardSnapshot, hits: &mut [Hit], context: &SearchContext) -> Result<()> {
        let (window, rest) = hits.split_at_mut(self.window.min(hits.len()));
        let second = self.second_scores(shard, window, context)?;
        for (hit, second) in window.iter_mut().zip(second) {
            let first = hit.score * self.query_weight;
            set_score(
                hit,
                match second {
                    Some(second) => self.mode.combine(first, second * self.rescore_query_weight),
                    None => first,
                },
            );
        }
        for hit in rest {
            set_score(hit, hit.score * self.query_weight);
        }
        hits.sort_by(|left, right| {
            right.score.total_cmp(&left.score).then(left.shard_doc.cmp(&right.shard_doc))
        });
        Ok(())
    }

    /// Returns the second query's score of each hit; `None` if the query does not match it.
    fn second_scores(
        &self,
        shard: &ShardSnapshot,
        hits: &[Hit],
        context: &SearchContext,
    ) -> Result<Vec<Option<f32>>> {
        let mut places: Vec<usize> = (0..hits.len()).collect();
        places.sort_unstable_by_key(|&place| (hits[place].segment, hits[place].doc));
        let mut scores = vec![None; hits.len()];
        for of_segment in places.chunk_by(|&left, &right| hits[left].segment == hits[right].segment) {
            context.check()?;
            let segment = &*shard.segments[hits[of_segment[0]].segment as usize].segment;
            let _charge = context
                .ledger
                .request
                .charge(self.query.bit_set_bytes(segment), "<bit sets of a rescore>")?;
            let docs: Vec<DocId> = of_segment.iter().map(|&place| hits[place].doc).collect();
            let docs = self.query.matching_docs(segment, &docs)?;
            let found = self.query.scores_of(segment, &docs)?;
            let mut found = docs.into_iter().zip(found).peekable();
            for &place in of_segment {
                scores[place] = found.next_if(|(doc, _)| *doc == hits[place].doc).map(|(_, score)| score);
            }
        }
        Ok(scores)
    }
}

fn set_score(hit: &mut Hit, score: f32) {
    hit.score = score;
    if let Some(key) = hit.keys.first_mut() {
        *key = SortKey::Score(score);
    }
}
