//! How values are put into lists and maps, and found in them.

use std::cell::RefCell;

use super::machine::Machine;
use crate::error::{Outcome, failed};
use crate::values::{MapValue, STEPS_MAX, Value, put};

/// Bytes that an item of a list or an entry of a map counts.
pub(super) const ITEM_BYTES: usize = 16;
pub(super) const ENTRY_BYTES: usize = 32;

/// Accounts for an item that is added to a list.
///
/// # Errors
/// The script has used up its memory, or the item belongs to one script ([`Machine::check_kept`]).
pub(super) fn admit(machine: &mut impl Machine, item: &Value, at: u32) -> Outcome<()> {
    machine.grow(ITEM_BYTES, at)?;
    machine.check_kept(item, at)
}

/// Puts an entry into a map or an item into a set; returns the old value.
///
/// # Errors
/// As for [`admit`]; a sorted map cannot take the key.
pub(super) fn put_entry(
    machine: &mut impl Machine,
    map: &RefCell<MapValue>,
    entry: (Value, Value),
    at: u32,
) -> Outcome<Option<Value>> {
    machine.grow(ENTRY_BYTES, at)?;
    put_new(machine, map, entry, at)
}

/// Works like [`put_entry`] for a new map, which is charged as a whole later.
pub(super) fn put_new(
    machine: &mut impl Machine,
    map: &RefCell<MapValue>,
    (key, value): (Value, Value),
    at: u32,
) -> Outcome<Option<Value>> {
    machine.check_kept(&key, at)?;
    machine.check_kept(&value, at)?;
    let (old, steps) = put(map, key, value).map_err(|failure| failed(failure, at))?;
    machine.spend(steps as usize, at)?;
    Ok(old)
}

/// Compares like `Object#equals`, and counts the time, because the values may be long.
pub(super) fn same(machine: &mut impl Machine, left: &Value, right: &Value, at: u32) -> Outcome<bool> {
    let mut steps_left = STEPS_MAX;
    let is_same = left.equals_by(right, &mut steps_left);
    machine.spend((STEPS_MAX - steps_left) as usize, at)?;
    Ok(is_same)
}

/// Returns the index of the first value that equals `wanted`.
pub(super) fn position<'v>(
    machine: &mut impl Machine,
    values: impl Iterator<Item = &'v Value>,
    wanted: &Value,
    at: u32,
) -> Outcome<Option<usize>> {
    for (place, value) in values.enumerate() {
        if same(machine, value, wanted, at)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}
