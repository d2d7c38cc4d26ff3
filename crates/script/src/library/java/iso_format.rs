//! The constants of `java.time.format.DateTimeFormatter`, and that of `java.time.Instant`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::date::Instant;

use super::Class;
use super::local::{Local, LocalKind};
use crate::error::Outcome;
use crate::values::{DateValue, JavaObject, Value};

pub(super) const FORMATTER: Class =
    Class { name: "DateTimeFormatter", constants: NAMES, statics: &[], call: constant, construct: None };

pub(super) const INSTANT: Class =
    Class { name: "Instant", constants: &["EPOCH"], statics: &[], call: epoch, construct: None };

const NAMES: &[&str] = &[
    "BASIC_ISO_DATE",
    "ISO_DATE",
    "ISO_DATE_TIME",
    "ISO_INSTANT",
    "ISO_LOCAL_DATE",
    "ISO_LOCAL_DATE_TIME",
    "ISO_LOCAL_TIME",
    "ISO_OFFSET_DATE_TIME",
    "ISO_TIME",
    "ISO_ZONED_DATE_TIME",
];

/// A formatter by the name of its constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct IsoFormat(&'static str);

fn constant(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    let found = NAMES.iter().find(|known| **known == name && arguments.is_empty());
    Ok(found.map(|name| Value::Object(Rc::new(IsoFormat(name)))))
}

fn epoch(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok((name == "EPOCH" && arguments.is_empty())
        .then(|| Value::Date(DateValue::of_instant(Instant::of_millis(0)))))
}

/// Returns the formatter that a value is.
pub(in super::super) fn iso_format(value: &Value) -> Option<IsoFormat> {
    value.object().copied()
}

impl IsoFormat {
    /// Prints a date with a zone.
    pub fn print(self, date: &DateValue) -> Option<String> {
        let text = date.text();
        let (day, rest) = text.split_once('T')?;
        // The offset and the name of the zone come after the time.
        let (time, zone) = rest.split_at(rest.find(['Z', '+', '-']).unwrap_or(rest.len()));
        let offset = zone.split('[').next().unwrap_or_default();
        let time = with_seconds(time);
        Some(match self.0 {
            "BASIC_ISO_DATE" => format!("{}{}", day.replace('-', ""), offset.replace(':', "")),
            "ISO_DATE" => format!("{day}{offset}"),
            "ISO_LOCAL_DATE" => day.to_owned(),
            "ISO_LOCAL_TIME" => time,
            "ISO_TIME" => format!("{time}{offset}"),
            "ISO_LOCAL_DATE_TIME" => format!("{day}T{time}"),
            "ISO_OFFSET_DATE_TIME" => format!("{day}T{time}{offset}"),
            "ISO_INSTANT" => {
                let utc = DateValue::utc(date.instant).text();
                let (day, time) = utc.trim_end_matches('Z').split_once('T')?;
                let seconds = if time.len() == 5 { ":00" } else { "" };
                format!("{day}T{time}{seconds}Z")
            }
            _ => format!("{day}T{time}{zone}"),
        })
    }

    /// Prints a date without a zone; `None` if it lacks what the format shows.
    pub fn print_local(self, local: &Local) -> Option<String> {
        let (has_date, has_time) = (local.kind != LocalKind::Time, local.kind != LocalKind::Date);
        let text = local.date.text();
        let (day, time) = text.trim_end_matches('Z').split_once('T')?;
        let time = with_seconds(time);
        match self.0 {
            "BASIC_ISO_DATE" if has_date => Some(day.replace('-', "")),
            "ISO_DATE" | "ISO_LOCAL_DATE" if has_date => Some(day.to_owned()),
            "ISO_TIME" | "ISO_LOCAL_TIME" if has_time => Some(time),
            "ISO_DATE_TIME" | "ISO_LOCAL_DATE_TIME" if has_date && has_time => Some(format!("{day}T{time}")),
            _ => None,
        }
    }
}

/// Adds the seconds that `toString` leaves out if they are zero, and leaves out the zeros at the end of a
/// fraction.
fn with_seconds(time: &str) -> String {
    match time.len() {
        5 => format!("{time}:00"),
        _ if time.contains('.') => time.trim_end_matches('0').to_owned(),
        _ => time.to_owned(),
    }
}

impl JavaObject for IsoFormat {
    fn class(&self) -> &'static str {
        "java.time.format.DateTimeFormatter"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.0);
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<IsoFormat>() == Some(self)
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
        let printed = match (name, arguments) {
            ("format", [Value::Date(date)]) => self.print(date),
            ("format", [local]) => local.object().and_then(|local| self.print_local(local)),
            _ => None,
        };
        Ok(printed.map(Value::str))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
