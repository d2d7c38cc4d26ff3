//! What a searcher holds of a segment.

use std::sync::Arc;

use super::Segment;
use crate::{DocId, LiveDocs};

/// What a searcher holds: a segment and which of its documents are live.
#[derive(Clone)]
pub struct SegmentView {
    /// The segment.
    pub segment: Arc<Segment>,
    /// `None`: all of them.
    pub live: Option<Arc<LiveDocs>>,
}

impl SegmentView {
    /// A segment, all of whose documents are live.
    pub fn new(segment: Arc<Segment>) -> SegmentView {
        SegmentView { segment, live: None }
    }

    /// The same for as long as a request takes. Keys of flattened fields beyond those that the segment keeps
    /// are freed with what is returned; asked of the segment itself they stay until it closes.
    pub fn for_request(&self) -> SegmentView {
        if !self.segment.is_full_of_keys() {
            return self.clone();
        }
        SegmentView { segment: Arc::new(self.segment.for_request()), live: self.live.clone() }
    }

    /// Deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.segment.doc_count()
    }

    /// Documents that are not deleted.
    pub fn live_count(&self) -> u32 {
        self.live.as_ref().map_or(self.doc_count(), |live| live.live_count())
    }

    /// Documents that are deleted.
    pub fn deleted_count(&self) -> u32 {
        self.doc_count() - self.live_count()
    }

    /// Whether a document is not deleted.
    #[inline]
    pub fn is_live(&self, doc: DocId) -> bool {
        self.live.as_ref().is_none_or(|live| live.is_live(doc))
    }
}
