//! The parts of a compiled date pattern.

/// A field of a date or time, as in `java.time.temporal.ChronoField`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Era,
    YearOfEra,
    Year,
    Month,
    Day,
    DayOfYear,
    WeekYear,
    Week,
    WeekDay,
    /// The year of weeks that begin on Sunday and of which the first contains 1 January, as in Java's neutral
    /// locale; so are the next two.
    LocalWeekYear,
    LocalWeek,
    /// 1 is Sunday.
    LocalWeekDay,
    /// The number of such a week in its month. Parsed but ignored.
    WeekOfMonth,
    /// The number of a week in its month, of which the first begins on the first day. Parsed but ignored.
    AlignedWeek,
    /// Parsed but ignored, as in Elasticsearch.
    Quarter,
    HalfDay,
    Hour,
    /// 0 to 11.
    HourOfHalf,
    /// 1 to 12.
    ClockHourOfHalf,
    /// 1 to 24.
    ClockHour,
    Minute,
    Second,
    Nano,
    MilliOfDay,
    NanoOfDay,
}

pub(super) const UNIT_COUNT: usize = Unit::NanoOfDay as usize + 1;

/// The signs that a number accepts (`java.time.format.SignStyle` under strict parsing).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sign {
    /// Digits only.
    None,
    /// `-` for negative numbers.
    Negative,
    /// `-`, and `+` exactly when there are more digits than the minimum.
    ExceedsPad,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Digits {
    pub min: usize,
    pub max: usize,
    pub sign: Sign,
    /// Number of digits that belong to the fixed-width numbers directly after it.
    pub reserve: usize,
}

/// How an offset is formatted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Offset {
    pub colon: bool,
    pub minutes: Part,
    pub seconds: Part,
    /// The text for offset zero.
    pub zero: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    Never,
    Optional,
    Always,
}

/// How a zone is parsed and formatted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ZoneText {
    /// An offset or an id; formatted as an offset.
    Any,
    /// An id.
    Id,
    /// An id or an abbreviation such as `PST`; formatted as an id.
    Name,
    /// The same, formatted as an abbreviation.
    ShortName,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Literal(Box<str>),
    Number {
        unit: Unit,
        digits: Digits,
    },
    /// The last two digits of a year from 2000 to 2099.
    ShortYear(Unit),
    /// A fraction of a second. When parsed, it follows one of the bytes of `points`, or nothing if that is
    /// empty; a point is written. If the width is not fixed, milliseconds are written if they suffice, or
    /// else as many digits as necessary.
    Fraction {
        min: usize,
        max: usize,
        points: &'static [u8],
    },
    Text {
        unit: Unit,
        names: TextNames,
    },
    Offset(Offset),
    /// `GMT+8`, or in full `GMT+08:00`.
    LocalOffset {
        full: bool,
    },
    Zone(ZoneText),
    Optional(Vec<Item>),
}

/// The names of a unit's values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextNames {
    /// The value of the first name.
    pub first: i64,
    pub names: Vec<&'static str>,
}

impl TextNames {
    /// Returns the value of the longest name that the text begins with, and the length of that name in bytes.
    pub fn read(&self, text: &str) -> Option<(i64, usize)> {
        let found = (0..).zip(&self.names).filter(|(_, name)| text.starts_with(**name));
        let (place, name) = found.max_by_key(|(place, name)| (name.len(), -*place))?;
        Some((self.first + place, name.len()))
    }

    /// Returns the name of a value.
    pub fn of(&self, value: i64) -> &'static str {
        self.names.get((value - self.first) as usize).copied().unwrap_or_default()
    }
}
