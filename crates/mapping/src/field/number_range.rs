//! Ranges of numbers, with inclusive bounds in stored form.

use super::query::{RangeEnd, Selection, text_of};
use crate::RequestError;

/// The smallest and the largest number that a column can contain.
pub(crate) type Limits = (i64, i64);

/// Selects the numbers from `lower` to `upper`.
pub(crate) fn numbers(lower: i128, upper: i128) -> Selection {
    let lower = lower.max(i64::MIN.into());
    let upper = upper.min(i64::MAX.into());
    if lower > upper {
        return Selection::Nothing;
    }
    if lower == upper {
        return Selection::Number(lower as i64);
    }
    Selection::Numbers { lower: lower as i64, upper: upper as i64 }
}

/// Selects the numbers between two bounds. `least` and `most` return the first and the last stored number
/// within a bound, given as a string.
pub(crate) fn number_range(
    (lower, upper): (Option<RangeEnd<'_>>, Option<RangeEnd<'_>>),
    (low, high): Limits,
    least: impl FnOnce(&str, RangeEnd<'_>) -> Result<i128, RequestError>,
    most: impl FnOnce(&str, RangeEnd<'_>) -> Result<i128, RequestError>,
) -> Result<Selection, RequestError> {
    let lower = match lower {
        Some(end) => least(&text_of(end.value)?, end)?,
        None => i128::MIN,
    };
    let upper = match upper {
        Some(end) => most(&text_of(end.value)?, end)?,
        None => i128::MAX,
    };
    if lower > high.into() || upper < low.into() {
        return Ok(Selection::Nothing);
    }
    Ok(numbers(lower.max(low.into()), upper.min(high.into())))
}
