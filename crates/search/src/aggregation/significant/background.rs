//! Counts the documents of the background set, and those of them that have a value.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use limber_segment::{DocId, SegmentView};

use super::super::answer::partial::Key;
use super::super::budget::Budget;
use super::super::source::{KeyReader, Source};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::{BoundQuery, MatchingDocs};

/// Number of documents in a batch.
const WINDOW: u32 = 4096;

/// Returns the number of documents in the background set of a shard. As in Elasticsearch, deleted documents
/// count unless there is a filter.
pub fn size(shard: &ShardSnapshot, filter: Option<&BoundQuery>, budget: &Budget) -> Result<u64> {
    let Some(filter) = filter else { return Ok(shard.doc_count()) };
    let mut count = 0;
    each_window(shard, Some(filter), budget, |_, docs| {
        count += docs.len() as u64;
        Ok(())
    })?;
    Ok(count)
}

/// Counts the background documents that have each of the values whose ids are the keys of `counts`.
pub fn count<'s>(
    keys: &mut KeyReader<'s>,
    source: &Source,
    shard: &'s ShardSnapshot,
    filter: Option<&'s BoundQuery>,
    counts: &mut HashMap<i64, u64, FixedState>,
    budget: &Budget,
) -> Result<()> {
    let is_indexed = source.field.as_ref().is_some_and(|field| field.index);
    if filter.is_none() && is_indexed && count_by_index(keys, source, shard, counts)? {
        return Ok(());
    }
    let mut begun: Option<*const SegmentView> = None;
    each_window(shard, filter, budget, |view, docs| {
        if begun != Some(std::ptr::from_ref(view)) {
            begun = Some(std::ptr::from_ref(view));
            keys.begin(view, budget)?;
        }
        for id in keys.load(docs, budget)?.values {
            if let Some(count) = counts.get_mut(id) {
                *count += 1;
            }
        }
        Ok(())
    })
}

/// Counts with term dictionaries and points. Returns false and counts nothing if these are not sufficient.
fn count_by_index(
    keys: &KeyReader<'_>,
    source: &Source,
    shard: &ShardSnapshot,
    counts: &mut HashMap<i64, u64, FixedState>,
) -> Result<bool> {
    let path = source.path();
    if source.is_numeric() {
        for view in &shard.segments {
            if view.segment.points(path)?.is_none_or(|points| !points.is_single_valued()) {
                return Ok(false);
            }
        }
    }
    for view in &shard.segments {
        let (terms, points) = (view.segment.terms(path)?, view.segment.points(path)?);
        for (&id, count) in counts.iter_mut() {
            *count += match (keys.key(id), terms, &points) {
                (Key::Term(term), Some(terms), _) => {
                    terms.get(&term)?.map_or(0, |info| u64::from(info.doc_freq))
                }
                (_, _, Some(points)) => points.count(id..=id)?,
                _ => 0,
            };
        }
    }
    Ok(true)
}

/// Iterates over the documents of the background, window by window.
fn each_window<'s>(
    shard: &'s ShardSnapshot,
    filter: Option<&BoundQuery>,
    budget: &Budget,
    mut each: impl FnMut(&'s SegmentView, &[DocId]) -> Result<()>,
) -> Result<()> {
    let (mut all, mut kept) = (Vec::with_capacity(WINDOW as usize), Vec::with_capacity(WINDOW as usize));
    for view in &shard.segments {
        let mut matching = match filter {
            Some(filter) => Some(MatchingDocs::open(filter, &view.segment)?),
            None => None,
        };
        let end = view.segment.doc_count();
        for start in (0..end).step_by(WINDOW as usize) {
            budget.check()?;
            all.clear();
            let is_counted =
                |doc: &DocId| filter.is_none() || view.live.as_ref().is_none_or(|live| live.is_live(*doc));
            all.extend((start..end.min(start + WINDOW)).filter(is_counted));
            let docs = match &mut matching {
                Some(matching) => {
                    matching.retain(&all, &mut kept)?;
                    &kept
                }
                None => &all,
            };
            if !docs.is_empty() {
                each(view, docs)?;
            }
        }
    }
    Ok(())
}
