//! A query whose scores scripts compute: an error of a script fails the shard.

use std::sync::Arc;

use limber_segment::{DocId, Segment, SegmentView};

use crate::error::Result;
use crate::matcher::{BoxedMatcher, BoxedScorer, Scorer, SegmentBits};
use crate::query::bound::BoundQuery;
use crate::query::bound_node::BoundNode;
use crate::score::{Explanation, ScriptFailure};

/// A query with the first error of its scripts. It has the name of the query that it wraps.
#[derive(Debug)]
struct GuardedNode {
    inner: BoundQuery,
    failure: Arc<ScriptFailure>,
}

/// Makes the scorers of a query return the errors of its scripts, if it has any.
pub(in crate::query) fn guarded(mut query: BoundQuery, failure: &Arc<ScriptFailure>) -> BoundQuery {
    if !failure.is_watched() {
        return query;
    }
    let (name, more_like_this) = (query.name.take(), query.more_like_this.take());
    let node = GuardedNode { inner: query, failure: failure.clone() };
    BoundQuery { name, more_like_this, ..node.into() }
}

impl BoundNode for GuardedNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        self.inner.matcher(segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        let inner = self.inner.scorer(segment, is_known)?;
        Ok(Box::new(GuardedScorer { inner, failure: &self.failure }))
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let explanation = self.inner.explain(segment, doc)?;
        self.failure.check()?;
        Ok(explanation)
    }

    fn has_unbounded_scores(&self) -> bool {
        self.inner.node.has_unbounded_scores()
    }

    fn class(&self) -> &'static str {
        self.inner.node.class()
    }

    fn text(&self) -> String {
        self.inner.text()
    }

    fn clause_text(&self) -> String {
        self.inner.node.clause_text()
    }

    fn matches_as(&self) -> Option<&BoundQuery> {
        Some(&self.inner)
    }

    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        vec![&mut self.inner]
    }

    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        self.inner.node.known_count(view)
    }

    fn is_nothing(&self) -> bool {
        self.inner.is_nothing()
    }

    fn is_everything(&self) -> bool {
        self.inner.node.is_everything()
    }

    fn is_unseen(&self) -> bool {
        true
    }
}

struct GuardedScorer<'a> {
    inner: BoxedScorer<'a>,
    failure: &'a ScriptFailure,
}

impl Scorer for GuardedScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        self.inner.score(docs, sums)?;
        Ok(self.failure.check()?)
    }

    fn max_score(&mut self, start: DocId, end: DocId) -> Result<f32> {
        self.inner.max_score(start, end)
    }

    fn contenders(&self, score: f32, segment: &Segment) -> Result<Option<SegmentBits>> {
        self.inner.contenders(score, segment)
    }
}
