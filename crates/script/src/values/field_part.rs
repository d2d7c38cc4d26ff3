//! Parts of a field's values and of dates, as both languages read them.

use limber_mapping::date::Resolution;

use super::date_value::DateValue;
use crate::types::{DatePart, FieldPart};

/// Returns a part of a field's stored values, as expressions see it.
pub(crate) fn part_of(
    part: FieldPart,
    stored: &[i64],
    resolution: Resolution,
    decode: impl Fn(i64) -> f64,
) -> f64 {
    let Some(first) = stored.first() else {
        return if part == FieldPart::IsEmpty { 1.0 } else { 0.0 };
    };
    let count = stored.len();
    let value = |at: usize| decode(stored[at]);
    let sum = || stored.iter().map(|stored| decode(*stored)).sum::<f64>();
    match part {
        FieldPart::First | FieldPart::Min => value(0),
        FieldPart::Max => value(count - 1),
        FieldPart::Count => count as f64,
        FieldPart::Sum => sum(),
        FieldPart::Avg => sum() / count as f64,
        FieldPart::Median if count % 2 == 1 => value(count / 2),
        FieldPart::Median => (value(count / 2 - 1) + value(count / 2)) / 2.0,
        FieldPart::IsEmpty => 0.0,
        FieldPart::Latitude => limber_mapping::geo::GeoPoint::decode(*first).latitude,
        FieldPart::Longitude => limber_mapping::geo::GeoPoint::decode(*first).longitude,
        FieldPart::Date(part) => f64::from(date_part(&DateValue::utc(resolution.instant(*first)), part)),
    }
}

/// Returns a part of a date in its zone.
pub(crate) fn date_part(date: &DateValue, part: DatePart) -> i32 {
    use limber_mapping::date::days_from_civil;
    let civil = date.civil();
    let days = days_from_civil(civil.year, civil.month, civil.day);
    // The epoch was a Thursday.
    let weekday = (days + 3).rem_euclid(7) as i32 + 1;
    match part {
        DatePart::Year => civil.year as i32,
        DatePart::Month => civil.month as i32,
        DatePart::Month0 => civil.month as i32 - 1,
        DatePart::DayOfMonth => civil.day as i32,
        DatePart::DayOfYear => (days - days_from_civil(civil.year, 1, 1)) as i32 + 1,
        DatePart::DayOfWeek => weekday,
        DatePart::Hour => civil.hour as i32,
        DatePart::Minute => civil.minute as i32,
        DatePart::Second => civil.second as i32,
    }
}
