//! A searcher's view of a segment.

use std::sync::Arc;

use super::Segment;
use crate::{DocId, LiveDocs};

/// A segment and which of its documents are live, as a searcher sees it.
#[derive(Clone)]
pub struct SegmentView {
    /// The segment.
    pub segment: Arc<Segment>,
    /// `None` if all are live.
    pub live: Option<Arc<LiveDocs>>,
}

impl SegmentView {
    /// Returns a view in which all documents are live.
    pub fn new(segment: Arc<Segment>) -> SegmentView {
        SegmentView { segment, live: None }
    }

    /// Returns a view for one request. Keys of flattened fields that the segment does not cache are freed
    /// with it; if they were requested from the segment itself they would stay until it closes.
    pub fn for_request(&self) -> SegmentView {
        if !self.segment.is_full_of_keys() {
            return self.clone();
        }
        SegmentView { segment: Arc::new(self.segment.for_request()), live: self.live.clone() }
    }

    /// Returns the number of documents, deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.segment.doc_count()
    }

    /// Returns the number of documents that are not deleted.
    pub fn live_count(&self) -> u32 {
        self.live.as_ref().map_or(self.doc_count(), |live| live.live_count())
    }

    /// Returns the number of deleted documents.
    pub fn deleted_count(&self) -> u32 {
        self.doc_count() - self.live_count()
    }

    /// Whether a document is not deleted.
    #[inline]
    pub fn is_live(&self, doc: DocId) -> bool {
        self.live.as_ref().is_none_or(|live| live.is_live(doc))
    }
}
