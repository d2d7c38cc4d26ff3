//! Sort keys that are numbers of a column.

use limber_mapping::number::{f64_from_sortable, sortable_from_f64};
use limber_segment::DocId;
use limber_segment::columns::{Batch, Cardinality};

use super::key::ordered;
use super::sort::{KeyKind, Transform};
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};
use crate::script::NumberSource;
use crate::values::mode::MultiValueMode;

/// Reads numbers as keys; they are inverted if the order is descending.
pub(crate) struct NumberReader<'a> {
    pub(super) column: Option<NumberSource<'a>>,
    pub(super) mode: MultiValueMode,
    pub(super) transform: Transform,
    pub(super) kind: KeyKind,
    /// Key of documents without a number; already inverted if the order is descending.
    pub(super) missing: i64,
    pub(super) descending: bool,
    pub(super) batch: Batch<i64>,
}

impl NumberReader<'_> {
    /// Appends one key for each of `docs`, which ascend, to the empty `out`.
    pub fn read(&mut self, docs: &[DocId], out: &mut Vec<i64>) -> Result<()> {
        let NumberReader { column, mode, transform, kind, missing, descending, batch } = self;
        let Some(column) = column else {
            out.resize(docs.len(), *missing);
            return Ok(());
        };
        column.gather(docs, batch)?;
        transform.check(&batch.values)?;
        if batch.is_aligned() {
            out.extend(batch.values.iter().map(|value| ordered(transform.apply(*value), *descending)));
            return Ok(());
        }
        out.resize(docs.len(), *missing);
        let mut at = 0;
        while at < batch.values.len() {
            let position = batch.positions[at];
            let count = batch.positions[at..].iter().take_while(|other| **other == position).count();
            let key = pick(&batch.values[at..at + count], *mode, *transform, *kind);
            out[position as usize] = ordered(key, *descending);
            at += count;
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
        let NumberReader { column, mode, transform, kind, descending, batch, .. } = self;
        let Some(column) = column else { return Ok(()) };
        column.gather(docs, batch)?;
        transform.check(&batch.values)?;
        let mut values = Vec::new();
        let mut found = batch.iter().map(|(position, value)| (owners[position], value)).peekable();
        while let Some((owner, first)) = found.next() {
            values.clear();
            values.push(first);
            while let Some((_, value)) = found.next_if(|(other, _)| *other == owner) {
                values.push(value);
            }
            values.sort_unstable();
            out[owner as usize] = ordered(pick(&values, *mode, *transform, *kind), *descending);
        }
        Ok(())
    }

    /// Returns the position of each value's document among `docs`.
    pub fn valued(&mut self, docs: &[DocId]) -> Result<Vec<usize>> {
        let Some(column) = &mut self.column else { return Ok(Vec::new()) };
        column.gather(docs, &mut self.batch)?;
        Ok(self.batch.iter().map(|(position, _)| position).collect())
    }

    fn best_of(&self, min: i64, max: i64) -> i64 {
        ordered(self.transform.apply(if self.descending { max } else { min }), self.descending)
    }

    fn worst_of(&self, min: i64, max: i64) -> i64 {
        ordered(self.transform.apply(if self.descending { min } else { max }), self.descending)
    }

    /// Returns the best and the worst key of the window.
    pub fn range_in(&self, start: DocId) -> Result<Option<(i64, i64)>> {
        if !matches!(self.mode, MultiValueMode::Min | MultiValueMode::Max) {
            return Ok(None);
        }
        let Some(source) = &self.column else { return Ok(Some((self.missing, self.missing))) };
        let Some(column) = source.column() else { return Ok(None) };
        let Some((min, max)) = column.window_range((start / WINDOW) as usize)? else {
            return Ok(Some((self.missing, self.missing)));
        };
        let (best, worst) = (self.best_of(min, max), self.worst_of(min, max));
        Ok(Some(match column.cardinality() {
            Cardinality::Single => (best, worst),
            _ => (best.min(self.missing), worst.max(self.missing)),
        }))
    }

    /// See [`super::KeyReader::mask`].
    pub fn mask(&self, start: DocId, bound: i64, ties: bool, bits: &mut Bits) -> Result<()> {
        let Some(column) = self.column.as_ref().and_then(NumberSource::column) else { return Ok(()) };
        if column.cardinality() != Cardinality::Single {
            return Ok(());
        }
        let first = u64::from(start) / 128;
        for block in first..(first + 32).min(column.block_count()) {
            let (min, max) = column.block_range(block)?;
            let best = self.best_of(min, max);
            if best > bound || (best == bound && !ties) {
                let word = (block - first) as usize * 2;
                bits.0[word..word + 2].fill(0);
            }
        }
        Ok(())
    }
}

/// Reduces several values, which ascend, to one key. Source: Elasticsearch's `MultiValueMode`.
fn pick(values: &[i64], mode: MultiValueMode, transform: Transform, kind: KeyKind) -> i64 {
    let (first, last) = (values[0], values[values.len() - 1]);
    match mode {
        MultiValueMode::Min => return transform.apply(first),
        MultiValueMode::Max => return transform.apply(last),
        _ => {}
    }
    let count = values.len();
    if kind == KeyKind::Long {
        let value = |at: usize| transform.apply(values[at]);
        let rounded = |value: f64| (value + 0.5).floor() as i64;
        return match mode {
            MultiValueMode::Median if count % 2 == 1 => value(count / 2),
            MultiValueMode::Median => rounded((value(count / 2 - 1) as f64 + value(count / 2) as f64) / 2.0),
            _ => {
                let sum = (0..count).fold(0i64, |sum, at| sum.wrapping_add(value(at)));
                match mode {
                    MultiValueMode::Avg if count > 1 => rounded(sum as f64 / count as f64),
                    _ => sum,
                }
            }
        };
    }
    let value = |at: usize| f64_from_sortable(transform.apply(values[at]));
    sortable_from_f64(match mode {
        MultiValueMode::Median if count % 2 == 1 => value(count / 2),
        MultiValueMode::Median => (value(count / 2 - 1) + value(count / 2)) / 2.0,
        _ => {
            let sum = (0..count).fold(0.0, |sum, at| sum + value(at));
            if mode == MultiValueMode::Avg { sum / count as f64 } else { sum }
        }
    })
}
