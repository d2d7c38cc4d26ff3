//! Compares `unsigned_long` with 128-bit integers: values, terms and ranges with fractions.

use std::sync::Arc;

use limber_mapping::number::{sortable_from_u64, u64_from_sortable};
use limber_mapping::{DateContext, Field, Mapping, MappingSettings, RangeEnd, Selection};
use proptest::prelude::*;
use serde_json::{Value, json};

fn field() -> Arc<Field> {
    let body = json!({"properties": {"u": {"type": "unsigned_long"}}});
    Mapping::parse(&body, &MappingSettings::default()).expect("a mapping").field("u").expect("mapped").clone()
}

/// Generates numbers near the ends and the middle of the range, where mistakes are likely.
fn near_the_ends() -> impl Strategy<Value = i128> {
    let ends = [0i128, 1 << 63, (1 << 64) - 1, 1 << 53];
    (prop::sample::select(ends.to_vec()), -3i128..4).prop_map(|(end, off)| end + off)
}

/// Formats half of `doubled`.
fn text_of_half(doubled: i128) -> String {
    let sign = if doubled < 0 { "-" } else { "" };
    let fraction = if doubled % 2 == 0 { "" } else { ".5" };
    format!("{sign}{}{fraction}", doubled.unsigned_abs() / 2)
}

fn selects(selection: &Selection, value: u64) -> bool {
    let stored = sortable_from_u64(value);
    match selection {
        Selection::Nothing => false,
        Selection::Number(number) => *number == stored,
        Selection::Numbers { lower, upper } => (*lower..=*upper).contains(&stored),
        other => panic!("{other:?} on a number"),
    }
}

proptest! {
    #[test]
    fn stored_numbers_sort_like_the_values(left in any::<u64>(), right in any::<u64>()) {
        prop_assert_eq!(u64_from_sortable(sortable_from_u64(left)), left);
        prop_assert_eq!(sortable_from_u64(left).cmp(&sortable_from_u64(right)), left.cmp(&right));
    }

    #[test]
    fn ranges_select_what_lies_between(
        (lower, lower_half, lower_inclusive) in (near_the_ends(), 0i128..2, any::<bool>()),
        (upper, upper_half, upper_inclusive) in (near_the_ends(), 0i128..2, any::<bool>()),
        value in near_the_ends(),
    ) {
        let value = value.clamp(0, (1 << 64) - 1);
        let (lower, upper) = (2 * lower + lower_half, 2 * upper + upper_half);
        let texts = [lower, upper].map(|doubled| Value::from(text_of_half(doubled)));
        let ends = [(&texts[0], lower_inclusive), (&texts[1], upper_inclusive)];
        let [from, to] = ends.map(|(value, inclusive)| Some(RangeEnd { value, inclusive }));
        let selection = field().select_range(from, to, &DateContext::at(0)).expect("reads");
        let is_above = if lower_inclusive { 2 * value >= lower } else { 2 * value > lower };
        let is_below = if upper_inclusive { 2 * value <= upper } else { 2 * value < upper };
        prop_assert_eq!(selects(&selection, value as u64), is_above && is_below, "{:?} {:?}", texts, selection);
    }

    #[test]
    fn terms_select_whole_numbers(wanted in near_the_ends(), half in 0i128..2, value in near_the_ends()) {
        let value = value.clamp(0, (1 << 64) - 1);
        let text = Value::from(text_of_half(2 * wanted + half));
        let selection = field().select_term(&text, &DateContext::at(0)).expect("reads");
        prop_assert_eq!(selects(&selection, value as u64), half == 0 && wanted == value);
    }
}
