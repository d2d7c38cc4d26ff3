//! Java's enums of `java.time`: days of the week, months, units, styles and locales. Scripts see each
//! constant as a string, its name.

use limber_mapping::date::Zone;

use super::dates::{self, DAYS, MONTHS};
use crate::error::{Outcome, ScriptError};
use crate::values::Value;

/// Returns the string for a constant such as `TextStyle.FULL`; `None` if the class has no such constant.
pub(crate) fn constant<'n>(class: &str, name: &'n str) -> Option<&'n str> {
    let is_known = match class {
        "ChronoUnit" | "ChronoField" => true,
        "IsoFields" => matches!(
            name,
            "DAY_OF_QUARTER" | "QUARTER_OF_YEAR" | "WEEK_BASED_YEAR" | "WEEK_OF_WEEK_BASED_YEAR"
        ),
        "DayOfWeek" => DAYS.contains(&name),
        "Month" => MONTHS.contains(&name),
        "TextStyle" => matches!(name.trim_end_matches("_STANDALONE"), "FULL" | "SHORT" | "NARROW"),
        // Names are shown in English.
        "RoundingMode" => super::java::MODES.contains(&name),
        "Locale" => matches!(name, "ENGLISH" | "ROOT" | "US" | "UK" | "CANADA"),
        _ => false,
    };
    is_known.then_some(name)
}

/// Does what `Month#of` and `DayOfWeek#of` do.
pub(super) fn of_number(class: &str, number: i64, at: u32) -> Outcome<Value> {
    let (names, what): (&[&'static str], _) = match class {
        "Month" => (&MONTHS, "MonthOfYear"),
        _ => (&DAYS, "DayOfWeek"),
    };
    let name = number
        .checked_sub(1)
        .and_then(|place| usize::try_from(place).ok())
        .and_then(|place| names.get(place));
    name.map(|name| Value::str(*name)).ok_or_else(|| {
        ScriptError::new(at, "date_time_exception", format!("Invalid value for {what}: {number}"))
    })
}

/// Does what `valueOf` and `from` of `Month` and `DayOfWeek` do; `None` if they do not take the value.
pub(super) fn constant_of(class: &str, name: &str, value: &Value, at: u32) -> Outcome<Option<Value>> {
    let names: &[&'static str] = if class == "Month" { &MONTHS } else { &DAYS };
    if let Value::Str(text) = value {
        if let Some(known) = names.iter().find(|known| ***known == **text) {
            return Ok(Some(Value::str(*known)));
        }
        let reason = format!("No enum constant java.time.{class}.{text}");
        return Err(ScriptError::argument(at, reason));
    }
    let getter = if class == "Month" { "getMonth" } else { "getDayOfWeek" };
    match dates::moment_of(value).filter(|_| name == "from") {
        Some(date) => dates::date_method(&date, getter, &[], at),
        None => Ok(None),
    }
}

/// Does what the methods of `ZoneOffset` that take numbers do. Returns the offset's id.
pub(super) fn offset(name: &str, first: &Value, second: Option<&Value>, at: u32) -> Outcome<Value> {
    /// The largest offset in seconds.
    const SECONDS_MAX: i64 = 18 * 3_600;
    let (first, second) = (first.i64(), second.map_or(0, Value::i64));
    let seconds = match name {
        "ofTotalSeconds" => Some(first),
        _ => first.checked_mul(3_600).zip(second.checked_mul(60)).and_then(|(first, second)| {
            let is_one_sign = first.signum() * second.signum() >= 0;
            first.checked_add(second).filter(|_| is_one_sign)
        }),
    };
    let Some(seconds) = seconds.filter(|seconds| (-SECONDS_MAX..=SECONDS_MAX).contains(seconds)) else {
        let reason = "Zone offset not in valid range: -18:00 to +18:00";
        return Err(ScriptError::new(at, "date_time_exception", reason));
    };
    let (sign, rest) = (if seconds < 0 { '-' } else { '+' }, seconds.abs());
    let (hours, minutes, left) = (rest / 3_600, rest / 60 % 60, rest % 60);
    Ok(Value::str(match (seconds, left) {
        (0, _) => "Z".to_owned(),
        (_, 0) => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{left:02}"),
    }))
}

/// Calls a method of the enums; `None` if the string is no such constant, or the constant has no such
/// method.
pub(super) fn method(text: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    if let ("between", [from, to]) = (name, arguments)
        && let (Some(from), Some(to)) = (dates::moment_of(from), dates::moment_of(to))
    {
        return dates::between(text, &from, &to, at).map(Some);
    }
    if let "getId" | "normalized" | "getTotalSeconds" = name
        && arguments.is_empty()
        && let Ok(zone) = Zone::parse(text)
    {
        return Ok(match (name, &zone) {
            ("getTotalSeconds", Zone::Region(_)) => None,
            ("getTotalSeconds", _) => Some(Value::Int(zone.offset_seconds_at(0))),
            _ => Some(Value::str(text)),
        });
    }
    let place = |names: &[&str]| names.iter().position(|known| *known == text);
    let (names, place): (&[&'static str], usize) = match (place(&DAYS), place(&MONTHS)) {
        (Some(day), _) => (&DAYS, day),
        (None, Some(month)) => (&MONTHS, month),
        (None, None) => return Ok(None),
    };
    let moved = |by: i64| {
        let count = names.len() as i64;
        Value::str(names[(place as i64 + by.rem_euclid(count)).rem_euclid(count) as usize])
    };
    Ok(Some(match (name, arguments) {
        ("getValue", []) => Value::Int(place as i32 + 1),
        ("ordinal", []) => Value::Int(place as i32),
        ("name", []) => Value::str(text),
        ("maxLength" | "minLength", []) | ("length", [_]) if names.len() == MONTHS.len() => {
            let is_leap = match arguments {
                [flag] => matches!(flag, Value::Bool(true)),
                _ => name == "maxLength",
            };
            let year = if is_leap { 2000 } else { 2001 };
            Value::Int(limber_mapping::date::days_in_month(year, place as u32 + 1) as i32)
        }
        ("firstMonthOfQuarter", []) if names.len() == MONTHS.len() => Value::str(MONTHS[place / 3 * 3]),
        ("plus", [by]) => moved(by.i64()),
        ("minus", [by]) => moved(-by.i64().rem_euclid(names.len() as i64)),
        ("getDisplayName", [style, _]) => Value::str(shown(text, &style.text(), at)?),
        _ => return Ok(None),
    }))
}

/// Returns a constant's name in English: `Wednesday`, `Wed`, `W`.
fn shown(text: &str, style: &str, at: u32) -> Outcome<String> {
    let length = match style.trim_end_matches("_STANDALONE") {
        "FULL" => text.len(),
        "SHORT" => 3,
        "NARROW" => 1,
        _ => return Err(ScriptError::argument(at, format!("[{style}] is no style of a name"))),
    };
    let (first, rest) = text[..length.min(text.len())].split_at(1);
    Ok(first.to_owned() + &rest.to_lowercase())
}
