//! A shard of which only some documents may be seen: all others count as deleted.

use std::sync::Arc;

use limber_segment::{DocId, LiveDocs, SegmentView};
use limber_work as work;
use serde_json::Value;

use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::{BoundQuery, bind};
use crate::request::read_query;

/// Documents that are checked together, between two checks for cancellation.
const DOCS_AT_ONCE: u32 = 64 << 10;

/// Returns `shard` with only the documents that match `query`. It is not cached, because the caches do not
/// know which user asks.
///
/// The query may not name documents, as in Elasticsearch (`DLSRoleQueryValidator`). They would be read as the
/// same user, who sees of them what this query shows, so that it would be run for itself without end.
///
/// # Errors
/// The query does not parse, cannot be bound to the shard or names documents; then nothing is shown.
pub fn only_matching(shard: ShardSnapshot, query: &Value, now_millis: i64) -> Result<ShardSnapshot> {
    let query = read_query(query)?;
    let bound = bind(&query, &ShardSnapshot { documents: None, ..shard.clone() }, now_millis)?;
    let segments = shard.segments.iter().map(|view| limited(view, &bound)).collect::<Result<_>>()?;
    Ok(ShardSnapshot { segments, caches: None, hides_documents: true, ..shard })
}

fn limited(view: &SegmentView, query: &BoundQuery) -> Result<SegmentView> {
    let count = view.doc_count();
    let mut live = LiveDocs::all(count);
    for start in (0..count).step_by(DOCS_AT_ONCE as usize) {
        work::check_beyond_deadline()?;
        let docs: Vec<DocId> = (start..count.min(start + DOCS_AT_ONCE)).collect();
        let asked: Vec<DocId> = docs.iter().copied().filter(|doc| view.is_live(*doc)).collect();
        let mut matching = query.matching_docs(&view.segment, &asked)?.into_iter().peekable();
        for doc in docs {
            if matching.next_if_eq(&doc).is_none() {
                live.delete(doc);
            }
        }
    }
    Ok(SegmentView { segment: view.segment.clone(), live: Some(Arc::new(live)) })
}
