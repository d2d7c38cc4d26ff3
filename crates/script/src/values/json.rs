//! Converts values from JSON and to JSON.

use limber_mapping::number::{java_double, java_float};
use limber_work as work;
use serde_json::{Map as JsonMap, Value as Json};

use super::date_value::{DateValue, year_text};
use super::value::{STEPS_MAX, STEPS_PER_CHECK, Value, argument};
use crate::error::Failure;

impl Value {
    /// Converts JSON to a value, as Jackson reads it: `int` where it fits.
    pub fn from_json(json: &Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => match i32::try_from(whole) {
                    Ok(small) => Value::Int(small),
                    Err(_) => Value::Long(whole),
                },
                None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::str(text.as_str()),
            Json::Array(items) => Value::list(items.iter().map(Value::from_json).collect()),
            Json::Object(members) => Value::map(
                members
                    .iter()
                    .map(|(key, value)| (Value::str(key.as_str()), Value::from_json(value)))
                    .collect(),
                false,
            ),
        }
    }

    /// Converts to JSON, as a script field shows it. `depth` bounds the nesting; it also stops at lists
    /// that contain themselves.
    pub fn to_json(&self, depth: u32) -> Result<Json, Failure> {
        self.to_json_within(depth, &mut { STEPS_MAX })
    }

    fn to_json_within(&self, depth: u32, steps: &mut u32) -> Result<Json, Failure> {
        *steps = steps.saturating_sub(1);
        if steps.is_multiple_of(STEPS_PER_CHECK)
            && let Err(stop) = work::check_beyond_deadline()
        {
            let error = limber_mapping::RequestError::from(stop);
            return Err((error.kind, error.reason));
        }
        if depth == 0 || *steps == 0 {
            return Err(argument("Iterable object is self-referencing itself"));
        }
        Ok(match self {
            Value::Null => Json::Null,
            Value::Bool(flag) => (*flag).into(),
            Value::Int(number) => (*number).into(),
            Value::Long(number) => (*number).into(),
            // Its shortest digits are used: 1.1f becomes 1.1.
            Value::Float(number) => {
                let text = java_float(*number);
                number_json(text.parse().unwrap_or(f64::from(*number)), text)
            }
            Value::Double(number) => number_json(*number, java_double(*number)),
            Value::Str(text) => text.as_ref().into(),
            Value::Text(text) => text.borrow().text().into(),
            Value::List(items) => items
                .borrow()
                .iter()
                .map(|item| item.to_json_within(depth - 1, steps))
                .collect::<Result<Vec<_>, _>>()?
                .into(),
            Value::Set(set) => {
                let items = set.borrow().walk();
                items
                    .iter()
                    .map(|(item, _)| item.to_json_within(depth - 1, steps))
                    .collect::<Result<Vec<_>, _>>()?
                    .into()
            }
            Value::Map(map) => {
                let mut members = JsonMap::new();
                for (key, value) in map.borrow().walk() {
                    members.insert(key.text(), value.to_json_within(depth - 1, steps)?);
                }
                members.into()
            }
            Value::Date(date) => date_text(date).into(),
            Value::Point(point) => serde_json::json!({"lat": point.latitude, "lon": point.longitude}),
            Value::Object(object) if object.list().is_some() => {
                let list = object.list().unwrap_or(&Value::Null);
                list.to_json_within(depth - 1, steps)?
            }
            Value::Object(object) => match object.number() {
                Some(number) => match object.text().parse::<i64>() {
                    Ok(whole) => whole.into(),
                    Err(_) => number_json(number, object.text()),
                },
                None => object.shown().into(),
            },
            _ => "<unserializable>".into(),
        })
    }
}

fn number_json(number: f64, text: String) -> Json {
    if !number.is_finite() {
        return text.into();
    }
    number.into()
}

/// Formats a date as a script field shows it.
fn date_text(date: &DateValue) -> String {
    let civil = date.civil();
    let offset = date.offset();
    let fraction = format!("{:09}", date.nano_of_second());
    let digits = fraction.trim_end_matches('0').len().max(3);
    format!(
        "{}-{:02}-{:02}T{:02}:{:02}:{:02}.{}{offset}",
        year_text(civil.year),
        civil.month,
        civil.day,
        civil.hour,
        civil.minute,
        civil.second,
        &fraction[..digits]
    )
}
