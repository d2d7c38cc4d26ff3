//! Methods of dates and comparisons of strings over a whole block of documents, where they cannot fail.

use limber_mapping::ValueKind;
use limber_mapping::date::Instant;

use super::{Block, Column};
use crate::language::{Expr, Kind};
use crate::library::{Machine, part_of_method};
use crate::types::{DatePart, Literal, Type};
use crate::values::{DateValue, date_part};

impl Block<'_, '_> {
    /// Calls a method that cannot fail on each document's only value.
    pub fn call(&mut self, target: &Expr, name: &str, arguments: &[Expr], rows: &[u32]) -> Option<Column> {
        let Kind::FieldValue(field) = target.kind else { return None };
        match (name, arguments) {
            ("equals", [Expr { kind: Kind::Literal(Literal::Str(text)), .. }]) => {
                self.is_text(field, text, rows).map(Column::flag)
            }
            (name, []) => self.date_method(field, name, rows),
            _ => None,
        }
    }

    /// Returns whether the only value of each document is this string.
    pub fn is_text(&mut self, field: u16, text: &str, rows: &[u32]) -> Option<Vec<bool>> {
        let (reader, _) = self.run.reader(field, 0).ok()?;
        let all = reader.equals_string(text)?;
        Some(rows.iter().map(|row| all[*row as usize]).collect())
    }

    /// Returns a part of each document's only date, which is in UTC.
    fn date_method(&mut self, field: u16, name: &str, rows: &[u32]) -> Option<Column> {
        let (reader, _) = self.run.reader(field, 0).ok()?;
        let mapped = reader.field()?;
        let ValueKind::Date { resolution, .. } = &mapped.values else { return None };
        let all = reader.aligned()?;
        let millis = rows.iter().map(|row| resolution.millis(all[*row as usize]));
        if matches!(name, "getMillis" | "toEpochMilli") {
            return Some(Column::whole(Type::Long, millis.collect()));
        }
        if matches!(name, "toEpochSecond" | "getEpochSecond") {
            return Some(Column::whole(Type::Long, millis.map(|millis| millis.div_euclid(1000)).collect()));
        }
        // A part is the number of units since the start of the day, modulo `most`.
        let cut = |unit: i64, most: i64| {
            let of = move |millis: i64| (millis.rem_euclid(86_400_000) / unit) % most;
            Column::whole(Type::Int, millis.clone().map(of).collect())
        };
        Some(match part_of_method(name)? {
            DatePart::Hour => cut(3_600_000, 24),
            DatePart::Minute => cut(60_000, 60),
            DatePart::Second => cut(1000, 60),
            part => {
                let of = |millis| {
                    let date = DateValue::utc(Instant { millis, nanos: 0 });
                    i64::from(date_part(&date, part))
                };
                Column::whole(Type::Int, millis.map(of).collect())
            }
        })
    }
}

/// Returns the field whose value is compared with a string, and the string.
pub(super) fn text_compared<'e>(left: &'e Expr, right: &'e Expr) -> Option<(u16, &'e str)> {
    match (&left.kind, &right.kind) {
        (Kind::FieldValue(field), Kind::Literal(Literal::Str(text)))
        | (Kind::Literal(Literal::Str(text)), Kind::FieldValue(field)) => Some((*field, text)),
        _ => None,
    }
}
