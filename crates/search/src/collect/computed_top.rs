//! The best hits by keys of which some are strings computed at search time, which have no ordinals.

use std::cmp::Ordering;

use limber_segment::DocId;

use super::key::{compare_keys, compare_terms};
use super::reader::KeyReader;
use super::sort::BoundSort;
use super::top_fields::Tie;
use crate::values::sort_key::SortKey;

/// The best hits, best first, by keys that compare across segments and shards.
pub(super) struct ComputedTop {
    pub sorts: Vec<BoundSort>,
    pub hits: Vec<(Box<[SortKey]>, DocId, f32)>,
    pub cutoff: Option<(Box<[SortKey]>, bool)>,
    pub after: Option<(Box<[SortKey]>, Tie)>,
    /// By the index of a string in the current batch: whether documents with it are known to be beyond the
    /// worst wanted hit.
    pub beyond: Vec<bool>,
}

/// Strings of a batch for which it is kept whether they can be among the best.
const TERMS_KEPT_MAX: usize = 1 << 16;

impl ComputedTop {
    /// Begins a batch of documents.
    pub fn begin_batch(&mut self) {
        self.beyond.clear();
    }

    /// Whether a document with this first key cannot be among the best. Most documents fail this test, before
    /// their keys are even assembled, and most of a batch share their strings with others.
    pub fn is_beyond(&mut self, first: &KeyReader<'_>, key: i64, count_max: usize) -> bool {
        let KeyReader::Computed(reader) = first else { return false };
        // Documents ascend, so the first of equal ones stays.
        let (worst, tie_wins) = match (self.hits.last(), &self.cutoff) {
            (Some((worst, ..)), _) if self.hits.len() >= count_max => (worst, false),
            (_, Some((cutoff, tie_wins))) => (cutoff, *tie_wins),
            _ => return false,
        };
        let SortKey::Term(worst) = &worst[0] else { return false };
        // The worst wanted hit only gets better, so what is beyond it stays so.
        let term = reader.term_index(key as usize);
        if self.beyond.get(term).copied().unwrap_or(false) {
            return true;
        }
        let own = reader.key(key as usize).map(|key| &**key);
        let is_beyond = match compare_terms(&self.sorts[0], own, worst.as_deref()) {
            Ordering::Greater => true,
            Ordering::Equal => self.sorts.len() == 1 && !tie_wins,
            Ordering::Less => false,
        };
        if is_beyond && term < TERMS_KEPT_MAX {
            self.beyond.resize(self.beyond.len().max(term + 1), false);
            self.beyond[term] = true;
        }
        is_beyond
    }

    /// Adds a document if it is among the best; documents ascend.
    pub fn offer(&mut self, keys: Box<[SortKey]>, doc: DocId, shard_doc: u64, score: f32, count_max: usize) {
        if let Some((after, tie)) = &self.after {
            match compare_keys(&self.sorts, &keys, after) {
                Ordering::Less => return,
                Ordering::Equal if tie.has_seen(shard_doc) => return,
                _ => {}
            }
        }
        if let Some((cutoff, tie_wins)) = &self.cutoff {
            match compare_keys(&self.sorts, &keys, cutoff) {
                Ordering::Greater => return,
                Ordering::Equal if !tie_wins => return,
                _ => {}
            }
        }
        let sorts = &self.sorts;
        let place =
            self.hits.partition_point(|(known, ..)| compare_keys(sorts, known, &keys) != Ordering::Greater);
        if place < count_max {
            self.hits.insert(place, (keys, doc, score));
            self.hits.truncate(count_max);
        }
    }
}
