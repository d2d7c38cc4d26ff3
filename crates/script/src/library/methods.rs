//! Methods and members of values: `target.name(arguments)`, `target.name`, `target[index]`.

use super::collections::{list_method, map_method};
use super::comparators::is_order;
use super::geometry::{distance_method, geometry_getter};
use super::machine::Machine;
use super::patterns::{matcher_method, pattern_method, replace_by};
use super::store::{put_entry, same};
use crate::error::{Outcome, ScriptError, failed};
use crate::types::Type;
use crate::values::Value;

fn no_method(target: &Value, name: &str, count: usize, at: u32) -> ScriptError {
    ScriptError::argument(at, format!("dynamic method [{}, {name}/{count}] not found", target.class()))
}

fn null(name: &str, at: u32) -> ScriptError {
    ScriptError::new(
        at,
        "null_pointer_exception",
        format!("cannot access method/field [{name}] from a null def reference"),
    )
}

fn out_of_bounds(index: i64, length: usize, at: u32) -> ScriptError {
    ScriptError::new(
        at,
        "index_out_of_bounds_exception",
        format!("Index {index} out of bounds for length {length}"),
    )
}

/// Resolves a list's index; negative ones count from the end, as in Painless.
fn place(index: &Value, length: usize, at: u32) -> Outcome<usize> {
    let (Value::Int(_) | Value::Long(_) | Value::Char(_)) = index else {
        return Err(ScriptError::cast(at, format!("Cannot cast from [{}] to [int].", index.class())));
    };
    let wanted = index.i64();
    let from_start = if wanted < 0 { wanted.saturating_add(length as i64) } else { wanted };
    match usize::try_from(from_start) {
        Ok(found) if found < length => Ok(found),
        _ => Err(out_of_bounds(wanted, length, at)),
    }
}

pub(crate) fn get_member(machine: &mut impl Machine, target: &Value, name: &str, at: u32) -> Outcome<Value> {
    match target {
        Value::Null => Err(null(name, at)),
        Value::Map(map) => Ok(map.borrow().get_text(name).cloned().unwrap_or(Value::Null)),
        Value::Params => machine.param(name),
        Value::List(items) => match name {
            "length" => Ok(Value::Int(items.borrow().len() as i32)),
            _ => match name.parse::<i32>() {
                Ok(index) => get_index(machine, target, &Value::Int(index), at),
                Err(_) if name == "empty" => Ok(Value::Bool(items.borrow().is_empty())),
                Err(_) => Err(ScriptError::argument(at, format!("Illegal list shortcut value [{name}]."))),
            },
        },
        Value::Field(field) => match name {
            "values" => Ok(Value::list(machine.field_values(*field, at)?)),
            "empty" => Ok(Value::Bool(machine.field_size(*field, at)? == 0)),
            "value" => machine.field_value(*field, 0, at),
            "length" => Ok(Value::Int(machine.field_size(*field, at)? as i32)),
            "lats" | "lons" => {
                let points = machine.field_values(*field, at)?;
                let part = |point: &Value| match point {
                    Value::Point(point) if name == "lats" => Value::Double(point.latitude),
                    Value::Point(point) => Value::Double(point.longitude),
                    _ => Value::Null,
                };
                Ok(Value::list(points.iter().map(part).collect()))
            }
            _ => geometry_getter(machine, *field, &accessor("get", name), at)?
                .ok_or_else(|| ScriptError::argument(at, format!("Illegal list shortcut value [{name}]."))),
        },
        _ => {
            for prefix in ["get", "is"] {
                match call_method(machine, target, &accessor(prefix, name), Vec::new(), at) {
                    Err(error) if error.reason.starts_with("dynamic method [") => {}
                    other => return other,
                }
            }
            Err(ScriptError::argument(at, format!("dynamic getter [{}, {name}] not found", target.class())))
        }
    }
}

pub(crate) fn get_index(
    machine: &mut impl Machine,
    target: &Value,
    index: &Value,
    at: u32,
) -> Outcome<Value> {
    match target {
        Value::Null => Err(null("[]", at)),
        Value::Map(map) => Ok(map.borrow().get(index).cloned().unwrap_or(Value::Null)),
        Value::Params => machine.param(&index.text()),
        Value::List(items) => {
            let items = items.borrow();
            Ok(items[place(index, items.len(), at)?].clone())
        }
        Value::Field(field) => {
            let count = machine.field_size(*field, at)?;
            let nth = if count == 0 { 0 } else { place(index, count, at)? };
            machine.field_value(*field, nth, at)
        }
        Value::Doc => field_named(machine, &index.text(), at),
        _ => Err(ScriptError::argument(
            at,
            format!("Attempting to address a non-array type [{}] as an array.", target.class()),
        )),
    }
}

pub(crate) fn set_member(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    value: Value,
    at: u32,
) -> Outcome<()> {
    machine.check_frozen(target, at)?;
    match target {
        Value::Null => Err(null(name, at)),
        Value::Map(map) => {
            machine.check_kept(&value, at)?;
            let Err(value) = map.borrow_mut().replace_text(name, value) else { return Ok(()) };
            machine.grow(name.len(), at)?;
            put_entry(machine, map, (Value::str(name), value), at).map(drop)
        }
        Value::List(_) if name.parse::<i32>().is_ok() => {
            set_index(machine, target, &Value::Int(name.parse().unwrap_or(0)), value, at)
        }
        Value::Params | Value::Doc => Err(ScriptError::new(at, "unsupported_operation_exception", "")),
        Value::Object(_) => match call_method(machine, target, &accessor("set", name), vec![value], at) {
            Err(error) if error.reason.starts_with("dynamic method [") => Err(no_setter(target, name, at)),
            outcome => outcome.map(drop),
        },
        _ => Err(no_setter(target, name, at)),
    }
}

fn no_setter(target: &Value, name: &str, at: u32) -> ScriptError {
    ScriptError::argument(at, format!("dynamic setter [{}, {name}] not found", target.class()))
}

/// Returns the name of the method that reads or writes a member: `getName`, `setName`.
fn accessor(prefix: &str, name: &str) -> String {
    let mut letters = name.chars();
    let capital = letters.next().into_iter().flat_map(char::to_uppercase);
    prefix.chars().chain(capital).chain(letters).collect()
}

pub(crate) fn set_index(
    machine: &mut impl Machine,
    target: &Value,
    index: &Value,
    value: Value,
    at: u32,
) -> Outcome<()> {
    machine.check_frozen(target, at)?;
    match target {
        Value::Null => Err(null("[]", at)),
        Value::Map(map) => put_entry(machine, map, (index.clone(), value), at).map(drop),
        Value::List(items) => {
            machine.check_kept(&value, at)?;
            let mut items = items.borrow_mut();
            let place = place(index, items.len(), at)?;
            items[place] = value;
            Ok(())
        }
        _ => Err(ScriptError::new(at, "unsupported_operation_exception", "")),
    }
}

/// Returns the field whose name the script has computed.
pub(crate) fn field_named(machine: &mut impl Machine, name: &str, at: u32) -> Outcome<Value> {
    match machine.field_named(name) {
        Some(number) => Ok(Value::Field(number)),
        None if machine.is_mapped(name) => Err(ScriptError::unsupported(
            at,
            format_args!("the field [{name}], whose name the script makes of parts"),
        )),
        None => Err(ScriptError::argument(at, format!("No field found for [{name}] in mapping"))),
    }
}

/// Returns what a `grok` or `dissect` pattern finds in a string.
#[inline(never)]
fn extract(machine: &mut impl Machine, extractor: u16, arguments: &[Value], at: u32) -> Outcome<Value> {
    match arguments {
        [Value::Str(text)] => {
            let extracted = machine.extractor(extractor).extract(text);
            extracted.map_err(|error| ScriptError::new(at, error.kind, error.reason))
        }
        [Value::Null] => Err(null("extract", at)),
        _ => Err(ScriptError::argument(at, "[extract] takes one text")),
    }
}

/// Counts the time that a call takes for long values.
pub(super) fn spend_on(
    machine: &mut impl Machine,
    target: &Value,
    arguments: &[Value],
    at: u32,
) -> Outcome<()> {
    let steps = arguments.iter().map(Value::steps).fold(target.steps(), usize::saturating_add);
    machine.spend(steps, at)
}

pub(crate) fn call_method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: Vec<Value>,
    at: u32,
) -> Outcome<Value> {
    spend_on(machine, target, &arguments, at)?;
    if target.is_null() {
        return Err(null(name, at));
    }
    if let Some(found) = object_method(machine, target, name, &arguments, at)? {
        return Ok(found);
    }
    if is_change(name) {
        machine.check_frozen(target, at)?;
    }
    let found = match target {
        Value::Extractor(number) if name == "extract" => return extract(machine, *number, &arguments, at),
        Value::Pattern(number) => pattern_method(machine, *number, name, &arguments, at)?,
        Value::Matcher(matcher) => matcher_method(machine, target, matcher, name, &arguments, at)?,
        Value::List(_) | Value::Str(_) if is_order(target) => {
            super::comparators::method(machine, target, name, &arguments, at)?
        }
        Value::Str(text) => match (name, arguments.as_slice()) {
            ("replaceAll" | "replaceFirst", [pattern, function]) => {
                Some(replace_by(machine, text, (pattern, function), name == "replaceAll", at)?)
            }
            _ => super::strings::string_method(machine, text, name, &arguments, at)?,
        },
        Value::List(_) => list_method(machine, target, name, &arguments, at)?,
        Value::Map(_) | Value::Set(_) => map_method(machine, target, name, &arguments, at)?,
        Value::Date(date) => super::dates::date_method(date, name, &arguments, at)?,
        Value::Object(object) => match object.call(name, &arguments, at)? {
            None => super::objects::method(machine, target, name, &arguments, at)?,
            found => found,
        },
        Value::Field(field) => field_method(machine, *field, name, &arguments, at)?,
        Value::FieldAccess(field) => access_method(machine, *field, name, &arguments, at)?,
        Value::Params => params_method(machine, name, &arguments, at)?,
        Value::Text(text) => super::texts::builder_method(machine, target, text, name, &arguments, at)?,
        Value::Lambda(_) | Value::Extractor(_) => function_method(machine, target, name, &arguments, at)?,
        other => plain_method(machine, other, name, &arguments, at)?,
    };
    found.ok_or_else(|| no_method(target, name, arguments.len(), at))
}

/// Calls one of the methods that all objects have; `None` if this is another method.
fn object_method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("equals", [other]) => Value::Bool(same(machine, target, other, at)?),
        ("hashCode", []) => Value::Int(target.hash_code()),
        ("compareTo", [other]) if !matches!(target, Value::Str(_)) => {
            Value::Int(target.compare(other).map_err(|failure| failed(failure, at))? as i32)
        }
        ("toString", []) if !matches!(target, Value::Pattern(_) | Value::Matcher(_)) => {
            Value::str(match target {
                Value::Field(field) => Value::list(machine.field_values(*field, at)?).text(),
                other => other.text(),
            })
        }
        _ => return Ok(None),
    }))
}

/// Calls the method of a functional interface; `None` if there is no such method.
fn function_method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(match (name, arguments) {
        (
            "apply" | "test" | "accept" | "compare" | "applyAsInt" | "applyAsLong" | "applyAsDouble" | "get"
            | "getAsInt" | "getAsLong" | "getAsDouble" | "getAsBoolean",
            _,
        ) => Some(machine.lambda(target, arguments, at)?),
        (
            "reversed" | "thenComparing" | "thenComparingInt" | "thenComparingLong" | "thenComparingDouble",
            _,
        ) => super::comparators::method(machine, target, name, arguments, at)?,
        _ => None,
    })
}

/// Calls a method of `params`, whose members are read only when they are asked for; `None` if there is no
/// such method.
fn params_method(
    machine: &mut impl Machine,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(match (name, arguments) {
        ("get", [key]) => Some(machine.param(&key.text())?),
        ("getOrDefault", [key, default]) => match machine.param(&key.text())? {
            Value::Null => Some(default.clone()),
            found => Some(found),
        },
        ("containsKey", [key]) => Some(Value::Bool(!machine.param(&key.text())?.is_null())),
        _ => {
            let params = machine.params().clone();
            map_method(machine, &params, name, arguments, at)?
        }
    })
}

/// Calls a method of a value that has only a few methods: `doc`, points, numbers, formatters, exceptions.
/// `None` if there is no such method.
fn plain_method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(match target {
        Value::Doc => match (name, arguments) {
            ("containsKey", [key]) => Some(Value::Bool(machine.is_mapped(&key.text()))),
            ("get", [name]) => Some(field_named(machine, &name.text(), at)?),
            _ => None,
        },
        Value::Point(point) => match name {
            "getLat" | "lat" => Some(Value::Double(point.latitude)),
            "getLon" | "lon" => Some(Value::Double(point.longitude)),
            _ => None,
        },
        Value::Corners(corners) => match name {
            "topLeft" => Some(Value::Point(corners[0])),
            "bottomRight" => Some(Value::Point(corners[1])),
            _ => None,
        },
        Value::Exception(_, message) if name == "getMessage" => Some(Value::Str(message.clone())),
        Value::Formatter(_) => match super::java::formatter_of(target) {
            Some(format) => format.call(name, arguments, at)?,
            None => None,
        },
        Value::Bool(_) => (name == "booleanValue").then(|| target.clone()),
        Value::Char(_) => (name == "charValue").then(|| target.clone()),
        number if number.is_number() => number_method(number, name, at)?,
        _ => None,
    })
}

/// Calls a method of the box of a number; `None` if there is no such method.
fn number_method(number: &Value, name: &str, at: u32) -> Outcome<Option<Value>> {
    let to = match name {
        "byteValue" => Type::Byte,
        "shortValue" => Type::Short,
        "intValue" => Type::Int,
        "longValue" => Type::Long,
        "floatValue" => Type::Float,
        "doubleValue" => Type::Double,
        "isNaN" if is_fractional(number) => return Ok(Some(Value::Bool(number.f64().is_nan()))),
        "isInfinite" if is_fractional(number) => return Ok(Some(Value::Bool(number.f64().is_infinite()))),
        _ => return Ok(None),
    };
    number.clone().cast(to).map(Some).map_err(|failure| failed(failure, at))
}

fn is_fractional(number: &Value) -> bool {
    matches!(number, Value::Double(_) | Value::Float(_))
}

/// Calls the methods of doc values that the parser did not replace with a faster form.
fn field_method(
    machine: &mut impl Machine,
    field: u16,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("get", [index]) => {
            let nth = usize::try_from(index.i64()).unwrap_or(usize::MAX);
            machine.field_value(field, nth, at)?
        }
        ("getValue", []) => machine.field_value(field, 0, at)?,
        ("size", []) => Value::Int(machine.field_size(field, at)? as i32),
        ("isEmpty", []) => Value::Bool(machine.field_size(field, at)? == 0),
        ("getLat" | "getLon" | "getLats" | "getLons" | "getValues", []) => {
            let member = name[3..].to_lowercase();
            match member.as_str() {
                "lat" | "lon" => {
                    let point = machine.field_value(field, 0, at)?;
                    get_member(machine, &point, &member, at)?
                }
                _ => get_member(machine, &Value::Field(field), &member, at)?,
            }
        }
        _ if name.contains("Distance") => return distance_method(machine, field, name, arguments, at),
        _ => {
            if arguments.is_empty()
                && let Some(found) = geometry_getter(machine, field, name, at)?
            {
                return Ok(Some(found));
            }
            let list = Value::list(machine.field_values(field, at)?);
            return list_method(machine, &list, name, arguments, at);
        }
    }))
}

/// Calls a method of `field(...)`.
fn access_method(
    machine: &mut impl Machine,
    field: u16,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let count = if machine.field_is_mapped(field) { machine.field_size(field, at)? } else { 0 };
    Ok(Some(match (name, arguments) {
        ("size", []) => Value::Int(count as i32),
        ("isEmpty", []) => Value::Bool(count == 0),
        ("getName", []) => match machine.reader(field, at)?.0.field() {
            Some(field) => Value::str(field.path.to_string()),
            None => return Ok(None),
        },
        ("get" | "asString" | "asDouble", [default]) if count == 0 => default.clone(),
        ("get" | "asString" | "asDouble", [_]) => machine.field_value(field, 0, at)?,
        ("asStrings" | "asDoubles", []) if count == 0 => Value::list(Vec::new()),
        ("asStrings" | "asDoubles", []) => Value::list(machine.field_values(field, at)?),
        ("get" | "asString" | "asDouble", [index, default]) => match usize::try_from(index.i64()) {
            Ok(nth) if nth < count => machine.field_value(field, nth, at)?,
            _ => default.clone(),
        },
        _ => return Ok(None),
    }))
}

/// Whether a method changes its target.
pub(crate) fn is_change(method: &str) -> bool {
    // Changes through a view of a map.
    if method.contains('.') {
        return !method.ends_with(".iterator");
    }
    matches!(
        method,
        "add"
            | "addAll"
            | "clear"
            | "addFirst"
            | "addLast"
            | "compute"
            | "computeIfAbsent"
            | "computeIfPresent"
            | "merge"
            | "offer"
            | "offerFirst"
            | "offerLast"
            | "poll"
            | "pollFirst"
            | "pollFirstEntry"
            | "pollLast"
            | "pollLastEntry"
            | "pop"
            | "push"
            | "put"
            | "putAll"
            | "putIfAbsent"
            | "remove"
            | "removeAll"
            | "removeFirst"
            | "removeFirstOccurrence"
            | "removeIf"
            | "removeLast"
            | "removeLastOccurrence"
            | "replace"
            | "replaceAll"
            | "retainAll"
            | "set"
            | "setValue"
            | "sort"
    )
}
