//! The combinations of the values that one document has in several columns.

use limber_mapping::RequestError;

use super::entries::IdColumn;
use crate::error::Result;

/// The largest number of combinations of one document. It is the product of the numbers of its values, which
/// has no other limit.
const COMBINATIONS_MAX: usize = 1 << 20;

/// Steps through the combinations of a document's values; the last column changes fastest.
#[derive(Debug)]
pub struct Combinations {
    /// For each column, the index in [`IdColumn::ids`] of the value in the current combination.
    at: Vec<usize>,
}

impl Combinations {
    /// Prepares to step through combinations of `column_count` columns.
    pub fn new(column_count: usize) -> Combinations {
        Combinations { at: vec![0; column_count] }
    }

    /// Fills `ids`, one for each column, with the first combination of the document at `position`; a column
    /// without a value has 0. Returns the number of combinations. `missing(column)` returns how many values a
    /// missing value counts as: 0 or 1.
    ///
    /// # Errors
    /// The document has too many combinations. `aggregation` is the type that the message names.
    pub fn begin(
        &mut self,
        columns: &[IdColumn],
        position: usize,
        ids: &mut [i64],
        missing: impl Fn(usize) -> usize,
        aggregation: &str,
    ) -> Result<usize> {
        let mut count = 1usize;
        for (number, column) in columns.iter().enumerate() {
            let values = column.range(position);
            self.at[number] = values.start;
            ids[number] = if values.is_empty() { 0 } else { column.ids[values.start] };
            count = count.saturating_mul(if values.is_empty() { missing(number) } else { values.len() });
        }
        if count > COMBINATIONS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "a document has more than {COMBINATIONS_MAX} combinations of values in a [{aggregation}] aggregation"
            ))
            .into());
        }
        Ok(count)
    }

    /// Advances `ids` to the next combination of the document at `position`; the first follows the last.
    pub fn advance(&mut self, columns: &[IdColumn], position: usize, ids: &mut [i64]) {
        for (number, column) in columns.iter().enumerate().rev() {
            let values = column.range(position);
            if values.is_empty() {
                continue;
            }
            let next = self.at[number] + 1;
            self.at[number] = if next < values.end { next } else { values.start };
            ids[number] = column.ids[self.at[number]];
            if next < values.end {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns with the values of one document.
    fn columns(values: &[&[i64]]) -> Vec<IdColumn> {
        values.iter().map(|ids| IdColumn { ids: ids.to_vec(), starts: vec![0, ids.len() as u32] }).collect()
    }

    #[track_caller]
    fn check(values: &[&[i64]], missing: usize, expected: &[&[i64]]) {
        let columns = columns(values);
        let mut combinations = Combinations::new(columns.len());
        let mut ids = vec![7; columns.len()];
        let count = combinations.begin(&columns, 0, &mut ids, |_| missing, "composite").expect("few values");
        let mut found = Vec::new();
        for _ in 0..count {
            found.push(ids.clone());
            combinations.advance(&columns, 0, &mut ids);
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn the_last_column_changes_fastest() {
        check(&[&[1, 2], &[3, 4]], 0, &[&[1, 3], &[1, 4], &[2, 3], &[2, 4]]);
    }

    #[test]
    fn a_missing_value_counts_or_not() {
        check(&[&[1, 2], &[]], 1, &[&[1, 0], &[2, 0]]);
        check(&[&[1, 2], &[]], 0, &[]);
    }

    #[test]
    fn too_many_combinations_are_refused() {
        let many: Vec<i64> = (0..1025).collect();
        let columns = columns(&[&many, &many]);
        let error = Combinations::new(2).begin(&columns, 0, &mut [0, 0], |_| 0, "multi_terms");
        let text = error.expect_err("2^20 + 2,049 combinations").to_string();
        assert!(text.contains("more than 1048576 combinations of values in a [multi_terms]"), "{text}");
    }
}
