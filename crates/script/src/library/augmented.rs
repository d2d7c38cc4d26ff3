//! Methods that Painless adds to Java's collections, and those of queues.
//!
//! Source: `org.elasticsearch.painless.api.Augmentation`; Painless' allow list of `java.util`.

use std::cell::RefCell;
use std::rc::Rc;

use super::collectors::grouped;
use super::machine::Machine;
use super::sorted_maps::sorted_method;
use super::store::{admit, position, put_entry};
use super::streams::passes;
use crate::error::{Outcome, ScriptError, exception_kind};
use crate::values::{MapOrder, MapValue, Value, remove};

type Items = Rc<RefCell<Vec<Value>>>;

/// Calls a method of a list; `None` if there is no such method here.
pub(super) fn list_method(
    machine: &mut impl Machine,
    target: &Value,
    list: &Items,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let items = || list.borrow().clone();
    Ok(Some(match (name, arguments) {
        ("asList" | "asCollection", []) => target.clone(),
        ("clone", []) => Value::list(machine.items(target, at)?),
        ("trimToSize", []) => Value::Null,
        ("containsAll", [others]) => {
            let own = items();
            for other in machine.items(others, at)? {
                if position(machine, own.iter(), &other, at)?.is_none() {
                    return Ok(Some(Value::Bool(false)));
                }
            }
            Value::Bool(true)
        }
        ("replaceAll", [lambda]) => {
            let mut replaced = Vec::new();
            for item in items() {
                let item = machine.lambda(lambda, &[item], at)?;
                machine.check_kept(&item, at)?;
                replaced.push(item);
            }
            *list.borrow_mut() = replaced;
            Value::Null
        }
        ("each", [lambda]) => {
            for item in items() {
                machine.lambda(lambda, &[item], at)?;
            }
            target.clone()
        }
        ("eachWithIndex", [lambda]) => {
            for (place, item) in items().into_iter().enumerate() {
                machine.lambda(lambda, &[item, Value::Int(place as i32)], at)?;
            }
            target.clone()
        }
        ("getByPath", [path]) => by_path(target, &path.text(), None, at)?,
        ("getByPath", [path, default]) => by_path(target, &path.text(), Some(default), at)?,
        _ => match made(machine, items, name, arguments, at)? {
            None => return queue_method(machine, list, name, arguments, at),
            found => return Ok(found),
        },
    }))
}

/// Calls a method that makes something else of a list's items; `None` if there is no such method.
fn made(
    machine: &mut impl Machine,
    items: impl Fn() -> Vec<Value>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("groupBy", [lambda]) => {
            let mut pairs = Vec::new();
            for item in items() {
                pairs.push((machine.lambda(lambda, std::slice::from_ref(&item), at)?, item));
            }
            grouped(machine, pairs.into_iter(), MapOrder::Inserted, None, at)?
        }
        ("split", [lambda]) => {
            let (mut passed, mut others) = (Vec::new(), Vec::new());
            for item in items() {
                match passes(machine, lambda, &item, at)? {
                    true => passed.push(item),
                    false => others.push(item),
                }
            }
            Value::list(vec![Value::list(passed), Value::list(others)])
        }
        ("findResult", [lambda]) => first_result(machine, items(), lambda, at)?.unwrap_or(Value::Null),
        ("findResult", [default, lambda]) => {
            first_result(machine, items(), lambda, at)?.unwrap_or_else(|| default.clone())
        }
        ("findResults", [lambda]) => {
            let mut found = Vec::new();
            for item in items() {
                found.push(machine.lambda(lambda, &[item], at)?);
            }
            found.retain(|value| !value.is_null());
            Value::list(found)
        }
        _ => return Ok(None),
    }))
}

fn first_result(
    machine: &mut impl Machine,
    items: Vec<Value>,
    lambda: &Value,
    at: u32,
) -> Outcome<Option<Value>> {
    for item in items {
        let found = machine.lambda(lambda, &[item], at)?;
        if !found.is_null() {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Calls a method of queues and of both ends of a list; `None` if there is no such method.
fn queue_method(
    machine: &mut impl Machine,
    list: &Items,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    if let ("removeFirstOccurrence" | "removeLastOccurrence", [item]) = (name, arguments) {
        let items = list.borrow().clone();
        let found = match name {
            "removeFirstOccurrence" => position(machine, items.iter(), item, at)?,
            _ => position(machine, items.iter().rev(), item, at)?.map(|found| items.len() - 1 - found),
        };
        if let Some(found) = found {
            list.borrow_mut().remove(found);
        }
        return Ok(Some(Value::Bool(found.is_some())));
    }
    if let [item] = arguments {
        let is_first = match name {
            "addFirst" | "offerFirst" | "push" => true,
            "addLast" | "offerLast" | "offer" => false,
            _ => return Ok(None),
        };
        admit(machine, item, at)?;
        let place = if is_first { 0 } else { list.borrow().len() };
        list.borrow_mut().insert(place, item.clone());
        return Ok(Some(match name.starts_with("offer") {
            true => Value::Bool(true),
            false => Value::Null,
        }));
    }
    if !arguments.is_empty() {
        return Ok(None);
    }
    let found = match name {
        "getFirst" | "element" | "peek" | "peekFirst" => list.borrow().first().cloned(),
        "getLast" | "peekLast" => list.borrow().last().cloned(),
        "poll" | "pollFirst" | "pop" | "removeFirst" | "remove" => {
            let is_empty = list.borrow().is_empty();
            (!is_empty).then(|| list.borrow_mut().remove(0))
        }
        "pollLast" | "removeLast" => list.borrow_mut().pop(),
        "descendingIterator" => {
            let reversed = list.borrow().iter().rev().cloned().collect();
            return super::java::iterator(reversed, at).map(Some);
        }
        _ => return Ok(None),
    };
    match found {
        Some(item) => Ok(Some(item)),
        None if name.starts_with("p") && name != "pop" => Ok(Some(Value::Null)),
        None => Err(ScriptError::new(at, "no_such_element_exception", "")),
    }
}

/// Follows a path with dots through maps and lists.
fn by_path(target: &Value, path: &str, default: Option<&Value>, at: u32) -> Outcome<Value> {
    let mut found = target.clone();
    for part in path.split('.') {
        let next = match &found {
            Value::Map(map) => map.borrow().get_text(part).cloned(),
            Value::List(items) => {
                let place = part.parse::<usize>().map_err(|_| {
                    ScriptError::argument(at, format!("Could not parse [{part}] as a int index into list"))
                })?;
                items.borrow().get(place).cloned()
            }
            other => {
                let reason = format!("Non-container [{}] at [{part}] in path [{path}]", other.class());
                return Err(ScriptError::argument(at, reason));
            }
        };
        match (next, default) {
            (Some(next), _) => found = next,
            (None, Some(default)) => return Ok(default.clone()),
            (None, None) => return Err(ScriptError::argument(at, format!("Could not find path [{path}]"))),
        }
    }
    Ok(found)
}

/// Calls a method of a map; `None` if there is no such method here.
pub(super) fn map_method(
    machine: &mut impl Machine,
    target: &Value,
    map: &Rc<RefCell<MapValue>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let entries = || map.borrow().walk();
    let order = map.borrow().order;
    Ok(Some(match (name, arguments) {
        ("any" | "every" | "count" | "find" | "findAll", [lambda]) => {
            return chosen(machine, map, name, lambda, at);
        }
        ("collect", [lambda]) => {
            let mut found = Vec::new();
            for (key, value) in entries() {
                found.push(machine.lambda(lambda, &[key, value], at)?);
            }
            Value::list(found)
        }
        ("collect", [into, lambda]) => {
            for (key, value) in entries() {
                let item = machine.lambda(lambda, &[key, value], at)?;
                super::methods::call_method(machine, into, "add", vec![item], at)?;
            }
            into.clone()
        }
        ("each", [lambda]) => {
            for (key, value) in entries() {
                machine.lambda(lambda, &[key, value], at)?;
            }
            target.clone()
        }
        ("findResult", [.., lambda]) if arguments.len() <= 2 => {
            for (key, value) in entries() {
                let found = machine.lambda(lambda, &[key, value], at)?;
                if !found.is_null() {
                    return Ok(Some(found));
                }
            }
            if arguments.len() == 2 { arguments[0].clone() } else { Value::Null }
        }
        ("findResults", [lambda]) => {
            let mut found = Vec::new();
            for (key, value) in entries() {
                found.push(machine.lambda(lambda, &[key, value], at)?);
            }
            found.retain(|value| !value.is_null());
            Value::list(found)
        }
        ("clone", []) => Value::Map(map.borrow().clone().shared()),
        ("groupBy", [lambda]) => group_map(machine, entries(), order, lambda, at)?,
        ("getByPath", [path]) => by_path(target, &path.text(), None, at)?,
        ("getByPath", [path, default]) => by_path(target, &path.text(), Some(default), at)?,
        _ => match computed(machine, map, name, arguments, at)? {
            None => return sorted_method(map, false, name, arguments, at),
            found => return Ok(found),
        },
    }))
}

/// Calls a method that tests the entries of a map.
fn chosen(
    machine: &mut impl Machine,
    map: &Rc<RefCell<MapValue>>,
    name: &str,
    lambda: &Value,
    at: u32,
) -> Outcome<Option<Value>> {
    let (entries, order) = (map.borrow().walk(), map.borrow().order);
    let mut kept = Vec::new();
    for (key, value) in entries {
        let found = machine.lambda(lambda, &[key.clone(), value.clone()], at)?;
        match (name, matches!(found, Value::Bool(true))) {
            ("any", true) => return Ok(Some(Value::Bool(true))),
            ("every", false) => return Ok(Some(Value::Bool(false))),
            ("find", true) => return Ok(Some(super::collections::entry((key, value)))),
            (_, true) => kept.push((key, value)),
            (_, false) => {}
        }
    }
    Ok(Some(match name {
        "any" => Value::Bool(false),
        "every" => Value::Bool(true),
        "find" => Value::Null,
        "count" => Value::Int(kept.len() as i32),
        _ => Value::Map(MapValue::of(kept, order).shared()),
    }))
}

/// Returns the entries of a map in maps by what a lambda makes of them.
fn group_map(
    machine: &mut impl Machine,
    entries: Vec<(Value, Value)>,
    order: MapOrder,
    lambda: &Value,
    at: u32,
) -> Outcome<Value> {
    let groups = MapValue::new(MapOrder::Inserted).shared();
    for (key, value) in entries {
        let group = machine.lambda(lambda, &[key.clone(), value.clone()], at)?;
        let known = groups.borrow().get(&group).cloned();
        let members = match known {
            Some(Value::Map(members)) => members,
            _ => {
                let members = MapValue::new(order).shared();
                super::store::put_new(machine, &groups, (group, Value::Map(members.clone())), at)?;
                members
            }
        };
        super::store::put_new(machine, &members, (key, value), at)?;
    }
    Ok(Value::Map(groups))
}

/// Calls a method that computes the new values of a map; `None` if there is no such method.
fn computed(
    machine: &mut impl Machine,
    map: &Rc<RefCell<MapValue>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let known = |key: &Value| map.borrow().get(key).cloned();
    Ok(Some(match (name, arguments) {
        ("compute" | "computeIfPresent", [key, lambda]) => {
            let before = known(key).filter(|value| !value.is_null());
            if before.is_none() && name == "computeIfPresent" {
                return Ok(Some(Value::Null));
            }
            let value = machine.lambda(lambda, &[key.clone(), before.unwrap_or(Value::Null)], at)?;
            match value.is_null() {
                true => drop(remove(map, key)),
                false => drop(put_entry(machine, map, (key.clone(), value.clone()), at)?),
            }
            value
        }
        ("replace", [key, value]) => match known(key) {
            None => Value::Null,
            Some(before) => {
                put_entry(machine, map, (key.clone(), value.clone()), at)?;
                before
            }
        },
        ("replace", [key, before, after]) => {
            let is_it = match known(key) {
                None => false,
                Some(known) => super::store::same(machine, &known, before, at)?,
            };
            if is_it {
                put_entry(machine, map, (key.clone(), after.clone()), at)?;
            }
            Value::Bool(is_it)
        }
        ("remove", [key, value]) => {
            let is_it = match known(key) {
                None => false,
                Some(known) => super::store::same(machine, &known, value, at)?,
            };
            if is_it {
                remove(map, key);
            }
            Value::Bool(is_it)
        }
        ("replaceAll", [lambda]) => {
            let entries = map.borrow().walk();
            for (key, value) in entries {
                let value = machine.lambda(lambda, &[key.clone(), value], at)?;
                put_entry(machine, map, (key, value), at)?;
            }
            Value::Null
        }
        _ => return Ok(None),
    }))
}

/// Calls a method of an `Optional` that takes a function; `None` if there is no such method.
pub(super) fn optional_method(
    machine: &mut impl Machine,
    target: &Value,
    value: Option<&Value>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let [lambda] = arguments else { return Ok(None) };
    Ok(Some(match (name, value) {
        ("map", Some(value)) => {
            let mapped = machine.lambda(lambda, std::slice::from_ref(value), at)?;
            super::java::optional(Some(mapped).filter(|mapped| !mapped.is_null()), at)?
        }
        ("flatMap", Some(value)) => machine.lambda(lambda, std::slice::from_ref(value), at)?,
        ("filter", Some(value)) => match passes(machine, lambda, value, at)? {
            true => target.clone(),
            false => super::java::optional(None, at)?,
        },
        ("map" | "flatMap" | "filter", None) => super::java::optional(None, at)?,
        ("ifPresent", Some(value)) => {
            machine.lambda(lambda, std::slice::from_ref(value), at)?;
            Value::Null
        }
        ("ifPresent", None) => Value::Null,
        ("orElseGet", Some(value)) => value.clone(),
        ("orElseGet", None) => machine.lambda(lambda, &[], at)?,
        ("orElseThrow", Some(value)) => value.clone(),
        ("orElseThrow", None) => return Err(thrown(machine.lambda(lambda, &[], at)?, at)),
        _ => return Ok(None),
    }))
}

/// Returns the error that throwing a value is.
fn thrown(value: Value, at: u32) -> ScriptError {
    match value {
        Value::Exception(class, message) => ScriptError::new(at, exception_kind(class), message.as_ref()),
        other => {
            let reason = format!("Cannot cast from [{}] to [java.lang.Exception].", other.class());
            ScriptError::cast(at, reason)
        }
    }
}
