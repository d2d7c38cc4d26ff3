//! Places that the scripts of `scripted_metric` update: members of the state, and entries of maps that are
//! members.

use std::sync::Arc;

use crate::language::{Expr, Kind};
use crate::types::{Binary, Literal, Type, Unary};

/// The slot of the variable that has the state.
const STATE: u16 = 0;

/// A member of the state, or an entry of it.
#[derive(Clone)]
pub(super) struct Place {
    pub name: Arc<str>,
    pub key: Option<Expr>,
}

/// An expression that reads a place.
#[derive(Clone)]
pub(super) struct Read {
    pub place: Place,
    /// What it returns if there is no entry.
    pub default: Option<Expr>,
    /// What it converts the value to.
    pub cast: Option<Type>,
}

impl Place {
    /// Whether both name the same place.
    pub fn is(&self, other: &Place) -> bool {
        let are_same = match (&self.key, &other.key) {
            (Some(own), Some(other)) => is_same(own, other),
            (None, None) => true,
            _ => false,
        };
        self.name == other.name && are_same
    }
}

/// Whether two expressions without side effects have the same value.
pub(super) fn is_same(left: &Expr, right: &Expr) -> bool {
    let all = |left: &[Expr], right: &[Expr]| {
        left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
    };
    match (&left.kind, &right.kind) {
        (Kind::Literal(left), Kind::Literal(right)) => left == right,
        (Kind::Local(left), Kind::Local(right)) => left == right,
        (Kind::Param(left), Kind::Param(right)) => left == right,
        (Kind::FieldValue(left), Kind::FieldValue(right)) => left == right,
        (Kind::Cast(ty, left), Kind::Cast(other, right)) => ty == other && is_same(left, right),
        (Kind::Binary(op, one, two), Kind::Binary(other, three, four)) => {
            op == other && is_same(one, three) && is_same(two, four)
        }
        (
            Kind::Call { target, name, arguments, null_safe },
            Kind::Call { target: other, name: other_name, arguments: others, null_safe: other_safe },
        ) => {
            name == other_name && null_safe == other_safe && is_same(target, other) && all(arguments, others)
        }
        (Kind::Member { target, name, .. }, Kind::Member { target: other, name: other_name, .. }) => {
            name == other_name && is_same(target, other)
        }
        _ => false,
    }
}

/// Whether an expression is the variable that has the state.
pub(super) fn is_state(expr: &Expr) -> bool {
    matches!(expr.kind, Kind::Local(STATE))
}

/// Returns the name of a member of the state.
fn member(expr: &Expr) -> Option<Arc<str>> {
    match &expr.kind {
        Kind::Member { target, name, null_safe: false } if is_state(target) => Some(name.clone()),
        Kind::Index(target, index) if is_state(target) => match &index.kind {
            Kind::Literal(Literal::Str(name)) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the place that an expression names.
pub(super) fn place(expr: &Expr) -> Option<Place> {
    if let Some(name) = member(expr) {
        return Some(Place { name, key: None });
    }
    match &expr.kind {
        Kind::Index(target, key) => Some(Place { name: member(target)?, key: Some((**key).clone()) }),
        Kind::Member { target, name, null_safe: false } => {
            let key = Kind::Literal(Literal::Str(name.clone()));
            Some(Place { name: member(target)?, key: Some(Expr { kind: key, ty: Type::Str, at: expr.at }) })
        }
        _ => None,
    }
}

/// Returns a call of a method of a map that is a member of the state: the map's name, the method, the
/// arguments.
pub(super) fn call_of_map(expr: &Expr) -> Option<(Arc<str>, &str, &[Expr])> {
    match &expr.kind {
        Kind::Call { target, name, arguments, null_safe: false } => {
            Some((member(target)?, name, arguments.as_slice()))
        }
        _ => None,
    }
}

/// The variables of a script that hold what a place had: slot and expression.
#[derive(Default)]
pub(super) struct Aliases(Vec<(u16, Read)>);

impl Aliases {
    /// Drops the variables that hold what a place of this member had.
    pub fn forget(&mut self, name: &str) {
        self.0.retain(|(_, read)| *read.place.name != *name);
    }

    /// Returns what an expression reads of the state, if it only does that.
    pub fn read(&self, expr: &Expr) -> Option<Read> {
        if let Some(place) = place(expr) {
            return Some(Read { place, default: None, cast: None });
        }
        match (&expr.kind, call_of_map(expr)) {
            (Kind::Cast(ty, inner), _) => {
                let read = self.read(inner)?;
                // A second conversion would have to be applied to the result of the first one.
                read.cast.is_none_or(|cast| cast == *ty).then_some(Read { cast: Some(*ty), ..read })
            }
            (Kind::Local(slot), _) => {
                self.0.iter().rev().find(|(known, _)| known == slot).map(|(_, read)| read.clone())
            }
            (_, Some((name, "get", [key]))) => {
                Some(Read { place: Place { name, key: Some(key.clone()) }, default: None, cast: None })
            }
            (_, Some((name, "getOrDefault", [key, default]))) => Some(Read {
                place: Place { name, key: Some(key.clone()) },
                default: Some(default.clone()),
                cast: None,
            }),
            _ => None,
        }
    }

    /// Whether a variable holds what an expression read of the state.
    pub fn has(&self, slot: u16) -> bool {
        self.0.iter().any(|(known, _)| *known == slot)
    }

    /// Remembers that a variable holds what an expression reads of the state. Returns false if it does not.
    pub fn declare(&mut self, slot: u16, value: Option<&Expr>) -> bool {
        self.0.retain(|(known, _)| *known != slot);
        let read = value.and_then(|value| self.read(value));
        read.is_some_and(|read| {
            self.0.push((slot, read));
            true
        })
    }

    /// Returns the place whose existence an expression tests, and whether it is true if there is an entry.
    pub fn tested(&self, expr: &Expr) -> Option<(Place, bool)> {
        if let Some((name, "containsKey", [key])) = call_of_map(expr) {
            return Some((Place { name, key: Some(key.clone()) }, true));
        }
        let is_null = |expr: &Expr| matches!(expr.kind, Kind::Literal(Literal::Null));
        match &expr.kind {
            Kind::Cast(Type::Bool, inner) => self.tested(inner),
            Kind::Unary(Unary::Not, inner) => self.tested(inner).map(|(place, exists)| (place, !exists)),
            Kind::Binary(op @ (Binary::Equal | Binary::NotEqual), left, right) => {
                let read = match (is_null(left), is_null(right)) {
                    (false, true) => self.read(left)?,
                    (true, false) => self.read(right)?,
                    _ => return None,
                };
                // A member that is missing is null, too, but nothing can be put for it.
                let is_entry = read.place.key.is_some() && read.default.is_none() && read.cast.is_none();
                is_entry.then_some((read.place, *op == Binary::NotEqual))
            }
            _ => None,
        }
    }

    /// Returns the place with which a condition compares `value`, and the operator: `value op place`.
    pub fn compared(&self, condition: &Expr, value: &Expr) -> Option<(Read, Binary)> {
        let Kind::Binary(op, left, right) = &condition.kind else { return None };
        let turned = match op {
            Binary::Less => Binary::Greater,
            Binary::Greater => Binary::Less,
            Binary::LessEqual => Binary::GreaterEqual,
            Binary::GreaterEqual => Binary::LessEqual,
            _ => return None,
        };
        match (self.read(left), self.read(right)) {
            (None, Some(read)) if is_same(left, value) => Some((read, *op)),
            (Some(read), None) if is_same(right, value) => Some((read, turned)),
            _ => None,
        }
    }
}
