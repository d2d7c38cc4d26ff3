//! Scripts that only add to the members of a state (`state.sum += doc['n'].value`), over a block of
//! documents. The values are computed for the whole block and then applied in the order of the documents.
//!
//! A script that reads a state in any other way is left to the interpreter. Until it is known that every
//! update can be applied, none is.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::Block;
use super::column::{Column, Data, Values};
use super::texts::joined_texts;
use crate::language::{Expr, Kind};
use crate::library::math2;
use crate::types::{Binary, Literal, Type};
use crate::values::{MapValue, Value};

/// The slot of the variable that has the state.
const STATE: u16 = 0;

/// From this number of values on, doubles are added in several lanes.
const LANES_FROM: usize = 512;
const LANES: usize = 8;

/// What happens to a member of a state.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// `state.x = value`
    Set,
    /// `state.x op= value`
    Operate(Binary),
    /// `state.x = Math.f(state.x, value)`
    Call(&'static str),
    /// `state.x.add(value)`
    Append,
}

/// The values with which one statement updates a member of the states.
pub(super) struct Update {
    name: Arc<str>,
    way: Way,
    rows: Vec<u32>,
    values: Column,
}

/// The state of each row of a batch.
#[derive(Debug, Clone, Copy)]
pub struct RowStates<'s> {
    /// The states by bucket. Those of the batch's buckets must exist.
    pub states: &'s [Option<Value>],
    /// The bucket of each row; `None` if all rows are in `bucket`.
    pub buckets: Option<&'s [u32]>,
    /// The bucket of all rows if `buckets` is `None`.
    pub bucket: u32,
}

/// What an update makes of a state.
enum Change {
    Put(Rc<RefCell<MapValue>>, Arc<str>, Value),
    Append(Rc<RefCell<Vec<Value>>>, Value),
}

impl Block<'_, '_> {
    /// Records what an expression does to the states. `None` if it does anything else.
    pub(super) fn update(&mut self, expr: &Expr, rows: &[u32], updates: &mut Vec<Update>) -> Option<()> {
        let (name, way, value) = match &expr.kind {
            Kind::Assign { target, op, value, .. } => {
                let name = member(target)?;
                match (op, function_of(value, name)) {
                    (Some(op), _) => (name, Way::Operate(*op), &**value),
                    (None, Some((function, value))) => (name, Way::Call(function), value),
                    (None, None) => (name, Way::Set, &**value),
                }
            }
            Kind::Call { target, name, arguments, null_safe: false } if &**name == "add" => {
                let [value] = arguments.as_slice() else { return None };
                (member(target)?, Way::Append, value)
            }
            _ => return None,
        };
        let values = self.eval(value, rows)?;
        updates.push(Update { name: name.into(), way, rows: rows.to_vec(), values });
        Some(())
    }
}

/// Whether an expression is the variable that has the state.
pub(super) fn is_state(expr: &Expr) -> bool {
    matches!(expr.kind, Kind::Local(STATE))
}

/// Returns the name of a member of the state.
fn member(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        Kind::Member { target, name, null_safe: false } if is_state(target) => Some(name),
        Kind::Index(target, index) if is_state(target) => match &index.kind {
            Kind::Literal(Literal::Str(name)) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the function of `Math` and the other argument, if an expression applies it to a member.
fn function_of<'e>(expr: &'e Expr, name: &str) -> Option<(&'static str, &'e Expr)> {
    let Kind::Static { class: "Math", name: function, arguments } = &expr.kind else { return None };
    let plain = |expr: &'e Expr| match &expr.kind {
        Kind::Cast(Type::Double | Type::Def, inner) => &**inner,
        _ => expr,
    };
    let [left, right] = arguments.as_slice() else { return None };
    // Both are symmetrical.
    let function = ["min", "max"].into_iter().find(|known| **known == **function)?;
    match (member(plain(left)), member(plain(right))) {
        (Some(own), None) if own == name => Some((function, right)),
        (None, Some(own)) if own == name => Some((function, left)),
        _ => None,
    }
}

/// Applies updates to the states; returns by how much the states have grown at most. `None` if some update
/// cannot be applied, in which case no state has changed.
pub(super) fn apply(updates: Vec<Update>, states: &RowStates<'_>) -> Option<u64> {
    let mut changes = Vec::new();
    for update in merged(updates)? {
        match update.way {
            Way::Append => append(&update, states, &mut changes)?,
            _ => fold(update, states, &mut changes)?,
        }
    }
    let mut grown = 0;
    for change in changes {
        match change {
            Change::Put(map, name, value) => {
                if map.borrow_mut().put(Value::Str(name.clone()), value).is_none() {
                    grown += (2 * size_of::<Value>() + name.len()) as u64;
                }
            }
            Change::Append(list, value) => {
                list.borrow_mut().push(value);
                grown += size_of::<Value>() as u64;
            }
        }
    }
    Some(grown)
}

/// Makes one update of several to the same member, in the order of the rows.
fn merged(updates: Vec<Update>) -> Option<Vec<Update>> {
    let mut all: Vec<Update> = Vec::new();
    for update in updates {
        let Some(known) = all.iter_mut().find(|known| known.name == update.name) else {
            all.push(update);
            continue;
        };
        if known.way != update.way || known.values.ty != update.values.ty {
            return None;
        }
        let mut order: Vec<u32> = (0..(known.rows.len() + update.rows.len()) as u32).collect();
        known.rows.extend(update.rows);
        order.sort_by_key(|at| known.rows[*at as usize]);
        known.rows = order.iter().map(|at| known.rows[*at as usize]).collect();
        let own = std::mem::replace(&mut known.values.data, Data::Flag(Values::Same(false, 0)));
        known.values.data = match (own, update.values.data) {
            (Data::Whole(first), Data::Whole(then)) => Data::Whole(first.followed_by(then).gathered(&order)),
            (Data::Real(first), Data::Real(then)) => Data::Real(first.followed_by(then).gathered(&order)),
            (Data::Flag(first), Data::Flag(then)) => Data::Flag(first.followed_by(then).gathered(&order)),
            (Data::Date(first), Data::Date(then)) => Data::Date(first.followed_by(then).gathered(&order)),
            (Data::Text(first), Data::Text(then)) => {
                let join = |first: Values<u32>, then| first.followed_by(then).gathered(&order).into_vec();
                Data::Text(joined_texts(first, then, join))
            }
            _ => return None,
        };
    }
    Some(all)
}

impl RowStates<'_> {
    fn map(&self, bucket: u32) -> Option<Rc<RefCell<MapValue>>> {
        match self.states.get(bucket as usize)? {
            Some(Value::Map(map)) => Some(map.clone()),
            _ => None,
        }
    }
}

/// The states of an update's rows.
struct Places {
    maps: Vec<Rc<RefCell<MapValue>>>,
    /// For each row, the index of its state in `maps`; empty if there is only one.
    of_rows: Vec<u32>,
}

impl Places {
    fn of(rows: &[u32], states: &RowStates<'_>) -> Option<Places> {
        let Some(buckets) = states.buckets else {
            return Some(Places { maps: vec![states.map(states.bucket)?], of_rows: Vec::new() });
        };
        let own = || rows.iter().map(|row| buckets[*row as usize]);
        let (Some(first), Some(last)) = (own().min(), own().max()) else {
            return Some(Places { maps: Vec::new(), of_rows: Vec::new() });
        };
        let mut places = vec![u32::MAX; (last - first) as usize + 1];
        let (mut maps, mut of_rows) = (Vec::new(), Vec::with_capacity(rows.len()));
        for bucket in own() {
            let place = &mut places[(bucket - first) as usize];
            if *place == u32::MAX {
                *place = maps.len() as u32;
                maps.push(states.map(bucket)?);
            }
            of_rows.push(*place);
        }
        Some(Places { maps, of_rows })
    }
}

/// Plans to append values to a list of each state.
fn append(update: &Update, states: &RowStates<'_>, changes: &mut Vec<Change>) -> Option<()> {
    let places = Places::of(&update.rows, states)?;
    let key = Value::Str(update.name.clone());
    let mut lists = Vec::with_capacity(places.maps.len());
    for map in &places.maps {
        let Some(Value::List(list)) = map.borrow().get(&key).cloned() else { return None };
        lists.push(list);
    }
    let is_known = |change: &Change| match change {
        Change::Append(known, _) => lists.iter().any(|list| Rc::ptr_eq(list, known)),
        Change::Put(..) => false,
    };
    // Two members may be the same list, whose items would then come in another order.
    if changes.iter().rev().take_while(|change| matches!(change, Change::Append(..))).any(is_known) {
        return None;
    }
    for at in 0..update.rows.len() {
        let place = places.of_rows.get(at).map_or(0, |place| *place as usize);
        changes.push(Change::Append(lists[place].clone(), update.values.value(at)?));
    }
    Some(())
}

/// Plans to replace a member of each state.
fn fold(update: Update, states: &RowStates<'_>, changes: &mut Vec<Change>) -> Option<()> {
    let Update { name, way, rows, values } = update;
    if rows.is_empty() {
        return Some(());
    }
    let places = Places::of(&rows, states)?;
    let key = Value::Str(name.clone());
    let old = |map: &Rc<RefCell<MapValue>>| map.borrow().get(&key).filter(|old| old.is_number()).cloned();
    let (mut finals, of_rows) = (Vec::new(), &places.of_rows);
    match way {
        Way::Append => return None,
        Way::Set => {
            let mut last = vec![0; places.maps.len()];
            for at in 0..rows.len() {
                last[of_rows.get(at).map_or(0, |place| *place as usize)] = at;
            }
            for at in last {
                finals.push(values.value(at)?);
            }
        }
        Way::Call(function) => {
            let (function, values) = (math2(function)?, values.into_reals()?.into_vec());
            let old: Vec<f64> = places.maps.iter().map(|map| Some(old(map)?.f64())).collect::<Option<_>>()?;
            finals.extend(folded(old, of_rows, &values, function).into_iter().map(Value::Double));
        }
        Way::Operate(op) => {
            let old: Vec<Value> = places.maps.iter().map(old).collect::<Option<_>>()?;
            finals = operated(op, &old, of_rows, values)?;
        }
    }
    changes.extend(
        places.maps.into_iter().zip(finals).map(|(map, value)| Change::Put(map, name.clone(), value)),
    );
    Some(())
}

/// Applies `op` to old values and to new ones, with the types that Java gives the results.
fn operated(op: Binary, old: &[Value], of_rows: &[u32], values: Column) -> Option<Vec<Value>> {
    let rank = |value: &Value| match value {
        Value::Int(_) => Type::Int.rank(),
        Value::Long(_) => Type::Long.rank(),
        Value::Float(_) => Type::Float.rank(),
        Value::Double(_) => Type::Double.rank(),
        _ => None,
    };
    let own = values.ty.rank()?;
    let mut ranks = old.iter().map(|value| Some(rank(value)?.max(own)));
    let common = ranks.next()??;
    if ranks.any(|rank| rank != Some(common)) {
        return None;
    }
    if Some(common) == Type::Double.rank() {
        let values = values.into_reals()?.into_vec();
        let old = old.iter().map(Value::f64).collect();
        let made = match op {
            Binary::Add if of_rows.is_empty() && values.len() >= LANES_FROM => summed(old, &values),
            Binary::Add => folded(old, of_rows, &values, |old, new| old + new),
            Binary::Sub => folded(old, of_rows, &values, |old, new| old - new),
            Binary::Mul => folded(old, of_rows, &values, |old, new| old * new),
            Binary::Div => folded(old, of_rows, &values, |old, new| old / new),
            _ => return None,
        };
        return Some(made.into_iter().map(Value::Double).collect());
    }
    let is_int = Some(common) == Type::Int.rank();
    if !is_int && Some(common) != Type::Long.rank() {
        return None;
    }
    let values = values.into_wholes()?.into_vec();
    let old = old.iter().map(Value::i64).collect();
    // Other operators do not give the same result if only the last one is cut to 32 bits.
    let made = match op {
        Binary::Add => folded(old, of_rows, &values, i64::wrapping_add),
        Binary::Sub => folded(old, of_rows, &values, i64::wrapping_sub),
        Binary::Mul => folded(old, of_rows, &values, i64::wrapping_mul),
        _ => return None,
    };
    let value = |number: i64| if is_int { Value::Int(number as i32) } else { Value::Long(number) };
    Some(made.into_iter().map(value).collect())
}

fn folded<T: Copy>(mut old: Vec<T>, of_rows: &[u32], values: &[T], function: impl Fn(T, T) -> T) -> Vec<T> {
    match (of_rows.is_empty(), old.as_mut_slice()) {
        (true, [only]) => *only = values.iter().fold(*only, |old, new| function(old, *new)),
        (_, all) => {
            for (place, value) in of_rows.iter().zip(values) {
                let old = &mut all[*place as usize];
                *old = function(*old, *value);
            }
        }
    }
    old
}

/// Adds many values to one. The last digit can differ from that of adding one by one.
fn summed(old: Vec<f64>, values: &[f64]) -> Vec<f64> {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value);
    }
    let sum = sums.iter().chain(rest).sum::<f64>();
    old.into_iter().map(|old| old + sum).collect()
}
