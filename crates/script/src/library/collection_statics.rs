//! Static methods of `Collections`, `Arrays`, `Objects` and of streams, and the results of `Collectors`.
//!
//! Source: Painless' allow list of `java.util` and `java.util.stream`.

use std::cell::RefCell;
use std::rc::Rc;

use super::machine::Machine;
use super::order::{ordered, sort_values};
use super::store::{ITEM_BYTES, admit, position, put_new, same};
use super::streams::passes;
use super::texts::join_texts;
use crate::error::{Outcome, ScriptError};
use crate::types::{Binary, Type};
use crate::values::{MapOrder, MapValue, Value};

/// The first item of the list that stands for a collector; its name and its arguments follow.
const COLLECTOR: &str = "java.util.stream.Collector";

/// Collectors with the least and the greatest number of their arguments.
const COLLECTORS: &[(&str, usize, usize)] = &[
    ("averagingDouble", 1, 1),
    ("averagingInt", 1, 1),
    ("averagingLong", 1, 1),
    ("counting", 0, 0),
    ("groupingBy", 1, 2),
    ("joining", 3, 3),
    ("mapping", 2, 2),
    ("maxBy", 1, 1),
    ("minBy", 1, 1),
    ("partitioningBy", 1, 2),
    ("reducing", 2, 2),
    ("summingDouble", 1, 1),
    ("summingInt", 1, 1),
    ("summingLong", 1, 1),
    ("toMap", 2, 3),
];

fn is_collector(name: &str, count: usize) -> bool {
    COLLECTORS.iter().any(|(known, least, most)| *known == name && (*least..=*most).contains(&count))
}

/// Returns the type of a static method's result; `None` if there is no such method here.
pub(super) fn returns(class: &str, name: &str, count: usize) -> Option<Type> {
    Some(match (class, name, count) {
        ("Collections", "disjoint", 2) | ("Collections", "replaceAll", 3) => Type::Bool,
        ("Collections", "binarySearch" | "indexOfSubList" | "lastIndexOfSubList", 2)
        | ("Collections", "binarySearch", 3)
        | ("Arrays", "binarySearch", 2)
        | ("Arrays" | "Objects", "hashCode", 1)
        | ("Objects", "hash", 1)
        | ("Objects", "compare", 3) => Type::Int,
        ("Collections", "emptySet", 0)
        | (
            "Collections",
            "singleton" | "unmodifiableCollection" | "unmodifiableMap" | "unmodifiableSet",
            1,
        )
        | ("Collections", "unmodifiableSortedMap" | "unmodifiableSortedSet", 1)
        | ("Collections", "singletonMap" | "nCopies" | "addAll" | "fill" | "rotate" | "sort", 2)
        | ("Collections", "swap", 3)
        | ("Arrays", "sort" | "stream" | "asList", 1)
        | ("Arrays", "copyOf" | "fill", 2)
        | ("Arrays", "copyOfRange", 3)
        | ("Objects", "requireNonNull", 2)
        | ("Stream" | "IntStream" | "LongStream" | "DoubleStream", "empty", 0)
        | ("Stream" | "IntStream" | "LongStream" | "DoubleStream", "of", _)
        | ("IntStream" | "LongStream", "range" | "rangeClosed", 2) => Type::Def,
        ("Arrays", "equals" | "deepEquals", 2) | ("Objects", "deepEquals", 2) => Type::Bool,
        ("Arrays", "toString" | "deepToString", 1) | ("Objects", "toString", 2) => Type::Str,
        ("Collectors", name, count) if is_collector(name, count) => Type::Def,
        _ => return None,
    })
}

/// Calls a static method; `None` if there is no such method here.
pub(super) fn call(
    machine: &mut impl Machine,
    class: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    match class {
        "Collections" => match changed(machine, name, arguments, at)? {
            None => of_collections(machine, name, arguments, at),
            found => Ok(found),
        },
        "Arrays" => of_arrays(machine, name, arguments, at),
        "Objects" => of_objects(machine, name, arguments, at),
        "Stream" | "IntStream" | "LongStream" | "DoubleStream" => {
            of_streams(machine, class, name, arguments, at)
        }
        "Collectors" if is_collector(name, arguments.len()) => {
            let mut parts = vec![Value::str(COLLECTOR), Value::str(name)];
            parts.extend(arguments.iter().cloned());
            Ok(Some(Value::list(parts)))
        }
        _ => Ok(None),
    }
}

/// Calls a method of `Collections` that changes a list; `None` if there is no such method.
fn changed(machine: &mut impl Machine, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let [target @ Value::List(list), rest @ ..] = arguments else { return Ok(None) };
    if !matches!(name, "addAll" | "fill" | "replaceAll" | "rotate" | "sort" | "swap") {
        return Ok(None);
    }
    machine.check_frozen(target, at)?;
    let mut items = list.borrow().clone();
    let returned = match (name, rest) {
        ("addAll", [more]) => {
            let more = machine.items(more, at)?;
            more.iter().try_for_each(|item| admit(machine, item, at))?;
            let is_changed = !more.is_empty();
            items.extend(more);
            Value::Bool(is_changed)
        }
        ("fill", [item]) => {
            machine.check_kept(item, at)?;
            items.iter_mut().for_each(|place| *place = item.clone());
            Value::Null
        }
        ("replaceAll", [before, after]) => {
            machine.check_kept(after, at)?;
            let mut is_changed = false;
            for item in &mut items {
                if same(machine, item, before, at)? {
                    *item = after.clone();
                    is_changed = true;
                }
            }
            Value::Bool(is_changed)
        }
        ("rotate", [distance]) if !items.is_empty() => {
            let distance = distance.i64().rem_euclid(items.len() as i64) as usize;
            items.rotate_right(distance);
            Value::Null
        }
        ("rotate", [_]) => Value::Null,
        ("sort", [order]) => {
            sort_values(machine, &mut items, Some(order), at)?;
            Value::Null
        }
        ("swap", [left, right]) => {
            let place = |index: &Value| {
                usize::try_from(index.i64()).ok().filter(|index| *index < items.len()).ok_or_else(|| {
                    let reason = format!("Index {} out of bounds for length {}", index.i64(), items.len());
                    ScriptError::new(at, "index_out_of_bounds_exception", reason)
                })
            };
            let (left, right) = (place(left)?, place(right)?);
            items.swap(left, right);
            Value::Null
        }
        _ => return Ok(None),
    };
    *list.borrow_mut() = items;
    Ok(Some(returned))
}

fn of_collections(
    machine: &mut impl Machine,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("emptySet", []) => Value::Set(MapValue::new(MapOrder::Hashed).shared()),
        ("singleton", [item]) => set_of(machine, vec![item.clone()], at)?,
        ("singletonMap", [key, value]) => Value::map(vec![(key.clone(), value.clone())], true),
        (
            "unmodifiableCollection"
            | "unmodifiableMap"
            | "unmodifiableSet"
            | "unmodifiableSortedMap"
            | "unmodifiableSortedSet",
            [collection],
        ) => collection.clone(),
        ("nCopies", [count, item]) => {
            let count = usize::try_from(count.i64())
                .map_err(|_| ScriptError::argument(at, format!("List length = {}", count.i64())))?;
            machine.check_room(count.saturating_mul(ITEM_BYTES), at)?;
            Value::list(vec![item.clone(); count])
        }
        ("disjoint", [left, right]) => {
            let (left, right) = (machine.items(left, at)?, machine.items(right, at)?);
            for item in &left {
                if position(machine, right.iter(), item, at)?.is_some() {
                    return Ok(Some(Value::Bool(false)));
                }
            }
            Value::Bool(true)
        }
        ("binarySearch", [list, wanted, order @ ..]) if order.len() <= 1 => {
            let items = machine.items(list, at)?;
            binary_search(machine, &items, wanted, order.first(), at)?
        }
        ("indexOfSubList" | "lastIndexOfSubList", [list, part]) => {
            let (items, part) = (machine.items(list, at)?, machine.items(part, at)?);
            sub_list(machine, &items, &part, name == "lastIndexOfSubList", at)?
        }
        _ => return Ok(None),
    }))
}

fn set_of(machine: &mut impl Machine, items: Vec<Value>, at: u32) -> Outcome<Value> {
    let set = MapValue::new(MapOrder::Hashed).shared();
    for item in items {
        put_new(machine, &set, (item, Value::Null), at)?;
    }
    Ok(Value::Set(set))
}

/// Returns where a sorted list has a value; if it has none, what Java returns: `-(place) - 1`.
fn binary_search(
    machine: &mut impl Machine,
    items: &[Value],
    wanted: &Value,
    order: Option<&Value>,
    at: u32,
) -> Outcome<Value> {
    let (mut low, mut high) = (0, items.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match ordered(machine, &items[middle], wanted, order, at)? {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return Ok(Value::Int(middle as i32)),
        }
    }
    Ok(Value::Int(-(low as i32) - 1))
}

fn sub_list(
    machine: &mut impl Machine,
    items: &[Value],
    part: &[Value],
    is_last: bool,
    at: u32,
) -> Outcome<Value> {
    let Some(last_start) = items.len().checked_sub(part.len()) else { return Ok(Value::Int(-1)) };
    let starts: Box<dyn Iterator<Item = usize>> =
        if is_last { Box::new((0..=last_start).rev()) } else { Box::new(0..=last_start) };
    for start in starts {
        machine.spend(1, at)?;
        let mut is_there = true;
        for (own, wanted) in items[start..].iter().zip(part) {
            if !same(machine, own, wanted, at)? {
                is_there = false;
                break;
            }
        }
        if is_there {
            return Ok(Value::Int(start as i32));
        }
    }
    Ok(Value::Int(-1))
}

fn of_arrays(machine: &mut impl Machine, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let [array @ Value::List(list), rest @ ..] = arguments else { return Ok(None) };
    let items = list.borrow().clone();
    Ok(Some(match (name, rest) {
        ("toString" | "deepToString", []) => Value::str(array.text()),
        ("hashCode", []) => Value::Int(hash_of(&items)),
        ("stream", []) => Value::list(items),
        ("equals" | "deepEquals", [other]) => Value::Bool(same(machine, array, other, at)?),
        ("sort", []) => {
            machine.check_frozen(array, at)?;
            let mut items = items;
            sort_values(machine, &mut items, None, at)?;
            *list.borrow_mut() = items;
            Value::Null
        }
        ("fill", [item]) => {
            machine.check_frozen(array, at)?;
            machine.check_kept(item, at)?;
            list.borrow_mut().iter_mut().for_each(|place| *place = item.clone());
            Value::Null
        }
        ("binarySearch", [wanted]) => binary_search(machine, &items, wanted, None, at)?,
        ("copyOf", [length]) => copied(machine, &items, 0, length.i64(), at)?,
        ("copyOfRange", [from, to]) => copied(machine, &items, from.i64(), to.i64(), at)?,
        _ => return Ok(None),
    }))
}

/// `Arrays#hashCode`.
fn hash_of(items: &[Value]) -> i32 {
    items.iter().fold(1i32, |hash, item| hash.wrapping_mul(31).wrapping_add(item.hash()))
}

/// Copies a range of an array, which may end after the array: the places there have the default of its items.
fn copied(machine: &mut impl Machine, items: &[Value], from: i64, to: i64, at: u32) -> Outcome<Value> {
    let start = usize::try_from(from).ok().filter(|start| *start <= items.len());
    let (Some(start), Ok(length)) = (start, usize::try_from(to.saturating_sub(from))) else {
        return Err(ScriptError::new(at, "array_index_out_of_bounds_exception", format!("{from} > {to}")));
    };
    machine.check_room(length.saturating_mul(ITEM_BYTES), at)?;
    let default = match items.first() {
        Some(Value::Int(_)) => Value::Int(0),
        Some(Value::Long(_)) => Value::Long(0),
        Some(Value::Float(_)) => Value::Float(0.0),
        Some(Value::Double(_)) => Value::Double(0.0),
        Some(Value::Bool(_)) => Value::Bool(false),
        _ => Value::Null,
    };
    let mut copy: Vec<Value> = items[start..].iter().take(length).cloned().collect();
    copy.resize(length, default);
    Ok(Value::list(copy))
}

fn of_objects(
    machine: &mut impl Machine,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("hashCode", [value]) => Value::Int(value.hash()),
        ("hash", [Value::List(values)]) => Value::Int(hash_of(&values.borrow())),
        ("toString", [Value::Null, default]) => default.clone(),
        ("toString", [value, _]) => Value::str(value.text()),
        ("requireNonNull", [Value::Null, message]) => {
            return Err(ScriptError::new(at, "null_pointer_exception", message.text()));
        }
        ("requireNonNull", [value, _]) => value.clone(),
        ("deepEquals", [left, right]) => Value::Bool(same(machine, left, right, at)?),
        ("compare", [left, right, order]) => {
            Value::Int(ordered(machine, left, right, Some(order), at)? as i32)
        }
        _ => return Ok(None),
    }))
}

fn of_streams(
    machine: &mut impl Machine,
    class: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let is_int = class == "IntStream";
    Ok(Some(match (name, arguments) {
        ("empty", []) => Value::list(Vec::new()),
        ("of", [Value::List(items)]) => Value::list(items.borrow().clone()),
        ("of", items) => Value::list(items.to_vec()),
        ("range" | "rangeClosed", [from, to]) => {
            let (from, to) = (from.i64(), to.i64());
            let end = if name == "range" { to } else { to.saturating_add(1) };
            let count = usize::try_from(end.saturating_sub(from)).unwrap_or(0);
            machine.check_room(count.saturating_mul(ITEM_BYTES), at)?;
            let number = |number: i64| if is_int { Value::Int(number as i32) } else { Value::Long(number) };
            Value::list((from..end).map(number).collect())
        }
        _ => return Ok(None),
    }))
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
        ("reducing", [first, lambda]) => {
            let mut folded = first.clone();
            for item in items {
                folded = machine.lambda(lambda, &[folded, item], at)?;
            }
            folded
        }
        ("toMap", [key, value, merge @ ..]) => to_map(machine, items, (key, value), merge.first(), at)?,
        ("groupingBy", [key, below @ ..]) => {
            let keys = mapped(machine, items.clone(), key, at)?;
            grouped(machine, keys.into_iter().zip(items), MapOrder::Hashed, below.first(), at)?
        }
        ("partitioningBy", [lambda, below @ ..]) => partitioned(machine, items, lambda, below.first(), at)?,
        (name, [lambda]) => {
            let numbers = mapped(machine, items, lambda, at)?;
            return Ok(summed(machine, name, &numbers, at)?);
        }
        _ => return Ok(None),
    }))
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
