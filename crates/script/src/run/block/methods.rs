//! Methods of dates and comparisons of strings over a whole block of documents, where they cannot fail.

use std::rc::Rc;
use std::sync::Arc;

use limber_mapping::ValueKind;
use limber_mapping::date::{Instant, MILLIS_PER_DAY, NANOS_PER_MILLI, Resolution};
use limber_mapping::geo::{ArcFrom, DistanceKind, GeoPoint};

use super::texts::Texts;
use super::{Block, Column, Data, Values};
use crate::language::{Expr, Kind};
use crate::library::{DAYS, MONTHS, Machine, call_method, is_change, part_of_method, unit_nanos};
use crate::types::{DatePart, Literal, Type};
use crate::values::{DateValue, Value, date_part};

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
            (Kind::Field(field), "arcDistance" | "planeDistance", [latitude, longitude]) => {
                let to = [self.constant(latitude)?.f64(), self.constant(longitude)?.f64()];
                let kind = if name == "arcDistance" { DistanceKind::Arc } else { DistanceKind::Plane };
                self.distances(*field, to, kind, rows)
            }
            (_, "getValue", []) => self.number_of_name(target, rows),
            _ if target.ty == Type::Str || self.is_word(target) => None,
            (_, "toInstant", []) => {
                let dates = self.eval(target, rows)?.into_dates()?;
                Some(Column::of_dates(dates))
            }
            (_, "getDayOfWeekEnum" | "getDayOfWeek", []) => {
                let days = date_parts(self.dates(target, rows)?, DatePart::DayOfWeek);
                named(days, &DAYS)
            }
            (_, "getMonth", []) => named(date_parts(self.dates(target, rows)?, DatePart::Month), &MONTHS),
            (_, _, []) => {
                let dates = self.dates(target, rows)?;
                date_method(dates, name)
            }
            (_, "truncatedTo", [unit]) => {
                let length = self.millis_of(unit).filter(|length| *length <= MILLIS_PER_DAY)?;
                let dates = self.eval(target, rows)?.into_dates()?;
                Some(Column::of_dates(dates.map(|millis| millis - millis.rem_euclid(length))))
            }
            (_, "plus" | "minus", [amount, unit]) => {
                let length = self.millis_of(unit)?;
                self.shifted(target, (name == "plus", length), amount, rows)
            }
            (_, shift, [amount]) if let Some((is_plus, length)) = shift_of(shift) => {
                self.shifted(target, (is_plus, length), amount, rows)
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

    /// Returns the distance of the first point of each document to a place, in meters.
    fn distances(
        &mut self,
        field: u16,
        [latitude, longitude]: [f64; 2],
        kind: DistanceKind,
        rows: &[u32],
    ) -> Option<Column> {
        let (reader, _) = self.run.reader(field, 0).ok()?;
        if !reader.field()?.is_point() {
            return None;
        }
        let distance = |row: &u32| {
            let from = GeoPoint::decode(*reader.stored(*row as usize).first()?);
            let from = ArcFrom::new(from.latitude, from.longitude);
            Some(kind.meters(&from, latitude, longitude))
        };
        Some(Column::real(rows.iter().map(distance).collect::<Option<_>>()?))
    }

    /// Returns the length of a unit that is a constant, in milliseconds. `None` for shorter ones, and for
    /// those without a fixed length.
    fn millis_of(&mut self, unit: &Expr) -> Option<i64> {
        let Value::Str(name) = self.constant(unit)? else { return None };
        Some(unit_nanos(&name)? / NANOS_PER_MILLI).filter(|length| *length > 0)
    }

    /// Moves dates forward or back by a number of units. `None` if the result could be too far away.
    fn shifted(
        &mut self,
        target: &Expr,
        (is_plus, length): (bool, i64),
        amount: &Expr,
        rows: &[u32],
    ) -> Option<Column> {
        let dates = self.eval(target, rows)?.into_dates()?;
        let amounts = self.eval(amount, rows)?.into_wholes()?;
        let is_small = |amount: i64| amount.unsigned_abs() < AMOUNT_MAX;
        let are_small = match &amounts {
            Values::Same(amount, _) => is_small(*amount),
            Values::Each(amounts) => amounts.iter().all(|amount| is_small(*amount)),
        };
        let length = if is_plus { length } else { -length };
        let moved = dates.combined(amounts, |date, amount| date + amount * length);
        let are_usual = match &moved {
            Values::Same(date, _) => is_usual(date),
            Values::Each(dates) => dates.iter().all(is_usual),
        };
        (are_small && are_usual).then(|| Column::of_dates(moved))
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
        reader.equals_string(text, rows)
    }

    /// Calls a method once for each distinct combination of its target and arguments. `None` if the method
    /// can change its target.
    pub(super) fn call_any(
        &mut self,
        target: &Expr,
        name: &str,
        (arguments, null_safe): (&[Expr], bool),
        rows: &[u32],
    ) -> Option<Column> {
        let target = self.eval(target, rows)?;
        if matches!(target.data, Data::Other(_)) && is_change(name) {
            return None;
        }
        let mut parts = vec![target];
        for argument in arguments {
            parts.push(self.eval(argument, rows)?);
        }
        self.call_each(parts, |run, mut values| {
            let arguments = values.split_off(1);
            match &values[0] {
                Value::Null if null_safe => Ok(Value::Null),
                target => call_method(run, target, name, arguments, 0),
            }
        })
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

/// Numbers of units below this, of a week at most, do not overflow.
const AMOUNT_MAX: u64 = 1 << 31;

/// Returns whether a method moves dates forward, and the length of its unit in milliseconds.
fn shift_of(method: &str) -> Option<(bool, i64)> {
    let (is_plus, unit) = match method.strip_prefix("plus") {
        Some(unit) => (true, unit),
        None => (false, method.strip_prefix("minus")?),
    };
    let length = unit_nanos(unit)? / NANOS_PER_MILLI;
    (length > 0).then_some((is_plus, length))
}

/// Returns the names of numbers that count from 1.
fn named(numbers: Column, names: &[&str]) -> Option<Column> {
    let indexes = numbers.into_wholes()?.map(|number| number as u32 - 1);
    let words = Rc::new(names.iter().map(|name| Arc::from(*name)).collect());
    Some(Column { ty: Type::Str, data: Data::Text(Texts { indexes, words }) })
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

/// Returns the number of units of `UNIT` milliseconds since the epoch, modulo `MOST`.
fn cycles<const UNIT: i64, const MOST: u32>(dates: Values<i64>) -> Values<i64> {
    let each = |millis: i64| millis.div_euclid(UNIT).rem_euclid(i64::from(MOST));
    let Values::Each(mut all) = dates else { return dates.map(each) };
    let (least, most) =
        all.iter().fold((i64::MAX, i64::MIN), |(least, most), date| (least.min(*date), most.max(*date)));
    let cycle = UNIT * i64::from(MOST);
    let base = least.div_euclid(cycle).wrapping_mul(cycle);
    let shift = UNIT.trailing_zeros();
    // Without the zeros at the end of the unit, dates of some years are numbers of 32 bits, which are divided
    // faster.
    if base <= least && most.wrapping_sub(base) as u64 >> shift <= u64::from(u32::MAX) {
        let odd = (UNIT >> shift) as u32;
        all.iter_mut().for_each(|date| {
            let steps = (date.wrapping_sub(base) as u64 >> shift) as u32;
            *date = i64::from(steps / odd % MOST);
        });
        return Values::Each(all);
    }
    Values::Each(all).map(each)
}

/// Returns a part of each date, which is in UTC.
fn date_parts(dates: Values<i64>, part: DatePart) -> Column {
    let data = match part {
        DatePart::Hour => cycles::<3_600_000, 24>(dates),
        DatePart::Minute => cycles::<60_000, 60>(dates),
        DatePart::Second => cycles::<1000, 60>(dates),
        // The epoch was a Thursday.
        DatePart::DayOfWeek => cycles::<MILLIS_PER_DAY, 7>(dates).map(|days| (days + 3) % 7 + 1),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_dates_are_those_of_each() {
        let near = |millis: i64| (0..200).map(move |i| millis + i * 7_777_777).collect::<Vec<_>>();
        let far = vec![-(1 << 61), -1, 0, 1, 86_399_999, 1_451_606_400_000, 1 << 61];
        for dates in [near(1_420_070_400_000), near(-500_000_000), far, vec![-1], Vec::new()] {
            let parts = [
                (DatePart::Hour, 3_600_000, 24),
                (DatePart::Minute, 60_000, 60),
                (DatePart::Second, 1000, 60),
            ];
            for (part, unit, most) in parts {
                let of = |millis: &i64| millis.rem_euclid(MILLIS_PER_DAY) / unit % most;
                let expected: Vec<i64> = dates.iter().map(of).collect();
                let found = date_parts(Values::Each(dates.clone()), part).into_wholes().expect("numbers");
                assert_eq!(found.into_vec(), expected);
            }
            let of = |millis: &i64| (millis.div_euclid(MILLIS_PER_DAY) + 3).rem_euclid(7) + 1;
            let expected: Vec<i64> = dates.iter().map(of).collect();
            let found = date_parts(Values::Each(dates.clone()), DatePart::DayOfWeek).into_wholes();
            assert_eq!(found.expect("numbers").into_vec(), expected);
        }
    }
}
