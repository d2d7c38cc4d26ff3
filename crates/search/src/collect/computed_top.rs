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
}

impl ComputedTop {
    /// Whether a document with this first key cannot be among the best. Most documents fail this test, before
    /// their keys are even assembled.
    pub fn is_beyond(&self, first: &KeyReader<'_>, key: i64, count_max: usize) -> bool {
        let (KeyReader::Computed(reader), Some((worst, ..))) = (first, self.hits.last()) else {
            return false;
        };
        let SortKey::Term(worst) = &worst[0] else { return false };
        if self.hits.len() < count_max {
            return false;
        }
        let own = reader.key(key as usize).map(|key| &**key);
        match compare_terms(&self.sorts[0], own, worst.as_deref()) {
            Ordering::Greater => true,
            // Documents ascend, so the first of equal ones stays.
            Ordering::Equal => self.sorts.len() == 1,
            Ordering::Less => false,
        }
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
