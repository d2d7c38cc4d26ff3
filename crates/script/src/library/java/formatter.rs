//! Formatters of dates: those of patterns, the constants of `DateTimeFormatter`, and either with a zone.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use limber_mapping::date::{DateFormat, Instant, Zone};

use super::iso_format::{IsoFormat, read_iso};
use super::local::Local;
use super::zoned::zone_of;
use crate::error::{Outcome, ScriptError};
use crate::values::{DateValue, JavaObject, Value};

/// How a formatter was made.
#[derive(Debug, Clone)]
enum Base {
    Pattern(Arc<DateFormat>),
    Constant(IsoFormat),
}

/// A formatter as a script uses it.
pub(in super::super) struct Formatter {
    base: Base,
    /// The zone in which it prints moments, and in which texts without a zone are.
    zone: Option<Rc<Zone>>,
}

/// A formatter with a zone, as a script holds it.
#[derive(Debug)]
struct InZone {
    base: Base,
    zone: Rc<Zone>,
}

/// Approximate memory of a compiled pattern in bytes.
const PATTERN_BYTES: usize = 512;

/// Returns the formatter that a value is.
pub(in super::super) fn formatter_of(value: &Value) -> Option<Formatter> {
    if let Value::Formatter(format) = value {
        return Some(Formatter { base: Base::Pattern(format.clone()), zone: None });
    }
    if let Some(constant) = value.object::<IsoFormat>() {
        return Some(Formatter::of_constant(*constant));
    }
    let held = value.object::<InZone>()?;
    Some(Formatter { base: held.base.clone(), zone: Some(held.zone.clone()) })
}

fn unparsed(text: &str, at: u32) -> ScriptError {
    let reason = format!("Text '{text}' could not be parsed at index 0");
    ScriptError::new(at, "date_time_parse_exception", reason)
}

fn in_zone_of_text((instant, zone): (Instant, Option<Zone>)) -> DateValue {
    let zone = zone.filter(|zone| *zone != Zone::Utc).map(Rc::new);
    DateValue { zone, ..DateValue::utc(instant) }
}

/// Parses a date in the form of `ZonedDateTime#toString`. Returns it in the zone that the text names.
pub(in super::super) fn parse_iso(text: &str, at: u32) -> Outcome<DateValue> {
    let found = read_iso(text, &Zone::Utc).ok_or_else(|| unparsed(text, at))?;
    Ok(in_zone_of_text(found))
}

/// Parses a date with a formatter. Returns it in the zone that the text names.
pub(in super::super) fn parse_by(text: &Value, format: &Value, at: u32) -> Outcome<DateValue> {
    match formatter_of(format) {
        Some(format) => format.parse(&text.text(), at),
        None => Err(ScriptError::cast(at, format!("[{}] is no formatter of dates", format.class()))),
    }
}

impl Formatter {
    /// Returns the formatter of a constant.
    pub(super) fn of_constant(constant: IsoFormat) -> Formatter {
        Formatter { base: Base::Constant(constant), zone: None }
    }

    /// Prints a date with a zone; `None` if it lacks what the format shows.
    pub fn print(&self, date: &DateValue) -> Option<String> {
        if let Some(zone) = &self.zone {
            let moved = DateValue { zone: Some(zone.clone()), ..DateValue::utc(date.instant) };
            return self.base.print(&moved);
        }
        self.base.print(date)
    }

    /// Prints a date without a zone; `None` if it lacks what the format shows.
    pub fn print_local(&self, local: &Local) -> Option<String> {
        match (&self.base, &self.zone) {
            (Base::Constant(constant), _) => constant.print_local(local),
            (Base::Pattern(format), None) => Some(format.format_instant(local.date.instant, &Zone::Utc)),
            (Base::Pattern(format), Some(zone)) => {
                let millis = zone.to_utc(local.date.millis());
                Some(format.format_instant(Instant { millis, ..local.date.instant }, zone))
            }
        }
    }

    /// Parses a date. Returns it in the zone that the text names, or in that of the formatter.
    fn parse(&self, text: &str, at: u32) -> Outcome<DateValue> {
        let own = self.zone.as_deref().cloned().unwrap_or(Zone::Utc);
        let found = match &self.base {
            Base::Pattern(format) => format.parse_instant_and_zone(text, &own).ok(),
            Base::Constant(constant) => constant.read(text, &own),
        };
        let (instant, zone) = found.ok_or_else(|| unparsed(text, at))?;
        Ok(in_zone_of_text((instant, Some(zone.unwrap_or(own)))))
    }

    /// Calls a method; `None` if there is no method with this name that takes these arguments.
    pub fn call(self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        Ok(match (name, arguments) {
            ("format", [Value::Date(date)]) => self.print(date).map(Value::str),
            ("format", [local]) => {
                local.object::<Local>().and_then(|local| self.print_local(local)).map(Value::str)
            }
            ("parse", [Value::Str(text)]) => Some(Value::Date(self.parse(text, at)?)),
            ("withZone", [zone]) => {
                let zone = Rc::new(zone_of(zone, at)?);
                Some(Formatter { zone: Some(zone), ..self }.into_value())
            }
            // Names are English whatever the locale.
            ("withLocale", [_]) => Some(self.into_value()),
            ("getZone", []) => Some(self.zone.map_or(Value::Null, |zone| Value::str(zone.id()))),
            _ => None,
        })
    }

    fn into_value(self) -> Value {
        match (self.base, self.zone) {
            (base, Some(zone)) => Value::Object(Rc::new(InZone { base, zone })),
            (Base::Pattern(format), None) => Value::Formatter(format),
            (Base::Constant(constant), None) => Value::Object(Rc::new(constant)),
        }
    }
}

impl Base {
    fn print(&self, date: &DateValue) -> Option<String> {
        match self {
            Base::Constant(constant) => constant.print(date),
            Base::Pattern(format) => {
                let zone = date.zone.as_deref().cloned().unwrap_or(Zone::Utc);
                Some(format.format_instant(date.instant, &zone))
            }
        }
    }
}

impl JavaObject for InZone {
    fn class(&self) -> &'static str {
        "java.time.format.DateTimeFormatter"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        let Some(other) = other.as_any().downcast_ref::<InZone>() else { return false };
        let is_same = match (&self.base, &other.base) {
            (Base::Pattern(own), Base::Pattern(other)) => own.pattern == other.pattern,
            (Base::Constant(own), Base::Constant(other)) => own == other,
            _ => false,
        };
        is_same && self.zone == other.zone
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        let own = Formatter { base: self.base.clone(), zone: Some(self.zone.clone()) };
        own.call(name, arguments, at)
    }

    fn bytes(&self) -> usize {
        size_of_val(self) + PATTERN_BYTES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
