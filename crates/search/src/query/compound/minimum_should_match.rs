//! `minimum_should_match`: how many of the optional clauses must match.

use limber_mapping::RequestError;

use crate::values::json;

/// Returns the number that `spec` requires of `optional` clauses. Examples: `3`, `-1`, `75%`, `-25%`,
/// `2<75%`, `2<-1 5<80%`.
///
/// The result can exceed `optional`, in which case nothing matches, but is never negative. Source:
/// Elasticsearch's `Queries#calculateMinShouldMatch`.
pub(in crate::query) fn required(spec: &str, optional: usize) -> Result<usize, RequestError> {
    let optional = optional as i64;
    Ok(calculate(optional, spec.trim())?.max(0) as usize)
}

fn calculate(optional: i64, spec: &str) -> Result<i64, RequestError> {
    if !spec.contains('<') {
        return simple(optional, spec);
    }
    let mut result = optional;
    // There may be spaces around the `<`.
    let mut joined = spec.replace(" <", "<");
    while joined.contains("< ") {
        joined = joined.replace("< ", "<");
    }
    for condition in joined.split_whitespace() {
        let (bound, rest) = condition.split_once('<').unwrap_or((condition, ""));
        let bound: i64 = parse(bound)?;
        if optional <= bound {
            return Ok(result);
        }
        if rest.is_empty() || rest.contains('<') {
            return Err(RequestError::bad_request(
                "array_index_out_of_bounds_exception",
                "Index 1 out of bounds for length 1",
            ));
        }
        result = simple(optional, rest)?;
    }
    Ok(result)
}

fn simple(optional: i64, spec: &str) -> Result<i64, RequestError> {
    let result = match spec.strip_suffix('%') {
        Some(percent) => {
            // Truncates the product of floats towards zero, as Java does.
            let share = optional as f32 * parse(percent)? as f32 * (1.0 / 100.0f32);
            if share < 0.0 { optional + share as i64 } else { share as i64 }
        }
        None => {
            let number = parse(spec)?;
            if number < 0 { optional + number } else { number }
        }
    };
    Ok(result.max(0))
}

fn parse(text: &str) -> Result<i64, RequestError> {
    text.parse::<i32>().map(i64::from).map_err(|_| json::number_format(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_syntax() {
        for (spec, optional, expected) in [
            ("2", 4, Some(2)),
            ("-1", 4, Some(3)),
            ("75%", 4, Some(3)),
            ("-25%", 4, Some(3)),
            // OpenSearch 3.8 and `Queries.calculateMinShouldMatch`: less than one clause may be missing.
            ("-25%", 3, Some(3)),
            ("2<75%", 4, Some(3)),
            ("2<75%", 2, Some(2)),
            ("2<-1 5<80%", 4, Some(3)),
            ("2<-1 5<80%", 10, Some(8)),
            ("0", 4, Some(0)),
            ("-10", 4, Some(0)),
            ("100%", 4, Some(4)),
            ("3<90%", 4, Some(3)),
            ("5", 4, Some(5)),
            ("200%", 4, Some(8)),
            ("1.5", 4, None),
            ("a", 4, None),
            ("2<", 4, None),
        ] {
            assert_eq!(required(spec, optional).ok(), expected, "{spec} of {optional}");
        }
    }
}
