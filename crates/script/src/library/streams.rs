//! Methods of streams, which are lists that were computed at once.

use std::cell::RefCell;
use std::rc::Rc;

use super::collectors::collected;
use super::java::{optional, summarized};
use super::machine::Machine;
use super::methods::call_method;
use super::order::{extreme, sort_values};
use super::store::{ITEM_BYTES, position, put_new};
use super::texts::join_texts;
use crate::error::{Outcome, ScriptError};
use crate::types::Binary;
use crate::values::{MapOrder, MapValue, Value};

/// Arguments of `collect`: the strings that [`super::statics`] returns for the methods of `Collectors`.
pub(super) const TO_LIST: &str = "java.util.stream.Collectors.toList";
pub(super) const TO_SET: &str = "java.util.stream.Collectors.toSet";
pub(super) const JOINING: &str = "java.util.stream.Collectors.joining";

/// The name that calls of `sum` on a stream of numbers are compiled to: it has their type, whereas `sum` of a
/// collection is a double.
const STREAM_SUM: &str = "stream.sum";

/// Returns the name that a call of `sum` is compiled to if it is called on the result of `method` and that is
/// a stream.
pub(crate) fn sum_of_stream(method: &str) -> Option<&'static str> {
    let is_stream =
        method.starts_with("mapTo") || method.starts_with("flatMap") || method.ends_with("Stream");
    let is_part = matches!(
        method,
        "chars" | "map" | "filter" | "distinct" | "sorted" | "limit" | "skip" | "peek" | "boxed" | "stream"
    );
    (is_stream || is_part).then_some(STREAM_SUM)
}

/// Whether a lambda returns `true` for an item.
pub(super) fn passes(machine: &mut impl Machine, lambda: &Value, item: &Value, at: u32) -> Outcome<bool> {
    Ok(matches!(machine.lambda(lambda, std::slice::from_ref(item), at)?, Value::Bool(true)))
}

/// Calls a method of a stream, whose items are those of a list; `None` if there is no such method.
pub(super) fn stream_method(
    machine: &mut impl Machine,
    list: &Rc<RefCell<Vec<Value>>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let items = list.borrow().clone();
    Ok(Some(match (name, arguments) {
        ("stream" | "boxed" | "toArray" | "parallelStream" | "sequential" | "unordered", [])
        | ("toArray", [_]) => Value::list(items),
        ("map" | "mapToObj" | "mapToLong" | "mapToInt" | "mapToDouble", [lambda]) => {
            let mut mapped = Vec::with_capacity(items.len());
            for item in items {
                let item = machine.lambda(lambda, &[item], at)?;
                mapped.push(match name {
                    "mapToLong" => Value::Long(item.i64()),
                    "mapToInt" => Value::Int(item.i64() as i32),
                    "mapToDouble" => Value::Double(item.f64()),
                    _ => item,
                });
            }
            Value::list(mapped)
        }
        ("filter" | "findAll", [lambda]) => {
            let mut kept = Vec::new();
            for item in items {
                if passes(machine, lambda, &item, at)? {
                    kept.push(item);
                }
            }
            Value::list(kept)
        }
        ("distinct", []) => {
            let mut kept: Vec<Value> = Vec::new();
            for item in items {
                if position(machine, kept.iter(), &item, at)?.is_none() {
                    kept.push(item);
                }
            }
            Value::list(kept)
        }
        ("sorted", order) if order.len() <= 1 => {
            let mut sorted = items;
            sort_values(machine, &mut sorted, order.first(), at)?;
            Value::list(sorted)
        }
        ("limit", [count]) => {
            let count = usize::try_from(count.i64()).unwrap_or(0);
            Value::list(items.into_iter().take(count).collect())
        }
        _ => return result(machine, items, name, arguments, at),
    }))
}

/// Calls a method that ends a stream: it returns one value, or collects the items. `None` if there is no such
/// method.
fn result(
    machine: &mut impl Machine,
    items: Vec<Value>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("anyMatch" | "any", [lambda]) => {
            for item in items {
                if passes(machine, lambda, &item, at)? {
                    return Ok(Some(Value::Bool(true)));
                }
            }
            Value::Bool(false)
        }
        ("allMatch" | "every", [lambda]) => {
            for item in items {
                if !passes(machine, lambda, &item, at)? {
                    return Ok(Some(Value::Bool(false)));
                }
            }
            Value::Bool(true)
        }
        ("find", [lambda]) => {
            for item in items {
                if passes(machine, lambda, &item, at)? {
                    return Ok(Some(item));
                }
            }
            Value::Null
        }
        ("collect", [into]) => return collect(machine, items, into, at),
        ("sum", []) => {
            let mut sum = 0.0;
            for item in &items {
                sum += summand(item, at)?;
            }
            Value::Double(sum)
        }
        ("sum", [lambda]) => {
            let mut sum = 0.0;
            for item in items {
                sum += summand(&machine.lambda(lambda, &[item], at)?, at)?;
            }
            Value::Double(sum)
        }
        (STREAM_SUM, []) => {
            let mut sum = match items.first() {
                Some(Value::Double(_) | Value::Float(_)) => Value::Double(0.0),
                _ => Value::Int(0),
            };
            for item in &items {
                sum = machine.binary(Binary::Add, &sum, item, at)?;
            }
            sum
        }
        _ => return gather(machine, items, name, arguments, at),
    }))
}

/// Returns the number that `sum` of a collection adds.
fn summand(item: &Value, at: u32) -> Outcome<f64> {
    if item.is_number() {
        return Ok(item.f64());
    }
    Err(ScriptError::cast(at, format!("class {} cannot be cast to class java.lang.Number", item.class())))
}

/// Collects the items of a stream, or what a function makes of each item of a list.
fn collect(machine: &mut impl Machine, items: Vec<Value>, into: &Value, at: u32) -> Outcome<Option<Value>> {
    Ok(Some(match into {
        Value::Str(collector) => match collector.as_ref() {
            TO_LIST => Value::list(items),
            TO_SET => {
                let set = MapValue::new(MapOrder::Hashed).shared();
                for item in items {
                    put_new(machine, &set, (item, Value::Null), at)?;
                }
                Value::Set(set)
            }
            other => match other.strip_prefix(JOINING) {
                Some(separator) => join_texts(machine, &items, separator, at)?,
                None => return Ok(None),
            },
        },
        collector @ Value::List(parts) => {
            let Some(collected) = collected(machine, items, parts, at)? else {
                return Err(ScriptError::cast(at, format!("[{}] is no collector", collector.class())));
            };
            collected
        }
        lambda => {
            let mut mapped = Vec::with_capacity(items.len());
            for item in items {
                mapped.push(machine.lambda(lambda, &[item], at)?);
            }
            Value::list(mapped)
        }
    }))
}

/// Calls a method of Java's streams that Painless's own lists do not have; `None` if there is no such method.
fn gather(
    machine: &mut impl Machine,
    items: Vec<Value>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("peek", [lambda]) => {
            for item in &items {
                machine.lambda(lambda, std::slice::from_ref(item), at)?;
            }
            Value::list(items)
        }
        ("findFirst" | "findAny", []) => optional(items.into_iter().next(), at)?,
        ("noneMatch", [lambda]) => {
            for item in items {
                if let Value::Bool(true) = machine.lambda(lambda, &[item], at)? {
                    return Ok(Some(Value::Bool(false)));
                }
            }
            Value::Bool(true)
        }
        ("skip", [count]) => {
            let count = usize::try_from(count.i64()).unwrap_or(0);
            Value::list(items.into_iter().skip(count).collect())
        }
        ("max" | "min", order) if order.len() <= 1 => {
            optional(extreme(machine, items, order.first(), name == "max", at)?, at)?
        }
        ("average", []) => {
            let count = items.len() as f64;
            let sum: f64 = items.iter().map(Value::f64).sum();
            optional((count > 0.0).then_some(Value::Double(sum / count)), at)?
        }
        ("reduce", [first, lambda]) => {
            let mut folded = first.clone();
            for item in items {
                folded = machine.lambda(lambda, &[folded, item], at)?;
            }
            folded
        }
        ("reduce", [lambda]) => {
            let mut items = items.into_iter();
            let Some(mut folded) = items.next() else { return optional(None, at).map(Some) };
            for item in items {
                folded = machine.lambda(lambda, &[folded, item], at)?;
            }
            optional(Some(folded), at)?
        }
        ("flatMap" | "flatMapToInt" | "flatMapToLong" | "flatMapToDouble", [lambda]) => {
            let mut all = Vec::new();
            for item in items {
                let Value::List(more) = machine.lambda(lambda, &[item], at)? else {
                    return Err(ScriptError::cast(at, "[flatMap] wants streams"));
                };
                all.extend(more.borrow().iter().cloned());
                machine.check_room(ITEM_BYTES * all.len(), at)?;
            }
            Value::list(all)
        }
        _ => return folded(machine, items, name, arguments, at),
    }))
}

/// Calls a method that makes one value of the items, or numbers of another type; `None` if there is no such
/// method.
fn folded(
    machine: &mut impl Machine,
    items: Vec<Value>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("asDoubleStream", []) => Value::list(items.iter().map(|item| Value::Double(item.f64())).collect()),
        ("asLongStream", []) => Value::list(items.iter().map(|item| Value::Long(item.i64())).collect()),
        ("summaryStatistics", [Value::Str(class)]) => return Ok(summarized(class, &items)),
        ("summaryStatistics", []) => {
            let class = match items.first() {
                Some(Value::Double(_) | Value::Float(_)) => "DoubleSummaryStatistics",
                Some(Value::Long(_)) => "LongSummaryStatistics",
                _ => "IntSummaryStatistics",
            };
            return Ok(summarized(class, &items));
        }
        // The items are never divided among threads, so that there is nothing to combine.
        ("reduce", [first, lambda, _]) => {
            let mut folded = first.clone();
            for item in items {
                folded = machine.lambda(lambda, &[folded, item], at)?;
            }
            folded
        }
        ("collect", [supplier, accumulator, _]) => {
            let made = machine.lambda(supplier, &[], at)?;
            for item in items {
                machine.lambda(accumulator, &[made.clone(), item], at)?;
            }
            made
        }
        ("collect", [into, lambda]) => {
            for item in items {
                let item = machine.lambda(lambda, &[item], at)?;
                call_method(machine, into, "add", vec![item], at)?;
            }
            into.clone()
        }
        _ => return Ok(None),
    }))
}

/// Returns the class of the statistics of a stream, if the method that made it tells which numbers it has.
/// `None` tells to look at the stream that the method was called on.
pub(crate) fn statistics_of_stream(method: &str) -> Option<&'static str> {
    match method {
        "mapToInt" | "flatMapToInt" | "chars" | "codePoints" | "IntStream" => Some("IntSummaryStatistics"),
        "mapToLong" | "flatMapToLong" | "asLongStream" | "LongStream" => Some("LongSummaryStatistics"),
        "mapToDouble" | "flatMapToDouble" | "asDoubleStream" | "DoubleStream" => {
            Some("DoubleSummaryStatistics")
        }
        _ => None,
    }
}
