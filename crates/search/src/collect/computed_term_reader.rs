//! Sort keys that are strings computed at search time, not terms of a segment.

use std::sync::Arc;

use limber_script::{DistinctValues, Value};
use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::matcher::WINDOW;
use crate::script::{BoundScript, RuntimeField, RuntimeTerms};
use crate::values::mode::MultiValueMode;

/// Reads strings that are in no dictionary. They have no ordinals to sort by, so they are kept as they are.
pub(crate) struct ComputedTermReader<'a> {
    pub(super) runtime: Option<Arc<RuntimeField>>,
    /// The script of a sort by string.
    pub(super) script: Option<Arc<BoundScript>>,
    pub(super) segment: &'a Segment,
    pub(super) mode: MultiValueMode,
    pub(super) missing: Option<Arc<[u8]>>,
    /// The strings that were read last.
    pub(super) terms: Vec<Arc<[u8]>>,
    /// For each document that was read last, the index of its key in `terms`, or [`NONE`].
    pub(super) of_docs: Vec<u32>,
}

/// Marks a document without a key.
const NONE: u32 = u32::MAX;

impl ComputedTermReader<'_> {
    /// Reads one key for each of `docs`, whose scores are `scores`.
    pub fn read(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        self.read_or(docs, scores, self.missing.clone())
    }

    /// Reads one key for each of `count` owners: `docs[i]` belongs to `owners[i]`, both ascending.
    pub fn read_together(&mut self, docs: &[DocId], owners: &[u32], count: usize) -> Result<()> {
        let mut best: Vec<Option<Arc<[u8]>>> = vec![None; count];
        let mut owners = owners.iter();
        for window in docs.chunk_by(|left, right| left / WINDOW == right / WINDOW) {
            self.read_or(window, &[], None)?;
            for (at, owner) in (0..window.len()).zip(&mut owners) {
                let key = self.key(at).cloned();
                let best = &mut best[*owner as usize];
                let is_better = match (&key, &*best) {
                    (Some(key), Some(best)) if self.mode == MultiValueMode::Max => key > best,
                    (Some(key), Some(best)) => key < best,
                    (key, _) => key.is_some(),
                };
                if is_better {
                    *best = key;
                }
            }
        }
        self.terms.clear();
        self.of_docs.clear();
        for key in best.into_iter().map(|key| key.or_else(|| self.missing.clone())) {
            self.of_docs.push(if key.is_some() { self.terms.len() as u32 } else { NONE });
            self.terms.extend(key);
        }
        Ok(())
    }

    /// Returns the positions of those of `docs` that have a key.
    pub fn valued(&mut self, docs: &[DocId]) -> Result<Vec<usize>> {
        let (mut positions, mut first) = (Vec::new(), 0);
        for window in docs.chunk_by(|left, right| left / WINDOW == right / WINDOW) {
            self.read_or(window, &[], None)?;
            positions.extend((0..window.len()).filter(|at| self.key(*at).is_some()).map(|at| first + at));
            first += window.len();
        }
        Ok(positions)
    }

    /// Returns the index of the key among the strings that were read last, of a document that was read last.
    pub fn term_index(&self, at: usize) -> usize {
        self.of_docs.get(at).map_or(usize::MAX, |index| *index as usize)
    }

    /// Returns the key of a document that was read last, by its index.
    pub fn key(&self, at: usize) -> Option<&Arc<[u8]>> {
        self.terms.get(*self.of_docs.get(at)? as usize)
    }

    /// Reads one key for each of `docs`. `missing` is the key of documents without a term.
    fn read_or(&mut self, docs: &[DocId], scores: &[f32], missing: Option<Arc<[u8]>>) -> Result<()> {
        self.terms.clear();
        self.of_docs.clear();
        if let Some(script) = &self.script {
            let mut script = script.open(self.segment)?;
            let term = |value: &Value| value.text().into_bytes().into();
            if let Some(DistinctValues { values, indexes }) = script.distinct_values(docs)? {
                self.terms.extend(values.iter().map(term));
                self.of_docs = indexes;
                return Ok(());
            }
            return script.values(docs, scores, |value| {
                self.of_docs.push(self.terms.len() as u32);
                self.terms.push(term(&value));
                Ok(())
            });
        }
        let unset = if missing.is_some() { 0 } else { NONE };
        self.terms.extend(missing);
        self.of_docs.resize(docs.len(), unset);
        let Some(runtime) = &self.runtime else { return Ok(()) };
        let mut terms = RuntimeTerms::default();
        runtime.open(self.segment)?.terms(docs, &mut terms)?;
        let mut previous = u32::MAX;
        // Equal terms share their bytes.
        let mut known = vec![NONE; terms.len()];
        for (at, position) in terms.positions.iter().enumerate() {
            // Terms of a document ascend.
            if *position != previous || self.mode == MultiValueMode::Max {
                let key = &mut known[terms.first_of(at)];
                if *key == NONE {
                    *key = self.terms.len() as u32;
                    self.terms.push(terms.term(at).into());
                }
                self.of_docs[*position as usize] = *key;
            }
            previous = *position;
        }
        Ok(())
    }
}
