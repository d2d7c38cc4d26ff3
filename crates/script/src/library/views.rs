//! Changes of a map through `keySet()`, `values()` and `entrySet()`: `ctx.values().removeIf(v -> v == null)`.

use std::cell::RefCell;
use std::rc::Rc;

use super::collections::entry_of;
use super::java::key_iterator;
use super::machine::Machine;
use super::store::{position, same};
use super::streams::passes;
use crate::error::Outcome;
use crate::values::{MapValue, Value, remove};

/// Views of a map, and the methods that change the map through them.
const VIEWS: [&str; 3] = ["keySet", "values", "entrySet"];
const CHANGES: [&str; 5] = ["clear", "remove", "removeAll", "removeIf", "retainAll"];

/// Whether a method of a view changes its map, or returns an iterator that can. The call is then one of the
/// map, with the name `view.method`.
pub(crate) fn is_change_of_view(view: &str, method: &str) -> bool {
    VIEWS.contains(&view) && (method == "iterator" || CHANGES.contains(&method))
}

/// Calls `view.method`; `None` if this is another method.
pub(super) fn method(
    machine: &mut impl Machine,
    map: &Rc<RefCell<MapValue>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let Some((view, method)) = name.split_once('.') else { return Ok(None) };
    let entries = map.borrow().walk();
    if let ("iterator", []) = (method, arguments) {
        return iterator_of(map, view, entries, at).map(Some);
    }
    let others = match (method, arguments) {
        ("removeAll" | "retainAll", [others]) => machine.items(others, at)?,
        _ => Vec::new(),
    };
    let mut is_changed = false;
    for (key, value) in entries {
        let item = item_of(map, view, &key, &value);
        let goes = match (method, arguments) {
            ("clear", []) => true,
            ("removeIf", [lambda]) => passes(machine, lambda, &item, at)?,
            ("remove", [wanted]) => !is_changed && same(machine, &item, wanted, at)?,
            ("removeAll", [_]) => position(machine, others.iter(), &item, at)?.is_some(),
            ("retainAll", [_]) => position(machine, others.iter(), &item, at)?.is_none(),
            _ => return Ok(None),
        };
        if goes {
            remove(map, &key);
            is_changed = true;
        }
    }
    Ok(Some(if method == "clear" { Value::Null } else { Value::Bool(is_changed) }))
}

/// Returns what a view shows of an entry.
fn item_of(map: &Rc<RefCell<MapValue>>, view: &str, key: &Value, value: &Value) -> Value {
    match view {
        "keySet" => key.clone(),
        "values" => value.clone(),
        _ => entry_of(map, (key.clone(), value.clone())),
    }
}

fn iterator_of(
    map: &Rc<RefCell<MapValue>>,
    view: &str,
    entries: Vec<(Value, Value)>,
    at: u32,
) -> Outcome<Value> {
    let items = entries.iter().map(|(key, value)| item_of(map, view, key, value)).collect();
    let keys = entries.into_iter().map(|(key, _)| key).collect();
    key_iterator(&Value::Map(map.clone()), keys, items, at)
}
