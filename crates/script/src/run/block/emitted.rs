//! What the rows of a block return or emit, as columns hold it.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::run::emit::EMITTED_MAX;
use crate::values::Value;

/// What the script of a numeric runtime field emits for a block of documents, as columns store it.
pub enum EmittedBlock {
    /// One number for each document, in order.
    Aligned(Vec<i64>),
    /// Any number of numbers for each document.
    Loose {
        /// The index in the block of each number's document; ascending.
        positions: Vec<u32>,
        /// The numbers; those of a document ascend.
        numbers: Vec<i64>,
    },
}

/// Strings that a script returns or emits for a block of documents.
pub struct DistinctTexts {
    /// The strings, each once.
    pub words: Vec<Arc<str>>,
    /// The index in the block of each value's document, ascending; `None` if each document has exactly one.
    pub positions: Option<Vec<u32>>,
    /// The index of each value's string, by document and then by string.
    pub indexes: Vec<u32>,
}

/// What a script returns for a batch of documents, each value once or a few times.
pub struct DistinctValues {
    /// The values.
    pub values: Vec<Value>,
    /// For each document of the batch, the index of its value.
    pub indexes: Vec<u32>,
}

/// Values as statements emitted them: those of one statement belong to ascending rows.
pub(super) struct Emissions<T> {
    runs: Vec<(Vec<u32>, Vec<T>)>,
}

/// Values by row.
pub(super) struct ByRow<T> {
    /// The row of each value; `None` if each row has exactly one.
    pub rows: Option<Vec<u32>>,
    pub values: Vec<T>,
}

impl<T: Copy + Default> Emissions<T> {
    /// Creates an empty collection.
    pub fn new() -> Emissions<T> {
        Emissions { runs: Vec::new() }
    }

    /// Adds a value for each of `rows`.
    pub fn push(&mut self, rows: &[u32], values: Vec<T>) {
        self.runs.push((rows.to_vec(), values));
    }

    /// Returns the value of each of `count` rows, if each has exactly one.
    fn one_each(&self, count: usize) -> Option<Vec<T>> {
        if self.runs.iter().map(|(rows, _)| rows.len()).sum::<usize>() != count {
            return None;
        }
        let (mut values, mut is_set) = (vec![T::default(); count], vec![false; count]);
        for (rows, own) in &self.runs {
            for (row, value) in rows.iter().zip(own) {
                values[*row as usize] = *value;
                is_set[*row as usize] = true;
            }
        }
        is_set.iter().all(|is_set| *is_set).then_some(values)
    }

    /// Sorts the values by row, and those of a row by `order`. `None` if a row of the `count` has more values
    /// than a field may have.
    pub fn by_row(mut self, count: usize, order: impl Fn(&T, &T) -> Ordering) -> Option<ByRow<T>> {
        if let [(rows, values)] = self.runs.as_mut_slice() {
            let (rows, values) = (std::mem::take(rows), std::mem::take(values));
            return Some(ByRow { rows: (rows.len() < count).then_some(rows), values });
        }
        if let Some(values) = self.one_each(count) {
            return Some(ByRow { rows: None, values });
        }
        // `ends[row]` is the number of values before the row, until they are written.
        let mut ends = vec![0usize; count + 1];
        self.runs.iter().flat_map(|(rows, _)| rows).for_each(|row| ends[*row as usize + 1] += 1);
        let most = ends.iter().max().copied().unwrap_or_default();
        if most > EMITTED_MAX {
            return None;
        }
        for row in 0..count {
            ends[row + 1] += ends[row];
        }
        let total = ends[count];
        let mut values = vec![T::default(); total];
        for (rows, own) in self.runs {
            for (row, value) in rows.into_iter().zip(own) {
                let place = &mut ends[row as usize];
                values[*place] = value;
                *place += 1;
            }
        }
        let (mut all_rows, mut start) = (Vec::with_capacity(total), 0);
        for (row, end) in ends[..count].iter().enumerate() {
            values[start..*end].sort_unstable_by(&order);
            all_rows.resize(*end, row as u32);
            start = *end;
        }
        Some(ByRow { rows: Some(all_rows), values })
    }
}
