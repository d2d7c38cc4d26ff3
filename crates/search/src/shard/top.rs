//! Keeps the best hits of a shard.

use limber_segment::{DocId, Segment, SegmentView};
use limber_store::{Charge, Ledger};

use super::ShardRequest;
use crate::collect::{BoundCollapse, Hit, SegmentTop, TopFields, TopGroups, TopScores, keep_best};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::request::SearchRequest;

/// Returns the bytes that `hits` of a request take while they are collected and returned.
pub(crate) fn hit_bytes(request: &SearchRequest, hits: u64) -> u64 {
    // The best document of a group is held by rank, by group, and among those of all segments.
    let copies = if request.collapse.is_some() { 3 } else { 1 };
    hits.saturating_mul(copies * TopScores::HIT_BYTES * (1 + request.sort.len() as u64))
}

/// Charges the best hits of another thread.
///
/// # Errors
/// There is no memory for them.
pub(super) fn charge(wanted: &ShardRequest<'_>, ledger: &Ledger) -> Result<Charge> {
    let bytes = hit_bytes(wanted.request, wanted.count_max as u64);
    Ok(ledger.request.charge(bytes, "<hits of a search>")?)
}

/// Merges the best hits of the parts of a shard; those of each part come best first.
pub(super) fn merged(wanted: &ShardRequest<'_>, parts: impl Iterator<Item = Vec<Hit>>) -> Vec<Hit> {
    let mut hits: Vec<Hit> = parts.flatten().collect();
    keep_best(&mut hits, &wanted.sorts, wanted.count_max);
    hits
}

/// Keeps the best hits of a shard, in one of three orders.
pub(super) enum Top<'a> {
    /// Sorted by score.
    Scores(TopScores),
    /// Sorted by fields.
    Fields(TopFields),
    /// The best of each group (`collapse`).
    Groups(Box<TopGroups<'a>>),
}

impl<'a> Top<'a> {
    /// Creates the collector for a request.
    ///
    /// # Errors
    /// Those of [`BoundCollapse::bind`].
    pub fn of(shard: &'a ShardSnapshot, wanted: &ShardRequest<'_>) -> Result<Top<'a>> {
        let ShardRequest { request, count_max, sorts, after, min_competitive, .. } = wanted;
        if let Some(collapse) = &request.collapse {
            let collapse = BoundCollapse::bind(collapse, request, shard)?;
            let top = TopGroups::new(sorts.clone(), collapse, *count_max, after.clone());
            return Ok(Top::Groups(Box::new(top)));
        }
        if sorts.is_empty() {
            return Ok(Top::Scores(TopScores::new(*count_max, min_competitive.as_ref())));
        }
        let index_sort = match shard.nested {
            None => &*shard.settings.index_sort,
            Some(_) => &[],
        };
        let (sorts, after, min_competitive) = (sorts.clone(), after.clone(), min_competitive.clone());
        Ok(Top::Fields(TopFields::new(sorts, *count_max, after, min_competitive, index_sort)))
    }

    /// Returns the bytes of the bit sets that it needs in a segment.
    pub fn filter_bytes(&self, segment: &Segment) -> u64 {
        match self {
            Top::Fields(top) => top.filter_bytes(segment),
            Top::Groups(top) => top.filter_bytes(segment),
            Top::Scores(_) => 0,
        }
    }

    /// Returns the segments in the order in which they are searched. `in_order`: in that of the shard.
    pub fn order_of(&self, segments: &[SegmentView], in_order: bool) -> Result<Vec<usize>> {
        match self {
            Top::Fields(top) if !in_order => top.best_segments_first(segments),
            _ => Ok((0..segments.len()).collect()),
        }
    }

    /// Begins a segment; `base` is the number of its first document in the shard. For sorts by fields,
    /// returns the collector of the segment's best hits.
    pub fn begin_segment<'s>(
        &mut self,
        segment: &'a Segment,
        number: u32,
        base: u64,
    ) -> Result<Option<SegmentTop<'s>>>
    where
        'a: 's,
    {
        match self {
            Top::Fields(top) => Ok(Some(top.segment(segment, number, base)?)),
            Top::Groups(top) => {
                top.begin_segment(segment, number, base)?;
                Ok(None)
            }
            Top::Scores(_) => Ok(None),
        }
    }

    /// Collects ascending documents of the current segment. `fields` is the result of
    /// [`Top::begin_segment`].
    pub fn collect(
        &mut self,
        base: u64,
        fields: &mut Option<SegmentTop<'_>>,
        docs: &[DocId],
        scores: &[f32],
    ) -> Result<()> {
        match (self, fields) {
            (Top::Scores(top), _) => {
                top.collect(base, docs, scores);
                Ok(())
            }
            (Top::Fields(_), Some(fields)) => fields.collect(docs, scores),
            (Top::Groups(top), _) => top.collect(docs, scores),
            (Top::Fields(_), None) => Ok(()),
        }
    }

    /// Ends the current segment.
    pub fn end_segment(&mut self, fields: Option<SegmentTop<'_>>) -> Result<()> {
        match (fields, self) {
            (Some(fields), Top::Fields(top)) => top.absorb(fields),
            (_, Top::Groups(top)) => top.end_segment(),
            _ => Ok(()),
        }
    }

    /// Returns the score that a hit must exceed to be wanted, for hits sorted by score.
    pub fn threshold(&self) -> Option<f32> {
        match self {
            Top::Scores(top) => top.threshold(),
            _ => None,
        }
    }

    /// Returns the hits, best first.
    pub fn finish(self, shard: &ShardSnapshot) -> Vec<Hit> {
        match self {
            Top::Scores(top) => top.finish(&shard.bases()),
            Top::Fields(top) => top.finish(),
            Top::Groups(top) => top.finish(),
        }
    }
}
