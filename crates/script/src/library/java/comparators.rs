//! `java.util.Comparator`: orders that are made of functions, and of other orders.
//!
//! A script sees such an order as a list, as it does a collector.

use std::cmp::Ordering;

use super::super::machine::Machine;
use super::super::methods::call_method;
use super::super::order::{REVERSED, ordered};
use crate::error::Outcome;
use crate::types::Type;
use crate::values::Value;

/// The first item of the list that stands for an order; its name and what it is made of follow.
const COMPARATOR: &str = "java.util.Comparator";

/// Returns the type of the result of a static method that makes an order; `None` if there is no such method.
pub(in super::super) fn returns(class: &str, name: &str, count: usize) -> Option<Type> {
    let is_known = matches!(
        (class, name, count),
        ("Comparator", "comparing", 1 | 2)
            | ("Comparator", "comparingInt" | "comparingLong" | "comparingDouble", 1)
            | ("Comparator", "nullsFirst" | "nullsLast", 1)
            | ("Map.Entry", "comparingByKey" | "comparingByValue", 0 | 1)
            | ("Collections", "reverseOrder", 1)
    );
    is_known.then_some(Type::Def)
}

/// Calls a static method that makes an order; `None` if there is no such method.
pub(in super::super) fn call(class: &str, name: &str, arguments: &[Value]) -> Option<Value> {
    returns(class, name, arguments.len())?;
    let kind = match name {
        "reverseOrder" => "reversed",
        "comparingByKey" | "comparingByValue" | "nullsFirst" | "nullsLast" => name,
        _ => "comparing",
    };
    Some(made(kind, arguments))
}

fn made(kind: &str, parts: &[Value]) -> Value {
    let mut items = vec![Value::str(COMPARATOR), Value::str(kind)];
    items.extend_from_slice(parts);
    Value::list(items)
}

/// Returns the kind and the parts of an order that this file makes.
fn parts_of(order: &Value) -> Option<(String, Vec<Value>)> {
    let Value::List(items) = order else { return None };
    match items.borrow().as_slice() {
        [Value::Str(marker), Value::Str(kind), parts @ ..] if **marker == *COMPARATOR => {
            Some((kind.to_string(), parts.to_vec()))
        }
        _ => None,
    }
}

/// Whether a value is an order on which [`method`] can be called.
pub(in super::super) fn is_order(value: &Value) -> bool {
    match value {
        Value::Str(text) => **text == *REVERSED,
        value => parts_of(value).is_some(),
    }
}

/// Calls a method of an order, which may also be a lambda; `None` if there is no such method.
pub(in super::super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("reversed", []) => made("reversed", std::slice::from_ref(target)),
        ("thenComparing", [next]) => made("then", &[target.clone(), next.clone()]),
        ("thenComparing", [key, order]) => {
            made("then", &[target.clone(), made("comparing", &[key.clone(), order.clone()])])
        }
        ("thenComparingInt" | "thenComparingLong" | "thenComparingDouble", [key]) => {
            made("then", &[target.clone(), made("comparing", std::slice::from_ref(key))])
        }
        ("compare", [left, right]) => Value::Int(ordered(machine, left, right, Some(target), at)? as i32),
        _ => return Ok(None),
    }))
}

/// Compares by an order that this file makes; `None` if it is another one.
pub(in super::super) fn compared(
    machine: &mut impl Machine,
    (left, right): (&Value, &Value),
    order: &Value,
    at: u32,
) -> Outcome<Option<Ordering>> {
    let Some((kind, parts)) = parts_of(order) else { return Ok(None) };
    machine.check_time(at)?;
    Ok(Some(match (kind.as_str(), parts.as_slice()) {
        ("comparing", [key, below @ ..]) => {
            let left = machine.lambda(key, std::slice::from_ref(left), at)?;
            let right = machine.lambda(key, std::slice::from_ref(right), at)?;
            ordered(machine, &left, &right, below.first(), at)?
        }
        ("comparingByKey" | "comparingByValue", below) => {
            let getter = if kind == "comparingByKey" { "getKey" } else { "getValue" };
            let left = call_method(machine, left, getter, Vec::new(), at)?;
            let right = call_method(machine, right, getter, Vec::new(), at)?;
            ordered(machine, &left, &right, below.first(), at)?
        }
        ("reversed", [inner]) => ordered(machine, right, left, Some(inner), at)?,
        ("nullsFirst" | "nullsLast", [inner]) => match (left.is_null(), right.is_null()) {
            (false, false) => ordered(machine, left, right, Some(inner), at)?,
            (left, right) => {
                let nulls_first = right.cmp(&left);
                if kind == "nullsFirst" { nulls_first } else { nulls_first.reverse() }
            }
        },
        ("then", [first, second]) => match ordered(machine, left, right, Some(first), at)? {
            Ordering::Equal => by_order_or_key(machine, (left, right), second, at)?,
            found => found,
        },
        _ => Ordering::Equal,
    }))
}

/// Compares by what `thenComparing` was given: an order, or a function that returns a key.
fn by_order_or_key(
    machine: &mut impl Machine,
    (left, right): (&Value, &Value),
    next: &Value,
    at: u32,
) -> Outcome<Ordering> {
    if is_order(next) || machine.takes(next, 2) {
        return ordered(machine, left, right, Some(next), at);
    }
    let left = machine.lambda(next, std::slice::from_ref(left), at)?;
    let right = machine.lambda(next, std::slice::from_ref(right), at)?;
    ordered(machine, &left, &right, None, at)
}
