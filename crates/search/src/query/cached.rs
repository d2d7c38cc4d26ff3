//! Filters that go through the query cache: which are worth caching, and under which key.

use limber_segment::{DocId, Segment};

use super::bound::BoundQuery;
use super::bound_node::{BoundNode, Whole};
use crate::cache::{FilterUse, KeyWriter, ShardCaches};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::matcher::{BoxedMatcher, BoxedScorer, NoDocs, kept, read_all};
use crate::score::Explanation;

// Source of these three: Lucene's `UsageTrackingQueryCachingPolicy#minFrequencyToCache`.
/// Number of uses before a filter is cached that reads many terms or documents.
pub(super) const FREQUENCY_OF_COSTLY: u32 = 2;
/// The same for a filter that combines others.
pub(super) const FREQUENCY_OF_COMBINED: u32 = 4;
/// The same for any other filter.
pub(super) const FREQUENCY_OF_OTHERS: u32 = 5;

/// A filter that goes through the query cache. It has the name of the query that it wraps.
#[derive(Debug)]
pub(crate) struct CachedNode {
    pub inner: BoundQuery,
    pub filter: FilterUse,
}

/// Wraps the filters in a bound query, which do not affect the score, so that they go through the cache.
/// `is_filter`: the query itself is a filter.
pub(crate) fn cache_filters(query: BoundQuery, shard: &ShardSnapshot, is_filter: bool) -> BoundQuery {
    match &shard.caches {
        Some(caches) if caches.queries.is_some() => wrap(query, shard, caches, is_filter),
        _ => query,
    }
}

fn wrap(mut query: BoundQuery, shard: &ShardSnapshot, caches: &ShardCaches, is_filter: bool) -> BoundQuery {
    let frequency_min = if is_filter { query.node.uses_before_kept() } else { None };
    let mut key = KeyWriter::default();
    let is_keyed = frequency_min.is_some() && query.node.write_key(&mut key);
    for (part, is_filter) in query.node.cacheable_parts(is_filter) {
        let unwrapped = std::mem::replace(part, BoundQuery::nothing(""));
        *part = wrap(unwrapped, shard, caches, is_filter);
    }
    let (Some(frequency_min), Some(cache), true) = (frequency_min, &caches.queries, is_keyed) else {
        return query;
    };
    let filter = FilterUse::new(cache, caches, shard.doc_count(), key.finish(), frequency_min);
    let (name, bind_nanos) = (query.name.take(), query.bind_nanos);
    BoundQuery { name, bind_nanos, ..CachedNode { inner: query, filter }.into() }
}

impl BoundNode for CachedNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        cached(self, segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        self.inner.scorer(segment, is_known)
    }

    fn is_quick(&self) -> bool {
        self.inner.node.is_quick()
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        self.inner.explain(segment, doc)
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

    fn bit_set_count(&self) -> u64 {
        1 + self.inner.node.bit_set_count()
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        self.inner.node.write_key(key)
    }

    fn whole(&self) -> Option<Whole<'_>> {
        self.inner.node.whole()
    }

    fn as_cached(&self) -> Option<&CachedNode> {
        Some(self)
    }
}

/// Opens a filter that is not part of a conjunction.
fn cached<'a>(node: &'a CachedNode, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    if let Some(set) = node.filter.get(segment) {
        return Ok(kept(set));
    }
    let inner = node.inner.matcher(segment)?;
    if node.filter.should_keep(segment, inner.cost(), u64::MAX) {
        return keep(node, inner, segment);
    }
    Ok(inner)
}

/// Opens the clauses of a conjunction. A filter is only read completely (and cached) if the other clauses do
/// not already leave very few documents.
pub(super) fn conjunction<'a>(
    clauses: impl Iterator<Item = &'a BoundQuery>,
    segment: &'a Segment,
) -> Result<Vec<BoxedMatcher<'a>>> {
    let mut parts: Vec<BoxedMatcher<'a>> = Vec::new();
    let mut pending: Vec<(usize, &CachedNode)> = Vec::new();
    for clause in clauses {
        let cached = clause.node.as_cached();
        if let Some(set) = cached.and_then(|node| node.filter.get(segment)) {
            parts.push(kept(set));
            continue;
        }
        pending.extend(cached.map(|node| (parts.len(), node)));
        parts.push(cached.map_or(clause, |node| &node.inner).matcher(segment)?);
    }
    let lead_cost = parts.iter().map(|part| part.cost()).min().unwrap_or(0);
    for (at, node) in pending {
        if node.filter.should_keep(segment, parts[at].cost(), lead_cost) {
            let inner = std::mem::replace(&mut parts[at], Box::new(NoDocs));
            parts[at] = keep(node, inner, segment)?;
        }
    }
    Ok(parts)
}

/// Reads all documents that the filter matches in a segment, caches the set and returns a matcher of it.
fn keep<'a>(node: &CachedNode, inner: BoxedMatcher<'_>, segment: &Segment) -> Result<BoxedMatcher<'a>> {
    let set = read_all(inner, segment.doc_count())?;
    Ok(kept(node.filter.keep(set, segment)))
}
