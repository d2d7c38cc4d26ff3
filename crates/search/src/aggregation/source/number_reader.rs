//! Reads the numbers of a field or script, batch by batch.

use limber_mapping::date::Resolution;
use limber_mapping::number::sortable_from_f64;
use limber_script::OpenScript;
use limber_segment::columns::{Batch, NumberColumn};
use limber_segment::{DocId, Segment};

use super::super::buckets::entries::Values;
use super::field::{Gives, ScriptSource, Source};
use super::filled::fill;
use crate::error::Result;
use crate::script::RuntimeReader;

/// Largest range of values that can be key indexes, counted from the smallest one.
const PLACES_MAX: u64 = 1 << 16;

/// Reads the numbers of one segment at a time.
#[derive(Debug)]
pub struct NumberReader<'s> {
    path: String,
    missing: Option<i64>,
    column: Option<NumberColumn<'s>>,
    /// The column of a source that [is widened](Source::is_widened).
    whole: Option<NumberColumn<'s>>,
    batch: Batch<i64>,
    filled: Vec<i64>,
    filled_positions: Vec<u32>,
    source: &'s Source,
    resolution: Resolution,
    runtime: Option<RuntimeReader<'s>>,
    script: Option<OpenScript<'s>>,
    /// The scores of the documents that are loaded next, if a script reads them.
    scores: Vec<f32>,
    segment: Option<&'s Segment>,
}

impl<'s> NumberReader<'s> {
    pub(crate) fn new(source: &'s Source) -> Result<NumberReader<'s>> {
        Ok(NumberReader {
            path: source.path().to_owned(),
            missing: source.missing_number()?,
            column: None,
            whole: None,
            batch: Batch::default(),
            filled: Vec::new(),
            filled_positions: Vec::new(),
            source,
            resolution: source.resolution(),
            runtime: None,
            script: None,
            scores: Vec::new(),
            segment: None,
        })
    }

    /// Starts a segment, whose documents come next.
    pub fn begin(&mut self, segment: &'s Segment, is_mapped: bool) -> Result<()> {
        self.segment = Some(segment);
        if let Some(field) = &self.source.runtime {
            self.runtime = Some(field.open(segment)?);
        }
        if let Some(source) = &self.source.script {
            self.script = Some(source.script.open(segment)?);
        }
        let has_column = is_mapped && self.source.reads_column();
        let column = if has_column { segment.numbers(&self.path)? } else { None };
        (self.column, self.whole) = if self.source.is_widened { (None, column) } else { (column, None) };
        Ok(())
    }

    /// Returns the current segment.
    pub fn segment(&self) -> Option<&'s Segment> {
        self.segment
    }

    /// Returns the column of the current segment.
    pub fn column(&self) -> Option<&NumberColumn<'s>> {
        self.column.as_ref()
    }

    /// Whether every document of the segment has exactly one value.
    pub fn is_single(&self) -> bool {
        use limber_segment::columns::Cardinality;
        self.column.as_ref().is_some_and(|column| column.cardinality() == Cardinality::Single)
    }

    /// Returns the replacement for missing values.
    pub fn missing(&self) -> Option<i64> {
        self.missing
    }

    /// Whether no document has more than one value.
    pub fn has_one_at_most(&self) -> bool {
        use limber_segment::columns::Cardinality;
        self.column.as_ref().is_some_and(|column| column.cardinality() != Cardinality::Multi)
    }

    /// Returns the smallest value of the current segment and the number of values up to the largest, if that
    /// is small.
    pub fn key_index_range(&self) -> Option<(i64, usize)> {
        let column = self.column.as_ref()?;
        let ends = [column.min()?, column.max()?].map(|end| self.resolution.millis(end));
        let first = self.missing.map_or(ends[0], |missing| missing.min(ends[0]));
        let last = self.missing.map_or(ends[1], |missing| missing.max(ends[1]));
        (last.abs_diff(first) < PLACES_MAX).then(|| (first, last.abs_diff(first) as usize + 1))
    }

    /// Returns the range of the values of `docs`, if they are a contiguous run of the column.
    pub fn run(&self, docs: &[DocId]) -> Option<std::ops::Range<u64>> {
        let (first, last) = (*docs.first()?, *docs.last()?);
        let is_run = (last - first) as usize == docs.len() - 1;
        let is_stored = self.is_single() && self.resolution == Resolution::Millis;
        (is_run && is_stored).then(|| u64::from(first)..u64::from(last) + 1)
    }

    /// Whether documents without a value in the column can still have one.
    pub fn has_missing(&self) -> bool {
        self.missing.is_some() || self.source.script.is_some() || self.source.runtime.is_some()
    }

    /// Returns the smallest and the largest value of the 4,096 documents of the window around `doc`. `None`
    /// if that cannot be determined quickly, or if a document has no value.
    pub fn window_range(&self, doc: DocId) -> Result<Option<(i64, i64)>> {
        use limber_segment::columns::Cardinality;
        match &self.column {
            Some(column) if column.cardinality() == Cardinality::Single => {
                let range = column.window_range(doc as usize / 4096)?;
                Ok(range.map(|(min, max)| (self.resolution.millis(min), self.resolution.millis(max))))
            }
            _ => Ok(None),
        }
    }

    /// Sets the scores of the documents that are loaded next.
    pub fn set_scores(&mut self, scores: &[f32]) {
        if self.source.script.as_ref().is_some_and(|source| source.script.uses_score()) {
            self.scores.clear();
            self.scores.extend_from_slice(scores);
        }
    }

    /// Returns the values of `docs`.
    pub fn load(&mut self, docs: &[DocId]) -> Result<Values<'_, i64>> {
        if let (Some(source), Some(segment)) = (&self.source.script, self.segment) {
            return match self.run_block(docs)? {
                Some(numbers) => {
                    self.filled.clear();
                    self.filled.extend(numbers.iter().map(|number| source.gives.stored(*number)));
                    Ok(Values { values: &self.filled, positions: self.block_positions() })
                }
                None => self.load_scripted(source, segment, docs),
            };
        }
        match (self.column.as_ref().or(self.whole.as_ref()), &mut self.runtime) {
            (Some(column), _) => column.gather(docs, &mut self.batch)?,
            (None, Some(runtime)) => runtime.numbers(docs, &mut self.batch)?,
            (None, None) => self.batch.reset(false),
        }
        if self.resolution != Resolution::Millis {
            for value in &mut self.batch.values {
                *value = self.resolution.millis(*value);
            }
        }
        if self.source.is_widened {
            self.batch.values.iter_mut().for_each(|value| *value = sortable_from_f64(*value as f64));
        }
        if self.batch.is_aligned() {
            return Ok(Values { values: &self.batch.values, positions: None });
        }
        let Some(missing) = self.missing else {
            return Ok(Values { values: &self.batch.values, positions: Some(&self.batch.positions) });
        };
        fill(
            &self.batch.values,
            &self.batch.positions,
            docs.len(),
            missing,
            &mut self.filled,
            &mut self.filled_positions,
        );
        Ok(Values { values: &self.filled, positions: Some(&self.filled_positions) })
    }
}

impl NumberReader<'_> {
    /// Replaces `out` by the values of `docs` as doubles, and returns the positions of their documents as
    /// [`Values`] has them.
    pub fn load_doubles(&mut self, docs: &[DocId], out: &mut Vec<f64>) -> Result<Option<&[u32]>> {
        let own = self.source;
        if let Some(source) = &own.script {
            if let Some(numbers) = self.run_block(docs)? {
                *out = numbers;
                if source.gives == Gives::Whole {
                    out.iter_mut().for_each(|number| *number = (*number as i64) as f64);
                }
                return Ok(self.block_positions());
            }
            if let Some(segment) = self.segment {
                let values = self.load_scripted(source, segment, docs)?;
                own.decode_all(values.values, out);
                return Ok(values.positions);
            }
        }
        let values = self.load(docs)?;
        own.decode_all(values.values, out);
        Ok(values.positions)
    }

    /// Runs a script on a whole block of documents, if that is possible. It returns one number for each
    /// document, or for each that has a value if the script gets a field's values:
    /// [`Self::block_positions`].
    fn run_block(&mut self, docs: &[DocId]) -> Result<Option<Vec<f64>>> {
        let Some(source) = &self.source.script else { return Ok(None) };
        let Some(script) = self.script.as_mut().filter(|_| self.scores.is_empty()) else {
            return Ok(None);
        };
        let mut numbers = Vec::new();
        let Some(field) = &source.field else {
            self.batch.reset(true);
            return Ok(script.block(docs, &mut numbers).then_some(numbers));
        };
        let Some(column) = self.segment.map(|segment| segment.numbers(&field.path)).transpose()?.flatten()
        else {
            return Ok(None);
        };
        column.gather(docs, &mut self.batch)?;
        let Batch { values, positions, .. } = &self.batch;
        if self.batch.is_aligned() {
            return Ok(script
                .block_of_values(docs, field, values, source.given, &mut numbers)
                .then_some(numbers));
        }
        // Only documents that have one value, and no replacement for those without.
        if self.missing.is_some() || !positions.is_sorted_by(|left, right| left < right) {
            return Ok(None);
        }
        let owners: Vec<DocId> = positions.iter().map(|position| docs[*position as usize]).collect();
        Ok(script.block_of_values(&owners, field, values, source.given, &mut numbers).then_some(numbers))
    }

    /// Returns the positions of the documents of the block that was run last, as [`Values`] has them.
    fn block_positions(&self) -> Option<&[u32]> {
        (!self.batch.is_aligned()).then_some(self.batch.positions.as_slice())
    }

    /// Runs a script on `docs`, which returns one number, a list of numbers, or nothing.
    fn load_scripted(
        &mut self,
        source: &ScriptSource,
        segment: &Segment,
        docs: &[DocId],
    ) -> Result<Values<'_, i64>> {
        let (values, positions) = (&mut self.filled, &mut self.filled_positions);
        values.clear();
        positions.clear();
        let stored_of = |number: &f64| source.gives.stored(*number);
        let Some(script) = &mut self.script else { return Ok(Values { values, positions: None }) };
        let mut numbers = Vec::new();
        let Some(field) = &source.field else {
            let mut position = 0;
            script.numbers_of_each(docs, &self.scores, |numbers| {
                add_numbers(numbers, self.missing, position, stored_of, values, positions);
                position += 1;
            })?;
            return Ok(Values { values, positions: Some(positions) });
        };
        let column = segment.numbers(&field.path)?;
        let mut stored = Vec::new();
        for (position, doc) in docs.iter().enumerate() {
            if let Some(column) = &column {
                column.values(*doc, &mut stored)?;
                for stored in &stored {
                    script.value_of(*doc, field, *stored, source.given, &mut numbers)?;
                }
            }
            add_numbers(&mut numbers, self.missing, position as u32, stored_of, values, positions);
        }
        Ok(Values { values, positions: Some(positions) })
    }
}

/// Moves the numbers of one document, or the replacement if it has none, to the values of a batch.
fn add_numbers(
    numbers: &mut Vec<f64>,
    missing: Option<i64>,
    position: u32,
    stored_of: impl Fn(&f64) -> i64,
    values: &mut Vec<i64>,
    positions: &mut Vec<u32>,
) {
    if numbers.is_empty()
        && let Some(missing) = missing
    {
        values.push(missing);
        positions.push(position);
    }
    // The values of a document must ascend.
    numbers.sort_by(f64::total_cmp);
    values.extend(numbers.iter().map(stored_of));
    positions.extend(std::iter::repeat_n(position, numbers.len()));
    numbers.clear();
}
