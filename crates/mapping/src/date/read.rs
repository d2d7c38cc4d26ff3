//! Parses text to an instant with compiled items.
//!
//! Source: the parsers inside `java.time.format.DateTimeFormatterBuilder`, `java.time.format.Parsed`,
//! Elasticsearch's `DateFormatters.from`.

use super::civil::{MILLIS_PER_DAY, days_from_civil, days_in_month, is_leap};
use super::instant::{Instant, NANOS_PER_DAY, NANOS_PER_MILLI};
use super::item::{Digits, Item, Offset, Part, Sign, UNIT_COUNT, Unit, ZoneText};
use super::zone::Zone;

/// The fields found in a text.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    values: [i64; UNIT_COUNT],
    present: u32,
    zone: Option<Zone>,
}

impl Fields {
    fn new() -> Fields {
        Fields { values: [0; UNIT_COUNT], present: 0, zone: None }
    }

    /// Returns the same fields as those of a text without a zone.
    pub(super) fn without_zone(self) -> Fields {
        Fields { zone: None, ..self }
    }

    /// Returns the zone that the text names.
    pub(super) fn into_zone(self) -> Option<Zone> {
        self.zone
    }

    fn set(&mut self, unit: Unit, value: i64) {
        self.values[unit as usize] = value;
        self.present |= 1 << unit as u32;
    }

    fn get(&self, unit: Unit) -> Option<i64> {
        (self.present >> unit as u32 & 1 == 1).then(|| self.values[unit as usize])
    }
}

/// Parses the whole text. The error is the index of the byte at which parsing stopped.
pub(super) fn read(items: &[Item], text: &str) -> Result<Fields, usize> {
    let mut fields = Fields::new();
    let end = read_items(items, text, 0, &mut fields)?;
    if end == text.len() { Ok(fields) } else { Err(end) }
}

fn read_items(items: &[Item], text: &str, mut at: usize, fields: &mut Fields) -> Result<usize, usize> {
    for item in items {
        at = match item {
            Item::Literal(literal) if text[at..].starts_with(&**literal) => at + literal.len(),
            Item::Literal(_) => return Err(at),
            Item::Number { unit, digits } => {
                let (value, end) = number(text.as_bytes(), at, *digits)?;
                fields.set(*unit, value);
                end
            }
            Item::ShortYear(unit) => {
                let digits = Digits { min: 2, max: 2, sign: Sign::None, reserve: 0 };
                let (value, end) = number(text.as_bytes(), at, digits)?;
                fields.set(*unit, 2000 + value);
                end
            }
            Item::Fraction { min, max, points } => {
                let (nano, end) = fraction(text.as_bytes(), at, *min, *max, points)?;
                fields.set(Unit::Nano, nano);
                end
            }
            Item::Text { unit, names } => {
                let (value, length) = names.read(&text[at..]).ok_or(at)?;
                fields.set(*unit, value);
                at + length
            }
            Item::Offset(offset) => {
                let (seconds, end) = read_offset(text.as_bytes(), at, *offset)?;
                fields.zone = Some(Zone::fixed(seconds));
                end
            }
            Item::LocalOffset { full } => {
                let (seconds, end) = read_local_offset(text.as_bytes(), at, *full)?;
                fields.zone = Some(Zone::fixed(seconds));
                end
            }
            Item::Zone(style) => {
                let (zone, end) = zone(text, at, matches!(style, ZoneText::Name | ZoneText::ShortName))?;
                fields.zone = Some(zone);
                end
            }
            Item::Optional(inner) => {
                let mut tried = fields.clone();
                match read_items(inner, text, at, &mut tried) {
                    Ok(end) => {
                        *fields = tried;
                        end
                    }
                    Err(_) => at,
                }
            }
        };
    }
    Ok(at)
}

/// Parses a number by Java's strict rules: takes as many digits as there are, minus those reserved for what
/// follows.
fn number(text: &[u8], start: usize, digits: Digits) -> Result<(i64, usize), usize> {
    let (sign, at) = match text.get(start) {
        Some(b'+') if digits.sign == Sign::ExceedsPad => (Some(1), start + 1),
        Some(b'-') if digits.sign != Sign::None => (Some(-1), start + 1),
        Some(_) => (None, start),
        None => return Err(start),
    };
    let available =
        text[at..].iter().take(digits.max + digits.reserve).take_while(|byte| byte.is_ascii_digit()).count();
    let count = if digits.reserve > 0 {
        // Java reads into the reserved digits, and then gives them back.
        available.saturating_sub(digits.reserve).max(digits.min).min(available)
    } else {
        available
    };
    if count < digits.min || count > 19 {
        return Err(start);
    }
    if digits.sign == Sign::ExceedsPad {
        match sign {
            Some(1) if count <= digits.min => return Err(start),
            None if count > digits.min => return Err(start),
            _ => {}
        }
    }
    let mut value: i64 = 0;
    for &byte in &text[at..at + count] {
        value =
            value.checked_mul(10).and_then(|value| value.checked_add((byte - b'0') as i64)).ok_or(start)?;
    }
    if sign == Some(-1) && value == 0 {
        return Err(start);
    }
    Ok((value * sign.unwrap_or(1), at + count))
}

fn fraction(text: &[u8], start: usize, min: usize, max: usize, points: &[u8]) -> Result<(i64, usize), usize> {
    let mut at = start;
    if !points.is_empty() {
        if !text.get(at).is_some_and(|byte| points.contains(byte)) {
            return Err(start);
        }
        at += 1;
    }
    let count =
        text.get(at..).unwrap_or_default().iter().take(max).take_while(|byte| byte.is_ascii_digit()).count();
    if count < min {
        return Err(start);
    }
    let mut nano = 0i64;
    for place in 0..9 {
        nano = nano * 10 + if place < count { (text[at + place] - b'0') as i64 } else { 0 };
    }
    Ok((nano, at + count))
}

fn read_offset(text: &[u8], start: usize, offset: Offset) -> Result<(i32, usize), usize> {
    let rest = text.get(start..).ok_or(start)?;
    let sign = match rest.first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ if offset.zero == "Z" && rest.starts_with(b"Z") => return Ok((0, start + 1)),
        _ => return Err(start),
    };
    let two = |at: usize| -> Option<i32> {
        match rest.get(at..at + 2)? {
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some(((tens - b'0') * 10 + ones - b'0') as i32),
            _ => None,
        }
    };
    let mut total = two(1).ok_or(start)? * 3600;
    let mut end = 3;
    for (part, scale) in [(offset.minutes, 60), (offset.seconds, 1)] {
        let separated = end + offset.colon as usize;
        let found = if offset.colon && rest.get(end) != Some(&b':') { None } else { two(separated) };
        match (part, found) {
            (Part::Never, _) | (Part::Optional, None) => break,
            (_, Some(value)) if value < 60 => {
                total += value * scale;
                end = separated + 2;
            }
            _ => return Err(start),
        }
    }
    if total > 18 * 3600 {
        return Err(start);
    }
    Ok((sign * total, start + end))
}

/// Parses `GMT`, and an offset after it. One that is not `full` may have one digit of hours and no minutes.
///
/// Source: `LocalizedOffsetIdPrinterParser`.
fn read_local_offset(text: &[u8], start: usize, full: bool) -> Result<(i32, usize), usize> {
    let rest = text.get(start..).filter(|rest| rest.starts_with(b"GMT")).ok_or(start)?;
    let sign = match rest.get(3) {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Ok((0, start + 3)),
    };
    let digit =
        |at: usize| rest.get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| i32::from(byte - b'0'));
    let two = |at: usize| Some(digit(at)? * 10 + digit(at + 1)?);
    let part = |at: usize| (rest.get(at) == Some(&b':')).then(|| two(at + 1)).flatten();
    let (hours, mut end) = match (two(4), digit(4)) {
        (Some(hours), _) => (hours, 6),
        (None, Some(hours)) if !full => (hours, 5),
        _ => return Err(start),
    };
    let mut total = hours * 3600;
    match part(end) {
        Some(minutes) => {
            total += minutes * 60;
            end += 3;
            if let Some(seconds) = part(end) {
                total += seconds;
                end += 3;
            }
        }
        None if full => return Err(start),
        None => {}
    }
    if total > 18 * 3600 { Err(start) } else { Ok((sign * total, start + end)) }
}

/// Abbreviations of zone names, with the region that each means.
const ABBREVIATIONS: [(&str, &str); 18] = [
    ("PST", "America/Los_Angeles"),
    ("PDT", "America/Los_Angeles"),
    ("MST", "America/Denver"),
    ("MDT", "America/Denver"),
    ("CST", "America/Chicago"),
    ("CDT", "America/Chicago"),
    ("EST", "America/New_York"),
    ("EDT", "America/New_York"),
    ("BST", "Europe/London"),
    ("WEST", "Europe/Lisbon"),
    ("WET", "Europe/Lisbon"),
    ("CEST", "Europe/Paris"),
    ("CET", "Europe/Paris"),
    ("EEST", "Europe/Athens"),
    ("EET", "Europe/Athens"),
    ("MSK", "Europe/Moscow"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
];

/// Parses a zone's id or, with `is_name`, also an abbreviation: as many characters as possible.
fn zone(text: &str, start: usize, is_name: bool) -> Result<(Zone, usize), usize> {
    let rest = &text[start..];
    let length = rest
        .bytes()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b':' | b'/' | b'_' | b'~')
        })
        .count();
    let id = &rest[..length];
    // Java does not accept one-digit hours here.
    let is_short_hour = matches!(id.as_bytes(), [b'+' | b'-', b'0'..=b'9']);
    let abbreviation = is_name.then(|| ABBREVIATIONS.iter().find(|(name, _)| *name == id)).flatten();
    let found = match abbreviation {
        Some((_, region)) => Zone::from_id(region),
        None if is_short_hour => None,
        None => Zone::from_id(id),
    };
    found.map(|zone| (zone, start + length)).ok_or(start)
}

/// How missing and out-of-range fields are interpreted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    /// Missing time fields are set to their maximum.
    pub round_up: bool,
    /// Months and days beyond their range carry over (`strict_date` only).
    pub is_lenient: bool,
    /// The zone of a text without one.
    pub zone: &'a Zone,
}

/// Computes the instant; `None` if a field is out of range.
pub(super) fn resolve(fields: &Fields, how: Reading<'_>) -> Option<Instant> {
    let days = days(fields, how.is_lenient)?;
    let of_day = nano_of_day(fields, how.round_up)?;
    let local = days.checked_mul(MILLIS_PER_DAY)?.checked_add(of_day / NANOS_PER_MILLI)?;
    let millis = fields.zone.as_ref().unwrap_or(how.zone).to_utc(local);
    Some(Instant { millis, nanos: (of_day % NANOS_PER_MILLI) as u32 })
}

const YEAR_MAX: i64 = 999_999_999;

fn days(fields: &Fields, is_lenient: bool) -> Option<i64> {
    let within = |value: i64, low: i64, high: i64| (low..=high).contains(&value).then_some(value);
    if let Some(year) = fields.get(Unit::WeekYear) {
        let year = within(year, -YEAR_MAX, YEAR_MAX)?;
        let week = within(fields.get(Unit::Week).unwrap_or(1), 1, weeks_in(year))?;
        let day = within(fields.get(Unit::WeekDay).unwrap_or(1), 1, 7)?;
        return Some(first_monday(year) + (week - 1) * 7 + day - 1);
    }
    let has_year = fields.get(Unit::Year).or(fields.get(Unit::YearOfEra)).is_some();
    if let Some(year) = fields.get(Unit::LocalWeekYear).filter(|_| !has_year) {
        let year = within(year, -YEAR_MAX, YEAR_MAX)?;
        let weeks = (first_sunday(year + 1) - first_sunday(year)) / 7;
        let week = within(fields.get(Unit::LocalWeek).unwrap_or(1), 1, weeks)?;
        let day = within(fields.get(Unit::LocalWeekDay).unwrap_or(1), 1, 7)?;
        return Some(first_sunday(year) + (week - 1) * 7 + day - 1);
    }
    let year = match (fields.get(Unit::Year), fields.get(Unit::YearOfEra)) {
        (Some(year), _) => year,
        (None, Some(year)) => {
            let year = within(year, 1, YEAR_MAX)?;
            if fields.get(Unit::Era) == Some(0) { 1 - year } else { year }
        }
        (None, None) => 1970,
    };
    let year = within(year, -YEAR_MAX, YEAR_MAX)?;
    if let Some(day) = fields.get(Unit::DayOfYear) {
        let day = within(day, 1, if is_leap(year) { 366 } else { 365 })?;
        return Some(days_from_civil(year, 1, 1) + day - 1);
    }
    let (month, day) = (fields.get(Unit::Month).unwrap_or(1), fields.get(Unit::Day).unwrap_or(1));
    if is_lenient {
        let months = year * 12 + month - 1;
        let first = days_from_civil(months.div_euclid(12), months.rem_euclid(12) as u32 + 1, 1);
        return Some(first + day - 1);
    }
    let month = within(month, 1, 12)? as u32;
    let day = within(day, 1, days_in_month(year, month) as i64)? as u32;
    Some(days_from_civil(year, month, day))
}

/// Returns the days since 1970 of the Monday of a week-based year's first week (ISO 8601: the week of 4
/// January).
pub(super) fn first_monday(year: i64) -> i64 {
    let fourth = days_from_civil(year, 1, 4);
    fourth - (fourth + 3).rem_euclid(7)
}

/// Returns the days since 1970 of the Sunday of a week-based year's first week in Java's neutral locale: the
/// week of 1 January.
pub(super) fn first_sunday(year: i64) -> i64 {
    let first = days_from_civil(year, 1, 1);
    first - (first + 4).rem_euclid(7)
}

pub(super) fn weeks_in(year: i64) -> i64 {
    (first_monday(year + 1) - first_monday(year)) / 7
}

fn nano_of_day(fields: &Fields, round_up: bool) -> Option<i64> {
    let within = |value: i64, low: i64, high: i64| (low..=high).contains(&value).then_some(value);
    if let Some(nanos) = fields.get(Unit::NanoOfDay) {
        return within(nanos, 0, NANOS_PER_DAY - 1);
    }
    if let Some(millis) = fields.get(Unit::MilliOfDay) {
        return Some(within(millis, 0, MILLIS_PER_DAY - 1)? * NANOS_PER_MILLI);
    }
    let half = || fields.get(Unit::HalfDay).unwrap_or(0) * 12;
    let hour = if let Some(hour) = fields.get(Unit::Hour) {
        within(hour, 0, 23)?
    } else if let Some(hour) = fields.get(Unit::ClockHour) {
        within(hour, 1, 24)? % 24
    } else if let Some(hour) = fields.get(Unit::ClockHourOfHalf) {
        within(hour, 1, 12)? % 12 + half()
    } else if let Some(hour) = fields.get(Unit::HourOfHalf) {
        within(hour, 0, 11)? + half()
    } else if round_up {
        23
    } else {
        0
    };
    let or_last = |unit: Unit, last: i64| match fields.get(unit) {
        Some(value) => within(value, 0, last),
        None => Some(if round_up { last } else { 0 }),
    };
    let minute = or_last(Unit::Minute, 59)?;
    let second = or_last(Unit::Second, 59)?;
    let nano = or_last(Unit::Nano, 999_999_999)?;
    Some(((hour * 60 + minute) * 60 + second) * 1000 * NANOS_PER_MILLI + nano)
}
