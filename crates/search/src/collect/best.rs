//! The best hits of all shards, which are searched one after the other: hits of the earlier shards save
//! work on the later ones.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::Hit;
use super::key::compare_keys;
use super::sort::{BoundSort, KeyKind};
use crate::values::sort_key::SortKey;

/// The best hits of all shards together, best first; ties by shard, then by document. With collapsing, one
/// hit per group.
pub(crate) struct Best {
    count_max: usize,
    hits: Vec<(usize, Hit)>,
}

/// Keeps the best hits of one shard, best first, and of each group only its best. Of hits with equal keys or
/// scores, the earlier document is the better one.
pub(crate) fn keep_best(hits: &mut Vec<Hit>, sorts: &[BoundSort], count_max: usize) {
    hits.sort_by(|left, right| {
        let by_rank = match sorts.is_empty() {
            true => right.score.total_cmp(&left.score),
            false => compare_keys(sorts, &left.keys, &right.keys),
        };
        by_rank.then(left.shard_doc.cmp(&right.shard_doc))
    });
    let mut groups = HashSet::new();
    hits.retain(|hit| hit.group.as_ref().is_none_or(|group| groups.insert(group.clone())));
    hits.truncate(count_max);
}

/// The worst of the wanted hits, once there are enough: a later shard need not collect hits that come after
/// it.
#[derive(Debug, Clone)]
pub(crate) struct MinCompetitive {
    pub score: f32,
    /// One key for each sort; empty when sorted by score.
    pub keys: Box<[SortKey]>,
    /// Whether a hit with the same keys comes before this one.
    pub tie_wins: bool,
}

impl Best {
    pub(crate) fn new(count_max: usize) -> Best {
        Best { count_max, hits: Vec::new() }
    }

    /// Returns what a hit of this shard must reach; `None` while there are fewer hits than wanted.
    pub fn min_competitive(&self, shard: usize) -> Option<MinCompetitive> {
        let (holder, worst) = self.hits.last().filter(|_| self.hits.len() >= self.count_max)?;
        Some(MinCompetitive { score: worst.score, keys: worst.keys.clone(), tie_wins: shard < *holder })
    }

    /// Adds a shard's hits, which are in order, best first.
    pub fn add(&mut self, shard: usize, hits: Vec<Hit>, sorts: &[BoundSort]) {
        if hits.is_empty() {
            return;
        }
        let before = std::mem::take(&mut self.hits);
        let mut groups = HashSet::new();
        self.hits.reserve(self.count_max.min(before.len() + hits.len()));
        let (mut before, mut hits) = (before.into_iter().peekable(), hits.into_iter().peekable());
        while self.hits.len() < self.count_max {
            let takes_own = match (before.peek(), hits.peek()) {
                (Some((holder, held)), Some(hit)) => {
                    let order = match sorts.is_empty() {
                        true => held.score.total_cmp(&hit.score),
                        false => compare_keys(sorts, &hit.keys, &held.keys),
                    };
                    order.then(shard.cmp(holder)) == Ordering::Less
                }
                (None, Some(_)) => true,
                (_, None) => false,
            };
            let next = match takes_own {
                true => hits.next().map(|hit| (shard, hit)),
                false => before.next(),
            };
            match next {
                Some((_, Hit { group: Some(group), .. })) if !groups.insert(group.clone()) => {}
                Some(next) => self.hits.push(next),
                None => break,
            }
        }
    }

    /// Returns the best hit so far.
    pub fn first(&self) -> Option<&Hit> {
        self.hits.first().map(|(_, hit)| hit)
    }

    /// Returns (shard, hit) pairs, best first, without the first `from`.
    pub fn page(&self, from: usize) -> Vec<(usize, &Hit)> {
        self.hits.iter().skip(from).map(|(shard, hit)| (*shard, hit)).collect()
    }
}

impl MinCompetitive {
    /// Whether the keys are of the kinds that these sorts produce; indices may map a field differently.
    pub fn fits(&self, sorts: &[BoundSort]) -> bool {
        self.keys.len() == sorts.len()
            && self.keys.iter().zip(sorts).all(|(key, sort)| match key {
                SortKey::Number(_) => !matches!(sort.kind, KeyKind::Score | KeyKind::Term),
                SortKey::Score(_) => sort.kind == KeyKind::Score,
                SortKey::Term(_) => sort.kind == KeyKind::Term,
            })
    }

    /// Returns the score that a hit must exceed.
    pub fn threshold(&self) -> f32 {
        match self.tie_wins {
            true => self.score.next_down(),
            false => self.score,
        }
    }
}
