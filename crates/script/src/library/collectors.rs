//! The results of `Collectors` and what they make of a stream.
//!
//! Source: Painless' allow list of `java.util.stream`.

use std::cell::RefCell;
use std::rc::Rc;

use super::machine::Machine;
use super::store::put_new;
use super::streams::passes;
use super::texts::join_texts;
use crate::error::{Outcome, ScriptError};
use crate::types::Binary;
use crate::values::{MapOrder, MapValue, Value};

/// The first item of the list that stands for a collector; its name and its arguments follow.
const COLLECTOR: &str = "java.util.stream.Collector";

/// Collectors with the least and the greatest number of their arguments.
const COLLECTORS: &[(&str, usize, usize)] = &[
    ("averagingDouble", 1, 1),
    ("averagingInt", 1, 1),
    ("averagingLong", 1, 1),
    ("collectingAndThen", 2, 2),
    ("counting", 0, 0),
    ("groupingBy", 1, 3),
    ("joining", 3, 3),
    ("mapping", 2, 2),
    ("maxBy", 1, 1),
    ("minBy", 1, 1),
    ("partitioningBy", 1, 2),
    ("reducing", 1, 3),
    ("summarizingDouble", 1, 1),
    ("summarizingInt", 1, 1),
    ("summarizingLong", 1, 1),
    ("summingDouble", 1, 1),
    ("summingInt", 1, 1),
    ("summingLong", 1, 1),
    ("toCollection", 1, 1),
    ("toMap", 2, 4),
];

/// Whether `Collectors` has such a method.
pub(super) fn is_collector(name: &str, count: usize) -> bool {
    COLLECTORS.iter().any(|(known, least, most)| *known == name && (*least..=*most).contains(&count))
}

/// Returns what a method of `Collectors` returns.
pub(super) fn collector(name: &str, arguments: &[Value]) -> Value {
    let mut parts = vec![Value::str(COLLECTOR), Value::str(name)];
    parts.extend(arguments.iter().cloned());
    Value::list(parts)
}

/// Collects the items of a stream as a collector of this file says; `None` if it is none of them.
pub(super) fn collected(
    machine: &mut impl Machine,
    items: Vec<Value>,
    collector: &Rc<RefCell<Vec<Value>>>,
    at: u32,
) -> Outcome<Option<Value>> {
    let parts = collector.borrow().clone();
    let [Value::Str(marker), Value::Str(name), arguments @ ..] = parts.as_slice() else { return Ok(None) };
    if **marker != *COLLECTOR {
        return Ok(None);
    }
    Ok(Some(match (&**name, arguments) {
        ("counting", []) => Value::Long(items.len() as i64),
        ("joining", [separator, prefix, suffix]) => {
            let joined = join_texts(machine, &items, &separator.text(), at)?;
            Value::str(format!("{}{}{}", prefix.text(), joined.text(), suffix.text()))
        }
        ("mapping", [lambda, below]) => {
            let mapped = mapped(machine, items, lambda, at)?;
            return below_collected(machine, mapped, below, at).map(Some);
        }
        ("maxBy" | "minBy", [order]) => {
            let best = super::order::extreme(machine, items, Some(order), &**name == "maxBy", at)?;
            super::java::optional(best, at)?
        }
        ("collectingAndThen", [below, then]) => {
            let collected = below_collected(machine, items, below, at)?;
            machine.lambda(then, &[collected], at)?
        }
        ("groupingBy", [key, make, below]) => {
            let keys = mapped(machine, items.clone(), key, at)?;
            let grouped = grouped(machine, keys.into_iter().zip(items), MapOrder::Hashed, Some(below), at)?;
            let made = machine.lambda(make, &[], at)?;
            super::methods::call_method(machine, &made, "putAll", vec![grouped], at)?;
            made
        }
        ("reducing", functions) => return reduced(machine, items, functions, at),
        ("toCollection", [make]) => {
            let made = machine.lambda(make, &[], at)?;
            super::methods::call_method(machine, &made, "addAll", vec![Value::list(items)], at)?;
            made
        }
        ("toMap", [key, value, merge, make]) => {
            let map = to_map(machine, items, (key, value), Some(merge), at)?;
            let made = machine.lambda(make, &[], at)?;
            super::methods::call_method(machine, &made, "putAll", vec![map], at)?;
            made
        }
        ("toMap", [key, value, merge @ ..]) => to_map(machine, items, (key, value), merge.first(), at)?,
        ("groupingBy", [key, below @ ..]) => {
            let keys = mapped(machine, items.clone(), key, at)?;
            grouped(machine, keys.into_iter().zip(items), MapOrder::Hashed, below.first(), at)?
        }
        ("partitioningBy", [lambda, below @ ..]) => partitioned(machine, items, lambda, below.first(), at)?,
        (name, [lambda]) => {
            let numbers = mapped(machine, items, lambda, at)?;
            if let Some(kind) = name.strip_prefix("summarizing") {
                return Ok(super::java::summarized(&format!("{kind}SummaryStatistics"), &numbers));
            }
            return summed(machine, name, &numbers, at);
        }
        _ => return Ok(None),
    }))
}

/// Folds the items, as `Collectors#reducing` does; `None` if it does not take these arguments.
fn reduced(
    machine: &mut impl Machine,
    items: Vec<Value>,
    functions: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let (first, items, lambda) = match functions {
        [lambda] => (None, items, lambda),
        [first, lambda] => (Some(first.clone()), items, lambda),
        [first, map, lambda] => (Some(first.clone()), mapped(machine, items, map, at)?, lambda),
        _ => return Ok(None),
    };
    let is_optional = first.is_none();
    let mut folded = first;
    for item in items {
        folded = Some(match folded {
            None => item,
            Some(folded) => machine.lambda(lambda, &[folded, item], at)?,
        });
    }
    match is_optional {
        true => super::java::optional(folded, at).map(Some),
        false => Ok(folded),
    }
}

fn mapped(machine: &mut impl Machine, items: Vec<Value>, lambda: &Value, at: u32) -> Outcome<Vec<Value>> {
    items.into_iter().map(|item| machine.lambda(lambda, &[item], at)).collect()
}

/// Collects the items of a group: in a list unless another collector is given.
fn below_collected(machine: &mut impl Machine, items: Vec<Value>, below: &Value, at: u32) -> Outcome<Value> {
    let list = Value::list(items);
    super::methods::call_method(machine, &list, "collect", vec![below.clone()], at)
}

/// Sums up or averages numbers, as the name of a collector says.
fn summed(machine: &mut impl Machine, name: &str, numbers: &[Value], at: u32) -> Outcome<Option<Value>> {
    let start = match name {
        "summingInt" => Value::Int(0),
        "summingLong" => Value::Long(0),
        "summingDouble" | "averagingInt" | "averagingLong" | "averagingDouble" => Value::Double(0.0),
        _ => return Ok(None),
    };
    let mut sum = start;
    for number in numbers {
        sum = machine.binary(Binary::Add, &sum, number, at)?;
    }
    Ok(Some(match name.starts_with("averaging") {
        true if numbers.is_empty() => Value::Double(0.0),
        true => Value::Double(sum.f64() / numbers.len() as f64),
        false => sum,
    }))
}

fn to_map(
    machine: &mut impl Machine,
    items: Vec<Value>,
    (key, value): (&Value, &Value),
    merge: Option<&Value>,
    at: u32,
) -> Outcome<Value> {
    let map = MapValue::new(MapOrder::Hashed).shared();
    for item in items {
        let key = machine.lambda(key, std::slice::from_ref(&item), at)?;
        let value = machine.lambda(value, &[item], at)?;
        let known = map.borrow().get(&key).cloned();
        let value = match (known, merge) {
            (None, _) => value,
            (Some(known), Some(merge)) => machine.lambda(merge, &[known, value], at)?,
            (Some(known), None) => {
                let (key, known, value) = (key.text(), known.text(), value.text());
                let reason = format!("Duplicate key {key} (attempted merging values {known} and {value})");
                return Err(ScriptError::new(at, "illegal_state_exception", reason));
            }
        };
        put_new(machine, &map, (key, value), at)?;
    }
    Ok(Value::Map(map))
}

/// Groups items by their keys. `below` collects the items of a group.
pub(super) fn grouped(
    machine: &mut impl Machine,
    items: impl Iterator<Item = (Value, Value)>,
    order: MapOrder,
    below: Option<&Value>,
    at: u32,
) -> Outcome<Value> {
    let map = MapValue::new(order).shared();
    for (key, item) in items {
        machine.spend(1, at)?;
        let known = map.borrow().get(&key).cloned();
        match known {
            Some(Value::List(group)) => group.borrow_mut().push(item),
            _ => drop(put_new(machine, &map, (key, Value::list(vec![item])), at)?),
        }
    }
    if let Some(below) = below {
        let entries = map.borrow().entries().to_vec();
        for (key, group) in entries {
            let items = machine.items(&group, at)?;
            let value = below_collected(machine, items, below, at)?;
            put_new(machine, &map, (key, value), at)?;
        }
    }
    Ok(Value::Map(map))
}

fn partitioned(
    machine: &mut impl Machine,
    items: Vec<Value>,
    lambda: &Value,
    below: Option<&Value>,
    at: u32,
) -> Outcome<Value> {
    let (mut passed, mut others) = (Vec::new(), Vec::new());
    for item in items {
        match passes(machine, lambda, &item, at)? {
            true => passed.push(item),
            false => others.push(item),
        }
    }
    let (others, passed) = match below {
        None => (Value::list(others), Value::list(passed)),
        Some(below) => {
            (below_collected(machine, others, below, at)?, below_collected(machine, passed, below, at)?)
        }
    };
    Ok(Value::map(vec![(Value::Bool(false), others), (Value::Bool(true), passed)], false))
}
