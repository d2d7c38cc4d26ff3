//! Which fields of which segments a search reads, and which of their data.
//!
//! A thread that searches [enters](enter) the record of its search; the accessors of [`crate::Segment`] note
//! what they give out. Outside of a search nothing is noted.
//!
//! Source: Elasticsearch's `FieldUsageTrackingDirectoryReader`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use crate::file::NO_FIELD;

/// The kinds of a field's data, as bits.
pub mod part {
    /// The sorted terms.
    pub const TERMS: u16 = 1;
    /// The documents of terms.
    pub const POSTINGS: u16 = 1 << 1;
    /// How often terms occur in documents.
    pub const TERM_FREQUENCIES: u16 = 1 << 2;
    /// The positions of terms in documents.
    pub const POSITIONS: u16 = 1 << 3;
    /// Values by document.
    pub const DOC_VALUES: u16 = 1 << 4;
    /// Values sorted for ranges and places.
    pub const POINTS: u16 = 1 << 5;
    /// Lengths of the field.
    pub const NORMS: u16 = 1 << 6;
    /// What is stored of documents: their ids and sources.
    pub const STORED_FIELDS: u16 = 1 << 7;
}

/// The number that stands for the ids of documents, which belong to no field of a segment.
pub(crate) const IDS: u32 = NO_FIELD - 1;

/// What one search has read: the parts of each field, by the segment's [`crate::Segment::core`] and the
/// number of the field.
#[derive(Debug, Default)]
pub struct Uses(Mutex<HashMap<(u64, u32), u16>>);

/// A use that was noted: segment, field, part.
type Note = (u64, u32, u16);

thread_local! {
    static CURRENT: RefCell<Option<Arc<Uses>>> = const { RefCell::new(None) };
    /// The last use that this thread has noted: reading documents repeats it.
    static LAST: Cell<Note> = const { Cell::new((0, 0, 0)) };
}

impl Uses {
    /// Returns the fields of each segment whose data were read, with the parts, by [`crate::Segment::core`].
    pub fn by_segment(&self) -> HashMap<u64, Vec<(u32, u16)>> {
        let mut by_segment: HashMap<u64, Vec<(u32, u16)>> = HashMap::new();
        for ((core, field), parts) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            by_segment.entry(*core).or_default().push((*field, *parts));
        }
        by_segment
    }
}

/// Returns the record of this thread's search.
pub fn current() -> Option<Arc<Uses>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Makes this thread note what it reads in `uses` until the guard drops, then in the record before.
pub fn enter(uses: Option<Arc<Uses>>) -> Entered {
    LAST.set((0, 0, 0));
    Entered { before: CURRENT.replace(uses), _of_this_thread: PhantomData }
}

/// Guard: while it lives, its thread notes what it reads. See [`enter`].
#[must_use = "the record is left when this drops"]
#[derive(Debug)]
pub struct Entered {
    before: Option<Arc<Uses>>,
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        LAST.set((0, 0, 0));
        CURRENT.set(self.before.take());
    }
}

/// Notes that a part of a field is read.
#[inline]
pub(crate) fn note(core: u64, field: u32, parts: u16) {
    let use_of = (core, field, parts);
    if LAST.get() == use_of {
        return;
    }
    LAST.set(use_of);
    CURRENT.with_borrow(|current| {
        if let Some(uses) = current {
            *uses.0.lock().unwrap_or_else(PoisonError::into_inner).entry((core, field)).or_default() |= parts;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_those_of_the_search_that_was_entered() {
        note(7, 1, part::TERMS);
        let (outer, inner) = (Arc::new(Uses::default()), Arc::new(Uses::default()));
        {
            let _outer = enter(Some(outer.clone()));
            note(7, 1, part::TERMS);
            note(7, 1, part::POSTINGS);
            {
                let _inner = enter(Some(inner.clone()));
                note(7, 1, part::POSTINGS);
                note(8, 2, part::POINTS);
            }
            note(7, 1, part::POSTINGS);
            note(9, 3, part::NORMS);
        }
        note(7, 4, part::TERMS);
        let terms = part::TERMS | part::POSTINGS;
        assert_eq!(outer.by_segment(), HashMap::from([(7, vec![(1, terms)]), (9, vec![(3, part::NORMS)])]));
        let inner = inner.by_segment();
        assert_eq!(inner, HashMap::from([(7, vec![(1, part::POSTINGS)]), (8, vec![(2, part::POINTS)])]));
        assert!(current().is_none());
    }
}
