//! Searches a shard in parts, in parallel: "which documents are next for an idle thread?"
//!
//! This is only done where every document is visited in any case: for aggregations with the hits beside them,
//! exact counts, and hits in an order of which nothing is known before it is computed. Whatever the segments
//! know about themselves is read first, once. The remaining documents are divided into parts of a few
//! windows, which threads claim one after the other. Each thread has a sink of its own ([`Split`]) and keeps
//! its own best hits; both are merged afterwards. Each counts its own hits: once those of one thread exceed
//! the limit, so do those of all. The division depends on the shard only. Results do not depend on which
//! thread claimed which part, except for the last digit of a sum of doubles.

use std::sync::atomic::{AtomicBool, Ordering};

use limber_segment::{DocId, SegmentView};
use limber_store::Charge;
use limber_store::sync::Mutex;

use super::ShardRequest;
use super::run::{Progress, Run};
use super::sink::Sink;
use super::top::{self, Top};
use crate::collect::Hit;
use crate::context::workers;
use crate::error::{Error, Result};
use crate::matcher::WINDOW;
use crate::query::Whole;

/// Documents in a part. The cost of claiming a part is negligible beside searching it, and a million
/// documents are enough parts for 60 threads.
const PART_DOCS: u32 = 4 * WINDOW;

/// Provides sinks for parts of a shard.
pub(crate) trait Split: Sync {
    /// Runs `body` with a new sink, and keeps its results for the shard's sink. The sink is `None` if
    /// documents are only counted.
    fn with_sink(&self, body: &mut dyn FnMut(Option<&mut dyn Sink>) -> Result<()>) -> Result<()>;
}

/// For searches that only count documents.
pub(crate) struct CountOnly;

impl Split for CountOnly {
    fn with_sink(&self, body: &mut dyn FnMut(Option<&mut dyn Sink>) -> Result<()>) -> Result<()> {
        body(None)
    }
}

/// A range of documents of one segment, in whole windows.
#[derive(Debug, Clone, Copy)]
struct Part {
    segment: usize,
    start: DocId,
    end: DocId,
}

/// The parts that one thread claims, in order.
pub(super) struct Claims<'c> {
    take: Box<dyn FnMut() -> Option<Part> + 'c>,
    current: Option<Part>,
}

impl<'c> Claims<'c> {
    fn new(mut take: impl FnMut() -> Option<Part> + 'c) -> Claims<'c> {
        let current = take();
        Claims { take: Box::new(take), current }
    }

    /// Returns the first claimed document at or after `start`, which is the beginning of a window; `None`
    /// if no part of the segment is left.
    pub(super) fn next(&mut self, segment: usize, start: DocId) -> Option<DocId> {
        loop {
            let part = self.current.filter(|part| part.segment == segment)?;
            if start < part.end {
                return Some(start.max(part.start));
            }
            self.current = (self.take)();
        }
    }
}

/// The work that is left in the segments.
#[derive(Debug, Default)]
struct Plan {
    parts: Vec<Part>,
    /// Indexed by segment: the aggregations that still need its documents; `None` if all do.
    rests: Vec<Option<Vec<usize>>>,
}

/// The results of the threads, besides those in their sinks.
#[derive(Debug)]
struct Outcome {
    total: u64,
    is_lower_bound: bool,
    max_score: f32,
    timed_out: bool,
    /// The best hits of each thread, best first, and the charge for them; `None` if there is one
    /// already.
    hits: Vec<(Vec<Hit>, Option<Charge>)>,
    error: Option<Error>,
}

impl Outcome {
    fn new() -> Outcome {
        Outcome {
            total: 0,
            is_lower_bound: false,
            max_score: f32::NEG_INFINITY,
            timed_out: false,
            hits: Vec::new(),
            error: None,
        }
    }

    /// Adds what one thread has found. `charge`: for its hits.
    fn add(&mut self, run: Run<'_, '_, '_, '_>, charge: Option<Charge>) {
        self.total += run.total;
        self.is_lower_bound |= run.is_lower_bound;
        self.max_score = self.max_score.max(run.max_score);
        self.timed_out |= run.timed_out;
        self.hits.push((run.top.finish(run.shard), charge));
    }
}

impl<'a> Run<'a, '_, '_, '_> {
    /// Whether all documents are visited, so that neither their order nor the hits found before matter.
    pub(super) fn can_split(&self) -> bool {
        let visits_all = match self.count_max {
            0 => {
                let counts_all = self.sink.is_some() || self.count_limit == Some(u64::MAX);
                counts_all && !self.scoring && matches!(self.top, Top::Scores(_))
            }
            _ if self.sink.is_none() => self.ranks_all(),
            // The sink gets all documents. A search for groups may have to begin again, and a sink cannot.
            _ => !matches!(self.top, Top::Groups(_)),
        };
        visits_all
            && self.post_filter.is_none()
            && self.request.min_score.is_none()
            && self.request.terminate_after == 0
    }

    /// Whether every match must be looked at to find the best ones.
    fn ranks_all(&self) -> bool {
        match &self.top {
            Top::Scores(_) => {
                let node = &self.query.node;
                // Terms and phrases are counted first, or know how many documents they skip.
                let counts_all = self.count_limit == Some(u64::MAX) && node.by_score().is_none();
                counts_all || node.has_unbounded_scores()
            }
            // A field's best windows are visited first. In another order, far more documents would be among
            // the best for a while.
            Top::Fields(top) => top.sorts[0].has_unbounded_keys(),
            Top::Groups(_) => true,
        }
    }

    /// Does what [`Run::segments`] does, on as many threads as are idle. Returns the best hits if threads
    /// have kept them; otherwise they are in [`Run::top`].
    pub(super) fn segments_in_parts(
        &mut self,
        split: &dyn Split,
        wanted: Option<&ShardRequest<'_>>,
    ) -> Result<Option<Vec<Hit>>> {
        let plan = self.plan()?;
        if plan.parts.len() < 2 {
            let mut parts = plan.parts.clone().into_iter();
            self.claims = Some(Claims::new(move || parts.next()));
            self.claimed_parts(&plan)?;
            return Ok(None);
        }
        let Run { shard, request, context, query, count_limit, count_max, scoring, .. } = *self;
        let wanted = wanted.filter(|_| count_max > 0);
        // Without a sink, aggregations have been fed by another search, or there are none.
        let split: &dyn Split = if self.sink.is_some() { split } else { &CountOnly };
        let (outcome, is_over) = (Mutex::new(Outcome::new()), AtomicBool::new(false));
        let is_first = AtomicBool::new(true);
        workers::share(context.workers.as_deref(), plan.parts.len(), |next| {
            // The thread of the request is the first, and its hits are charged already.
            let is_helper = !is_first.swap(false, Ordering::Relaxed);
            let charge = wanted.filter(|_| is_helper).map(|wanted| top::charge(wanted, &context.ledger));
            // Without memory for its hits, a helper leaves the work to the others.
            let Ok(mut charge) = charge.transpose() else { return };
            let claim = || next().filter(|_| !is_over.load(Ordering::Relaxed)).map(|at| plan.parts[at]);
            let mut claims = Some(Claims::new(claim));
            if claims.as_ref().is_none_or(|claims| claims.current.is_none()) {
                return;
            }
            let searched = split.with_sink(&mut |sink| {
                let mut run =
                    Run { sink, claims: claims.take(), ..Run::new((shard, query), request, context) };
                run.count_limit = count_limit;
                if let Some(wanted) = wanted {
                    (run.count_max, run.scoring) = (count_max, scoring);
                    run.top = Top::of(shard, wanted)?;
                }
                run.claimed_parts(&plan)?;
                outcome.lock().add(run, charge.take());
                Ok(())
            });
            if let Err(error) = searched {
                is_over.store(true, Ordering::Relaxed);
                outcome.lock().error.get_or_insert(error);
            }
        });
        let Outcome { total, is_lower_bound, max_score, timed_out, hits, error } = outcome.into_inner();
        match error {
            // A document of several groups is refused if it is among the best. Those of a part need not be
            // among those of the shard.
            Some(Error::Request(_)) if matches!(self.top, Top::Groups(_)) => {
                return self.segments().map(|()| None);
            }
            Some(error) => return Err(error),
            None => {}
        }
        self.total += total;
        self.is_lower_bound |= is_lower_bound;
        self.max_score = self.max_score.max(max_score);
        self.timed_out |= timed_out;
        let (hits, _charges): (Vec<_>, Vec<_>) = hits.into_iter().unzip();
        Ok(wanted.map(|wanted| top::merged(wanted, hits.into_iter())))
    }

    /// Uses what is known of whole segments, and lists the remaining work.
    fn plan(&mut self) -> Result<Plan> {
        let shard = self.shard;
        let mut plan = Plan { parts: Vec::new(), rests: Vec::with_capacity(shard.segments.len()) };
        for (segment, view) in shard.segments.iter().enumerate() {
            let rest = self.take_known(segment, view)?;
            if rest.as_ref().is_none_or(|rest| !rest.is_empty()) {
                let part = |start| Part { segment, start, end: start.saturating_add(PART_DOCS) };
                plan.parts.extend((0..view.doc_count()).step_by(PART_DOCS as usize).map(part));
            }
            plan.rests.push(rest);
        }
        Ok(plan)
    }

    /// Lets the sink answer from what a segment knows about itself. Returns the aggregations that still
    /// need the segment's documents; `None` if all do.
    pub(super) fn take_known(&mut self, number: usize, view: &'a SegmentView) -> Result<Option<Vec<usize>>> {
        let Some(sink) = &mut self.sink else { return Ok(None) };
        sink.begin_segment(number)?;
        let is_counted_only = self.count_max == 0
            && self.post_filter.is_none()
            && self.request.min_score.is_none()
            && self.request.terminate_after == 0;
        if !is_counted_only || view.deleted_count() > 0 {
            return Ok(None);
        }
        let known = || self.query.node.known_count(view).map(|count| count.unwrap_or(0));
        let all = Some(Vec::new());
        let (rest, doc_count) = match self.query.node.whole() {
            Some(Whole::Everything) => match sink.collect_whole_segment()? {
                Some(rest) if rest.is_empty() => (all, known()?),
                rest => (rest, 0),
            },
            Some(Whole::NumberRange(path, range)) => match sink.count_numbers(path, range)? {
                true => (all, known()?),
                false => (None, 0),
            },
            Some(Whole::Places(path, shape)) => match sink.count_points(path, shape)? {
                Some(count) => (all, count),
                None => (None, 0),
            },
            None => (None, 0),
        };
        self.total += doc_count;
        Ok(rest)
    }

    /// Searches the claimed parts.
    fn claimed_parts(&mut self, plan: &Plan) -> Result<()> {
        let (shard, bases) = (self.shard, self.shard.bases());
        while let Some(part) = self.claims.as_ref().and_then(|claims| claims.current) {
            if let Some(sink) = &mut self.sink {
                sink.begin_segment(part.segment)?;
                if let Some(rest) = &plan.rests[part.segment] {
                    sink.feed_only(rest);
                }
            }
            let view = &shard.segments[part.segment];
            match self.search_segment(part.segment as u32, bases[part.segment], view) {
                Ok(Progress::GoOn) => {}
                Ok(Progress::Stop) => return Ok(()),
                Err(Error::TimedOut) => {
                    self.timed_out = true;
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            // The segment has no further match.
            if let Some(claims) = &mut self.claims {
                claims.next(part.segment, DocId::MAX);
            }
        }
        Ok(())
    }
}
