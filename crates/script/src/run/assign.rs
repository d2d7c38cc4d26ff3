//! Evaluates `target op= value`.

use super::interpreter::Run;
use crate::error::{Outcome, ScriptError, failed};
use crate::language::{Expr, Kind};
use crate::library::{Machine, get_index, get_member, set_index, set_member};
use crate::types::Binary;
use crate::values::Value;

enum Place<'a> {
    Local(usize),
    Member(Value, &'a str),
    Index(Value, Value),
}

impl<'a> Run<'a> {
    pub(crate) fn assign(
        &mut self,
        target: &'a Expr,
        op: Option<Binary>,
        value: &'a Expr,
        gives_old: bool,
    ) -> Outcome<Value> {
        let at = target.at;
        // The target is evaluated first, as in Java.
        let place = match &target.kind {
            Kind::Local(slot) => Place::Local(self.base + usize::from(*slot)),
            Kind::Member { target, name, .. } => Place::Member(self.eval(target)?, name),
            Kind::Index(target, index) => {
                let list = self.eval(target)?;
                Place::Index(list, self.eval(index)?)
            }
            _ => return Err(ScriptError::argument(at, "cannot assign to this")),
        };
        let (old, new) = match op {
            None => (Value::Null, self.eval(value)?),
            Some(op) => {
                let old = match &place {
                    Place::Local(slot) => self.locals[*slot].clone(),
                    Place::Member(target, name) => get_member(self, target, name, at)?,
                    Place::Index(target, index) => get_index(self, target, index, at)?,
                };
                let right = self.eval(value)?;
                let new = self.binary(op, &old, &right, at)?;
                // A variable keeps its type.
                let is_typed = matches!(place, Place::Local(_));
                let new =
                    if is_typed { new.cast(target.ty).map_err(|failure| failed(failure, at))? } else { new };
                (old, new)
            }
        };
        match place {
            Place::Local(slot) => self.locals[slot] = new.clone(),
            Place::Member(target, name) => set_member(self, &target, name, new.clone(), at)?,
            Place::Index(target, index) => set_index(self, &target, &index, new.clone(), at)?,
        }
        Ok(if gives_old { old } else { new })
    }
}
