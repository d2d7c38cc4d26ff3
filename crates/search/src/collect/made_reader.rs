//! Sort keys that are terms of no segment.

use std::sync::Arc;

use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::matcher::WINDOW;
use crate::script::{BoundScript, RuntimeField, RuntimeTerms};
use crate::values::mode::Mode;

/// Terms that no dictionary holds, and which therefore have no number that sorts like them: they are kept as
/// they are.
pub(crate) struct MadeReader<'a> {
    pub(super) runtime: Option<Arc<RuntimeField>>,
    /// Of a sort by text.
    pub(super) script: Option<Arc<BoundScript>>,
    pub(super) segment: &'a Segment,
    pub(super) mode: Mode,
    pub(super) missing: Option<Arc<[u8]>>,
    /// Of the documents read last.
    pub(super) keys: Vec<Option<Arc<[u8]>>>,
}

impl MadeReader<'_> {
    /// Reads one key for each of `docs`; `scores` are theirs.
    pub fn read(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        self.read_or(docs, scores, self.missing.clone())
    }

    /// One key for each of `count` owners: `docs[i]` belongs to `owners[i]`, both ascending.
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

    /// `missing`: the key of documents without a term.
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
        for (position, term) in terms.iter() {
            // Terms of a document ascend.
            if position != previous || self.mode == Mode::Max {
                self.keys[position] = Some(term.into());
            }
            previous = position;
        }
        Ok(())
    }
}
