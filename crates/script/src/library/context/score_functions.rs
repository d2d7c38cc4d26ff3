//! Functions that score scripts may call by name alone, and `field(...)`.
//!
//! Source: Elasticsearch's `ScoreScriptUtils`.

use limber_mapping::date::Zone;
use limber_mapping::geo::{self, ArcFrom, Unit, parse_distance};
use limber_text::time_value::TimeValue;

use crate::decay::{Curve, Falloff, Origin, Shape};
use crate::error::{Outcome, ScriptError};
use crate::library::Machine;
use crate::values::Value;

pub(crate) fn call_built_in(
    machine: &mut impl Machine,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Value> {
    if let [Value::Map(root), rest @ ..] = arguments
        && let Some(found) = super::written::call(name, root, rest)
    {
        return Ok(found);
    }
    Ok(match (name, arguments) {
        ("field", [Value::Field(field)]) => Value::FieldAccess(*field),
        ("$", [Value::Field(field), default]) => {
            if machine.field_is_mapped(*field) && machine.field_size(*field, at)? > 0 {
                machine.field_value(*field, 0, at)?
            } else {
                default.clone()
            }
        }
        ("saturation", [value, k]) => Value::Double(value.f64() / (k.f64() + value.f64())),
        ("sigmoid", [value, k, exponent]) => {
            let raised = value.f64().powf(exponent.f64());
            Value::Double(raised / (k.f64().powf(exponent.f64()) + raised))
        }
        ("randomScore", [seed]) => match machine.random_by_doc(seed.i64() as i32) {
            Some(number) => Value::Double(number),
            None => return Err(ScriptError::argument(at, "[randomScore] needs a document")),
        },
        ("randomScore", [seed, Value::Field(field)]) => {
            let first = machine.field_value(*field, 0, at)?;
            let seed = seed.i64() as i32;
            machine.random_by_bytes(first.text().as_bytes(), seed).map_or(Value::Null, Value::Double)
        }
        (decay, [_, _, _, _, value]) if decay.starts_with("decay") => {
            let decay = Decay::new(decay, &arguments[..4], at)?;
            Value::Double(decay.of(value))
        }
        ("parse", [value]) => {
            let Some(format) = machine.date_format().cloned() else {
                return Err(ScriptError::argument(at, "[parse] needs a date field"));
            };
            match value {
                Value::Int(_) | Value::Long(_) if format.pattern.contains("epoch_millis") => {
                    Value::Long(value.i64())
                }
                other => Value::Long(format.parse_millis(&other.text()).map_err(|error| {
                    let reason = match error.kind {
                        "date_time_parse_exception" => format!(
                            "failed to parse date field [{}] with format [{}]",
                            other.text(),
                            format.pattern
                        ),
                        _ => error.reason,
                    };
                    ScriptError::argument(at, reason)
                })?),
            }
        }
        _ => return Err(ScriptError::argument(at, format!("Unknown call [{name}]"))),
    })
}

/// A decay function with its parsed parameters.
pub(crate) struct Decay(pub Falloff);

impl Decay {
    /// Parses the parameters origin, scale, offset and decay of the function `name`, such as
    /// `decayGeoGauss`.
    pub fn new(name: &str, parameters: &[Value], at: u32) -> Outcome<Decay> {
        let shape = match name {
            _ if name.ends_with("Gauss") => Shape::Gauss,
            _ if name.ends_with("Exp") => Shape::Exp,
            _ => Shape::Linear,
        };
        let [origin, scale, offset, decay] = parameters else {
            return Err(ScriptError::argument(at, format!("[{name}] takes five arguments")));
        };
        let refused = |error: limber_mapping::RequestError| ScriptError::new(at, error.kind, error.reason);
        let (origin, scale, offset) = if name.starts_with("decayGeo") {
            let options = geo::ReadOptions { ignore_z: true, bring_back: false };
            let point = geo::read(&origin.text().into(), "origin", options).map_err(refused)?;
            let metres = |value: &Value| parse_distance(&value.text(), Unit::METERS).map_err(refused);
            (Origin::Point(ArcFrom::new(point.latitude, point.longitude)), metres(scale)?, metres(offset)?)
        } else if name.starts_with("decayDate") {
            let millis = |value: &Value| {
                TimeValue::parse(&value.text(), "decay")
                    .map(|time| time.map_or(-1.0, |time| time.millis_begun() as f64))
                    .map_err(|error| refused(error.into()))
            };
            let format = limber_mapping::date::default_format();
            let origin = format.parse_with_math(&origin.text(), 0, false, &Zone::Utc).map_err(refused)?;
            (Origin::Number(origin as f64), millis(scale)?, millis(offset)?)
        } else {
            (Origin::Number(origin.f64()), scale.f64(), offset.f64())
        };
        Ok(Decay(Falloff { origin, offset, curve: Curve::new(shape, scale, decay.f64()) }))
    }

    /// Returns the decay score of a value, which is a point, a date or a number.
    pub fn of(&self, value: &Value) -> f64 {
        match value {
            Value::Point(point) => self.0.of_point(*point),
            Value::Date(date) => self.0.of_number(date.millis() as f64),
            other => self.0.of_number(other.f64()),
        }
    }
}
