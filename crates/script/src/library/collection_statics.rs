//! Static methods of `Collections`, `Arrays`, `Objects` and of streams.
//!
//! Source: Painless' allow list of `java.util` and `java.util.stream`.

use super::collectors::{collector, is_collector};
use super::comparators;
use super::java::iterator;
use super::machine::Machine;
use super::methods::call_method;
use super::order::{extreme, ordered, sort_values};
use super::processors;
use super::store::{ITEM_BYTES, admit, position, put_new, same};
use crate::error::{Outcome, ScriptError};
use crate::types::Type;
use crate::values::{MapOrder, MapValue, Value};

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
        ("Collections", "copy" | "shuffle", 2)
        | ("Collections", "shuffle" | "enumeration", 1)
        | ("Collections", "emptyIterator" | "emptyEnumeration", 0) => Type::Def,
        ("Arrays", "equals" | "deepEquals", 2) | ("Objects", "deepEquals", 2) => Type::Bool,
        ("Arrays", "toString" | "deepToString", 1) | ("Objects", "toString", 2) => Type::Str,
        ("Collections", "max" | "min", 2)
        | ("Stream" | "IntStream" | "LongStream" | "DoubleStream", "concat", 2)
        | (
            "Collections",
            "emptyNavigableMap" | "emptySortedMap" | "emptyNavigableSet" | "emptySortedSet",
            0,
        )
        | ("Collections", "unmodifiableNavigableMap" | "unmodifiableNavigableSet" | "list", 1) => Type::Def,
        ("Collectors", name, count) if is_collector(name, count) => Type::Def,
        (class, name, count) if comparators::returns(class, name, count).is_some() => Type::Def,
        (class, name, count) if processors::returns(class, name, count).is_some() => {
            processors::returns(class, name, count)?
        }
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
    if let Some(order) = comparators::call(class, name, arguments) {
        return Ok(Some(order));
    }
    if let Some(made) = processors::call(machine, class, name, arguments, at)? {
        return Ok(Some(made));
    }
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
        "Collectors" if is_collector(name, arguments.len()) => Ok(Some(collector(name, arguments))),
        _ => Ok(None),
    }
}

/// Calls a method of `Collections` that changes a list; `None` if there is no such method.
fn changed(machine: &mut impl Machine, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let [target @ Value::List(list), rest @ ..] = arguments else { return Ok(None) };
    if !matches!(name, "addAll" | "copy" | "fill" | "replaceAll" | "rotate" | "shuffle" | "sort" | "swap") {
        return Ok(None);
    }
    machine.check_frozen(target, at)?;
    let mut items = list.borrow().clone();
    let returned = match (name, rest) {
        ("copy" | "shuffle", [] | [_]) => {
            replace(machine, &mut items, name, rest.first(), at)?;
            Value::Null
        }
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

/// Puts the items of another list, or its own in a random order, into a list.
fn replace(
    machine: &mut impl Machine,
    items: &mut [Value],
    name: &str,
    argument: Option<&Value>,
    at: u32,
) -> Outcome<()> {
    if name == "shuffle" {
        for place in (1..items.len()).rev() {
            items.swap(place, random_below(machine, argument, place + 1, at)?);
        }
        return Ok(());
    }
    let from = machine.items(argument.unwrap_or(&Value::Null), at)?;
    if from.len() > items.len() {
        return Err(ScriptError::new(at, "index_out_of_bounds_exception", "Source does not fit in dest"));
    }
    for (place, item) in items.iter_mut().zip(from) {
        machine.check_kept(&item, at)?;
        *place = item;
    }
    Ok(())
}

/// Returns a random number below a bound, from a `Random` of the script if it has one.
fn random_below(machine: &mut impl Machine, random: Option<&Value>, bound: usize, at: u32) -> Outcome<usize> {
    machine.spend(1, at)?;
    match random {
        None => Ok((machine.outside().random_bits() % bound as u64) as usize),
        Some(random) => {
            let number = call_method(machine, random, "nextInt", vec![Value::Int(bound as i32)], at)?;
            Ok(usize::try_from(number.i64()).unwrap_or(0).min(bound - 1))
        }
    }
}

fn of_collections(
    machine: &mut impl Machine,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("max" | "min", [collection, order]) => {
            let items = machine.items(collection, at)?;
            let found = extreme(machine, items, Some(order), name == "max", at)?;
            found.ok_or_else(|| ScriptError::new(at, "no_such_element_exception", ""))?
        }
        ("emptyNavigableMap" | "emptySortedMap", []) => Value::Map(MapValue::new(MapOrder::Sorted).shared()),
        ("emptyNavigableSet" | "emptySortedSet", []) => Value::Set(MapValue::new(MapOrder::Sorted).shared()),
        ("unmodifiableNavigableMap" | "unmodifiableNavigableSet", [collection]) => collection.clone(),
        ("list", [collection]) => Value::list(machine.items(collection, at)?),
        ("emptyIterator" | "emptyEnumeration", []) => iterator(Vec::new(), at)?,
        ("enumeration", [collection]) => iterator(machine.items(collection, at)?, at)?,
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
    items.iter().fold(1i32, |hash, item| hash.wrapping_mul(31).wrapping_add(item.hash_code()))
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
        ("hashCode", [value]) => Value::Int(value.hash_code()),
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
        ("concat", [first, second]) => {
            let mut items = machine.items(first, at)?;
            items.extend(machine.items(second, at)?);
            Value::list(items)
        }
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
