//! Expansion: "which terms of the shard does this prefix, pattern or set of terms stand for?"
//!
//! A query that was expanded shows its terms: profiles, explanations and `_validate/query` print them, and a
//! hit with one of them has another score. On a shard of which the user may not see all documents, only terms
//! of visible documents are therefore returned here.
//!
//! **Invariant**: no other file of the room `query` enumerates the terms of a dictionary while it binds
//! (`tests/architecture/tests/queries.rs`).

use std::ops::Bound;

use limber_mapping::Field;
use limber_segment::postings::{PostingsReader, Want};
use limber_segment::terms::TermCursor;
use limber_segment::{DocId, LiveDocs, NO_MORE_DOCS, SegmentView};
use limber_text::automaton::TermAutomaton;
use limber_work as work;

use crate::error::Result;
use crate::matcher;
use crate::primitives::Docs;
use crate::query::bind::Binder;

/// Postings that are looked at between two checks whether the request may go on.
const LOOKS_BETWEEN_CHECKS: u32 = 1024;

impl Binder<'_> {
    /// Returns the first `count_max` terms of the shard that start with `prefix`.
    ///
    /// # Errors
    /// The segment cannot be read, or the request must end.
    pub(crate) fn expand_prefix(
        &self,
        field: &Field,
        prefix: &[u8],
        count_max: usize,
    ) -> Result<Vec<Box<[u8]>>> {
        let mut found: Vec<Box<[u8]>> = Vec::new();
        for view in &self.shard().segments {
            let Some(terms) = view.segment.terms(&field.path)? else { continue };
            let mut shown = self.shown_terms(view, field)?;
            let mut cursor = terms.range(Bound::Included(prefix), Bound::Unbounded)?;
            let mut count = 0;
            while count < count_max && cursor.advance()? && cursor.term().starts_with(prefix) {
                if shown.has(&cursor)? {
                    found.push(cursor.term().into());
                    count += 1;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(count_max);
        Ok(found)
    }

    /// Calls `found` for every term of a set, segment by segment, ascending in each of them.
    ///
    /// # Errors
    /// Those of `found`; the segment cannot be read, or the request must end.
    pub(crate) fn expand_set(
        &self,
        field: &Field,
        docs: &Docs,
        mut found: impl FnMut(&TermCursor<'_>) -> Result<()>,
    ) -> Result<()> {
        for view in &self.shard().segments {
            let mut shown = self.shown_terms(view, field)?;
            matcher::each_term(docs, &view.segment, |cursor| match shown.has(cursor)? {
                true => found(cursor),
                false => Ok(()),
            })?;
        }
        Ok(())
    }

    /// Calls `found` for every term that `automaton` accepts, with its edit distance, in the order of
    /// [`Binder::expand_set`].
    ///
    /// # Errors
    /// Those of `found`; the segment cannot be read, or the request must end.
    pub(crate) fn expand_automaton(
        &self,
        field: &Field,
        automaton: &dyn TermAutomaton,
        mut found: impl FnMut(&TermCursor<'_>, u8) -> Result<()>,
    ) -> Result<()> {
        for view in &self.shard().segments {
            let Some(terms) = view.segment.terms(&field.path)? else { continue };
            let mut shown = self.shown_terms(view, field)?;
            matcher::automaton::walk(terms, automaton, |cursor, distance| match shown.has(cursor)? {
                true => found(cursor, distance),
                false => Ok(()),
            })?;
        }
        Ok(())
    }

    /// Tells which terms of a field the user may see in a segment.
    fn shown_terms<'v>(&self, view: &'v SegmentView, field: &Field) -> Result<ShownTerms<'v>> {
        let live = view.live.as_deref().filter(|live| live.deleted_count() > 0);
        let Some(live) = live.filter(|_| self.shard().hides_documents) else { return Ok(ShownTerms::All) };
        let postings = view.segment.postings_reader(&field.path)?;
        Ok(ShownTerms::Of { live, postings, looks: 0 })
    }
}

/// The terms of a field that a user may see in a segment.
enum ShownTerms<'v> {
    /// All of them, since no document is hidden.
    All,
    /// The terms of live documents. `looks` counts the postings that were looked at.
    Of { live: &'v LiveDocs, postings: Option<&'v PostingsReader>, looks: u32 },
}

impl ShownTerms<'_> {
    /// Whether a visible document has the term of the cursor. A term without postings is in none.
    fn has(&mut self, cursor: &TermCursor<'_>) -> Result<bool> {
        let ShownTerms::Of { live, postings, looks } = self else { return Ok(true) };
        let Some(reader) = postings else { return Ok(false) };
        let mut postings = reader.postings(&cursor.info()?, Want::Docs)?;
        let mut doc = postings.doc();
        while doc != NO_MORE_DOCS {
            *looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS_BETWEEN_CHECKS) {
                work::check()?;
            }
            if live.is_live(doc) {
                return Ok(true);
            }
            doc = postings.advance(next_candidate(live, doc));
        }
        postings.status()?;
        Ok(false)
    }
}

/// Words of 64 documents in which the next live document is searched, before the postings are asked again.
const WORDS_AT_ONCE: usize = 64;

/// Returns the first live document after `doc`, or a later one that is not live if all before it are hidden
/// too.
fn next_candidate(live: &LiveDocs, doc: DocId) -> DocId {
    let next = doc + 1;
    let first = next as usize / 64;
    let words = live.words().get(first..).unwrap_or_default();
    for (at, word) in words.iter().take(WORDS_AT_ONCE).enumerate() {
        let word = if at == 0 { word >> (next % 64) << (next % 64) } else { *word };
        if word != 0 {
            return ((first + at) * 64) as DocId + word.trailing_zeros();
        }
    }
    ((first + words.len().min(WORDS_AT_ONCE)) * 64) as DocId
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// No live document lies before the candidate, and every step gets further.
        #[test]
        fn candidates_pass_no_live_document(
            visible in prop::collection::btree_set(0u32..20_000, 0..6),
            doc in 0u32..20_000,
        ) {
            let mut live = LiveDocs::all(20_000);
            (0..20_000).filter(|doc| !visible.contains(doc)).for_each(|doc| { live.delete(doc); });
            let candidate = next_candidate(&live, doc);
            prop_assert!(candidate > doc);
            prop_assert!(!visible.iter().any(|visible| (doc + 1..candidate).contains(visible)));
            prop_assert!(candidate - doc > 3_900 || live.is_live(candidate) || candidate >= 20_000);
        }
    }
}
