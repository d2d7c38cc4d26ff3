//! Converts selections of values and ranges to sets of documents, with the text that Lucene prints.

use std::ops::Bound;
use std::sync::Arc;

use limber_mapping::number::{f64_from_sortable, java_double, java_float};
use limber_mapping::{Field, NumberForm, RangesWanted, Selection};

use super::bound::BoundQuery;
use crate::matcher::automaton::RangeEnds;
use crate::primitives::{Docs, TermEnd};

/// Makes a query that scores `boost` for every match of a selection.
pub(super) fn constant(field: &Arc<Field>, selection: Selection, boost: f32) -> BoundQuery {
    let path = &field.path;
    let (docs, text) = match selection {
        Selection::Nothing => return BoundQuery::nothing(format!("value out of range for field [{path}]")),
        Selection::Term(term) => {
            let shown = field.decode_term(&term);
            let text = match field.is_ip() {
                true => format!("{path}:[{shown} TO {shown}]"),
                false => format!("{path}:{shown}"),
            };
            (Docs::Terms { field: field.clone(), terms: [term.into()].into() }, text)
        }
        Selection::Terms { lower, upper } => {
            let text = format!(
                "{path}:{}{} TO {}{}",
                if matches!(lower, Bound::Excluded(_)) { '{' } else { '[' },
                shown_end(field, &lower),
                shown_end(field, &upper),
                if matches!(upper, Bound::Excluded(_)) { '}' } else { ']' },
            );
            (Docs::term_range(field, end(lower), end(upper)), text)
        }
        Selection::Ranges(wanted) => return constant_ranges(field, wanted, boost),
        Selection::Number(number) => {
            return constant(field, Selection::Numbers { lower: number, upper: number }, boost);
        }
        // Lucene prints a range of doubles by their sortable bits.
        Selection::Numbers { lower, upper }
            if lower != upper && field.number_form() == Some(NumberForm::Double) =>
        {
            (
                Docs::NumberRange { field: field.clone(), min: lower, max: upper },
                format!("{path}:[{lower} TO {upper}]"),
            )
        }
        Selection::Numbers { lower, upper } => {
            let text = format!("{path}:[{} TO {}]", shown_number(field, lower), shown_number(field, upper));
            (Docs::NumberRange { field: field.clone(), min: lower, max: upper }, text)
        }
    };
    BoundQuery::constant(docs, boost, text)
}

fn constant_ranges(field: &Arc<Field>, wanted: RangesWanted, boost: f32) -> BoundQuery {
    let text = format!("{}:<ranges:{:?} {:?}>", field.path, wanted.lower, wanted.upper);
    BoundQuery::constant(ranges(field, wanted), boost, text)
}

/// Returns the documents with a range whose ends are where `wanted` says.
pub(super) fn ranges(field: &Arc<Field>, wanted: RangesWanted) -> Docs {
    Docs::Automaton { field: field.clone(), automaton: Arc::new(RangeEnds(wanted)) }
}

pub(super) fn end(bound: Bound<Vec<u8>>) -> TermEnd {
    match bound {
        Bound::Unbounded => None,
        Bound::Included(term) => Some((term, true)),
        Bound::Excluded(term) => Some((term, false)),
    }
}

fn shown_end(field: &Field, bound: &Bound<Vec<u8>>) -> String {
    match bound {
        Bound::Unbounded => "*".to_owned(),
        Bound::Included(term) | Bound::Excluded(term) => field.decode_term(term),
    }
}

/// Formats a number as Lucene's queries print it.
pub(super) fn shown_number(field: &Field, number: i64) -> String {
    match field.number_form() {
        Some(NumberForm::Double) => java_double(f64_from_sortable(number)),
        Some(NumberForm::Float) => java_float(f64_from_sortable(number) as f32),
        _ => number.to_string(),
    }
}
