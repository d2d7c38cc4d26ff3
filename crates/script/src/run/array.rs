//! Creates arrays such as `new int[2][3]`. An array is a list; one of several dimensions is a list of lists.

use super::interpreter::Run;
use crate::error::{Outcome, ScriptError};
use crate::language::Expr;
use crate::library::Machine;
use crate::types::Type;
use crate::values::Value;

/// Bytes of an item of a list, and about those of a list without its items.
const ITEM_BYTES: usize = 16;
const LIST_BYTES: usize = 64;

impl<'a> Run<'a> {
    /// Creates an array with one length for each dimension. As in Java, all lengths are evaluated first.
    pub(super) fn new_array(&mut self, ty: Type, lengths: &'a [Expr], at: u32) -> Outcome<Value> {
        let mut evaluated = Vec::with_capacity(lengths.len());
        for length in lengths {
            evaluated.push(self.eval(length)?.i64());
        }
        let mut sizes = Vec::with_capacity(evaluated.len());
        let (mut lists, mut bytes) = (1usize, 0usize);
        for length in evaluated {
            let size = usize::try_from(length)
                .map_err(|_| ScriptError::new(at, "negative_array_size_exception", length.to_string()))?;
            let of_list = size.saturating_mul(ITEM_BYTES).saturating_add(LIST_BYTES);
            bytes = bytes.saturating_add(lists.saturating_mul(of_list));
            lists = lists.saturating_mul(size);
            sizes.push(size);
        }
        self.check_room(bytes, at)?;
        Ok(filled(ty, &sizes))
    }
}

/// Returns an array in which every item is the zero of its type.
fn filled(ty: Type, sizes: &[usize]) -> Value {
    match sizes {
        [] => Value::zero_of(ty),
        [size] => Value::list(vec![Value::zero_of(ty); *size]),
        [size, inner @ ..] => Value::list((0..*size).map(|_| filled(ty, inner)).collect()),
    }
}
