//! What streams gather: methods of lists that answer with one value, or with the items of several lists.

use super::java::{iterator, optional};
use super::machine::Machine;
use super::order::extreme;
use super::store::ITEM_BYTES;
use crate::error::{Outcome, ScriptError};
use crate::values::Value;

/// `None`: there is no such method.
pub(super) fn gather(
    machine: &mut impl Machine,
    items: Vec<Value>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("iterator", []) => iterator(items, at)?,
        ("findFirst" | "findAny", []) => optional(items.into_iter().next(), at)?,
        ("noneMatch", [lambda]) => {
            for item in items {
                if let Value::Bool(true) = machine.lambda(lambda, &[item], at)? {
                    return Ok(Some(Value::Bool(false)));
                }
            }
            Value::Bool(true)
        }
        ("skip", [count]) => {
            let count = usize::try_from(count.i64()).unwrap_or(0);
            Value::list(items.into_iter().skip(count).collect())
        }
        ("max" | "min", order) if order.len() <= 1 => {
            optional(extreme(machine, items, order.first(), name == "max", at)?, at)?
        }
        ("average", []) => {
            let count = items.len() as f64;
            let sum: f64 = items.iter().map(Value::f64).sum();
            optional((count > 0.0).then_some(Value::Double(sum / count)), at)?
        }
        ("reduce", [first, lambda]) => {
            let mut folded = first.clone();
            for item in items {
                folded = machine.lambda(lambda, &[folded, item], at)?;
            }
            folded
        }
        ("reduce", [lambda]) => {
            let mut items = items.into_iter();
            let Some(mut folded) = items.next() else { return optional(None, at).map(Some) };
            for item in items {
                folded = machine.lambda(lambda, &[folded, item], at)?;
            }
            optional(Some(folded), at)?
        }
        ("flatMap", [lambda]) => {
            let mut all = Vec::new();
            for item in items {
                let Value::List(more) = machine.lambda(lambda, &[item], at)? else {
                    return Err(ScriptError::cast(at, "[flatMap] wants streams"));
                };
                all.extend(more.borrow().iter().cloned());
                machine.check_room(ITEM_BYTES * all.len(), at)?;
            }
            Value::list(all)
        }
        _ => return Ok(None),
    }))
}
