//! Reads values with weights, batch by batch: the values of histograms with their counts.

use limber_mapping::number::f64_from_sortable;
use limber_segment::columns::{Batch, NumberColumn};
use limber_segment::{DocId, Segment};

use super::super::buckets::entries::Values;
use super::field::Source;
use crate::error::Result;

/// Reads the values of one segment at a time.
#[derive(Debug)]
pub struct WeightedReader<'s> {
    sources: &'s [Source],
    /// The values of the current segment, and the running totals of their counts.
    columns: Option<(NumberColumn<'s>, NumberColumn<'s>)>,
    values: Batch<i64>,
    totals: Batch<i64>,
    weighted: Vec<(f64, u64)>,
}

impl<'s> WeightedReader<'s> {
    /// Takes the sources of the columns that [`limber_mapping::Summary::weighted_columns`] names.
    pub fn new(sources: &'s [Source]) -> WeightedReader<'s> {
        WeightedReader {
            sources,
            columns: None,
            values: Batch::default(),
            totals: Batch::default(),
            weighted: Vec::new(),
        }
    }

    /// Starts a segment, whose documents come next.
    pub fn begin(&mut self, segment: &'s Segment) -> Result<()> {
        self.columns = match self.sources {
            [values, totals] => segment.numbers(values.path())?.zip(segment.numbers(totals.path())?),
            _ => None,
        };
        Ok(())
    }

    /// Returns the values of `docs`, each with its weight; those of a document ascend.
    pub fn load(&mut self, docs: &[DocId]) -> Result<Values<'_, (f64, u64)>> {
        match &self.columns {
            Some((values, totals)) => {
                values.gather(docs, &mut self.values)?;
                totals.gather(docs, &mut self.totals)?;
            }
            None => {
                self.values.reset(false);
                self.totals.reset(false);
            }
        }
        self.weighted.clear();
        let mut before = (usize::MAX, 0);
        for ((doc, value), (_, total)) in self.values.iter().zip(self.totals.iter()) {
            let earlier = if before.0 == doc { before.1 } else { 0 };
            let weight = total.saturating_sub(earlier).max(0) as u64;
            self.weighted.push((f64_from_sortable(value), weight));
            before = (doc, total);
        }
        let positions = (!self.values.is_aligned()).then_some(self.values.positions.as_slice());
        Ok(Values { values: &self.weighted, positions })
    }
}
