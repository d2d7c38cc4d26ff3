//! The order of values: their natural order, or one that a function of the script defines.

use std::cmp::Ordering;

use super::machine::Machine;
use crate::error::{Outcome, failed};
use crate::values::Value;

/// The order of `Comparator#reverseOrder`, as a script has it.
pub(super) const REVERSED: &str = "java.util.Collections$ReverseComparator";

/// Compares by a lambda, or by the natural order of the values.
pub(super) fn ordered(
    machine: &mut impl Machine,
    left: &Value,
    right: &Value,
    order: Option<&Value>,
    at: u32,
) -> Outcome<Ordering> {
    machine.spend(1 + left.steps().min(right.steps()), at)?;
    match order {
        Some(Value::Str(name)) if **name == *REVERSED => {
            right.compare(left).map_err(|failure| failed(failure, at))
        }
        Some(order @ Value::List(_)) => {
            let found = super::comparators::compared(machine, (left, right), order, at)?;
            found.map_or_else(|| left.compare(right).map_err(|failure| failed(failure, at)), Ok)
        }
        Some(lambda) if !lambda.is_null() => {
            let found = machine.lambda(lambda, &[left.clone(), right.clone()], at)?;
            Ok(found.i64().cmp(&0))
        }
        _ => left.compare(right).map_err(|failure| failed(failure, at)),
    }
}

/// Returns the first of the greatest items, or of the least ones. `order` is as for [`sort_values`].
pub(crate) fn extreme(
    machine: &mut impl Machine,
    items: Vec<Value>,
    order: Option<&Value>,
    is_greatest: bool,
    at: u32,
) -> Outcome<Option<Value>> {
    let wanted = if is_greatest { Ordering::Greater } else { Ordering::Less };
    let mut items = items.into_iter();
    let Some(mut best) = items.next() else { return Ok(None) };
    for item in items {
        if ordered(machine, &item, &best, order, at)? == wanted {
            best = item;
        }
    }
    Ok(Some(best))
}

/// Sorts by a lambda, or by the natural order of the items.
pub(crate) fn sort_values(
    machine: &mut impl Machine,
    items: &mut Vec<Value>,
    order: Option<&Value>,
    at: u32,
) -> Outcome<()> {
    let mut error = None;
    // A merge sort, so that an inconsistent comparison does no harm.
    let sorted = merge_sorted(std::mem::take(items), &mut |left, right| {
        if error.is_some() {
            return Ordering::Equal;
        }
        ordered(machine, left, right, order, at).unwrap_or_else(|failure| {
            error = Some(failure);
            Ordering::Equal
        })
    });
    *items = sorted;
    match error {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn merge_sorted(mut items: Vec<Value>, order: &mut dyn FnMut(&Value, &Value) -> Ordering) -> Vec<Value> {
    if items.len() < 2 {
        return items;
    }
    let right = merge_sorted(items.split_off(items.len() / 2), order);
    let left = merge_sorted(items, order);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        let takes_right = order(first, second) == Ordering::Greater;
        merged.extend(if takes_right { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    merged
}
