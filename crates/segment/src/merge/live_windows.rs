//! Reads the live documents of a segment, as many at a time as a column reads at once.

use crate::columns::format::GROUP as WINDOW;
use crate::{DocId, SegmentView};

pub(super) struct LiveWindows<'a> {
    view: &'a SegmentView,
    next: DocId,
}

impl<'a> LiveWindows<'a> {
    pub(crate) fn new(view: &'a SegmentView) -> LiveWindows<'a> {
        LiveWindows { view, next: 0 }
    }

    /// Replaces `docs` by the live documents of the next window that has any; returns `false` at the end.
    pub fn read(&mut self, docs: &mut Vec<DocId>) -> bool {
        docs.clear();
        let doc_count = self.view.doc_count();
        while docs.is_empty() {
            if self.next >= doc_count {
                return false;
            }
            let end = doc_count.min(self.next.saturating_add(WINDOW as u32));
            match &self.view.live {
                None => docs.extend(self.next..end),
                Some(live) => docs.extend((self.next..end).filter(|doc| live.is_live(*doc))),
            }
            self.next = end;
        }
        true
    }
}
