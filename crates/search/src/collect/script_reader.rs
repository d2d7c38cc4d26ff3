//! Sort keys that are numbers returned by a script.

use std::sync::Arc;

use limber_mapping::number::sortable_from_f64;
use limber_segment::{DocId, Segment};

use super::key::ordered;
use crate::error::Result;
use crate::matcher::WINDOW;
use crate::script::BoundScript;
use crate::values::mode::MultiValueMode;

/// Computes numbers with a script.
pub(crate) struct ScriptReader<'a> {
    pub(super) script: Arc<BoundScript>,
    pub(super) segment: &'a Segment,
    pub(super) mode: MultiValueMode,
    pub(super) descending: bool,
    /// Key of documents without nested documents; already inverted if the order is descending.
    pub(super) missing: i64,
    pub(super) numbers: Vec<f64>,
}

impl ScriptReader<'_> {
    /// Computes one key for each of `count` owners: `docs[i]` belongs to `owners[i]`, both ascending.
    pub fn read_together(
        &mut self,
        docs: &[DocId],
        owners: &[u32],
        count: usize,
        out: &mut Vec<i64>,
    ) -> Result<()> {
        let ScriptReader { script, segment, mode, descending, missing, numbers } = self;
        out.resize(count, *missing);
        let mut all: Vec<f64> = Vec::with_capacity(docs.len());
        for window in docs.chunk_by(|left, right| left / WINDOW == right / WINDOW) {
            script.open(segment)?.numbers(window, &[], numbers)?;
            all.extend_from_slice(numbers);
        }
        let mut rest = &mut all[..];
        for same in owners.chunk_by(|left, right| left == right) {
            let (own, others) = rest.split_at_mut(same.len());
            rest = others;
            own.sort_unstable_by(f64::total_cmp);
            out[same[0] as usize] = ordered(sortable_from_f64(mode.pick(own)), *descending);
        }
        Ok(())
    }
}
