//! Documents of a set that is kept, or worth keeping.

use std::sync::Arc;

use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use super::{Bits, BoxedMatcher, Matcher, WINDOW};
use crate::cache::FilterSet;
use crate::error::Result;
use crate::query::{BoundQuery, CachedNode};

pub(super) struct KeptDocs {
    set: Arc<FilterSet>,
    /// Place in a sparse set.
    at: usize,
}

impl Matcher for KeptDocs {
    fn cost(&self) -> u64 {
        match &*self.set {
            FilterSet::Sparse(docs) => docs.len() as u64,
            FilterSet::Bits(_, count) => u64::from(*count),
        }
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        match &*self.set {
            FilterSet::Sparse(docs) => {
                self.at += docs[self.at..].partition_point(|doc| *doc < target);
                Ok(docs.get(self.at).copied().unwrap_or(NO_MORE_DOCS))
            }
            FilterSet::Bits(words, _) => {
                let first = target as usize / 64;
                let Some(word) = words.get(first) else { return Ok(NO_MORE_DOCS) };
                let word = word >> (target % 64) << (target % 64);
                let mut rest = words[first + 1..].iter().enumerate();
                Ok(match word {
                    0 => match rest.find(|(_, word)| **word != 0) {
                        Some((at, word)) => (first + 1 + at) as u32 * 64 + word.trailing_zeros(),
                        None => NO_MORE_DOCS,
                    },
                    word => first as u32 * 64 + word.trailing_zeros(),
                })
            }
        }
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        match &*self.set {
            FilterSet::Sparse(docs) => {
                self.at += docs[self.at..].partition_point(|doc| *doc < start);
                while let Some(doc) = docs.get(self.at).filter(|doc| **doc - start < WINDOW) {
                    bits.set(doc - start);
                    self.at += 1;
                }
            }
            FilterSet::Bits(words, _) => {
                let words = words.get(start as usize / 64..).unwrap_or_default();
                bits.0.iter_mut().zip(words).for_each(|(word, own)| *word |= own);
            }
        }
        Ok(())
    }
}

fn kept<'a>(set: Arc<FilterSet>) -> BoxedMatcher<'a> {
    Box::new(KeptDocs { set, at: 0 })
}

/// A filter on its own.
pub(crate) fn cached<'a>(node: &'a CachedNode, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    if let Some(set) = node.filter.get(segment) {
        return Ok(kept(set));
    }
    let inner = node.inner.matcher(segment)?;
    if node.filter.should_keep(segment, inner.cost(), u64::MAX) {
        return Ok(kept(node.filter.keep(inner, segment)?));
    }
    Ok(inner)
}

/// The parts of a conjunction: a filter is read in full only where the others do not leave it hardly anything to do.
pub(crate) fn conjunction<'a>(
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
            let inner = std::mem::replace(&mut parts[at], Box::new(super::simple::NoDocs));
            parts[at] = kept(node.filter.keep(inner, segment)?);
        }
    }
    Ok(parts)
}
