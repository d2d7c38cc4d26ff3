//! Lists and maps that a script may read but not change.

use std::collections::HashSet;

use crate::error::ScriptError;
use crate::values::{Value, identity};

/// The part of `ctx` that a script must not change.
#[derive(Debug, Default)]
pub(crate) enum Frozen {
    #[default]
    Nothing,
    Whole,
    /// All of it, with the identities of its lists and maps.
    Known(HashSet<usize>),
}

impl Frozen {
    /// Refuses to change a list or map that is part of `ctx`.
    pub fn check(&mut self, target: &Value, ctx: &Value, at: u32) -> Result<(), ScriptError> {
        if matches!(self, Frozen::Nothing) {
            return Ok(());
        }
        let Some(target) = identity(target) else { return Ok(()) };
        if matches!(self, Frozen::Whole) {
            let mut known = HashSet::new();
            let mut rest = vec![ctx.clone()];
            while let Some(value) = rest.pop() {
                // A list that contains itself, or that several lists contain, is entered only once.
                if identity(&value).is_some_and(|own| known.insert(own)) {
                    value.each_held(|held| rest.push(held.clone()));
                }
            }
            *self = Frozen::Known(known);
        }
        match self {
            Frozen::Known(known) if known.contains(&target) => Err(ScriptError::new(
                at,
                "unsupported_operation_exception",
                "Mutating ingest documents in conditionals is not supported",
            )),
            _ => Ok(()),
        }
    }
}
