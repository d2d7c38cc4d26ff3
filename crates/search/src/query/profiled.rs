//! Measures how long a query and each inner query takes to find and score documents (`profile`).
//!
//! Every query of a tree is wrapped in a node that measures its steps, as in Elasticsearch's `ProfileWeight`
//! and `ProfileScorer`. The steps have Elasticsearch's names. A step that is executed for each document there
//! is executed for each window of 4,096 documents here. So the counts of `advance` and `match` are numbers of
//! windows, and those of `next_doc` and `score` are numbers of documents.

use std::sync::Arc;
use std::time::Instant;

use limber_segment::{DocId, Segment, SegmentView};
use serde_json::{Value, json};

use super::bound::BoundQuery;
use super::bound_node::BoundNode;
use crate::context::timers::Timers;
use crate::error::Result;
use crate::matcher::{Bits, BoxedMatcher, BoxedScorer, Matcher, Scorer, SegmentBits};
use crate::score::Explanation;

/// A step in the execution of a query.
#[derive(Debug, Clone, Copy)]
enum Step {
    CreateWeight,
    CountWeight,
    BuildScorer,
    NextDoc,
    Advance,
    Match,
    Score,
    ComputeMaxScore,
    SetMinCompetitiveScore,
}

/// In the order of [`Step`].
const STEPS: [&str; 9] = [
    "create_weight",
    "count_weight",
    "build_scorer",
    "next_doc",
    "advance",
    "match",
    "score",
    "compute_max_score",
    "set_min_competitive_score",
];

/// A step of Lucene's that does not exist here: bounds of scores are looked up together with the scores.
const NO_STEP: &str = "shallow_advance";

/// The execution times of one query on a shard.
#[derive(Debug)]
pub(crate) struct QueryTimes {
    class: &'static str,
    text: String,
    timers: Timers<{ STEPS.len() }>,
    children: Vec<Arc<QueryTimes>>,
}

impl QueryTimes {
    fn add(&self, step: Step, started: Instant, count: u64) {
        self.timers.add(step as usize, started, count);
    }

    fn measure<T>(&self, step: Step, body: impl FnOnce() -> T) -> T {
        self.timers.measure(step as usize, 1, body)
    }

    /// Returns the time of all steps, including those of inner queries.
    pub fn nanos(&self) -> u64 {
        self.timers.nanos()
    }

    /// Returns the time of the steps after the query was bound.
    pub fn nanos_of_search(&self) -> u64 {
        self.nanos() - self.timers.nanos_of(Step::CreateWeight as usize)
    }

    /// Renders the times as Elasticsearch does.
    pub fn to_json(&self) -> Value {
        let breakdown = self.timers.breakdown(&STEPS, NO_STEP);
        let mut shown = json!({
            "type": self.class,
            "description": self.text,
            "time_in_nanos": self.nanos(),
            "breakdown": breakdown,
        });
        if !self.children.is_empty() {
            shown["children"] = self.children.iter().map(|child| child.to_json()).collect();
        }
        shown
    }
}

/// A query that is measured. It has the name of the query that it wraps.
#[derive(Debug)]
struct ProfiledNode {
    inner: BoundQuery,
    times: Arc<QueryTimes>,
}

/// Wraps a query and its inner queries in nodes that measure them. Returns the execution times, with those of
/// the query itself first.
pub(crate) fn profiled(mut query: BoundQuery) -> (BoundQuery, Vec<Arc<QueryTimes>>) {
    let mut children = Vec::new();
    for part in query.node.parts_mut() {
        let (measured, times) = profiled(std::mem::replace(part, BoundQuery::nothing("")));
        *part = measured;
        children.extend(times);
    }
    // A filter that goes through the cache is not shown as a query of its own.
    if query.node.as_cached().is_some() || query.node.is_unseen() {
        return (query, children);
    }
    let times = Arc::new(QueryTimes {
        class: query.node.class(),
        text: query.text(),
        timers: Timers::default(),
        children,
    });
    times.timers.add_nanos(Step::CreateWeight as usize, query.bind_nanos, 1);
    let (name, more_like_this) = (query.name.take(), query.more_like_this.take());
    let node = ProfiledNode { inner: query, times: times.clone() };
    (BoundQuery { name, more_like_this, ..node.into() }, vec![times])
}

impl BoundNode for ProfiledNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let inner = self.times.measure(Step::BuildScorer, || self.inner.matcher(segment))?;
        Ok(Box::new(TimedMatcher { inner, times: &self.times }))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        let inner = self.times.measure(Step::BuildScorer, || self.inner.scorer(segment, is_known))?;
        Ok(Box::new(TimedScorer { inner, times: &self.times }))
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        self.inner.explain(segment, doc)
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
        self.times.measure(Step::CountWeight, || self.inner.node.known_count(view))
    }

    fn is_nothing(&self) -> bool {
        self.inner.is_nothing()
    }

    fn is_everything(&self) -> bool {
        self.inner.node.is_everything()
    }
}

struct TimedMatcher<'a> {
    inner: BoxedMatcher<'a>,
    times: &'a QueryTimes,
}

impl Matcher for TimedMatcher<'_> {
    fn cost(&self) -> u64 {
        self.inner.cost()
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        self.times.measure(Step::Advance, || self.inner.next(target))
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let before = bits.count();
        let started = Instant::now();
        self.inner.fill(start, bits)?;
        self.times.add(Step::NextDoc, started, u64::from(bits.count() - before));
        Ok(())
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.times.measure(Step::Match, || self.inner.restrict(start, bits))
    }
}

struct TimedScorer<'a> {
    inner: BoxedScorer<'a>,
    times: &'a QueryTimes,
}

impl Scorer for TimedScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        let started = Instant::now();
        self.inner.score(docs, sums)?;
        self.times.add(Step::Score, started, docs.len() as u64);
        Ok(())
    }

    fn max_score(&mut self, start: DocId, end: DocId) -> Result<f32> {
        self.times.measure(Step::ComputeMaxScore, || self.inner.max_score(start, end))
    }

    fn contenders(&self, score: f32, segment: &Segment) -> Result<Option<SegmentBits>> {
        self.times.measure(Step::SetMinCompetitiveScore, || self.inner.contenders(score, segment))
    }
}
