//! `%t` of `String.format`: parts of a moment, in English.
//!
//! Source: the documentation of `java.util.Formatter`.

use super::super::date::millis_of;
use crate::library::dates::{DAYS, MONTHS, moment_of};
use crate::types::DatePart;
use crate::values::{DateValue, Value, date_part};

/// Returns the moment that a value is; `None` if `%t` does not take it.
pub(in super::super) fn moment(value: &Value) -> Option<DateValue> {
    match value {
        Value::Long(millis) => Some(DateValue::of_millis(*millis)),
        value => millis_of(value).map(DateValue::of_millis).or_else(|| moment_of(value)),
    }
}

/// Returns a part of a moment by its letter; `None` if there is no such letter, or if it names a time zone.
pub(in super::super) fn converted(date: &DateValue, letter: char) -> Option<String> {
    let civil = date.civil();
    let (hour, minute, second) = (civil.hour, civil.minute, civil.second);
    let small_hour = match hour % 12 {
        0 => 12,
        hour => hour,
    };
    let half = if hour < 12 { "am" } else { "pm" };
    let year = civil.year;
    let day_name = || named(DAYS[date_part(date, DatePart::DayOfWeek) as usize - 1]);
    let month_name = || named(MONTHS[civil.month as usize - 1]);
    let short = |name: String| name.chars().take(3).collect::<String>();
    Some(match letter {
        'H' => format!("{hour:02}"),
        'I' => format!("{small_hour:02}"),
        'k' => hour.to_string(),
        'l' => small_hour.to_string(),
        'M' => format!("{minute:02}"),
        'S' => format!("{second:02}"),
        'L' => format!("{:03}", date.millis().rem_euclid(1000)),
        'N' => format!("{:09}", date.nano_of_second()),
        'p' => half.to_owned(),
        'z' => offset(date.offset_seconds()),
        's' => date.millis().div_euclid(1000).to_string(),
        'Q' => date.millis().to_string(),
        'B' => month_name(),
        'b' | 'h' => short(month_name()),
        'A' => day_name(),
        'a' => short(day_name()),
        'C' => format!("{:02}", year.div_euclid(100)),
        'Y' => format!("{year:04}"),
        'y' => format!("{:02}", year.rem_euclid(100)),
        'j' => format!("{:03}", date_part(date, DatePart::DayOfYear)),
        'm' => format!("{:02}", civil.month),
        'd' => format!("{:02}", civil.day),
        'e' => civil.day.to_string(),
        'R' => format!("{hour:02}:{minute:02}"),
        'T' => format!("{hour:02}:{minute:02}:{second:02}"),
        'r' => format!("{small_hour:02}:{minute:02}:{second:02} {}", half.to_uppercase()),
        'D' => format!("{:02}/{:02}/{:02}", civil.month, civil.day, year.rem_euclid(100)),
        'F' => format!("{year:04}-{:02}-{:02}", civil.month, civil.day),
        _ => return None,
    })
}

/// Returns the name of a constant with only its first letter in upper case.
fn named(constant: &str) -> String {
    let (first, rest) = constant.split_at(1);
    first.to_owned() + &rest.to_lowercase()
}

fn offset(seconds: i32) -> String {
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}
