//! The query phase on one shard: "how many hits are there, and which are the best?"

mod parts;

use std::ops::RangeInclusive;
use std::time::Instant;

use limber_segment::{DocId, NO_MORE_DOCS, SegmentView};
use limber_store::Charge;

use crate::shard_hits::{ShardHits, ShardProfile};
use parts::Claims;
pub(crate) use parts::{CountOnly, Split};

use crate::bound_search::{bind_post_filter, bind_query};
use crate::collect::{Bar, BoundCollapse, BoundSort, Contenders, SegmentTop, Tie, TopFields, TopGroups, TopScores};
use crate::sort_key::SortKey;
use crate::context::{SearchContext, ShardPlace, ShardSnapshot};
use crate::error::{Error, Result};
use crate::geo::Shape;
use crate::matcher::{Bits, BoxedMatcher, BoxedScorer, Disjunction, WINDOW};
use crate::query::{BoundQuery, cache_filters, profiled};
use crate::request::{SearchRequest, TrackTotalHits};
use crate::rescore::BoundRescore;


/// Where a page starts: after these keys; documents of equal keys as [`Tie`] says.
pub(crate) type After = Option<(Box<[SortKey]>, Tie)>;

/// Receives every matching document of a shard, post filter aside: the seam to aggregations.
pub(crate) trait Sink {
    /// Documents of the segment at this place of the snapshot follow.
    fn begin_segment(&mut self, number: usize) -> Result<()>;
    /// Takes all documents of the begun segment at once, none of which is deleted, as far as that is possible: answers the aggregations that are
    /// still to be fed. `None`: not possible, nothing was done.
    fn collect_whole_segment(&mut self) -> Result<Option<Vec<usize>>> {
        Ok(None)
    }
    /// Of the begun segment, only these aggregations are to be fed.
    fn feed_only(&mut self, _rest: &[usize]) {}
    /// Takes all documents of the begun segment, none of which is deleted, whose one value of `path` lies in the range. `false`: not
    /// possible, nothing was done.
    fn count_numbers(&mut self, _path: &str, _range: RangeInclusive<i64>) -> Result<bool> {
        Ok(false)
    }
    /// Takes all documents of the begun segment, none of which is deleted, whose one place of `path` lies in the shape; how many they are.
    /// `None`: not possible, nothing was done.
    fn count_places(&mut self, _path: &str, _shape: &Shape) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Ascending documents of one window.
    fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()>;
    /// Whether scores are needed.
    fn needs_scores(&self) -> bool;
}

/// What a shard is asked for.
pub(crate) struct ShardRequest<'r> {
    pub request: &'r SearchRequest,
    /// Best hits wanted from each shard.
    pub count_max: usize,
    pub sorts: Vec<BoundSort>,
    pub after: After,
    /// What the shards that were searched before have found.
    pub bar: Option<Bar>,
    /// Hits counted there.
    pub counted: u64,
    pub place: ShardPlace,
    /// Where parts of the shard may be searched side by side.
    pub split: Option<&'r dyn Split>,
}

/// Runs the query phase. Errors belong to this shard alone, save cancellation.
pub(crate) fn search(
    shard: &ShardSnapshot,
    wanted: ShardRequest<'_>,
    sink: Option<&mut dyn Sink>,
    context: &SearchContext,
) -> Result<ShardHits> {
    let request = wanted.request;
    let query = bind_query(shard, request, wanted.place, context)?;
    let post_filter = bind_post_filter(shard, request, context)?;
    let mut inner_hits = Vec::new();
    query.inner_hits(&mut inner_hits)?;
    post_filter.as_ref().map_or(Ok(()), |filter| filter.inner_hits(&mut inner_hits))?;
    query.joined_hits(&mut Vec::new())?;
    let rescores = BoundRescore::bind_all(request, shard, context)?;
    let sorts = wanted.sorts.clone();
    let needs_score_keys = sorts.iter().any(BoundSort::needs_scores);
    let scoring = (sorts.is_empty() && wanted.count_max > 0)
        || needs_score_keys
        || request.track_scores
        || request.min_score.is_some()
        || sink.as_ref().is_some_and(|sink| sink.needs_scores());
    let rewrite_started = Instant::now();
    let query = cache_filters(query, shard, !scoring);
    let rewrite_nanos = rewrite_started.elapsed().as_nanos() as u64;
    let (query, queries) = if context.profiles { profiled(query) } else { (query, Vec::new()) };
    let search_started = Instant::now();
    let mut known_total = match request.min_score.is_none() && post_filter.is_none() {
        true => query.known_count(shard)?,
        false => None,
    };
    let mut sink = sink;
    let (mut timed_out_first, wants_hits) = (false, wanted.count_max > 0 || post_filter.is_some());
    if wants_hits
        && query.node.is_quick()
        && request.min_score.is_none()
        && request.terminate_after == 0
        && let Some(sink) = sink.take_if(|sink| !sink.needs_scores())
    {
        let fed = feed(shard, &wanted, &query, sink, context)?;
        timed_out_first = fed.timed_out;
        if post_filter.is_none() && !fed.timed_out {
            known_total = Some(fed.total);
        }
    }
    let mut run = Run {
        post_filter: post_filter.as_ref(),
        scoring,
        sink,
        top: Top::of(shard, &wanted)?,
        count_max: wanted.count_max,
        count_limit: match (known_total, request.track_total_hits) {
            (Some(_), _) | (None, TrackTotalHits::None) => None,
            (None, TrackTotalHits::UpTo(limit)) => u64::from(limit).checked_sub(wanted.counted),
            (None, TrackTotalHits::Exact) => Some(u64::MAX),
        },
        ..Run::new((shard, &query), request, context)
    };
    let is_needless = run.sink.is_none() && wanted.count_max == 0 && known_total.is_some();
    match wanted.split.filter(|_| run.can_split()) {
        _ if is_needless => {}
        Some(split) => run.segments_in_parts(split)?,
        None => run.segments()?,
    }
    let search_nanos = search_started.elapsed().as_nanos() as u64;
    let Run { top, total, is_lower_bound, max_score, timed_out, terminated_early, .. } = run;
    let mut hits = match top {
        Top::Scores(top) => top.finish(&shard.bases()),
        Top::Fields(top) => top.finish(),
        Top::Groups(top) => top.finish(),
    };
    for rescore in &rescores {
        rescore.rescore(shard, &mut hits, context)?;
    }
    let (total, is_lower_bound) = match known_total {
        Some(known) => (known, false),
        None => (total, is_lower_bound),
    };
    Ok(ShardHits {
        hits,
        sorts,
        total,
        is_lower_bound,
        max_score,
        timed_out: timed_out || timed_out_first,
        terminated_early,
        query,
        post_filter,
        rescores,
        profile: context.profiles.then(|| ShardProfile {
            queries,
            rewrite_nanos,
            search_nanos,
            aggregations: Vec::new(),
        }),
    })
}

/// What feeding a sink came to.
struct Fed {
    total: u64,
    timed_out: bool,
}

/// Feeds the sink alone. Aggregations see all documents and hits are the best of them: where documents are found quickly, two searches, each
/// in its fastest way, take less than one that has to do both for every document.
fn feed(
    shard: &ShardSnapshot,
    wanted: &ShardRequest<'_>,
    query: &BoundQuery,
    sink: &mut dyn Sink,
    context: &SearchContext,
) -> Result<Fed> {
    let mut run = Run { sink: Some(sink), ..Run::new((shard, query), wanted.request, context) };
    match wanted.split.filter(|_| run.can_split()) {
        Some(split) => run.segments_in_parts(split)?,
        None => run.segments()?,
    }
    Ok(Fed { total: run.total, timed_out: run.timed_out })
}

enum Top<'a> {
    Scores(TopScores),
    Fields(TopFields),
    Groups(Box<TopGroups<'a>>),
}

impl<'a> Top<'a> {
    /// # Errors
    /// Those of [`BoundCollapse::bind`].
    fn of(shard: &'a ShardSnapshot, wanted: &ShardRequest<'_>) -> Result<Top<'a>> {
        let ShardRequest { request, count_max, sorts, after, bar, .. } = wanted;
        if let Some(collapse) = &request.collapse {
            let collapse = BoundCollapse::bind(collapse, request, shard)?;
            let top = TopGroups::new(sorts.clone(), collapse, *count_max, after.clone());
            return Ok(Top::Groups(Box::new(top)));
        }
        if sorts.is_empty() {
            return Ok(Top::Scores(TopScores::new(*count_max, bar.as_ref())));
        }
        let index_sort = match shard.nested {
            None => &*shard.settings.index_sort,
            Some(_) => &[],
        };
        let (sorts, after, bar) = (sorts.clone(), after.clone(), bar.clone());
        Ok(Top::Fields(TopFields::new(sorts, *count_max, after, bar, index_sort)))
    }
}

struct Run<'a, 'r, 's, 'c> {
    shard: &'a ShardSnapshot,
    request: &'r SearchRequest,
    context: &'r SearchContext,
    query: &'r BoundQuery,
    post_filter: Option<&'r BoundQuery>,
    scoring: bool,
    sink: Option<&'s mut (dyn Sink + 's)>,
    top: Top<'a>,
    count_max: usize,
    total: u64,
    /// More hits than this must have been counted before any may be skipped; `None`: hits need not be counted.
    count_limit: Option<u64>,
    is_lower_bound: bool,
    max_score: f32,
    timed_out: bool,
    terminated_early: bool,
    /// `None`: all documents are this run's own.
    claims: Option<Claims<'c>>,
    docs: Vec<DocId>,
    sums: Vec<f64>,
    scores: Vec<f32>,
}

impl<'a, 'r, 's, 'c> Run<'a, 'r, 's, 'c> {
    /// Looks at all documents that match, and keeps and counts none of them.
    fn new(
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

/// One segment that is searched.
struct OpenSegment<'s> {
    number: u32,
    /// Number of its first document in the shard.
    base: u64,
    view: &'s SegmentView,
    /// Of a sort by fields: the best of this segment.
    fields: Option<SegmentTop<'s>>,
    post_filter: Option<BoxedMatcher<'s>>,
    _sets: Charge,
}

/// Whether to go on with the next segment.
#[derive(PartialEq)]
enum Progress {
    GoOn,
    Stop,
}

impl<'a, 'r> Run<'a, 'r, '_, '_> {
    fn segments(&mut self) -> Result<()> {
        let shard = self.shard;
        let bases = shard.bases();
        let in_order = self.sink.is_some() || self.request.terminate_after > 0;
        let order = match &self.top {
            Top::Fields(top) if !in_order => top.best_segments_first(&shard.segments)?,
            _ => (0..shard.segments.len()).collect(),
        };
        for number in order {
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
        let filter_bytes = match &self.top {
            Top::Fields(top) => top.filter_bytes(&view.segment),
            Top::Groups(top) => top.filter_bytes(&view.segment),
            Top::Scores(_) => 0,
        };
        let _charge = self.context.ledger.request.charge(filter_bytes, "<bit sets of a sort>")?;
        let mut open = self.open(number, base, view)?;
        open.fields = match &mut self.top {
            Top::Fields(top) => Some(top.segment(&view.segment, number, base)?),
            Top::Groups(top) => {
                top.begin_segment(&view.segment, number, base)?;
                None
            }
            Top::Scores(_) => None,
        };
        let outcome = self.windows(&mut open);
        match (open.fields, &mut self.top) {
            (Some(fields), Top::Fields(top)) => top.absorb(fields)?,
            (_, Top::Groups(top)) => top.end_segment()?,
            _ => {}
        }
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

    /// Whether hits that cannot be among the best need not be looked at.
    fn may_skip(&self) -> bool {
        self.count_limit.is_none_or(|limit| self.total > limit)
            && self.sink.is_none()
            && !matches!(self.top, Top::Groups(_))
            && !(self.request.track_scores && matches!(self.top, Top::Fields(_)))
    }

    fn windows(&mut self, open: &mut OpenSegment<'_>) -> Result<Progress> {
        let segment = &*open.view.segment;
        let terms = match self.scoring && matches!(self.top, Top::Scores(_)) {
            true => Disjunction::open(self.query.node.scored_terms(), segment)?,
            false => None,
        };
        if let Some(terms) = terms {
            return self.term_windows(open, terms);
        }
        let in_order = self.sink.is_some() || self.request.terminate_after > 0 || open.post_filter.is_some();
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

    /// A term or a disjunction of terms by score: matched and scored in one pass.
    fn term_windows(&mut self, open: &mut OpenSegment<'_>, mut terms: Disjunction<'_>) -> Result<Progress> {
        let (mut docs, mut scores) = (std::mem::take(&mut self.docs), std::mem::take(&mut self.scores));
        let mut start = 0;
        loop {
            let next = terms.next(start)?;
            if next == NO_MORE_DOCS {
                (self.docs, self.scores) = (docs, scores);
                return Ok(Progress::GoOn);
            }
            start = next / WINDOW * WINDOW;
            self.context.check()?;
            let threshold = match (self.may_skip(), &self.top) {
                (true, Top::Scores(top)) => {
                    self.is_lower_bound = true;
                    top.threshold()
                }
                _ => None,
            };
            terms.collect(start, threshold, open.view.live.as_deref(), &mut docs, &mut scores)?;
            (self.docs, self.scores) = (docs, scores);
            self.drop_below_min_score();
            self.deliver(open, start)?;
            if self.is_terminated() {
                return Ok(Progress::Stop);
            }
            (docs, scores) = (std::mem::take(&mut self.docs), std::mem::take(&mut self.scores));
            start += WINDOW;
        }
    }

    fn is_terminated(&mut self) -> bool {
        self.terminated_early |=
            self.request.terminate_after > 0 && self.total >= u64::from(self.request.terminate_after);
        self.terminated_early
    }

    /// `windows`: only these, ascending; `None`: all.
    fn general_windows(&mut self, open: &mut OpenSegment<'_>, windows: Option<&[u32]>) -> Result<Progress> {
        let segment = &*open.view.segment;
        let mut windows = windows.map(|windows| windows.iter().copied());
        let mut matches = self.query.matcher(segment)?;
        let mut scorer = match self.scoring {
            true => Some(self.query.scorer(segment, true)?),
            false => None,
        };
        let mut bits = Bits::default();
        let mut contenders = Contenders::default();
        let mut start = match &open.fields {
            // Only what lies before the page is left out: it still counts as hits when those are counted.
            Some(fields) if self.may_skip() => fields.first_doc() / WINDOW * WINDOW,
            _ => 0,
        };
        loop {
            match self.claimed(open.number, start) {
                Some(claimed) => start = claimed,
                None => return Ok(Progress::GoOn),
            }
            if let Some(windows) = &mut windows {
                // The first of them that is not passed already.
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
            if may_skip && windows.is_some() && self.cannot_compete(start, open, &mut scorer)? {
                self.is_lower_bound = true;
                start += WINDOW;
                continue;
            }
            let next = matches.next(start)?;
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
                if self.cannot_compete(start, open, &mut scorer)? {
                    start += WINDOW;
                    continue;
                }
            }
            if may_skip
                && let (Top::Scores(top), Some(scorer)) = (&self.top, &scorer)
                && let Some(threshold) = top.threshold()
            {
                let least = threshold.next_up();
                contenders.refresh(segment, &self.context.ledger, || scorer.contenders(least, segment))?;
            }
            if contenders.exclude(start) {
                start += WINDOW;
                continue;
            }
            bits.clear();
            matches.fill(start, &mut bits)?;
            contenders.mask(start, &mut bits);
            if let Some(live) = &open.view.live {
                live.mask_window((start / WINDOW) as usize, &mut bits.0);
            }
            if may_skip && let Some(fields) = &mut open.fields {
                fields.mask(start, &mut bits)?;
            }
            self.window(open, start, &bits, &mut scorer)?;
            if self.is_terminated() {
                return Ok(Progress::Stop);
            }
            start += WINDOW;
        }
    }

    /// The first document at or after `start` that is this run's to search in the segment.
    fn claimed(&mut self, segment: u32, start: DocId) -> Option<DocId> {
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

    /// Hands the documents of a window and their scores to whoever wants them, and counts them.
    fn deliver(&mut self, open: &mut OpenSegment<'_>, start: DocId) -> Result<()> {
        if self.request.terminate_after > 0 {
            let left = u64::from(self.request.terminate_after).saturating_sub(self.total);
            self.docs.truncate(left.min(u64::from(WINDOW)) as usize);
            self.scores.truncate(self.docs.len());
        }
        if self.docs.is_empty() {
            return Ok(());
        }
        if let Some(sink) = &mut self.sink {
            sink.collect(&self.docs, &self.scores)?;
        }
        if let Some(filter) = &mut open.post_filter {
            let mut kept = Bits::of(&self.docs, start);
            filter.restrict(start, &mut kept)?;
            let mut at = 0;
            let (docs, scores) = (&mut self.docs, &mut self.scores);
            for read in 0..docs.len() {
                if kept.contains(docs[read] - start) {
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
        match (&mut self.top, &mut open.fields) {
            (Top::Scores(top), _) => top.collect(open.number, open.base, &self.docs, &self.scores),
            (Top::Fields(_), Some(fields)) => fields.collect(&self.docs, &self.scores)?,
            (Top::Groups(top), _) => top.collect(&self.docs, &self.scores)?,
            _ => {}
        }
        Ok(())
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

    fn drop_below_min_score(&mut self) {
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
