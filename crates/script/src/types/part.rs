//! Parts of fields and dates that have names of their own in scripts.

/// A part of a `doc` field that is read as one number, in both languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldPart {
    Latitude,
    Longitude,
    /// Expressions: the first value as a double; 0 without any.
    First,
    Count,
    Min,
    Max,
    Sum,
    Avg,
    Median,
    /// Expressions: 1 without a value, else 0.
    IsEmpty,
    /// Expressions: a part of the first date.
    Date(DatePart),
}

/// A part of a date, in its time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatePart {
    Year,
    /// From 1; [`DatePart::Month0`] counts from 0, like `java.util.Calendar`.
    Month,
    Month0,
    DayOfMonth,
    DayOfYear,
    /// Monday is 1.
    DayOfWeek,
    Hour,
    Minute,
    Second,
}
