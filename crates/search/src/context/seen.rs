//! Which documents the scripts of a query may read.
//!
//! Matchers do not know which documents are live: they also find others, which are left out afterwards. By
//! then a script may have shown what it read, for example in an error that contains a value. So scripts of
//! users who may not see all documents only run on the documents that these users may see.

use std::sync::Arc;

use limber_segment::{DocId, LiveDocs, Segment, SegmentView};

use super::search_context::ShardSnapshot;

/// The documents of a shard that scripts may read: the live ones of each segment in the list, or all of them
/// if it is `None`.
#[derive(Clone)]
pub(crate) struct SeenDocs(Option<Arc<[SegmentView]>>);

impl std::fmt::Debug for SeenDocs {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "SeenDocs of {:?} segments", self.0.as_ref().map(|views| views.len()))
    }
}

impl SeenDocs {
    /// Returns what the user of this snapshot may see.
    pub fn of(shard: &ShardSnapshot) -> SeenDocs {
        SeenDocs(shard.hides_documents.then(|| shard.segments.as_slice().into()))
    }

    /// Returns which documents of a segment are seen; none of a segment that the snapshot does not have.
    pub fn within(&self, segment: &Segment) -> Seen {
        let Some(views) = &self.0 else { return Seen::All };
        match views.iter().find(|view| std::ptr::eq(&*view.segment, segment)) {
            None => Seen::Nothing,
            Some(view) => view.live.clone().map_or(Seen::All, Seen::Live),
        }
    }
}

/// Which documents of one segment are seen.
pub(crate) enum Seen {
    /// All documents are seen.
    All,
    /// The live documents are seen.
    Live(Arc<LiveDocs>),
    /// No document is seen.
    Nothing,
}

impl Seen {
    /// Removes documents that are not seen.
    pub fn retain(&self, docs: &mut Vec<DocId>) {
        match self {
            Seen::All => {}
            Seen::Live(live) => docs.retain(|doc| live.is_live(*doc)),
            Seen::Nothing => docs.clear(),
        }
    }
}
