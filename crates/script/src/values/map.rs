//! Maps and sets of a running script. Entries keep the order of their insertion; once there are many, they
//! are found by the hashes of their keys.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use hashbrown::HashTable;
use limber_codec::java_hash::java_hash;

use super::value::{EQUALS_DEPTH, STEPS_MAX, Value};
use crate::error::Failure;

/// The order in which a map is iterated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MapOrder {
    /// As in a `java.util.LinkedHashMap`.
    #[default]
    Inserted,
    /// As in a `java.util.HashMap`.
    Hashed,
    /// By key, as in a `java.util.TreeMap`.
    Sorted,
}

/// Largest number of entries for which comparing each key is faster than hashing.
const UNINDEXED_MAX: usize = 8;

/// A map, or a set: a map of its items.
#[derive(Debug, Clone, Default)]
pub struct MapValue {
    entries: Vec<(Value, Value)>,
    /// Indexes of the entries by the hashes of their keys; empty up to [`UNINDEXED_MAX`] entries.
    index: HashTable<u32>,
    pub order: MapOrder,
    /// The map that this is an entry of, if a script can change that map through its entry.
    entry_of: Option<Rc<RefCell<MapValue>>>,
}

/// Spreads Java's hashes, which differ mostly in their low bits, over all bits.
fn spread(hash: i32) -> u64 {
    (hash as u32 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn hash(key: &Value) -> u64 {
    spread(key.hash())
}

impl MapValue {
    /// Creates an empty map.
    pub fn new(order: MapOrder) -> MapValue {
        MapValue { order, ..MapValue::default() }
    }

    /// Creates a map. The keys must be distinct, and of one class that has an order if the map is sorted.
    pub fn of(mut entries: Vec<(Value, Value)>, order: MapOrder) -> MapValue {
        if order == MapOrder::Sorted {
            entries.sort_by(|left, right| total_order(&left.0, &right.0));
        }
        let mut map = MapValue { entries, index: HashTable::new(), order, entry_of: None };
        map.reindex();
        map
    }

    /// Makes this an entry of a map.
    pub fn linked_to(self, map: Rc<RefCell<MapValue>>) -> MapValue {
        MapValue { entry_of: Some(map), ..self }
    }

    /// Returns the map that this is an entry of.
    pub fn entry_of(&self) -> Option<Rc<RefCell<MapValue>>> {
        self.entry_of.clone()
    }

    /// Wraps the map so that several values can share it.
    pub fn shared(self) -> Rc<RefCell<MapValue>> {
        Rc::new(RefCell::new(self))
    }

    fn reindex(&mut self) {
        self.index.clear();
        if self.entries.len() <= UNINDEXED_MAX || self.order == MapOrder::Sorted {
            return;
        }
        let entries = &self.entries;
        for (at, (key, _)) in entries.iter().enumerate() {
            self.index.insert_unique(hash(key), at as u32, |at| hash(&entries[*at as usize].0));
        }
    }

    /// Returns the entries in the order of insertion, or in the order of the keys if the map is sorted.
    pub fn entries(&self) -> &[(Value, Value)] {
        &self.entries
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.index.clear();
        self.entry_of = None;
    }

    /// Returns the index of the entry with this key, or as the error the index at which a new entry belongs.
    /// If keys hold other values, at most `depth` levels and `steps` values are compared.
    fn place(&self, key: &Value, depth: u32, steps: &mut u32) -> Result<usize, usize> {
        if self.order == MapOrder::Sorted {
            return self.entries.binary_search_by(|(known, _)| total_order(known, key));
        }
        let mut is_it = |known: &Value| known.equals_within(key, depth, steps);
        let found = match self.index.is_empty() {
            true => self.entries.iter().position(|(known, _)| is_it(known)),
            false => {
                let is_it = |at: &u32| is_it(&self.entries[*at as usize].0);
                self.index.find(hash(key), is_it).map(|at| *at as usize)
            }
        };
        found.ok_or(self.entries.len())
    }

    fn place_of(&self, key: &Value) -> Result<usize, usize> {
        self.place(key, EQUALS_DEPTH, &mut { STEPS_MAX })
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.place_of(key).ok().map(|at| &self.entries[at].1)
    }

    fn place_of_text(&self, key: &str) -> Option<usize> {
        let is_it = |known: &Value| matches!(known, Value::Str(text) if **text == *key);
        match (self.order, self.index.is_empty()) {
            (MapOrder::Sorted, _) => self.place_of(&Value::str(key)).ok(),
            (_, true) => self.entries.iter().position(|(known, _)| is_it(known)),
            (_, false) => {
                let found =
                    self.index.find(spread(java_hash(key)), |at| is_it(&self.entries[*at as usize].0));
                found.map(|at| *at as usize)
            }
        }
    }

    /// Returns the value of a key that is a string.
    pub fn get_text(&self, key: &str) -> Option<&Value> {
        self.place_of_text(key).map(|at| &self.entries[at].1)
    }

    /// Replaces the value of a key that is a string. Returns the value as the error if there is no such key.
    pub fn replace_text(&mut self, key: &str, value: Value) -> Result<(), Value> {
        match self.place_of_text(key) {
            Some(at) => {
                self.entries[at].1 = value;
                Ok(())
            }
            None => Err(value),
        }
    }

    /// Works like [`MapValue::get`], as part of a comparison of maps.
    pub(super) fn get_within(&self, key: &Value, depth: u32, steps: &mut u32) -> Option<&Value> {
        self.place(key, depth, steps).ok().map(|at| &self.entries[at].1)
    }

    /// Puts an entry into a map that none of the keys contains; returns the old value. A map that scripts
    /// see is changed by [`put`].
    pub fn put(&mut self, key: Value, value: Value) -> Option<Value> {
        let place = self.place_of(&key);
        self.put_at(place, key, value)
    }

    fn put_at(&mut self, place: Result<usize, usize>, key: Value, value: Value) -> Option<Value> {
        let at = match place {
            Ok(at) => return Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => at,
        };
        let own = hash(&key);
        self.entries.insert(at, (key, value));
        if self.index.is_empty() {
            self.reindex();
        } else {
            let entries = &self.entries;
            self.index.insert_unique(own, at as u32, |at| hash(&entries[*at as usize].0));
        }
        None
    }

    fn remove_at(&mut self, at: usize) -> Value {
        let (_, value) = self.entries.remove(at);
        self.reindex();
        value
    }

    /// Whether a key can be put into the map: those of a sorted map have an order.
    ///
    /// # Errors
    /// `class_cast_exception`, and `null_pointer_exception` for `null`, as `TreeMap#put`.
    pub fn check_key(&self, key: &Value) -> Result<(), Failure> {
        if self.order != MapOrder::Sorted {
            return Ok(());
        }
        if key.is_null() {
            return Err(("null_pointer_exception", "null".to_owned()));
        }
        let known = self.entries.first().map_or(key, |(known, _)| known);
        if known.class() != key.class() {
            let reason = format!("class {} cannot be cast to class {}", key.class(), known.class());
            return Err(("class_cast_exception", reason));
        }
        known.compare(key).map(drop)
    }

    /// Returns the entries in Java's order of iteration: by key, by insertion, or by bucket of the hash
    /// table.
    pub fn walk(&self) -> Vec<(Value, Value)> {
        let mut entries = self.entries.clone();
        if self.order == MapOrder::Hashed {
            let mut capacity = 16u32;
            while entries.len() as u32 > capacity / 4 * 3 {
                capacity *= 2;
            }
            entries.sort_by_cached_key(|(key, _)| {
                let hash = key.hash() as u32;
                (hash ^ (hash >> 16)) & (capacity - 1)
            });
        }
        entries
    }
}

/// Puts an entry; returns the old value, and how many values were compared with the key. The key may contain
/// the map, so it is compared with the others before the map is borrowed mutably.
///
/// # Errors
/// See [`MapValue::check_key`].
pub fn put(map: &RefCell<MapValue>, key: Value, value: Value) -> Result<(Option<Value>, u32), Failure> {
    let mut steps_left = STEPS_MAX;
    let place = {
        let map = map.borrow();
        map.check_key(&key)?;
        map.place(&key, EQUALS_DEPTH, &mut steps_left)
    };
    Ok((map.borrow_mut().put_at(place, key, value), STEPS_MAX - steps_left))
}

/// Removes an entry; returns its value.
pub fn remove(map: &RefCell<MapValue>, key: &Value) -> Option<Value> {
    let place = map.borrow().place_of(key);
    place.ok().map(|at| map.borrow_mut().remove_at(at))
}

/// Returns the natural order of two values. Values without a natural order get an arbitrary but consistent
/// one.
fn total_order(left: &Value, right: &Value) -> Ordering {
    left.class().cmp(right.class()).then_with(|| left.compare(right).unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn many_entries_are_found_as_few_are(steps in prop::collection::vec((0u8..3, 0i32..40, any::<i32>()), 0..300)) {
            let mut map = MapValue::new(MapOrder::Inserted);
            let mut naive: Vec<(i32, i32)> = Vec::new();
            for (step, key, value) in steps {
                // Even and odd keys are of two classes, so they never equal each other.
                let own = if key % 2 == 0 { Value::Int(key) } else { Value::str(key.to_string()) };
                let place = naive.iter().position(|(known, _)| *known == key);
                let old = place.map(|at| naive[at].1);
                let made = match step {
                    0 => {
                        place.map(|at| naive.remove(at));
                        map.place_of(&own).ok().map(|at| map.remove_at(at))
                    }
                    1 => {
                        if let (Some(at), Value::Str(text)) = (place, &own) {
                            assert_eq!(map.get_text(text).map(Value::i64), Some(i64::from(naive[at].1)));
                        }
                        match place {
                            Some(at) => naive[at].1 = value,
                            None => naive.push((key, value)),
                        }
                        map.put(own, Value::Int(value))
                    }
                    _ => map.get(&own).cloned(),
                };
                prop_assert_eq!(made.map(|made| made.i64()), old.map(i64::from));
                prop_assert_eq!(map.len(), naive.len());
            }
            let walked: Vec<i64> = map.walk().iter().map(|(_, value)| value.i64()).collect();
            prop_assert_eq!(walked, naive.iter().map(|(_, value)| i64::from(*value)).collect::<Vec<_>>());
        }
    }
}
