//! A running search of a shard.

use limber_segment::{DocId, NO_MORE_DOCS, SegmentView};
use limber_store::Charge;

use super::parts::Claims;
use super::sink::Sink;
use super::top::Top;
use crate::collect::{Contenders, SegmentTop, TopScores};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::matcher::{Bits, BoxedMatcher, BoxedScorer, WINDOW};
use crate::query::BoundQuery;
use crate::request::SearchRequest;

/// A running search of a shard: segment by segment, window by window.
pub(super) struct Run<'a, 'r, 's, 'c> {
    pub(super) shard: &'a ShardSnapshot,
    pub(super) request: &'r SearchRequest,
    pub(super) context: &'r SearchContext,
    pub(super) query: &'r BoundQuery,
    pub(super) post_filter: Option<&'r BoundQuery>,
    pub(super) scoring: bool,
    pub(super) sink: Option<&'s mut (dyn Sink + 's)>,
    pub(super) top: Top<'a>,
    pub(super) count_max: usize,
    pub(super) total: u64,
    /// More hits than this must be counted before any may be skipped; `None` if hits need not be counted.
    pub(super) count_limit: Option<u64>,
    pub(super) is_lower_bound: bool,
    pub(super) max_score: f32,
    pub(super) timed_out: bool,
    pub(super) terminated_early: bool,
    /// `None` if this run searches all documents.
    pub(super) claims: Option<Claims<'c>>,
    pub(super) docs: Vec<DocId>,
    pub(super) sums: Vec<f64>,
    pub(super) scores: Vec<f32>,
}

impl<'a, 'r, 's, 'c> Run<'a, 'r, 's, 'c> {
    /// Creates a run that visits all matching documents but neither keeps nor counts any.
    pub(super) fn new(
        (shard, query): (&'a ShardSnapshot, &'r BoundQuery),
        request: &'r SearchRequest,
        context: &'r SearchContext,
    ) -> Run<'a, 'r, 's, 'c> {
        Run {
            shard,
            request,
            context,
            query,
            post_filter: None,
            scoring: false,
            sink: None,
            top: Top::Scores(TopScores::new(0, None)),
            count_max: 0,
            total: 0,
            count_limit: None,
            is_lower_bound: false,
            max_score: f32::NEG_INFINITY,
            timed_out: false,
            terminated_early: false,
            claims: None,
            docs: Vec::with_capacity(WINDOW as usize),
            sums: Vec::new(),
            scores: Vec::new(),
        }
    }
}

/// A segment that is being searched.
pub(super) struct OpenSegment<'s> {
    pub(super) number: u32,
    /// Number of its first document in the shard.
    pub(super) base: u64,
    pub(super) view: &'s SegmentView,
    /// For a sort by fields: the best hits of this segment.
    fields: Option<SegmentTop<'s>>,
    pub(super) post_filter: Option<BoxedMatcher<'s>>,
    _sets: Charge,
}

/// The query, open on one segment.
struct Scan<'s> {
    matches: BoxedMatcher<'s>,
    /// Set if documents are scored.
    scorer: Option<BoxedScorer<'s>>,
    /// Documents whose scores can still be among the best.
    contenders: Contenders,
    /// The matches of a window.
    bits: Bits,
}

/// Whether to continue with the next segment.
#[derive(PartialEq)]
pub(super) enum Progress {
    GoOn,
    Stop,
}

impl<'a, 'r> Run<'a, 'r, '_, '_> {
    pub(super) fn segments(&mut self) -> Result<()> {
        let shard = self.shard;
        let bases = shard.bases();
        let in_order = self.sink.is_some() || self.request.terminate_after > 0;
        for number in self.top.order_of(&shard.segments, in_order)? {
            match self.segment(number as u32, bases[number], &shard.segments[number]) {
                Ok(Progress::GoOn) => {}
                Ok(Progress::Stop) => break,
                Err(Error::TimedOut) => {
                    self.timed_out = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn segment(&mut self, number: u32, base: u64, view: &'a SegmentView) -> Result<Progress> {
        if let Some(rest) = self.take_known(number as usize, view)? {
            if rest.is_empty() {
                return Ok(Progress::GoOn);
            }
            if let Some(sink) = &mut self.sink {
                sink.feed_only(&rest);
            }
        }
        self.search_segment(number, base, view)
    }

    /// Searches the documents of a segment, or those that this run has claimed.
    pub(super) fn search_segment(
        &mut self,
        number: u32,
        base: u64,
        view: &'a SegmentView,
    ) -> Result<Progress> {
        let filter_bytes = self.top.filter_bytes(&view.segment);
        let _charge = self.context.ledger.request.charge(filter_bytes, "<bit sets of a sort>")?;
        let mut open = self.open(number, base, view)?;
        open.fields = self.top.begin_segment(&view.segment, number, base)?;
        let outcome = self.windows(&mut open);
        self.top.end_segment(open.fields)?;
        outcome
    }

    /// Charges the bit sets of a segment and opens its post filter.
    fn open<'s>(&self, number: u32, base: u64, view: &'s SegmentView) -> Result<OpenSegment<'s>>
    where
        'a: 's,
        'r: 's,
    {
        let of_filter = self.post_filter.map_or(0, |filter| filter.bit_set_bytes(&view.segment));
        let bytes = self.query.bit_set_bytes(&view.segment) + of_filter;
        let sets = self.context.ledger.request.charge(bytes, "<bit sets of a query>")?;
        let post_filter = match self.post_filter {
            Some(filter) => Some(filter.matcher(&view.segment)?),
            None => None,
        };
        Ok(OpenSegment { number, base, view, fields: None, post_filter, _sets: sets })
    }

    /// Whether hits that cannot be among the best may be skipped.
    pub(super) fn may_skip(&self) -> bool {
        self.count_limit.is_none_or(|limit| self.total > limit)
            && self.sink.is_none()
            && !matches!(self.top, Top::Groups(_))
            && !(self.request.track_scores && matches!(self.top, Top::Fields(_)))
    }

    pub(super) fn windows(&mut self, open: &mut OpenSegment<'_>) -> Result<Progress> {
        let segment = &*open.view.segment;
        let ranked = match self.scoring && matches!(self.top, Top::Scores(_)) {
            true => self.query.ranked(segment, open.view.live.as_deref())?,
            false => None,
        };
        if let Some(ranked) = ranked {
            return self.ranked_windows(open, ranked);
        }
        if self.count_max == 0
            && self.needs_only_best(open)
            && let Some(counted) = self.query.stepped(segment, open.view.live.as_deref())?
        {
            return self.counted_windows(open, counted);
        }
        let in_order = self.sink.is_some()
            || self.request.terminate_after > 0
            || open.post_filter.is_some()
            || self.claims.is_some();
        let tiers = match &mut open.fields {
            Some(fields) if !in_order => fields.best_windows_first(segment.doc_count())?,
            _ => None,
        };
        let Some([first, rest]) = tiers else { return self.general_windows(open, None) };
        match self.general_windows(open, Some(&first))? {
            Progress::GoOn => self.general_windows(open, Some(&rest)),
            stop => Ok(stop),
        }
    }

    /// Whether there was a hit beyond `terminate_after`.
    pub(super) fn is_terminated(&self) -> bool {
        self.terminated_early
    }

    /// Searches windows. `windows`: only these, ascending; `None`: all.
    fn general_windows(&mut self, open: &mut OpenSegment<'_>, windows: Option<&[u32]>) -> Result<Progress> {
        let segment = &*open.view.segment;
        let mut windows = windows.map(|windows| windows.iter().copied());
        let mut scan = Scan {
            matches: self.query.matcher(segment)?,
            scorer: self.scoring.then(|| self.query.scorer(segment, true)).transpose()?,
            contenders: Contenders::default(),
            bits: Bits::default(),
        };
        let mut start = match &open.fields {
            // Documents before the page are only skipped if hits need not be counted: they count as hits.
            Some(fields) if self.may_skip() => fields.first_doc() / WINDOW * WINDOW,
            _ => 0,
        };
        loop {
            match self.claimed(open.number, start) {
                Some(claimed) => start = claimed,
                None => return Ok(Progress::GoOn),
            }
            if let Some(windows) = &mut windows {
                // The first window that has not been passed.
                match windows.find(|window| *window >= start / WINDOW) {
                    Some(window) => start = window * WINDOW,
                    None => return Ok(Progress::GoOn),
                }
            }
            self.context.check()?;
            let may_skip = self.may_skip();
            if may_skip && let Some(fields) = &mut open.fields {
                if fields.is_complete() {
                    self.is_lower_bound = true;
                    return Ok(Progress::GoOn);
                }
                fields.narrow(segment, &self.context.ledger)?;
            }
            if may_skip && windows.is_some() && self.cannot_compete(start, open, &mut scan.scorer)? {
                self.is_lower_bound = true;
                start += WINDOW;
                continue;
            }
            let next = scan.matches.next(start)?;
            if next == NO_MORE_DOCS || next >= segment.doc_count() {
                return Ok(Progress::GoOn);
            }
            if windows.is_some() && next - start >= WINDOW {
                start += WINDOW;
                continue;
            }
            start = next / WINDOW * WINDOW;
            if self.claimed(open.number, start) != Some(start) {
                continue;
            }
            if may_skip {
                self.is_lower_bound = true;
                if self.count_max == 0 {
                    return Ok(Progress::Stop);
                }
                if self.cannot_compete(start, open, &mut scan.scorer)? {
                    start += WINDOW;
                    continue;
                }
            }
            if self.matched_window(open, start, &mut scan, may_skip)? && self.is_terminated() {
                return Ok(Progress::Stop);
            }
            start += WINDOW;
        }
    }

    /// Delivers the documents of a window that match and may be wanted. Returns `false` if none can be.
    fn matched_window(
        &mut self,
        open: &mut OpenSegment<'_>,
        start: DocId,
        scan: &mut Scan<'_>,
        may_skip: bool,
    ) -> Result<bool> {
        let segment = &*open.view.segment;
        let Scan { matches, scorer, contenders, bits } = scan;
        if may_skip && let (Some(scorer), Some(threshold)) = (&*scorer, self.top.threshold()) {
            let least = threshold.next_up();
            contenders.refresh(segment, &self.context.ledger, || scorer.contenders(least, segment))?;
        }
        if contenders.exclude(start) {
            return Ok(false);
        }
        bits.clear();
        matches.fill(start, bits)?;
        contenders.mask(start, bits);
        if let Some(live) = &open.view.live {
            live.mask_window((start / WINDOW) as usize, &mut bits.0);
        }
        if may_skip && let Some(fields) = &mut open.fields {
            fields.mask(start, bits)?;
        }
        self.window(open, start, bits, scorer)?;
        Ok(true)
    }

    /// Returns the first document at or after `start` that this run may search in the segment.
    pub(super) fn claimed(&mut self, segment: u32, start: DocId) -> Option<DocId> {
        match &mut self.claims {
            Some(claims) => claims.next(segment as usize, start),
            None => Some(start),
        }
    }

    fn cannot_compete(
        &self,
        start: DocId,
        open: &OpenSegment<'_>,
        scorer: &mut Option<BoxedScorer<'_>>,
    ) -> Result<bool> {
        match (&self.top, &open.fields, scorer) {
            (Top::Fields(_), Some(fields), _) => fields.can_skip(start),
            (Top::Scores(top), _, Some(scorer)) => match top.threshold() {
                Some(threshold) => Ok(scorer.max_score(start, start + WINDOW)? <= threshold),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }

    fn window(
        &mut self,
        open: &mut OpenSegment<'_>,
        start: DocId,
        bits: &Bits,
        scorer: &mut Option<BoxedScorer<'_>>,
    ) -> Result<()> {
        let needs_docs = self.count_max > 0 || self.sink.is_some() || self.request.min_score.is_some();
        if !needs_docs && self.request.terminate_after == 0 {
            self.total += match &mut open.post_filter {
                None => u64::from(bits.count()),
                Some(filter) => {
                    let mut kept = bits.clone();
                    filter.restrict(start, &mut kept)?;
                    u64::from(kept.count())
                }
            };
            return Ok(());
        }
        self.docs.clear();
        bits.append_to(start, &mut self.docs);
        if self.docs.is_empty() {
            return Ok(());
        }
        if let Some(scorer) = scorer {
            self.score(scorer)?;
        }
        self.deliver(open, start)
    }

    /// Passes the documents of a window and their scores to the sink and the collector, and counts them.
    pub(super) fn deliver(&mut self, open: &mut OpenSegment<'_>, start: DocId) -> Result<()> {
        let hits = match &mut open.post_filter {
            Some(filter) => {
                let mut hits = Bits::of(&self.docs, start);
                filter.restrict(start, &mut hits)?;
                Some(hits)
            }
            None => None,
        };
        if self.request.terminate_after > 0 {
            self.drop_beyond_limit(start, hits.as_ref());
        }
        if self.docs.is_empty() {
            return Ok(());
        }
        if let Some(sink) = &mut self.sink {
            sink.collect(&self.docs, &self.scores)?;
        }
        if let Some(hits) = hits {
            let mut at = 0;
            let (docs, scores) = (&mut self.docs, &mut self.scores);
            for read in 0..docs.len() {
                if hits.contains(docs[read] - start) {
                    docs[at] = docs[read];
                    if let Some(score) = scores.get(read).copied() {
                        scores[at] = score;
                    }
                    at += 1;
                }
            }
            docs.truncate(at);
            scores.truncate(at);
        }
        self.total += self.docs.len() as u64;
        if !matches!(self.top, Top::Scores(_))
            && (self.request.track_scores || self.request.min_score.is_some())
        {
            self.max_score = self.scores.iter().copied().fold(self.max_score, f32::max);
        }
        self.top.collect(open.base, &mut open.fields, &self.docs, &self.scores)
    }

    /// Drops the documents of a window from the first hit on that is beyond `terminate_after`. `hits`: the
    /// documents that the post filter lets through, if there is one. The others are no hits, but aggregations
    /// see those before the end.
    ///
    /// Source: Elasticsearch's `QueryPhaseCollector#shouldCollectTopDocs`.
    fn drop_beyond_limit(&mut self, start: DocId, hits: Option<&Bits>) {
        let left = u64::from(self.request.terminate_after).saturating_sub(self.total);
        let is_hit = |doc: DocId| hits.is_none_or(|hits| hits.contains(doc - start));
        let mut places = (0..self.docs.len()).filter(|&at| is_hit(self.docs[at]));
        if let Some(end) = places.nth(left as usize) {
            self.terminated_early = true;
            self.docs.truncate(end);
            self.scores.truncate(end);
        }
    }

    /// Scores `self.docs`, and drops those below `min_score`.
    fn score(&mut self, scorer: &mut BoxedScorer<'_>) -> Result<()> {
        self.sums.clear();
        self.sums.resize(self.docs.len(), 0.0);
        scorer.score(&self.docs, &mut self.sums)?;
        self.scores.clear();
        self.scores.extend(self.sums.iter().map(|sum| *sum as f32));
        self.drop_below_min_score();
        Ok(())
    }

    pub(super) fn drop_below_min_score(&mut self) {
        if let Some(min_score) = self.request.min_score {
            let mut at = 0;
            for read in 0..self.docs.len() {
                if self.scores[read] >= min_score {
                    (self.docs[at], self.scores[at]) = (self.docs[read], self.scores[read]);
                    at += 1;
                }
            }
            self.docs.truncate(at);
            self.scores.truncate(at);
        }
    }
}
