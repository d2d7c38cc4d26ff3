//! Conditions on scored documents that do not affect the score: live documents, filters, and queries that
//! must not match.

use limber_segment::{DocId, LiveDocs};

use crate::error::Result;
use crate::matcher::{Bits, BoxedMatcher, WINDOW};

/// The conditions on documents. Documents must be checked in ascending windows; each window with a candidate
/// is filled once.
pub(crate) struct Guards<'a> {
    live: Option<&'a LiveDocs>,
    /// `None` if there is no filter.
    filter: Option<BoxedMatcher<'a>>,
    /// The window whose documents are in `allowed`.
    window: Option<DocId>,
    allowed: Bits,
}

impl<'a> Guards<'a> {
    pub(crate) fn new(live: Option<&'a LiveDocs>, filter: Option<BoxedMatcher<'a>>) -> Guards<'a> {
        Guards { live, filter, window: None, allowed: Bits::default() }
    }

    /// Whether there are no conditions.
    #[inline]
    pub fn are_none(&self) -> bool {
        self.live.is_none() && self.filter.is_none()
    }

    /// Whether a document passes. It must not be in an earlier window than one that was checked before.
    #[inline]
    pub fn allow(&mut self, doc: DocId) -> Result<bool> {
        if self.are_none() {
            return Ok(true);
        }
        let window = doc / WINDOW * WINDOW;
        if self.window != Some(window) {
            self.fill(window)?;
        }
        Ok(self.allowed.contains(doc - window))
    }

    /// Moves the documents that pass to the front, with their scores. Returns their number.
    pub fn retain<S: Copy>(&mut self, docs: &mut [DocId], scores: &mut [S]) -> Result<usize> {
        if self.are_none() {
            return Ok(docs.len());
        }
        let mut kept = 0;
        for read in 0..docs.len() {
            (docs[kept], scores[kept]) = (docs[read], scores[read]);
            kept += usize::from(self.allow(docs[read])?);
        }
        Ok(kept)
    }

    fn fill(&mut self, window: DocId) -> Result<()> {
        self.window = Some(window);
        match &mut self.filter {
            Some(filter) => {
                self.allowed.clear();
                filter.fill(window, &mut self.allowed)?;
            }
            None => self.allowed = Bits([u64::MAX; WINDOW as usize / 64]),
        }
        if let Some(live) = self.live {
            live.mask_window((window / WINDOW) as usize, &mut self.allowed.0);
        }
        Ok(())
    }
}
