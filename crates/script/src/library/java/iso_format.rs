//! The constants of `java.time.format.DateTimeFormatter`, and that of `java.time.Instant`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::date::{DateFormat, Instant, Zone, default_format};

use super::Class;
use super::formatter::Formatter;
use super::local::{Local, LocalKind};
use crate::error::Outcome;
use crate::values::{DateValue, JavaObject, Value};

pub(super) const FORMATTER: Class =
    Class { name: "DateTimeFormatter", constants: NAMES, statics: &[], call: constant, construct: None };

pub(super) const INSTANT: Class =
    Class { name: "Instant", constants: &["EPOCH"], statics: &[("from", 1)], call: instant, construct: None };

const NAMES: &[&str] = &[
    "BASIC_ISO_DATE",
    "ISO_DATE",
    "ISO_DATE_TIME",
    "ISO_INSTANT",
    "ISO_LOCAL_DATE",
    "ISO_LOCAL_DATE_TIME",
    "ISO_LOCAL_TIME",
    "ISO_OFFSET_DATE_TIME",
    "ISO_ORDINAL_DATE",
    "ISO_TIME",
    "ISO_WEEK_DATE",
    "ISO_ZONED_DATE_TIME",
    "RFC_1123_DATE_TIME",
];

/// Elasticsearch's name of the format of `2024-W09-4`.
const WEEK_DATE: &str = "strict_week_date";

/// A formatter by the name of its constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct IsoFormat(&'static str);

fn constant(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    let found = NAMES.iter().find(|known| **known == name && arguments.is_empty());
    Ok(found.map(|name| Value::Object(Rc::new(IsoFormat(name)))))
}

fn instant(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    let instant = match (name, arguments) {
        ("EPOCH", []) => Instant::of_millis(0),
        ("from", [Value::Date(date)]) => date.instant,
        _ => return Ok(None),
    };
    Ok(Some(Value::Date(DateValue::of_instant(instant))))
}

/// Reads what `toString` of dates with a zone writes: a moment, an offset, and a region in brackets.
pub(super) fn read_iso(text: &str, zone: &Zone) -> Option<(Instant, Option<Zone>)> {
    let (moment, region) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((moment, region)) => (moment, Some(region)),
        None => (text, None),
    };
    let (instant, offset) = default_format().parse_instant_and_zone(moment, zone).ok()?;
    let region = region.and_then(|region| Zone::parse(region).ok());
    Some((instant, region.or(offset)))
}

/// Reads `Thu, 13 Oct 1983 22:15:30 GMT`.
fn read_rfc_1123(text: &str) -> Option<(Instant, Option<Zone>)> {
    let (moment, offset) = text.rsplit_once(' ')?;
    let zone = match offset {
        "GMT" => Zone::Utc,
        _ if offset.len() == 5 && offset.starts_with(['+', '-']) => Zone::parse(offset).ok()?,
        _ => return None,
    };
    let format = DateFormat::shared("[EEE, ]d MMM uuuu HH:mm[:ss]").ok()?;
    let instant = format.parse_instant_in(moment, &zone).ok()?;
    Some((instant, Some(zone)))
}

impl IsoFormat {
    /// Reads a date to its instant and the zone of its text. A text without a zone is in `zone`.
    pub fn read(self, text: &str, zone: &Zone) -> Option<(Instant, Option<Zone>)> {
        let pattern = match self.0 {
            "BASIC_ISO_DATE" => "uuuuMMdd[X]",
            "ISO_DATE" => "uuuu-MM-dd[XXX]",
            "ISO_ORDINAL_DATE" => "uuuu-DDD[XXX]",
            "ISO_WEEK_DATE" => WEEK_DATE,
            "RFC_1123_DATE_TIME" => return read_rfc_1123(text),
            "ISO_LOCAL_TIME" | "ISO_TIME" => return read_iso(&format!("1970-01-01T{text}"), zone),
            _ => return read_iso(text, zone),
        };
        DateFormat::shared(pattern).ok()?.parse_instant_and_zone(text, zone).ok()
    }

    /// Prints what is not a part of `toString`: days of the year, weeks, names; `None` for other formats.
    fn print_by_pattern(self, date: &DateValue) -> Option<String> {
        let pattern = match self.0 {
            "ISO_ORDINAL_DATE" => "uuuu-DDD",
            "ISO_WEEK_DATE" => WEEK_DATE,
            "RFC_1123_DATE_TIME" => "EEE, d MMM uuuu HH:mm:ss",
            _ => return None,
        };
        let zone = date.zone.as_deref().cloned().unwrap_or(Zone::Utc);
        Some(DateFormat::shared(pattern).ok()?.format_instant(date.instant, &zone))
    }

    /// Prints a date with a zone.
    pub fn print(self, date: &DateValue) -> Option<String> {
        if let Some(text) = self.print_by_pattern(date) {
            let offset = date.offset();
            return Some(match (self.0, offset.as_str()) {
                ("RFC_1123_DATE_TIME", "Z") => format!("{text} GMT"),
                ("RFC_1123_DATE_TIME", offset) => format!("{text} {}", offset.replace(':', "")),
                (_, offset) => format!("{text}{offset}"),
            });
        }
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
            "ISO_ORDINAL_DATE" | "ISO_WEEK_DATE" if has_date => self.print_by_pattern(&local.date),
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

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        Formatter::of_constant(*self).call(name, arguments, at)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
