//! Slow logs: "did this take longer than its index allows, and what was it?"
//!
//! The targets of the log lines are Elasticsearch's names, so that `logger.*` and filters find them:
//! `index.search.slowlog.query`, `index.search.slowlog.fetch`, `index.indexing.slowlog.index`. The times of a
//! search are those of the whole request and not of each shard, because the shards are searched in parallel
//! on shared threads.
//!
//! Source: `org.elasticsearch.index.SearchSlowLog`, `IndexingSlowLog`.

use std::sync::Arc;
use std::time::Duration;

use super::Shard;
use crate::settings::SlowLog;
use crate::translog::Operation;

/// The most of a document, in characters, and of a routing that is logged, whatever the index allows: a line
/// is put together in memory that its thread keeps.
const SOURCE_CHARS_MAX: usize = 32 << 10;
const ROUTING_CHARS_MAX: usize = 512;

/// A search that has ended.
pub(crate) struct Searched<'a> {
    pub query_time: Duration,
    pub fetch_time: Duration,
    pub total_hits: Option<u64>,
    pub shard_count: u32,
    /// The request's body, possibly truncated.
    pub source: &'a str,
}

/// Logs a line at a level that is known only at run time.
macro_rules! log_at {
    ($target:literal, $level:expr, $($fields:tt)*) => {
        match $level {
            0 => tracing::warn!(target: $target, $($fields)*),
            1 => tracing::info!(target: $target, $($fields)*),
            2 => tracing::debug!(target: $target, $($fields)*),
            _ => tracing::trace!(target: $target, $($fields)*),
        }
    };
}

/// Returns the user who sent the request, if the user is logged and known.
fn user(is_told: bool) -> Option<String> {
    limber_access::current().filter(|_| is_told).map(|access| access.identity.username.clone())
}

/// Logs a search once for each index whose threshold it exceeded.
pub(crate) fn log_search(shards: &[Arc<Shard>], searched: &Searched<'_>) {
    let mut last: Option<&str> = None;
    for shard in shards {
        // The shards of an index are adjacent.
        if last.replace(&shard.index.name) == Some(&*shard.index.name) {
            continue;
        }
        let settings = shard.index.settings.load();
        if !settings.slow_log.is_about_searches() {
            continue;
        }
        let (index, total_hits, total_shards) =
            (&*shard.index.name, searched.total_hits, searched.shard_count);
        let source = searched.source;
        let user = user(settings.slow_log.names_searchers);
        if let Some(level) = settings.slow_log.query.reached(searched.query_time) {
            let took_millis = searched.query_time.as_millis() as u64;
            log_at!(
                "index.search.slowlog.query",
                level,
                index,
                took_millis,
                total_hits,
                total_shards,
                user,
                source,
                "slow query"
            );
        }
        if let Some(level) = settings.slow_log.fetch.reached(searched.fetch_time) {
            let took_millis = searched.fetch_time.as_millis() as u64;
            log_at!(
                "index.search.slowlog.fetch",
                level,
                index,
                took_millis,
                total_hits,
                total_shards,
                user,
                source,
                "slow fetch"
            );
        }
    }
}

/// Logs a document if indexing it took too long.
pub(super) fn log_write(shard: &Shard, log: &SlowLog, operation: &Operation<'_>, took: Duration) {
    let Some(level) = log.indexing.reached(took) else { return };
    let id = operation.id;
    let routing: Option<String> =
        operation.routing.map(|routing| routing.chars().take(ROUTING_CHARS_MAX).collect());
    let shown = beginning(operation.source, log.source_chars_max, log.reformats);
    let user = user(log.names_writers);
    let (index, took_millis) = (&*shard.index.name, took.as_millis() as u64);
    log_at!(
        "index.indexing.slowlog.index",
        level,
        index,
        took_millis,
        id,
        routing,
        user,
        source = shown,
        "slow indexing"
    );
}

/// Returns the beginning of a document as it is logged.
fn beginning(source: &[u8], chars_max: usize, reformats: bool) -> String {
    let text = String::from_utf8_lossy(source);
    let mut in_text = InText::default();
    let kept = text.chars().filter(|char| !reformats || in_text.keeps(*char));
    kept.take(chars_max.min(SOURCE_CHARS_MAX)).collect()
}

/// Scans JSON text to decide whether white space is part of a string.
#[derive(Default)]
struct InText {
    is_inside: bool,
    is_escaped: bool,
}

impl InText {
    fn keeps(&mut self, char: char) -> bool {
        let is_escaped = std::mem::take(&mut self.is_escaped);
        match char {
            '"' if !is_escaped => self.is_inside = !self.is_inside,
            '\\' => self.is_escaped = self.is_inside && !is_escaped,
            _ => {}
        }
        self.is_inside || !char.is_ascii_whitespace()
    }
}

#[cfg(test)]
mod tests {
    use super::{InText, SOURCE_CHARS_MAX, beginning};

    #[test]
    fn lines_have_a_length() {
        let long = "ä ".repeat(2 * SOURCE_CHARS_MAX);
        assert_eq!(beginning(long.as_bytes(), usize::MAX, true), "ä".repeat(SOURCE_CHARS_MAX));
        assert_eq!(beginning(long.as_bytes(), 3, false), "ä ä");
    }

    #[test]
    fn blanks_between_values_are_left_out() {
        let mut in_text = InText::default();
        let source = "{ \"a b\" :\n [1, \"x \\\" y\", \"\\\\\" ] }";
        let kept: String = source.chars().filter(|char| in_text.keeps(*char)).collect();
        assert_eq!(kept, "{\"a b\":[1,\"x \\\" y\",\"\\\\\"]}");
    }
}
