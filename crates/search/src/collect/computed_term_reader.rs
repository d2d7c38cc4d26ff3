//! Sort keys that are strings computed at search time, not terms of a segment.

use std::sync::Arc;

use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::matcher::WINDOW;
use crate::script::{BoundScript, RuntimeField, RuntimeTerms};
use crate::values::mode::Mode;

/// Reads strings that are in no dictionary. They have no ordinals to sort by, so they are kept as they are.
pub(crate) struct ComputedTermReader<'a> {
    pub(super) runtime: Option<Arc<RuntimeField>>,
    /// The script of a sort by string.
    pub(super) script: Option<Arc<BoundScript>>,
    pub(super) segment: &'a Segment,
    pub(super) mode: Mode,
    pub(super) missing: Option<Arc<[u8]>>,
    /// The keys of the documents that were read last.
    pub(super) keys: Vec<Option<Arc<[u8]>>>,
}

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
            for (key, owner) in self.keys.drain(..).zip(&mut owners) {
                let best = &mut best[*owner as usize];
                let is_better = match (&key, &*best) {
                    (Some(key), Some(best)) if self.mode == Mode::Max => key > best,
                    (Some(key), Some(best)) => key < best,
                    (key, _) => key.is_some(),
                };
                if is_better {
                    *best = key;
                }
            }
        }
        self.keys.clear();
        self.keys.extend(best.into_iter().map(|key| key.or_else(|| self.missing.clone())));
        Ok(())
    }

    /// Reads one key for each of `docs`. `missing` is the key of documents without a term.
    fn read_or(&mut self, docs: &[DocId], scores: &[f32], missing: Option<Arc<[u8]>>) -> Result<()> {
        self.keys.clear();
        if let Some(script) = &self.script {
            return script.open(self.segment)?.values(docs, scores, |value| {
                self.keys.push(Some(value.text().into_bytes().into()));
                Ok(())
            });
        }
        self.keys.resize(docs.len(), missing);
        let Some(runtime) = &self.runtime else { return Ok(()) };
        let mut terms = RuntimeTerms::default();
        runtime.open(self.segment)?.terms(docs, &mut terms)?;
        let mut previous = usize::MAX;
        // Equal terms share their bytes.
        let mut known: Vec<Option<Arc<[u8]>>> = vec![None; terms.len()];
        for (at, (position, term)) in terms.iter().enumerate() {
            // Terms of a document ascend.
            if position != previous || self.mode == Mode::Max {
                let key = known[terms.first_of(at)].get_or_insert_with(|| term.into());
                self.keys[position] = Some(key.clone());
            }
            previous = position;
        }
        Ok(())
    }
}
