//! Applies to the states of buckets what a map script does to them ([`super::updates`]), for a block of
//! documents. The values were computed for the whole block and are applied in the order of the documents.
//!
//! Until it is known that every update can be applied, none is.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use super::coded::Coded;
use super::column::Column;
use super::folds::folded_values;
use super::updates::{Missing, Update, Way};
use crate::values::{MapOrder, MapValue, Value};

/// Number of places and keys up to which their combinations are looked up in a table.
const GROUPS_MAX: usize = 1 << 16;

const UNKNOWN: u32 = u32::MAX;

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

type SharedMap = Rc<RefCell<MapValue>>;

/// What an update makes of a state.
enum Change {
    Put(SharedMap, Value, Value),
    Append(Rc<RefCell<Vec<Value>>>, Value),
}

/// Applies updates to the states; returns by how much the states have grown at most. `None` if some update
/// cannot be applied, in which case no state has changed.
pub(super) fn apply(updates: Vec<Update>, states: &RowStates<'_>) -> Option<u64> {
    let mut changes = Vec::new();
    let mut maps = HashSet::new();
    for update in merged(updates)? {
        if update.rows.is_empty() {
            continue;
        }
        match (update.way, &update.key) {
            (Way::Append, _) => append(&update, states, &mut changes)?,
            (_, None) => fold(update, states, &mut changes)?,
            (_, Some(_)) => fold_entries(update, states, &mut maps, &mut changes)?,
        }
    }
    let mut grown = 0;
    for change in changes {
        match change {
            Change::Put(map, key, value) => {
                let bytes = 2 * size_of::<Value>() + key.bytes();
                if map.borrow_mut().put(key, value).is_none() {
                    grown += bytes as u64;
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
        let Some(place) = all.iter().position(|known| known.name == update.name) else {
            all.push(update);
            continue;
        };
        let known = all.remove(place);
        if known.way != update.way || known.cast != update.cast || known.values.ty != update.values.ty {
            return None;
        }
        let mut rows = known.rows;
        rows.extend(update.rows);
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|at| rows[*at as usize]);
        let join = |first: Column, then: Column| Some(first.followed_by(then)?.gathered(&order));
        let key = match (known.key, update.key) {
            (Some(first), Some(then)) => Some(join(first, then)?),
            (None, None) => None,
            _ => return None,
        };
        let missing = match (known.missing, update.missing) {
            (Missing::Fails, Missing::Fails) => Missing::Fails,
            (Missing::Old(first), Missing::Old(then)) if first.equals(&then) => Missing::Old(first),
            (Missing::First(first), Missing::First(then)) => Missing::First(join(first, then)?),
            _ => return None,
        };
        let values = join(known.values, update.values)?;
        let rows = order.iter().map(|at| rows[*at as usize]).collect();
        let (name, way, cast) = (known.name, known.way, known.cast);
        all.push(Update { name, key, way, missing, cast, rows, values });
    }
    Some(all)
}

impl RowStates<'_> {
    fn map(&self, bucket: u32) -> Option<SharedMap> {
        match self.states.get(bucket as usize)? {
            Some(Value::Map(map)) => Some(map.clone()),
            _ => None,
        }
    }
}

/// The states of an update's rows.
struct Places {
    maps: Vec<SharedMap>,
    /// For each row, the index of its state in `maps`; empty if there is only one.
    of_rows: Vec<u32>,
}

impl Places {
    fn of(rows: &[u32], states: &RowStates<'_>) -> Option<Places> {
        let Some(buckets) = states.buckets else {
            return Some(Places { maps: vec![states.map(states.bucket)?], of_rows: Vec::new() });
        };
        // Merged updates may have a row twice.
        let are_all = rows.len() == buckets.len() && (0..).zip(rows).all(|(at, row)| at == *row);
        let own: Cow<'_, [u32]> = match are_all {
            true => Cow::Borrowed(buckets),
            false => rows.iter().map(|row| buckets[*row as usize]).collect(),
        };
        let ends = own.iter().fold((u32::MAX, 0), |(first, last), own| (first.min(*own), last.max(*own)));
        if own.is_empty() {
            return Some(Places { maps: Vec::new(), of_rows: Vec::new() });
        }
        let (first, last) = ends;
        let mut places = vec![UNKNOWN; (last - first) as usize + 1];
        own.iter().for_each(|bucket| places[(bucket - first) as usize] = 0);
        let mut maps = Vec::new();
        for (bucket, place) in (first..).zip(&mut places) {
            if *place != UNKNOWN {
                *place = maps.len() as u32;
                maps.push(states.map(bucket)?);
            }
        }
        // With one state, rows need no place.
        let of_rows = match maps.len() {
            1 => Vec::new(),
            _ => own.iter().map(|bucket| places[(bucket - first) as usize]).collect(),
        };
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
    let Update { name, way, rows, values, missing, cast, .. } = update;
    if !matches!(missing, Missing::Fails) {
        return None;
    }
    let places = Places::of(&rows, states)?;
    let key = Value::Str(name);
    let finals = match way {
        Way::Append | Way::Keep => return None,
        Way::Set => last_values(&values, &places.of_rows, places.maps.len(), rows.len())?,
        way => {
            let old = |map: &SharedMap| map.borrow().get(&key).cloned();
            let old: Vec<Value> = places.maps.iter().map(old).collect::<Option<_>>()?;
            folded_values(way, &old, cast, &places.of_rows, values)?
        }
    };
    let put = |(map, value)| Change::Put(map, key.clone(), value);
    changes.extend(places.maps.into_iter().zip(finals).map(put));
    Some(())
}

/// Returns the last value of each of `count` places.
fn last_values(values: &Column, of_rows: &[u32], count: usize, row_count: usize) -> Option<Vec<Value>> {
    let mut last = vec![row_count - 1; count];
    of_rows.iter().enumerate().for_each(|(at, place)| last[*place as usize] = at);
    last.into_iter().map(|at| values.value(at)).collect()
}

/// The entries that the rows of an update belong to.
struct Groups {
    /// The map and the index of the key of each group, in the order of their first rows.
    entries: Vec<(SharedMap, u32)>,
    /// The index among the rows of each group's first one.
    firsts: Vec<u32>,
    /// The group of each row.
    of_rows: Vec<u32>,
}

impl Groups {
    /// Groups rows by the maps `maps[of_rows[row]]` (only one map if `of_rows` is empty) and by keys.
    fn of(maps: &[SharedMap], of_rows: &[u32], key_of_rows: &[u32], key_count: usize) -> Option<Groups> {
        if maps.len() * key_count > GROUPS_MAX {
            return None;
        }
        let mut table = vec![UNKNOWN; maps.len() * key_count];
        let mut groups = Groups { entries: Vec::new(), firsts: Vec::new(), of_rows: Vec::new() };
        let Groups { entries, firsts, .. } = &mut groups;
        let group = |(row, key): (usize, &u32)| {
            let place = of_rows.get(row).map_or(0, |place| *place as usize);
            let group = &mut table[place * key_count + *key as usize];
            if *group == UNKNOWN {
                *group = entries.len() as u32;
                entries.push((maps[place].clone(), *key));
                firsts.push(row as u32);
            }
            *group
        };
        groups.of_rows = key_of_rows.iter().enumerate().map(group).collect();
        Some(groups)
    }
}

/// Plans to replace entries of a map that is a member of each state.
fn fold_entries(
    update: Update,
    states: &RowStates<'_>,
    known: &mut HashSet<*const RefCell<MapValue>>,
    changes: &mut Vec<Change>,
) -> Option<()> {
    let Update { name, key, way, missing, cast, rows, values } = update;
    let places = Places::of(&rows, states)?;
    let member = Value::Str(name);
    let mut maps = Vec::with_capacity(places.maps.len());
    for state in &places.maps {
        let Some(Value::Map(map)) = state.borrow().get(&member).cloned() else { return None };
        let is_state = places.maps.len() == 1 && Rc::ptr_eq(&map, state);
        // Several members may be the same map, whose entries would then change in another order.
        if is_state || map.borrow().order == MapOrder::Sorted || !known.insert(Rc::as_ptr(&map)) {
            return None;
        }
        maps.push(map);
    }
    let Coded { indexes, values: keys } = key?.distinct()?;
    let groups = Groups::of(&maps, &places.of_rows, &indexes.into_vec(), keys.len())?;
    let finals = entry_values((way, missing, cast), &groups, &keys, values)?;
    for ((map, key), value) in groups.entries.into_iter().zip(finals) {
        changes.extend(value.map(|value| Change::Put(map, keys[key as usize].clone(), value)));
    }
    Some(())
}

/// Returns the new value of each entry; `None` for one that does not change.
fn entry_values(
    (way, missing, cast): (Way, Missing, Option<crate::types::Type>),
    groups: &Groups,
    keys: &[Value],
    values: Column,
) -> Option<Vec<Option<Value>>> {
    let mut old = Vec::with_capacity(groups.entries.len());
    // The row that makes an entry; it does not update it.
    let mut makers = HashSet::new();
    for ((map, key), first) in groups.entries.iter().zip(&groups.firsts) {
        old.push(match (map.borrow().get(&keys[*key as usize]), &missing) {
            (Some(Value::Null), _) => return None,
            (Some(value), _) => Some(value.clone()),
            (None, Missing::Old(value)) => Some(value.clone()),
            (None, Missing::First(column)) => {
                makers.insert(*first);
                Some(column.value(*first as usize)?)
            }
            (None, Missing::Fails) if way == Way::Set => None,
            (None, Missing::Fails) => return None,
        });
    }
    let (mut of_rows, mut values) = (groups.of_rows.clone(), values);
    if !makers.is_empty() {
        let rest: Vec<u32> = (0..of_rows.len() as u32).filter(|row| !makers.contains(row)).collect();
        of_rows = rest.iter().map(|row| groups.of_rows[*row as usize]).collect();
        values = values.gathered(&rest);
    }
    if way == Way::Keep || of_rows.is_empty() {
        return Some(old);
    }
    if way == Way::Set {
        of_rows.iter().enumerate().try_for_each(|(row, group)| {
            old[*group as usize] = Some(values.value(row)?);
            Some(())
        })?;
        return Some(old);
    }
    let old: Vec<Value> = old.into_iter().collect::<Option<_>>()?;
    Some(folded_values(way, &old, cast, &of_rows, values)?.into_iter().map(Some).collect())
}
