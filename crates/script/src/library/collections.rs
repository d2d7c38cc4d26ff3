//! Methods of lists, maps and sets.

use std::cell::RefCell;
use std::rc::Rc;

use super::augmented;
use super::context::token_member;
use super::java::{key_iterator, list_iterator};
use super::machine::Machine;
use super::order::sort_values;
use super::store::{admit, position, put_entry};
use super::streams::{passes, stream_method};
use super::texts::join_texts;
use crate::error::{Outcome, ScriptError};
use crate::values::{MapOrder, MapValue, Value, remove};

/// Calls a method of a list or stream; `None` if there is no such method.
pub(crate) fn list_method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let Value::List(list) = target else { return Ok(None) };
    Ok(Some(match (name, arguments) {
        ("size" | "getLength", []) => Value::Int(list.borrow().len() as i32),
        ("count", []) => Value::Long(list.borrow().len() as i64),
        ("isEmpty", []) => Value::Bool(list.borrow().is_empty()),
        ("iterator", []) => list_iterator(target, machine.items(target, at)?, at)?,
        ("get", [index]) => {
            let items = list.borrow();
            items[index_within(index, items.len(), at)?].clone()
        }
        ("contains", [item]) => Value::Bool(position(machine, list.borrow().iter(), item, at)?.is_some()),
        ("indexOf", [item]) => {
            let found = position(machine, list.borrow().iter(), item, at)?;
            Value::Int(found.map_or(-1, |found| found as i32))
        }
        ("lastIndexOf", [item]) => {
            let items = list.borrow();
            let from_end = position(machine, items.iter().rev(), item, at)?;
            Value::Int(from_end.map_or(-1, |found| (items.len() - 1 - found) as i32))
        }
        ("subList", [start, end]) => {
            let items = list.borrow();
            let end = index_within(end, items.len() + 1, at)?;
            let start = index_within(start, end + 1, at)?;
            Value::list(items[start..end].to_vec())
        }
        ("join", [separator]) => {
            let items = list.borrow().clone();
            join_texts(machine, &items, &separator.text(), at)?
        }
        ("forEach" | "forEachOrdered", [lambda]) => {
            let items = list.borrow().clone();
            for item in items {
                machine.lambda(lambda, &[item], at)?;
            }
            Value::Null
        }
        _ => match change_list(machine, list, name, arguments, at)? {
            Some(returned) => returned,
            None => match augmented::list_method(machine, target, list, name, arguments, at)? {
                None => return stream_method(machine, list, name, arguments, at),
                found => return Ok(found),
            },
        },
    }))
}

/// Returns an index that is less than `length`.
fn index_within(index: &Value, length: usize, at: u32) -> Outcome<usize> {
    usize::try_from(index.i64()).ok().filter(|index| *index < length).ok_or_else(|| {
        ScriptError::new(
            at,
            "index_out_of_bounds_exception",
            format!("Index {} out of bounds for length {length}", index.text()),
        )
    })
}

/// Calls a method that changes a list; `None` if there is no such method.
fn change_list(
    machine: &mut impl Machine,
    list: &Rc<RefCell<Vec<Value>>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("add", [item]) => {
            admit(machine, item, at)?;
            list.borrow_mut().push(item.clone());
            Value::Bool(true)
        }
        ("add", [index, item]) => {
            admit(machine, item, at)?;
            let length = list.borrow().len();
            let index = index_within(index, length + 1, at)?;
            list.borrow_mut().insert(index, item.clone());
            Value::Null
        }
        ("addAll", [place @ .., more]) if place.len() <= 1 => {
            let more = machine.items(more, at)?;
            more.iter().try_for_each(|item| admit(machine, item, at))?;
            let length = list.borrow().len();
            let index = place.first().map_or(Ok(length), |index| index_within(index, length + 1, at))?;
            let is_changed = !more.is_empty();
            list.borrow_mut().splice(index..index, more);
            Value::Bool(is_changed)
        }
        ("set", [index, item]) => {
            machine.check_kept(item, at)?;
            let index = index_within(index, list.borrow().len(), at)?;
            std::mem::replace(&mut list.borrow_mut()[index], item.clone())
        }
        ("remove", [index @ Value::Int(_)]) => {
            let index = index_within(index, list.borrow().len(), at)?;
            list.borrow_mut().remove(index)
        }
        ("remove", [item]) => {
            let found = position(machine, list.borrow().iter(), item, at)?;
            if let Some(found) = found {
                list.borrow_mut().remove(found);
            }
            Value::Bool(found.is_some())
        }
        ("removeAll", [others]) => {
            let others = machine.items(others, at)?;
            retain(machine, list, |machine, item| Ok(position(machine, others.iter(), item, at)?.is_none()))?
        }
        ("retainAll", [others]) => {
            let others = machine.items(others, at)?;
            retain(machine, list, |machine, item| Ok(position(machine, others.iter(), item, at)?.is_some()))?
        }
        ("removeIf", [lambda]) => {
            retain(machine, list, |machine, item| Ok(!passes(machine, lambda, item, at)?))?
        }
        ("clear", []) => {
            list.borrow_mut().clear();
            Value::Null
        }
        ("sort", [order]) => {
            let mut items = list.borrow().clone();
            sort_values(machine, &mut items, Some(order), at)?;
            *list.borrow_mut() = items;
            Value::Null
        }
        _ => return Ok(None),
    }))
}

/// Keeps the items of a list that `stays` accepts; returns whether any were removed. The items are examined
/// before the list is borrowed for the change, because they may contain it.
fn retain<M: Machine>(
    machine: &mut M,
    list: &Rc<RefCell<Vec<Value>>>,
    stays: impl Fn(&mut M, &Value) -> Outcome<bool>,
) -> Outcome<Value> {
    let items = list.borrow().clone();
    let (mut kept, before) = (Vec::new(), items.len());
    for item in items {
        if stays(machine, &item)? {
            kept.push(item);
        }
    }
    let is_changed = kept.len() != before;
    *list.borrow_mut() = kept;
    Ok(Value::Bool(is_changed))
}

/// Calls a method of a map; `None` if there is no such method.
pub(crate) fn map_method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let (Value::Map(map) | Value::Set(map)) = target else { return Ok(None) };
    let is_set = matches!(target, Value::Set(_));
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    Ok(Some(match (name, arguments) {
        ("size", []) => Value::Int(map.borrow().len() as i32),
        ("isEmpty", []) => Value::Bool(map.borrow().is_empty()),
        ("clear", []) => {
            map.borrow_mut().clear();
            Value::Null
        }
        _ if is_set => return set_method(machine, target, map, name, arguments, at),
        ("get", [key]) => or_null(map.borrow().get(key).cloned()),
        ("getOrDefault", [key, default]) => map.borrow().get(key).cloned().unwrap_or_else(|| default.clone()),
        ("containsKey", [key]) => Value::Bool(map.borrow().get(key).is_some()),
        ("containsValue", [value]) => {
            let map = map.borrow();
            let values = map.entries().iter().map(|(_, value)| value);
            Value::Bool(position(machine, values, value, at)?.is_some())
        }
        ("keySet", []) => Value::list(map.borrow().walk().into_iter().map(|(key, _)| key).collect()),
        ("values", []) => Value::list(map.borrow().walk().into_iter().map(|(_, value)| value).collect()),
        ("entrySet", []) => {
            Value::list(map.borrow().walk().into_iter().map(|own| entry_of(map, own)).collect())
        }
        ("getKey", []) => or_null(map.borrow().get(&Value::str(ENTRY_KEY)).cloned()),
        ("getValue", []) => or_null(map.borrow().get(&Value::str(ENTRY_VALUE)).cloned()),
        ("forEach", [lambda]) => {
            let entries = map.borrow().walk();
            for (key, value) in entries {
                machine.lambda(lambda, &[key, value], at)?;
            }
            Value::Null
        }
        (view, _) if view.contains('.') => return super::views::method(machine, map, name, arguments, at),
        (getter, []) if token_member(getter).is_some() && is_given(machine, map) => {
            let member = token_member(getter).unwrap_or_default();
            or_null(map.borrow().get(&Value::str(member)).cloned())
        }
        _ => match change_map(machine, map, name, arguments, at)? {
            None => return augmented::map_method(machine, target, map, name, arguments, at),
            found => return Ok(found),
        },
    }))
}

/// Calls a method that changes a map; `None` if there is no such method.
fn change_map(
    machine: &mut impl Machine,
    map: &Rc<RefCell<MapValue>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    Ok(Some(match (name, arguments) {
        ("put", [key, value]) => or_null(put_entry(machine, map, (key.clone(), value.clone()), at)?),
        ("putIfAbsent", [key, value]) => {
            let known = map.borrow().get(key).cloned();
            if known.as_ref().is_none_or(Value::is_null) {
                put_entry(machine, map, (key.clone(), value.clone()), at)?;
            }
            or_null(known)
        }
        ("putAll", [Value::Map(more)]) => {
            let more = more.borrow().entries().to_vec();
            for entry in more {
                put_entry(machine, map, entry, at)?;
            }
            Value::Null
        }
        ("remove", [key]) => or_null(remove(map, key)),
        ("setValue", [value]) => return set_value(machine, map, value, at),
        ("merge", [key, value, lambda]) => {
            let before = map.borrow().get(key).cloned().filter(|before| !before.is_null());
            let merged = match before {
                Some(before) => machine.lambda(lambda, &[before, value.clone()], at)?,
                None => value.clone(),
            };
            match merged.is_null() {
                true => drop(remove(map, key)),
                false => drop(put_entry(machine, map, (key.clone(), merged.clone()), at)?),
            }
            merged
        }
        ("computeIfAbsent", [key, lambda]) => {
            let known = map.borrow().get(key).cloned().filter(|known| !known.is_null());
            if known.is_some() {
                return Ok(known);
            }
            let value = machine.lambda(lambda, std::slice::from_ref(key), at)?;
            if !value.is_null() {
                put_entry(machine, map, (key.clone(), value.clone()), at)?;
            }
            value
        }
        _ => return Ok(None),
    }))
}

/// Calls a method of the set `target`, whose items are the keys of `map`; `None` if there is no such method.
fn set_method(
    machine: &mut impl Machine,
    target: &Value,
    map: &Rc<RefCell<MapValue>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("add", [item]) => Value::Bool(put_entry(machine, map, (item.clone(), Value::Null), at)?.is_none()),
        ("contains", [item]) => Value::Bool(map.borrow().get(item).is_some()),
        ("remove", [item]) => Value::Bool(remove(map, item).is_some()),
        ("clone", []) => Value::Set(map.borrow().clone().shared()),
        ("iterator", []) => {
            let items = machine.items(target, at)?;
            key_iterator(target, items.clone(), items, at)?
        }
        ("addAll", [more]) => {
            let more = machine.items(more, at)?;
            let before = map.borrow().len();
            for item in more {
                put_entry(machine, map, (item, Value::Null), at)?;
            }
            Value::Bool(map.borrow().len() != before)
        }
        ("removeAll" | "retainAll" | "removeIf", [_]) => {
            // The list of the items tells which of them stay.
            let list = Value::list(machine.items(target, at)?);
            let is_changed = list_method(machine, &list, name, arguments, at)?;
            let kept = machine.items(&list, at)?;
            map.borrow_mut().clear();
            for item in kept {
                put_entry(machine, map, (item, Value::Null), at)?;
            }
            return Ok(is_changed);
        }
        _ => {
            if let Some(found) = super::sorted_maps::sorted_method(map, true, name, arguments, at)? {
                return Ok(Some(found));
            }
            let list = Value::list(machine.items(target, at)?);
            return list_method(machine, &list, name, arguments, at);
        }
    }))
}

/// Whether the map is the one that the script was given in its first slot.
fn is_given(machine: &impl Machine, map: &Rc<RefCell<MapValue>>) -> bool {
    matches!(machine.given(), Some(Value::Map(given)) if Rc::ptr_eq(given, map))
}

/// Changes the value of an entry, and of its key in the map; `None` if it is no entry that can be changed.
fn set_value(
    machine: &mut impl Machine,
    entry: &Rc<RefCell<MapValue>>,
    value: &Value,
    at: u32,
) -> Outcome<Option<Value>> {
    let (map, key) = (entry.borrow().entry_of(), entry.borrow().get_text(ENTRY_KEY).cloned());
    let (Some(map), Some(key)) = (map, key) else { return Ok(None) };
    machine.check_frozen(&Value::Map(map.clone()), at)?;
    put_entry(machine, &map, (key, value.clone()), at)?;
    let before = put_entry(machine, entry, (Value::str(ENTRY_VALUE), value.clone()), at)?;
    Ok(Some(before.unwrap_or(Value::Null)))
}

/// Makes an entry of a map through which a script can change the map.
pub(super) fn entry_of(map: &Rc<RefCell<MapValue>>, (key, value): (Value, Value)) -> Value {
    let members = vec![(Value::str(ENTRY_KEY), key), (Value::str(ENTRY_VALUE), value)];
    Value::Map(MapValue::of(members, MapOrder::Inserted).linked_to(map.clone()).shared())
}

/// Makes an entry of a map.
pub(super) fn entry((key, value): (Value, Value)) -> Value {
    Value::map(vec![(Value::str(ENTRY_KEY), key), (Value::str(ENTRY_VALUE), value)], false)
}

/// Keys of an entry of a map, which is itself a map of two members.
const ENTRY_KEY: &str = "key";
const ENTRY_VALUE: &str = "value";
