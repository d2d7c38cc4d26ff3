//! Sort keys that are terms of a segment.

use std::sync::Arc;

use limber_segment::columns::{Batch, Cardinality, OrdinalColumn};
use limber_segment::terms::TermDictionary;
use limber_segment::{DocId, Segment};

use super::key::ordered;
use super::sort::{BoundSort, MissingTerms};
use crate::error::Result;
use crate::matcher::WINDOW;
use crate::values::mode::MultiValueMode;

/// Reads terms as `2 * ordinal + 1`, which leaves room for terms that the segment does not have.
pub(crate) struct TermReader<'a> {
    pub(super) column: Option<OrdinalColumn<'a>>,
    pub(super) dictionary: Option<&'a TermDictionary>,
    pub(super) mode: MultiValueMode,
    pub(super) descending: bool,
    /// Key of documents without a term; already inverted if the order is descending.
    pub(super) missing: i64,
    pub(super) missing_term: Option<Arc<[u8]>>,
    pub(super) batch: Batch<u32>,
}

impl<'a> TermReader<'a> {
    /// Opens the terms of a sort's field on a segment.
    pub fn open(sort: &BoundSort, segment: &'a Segment) -> Result<TermReader<'a>> {
        let descending = sort.descending;
        let (mut column, mut dictionary) = (None, None);
        if let Some(field) = &sort.field {
            column = segment.ordinals(&field.path)?;
            dictionary = segment.terms(&field.path)?;
        }
        let (missing, missing_term) = match &sort.missing_terms {
            MissingTerms::First => (i64::MIN, None),
            MissingTerms::Last => (i64::MAX, None),
            MissingTerms::Term(term) => {
                (ordered(TermReader::position(dictionary, term)?, descending), Some(term.clone()))
            }
        };
        let (mode, batch) = (sort.mode, Batch::default());
        Ok(TermReader { column, dictionary, mode, descending, missing, missing_term, batch })
    }
}

impl TermReader<'_> {
    /// Appends one key for each of `docs`, which ascend, to the empty `out`.
    pub fn read(&mut self, docs: &[DocId], out: &mut Vec<i64>) -> Result<()> {
        out.resize(docs.len(), self.missing);
        let Some(column) = &self.column else { return Ok(()) };
        column.gather(docs, &mut self.batch)?;
        let mut previous = usize::MAX;
        for (position, ordinal) in self.batch.iter() {
            // Ordinals of a document ascend: the first is its least term, the last its greatest.
            if position != previous || self.mode == MultiValueMode::Max {
                out[position] = ordered(2 * i64::from(ordinal) + 1, self.descending);
            }
            previous = position;
        }
        Ok(())
    }

    /// Computes one key for each of `count` owners: `docs[i]` belongs to `owners[i]`, both ascending.
    pub fn read_together(
        &mut self,
        docs: &[DocId],
        owners: &[u32],
        count: usize,
        out: &mut Vec<i64>,
    ) -> Result<()> {
        out.resize(count, self.missing);
        let Some(column) = &self.column else { return Ok(()) };
        column.gather(docs, &mut self.batch)?;
        let mut best: Option<(u32, u32)> = None;
        let (mode, descending) = (self.mode, self.descending);
        let mut settle = |best: Option<(u32, u32)>| {
            if let Some((owner, ordinal)) = best {
                out[owner as usize] = ordered(2 * i64::from(ordinal) + 1, descending);
            }
        };
        for (position, ordinal) in self.batch.iter() {
            let owner = owners[position];
            best = match best {
                Some((same, other)) if same == owner => {
                    let ordinal =
                        if mode == MultiValueMode::Max { other.max(ordinal) } else { other.min(ordinal) };
                    Some((owner, ordinal))
                }
                other => {
                    settle(other);
                    Some((owner, ordinal))
                }
            };
        }
        settle(best);
        Ok(())
    }

    /// Returns the position of each value's document among `docs`.
    pub fn valued(&mut self, docs: &[DocId]) -> Result<Vec<usize>> {
        let Some(column) = &self.column else { return Ok(Vec::new()) };
        column.gather(docs, &mut self.batch)?;
        Ok(self.batch.iter().map(|(position, _)| position).collect())
    }

    /// Returns the best key of the window.
    pub fn best_in(&self, start: DocId) -> Result<Option<i64>> {
        if !matches!(self.mode, MultiValueMode::Min | MultiValueMode::Max) {
            return Ok(None);
        }
        let Some(column) = &self.column else { return Ok(Some(self.missing)) };
        let Some((min, max)) = column.window_range((start / WINDOW) as usize)? else {
            return Ok(Some(self.missing));
        };
        let best = ordered(2 * i64::from(if self.descending { max } else { min }) + 1, self.descending);
        Ok(Some(if column.cardinality() == Cardinality::Single { best } else { best.min(self.missing) }))
    }

    /// Returns the position of a term among those of a segment: odd if the segment has the term.
    pub fn position(dictionary: Option<&TermDictionary>, term: &[u8]) -> Result<i64> {
        Ok(match dictionary {
            None => 0,
            Some(dictionary) => match dictionary.ordinal(term)? {
                Ok(ordinal) => 2 * ordinal as i64 + 1,
                Err(ordinal) => 2 * ordinal as i64,
            },
        })
    }
}
