//! `top_hits`: the best documents of every bucket. Source: Elasticsearch's `TopHitsAggregationBuilder`,
//! `TopHitsAggregator`, `InternalTopHits`.

use std::cmp::Ordering;
use std::fmt;

use limber_mapping::RequestError;
use limber_script::Script;
use limber_segment::{DocId, SegmentView};
use serde_json::{Value, json};

use super::super::answer::hit_reader::{HitReader, WantedHits};
use super::super::answer::members::Members;
use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::Bound;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use crate::collect::{BoundSort, Hit, KeyReader, bind_sorts, compare_keys};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::BoundQuery;
use crate::request::{HIT_OPTIONS, SearchRequest, UrlParameters};
use crate::response::SearchHit;
use crate::score::float_to_json;
use crate::shard::bound_search::{InnerSearch, bind_inner_hits};
use crate::values::json;
use crate::values::sort_key::SortKey;

const SIZE: u32 = 3;

/// Buckets with about this many hits are read together, in the order of the documents. Each document, like
/// the one around nested hits, is then read once for all of them.
const HITS_AT_ONCE: usize = 4096;

/// The options of a `top_hits`: a search request for the hits of each bucket.
#[derive(Debug, Clone)]
pub struct TopHits {
    pub(super) name: String,
    pub(super) request: SearchRequest,
}

impl TopHits {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let body = options.take_all();
        if let Some((option, value)) = body.iter().find(|(option, _)| !HIT_OPTIONS.contains(&option.as_str()))
        {
            return Err(json::unknown_key(option, value));
        }
        let mut request = SearchRequest::read(&Value::Object(body), &UrlParameters::default(), None)?;
        request.size.get_or_insert(SIZE);
        Ok(Kind::own(TopHits { name: options.name.clone(), request }))
    }

    fn kept(&self) -> usize {
        self.request.from() as usize + self.request.size() as usize
    }

    pub(super) fn open<'s>(&'s self, context: CollectorContext<'s>) -> Result<TopHitsCollector<'s>> {
        let CollectorContext { bound, shard, budget, .. } = context;
        for wanted in &self.request.docvalue_fields {
            if let Some(field) = shard.mapping.field(&wanted.field) {
                crate::context::columns::check_column(&field, shard)?;
            }
        }
        let sorts = if self.has_sort() {
            bind_sorts(&self.request.sort, shard, &budget.context)?
        } else {
            Vec::new()
        };
        let query = bound.search_query.as_ref().expect("bound with the aggregation");
        Ok(TopHitsCollector {
            definition: self,
            query,
            inner: bind_inner_hits([query], &budget.context)?,
            hit_reader: bound.hit_reader,
            sorts,
            shard,
            bases: shard.bases(),
            segment: 0,
            readers: Readers(Vec::new()),
            columns: Vec::new(),
            buckets: Vec::new(),
            worst: Vec::new(),
            budget,
        })
    }

    /// Whether hits are shown with their scores.
    fn shows_scores(&self) -> bool {
        self.request.is_by_score()
            || self.request.track_scores
            || self.request.sort.iter().any(|sort| sort.is_score())
    }

    /// Whether there is a sort other than by score, whose values are shown.
    fn has_sort(&self) -> bool {
        !self.request.sort.is_empty() && !self.request.is_by_score()
    }
}

impl Request for TopHits {
    fn goes_below_filters(&self) -> bool {
        false
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn needs_scores(&self) -> bool {
        let scripts = self.request.sort.iter().filter_map(|sort| sort.script.as_ref());
        let reads_score = |script: &Script| script.is_stored() || script.text().contains("_score");
        self.shows_scores() || scripts.map(|by| &by.script).any(reads_score)
    }

    fn needs_search_query(&self) -> bool {
        true
    }

    fn check_on_shard(&self, _: &Bound, shard: &ShardSnapshot) -> Result<()> {
        let wanted = u64::from(self.request.from()) + u64::from(self.request.size());
        let window_max = shard.settings.max_inner_result_window;
        if wanted <= u64::from(window_max) {
            return Ok(());
        }
        Err(RequestError::illegal_argument(format!(
            "Top hits result window is too large, the top hits aggregator [{}]'s from + size must be less than or equal to: [{window_max}] \
             but was [{wanted}]. This limit can be set by changing the [index.max_inner_result_window] index level setting.",
            self.name
        ))
        .into())
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for TopHits {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(self.open(context)?))
    }
}

impl Reduce for TopHits {
    type Finding = TopHitsFound;

    fn reduce(&self, _: &Aggregation, parts: Vec<TopHitsFound>, _: &mut Reducer<'_>) -> Result<TopHitsFound> {
        let mut all = TopHitsFound::default();
        for part in parts.into_iter() {
            all.total += part.total;
            all.max_score = all.max_score.max(part.max_score);
            if all.sorts.is_empty() {
                all.sorts = part.sorts;
            }
            all.hits.extend(part.hits);
        }
        let sorts = std::mem::take(&mut all.sorts);
        // The sort is stable: equal hits stay in the order of the shards.
        all.hits.sort_by(|left, right| match sorts.is_empty() {
            true => right.score.total_cmp(&left.score),
            false => compare_keys(&sorts, &left.keys, &right.keys),
        });
        let from = self.request.from() as usize;
        all.hits = all.hits.into_iter().skip(from).take(self.request.size() as usize).collect();
        Ok(all)
    }
}

impl Render for TopHits {
    fn render(&self, found: &TopHitsFound, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let max_score = match found.max_score.is_finite() {
            true => float_to_json(found.max_score),
            false => Value::Null,
        };
        out.object("hits", |out| {
            out.insert("total", &json!({ "value": found.total, "relation": "eq" }))?;
            out.insert("max_score", &max_score)?;
            out.list("hits", &found.hits, |hit| {
                let mut shown = Vec::new();
                hit.fetched.write_json(&mut shown, renderer.node_id, false)?;
                Ok(shown)
            })
        })
    }
}

#[derive(Debug, Clone)]
pub(super) struct FoundHit {
    pub(super) fetched: SearchHit,
    keys: Box<[SortKey]>,
    score: f32,
}

/// The best hits of a bucket with their documents.
#[derive(Debug, Clone)]
pub struct TopHitsFound {
    total: u64,
    /// Negative infinity without scores.
    max_score: f32,
    /// The hits with their documents, best first.
    pub(super) hits: Vec<FoundHit>,
    sorts: Vec<BoundSort>,
}

impl OwnFinding for TopHitsFound {}

impl Default for TopHitsFound {
    fn default() -> TopHitsFound {
        TopHitsFound { total: 0, max_score: f32::NEG_INFINITY, hits: Vec::new(), sorts: Vec::new() }
    }
}

/// The state of one bucket.
#[derive(Debug)]
pub struct Best {
    total: u64,
    max_score: f32,
    /// The hits of earlier segments, best first.
    hits: Vec<Hit>,
    /// The hits of the current segment, best first: ascending sort keys, document, score.
    here: Vec<(Box<[i64]>, DocId, f32)>,
}

impl Best {
    fn new() -> Best {
        Best { total: 0, max_score: f32::NEG_INFINITY, hits: Vec::new(), here: Vec::new() }
    }
}

struct Readers<'s>(Vec<KeyReader<'s>>);

impl fmt::Debug for Readers<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} sort keys", self.0.len())
    }
}

#[derive(Debug)]
pub(super) struct TopHitsCollector<'s> {
    definition: &'s TopHits,
    query: &'s BoundQuery,
    /// The inner hits that are shown with each hit.
    inner: Vec<InnerSearch<'s>>,
    hit_reader: &'static dyn HitReader,
    /// Empty: sorted by score.
    sorts: Vec<BoundSort>,
    shard: &'s ShardSnapshot,
    bases: Vec<u64>,
    segment: u32,
    readers: Readers<'s>,
    columns: Vec<Vec<i64>>,
    buckets: Vec<Best>,
    /// Indexed by bucket: a document with a larger first key is not among the best of this segment.
    worst: Vec<i64>,
    budget: &'s Budget,
}

impl TopHitsCollector<'_> {
    /// Returns the best hit of each bucket that has one, as segment and document.
    pub(super) fn best(&self) -> impl Iterator<Item = Option<(u32, DocId)>> {
        self.buckets.iter().map(|best| best.hits.first().map(|hit| (hit.segment, hit.doc)))
    }

    /// Adds the documents of a batch whose keys are strings that no segment holds. In `columns` they are
    /// indexes among the strings of this batch, so they are compared as they are.
    fn collect_computed(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (kept, is_scored) = (self.definition.kept(), self.definition.shows_scores());
        let (segment, base) = (self.segment, self.bases[self.segment as usize]);
        let (sorts, readers, columns) = (&self.sorts, &self.readers.0, &self.columns);
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            let best = &mut self.buckets[entries.bucket(entry) as usize];
            let score = entries.score(position);
            best.total += 1;
            if is_scored {
                best.max_score = best.max_score.max(score);
            }
            let keys = readers.iter().zip(columns).map(|(reader, column)| reader.global(column[position]));
            let keys: Box<[SortKey]> = keys.collect::<Result<_>>()?;
            // Documents ascend: of equal hits the earlier document comes first.
            let at = best.hits.partition_point(|hit| compare_keys(sorts, &hit.keys, &keys).is_le());
            if at >= kept {
                continue;
            }
            let dropped = (best.hits.len() >= kept).then(|| best.hits.pop()).flatten();
            let freed = dropped.map_or(0, |hit| bytes_of(&hit.keys));
            self.budget.spend(bytes_of(&keys).saturating_sub(freed))?;
            let doc = entries.docs[position];
            let shard_doc = base + u64::from(doc);
            best.hits.insert(at, Hit { segment, doc, shard_doc, score, keys, group: None });
        }
        Ok(())
    }
}

/// Returns the bytes of a hit with these keys.
fn bytes_of(keys: &[SortKey]) -> u64 {
    let term_bytes = |key: &SortKey| match key {
        SortKey::Term(Some(term)) => term.len() as u64,
        _ => 0,
    };
    HIT_BYTES + 24 * keys.len() as u64 + keys.iter().map(term_bytes).sum::<u64>()
}

impl<'s> Collector<'s> for TopHitsCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let place = self.shard.segments.iter().position(|other| std::ptr::eq(other, view));
        self.segment = place.unwrap_or(0) as u32;
        let base = self.bases[self.segment as usize];
        let open = |sort: &BoundSort| KeyReader::open(sort, &view.segment, base);
        self.readers = Readers(self.sorts.iter().map(open).collect::<Result<_>>()?);
        self.columns.resize_with(self.readers.0.len(), Vec::new);
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.buckets.len() {
            let more = (entries.bucket_count - self.buckets.len()) as u64;
            self.budget.spend(more * size_of::<Best>() as u64)?;
            self.buckets.resize_with(entries.bucket_count, Best::new);
        }
        self.worst.resize(self.buckets.len(), i64::MAX);
        for (reader, column) in self.readers.0.iter_mut().zip(&mut self.columns) {
            reader.read(entries.docs, entries.scores, column)?;
        }
        if self.sorts.iter().any(BoundSort::computes_terms) {
            return self.collect_computed(entries);
        }
        let kept = self.definition.kept();
        let is_scored = self.definition.shows_scores();
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            let bucket = entries.bucket(entry) as usize;
            let best = &mut self.buckets[bucket];
            best.total += 1;
            if !is_scored && self.columns.first().is_some_and(|first| first[position] > self.worst[bucket]) {
                continue;
            }
            let score = entries.score(position);
            if is_scored {
                best.max_score = best.max_score.max(score);
            }
            let columns = &self.columns;
            let compare = |other: &(Box<[i64]>, DocId, f32)| match columns.is_empty() {
                true => other.2.total_cmp(&score).reverse(),
                false => columns
                    .iter()
                    .zip(&other.0)
                    .map(|(column, key)| key.cmp(&column[position]))
                    .find(|ordering| ordering.is_ne())
                    .unwrap_or(Ordering::Equal),
            };
            // Documents ascend: of equal hits the earlier document comes first.
            if best.here.len() >= kept && best.here.last().is_none_or(|worst| compare(worst).is_le()) {
                continue;
            }
            let at = best.here.partition_point(|other| compare(other).is_le());
            let keys = columns.iter().map(|column| column[position]).collect();
            if best.here.len() >= kept {
                best.here.pop();
            } else {
                self.budget.spend(HIT_BYTES + 24 * columns.len() as u64)?;
            }
            best.here.insert(at, (keys, entries.docs[position], score));
            if best.here.len() >= kept
                && let Some((keys, ..)) = best.here.last()
            {
                self.worst[bucket] = keys.first().copied().unwrap_or(i64::MAX);
            }
        }
        Ok(())
    }

    fn can_split(&self) -> bool {
        !self.definition.needs_scores()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Hits(std::mem::take(&mut self.buckets)))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Hits(found) = findings else { unreachable!("findings of another collector") };
        let most = bucket_of[..found.len()].iter().max().map_or(0, |most| *most as usize + 1);
        if most > self.buckets.len() {
            self.budget.spend(((most - self.buckets.len()) * size_of::<Best>()) as u64)?;
            self.buckets.resize_with(most, Best::new);
        }
        let (sorts, kept) = (&self.sorts, self.definition.kept());
        for (found, &bucket) in found.into_iter().zip(bucket_of) {
            let own = &mut self.buckets[bucket as usize];
            own.total += found.total;
            own.max_score = own.max_score.max(found.max_score);
            own.hits.extend(found.hits);
            own.hits.sort_by(|left, right| {
                compare_keys(sorts, &left.keys, &right.keys).then(left.shard_doc.cmp(&right.shard_doc))
            });
            own.hits.truncate(kept);
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        let (segment, base, kept) = (self.segment, self.bases[self.segment as usize], self.definition.kept());
        let sorts = &self.sorts;
        self.worst.clear();
        for best in self.buckets.iter_mut().filter(|best| !best.here.is_empty()) {
            for (keys, doc, score) in best.here.drain(..) {
                let keys = keys.iter().zip(&self.readers.0).map(|(key, reader)| reader.global(*key));
                let keys = keys.collect::<Result<_>>()?;
                let shard_doc = base + u64::from(doc);
                best.hits.push(Hit { segment, doc, shard_doc, score, keys, group: None });
            }
            best.hits.sort_by(|left, right| match sorts.is_empty() {
                true => right.score.total_cmp(&left.score),
                false => compare_keys(sorts, &left.keys, &right.keys),
            });
            best.hits.truncate(kept);
        }
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let mut partials = Vec::with_capacity(buckets.len());
        let mut rest = buckets;
        while !rest.is_empty() {
            let hits_of = |bucket: &u32| self.buckets.get(*bucket as usize).map_or(0, |best| best.hits.len());
            let mut hit_count = 0;
            let is_last = |bucket: &u32| {
                hit_count += hits_of(bucket);
                hit_count >= HITS_AT_ONCE
            };
            let end = rest.iter().position(is_last).map_or(rest.len(), |last| last + 1);
            let (together, others) = rest.split_at(end);
            self.finish_together(together, &mut partials)?;
            rest = others;
        }
        Ok(partials)
    }
}

impl TopHitsCollector<'_> {
    /// Appends the results of `buckets`, whose hits are read together.
    fn finish_together(&mut self, buckets: &[u32], partials: &mut Vec<Partial>) -> Result<()> {
        let best = |bucket: &u32| {
            let best = self.buckets.get_mut(*bucket as usize);
            best.map_or_else(Best::new, |best| std::mem::replace(best, Best::new()))
        };
        let mut best: Vec<Best> = buckets.iter().map(best).collect();
        let counts: Vec<usize> = best.iter().map(|best| best.hits.len()).collect();
        let hits: Vec<Hit> = best.iter_mut().flat_map(|best| std::mem::take(&mut best.hits)).collect();
        let fetched = self.hit_reader.read(&WantedHits {
            shard: self.shard,
            query: self.query,
            sorts: &self.sorts,
            inner: &self.inner,
            hits: &hits,
            request: &self.definition.request,
            shows_sort: self.definition.has_sort(),
            context: &self.budget.context,
        })?;
        let bytes = |hit: &SearchHit| SearchHit::HIT_BYTES + 2 * hit.source_bytes();
        self.budget.spend(fetched.iter().map(bytes).sum())?;
        let found = |(hit, fetched): (Hit, SearchHit)| FoundHit { fetched, keys: hit.keys, score: hit.score };
        let mut all = hits.into_iter().zip(fetched).map(found);
        for (best, count) in best.into_iter().zip(counts) {
            partials.push(Finding::into_partial(TopHitsFound {
                total: best.total,
                max_score: best.max_score,
                hits: all.by_ref().take(count).collect(),
                sorts: self.sorts.clone(),
            }));
        }
        Ok(())
    }
}

/// Estimated bytes of a hit.
const HIT_BYTES: u64 = 128;
