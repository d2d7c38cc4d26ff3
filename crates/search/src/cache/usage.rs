//! "Is this filter used often enough to be cached?"

use std::collections::{HashMap, VecDeque};

/// The most recently used filters, by the hashes of their keys.
///
/// Source: Lucene's `UsageTrackingQueryCachingPolicy`, whose history length is used.
#[derive(Debug, Default)]
pub(super) struct Usage {
    recent: VecDeque<u64>,
    counts: HashMap<u64, u32>,
}

const HISTORY_COUNT: usize = 256;

impl Usage {
    /// Records one use; returns how many of the recent uses were of this filter.
    pub fn note(&mut self, hash: u64) -> u32 {
        if self.recent.len() == HISTORY_COUNT
            && let Some(oldest) = self.recent.pop_front()
            && let Some(count) = self.counts.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&oldest);
            }
        }
        self.recent.push_back(hash);
        let count = self.counts.entry(hash).or_default();
        *count += 1;
        *count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_recent_uses_count() {
        let mut usage = Usage::default();
        assert_eq!((1..=3).map(|_| usage.note(7)).collect::<Vec<_>>(), [1, 2, 3]);
        (1000..1000 + HISTORY_COUNT as u64).for_each(|other| _ = usage.note(other));
        assert_eq!(usage.note(7), 1);
        assert!(usage.counts.len() <= HISTORY_COUNT);
    }
}
