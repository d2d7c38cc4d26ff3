//! `field('a.b')` in scripts that write a document: a path of which a script reads and changes the values.
//!
//! Source: Elasticsearch's `WriteField`. The path is resolved at each call; Elasticsearch does it once.

use std::any::Any;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use super::nested_document;
use crate::error::{Outcome, ScriptError};
use crate::library::Machine;
use crate::library::java::{iterator, list_iterator};
use crate::library::store::{ITEM_BYTES, admit, put_entry, put_new};
use crate::library::streams::passes;
use crate::values::{JavaObject, MapOrder, MapValue, Value, remove};

/// The members of an object of the document.
pub(super) type Members = Rc<RefCell<MapValue>>;

/// Bytes that a new list or map counts without its items.
pub(super) const CONTAINER_BYTES: usize = 64;

/// A path, and the map in which it begins.
#[derive(Debug)]
pub(super) struct WriteField {
    root: RefCell<Members>,
    path: RefCell<Arc<str>>,
}

/// The map in which a path ends, and the last key.
struct Place {
    members: Members,
    key: Value,
}

impl Place {
    fn value(&self) -> Option<Value> {
        self.members.borrow().get(&self.key).cloned()
    }
}

pub(super) fn illegal_state(at: u32, reason: String) -> ScriptError {
    ScriptError::new(at, "illegal_state_exception", reason)
}

pub(super) fn out_of_bounds(index: i64, length: usize, at: u32) -> ScriptError {
    let reason = format!("Index {index} out of bounds for length {length}");
    ScriptError::new(at, "index_out_of_bounds_exception", reason)
}

impl WriteField {
    pub(super) fn new(root: Members, path: Arc<str>) -> WriteField {
        WriteField { root: RefCell::new(root), path: RefCell::new(path) }
    }

    /// Returns the field as a script holds it.
    pub(super) fn shared(self) -> Value {
        Value::Object(Rc::new(self))
    }

    pub(super) fn path(&self) -> Arc<str> {
        self.path.borrow().clone()
    }

    /// Finds where the path ends. Each part of it is a key; from the first part on that is no map, the rest
    /// is one key.
    fn place(&self) -> Option<Place> {
        let path = self.path();
        let (mut members, mut rest) = (self.root.borrow().clone(), &*path);
        while let Some((part, after)) = rest.split_once('.') {
            let below = match members.borrow().get_text(part) {
                Some(Value::Map(below)) => Some(below.clone()),
                _ => None,
            };
            match below {
                Some(below) => (members, rest) = (below, after),
                None => {
                    let is_key = members.borrow().get_text(rest).is_some();
                    return is_key.then(|| Place { members, key: Value::str(rest) });
                }
            }
        }
        Some(Place { members, key: Value::str(rest) })
    }

    /// Finds where the path ends, and makes the maps on its way.
    fn place_made(&self, machine: &mut impl Machine, at: u32) -> Outcome<Place> {
        if let Some(place) = self.place() {
            return Ok(place);
        }
        let path = self.path();
        let mut members = self.root.borrow().clone();
        let whole = path.trim_end_matches('.');
        let (before, last) = match whole.rsplit_once('.') {
            Some((before, last)) => (Some(before), last),
            None => (None, whole),
        };
        for (number, part) in before.into_iter().flat_map(|before| before.split('.')).enumerate() {
            let found = members.borrow().get_text(part).cloned();
            members = match found {
                Some(Value::Map(below)) => below,
                None => {
                    let below = new_map(machine, at)?;
                    change(machine, &members, (Value::str(part), Value::Map(below.clone())), at)?;
                    below
                }
                Some(other) => {
                    let (value, class) = (other.text(), other.class());
                    let reason = format!("Segment [{number}:'{part}'] has value [{value}] of type [{class}]");
                    return Err(ScriptError::argument(at, reason));
                }
            };
        }
        Ok(Place { members, key: Value::str(last) })
    }

    /// Returns the value at the path; `None` if there is none.
    pub(super) fn value(&self) -> Option<Value> {
        self.place().and_then(|place| place.value())
    }

    fn size(&self) -> usize {
        match self.value() {
            None => 0,
            Some(Value::List(items)) => items.borrow().len(),
            Some(_) => 1,
        }
    }

    /// Returns the items of the list at the path, or the one value there.
    pub(super) fn values(&self, machine: &mut impl Machine, at: u32) -> Outcome<Vec<Value>> {
        match self.value() {
            None => Ok(Vec::new()),
            Some(list @ Value::List(_)) => machine.items(&list, at),
            Some(other) => Ok(vec![other]),
        }
    }

    fn value_at(&self, index: i64, at: u32) -> Outcome<Option<Value>> {
        match self.value() {
            Some(Value::List(items)) => {
                let items = items.borrow();
                match usize::try_from(index) {
                    Ok(index) => Ok(items.get(index).cloned()),
                    Err(_) => Err(out_of_bounds(index, items.len(), at)),
                }
            }
            Some(other) if index == 0 => Ok(Some(other)),
            _ => Ok(None),
        }
    }

    pub(super) fn set(&self, machine: &mut impl Machine, value: Value, at: u32) -> Outcome<()> {
        if nested_document::is_one(&value) {
            let reason = format!("cannot set NestedDocument [{}] as path [{}]", value.text(), self.path());
            return Err(ScriptError::argument(at, reason));
        }
        let place = self.place_made(machine, at)?;
        change(machine, &place.members, (place.key, value), at)
    }

    fn remove(&self, machine: &mut impl Machine, at: u32) -> Outcome<()> {
        let Some(place) = self.place() else { return Ok(()) };
        machine.check_frozen(&Value::Map(place.members.clone()), at)?;
        remove(&place.members, &place.key);
        Ok(())
    }

    /// Removes a map that is this value, or an item of the list at the path.
    pub(super) fn remove_map(&self, machine: &mut impl Machine, map: &Members, at: u32) -> Outcome<()> {
        let is_it = |value: &Value| matches!(value, Value::Map(own) if Rc::ptr_eq(own, map));
        match self.value() {
            Some(list @ Value::List(_)) => {
                machine.check_frozen(&list, at)?;
                let Value::List(items) = &list else { return Ok(()) };
                let found = items.borrow().iter().position(is_it);
                if let Some(found) = found {
                    items.borrow_mut().remove(found);
                }
                Ok(())
            }
            Some(value) if is_it(&value) => self.remove(machine, at),
            _ => Ok(()),
        }
    }

    /// Returns the maps at the path as a list, which replaces a single map; `None` if there is no value.
    pub(super) fn documents(&self, machine: &mut impl Machine, at: u32) -> Outcome<Option<Value>> {
        match self.value() {
            None => Ok(None),
            Some(list @ Value::List(_)) => Ok(Some(list)),
            Some(map @ Value::Map(_)) => {
                let list = new_list(machine, vec![map], at)?;
                self.set(machine, list.clone(), at)?;
                Ok(Some(list))
            }
            Some(other) => Err(self.unexpected(&other, ", expected Map or List of Map", at)),
        }
    }

    fn unexpected(&self, value: &Value, wanted: &str, at: u32) -> ScriptError {
        let (text, class, path) = (value.text(), value.class(), self.path());
        illegal_state(at, format!("Unexpected value [{text}] of type [{class}] at path [{path}]{wanted}"))
    }
}

/// Makes a map that will be put into the document.
pub(super) fn new_map(machine: &mut impl Machine, at: u32) -> Outcome<Members> {
    machine.grow(CONTAINER_BYTES, at)?;
    let map = MapValue::new(MapOrder::Hashed).shared();
    machine.note_made(&Value::Map(map.clone()));
    Ok(map)
}

/// Makes a list that will be put into the document.
pub(super) fn new_list(machine: &mut impl Machine, items: Vec<Value>, at: u32) -> Outcome<Value> {
    machine.grow(CONTAINER_BYTES + ITEM_BYTES * items.len(), at)?;
    items.iter().try_for_each(|item| machine.check_kept(item, at))?;
    let list = Value::List(Rc::new(RefCell::new(items)));
    machine.note_made(&list);
    Ok(list)
}

/// Puts a member into a map of the document.
fn change(machine: &mut impl Machine, members: &Members, entry: (Value, Value), at: u32) -> Outcome<()> {
    machine.check_frozen(&Value::Map(members.clone()), at)?;
    put_entry(machine, members, entry, at).map(drop)
}

/// Returns what a script iterates over, if the value is a field.
pub(crate) fn field_items(machine: &mut impl Machine, value: &Value, at: u32) -> Option<Outcome<Vec<Value>>> {
    value.object::<WriteField>().map(|field| field.values(machine, at))
}

/// Calls a method of a field; `None` if the target is none, or if there is no such method.
pub(super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let Some(field) = target.object::<WriteField>() else { return Ok(None) };
    Ok(Some(match (name, arguments) {
        ("getName", []) => Value::Str(field.path()),
        ("exists", []) => Value::Bool(field.value().is_some()),
        ("isEmpty", []) => Value::Bool(field.size() == 0),
        ("size", []) => Value::Int(field.size() as i32),
        ("iterator", []) => match field.value() {
            Some(list @ Value::List(_)) => list_iterator(&list, machine.items(&list, at)?, at)?,
            value => iterator(value.into_iter().collect(), at)?,
        },
        ("get", [default]) => field.value().unwrap_or_else(|| default.clone()),
        ("get", [index, default]) => field.value_at(index.i64(), at)?.unwrap_or_else(|| default.clone()),
        ("hasValue", [lambda]) => {
            for value in field.values(machine, at)? {
                if passes(machine, lambda, &value, at)? {
                    return Ok(Some(Value::Bool(true)));
                }
            }
            Value::Bool(false)
        }
        ("docs", []) => nested_document::all(machine, target, field, at)?,
        ("doc", []) => nested_document::appended(machine, target, field, at)?,
        ("doc", [index]) => nested_document::at_index(machine, target, field, index.i64(), at)?,
        ("remove", []) => {
            field.remove(machine, at)?;
            Value::Null
        }
        _ => match changed(machine, field, name, arguments, at)? {
            true => target.clone(),
            false => return Ok(None),
        },
    }))
}

/// Calls a method that changes the values of a field, and returns the field; `false` if there is no such
/// method.
fn changed(
    machine: &mut impl Machine,
    field: &WriteField,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<bool> {
    match (name, arguments) {
        ("set", [value]) => field.set(machine, value.clone(), at)?,
        ("append", [value]) => append(machine, field, value, at)?,
        ("move" | "overwrite", [to]) => moved(machine, field, to, name, at)?,
        ("transform", [lambda]) => transform(machine, field, lambda, at)?,
        ("deduplicate", []) => deduplicate(machine, field, at)?,
        ("removeValuesIf", [lambda]) => {
            let mut kept = Vec::new();
            for value in field.values(machine, at)? {
                if !passes(machine, lambda, &value, at)? {
                    kept.push(value);
                }
            }
            keep(machine, field, kept, at)?;
        }
        ("removeValue", [index]) => {
            let mut kept = field.values(machine, at)?;
            let length = kept.len();
            match usize::try_from(index.i64()) {
                Ok(index) if index < length => drop(kept.remove(index)),
                Err(_) if matches!(field.value(), Some(Value::List(_))) => {
                    return Err(out_of_bounds(index.i64(), length, at));
                }
                _ => {}
            }
            keep(machine, field, kept, at)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Replaces the items of the list at the path; without a list, a value that is not kept is removed.
fn keep(machine: &mut impl Machine, field: &WriteField, kept: Vec<Value>, at: u32) -> Outcome<()> {
    match field.value() {
        Some(list @ Value::List(_)) => replace_items(machine, &list, kept, at),
        Some(_) if kept.is_empty() => field.remove(machine, at),
        _ => Ok(()),
    }
}

fn replace_items(machine: &mut impl Machine, list: &Value, replaced: Vec<Value>, at: u32) -> Outcome<()> {
    machine.check_frozen(list, at)?;
    if let Value::List(items) = list {
        *items.borrow_mut() = replaced;
    }
    Ok(())
}

fn append(machine: &mut impl Machine, field: &WriteField, value: &Value, at: u32) -> Outcome<()> {
    if nested_document::is_one(value) {
        let reason = format!("cannot append NestedDocument [{}] to path [{}]", value.text(), field.path());
        return Err(ScriptError::argument(at, reason));
    }
    let items = match field.value() {
        Some(list @ Value::List(_)) => {
            admit(machine, value, at)?;
            machine.check_frozen(&list, at)?;
            if let Value::List(items) = &list {
                items.borrow_mut().push(value.clone());
            }
            return Ok(());
        }
        None | Some(Value::Null) => vec![value.clone()],
        Some(other) => vec![other, value.clone()],
    };
    let list = new_list(machine, items, at)?;
    field.set(machine, list, at)
}

/// Moves the value to another path; a field without a value empties that path.
fn moved(machine: &mut impl Machine, field: &WriteField, to: &Value, name: &str, at: u32) -> Outcome<()> {
    let (root, path) = match (to, to.object::<WriteField>()) {
        (Value::Str(path), _) => (field.root.borrow().clone(), path.clone()),
        (_, Some(other)) => (other.root.borrow().clone(), other.path()),
        _ => {
            let (text, class) = (to.text(), to.class());
            let wanted = format!("must be String or WriteField, not [{class}]");
            return Err(ScriptError::argument(at, format!("Cannot call {name} with [{text}], {wanted}")));
        }
    };
    if name == "move" && WriteField::new(root.clone(), path.clone()).size() > 0 {
        return Err(ScriptError::argument(at, format!("Cannot move to non-empty destination [{path}]")));
    }
    let value = field.value();
    field.remove(machine, at)?;
    *field.root.borrow_mut() = root;
    *field.path.borrow_mut() = path;
    match value {
        Some(value) => field.set(machine, value, at),
        None => field.remove(machine, at),
    }
}

fn transform(machine: &mut impl Machine, field: &WriteField, lambda: &Value, at: u32) -> Outcome<()> {
    let Some(before) = field.value() else { return Ok(()) };
    let mut replaced = Vec::new();
    for value in field.values(machine, at)? {
        let value = machine.lambda(lambda, &[value], at)?;
        machine.check_kept(&value, at)?;
        replaced.push(value);
    }
    match (before, replaced.pop()) {
        (list @ Value::List(_), last) => {
            replaced.extend(last);
            replace_items(machine, &list, replaced, at)
        }
        (_, Some(value)) => field.set(machine, value, at),
        (_, None) => Ok(()),
    }
}

/// Removes values that occur before. The others get the order of Java's `HashSet`.
fn deduplicate(machine: &mut impl Machine, field: &WriteField, at: u32) -> Outcome<()> {
    let Some(list @ Value::List(_)) = field.value() else { return Ok(()) };
    let set = MapValue::new(MapOrder::Hashed).shared();
    for item in machine.items(&list, at)? {
        put_new(machine, &set, (item, Value::Null), at)?;
    }
    let kept = set.borrow().walk().into_iter().map(|(item, _)| item).collect();
    replace_items(machine, &list, kept, at)
}

impl JavaObject for WriteField {
    fn class(&self) -> &'static str {
        "org.elasticsearch.script.field.WriteField"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<WriteField>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, _: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn steps(&self) -> usize {
        self.path.borrow().len() / 8 + 1
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
