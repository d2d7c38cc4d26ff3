//! Methods of `TreeMap` and `TreeSet`.
//!
//! Source: Painless' allow list of `java.util`.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{Outcome, ScriptError};
use crate::values::{MapOrder, MapValue, Value, remove};

/// Calls a method of `TreeMap` or `TreeSet`; `None` if the map is not sorted, or if there is no such method.
pub(super) fn sorted_method(
    map: &Rc<RefCell<MapValue>>,
    is_set: bool,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    if map.borrow().order != MapOrder::Sorted {
        return Ok(None);
    }
    let entries = map.borrow().entries().to_vec();
    let shown = |entry: Option<(Value, Value)>, as_key: bool| match (entry, as_key) {
        (None, _) => Value::Null,
        (Some((key, _)), true) => key,
        (Some(entry), false) => super::collections::entry(entry),
    };
    let as_key = is_set || name.ends_with("Key");
    let short = name.trim_end_matches("Key").trim_end_matches("Entry");
    Ok(Some(match (short, arguments) {
        ("first" | "last", []) => {
            let found = if short == "first" { entries.first() } else { entries.last() };
            match found {
                None if as_key => return Err(ScriptError::new(at, "no_such_element_exception", "")),
                found => shown(found.cloned(), as_key),
            }
        }
        ("pollFirst" | "pollLast", []) => {
            let found = if short == "pollFirst" { entries.first() } else { entries.last() };
            if let Some((key, _)) = found {
                remove(map, key);
            }
            shown(found.cloned(), as_key)
        }
        ("floor" | "lower" | "ceiling" | "higher", [wanted]) => {
            let order = |entry: &&(Value, Value)| {
                entry.0.compare(wanted).map_err(|failure| crate::error::failed(failure, at))
            };
            let mut found = None;
            for entry in &entries {
                let order = order(&entry)?;
                let fits = match short {
                    "floor" => order.is_le(),
                    "lower" => order.is_lt(),
                    "ceiling" => order.is_ge(),
                    _ => order.is_gt(),
                };
                if fits {
                    found = Some(entry.clone());
                    if matches!(short, "ceiling" | "higher") {
                        break;
                    }
                }
            }
            shown(found, as_key)
        }
        ("headMap" | "headSet" | "tailMap" | "tailSet" | "subMap" | "subSet", bounds) => {
            match part_of(entries, short, bounds, at)? {
                None => return Ok(None),
                Some(part) => wrapped(MapValue::of(part, MapOrder::Sorted), is_set),
            }
        }
        ("descendingMap" | "descendingSet" | "descendingKeySet", []) => {
            let reversed = MapValue::of(entries.into_iter().rev().collect(), MapOrder::Inserted);
            wrapped(reversed, short != "descendingMap")
        }
        _ => return Ok(None),
    }))
}

fn wrapped(map: MapValue, is_set: bool) -> Value {
    if is_set { Value::Set(map.shared()) } else { Value::Map(map.shared()) }
}

/// Returns the entries between bounds: by default the lower one belongs to them and the upper one does not.
fn part_of(
    entries: Vec<(Value, Value)>,
    name: &str,
    bounds: &[Value],
    at: u32,
) -> Outcome<Option<Vec<(Value, Value)>>> {
    let is_true = |value: &Value| matches!(value, Value::Bool(true));
    let (lower, upper) = match (&name[..4], bounds) {
        ("head", [to]) => (None, Some((to, false))),
        ("head", [to, inclusive]) => (None, Some((to, is_true(inclusive)))),
        ("tail", [from]) => (Some((from, true)), None),
        ("tail", [from, inclusive]) => (Some((from, is_true(inclusive))), None),
        (_, [from, to]) if name.starts_with("sub") => (Some((from, true)), Some((to, false))),
        (_, [from, with_from, to, with_to]) if name.starts_with("sub") => {
            (Some((from, is_true(with_from))), Some((to, is_true(with_to))))
        }
        _ => return Ok(None),
    };
    let mut kept = Vec::new();
    for (key, value) in entries {
        let order = |bound: &Value| key.compare(bound).map_err(|failure| crate::error::failed(failure, at));
        let above = match lower {
            None => true,
            Some((bound, inclusive)) => {
                let order = order(bound)?;
                order.is_gt() || (inclusive && order.is_eq())
            }
        };
        let below = match upper {
            None => true,
            Some((bound, inclusive)) => {
                let order = order(bound)?;
                order.is_lt() || (inclusive && order.is_eq())
            }
        };
        if above && below {
            kept.push((key, value));
        }
    }
    Ok(Some(kept))
}
