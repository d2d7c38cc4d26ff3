//! `inner_hits`: which nested documents made a hit match.
//!
//! Source: Elasticsearch's `InnerHitsPhase`, `NestedQueryBuilder.NestedInnerHitSubContext`.

use std::ops::Range;

use limber_segment::{DocId, Segment, StoredReader};
use limber_work as work;

use super::highlighted::BoundHighlight;
use super::hit::{Fetcher, Searched};
use super::plan::Plan;
use crate::collect::{Hit, KeyReader, compare_keys};
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};
use crate::response::{InnerHits, TotalHits};
use crate::shard::bound_search::InnerSearch;

/// Returns the nested documents of `doc` that match. `segment` is the segment of `doc`, `number` its index
/// in the shard.
pub(super) fn collect(
    search: &InnerSearch<'_>,
    segment: &Segment,
    number: u32,
    doc: DocId,
    reader: &mut StoredReader,
) -> Result<InnerHits> {
    let &InnerSearch { nested, request, ref sorts, context, ref inside } = search;
    let wanted = nested.hits;
    let mut found = InnerHits { name: wanted.name.clone(), ..InnerHits::default() };
    let Some((space, lineage)) = segment.nested(nested.path).zip(segment.lineage(nested.path)) else {
        return Ok(found);
    };
    let is_by_score = sorts.is_empty();
    let is_scored = is_by_score || request.track_scores || sorts.iter().any(|sort| sort.needs_scores());
    let mut hits = matching(search, &space.segment, number, lineage.children(doc), is_scored)?;
    found.total = TotalHits { value: hits.len() as u64, is_lower_bound: false };
    if is_scored && request.size() > 0 {
        found.max_score = hits.iter().map(|hit| hit.score).reduce(f32::max);
    }
    // The sort is stable: equal hits stay in document order.
    hits.sort_by(|left, right| match is_by_score {
        true => right.score.total_cmp(&left.score),
        false => compare_keys(sorts, &left.keys, &right.keys),
    });
    let searched = Searched { query: nested.query, post_filter: None, sorts, rescores: &[], inner: inside };
    let mut plan = Plan::of(request);
    plan.id = true;
    let highlight = request.highlight.as_ref();
    let highlight =
        highlight.map(|of_hits| BoundHighlight::bind(of_hits, &wanted.shard, context)).transpose()?;
    let mut fetcher = Fetcher::new(&wanted.shard, searched, request, &plan, !is_by_score, reader)?;
    fetcher.highlight = highlight.as_ref();
    let page = &hits[hits.len().min(request.from() as usize)..];
    let page = &page[..page.len().min(request.size() as usize)];
    let mut docs: Vec<DocId> = page.iter().map(|hit| hit.doc).collect();
    docs.sort_unstable();
    fetcher.open(number, &docs)?;
    let fetch = |hit: &Hit| {
        work::check_beyond_deadline()?;
        fetcher.hit(hit)
    };
    found.hits = page.iter().map(fetch).collect::<Result<_>>()?;
    Ok(found)
}

/// Returns those of the nested documents `children` that match, with their keys.
fn matching(
    search: &InnerSearch<'_>,
    segment: &Segment,
    number: u32,
    children: Range<DocId>,
    is_scored: bool,
) -> Result<Vec<Hit>> {
    let mut matches = search.nested.query.matcher(segment)?;
    let mut scorer = match is_scored && !children.is_empty() {
        true => Some(search.nested.query.scorer(segment, true)?),
        false => None,
    };
    let mut keys =
        search.sorts.iter().map(|sort| KeyReader::open(sort, segment, 0)).collect::<Result<Vec<_>>>()?;
    let mut hits: Vec<Hit> = Vec::new();
    let (mut docs, mut sums, mut columns) = (Vec::new(), Vec::new(), vec![Vec::new(); keys.len()]);
    for start in (children.start / WINDOW * WINDOW..children.end).step_by(WINDOW as usize) {
        let mut bits = Bits::default();
        bits.set_range(children.start.saturating_sub(start), children.end - start);
        matches.restrict(start, &mut bits)?;
        docs.clear();
        bits.append_to(start, &mut docs);
        sums.clear();
        sums.resize(docs.len(), 0.0);
        if let Some(scorer) = scorer.as_mut().filter(|_| !docs.is_empty()) {
            scorer.score(&docs, &mut sums)?;
        }
        let scores: Vec<f32> = sums.iter().map(|sum| *sum as f32).collect();
        for (reader, column) in keys.iter_mut().zip(&mut columns) {
            reader.read(&docs, &scores, column)?;
        }
        for (at, (&doc, &score)) in docs.iter().zip(&scores).enumerate() {
            let keys = keys.iter().zip(&columns).map(|(reader, column)| reader.global(column[at]));
            let keys = keys.collect::<Result<_>>()?;
            let shard_doc = u64::from(doc);
            hits.push(Hit { segment: number, doc, shard_doc, score, keys, group: None });
        }
    }
    Ok(hits)
}
