//! `ZonedDateTime` and `OffsetDateTime`: how they are made of other dates, and their methods about zones and
//! fields.

use std::rc::Rc;

use limber_mapping::date::{Instant, MILLIS_PER_DAY, Zone};

use super::Class;
use super::local::{Local, LocalKind, joined};
use crate::error::{Outcome, ScriptError};
use crate::library::dates;
use crate::types::DatePart;
use crate::values::{DateValue, Value, date_part};

/// Static methods besides those that take numbers and strings.
const STATICS: &[(&str, usize)] =
    &[("from", 1), ("of", 2), ("of", 3), ("ofInstant", 3), ("ofLocal", 3), ("ofStrict", 3)];

pub(super) const ZONED: Class =
    Class { name: "ZonedDateTime", constants: &[], statics: STATICS, call: static_call, construct: None };
pub(super) const OFFSET: Class =
    Class { name: "OffsetDateTime", constants: &[], statics: STATICS, call: static_call, construct: None };

/// Returns the zone with an id.
///
/// # Errors
/// There is none.
pub(super) fn zone_of(id: &Value, at: u32) -> Outcome<Zone> {
    Zone::parse(&id.text()).map_err(|error| ScriptError::new(at, "zone_rules_exception", error.reason))
}

fn in_zone(instant: Instant, zone: Zone) -> Value {
    Value::Date(DateValue { zone: Some(Rc::new(zone)), ..DateValue::utc(instant) })
}

fn static_call(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let date_time = |value: &Value| {
        value
            .object::<Local>()
            .filter(|local| local.kind == LocalKind::DateTime)
            .map(|local| local.date.clone())
    };
    let (local, zone) = match (name, arguments) {
        ("from", [Value::Date(date)]) if !date.is_instant => return Ok(Some(Value::Date(date.clone()))),
        ("of", [local, zone]) | ("ofLocal", [local, zone, _]) => (date_time(local), zone),
        ("of", [date, time, zone]) => (joined(date, time), zone),
        ("ofInstant" | "ofStrict", [local, offset, _]) => (date_time(local), offset),
        _ => return Ok(None),
    };
    let Some(date) = local else { return Ok(None) };
    let made = Local { kind: LocalKind::DateTime, date }.in_zone(zone, at)?;
    match (name, arguments, made) {
        ("ofInstant" | "ofStrict", [.., zone], Value::Date(date)) => {
            Ok(Some(in_zone(date.instant, zone_of(zone, at)?)))
        }
        (_, _, made) => Ok(Some(made)),
    }
}

/// Calls a method about the zone of a date or about its fields; `None` if this is another method.
pub(in super::super) fn zone_method(
    date: &DateValue,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        (
            "withZoneSameInstant" | "withOffsetSameInstant" | "atZoneSameInstant" | "atZone" | "atOffset",
            [zone],
        ) => in_zone(date.instant, zone_of(zone, at)?),
        ("withZoneSameLocal" | "withOffsetSameLocal" | "atZoneSimilarLocal", [zone]) => {
            let zone = zone_of(zone, at)?;
            let millis = zone.to_utc(date.local_millis());
            in_zone(Instant { millis, ..date.instant }, zone)
        }
        ("toOffsetDateTime" | "withFixedOffsetZone", []) => {
            let zone = Zone::fixed(date.offset_seconds());
            let zone = Some(zone).filter(|zone| *zone != Zone::Utc).map(Rc::new);
            Value::Date(DateValue { zone, ..DateValue::utc(date.instant) })
        }
        ("toZonedDateTime", []) => Value::Date(date.clone()),
        ("isSupported", [_]) => Value::Bool(true),
        ("with", [part]) => match part.object::<Local>() {
            Some(part) => Value::Date(with_local(date, part)),
            None => return Ok(None),
        },
        ("with", [field, value]) => return with_field(date, &field.text(), value.i64(), at),
        _ => return Ok(None),
    }))
}

/// Returns the date with the day, the time of day, or both of another one.
pub(super) fn with_local(date: &DateValue, part: &Local) -> DateValue {
    let own = date.local_millis();
    let (midnight, time) =
        (own.saturating_sub(own.rem_euclid(MILLIS_PER_DAY)), own.rem_euclid(MILLIS_PER_DAY));
    let (local, nanos) = match part.kind {
        LocalKind::Date => (part.date.millis().saturating_add(time), date.instant.nanos),
        LocalKind::Time => (midnight.saturating_add(part.date.millis()), part.date.instant.nanos),
        LocalKind::DateTime => (part.date.millis(), part.date.instant.nanos),
    };
    let millis = date.zone.as_ref().map_or(local, |zone| zone.to_utc(local));
    DateValue { instant: Instant { millis, nanos }, ..date.clone() }
}

/// Returns the date with another value of a `ChronoField`; `None` if there is no such field.
fn with_field(date: &DateValue, field: &str, value: i64, at: u32) -> Outcome<Option<Value>> {
    let part = match field {
        "YEAR" | "YEAR_OF_ERA" => "Year",
        "MONTH_OF_YEAR" => "Month",
        "DAY_OF_MONTH" => "DayOfMonth",
        "DAY_OF_YEAR" => "DayOfYear",
        "HOUR_OF_DAY" => "Hour",
        "MINUTE_OF_HOUR" => "Minute",
        "SECOND_OF_MINUTE" => "Second",
        "NANO_OF_SECOND" => "Nano",
        "MICRO_OF_SECOND" => return dates::changed(date, "Nano", value.saturating_mul(1_000), at),
        "MILLI_OF_SECOND" => return dates::changed(date, "Nano", value.saturating_mul(1_000_000), at),
        "DAY_OF_WEEK" if (1..=7).contains(&value) => {
            let own = i64::from(date_part(date, DatePart::DayOfWeek));
            return dates::shifted(date, "Days", value - own, at);
        }
        "DAY_OF_WEEK" => return Err(dates::out_of_range(at)),
        _ => return Ok(None),
    };
    dates::changed(date, part, value, at)
}
