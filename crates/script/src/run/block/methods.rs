//! Methods of dates and comparisons of strings over a whole block of documents, where they cannot fail.

use limber_mapping::ValueKind;
use limber_mapping::date::{Instant, MILLIS_PER_DAY, NANOS_PER_MILLI, Resolution};

use super::{Block, Column, Data, Values};
use crate::language::{Expr, Kind};
use crate::library::{Machine, part_of_method, unit_nanos};
use crate::types::{DatePart, Literal, Type};
use crate::values::{DateValue, date_part};

impl Block<'_, '_> {
    /// Calls a method that cannot fail on each document's only value.
    pub fn call(&mut self, target: &Expr, name: &str, arguments: &[Expr], rows: &[u32]) -> Option<Column> {
        match (&target.kind, name, arguments) {
            (Kind::FieldValue(field), "equals", [Expr { kind: Kind::Literal(Literal::Str(text)), .. }]) => {
                self.is_text(*field, text, rows).map(Column::flag)
            }
            (Kind::Literal(Literal::Str(unit)), "between", [from, to]) => {
                let length = unit_nanos(unit)? / NANOS_PER_MILLI;
                if length == 0 {
                    return None;
                }
                let (from, to) = (self.eval(from, rows)?.into_dates()?, self.eval(to, rows)?.into_dates()?);
                let count = from.combined(to, |from, to| (to - from) / length);
                Some(Column { ty: Type::Long, data: Data::Whole(count) })
            }
            (_, "getValue", []) => self.number_of_name(target, rows),
            (_, _, arguments) if target.ty == Type::Str || self.is_word(target) => {
                let texts = self.eval(target, rows)?.into_texts()?;
                self.text_method(texts, name, arguments)
            }
            (_, "toInstant", []) => {
                let dates = self.eval(target, rows)?.into_dates()?;
                Some(Column { data: Data::Date(dates), ..Column::dates(Vec::new()) })
            }
            (_, _, []) => {
                let dates = self.dates(target, rows)?;
                date_method(dates, name)
            }
            (_, "isBefore" | "isAfter" | "isEqual", [other]) => {
                let (own, other) =
                    (self.eval(target, rows)?.into_dates()?, self.eval(other, rows)?.into_dates()?);
                let flags = match name {
                    "isBefore" => own.combined(other, |own, other| own < other),
                    "isAfter" => own.combined(other, |own, other| own > other),
                    _ => own.combined(other, |own, other| own == other),
                };
                Some(Column { ty: Type::Bool, data: Data::Flag(flags) })
            }
            _ => None,
        }
    }

    /// Whether an expression is a field of strings.
    fn is_word(&mut self, expr: &Expr) -> bool {
        let Kind::FieldValue(field) = expr.kind else { return false };
        let reader = self.run.reader(field, 0);
        reader.is_ok_and(|(reader, _)| !reader.is_numeric())
    }

    /// Returns the numbers of weekdays or months whose names an expression gets from dates.
    fn number_of_name(&mut self, expr: &Expr, rows: &[u32]) -> Option<Column> {
        let (target, name) = match &expr.kind {
            Kind::Call { target, name, arguments, null_safe: false } if arguments.is_empty() => {
                (target, (**name).to_owned())
            }
            Kind::Member { target, name, null_safe: false } => (target, getter(name)),
            _ => return None,
        };
        let part = match name.as_str() {
            "getDayOfWeekEnum" | "getDayOfWeek" => DatePart::DayOfWeek,
            "getMonth" => DatePart::Month,
            _ => return None,
        };
        Some(date_parts(self.dates(target, rows)?, part))
    }

    /// Returns the dates of an expression, in milliseconds; those of fields also if they have nanoseconds.
    fn dates(&mut self, expr: &Expr, rows: &[u32]) -> Option<Values<i64>> {
        let Kind::FieldValue(field) = expr.kind else { return self.eval(expr, rows)?.into_dates() };
        let (reader, _) = self.run.reader(field, 0).ok()?;
        let mapped = reader.field()?;
        let ValueKind::Date { resolution, .. } = &mapped.values else { return None };
        let all = reader.aligned()?;
        Some(Values::Each(match resolution {
            Resolution::Millis if all.len() == rows.len() => all.to_vec(),
            _ => rows.iter().map(|row| resolution.millis(all[*row as usize])).collect(),
        }))
    }

    /// Returns whether the only value of each document is this string.
    pub fn is_text(&mut self, field: u16, text: &str, rows: &[u32]) -> Option<Vec<bool>> {
        let (reader, _) = self.run.reader(field, 0).ok()?;
        let all = reader.equals_string(text)?;
        Some(rows.iter().map(|row| all[*row as usize]).collect())
    }
}

/// Returns the method that the short form `date.name` calls.
pub(super) fn getter(name: &str) -> String {
    let mut letters = name.chars();
    "get".chars().chain(letters.next().into_iter().flat_map(char::to_uppercase)).chain(letters).collect()
}

/// Whether the distance between this date and another one cannot overflow.
pub(super) fn is_usual(millis: &i64) -> bool {
    millis.unsigned_abs() < 1 << 62
}

/// Calls a method of dates without arguments.
fn date_method(dates: Values<i64>, name: &str) -> Option<Column> {
    let long = |data: Values<i64>| Some(Column { ty: Type::Long, data: Data::Whole(data) });
    match name {
        "getMillis" | "toEpochMilli" => long(dates),
        "toEpochSecond" | "getEpochSecond" => long(dates.map(|millis| millis.div_euclid(1000))),
        name => Some(date_parts(dates, part_of_method(name)?)),
    }
}

/// Returns a part of each date, which is in UTC.
fn date_parts(dates: Values<i64>, part: DatePart) -> Column {
    // A part of a day is the number of units since its start, modulo `most`.
    let cut = |dates: Values<i64>, unit: i64, most: i64| {
        dates.map(|millis| (millis.rem_euclid(MILLIS_PER_DAY) / unit) % most)
    };
    let data = match part {
        DatePart::Hour => cut(dates, 3_600_000, 24),
        DatePart::Minute => cut(dates, 60_000, 60),
        DatePart::Second => cut(dates, 1000, 60),
        // The epoch was a Thursday.
        DatePart::DayOfWeek => dates.map(|millis| (millis.div_euclid(MILLIS_PER_DAY) + 3).rem_euclid(7) + 1),
        part => dates.map(|millis| {
            let date = DateValue::utc(Instant { millis, nanos: 0 });
            i64::from(date_part(&date, part))
        }),
    };
    Column { ty: Type::Int, data: Data::Whole(data) }
}

/// Returns the field whose value is compared with a string, and the string.
pub(super) fn text_compared<'e>(left: &'e Expr, right: &'e Expr) -> Option<(u16, &'e str)> {
    match (&left.kind, &right.kind) {
        (Kind::FieldValue(field), Kind::Literal(Literal::Str(text)))
        | (Kind::Literal(Literal::Str(text)), Kind::FieldValue(field)) => Some((*field, text)),
        _ => None,
    }
}
