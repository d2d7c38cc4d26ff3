//! The ids of documents when a bulk task simulates updates (`track/params.py`, `GenerateActionMetaData`).
//!
//! Each client has the ids of its own documents, in order or shuffled. A document gets the next unused id, or
//! with `conflict-probability` a used one: any of them, or with `recency` preferably a recent one. A seed
//! determines the choices, so that a race can be repeated.

use crate::random::Random;

/// Slope of the exponential distribution behind `recency`.
const RECENCY_SLOPE: f64 = 30.0;

/// How ids are chosen, from the parameters of a bulk operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ConflictRule {
    pub is_shuffled: bool,
    /// In [0, 1].
    pub probability: f64,
    /// Whether a document with a used id is an update instead of an index action.
    pub is_update: bool,
    /// In [0, 1]; with 0, any used id is equally likely.
    pub recency: f64,
}

/// The ids of one client's share of a document set.
#[derive(Debug)]
pub(super) struct ConflictingIds {
    rule: ConflictRule,
    first_id: u64,
    documents: u64,
    /// A permutation of the documents' positions in the share; empty when ids are in order.
    shuffled: Vec<u32>,
    used: u64,
    random: Random,
}

impl ConflictingIds {
    /// `first_id` is the position of the share's first document in its set.
    pub(super) fn new(rule: ConflictRule, first_id: u64, documents: u64) -> ConflictingIds {
        let mut random = Random::new(first_id ^ documents.rotate_left(32));
        let mut shuffled = Vec::new();
        if rule.is_shuffled {
            shuffled.extend(0..u32::try_from(documents).unwrap_or(u32::MAX));
            for index in (1..shuffled.len()).rev() {
                shuffled.swap(index, random.below(index as u64 + 1) as usize);
            }
        }
        ConflictingIds { rule, first_id, documents, shuffled, used: 0, random }
    }

    /// Returns the next document's id and whether it is an update; `None` when all ids of the share are used.
    pub(super) fn next(&mut self) -> Option<(u64, bool)> {
        let ConflictRule { probability, is_update, recency, .. } = self.rule;
        if probability > 0.0 && self.used > 0 && self.random.unit() <= probability {
            let position = match recency {
                0.0 => self.random.below(self.used),
                recency => {
                    let back = self.random.exponential(RECENCY_SLOPE * recency).min(1.0);
                    ((self.used - 1) as f64 * (1.0 - back)).round_ties_even() as u64
                }
            };
            return Some((self.id(position), is_update));
        }
        let position = (self.used < self.documents).then_some(self.used)?;
        self.used += 1;
        Some((self.id(position), false))
    }

    fn id(&self, position: u64) -> u64 {
        self.first_id + self.shuffled.get(position as usize).map_or(position, |index| u64::from(*index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(rule: ConflictRule, documents: u64) -> Vec<(u64, bool)> {
        let mut ids = ConflictingIds::new(rule, 100, documents);
        (0..documents).map_while(|_| ids.next()).collect()
    }

    const NONE: ConflictRule =
        ConflictRule { is_shuffled: false, probability: 0.0, is_update: true, recency: 0.0 };

    #[test]
    fn without_conflicts_every_id_comes_once() {
        assert_eq!(ids(NONE, 3), [(100, false), (101, false), (102, false)]);
        let mut shuffled = ids(ConflictRule { is_shuffled: true, ..NONE }, 1000);
        assert_ne!(shuffled[..3], [(100, false), (101, false), (102, false)]);
        shuffled.sort_unstable();
        assert!(shuffled.iter().map(|(id, _)| *id).eq(100..1100));
        let mut few = ConflictingIds::new(NONE, 0, 1);
        assert_eq!((few.next(), few.next()), (Some((0, false)), None));
    }

    #[test]
    fn conflicts_have_their_share_and_their_age() {
        let rule = ConflictRule { probability: 0.25, ..NONE };
        let anywhere = ids(rule, 40_000);
        let updates = anywhere.iter().filter(|(_, is_update)| *is_update).count();
        assert!((9_500..10_500).contains(&updates), "{updates}");
        // Mean age of the ids that are used again, relative to the number of ids used so far.
        let mean_age = |ids: &[(u64, bool)]| {
            let (mut used, mut ages, mut count) = (0.0, 0.0, 0.0);
            for (id, is_update) in ids {
                if *is_update {
                    ages += (used - (*id as f64 - 100.0)) / used;
                    count += 1.0;
                } else {
                    used += 1.0;
                }
            }
            ages / count
        };
        assert!((mean_age(&anywhere) - 0.5).abs() < 0.02, "{}", mean_age(&anywhere));
        let recent = mean_age(&ids(ConflictRule { recency: 1.0, ..rule }, 40_000));
        assert!((recent - 1.0 / 30.0).abs() < 0.005, "{recent}");
    }
}
