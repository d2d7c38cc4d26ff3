//! Formats an instant with a pattern of [`super::date_pattern`].

use jiff::Zoned;
use jiff::civil::Weekday;

use super::date_pattern::{DAYS, Item, MONTHS, Number};

/// Appends a moment, formatted by these items in its zone.
pub(super) fn write_items(items: &[Item], at: &Zoned, out: &mut String) {
    use std::fmt::Write as _;
    for item in items {
        match item {
            Item::Literal(text) => out.push_str(text),
            Item::Number { field, width_min, .. } => {
                let hour = i32::from(at.hour());
                let value = match field {
                    Number::Year => i32::from(at.year()),
                    Number::YearOfCentury => i32::from(at.year()).rem_euclid(100),
                    Number::WeekYear => week_year(at, *width_min),
                    Number::Week => i32::from(at.date().iso_week_date().week()),
                    Number::DayOfWeek => day_index(at.weekday()) as i32 + 1,
                    Number::Month => i32::from(at.month()),
                    Number::Day => i32::from(at.day()),
                    Number::DayOfYear => i32::from(at.day_of_year()),
                    Number::Hour24 => hour,
                    Number::HourTo24 => {
                        if hour == 0 {
                            24
                        } else {
                            hour
                        }
                    }
                    Number::Hour12 => {
                        if hour % 12 == 0 {
                            12
                        } else {
                            hour % 12
                        }
                    }
                    Number::HourTo11 => hour % 12,
                    Number::Minute => i32::from(at.minute()),
                    Number::Second => i32::from(at.second()),
                };
                let _ = write!(out, "{value:0width_min$}");
            }
            Item::Fraction { width } => {
                let value = at.subsec_nanosecond() / 10i32.pow(9 - *width as u32);
                let _ = write!(out, "{value:0width$}");
            }
            Item::MonthName { short } => push_name(MONTHS[at.month() as usize - 1], *short, out),
            Item::DayName { short } => push_name(DAYS[day_index(at.weekday())], *short, out),
            Item::AmPm => out.push_str(if at.hour() < 12 { "AM" } else { "PM" }),
            Item::Offset { zero_is_z, colon, short } => {
                write_offset(at.offset().seconds(), *zero_is_z, *colon, *short, out)
            }
            Item::ZoneId => match at.time_zone().iana_name() {
                Some(name) => out.push_str(name),
                None => write_offset(at.offset().seconds(), true, true, false, out),
            },
            Item::Optional(inner) => write_items(inner, at, out),
        }
    }
}

fn week_year(at: &Zoned, width: usize) -> i32 {
    let year = i32::from(at.date().iso_week_date().year());
    if width == 2 { year.rem_euclid(100) } else { year }
}

fn day_index(day: Weekday) -> usize {
    day.to_monday_zero_offset() as usize
}

fn push_name(name: &str, short: bool, out: &mut String) {
    out.push_str(if short { &name[..3] } else { name });
}

fn write_offset(seconds: i32, zero_is_z: bool, colon: bool, short: bool, out: &mut String) {
    use std::fmt::Write as _;
    if seconds == 0 && zero_is_z {
        out.push('Z');
        return;
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes) = (seconds.abs() / 3600, seconds.abs() / 60 % 60);
    let _ = write!(out, "{sign}{hours:02}");
    if !short || minutes != 0 {
        let _ = if colon { write!(out, ":{minutes:02}") } else { write!(out, "{minutes:02}") };
    }
}
