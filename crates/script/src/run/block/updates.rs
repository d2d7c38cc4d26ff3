//! Finds out what the statements of a map script do to the members of its state, and to the entries of maps
//! that are members: `state.sum += doc['n'].value`, `state.counts[key] = state.counts.getOrDefault(key, 0) +
//! 1`.
//!
//! A statement that reads a state in another way is left to the interpreter.

use std::sync::Arc;

use super::Block;
use super::column::{Column, Data};
use super::places::{Aliases, Place, Read, call_of_map, is_same, place};
use crate::language::{Expr, Kind, LambdaBody, Stmt};
use crate::library::Machine;
use crate::types::{Binary, Type};
use crate::values::Value;

/// What happens to a member of a state, or to an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// `state.x = value`
    Set,
    /// `state.x op= value`
    Operate(Binary),
    /// `state.x = Math.f(state.x, value)`
    Call(&'static str),
    /// `if (value > state.x) { state.x = value }`, or with another comparison
    Replace(Binary),
    /// `state.x.add(value)`
    Append,
    /// `state.x.putIfAbsent(key, value)`
    Keep,
}

/// What takes the place of an entry that does not exist yet.
pub(super) enum Missing {
    /// The interpreter decides.
    Fails,
    /// The entry is updated as if it had this value.
    Old(Value),
    /// The entry gets the value of this column in the first row, and the other rows update it.
    First(Column),
}

/// The values with which one statement updates a member of the states, or entries of it.
pub(super) struct Update {
    pub name: Arc<str>,
    /// The key of each row's entry, if the member is a map whose entries are updated.
    pub key: Option<Column>,
    pub way: Way,
    pub missing: Missing,
    /// The class that the old value must have.
    pub cast: Option<Type>,
    pub rows: Vec<u32>,
    pub values: Column,
}

/// The updates of a block, in the order of the statements.
#[derive(Default)]
pub(super) struct Updates {
    pub all: Vec<Update>,
    /// The expression of the last update's key.
    last_key: Option<Expr>,
}

/// What a statement does to a place.
struct Change {
    place: Place,
    way: Way,
    value: Expr,
    /// What a missing entry gets (`true`), or counts as (`false`).
    missing: Option<(bool, Expr)>,
    cast: Option<Type>,
}

impl Aliases {
    /// Returns what assigning `value` to a place does.
    fn assigned(&self, place: Place, value: &Expr) -> Option<Change> {
        let own = |expr: &Expr| self.read(expr).filter(|read| read.place.is(&place));
        let changed = |way: Way, read: Read, value: &Expr| Change {
            place: place.clone(),
            way,
            value: value.clone(),
            missing: read.default.map(|default| (false, default)),
            cast: read.cast,
        };
        match &value.kind {
            Kind::Cast(Type::Def, inner) => return self.assigned(place, inner),
            Kind::Binary(op, left, right) => {
                if let Some(read) = own(left) {
                    return Some(changed(Way::Operate(*op), read, right));
                }
                if let (Binary::Add | Binary::Mul, Some(read)) = (op, own(right)) {
                    return Some(changed(Way::Operate(*op), read, left));
                }
            }
            Kind::Static { class: "Math", name, arguments } => {
                // Both are symmetrical.
                let known = ["min", "max"].into_iter().find(|known| **known == **name);
                if let (Some(function), [left, right]) = (known, arguments.as_slice()) {
                    let read = |expr: &Expr| own(expr).map(|read| Read { cast: None, ..read });
                    return match (read(left), read(right)) {
                        (Some(read), None) => Some(changed(Way::Call(function), read, right)),
                        (None, Some(read)) => Some(changed(Way::Call(function), read, left)),
                        _ => None,
                    };
                }
            }
            Kind::Conditional(condition, yes, no) => return self.chosen(place, condition, yes, no),
            _ => {}
        }
        Some(Change { place, way: Way::Set, value: value.clone(), missing: None, cast: None })
    }

    /// Returns what assigning `condition ? yes : no` to a place does.
    fn chosen(&self, place: Place, condition: &Expr, yes: &Expr, no: &Expr) -> Option<Change> {
        if let Some((tested, exists)) = self.tested(condition).filter(|(tested, _)| tested.is(&place)) {
            let (present, absent) = if exists { (yes, no) } else { (no, yes) };
            let change = self.assigned(tested, present)?;
            return Some(Change { missing: Some((true, absent.clone())), ..change });
        }
        let keeps = self.read(no).is_some_and(|read| read.place.is(&place));
        match self.compared(condition, yes).filter(|(read, _)| keeps && read.place.is(&place)) {
            Some((read, op)) => Some(Change {
                place,
                way: Way::Replace(op),
                value: yes.clone(),
                missing: read.default.map(|default| (false, default)),
                cast: read.cast,
            }),
            None => Some(Change {
                value: Expr {
                    kind: Kind::Conditional(
                        Box::new(condition.clone()),
                        Box::new(yes.clone()),
                        Box::new(no.clone()),
                    ),
                    ty: Type::Def,
                    at: condition.at,
                },
                place,
                way: Way::Set,
                missing: None,
                cast: None,
            }),
        }
    }

    /// Returns what a statement does to a place, if it only does that.
    fn change(&self, expr: &Expr) -> Option<Change> {
        if let Kind::Assign { target, op, value, .. } = &expr.kind {
            let place = place(target)?;
            return match op {
                None => self.assigned(place, value),
                Some(op) => Some(Change {
                    place,
                    way: Way::Operate(*op),
                    value: (**value).clone(),
                    missing: None,
                    cast: None,
                }),
            };
        }
        let (name, method, arguments) = call_of_map(expr)?;
        let entry = |key: &Expr| Place { name: name.clone(), key: Some(key.clone()) };
        match (method, arguments) {
            ("add", [value]) => {
                let place = Place { name, key: None };
                Some(Change { place, way: Way::Append, value: value.clone(), missing: None, cast: None })
            }
            ("put", [key, value]) => self.assigned(entry(key), value),
            ("putIfAbsent", [key, value]) => Some(Change {
                place: entry(key),
                way: Way::Keep,
                value: value.clone(),
                missing: Some((true, value.clone())),
                cast: None,
            }),
            _ => None,
        }
    }
}

impl Block<'_, '_> {
    /// Records what an expression does to the states. `None` if it does anything else.
    pub(super) fn update(&mut self, expr: &Expr, rows: &[u32], updates: &mut Updates) -> Option<()> {
        let change = match self.with_lambda(expr) {
            Some(change) => change,
            None => self.aliases.change(expr)?,
        };
        self.record(change, rows, updates)
    }

    /// Records what `if (condition) { yes } else { no }` does to the states, if the condition tests one.
    /// `None` if it does not, or if it does anything else.
    pub(super) fn update_if(
        &mut self,
        condition: &Expr,
        (yes, no): (&[Stmt], &[Stmt]),
        rows: &[u32],
        updates: &mut Updates,
    ) -> Option<()> {
        let change = |statement: &Stmt, aliases: &Aliases| match statement {
            Stmt::Expr(expr) | Stmt::Return(Some(expr)) => aliases.change(expr),
            _ => None,
        };
        if let Some((tested, exists)) = self.aliases.tested(condition) {
            let (present, absent) = if exists { (yes, no) } else { (no, yes) };
            let [absent] = absent else { return None };
            let absent = change(absent, &self.aliases)?;
            if absent.way != Way::Set || !absent.place.is(&tested) {
                return None;
            }
            let present = match present {
                [] => Change { way: Way::Keep, ..change_like(&absent) },
                [statement] => change(statement, &self.aliases)?,
                _ => return None,
            };
            if !present.place.is(&tested) || present.missing.is_some() {
                return None;
            }
            return self.record(Change { missing: Some((true, absent.value)), ..present }, rows, updates);
        }
        let ([statement], []) = (yes, no) else { return None };
        let set = change(statement, &self.aliases)?;
        let (read, op) = self.aliases.compared(condition, &set.value)?;
        if set.way != Way::Set || !read.place.is(&set.place) {
            return None;
        }
        let missing = read.default.map(|default| (false, default));
        self.record(Change { way: Way::Replace(op), missing, cast: read.cast, ..set }, rows, updates)
    }

    /// Returns what a method of a map that takes a lambda does to an entry.
    fn with_lambda(&self, expr: &Expr) -> Option<Change> {
        let (name, method, arguments) = call_of_map(expr)?;
        let [key, rest @ .., Expr { kind: Kind::Lambda(number), .. }] = arguments else { return None };
        let lambda = &self.run.script.lambdas[usize::from(*number)];
        let result = match &lambda.body {
            LambdaBody::Expr(result) => result,
            LambdaBody::Block(body) => match body.as_slice() {
                [Stmt::Return(Some(result))] => result,
                _ => return None,
            },
            LambdaBody::Reference(_) => return None,
        };
        let place = Place { name, key: Some(key.clone()) };
        match (method, rest) {
            ("merge", [value]) => {
                let [old, new] = lambda.parameters.as_slice() else { return None };
                let is_it =
                    |expr: &Expr, slot: &u16| matches!(expr.kind, Kind::Local(known) if known == *slot);
                let (way, left, right) = match &result.kind {
                    Kind::Binary(op, left, right) => (Way::Operate(*op), left.as_ref(), right.as_ref()),
                    Kind::Static { class: "Math", name, arguments } => {
                        let function = ["min", "max"].into_iter().find(|known| **known == **name)?;
                        let [left, right] = arguments.as_slice() else { return None };
                        (Way::Call(function), plain(left), plain(right))
                    }
                    _ => return None,
                };
                let is_symmetrical = matches!(way, Way::Operate(Binary::Add | Binary::Mul) | Way::Call(_));
                let fits = (is_it(left, old) && is_it(right, new))
                    || (is_symmetrical && is_it(left, new) && is_it(right, old));
                let missing = Some((true, value.clone()));
                fits.then(|| Change { place, way, value: value.clone(), missing, cast: None })
            }
            // The lambda's parameter is the key, which is no constant.
            ("computeIfAbsent", []) if matches!(result.kind, Kind::Literal(_)) => Some(Change {
                place,
                way: Way::Keep,
                value: result.clone(),
                missing: Some((true, result.clone())),
                cast: None,
            }),
            _ => None,
        }
    }

    fn record(&mut self, change: Change, rows: &[u32], updates: &mut Updates) -> Option<()> {
        let Change { place: Place { name, key: key_expr }, way, value, missing, cast } = change;
        // What variables hold from here on is no longer what the place has.
        self.aliases.forget(&name);
        let key = match &key_expr {
            Some(key) => Some(self.eval(key, rows)?),
            None => None,
        };
        let values = self.eval(&value, rows)?;
        let missing = match missing {
            None => Missing::Fails,
            Some((false, old)) => Missing::Old(self.constant(&old)?),
            Some((true, first)) if is_same(&first, &value) => Missing::First(values.clone()),
            Some((true, first)) => Missing::First(self.eval(&first, rows)?),
        };
        if [Some(&values), key.as_ref()]
            .into_iter()
            .flatten()
            .any(|column| matches!(column.data, Data::Other(_)))
        {
            return None;
        }
        self.run.grow(rows.len() * size_of::<(u32, i64)>(), 0).ok()?;
        let mut update = Update { name, key, way, missing, cast, rows: rows.to_vec(), values };
        // An entry is put if it is missing, and then updated.
        let is_put = |last: &Update| {
            last.way == Way::Keep
                && last.name == update.name
                && last.rows == update.rows
                && matches!((&updates.last_key, &key_expr), (Some(one), Some(other)) if is_same(one, other))
        };
        if matches!(update.missing, Missing::Fails)
            && let Some(put) = updates.all.last().filter(|last| is_put(last))
        {
            update.missing = Missing::Old(put.values.constant()?);
            updates.all.pop();
        }
        updates.all.push(update);
        updates.last_key = key_expr;
        Some(())
    }
}

fn change_like(change: &Change) -> Change {
    let Change { place, way, value, .. } = change;
    Change { place: place.clone(), way: *way, value: value.clone(), missing: None, cast: None }
}

/// Returns an expression without the conversion that an argument of `Math` has.
fn plain(expr: &Expr) -> &Expr {
    match &expr.kind {
        Kind::Cast(Type::Double | Type::Def, inner) => inner,
        _ => expr,
    }
}
