//! The segments of a shard, and which of their documents are deleted, whether published or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use limber_segment::id_filter::id_hash;
use limber_segment::{DocId, LiveDocs, Segment, SegmentId, SegmentView};
use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};

/// An open segment, and the pool that its heap memory is charged to.
pub(crate) struct ChargedSegment {
    pub segment: Arc<Segment>,
    pub pool: Arc<Pool>,
}

/// One segment in the shard's list.
pub(crate) struct SegmentEntry {
    pub segment: Arc<Segment>,
    pub live: Mutex<LiveState>,
    pool: Arc<Pool>,
    /// Whether its files are durable.
    pub synced: AtomicBool,
    /// Whether a merge reads it.
    pub merging: AtomicBool,
}

/// The deleted documents of one segment.
#[derive(Default)]
pub(crate) struct LiveState {
    /// With all deletes so far; `None` when all documents are live.
    pub current: Option<LiveDocs>,
    /// Whether `current` differs from what is published.
    pub is_dirty: bool,
    /// The live docs that searches see.
    pub published: Option<Arc<LiveDocs>>,
    /// Present once the segment has a deleted document.
    charge: Option<Charge>,
    /// The live docs in the last commit, and the generation of their file.
    pub committed: Option<(u64, Arc<LiveDocs>)>,
}

/// Copies of a segment's live docs: those of writers, of searches, and of the last commit.
const LIVE_DOCS_COPIES: u64 = 3;

impl LiveState {
    fn charge(&mut self, pool: &Arc<Pool>, doc_count: u32) {
        if self.charge.is_none() {
            self.charge = Some(pool.charge_always(LIVE_DOCS_COPIES * u64::from(doc_count).div_ceil(8)));
        }
    }
}

impl SegmentEntry {
    pub(crate) fn new(opened: ChargedSegment, live: Option<LiveDocs>) -> SegmentEntry {
        let ChargedSegment { segment, pool } = opened;
        let mut state = LiveState { current: live, is_dirty: true, ..LiveState::default() };
        if state.current.is_some() {
            state.charge(&pool, segment.doc_count());
        }
        SegmentEntry {
            segment,
            live: Mutex::new(state),
            pool,
            synced: AtomicBool::new(false),
            merging: AtomicBool::new(false),
        }
    }

    /// Makes the entry of a segment in a commit.
    pub(crate) fn committed(opened: ChargedSegment, live: Option<(u64, LiveDocs)>) -> SegmentEntry {
        let ChargedSegment { segment, pool } = opened;
        let live = live.map(|(generation, live)| (generation, Arc::new(live)));
        let published = live.as_ref().map(|(_, live)| live.clone());
        let mut state = LiveState {
            current: published.as_deref().cloned(),
            is_dirty: false,
            published,
            charge: None,
            committed: live,
        };
        if state.current.is_some() {
            state.charge(&pool, segment.doc_count());
        }
        SegmentEntry {
            segment,
            live: Mutex::new(state),
            pool,
            synced: AtomicBool::new(true),
            merging: AtomicBool::new(false),
        }
    }

    pub(crate) fn id(&self) -> SegmentId {
        self.segment.meta().id
    }

    /// Deletes a document. Searches notice this after the next refresh.
    pub(crate) fn delete(&self, doc: DocId) {
        let mut state = self.live.lock();
        let doc_count = self.segment.doc_count();
        state.charge(&self.pool, doc_count);
        let live = state.current.get_or_insert_with(|| LiveDocs::all(doc_count));
        if live.delete(doc) {
            state.is_dirty = true;
        }
    }

    pub(crate) fn is_live(&self, doc: DocId) -> bool {
        self.live.lock().current.as_ref().is_none_or(|live| live.is_live(doc))
    }

    /// Publishes all deletes so far. Called while no writer is active.
    pub(crate) fn publish(&self) -> bool {
        let mut state = self.live.lock();
        if !state.is_dirty {
            return false;
        }
        state.published = state.current.clone().map(Arc::new);
        state.is_dirty = false;
        true
    }

    pub(crate) fn view(&self) -> SegmentView {
        SegmentView { segment: self.segment.clone(), live: self.live.lock().published.clone() }
    }

    /// Returns how many documents there are, and how many of them are deleted, as searches see them.
    pub(crate) fn counts(&self) -> (u32, u32) {
        let deleted = self.live.lock().published.as_ref().map_or(0, |live| live.deleted_count());
        (self.segment.doc_count(), deleted)
    }

    pub(crate) fn live_bytes(&self) -> u64 {
        let (doc_count, deleted) = self.counts();
        if doc_count == 0 {
            return 0;
        }
        (self.segment.file_bytes() as f64 * f64::from(doc_count - deleted) / f64::from(doc_count)) as u64
    }

    pub(crate) fn try_begin_merge(&self) -> bool {
        !self.merging.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn end_merge(&self) {
        self.merging.store(false, Ordering::Release);
    }
}

/// Segments in the order in which they were created.
pub(crate) type SegmentList = Vec<Arc<SegmentEntry>>;

/// Finds the live document with this id, searching the newest segment first.
pub(crate) fn locate<'a>(
    segments: &'a [Arc<SegmentEntry>],
    id: &[u8],
    find: impl Fn(&Segment, &[u8], u64) -> limber_segment::Result<Option<DocId>>,
) -> limber_segment::Result<Option<(&'a Arc<SegmentEntry>, DocId)>> {
    let hash = id_hash(id);
    for entry in segments.iter().rev() {
        if let Some(doc) = find(&entry.segment, id, hash)?
            && entry.is_live(doc)
        {
            return Ok(Some((entry, doc)));
        }
    }
    Ok(None)
}

/// Reads a number of a document from one of the metadata columns.
pub(crate) fn number_of(segment: &Segment, column: &'static str, doc: DocId) -> limber_segment::Result<u64> {
    let number = match segment.numbers(column)? {
        Some(column) => column.get(doc)?.unwrap_or(0) as u64,
        None => 0,
    };
    segment.intact()?;
    Ok(number)
}
