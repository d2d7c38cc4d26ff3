//! `java.time` patterns such as `dd/MMM/yyyy:HH:mm:ss Z`: "which instant is this string, and how is this
//! instant written?"
//!
//! Source: `java.time.format.DateTimeFormatterBuilder.appendPattern`. Names are English only; localized
//! fields are refused. Weeks are those of ISO 8601, as in the formats of mappings.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, ISOWeekDate, Time, Weekday};
use jiff::tz::{Offset, TimeZone};

use super::date_pattern_write::write_items;

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Zone names that logs use and the time zone database does not have.
const ABBREVIATIONS: [(&str, &str); 12] = [
    ("UTC", "UTC"),
    ("GMT", "UTC"),
    ("Z", "UTC"),
    ("EST", "America/New_York"),
    ("EDT", "America/New_York"),
    ("CST", "America/Chicago"),
    ("CDT", "America/Chicago"),
    ("MST", "America/Denver"),
    ("PST", "America/Los_Angeles"),
    ("PDT", "America/Los_Angeles"),
    ("CET", "Europe/Paris"),
    ("CEST", "Europe/Paris"),
];

/// How deeply optional sections may be nested.
const NESTING_DEPTH_MAX: usize = 20;

/// A field that is written in digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Year,
    /// Two digits that stand for 2000 to 2099.
    YearOfCentury,
    /// The week-based year: the year that contains most days of the week.
    WeekYear,
    Week,
    /// 1 (Monday) to 7 (Sunday).
    DayOfWeek,
    Month,
    Day,
    DayOfYear,
    Hour24,
    /// The hour from 1 to 24.
    HourTo24,
    Hour12,
    /// The hour from 0 to 11.
    HourTo11,
    Minute,
    Second,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Literal(String),
    Number {
        field: Number,
        width_min: usize,
        width_max: usize,
    },
    Fraction {
        width: usize,
    },
    MonthName {
        short: bool,
    },
    DayName {
        short: bool,
    },
    AmPm,
    /// `Z`, `X`, `XXX`, ...: whether zero is written as `Z`, whether there is a colon, whether minutes may be
    /// missing.
    Offset {
        zero_is_z: bool,
        colon: bool,
        short: bool,
    },
    ZoneId,
    Optional(Vec<Item>),
}

impl Item {
    fn is_neutral(&self) -> bool {
        match self {
            Item::Number { field, .. } => {
                !matches!(field, Number::WeekYear | Number::Week | Number::DayOfWeek)
            }
            Item::Literal(_) | Item::Fraction { .. } | Item::Offset { .. } => true,
            Item::MonthName { .. } | Item::DayName { .. } | Item::AmPm | Item::ZoneId => false,
            Item::Optional(items) => items.iter().all(Item::is_neutral),
        }
    }
}

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatePattern {
    items: Vec<Item>,
}

/// The fields found in a string.
#[derive(Debug, Clone, Default)]
struct Fields {
    year: Option<i32>,
    week_year: Option<i32>,
    week: Option<u32>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    hour: Option<u32>,
    hour12: Option<u32>,
    pm: Option<bool>,
    minute: Option<u32>,
    second: Option<u32>,
    nanos: Option<u32>,
    weekday: Option<usize>,
    zone: Option<TimeZone>,
}

/// Longest pattern in bytes, as in mappings.
const LENGTH_MAX: usize = 512;

impl DatePattern {
    /// Parses a pattern of `java.time.format.DateTimeFormatter`. The error is Java's reason.
    pub fn parse(pattern: &str) -> Result<DatePattern, String> {
        if pattern.len() > LENGTH_MAX {
            return Err(format!("Pattern of {} bytes, more than [{LENGTH_MAX}]", pattern.len()));
        }
        let chars: Vec<char> = pattern.chars().collect();
        let mut at = 0;
        let mut items = parse_items(&chars, &mut at, 0)?;
        if at < chars.len() {
            return Err("Pattern invalid as it contains ] without previous [".to_owned());
        }
        fix_adjacent(&mut items);
        Ok(DatePattern { items })
    }

    /// Whether dates are written alike in every locale: without names, and without weeks, which do not begin
    /// with the same day everywhere.
    pub fn is_neutral(&self) -> bool {
        self.items.iter().all(Item::is_neutral)
    }

    /// Parses `text`. A missing year is `default_year`, a missing zone `default_zone`.
    pub fn instant(
        &self,
        text: &str,
        default_year: i32,
        default_zone: &TimeZone,
    ) -> Result<Timestamp, String> {
        let mut fields = Fields::default();
        match read_items(&self.items, text, 0, &mut fields) {
            Ok(end) if end == text.len() => fields.instant(text, default_year, default_zone),
            Ok(end) => Err(format!("Text '{text}' could not be parsed, unparsed text found at index {end}")),
            Err(at) => Err(format!("Text '{text}' could not be parsed at index {at}")),
        }
    }

    /// Formats the instant in this zone.
    pub fn format(&self, instant: Timestamp, zone: &TimeZone) -> String {
        let mut out = String::new();
        write_items(&self.items, &instant.to_zoned(zone.clone()), &mut out);
        out
    }
}

fn parse_items(chars: &[char], at: &mut usize, depth: usize) -> Result<Vec<Item>, String> {
    if depth > NESTING_DEPTH_MAX {
        return Err("optional sections are nested too deeply".to_owned());
    }
    let mut items = Vec::new();
    while let Some(&char) = chars.get(*at) {
        match char {
            '[' => {
                *at += 1;
                items.push(Item::Optional(parse_items(chars, at, depth + 1)?));
                // Java closes a section that is still open at the end.
                if chars.get(*at) == Some(&']') {
                    *at += 1;
                }
            }
            ']' => return Ok(items),
            '\'' => items.push(Item::Literal(quoted(chars, at)?)),
            letter if letter.is_ascii_alphabetic() => {
                let count = chars[*at..].iter().take_while(|&&other| other == letter).count();
                *at += count;
                items.push(letters(letter, count)?);
            }
            '{' | '}' | '#' => return Err(format!("Pattern includes reserved character: '{char}'")),
            other => {
                *at += 1;
                items.push(Item::Literal(other.to_string()));
            }
        }
    }
    Ok(items)
}

fn quoted(chars: &[char], at: &mut usize) -> Result<String, String> {
    *at += 1;
    let mut text = String::new();
    loop {
        match chars.get(*at) {
            None => return Err("Pattern ends with an incomplete string literal".to_owned()),
            Some('\'') if chars.get(*at + 1) == Some(&'\'') => {
                text.push('\'');
                *at += 2;
            }
            Some('\'') => {
                *at += 1;
                return Ok(if text.is_empty() { "'".to_owned() } else { text });
            }
            Some(&other) => {
                text.push(other);
                *at += 1;
            }
        }
    }
}

fn letters(letter: char, count: usize) -> Result<Item, String> {
    let number =
        |field| Item::Number { field, width_min: count, width_max: if count == 1 { 2 } else { count } };
    Ok(match (letter, count) {
        ('y' | 'u', 2) => Item::Number { field: Number::YearOfCentury, width_min: 2, width_max: 2 },
        ('y' | 'u', _) => Item::Number { field: Number::Year, width_min: count, width_max: 9 },
        ('Y', 2) => Item::Number { field: Number::WeekYear, width_min: 2, width_max: 2 },
        ('Y', _) => Item::Number { field: Number::WeekYear, width_min: count, width_max: 9 },
        ('w', 1 | 2) => number(Number::Week),
        ('e', 1 | 2) => number(Number::DayOfWeek),
        ('M' | 'L', 3) => Item::MonthName { short: true },
        ('M' | 'L', 4) => Item::MonthName { short: false },
        ('M' | 'L', 1 | 2) => number(Number::Month),
        ('d', 1 | 2) => number(Number::Day),
        ('D', 1..=3) => Item::Number { field: Number::DayOfYear, width_min: count, width_max: 3 },
        ('H', 1 | 2) => number(Number::Hour24),
        ('k', 1 | 2) => number(Number::HourTo24),
        ('h', 1 | 2) => number(Number::Hour12),
        ('K', 1 | 2) => number(Number::HourTo11),
        ('m', 1 | 2) => number(Number::Minute),
        ('s', 1 | 2) => number(Number::Second),
        ('S', 1..=9) => Item::Fraction { width: count },
        ('a', 1) => Item::AmPm,
        ('E', 1..=3) => Item::DayName { short: true },
        ('E', 4) => Item::DayName { short: false },
        ('Z', 1..=3) => Item::Offset { zero_is_z: false, colon: false, short: false },
        ('X', 1) => Item::Offset { zero_is_z: true, colon: false, short: true },
        ('X', 2 | 4) => Item::Offset { zero_is_z: true, colon: false, short: false },
        ('Z' | 'X', 3 | 5) => Item::Offset { zero_is_z: true, colon: true, short: false },
        ('x', 1) => Item::Offset { zero_is_z: false, colon: false, short: true },
        ('x', 2 | 4) => Item::Offset { zero_is_z: false, colon: false, short: false },
        ('x', 3 | 5) => Item::Offset { zero_is_z: false, colon: true, short: false },
        ('V', 2) | ('z', 1..=4) => Item::ZoneId,
        (
            'w' | 'M' | 'L' | 'd' | 'D' | 'H' | 'k' | 'h' | 'K' | 'm' | 's' | 'S' | 'a' | 'E' | 'Z' | 'X'
            | 'x' | 'V' | 'z',
            _,
        ) => {
            return Err(format!("Too many pattern letters: {letter}"));
        }
        ('G' | 'Q' | 'q' | 'W' | 'e' | 'c' | 'F' | 'A' | 'n' | 'N' | 'B' | 'O' | 'p' | 'g' | 'v', _) => {
            return Err(format!("the pattern letter {letter} is not supported by Limber yet"));
        }
        _ => return Err(format!("Unknown pattern letter: {letter}")),
    })
}

/// Makes a number directly before another number take exactly its width (`yyyyMMdd`).
fn fix_adjacent(items: &mut [Item]) {
    for at in 0..items.len() {
        let followed = matches!(items.get(at + 1), Some(Item::Number { .. } | Item::Fraction { .. }));
        match &mut items[at] {
            Item::Number { width_min, width_max, .. } if followed && *width_min > 1 => {
                *width_max = *width_min
            }
            Item::Optional(inner) => fix_adjacent(inner),
            _ => {}
        }
    }
}

/// Parses `items` from `at` on. Returns the end offset, or the offset of the error.
fn read_items(items: &[Item], text: &str, mut at: usize, fields: &mut Fields) -> Result<usize, usize> {
    for item in items {
        if let Item::Optional(inner) = item {
            let mut tried = fields.clone();
            if let Ok(end) = read_items(inner, text, at, &mut tried) {
                at = end;
                *fields = tried;
            }
        } else {
            at = read_item(item, text, at, fields).ok_or(at)?;
        }
    }
    Ok(at)
}

fn digits(text: &str, at: usize, width_min: usize, width_max: usize) -> Option<(u32, usize)> {
    let count = text.as_bytes()[at..].iter().take(width_max).take_while(|byte| byte.is_ascii_digit()).count();
    (count >= width_min && count > 0)
        .then(|| text[at..at + count].parse().ok().map(|value| (value, at + count)))?
}

fn name(text: &str, at: usize, names: &[&str], short: bool) -> Option<(usize, usize)> {
    names.iter().enumerate().find_map(|(index, name)| {
        let name = if short { &name[..3] } else { name };
        let found = text.get(at..at + name.len())?;
        found.eq_ignore_ascii_case(name).then_some((index, at + name.len()))
    })
}

fn read_item(item: &Item, text: &str, at: usize, fields: &mut Fields) -> Option<usize> {
    match item {
        Item::Literal(literal) => text[at..].starts_with(literal.as_str()).then_some(at + literal.len()),
        Item::Number { field, width_min, width_max } => {
            let (value, end) = digits(text, at, *width_min, *width_max)?;
            match field {
                Number::Year => fields.year = Some(i32::try_from(value).ok()?),
                Number::YearOfCentury => fields.year = Some(2000 + value as i32),
                Number::WeekYear if *width_max == 2 => fields.week_year = Some(2000 + value as i32),
                Number::WeekYear => fields.week_year = Some(i32::try_from(value).ok()?),
                Number::Week => fields.week = Some(value),
                Number::DayOfWeek => fields.weekday = (value as usize).checked_sub(1),
                Number::Month => fields.month = Some(value),
                Number::Day => fields.day = Some(value),
                Number::DayOfYear => fields.day_of_year = Some(value),
                Number::Hour24 => fields.hour = Some(value),
                Number::HourTo24 => fields.hour = Some(if value == 24 { 0 } else { value }),
                Number::Hour12 | Number::HourTo11 => fields.hour12 = Some(value % 12),
                Number::Minute => fields.minute = Some(value),
                Number::Second => fields.second = Some(value),
            }
            Some(end)
        }
        Item::Fraction { width } => {
            let (value, end) = digits(text, at, *width, *width)?;
            fields.nanos = Some(value * 10u32.pow(9 - *width as u32));
            Some(end)
        }
        Item::MonthName { short } => {
            let (index, end) = name(text, at, &MONTHS, *short)?;
            fields.month = Some(index as u32 + 1);
            Some(end)
        }
        Item::DayName { short } => {
            let (index, end) = name(text, at, &DAYS, *short)?;
            fields.weekday = Some(index);
            Some(end)
        }
        Item::AmPm => {
            let found = text.get(at..at + 2)?;
            fields.pm = Some(match () {
                () if found.eq_ignore_ascii_case("am") => false,
                () if found.eq_ignore_ascii_case("pm") => true,
                () => return None,
            });
            Some(at + 2)
        }
        Item::Offset { zero_is_z, colon, short } => {
            if *zero_is_z && text[at..].starts_with('Z') {
                fields.zone = Some(TimeZone::UTC);
                return Some(at + 1);
            }
            let (offset, end) = read_offset(text, at, Some(*colon), *short)?;
            fields.zone = Some(TimeZone::fixed(offset));
            Some(end)
        }
        Item::ZoneId => {
            let is_part =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'+' | b':');
            let count = text.as_bytes()[at..].iter().take_while(|&&byte| is_part(byte)).count();
            fields.zone = Some(zone(&text[at..at + count])?);
            Some(at + count)
        }
        Item::Optional(_) => unreachable!("read_items reads optional sections"),
    }
}

/// Parses `+hh`, `+hhmm` or `+hh:mm`. `colon: None` accepts it with and without a colon.
pub fn read_offset(text: &str, at: usize, colon: Option<bool>, short: bool) -> Option<(Offset, usize)> {
    let sign = match text.as_bytes().get(at)? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, mut end) = digits(text, at + 1, 2, 2)?;
    let mut minutes = 0;
    let has_colon = text.as_bytes().get(end) == Some(&b':');
    let minutes_at = if has_colon && colon != Some(false) { end + 1 } else { end };
    let may_have = has_colon == colon.unwrap_or(has_colon);
    match digits(text, minutes_at, 2, 2).filter(|_| may_have) {
        Some((found, after)) => (minutes, end) = (found, after),
        None if short || colon.is_none() => {}
        None => return None,
    }
    Some((Offset::from_seconds(sign * (hours as i32 * 3600 + minutes as i32 * 60)).ok()?, end))
}

/// Finds a time zone by its database name, offset or common abbreviation.
pub fn zone(name: &str) -> Option<TimeZone> {
    if let Some((offset, end)) = read_offset(name, 0, None, true) {
        return (end == name.len()).then(|| TimeZone::fixed(offset));
    }
    if let Some((_, known)) = ABBREVIATIONS.iter().find(|(short, _)| *short == name) {
        return if *known == "UTC" { Some(TimeZone::UTC) } else { TimeZone::get(known).ok() };
    }
    TimeZone::get(name).ok()
}

impl Fields {
    /// Returns the date given by week-based year, week and day of the week. The year begins with its first
    /// week, a week with Monday.
    fn day_of_week_date(&self, year: i16) -> Result<Date, jiff::Error> {
        let week = i8::try_from(self.week.unwrap_or(1)).unwrap_or(-1);
        let weekday = self.weekday.and_then(|day| i8::try_from(day).ok()).unwrap_or(0);
        let weekday = Weekday::from_monday_zero_offset(weekday)?;
        ISOWeekDate::new(year, week, weekday).map(ISOWeekDate::date)
    }

    fn instant(&self, text: &str, default_year: i32, default_zone: &TimeZone) -> Result<Timestamp, String> {
        let invalid = |what: &str| format!("Text '{text}' could not be parsed: {what}");
        let year = i16::try_from(self.week_year.or(self.year).unwrap_or(default_year))
            .map_err(|_| invalid("Invalid value for Year"))?;
        let date = match self.day_of_year {
            _ if self.week_year.is_some() || self.week.is_some() => self.day_of_week_date(year),
            Some(day) => {
                let day = i16::try_from(day).map_err(|_| invalid("Invalid value for DayOfYear"))?;
                Date::new(year, 1, 1).and_then(|first| first.with().day_of_year(day).build())
            }
            None => {
                let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
                Date::new(year, i8::try_from(month).unwrap_or(0), i8::try_from(day).unwrap_or(0))
            }
        };
        let date = date.map_err(|error| invalid(&error.to_string()))?;
        if let Some(weekday) = self.weekday
            && date.weekday().to_monday_zero_offset() as usize != weekday
        {
            return Err(invalid("Conflict found: the day of the week is not that of the date"));
        }
        let hour = match (self.hour, self.hour12) {
            (Some(hour), _) => hour,
            (None, Some(hour)) => hour + if self.pm == Some(true) { 12 } else { 0 },
            (None, None) => 0,
        };
        let part = |value: Option<u32>| i8::try_from(value.unwrap_or(0)).unwrap_or(-1);
        let time =
            Time::new(part(Some(hour)), part(self.minute), part(self.second), self.nanos.unwrap_or(0) as i32);
        let time = time.map_err(|error| invalid(&error.to_string()))?;
        let zone = self.zone.as_ref().unwrap_or(default_zone);
        let zoned =
            zone.to_zoned(DateTime::from_parts(date, time)).map_err(|error| invalid(&error.to_string()))?;
        Ok(zoned.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expected: &str) {
        let zone = TimeZone::UTC;
        let instant = DatePattern::parse(pattern).and_then(|pattern| pattern.instant(text, 2024, &zone));
        assert_eq!(
            instant.map(|instant| instant.to_string()).unwrap_or_else(|error| error),
            expected,
            "{pattern}"
        );
    }

    #[test]
    fn reads_texts() {
        check("dd/MMM/yyyy:HH:mm:ss Z", "16/Oct/2025:10:00:00 +0200", "2025-10-16T08:00:00Z");
        check("MMM d HH:mm:ss", "Oct 6 10:00:00", "2024-10-06T10:00:00Z");
        check("yyyyMMddHHmmssSSS", "20251016100000123", "2025-10-16T10:00:00.123Z");
        check("yyyy-MM-dd'T'HH:mm[:ss][XXX]", "2025-10-16T10:00+01:30", "2025-10-16T08:30:00Z");
        check("yyyy-MM-dd hh:mm a", "2025-10-16 12:05 am", "2025-10-16T00:05:00Z");
        check("EEE, d MMM yyyy HH:mm:ss z", "Thu, 16 Oct 2025 10:00:00 GMT", "2025-10-16T10:00:00Z");
        check("yyyy-MM-dd VV", "2025-10-16 Europe/Berlin", "2025-10-15T22:00:00Z");
        check("yyyy.DDD", "2025.032", "2025-02-01T00:00:00Z");
        check("YYYY-'W'ww", "2025-W01", "2024-12-30T00:00:00Z");
        check("YYYY-'W'ww-e", "2020-W53-7", "2021-01-03T00:00:00Z");
        check("YYYYww", "202502", "2025-01-06T00:00:00Z");
        check("YYYY", "2025", "2024-12-30T00:00:00Z");
        check("yyyy", "x", "Text 'x' could not be parsed at index 0");
        check("yyyy", "2020x", "Text '2020x' could not be parsed, unparsed text found at index 4");
        check("foo", "x", "Unknown pattern letter: f");
        check(&"yM".repeat(LENGTH_MAX), "x", "Pattern of 1024 bytes, more than [512]");
    }

    #[test]
    fn writes_instants() {
        let instant: Timestamp = "2025-01-06T13:05:09.123456789Z".parse().expect("instant");
        for (pattern, zone_name, expected) in [
            ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "UTC", "2025-01-06T13:05:09.123Z"),
            ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "Europe/Amsterdam", "2025-01-06T14:05:09.123+01:00"),
            ("EEEE d MMMM yy, h:mm a ''", "UTC", "Monday 6 January 25, 1:05 PM '"),
            ("YYYY-'w'ww e", "UTC", "2025-w02 1"),
            ("Z X xx", "-03:30", "-0330 -0330 -0330"),
        ] {
            let pattern = DatePattern::parse(pattern).expect("pattern");
            assert_eq!(pattern.format(instant, &zone(zone_name).expect("zone")), expected);
        }
    }
}
