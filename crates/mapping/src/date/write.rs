//! Formats an instant with compiled items.

use std::fmt::Write;

use super::civil::{Civil, MILLIS_PER_DAY, days_from_civil};
use super::instant::{Instant, NANOS_PER_MILLI};
use super::item::{Item, Offset, Part, Sign, Unit, ZoneText};
use super::read::{first_monday, first_sunday};
use super::zone::{Zone, write_offset};

/// Appends the instant in the time zone `zone`.
pub(super) fn write(items: &[Item], instant: Instant, zone: &Zone, out: &mut String) {
    let offset = zone.offset_seconds_at(instant.millis);
    let millis = instant.millis.saturating_add(offset as i64 * 1000);
    let local =
        Local { civil: Civil::from_millis(millis), millis, nanos: instant.nanos.into(), offset, zone };
    write_items(items, &local, out);
}

struct Local<'a> {
    civil: Civil,
    millis: i64,
    /// Nanoseconds beyond the milliseconds.
    nanos: i64,
    offset: i32,
    zone: &'a Zone,
}

impl Local<'_> {
    fn instant_millis(&self) -> i64 {
        self.millis.saturating_sub(i64::from(self.offset) * 1000)
    }

    fn value(&self, unit: Unit) -> i64 {
        let civil = &self.civil;
        let of_day = self.millis.rem_euclid(MILLIS_PER_DAY);
        let days = self.millis.div_euclid(MILLIS_PER_DAY);
        match unit {
            Unit::Era => (civil.year > 0) as i64,
            Unit::YearOfEra => {
                if civil.year > 0 {
                    civil.year
                } else {
                    1 - civil.year
                }
            }
            Unit::Year => civil.year,
            Unit::Month => civil.month as i64,
            Unit::Day => civil.day as i64,
            Unit::DayOfYear => days - days_from_civil(civil.year, 1, 1) + 1,
            Unit::WeekYear => self.week_year(days),
            Unit::Week => (days - first_monday(self.week_year(days))) / 7 + 1,
            Unit::WeekDay => (days + 3).rem_euclid(7) + 1,
            Unit::LocalWeekYear => self.local_week_year(days),
            Unit::LocalWeek => (days - first_sunday(self.local_week_year(days))) / 7 + 1,
            Unit::LocalWeekDay => (days + 4).rem_euclid(7) + 1,
            Unit::WeekOfMonth => {
                let first = days - i64::from(civil.day) + 1;
                (i64::from(civil.day) - 1 + (first + 4).rem_euclid(7)) / 7 + 1
            }
            Unit::AlignedWeek => (i64::from(civil.day) - 1) / 7 + 1,
            Unit::Quarter => (civil.month as i64 - 1) / 3 + 1,
            Unit::HalfDay => (civil.hour >= 12) as i64,
            Unit::Hour => civil.hour as i64,
            Unit::HourOfHalf => civil.hour as i64 % 12,
            Unit::ClockHourOfHalf => (civil.hour as i64 + 11) % 12 + 1,
            Unit::ClockHour => (civil.hour as i64 + 23) % 24 + 1,
            Unit::Minute => civil.minute as i64,
            Unit::Second => civil.second as i64,
            Unit::Nano => civil.millisecond as i64 * NANOS_PER_MILLI + self.nanos,
            Unit::MilliOfDay => of_day,
            Unit::NanoOfDay => of_day * NANOS_PER_MILLI + self.nanos,
        }
    }

    fn local_week_year(&self, days: i64) -> i64 {
        let year = self.civil.year;
        if days >= first_sunday(year + 1) { year + 1 } else { year }
    }

    fn week_year(&self, days: i64) -> i64 {
        let year = self.civil.year;
        if days < first_monday(year) {
            year - 1
        } else if days >= first_monday(year + 1) {
            year + 1
        } else {
            year
        }
    }
}

fn digit_count(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |power| power as usize + 1)
}

/// Appends a number with zeros in front of it, so that it has `width` digits at least.
fn push_padded(out: &mut String, number: u64, width: usize) {
    for power in (0..width.max(digit_count(number))).rev() {
        // No number has more than 20 digits; those in front of them are zeros.
        let digit = u32::try_from(power).ok().and_then(|power| 10u64.checked_pow(power));
        out.push(char::from(b'0' + digit.map_or(0, |power| number / power % 10) as u8));
    }
}

/// Appends the items.
fn write_items(items: &[Item], local: &Local<'_>, out: &mut String) {
    for item in items {
        match item {
            Item::Literal(literal) => out.push_str(literal),
            Item::Number { unit, digits } => {
                let value = local.value(*unit);
                let magnitude = value.unsigned_abs();
                if value < 0 {
                    out.push('-');
                } else if digits.sign == Sign::ExceedsPad && digit_count(magnitude) > digits.min {
                    out.push('+');
                }
                // Lenient formats accept short numbers but print full ones.
                let width = match (unit, digits.min, digits.max) {
                    (Unit::WeekYear | Unit::Year, 1, 9) => 1,
                    (Unit::LocalWeek | Unit::LocalWeekDay | Unit::WeekOfMonth, min, _) => min,
                    (Unit::DayOfYear, 1, 3) => 3,
                    (_, 1, 2) => 2,
                    (_, min, _) => min,
                };
                push_padded(out, magnitude, width);
            }
            Item::ShortYear(unit) => {
                push_padded(out, local.value(*unit).rem_euclid(100) as u64, 2);
            }
            Item::Fraction { min, max, points } => {
                if !points.is_empty() {
                    out.push('.');
                }
                let start = out.len();
                push_padded(out, local.value(Unit::Nano) as u64, 9);
                let digits = match (*min, *max) {
                    (min, max) if min == max => max,
                    (3, max) => out[start..].trim_end_matches('0').len().clamp(3, max),
                    _ => 3,
                };
                out.truncate(start + digits);
            }
            Item::Text { unit, names } => out.push_str(names.of(local.value(*unit))),
            Item::Offset(offset) => write_pattern_offset(*offset, local.offset, out),
            Item::Zone(ZoneText::Any) if local.offset == 0 => out.push('Z'),
            Item::Zone(ZoneText::Any) => write_offset(out, local.offset, true, false),
            Item::LocalOffset { full } => write_local_offset(*full, local.offset, out),
            Item::Zone(ZoneText::ShortName) => {
                out.push_str(&local.zone.short_name_at(local.instant_millis()))
            }
            Item::Zone(_) => out.push_str(&local.zone.id()),
            Item::Optional(inner) => write_items(inner, local, out),
        }
    }
}

/// Appends an offset as `GMT+8`, or in full as `GMT+08:00`.
fn write_local_offset(full: bool, seconds: i32, out: &mut String) {
    out.push_str("GMT");
    if seconds == 0 {
        return;
    }
    if full {
        write_offset(out, seconds, true, false);
        return;
    }
    let magnitude = seconds.unsigned_abs();
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{}{}", if seconds < 0 { '-' } else { '+' }, magnitude / 3600);
    if !magnitude.is_multiple_of(3600) {
        let _ = write!(out, ":{:02}", magnitude / 60 % 60);
    }
    if !magnitude.is_multiple_of(60) {
        let _ = write!(out, ":{:02}", magnitude % 60);
    }
}

fn write_pattern_offset(offset: Offset, seconds: i32, out: &mut String) {
    if seconds == 0 {
        out.push_str(offset.zero);
        return;
    }
    let mut text = String::new();
    let with_seconds = offset.seconds == Part::Always;
    let shown = if offset.seconds == Part::Never { seconds - seconds % 60 } else { seconds };
    write_offset(&mut text, shown, offset.colon, with_seconds);
    if offset.minutes == Part::Optional && shown % 3600 == 0 {
        text.truncate(3);
    }
    out.push_str(&text);
}
