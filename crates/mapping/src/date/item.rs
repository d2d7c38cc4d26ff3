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
        full: bool,
    },
    Offset(Offset),
    /// `GMT+8`, or in full `GMT+08:00`.
    LocalOffset {
        full: bool,
    },
    Zone(ZoneText),
    Optional(Vec<Item>),
}

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

pub(super) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Returns the English names of a unit's values, and the value of the first.
pub(super) fn names(unit: Unit, full: bool) -> (i64, Vec<&'static str>) {
    let short =
        |names: &[&'static str]| names.iter().map(|name| if full { name } else { &name[..3] }).collect();
    match unit {
        Unit::Month => (1, short(&MONTHS)),
        Unit::WeekDay => (1, short(&WEEKDAYS)),
        Unit::HalfDay => (0, vec!["AM", "PM"]),
        Unit::Era if full => (0, vec!["Before Christ", "Anno Domini"]),
        Unit::Era => (0, vec!["BC", "AD"]),
        Unit::Quarter if full => (1, vec!["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"]),
        _ => (1, vec!["Q1", "Q2", "Q3", "Q4"]),
    }
}
