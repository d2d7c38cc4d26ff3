//! `index.search.slowlog.*` and `index.indexing.slowlog.*`: "from which duration on is an operation logged as
//! slow?"
//!
//! Source: `org.elasticsearch.index.SearchSlowLog`, `IndexingSlowLog`.

use std::time::Duration;

/// Elasticsearch's levels of a slow log, the most severe first.
pub(super) const LEVELS: [&str; 4] = ["warn", "info", "debug", "trace"];

/// From which duration on something is logged, by level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Thresholds(pub [Option<Duration>; 4]);

impl Thresholds {
    /// Returns the position in [`LEVELS`] of the most severe level that `took` reaches.
    pub(crate) fn reached(&self, took: Duration) -> Option<usize> {
        self.0.iter().position(|threshold| threshold.is_some_and(|threshold| took >= threshold))
    }

    fn is_set(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }
}

/// `index.search.slowlog.*` and `index.indexing.slowlog.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowLog {
    /// Thresholds for a shard's query phase.
    pub query: Thresholds,
    /// Thresholds for a shard's fetch phase.
    pub fetch: Thresholds,
    /// Thresholds for one write.
    pub indexing: Thresholds,
    /// How many characters of a document are logged (`index.indexing.slowlog.source`).
    pub source_chars_max: usize,
    /// Whether documents are logged on one line without white space (`index.indexing.slowlog.reformat`).
    pub reformats: bool,
    /// Whether log lines of searches name the user (`index.search.slowlog.include.user`).
    pub names_searchers: bool,
    /// Whether log lines of writes name the user (`index.indexing.slowlog.include.user`).
    pub names_writers: bool,
}

impl SlowLog {
    pub(crate) fn is_about_searches(&self) -> bool {
        self.query.is_set() || self.fetch.is_set()
    }

    pub(crate) fn is_slow_write(&self, took: Duration) -> bool {
        self.indexing.reached(took).is_some()
    }

    pub(crate) fn is_about_writes(&self) -> bool {
        self.indexing.is_set()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_severe_level_tells() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let thresholds = Thresholds([ms(1000), ms(500), None, ms(0)]);
        for (took, level) in [(2000, Some(0)), (1000, Some(0)), (700, Some(1)), (100, Some(3)), (0, Some(3))]
        {
            assert_eq!(thresholds.reached(Duration::from_millis(took)), level, "{took} ms");
        }
        assert!(thresholds.is_set() && !Thresholds::default().is_set());
        assert_eq!(Thresholds::default().reached(Duration::MAX), None);
    }
}
