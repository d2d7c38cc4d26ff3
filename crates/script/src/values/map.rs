//! Maps and sets of a running script. Entries keep the order of their insertion; once there are many, they
//! are found by the hashes of their keys.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use hashbrown::HashTable;

use super::value::Value;

/// The order in which a map is iterated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MapOrder {
    /// As in a `java.util.LinkedHashMap`.
    #[default]
    Inserted,
    /// As in a `java.util.HashMap`.
    Hashed,
    /// Keyed by key.
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
}

/// Spreads Java's hashes, which differ mostly in their low bits, over all bits.
fn hash(key: &Value) -> u64 {
    (key.hash() as u32 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl MapValue {
    pub fn new(order: MapOrder) -> MapValue {
        MapValue { order, ..MapValue::default() }
    }

    /// Creates a map. The keys must be distinct.
    pub fn of(entries: Vec<(Value, Value)>, order: MapOrder) -> MapValue {
        let mut map = MapValue { entries, index: HashTable::new(), order };
        map.reindex();
        map
    }

    pub fn shared(self) -> Rc<RefCell<MapValue>> {
        Rc::new(RefCell::new(self))
    }

    fn reindex(&mut self) {
        self.index.clear();
        if self.entries.len() <= UNINDEXED_MAX {
            return;
        }
        let entries = &self.entries;
        for (at, (key, _)) in entries.iter().enumerate() {
            self.index.insert_unique(hash(key), at as u32, |at| hash(&entries[*at as usize].0));
        }
    }

    /// Returns the entries in the order of insertion.
    pub fn entries(&self) -> &[(Value, Value)] {
        &self.entries
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.index.clear();
    }

    fn place(&self, key: &Value) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|(known, _)| known.equals(key));
        }
        let is_it = |at: &u32| self.entries[*at as usize].0.equals(key);
        self.index.find(hash(key), is_it).map(|at| *at as usize)
    }

    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.place(key).map(|at| &self.entries[at].1)
    }

    /// Puts an entry; returns the old value.
    pub fn put(&mut self, key: Value, value: Value) -> Option<Value> {
        if let Some(at) = self.place(&key) {
            return Some(std::mem::replace(&mut self.entries[at].1, value));
        }
        let (at, own) = (self.entries.len(), hash(&key));
        self.entries.push((key, value));
        if self.index.is_empty() {
            self.reindex();
        } else {
            let entries = &self.entries;
            self.index.insert_unique(own, at as u32, |at| hash(&entries[*at as usize].0));
        }
        None
    }

    pub fn remove(&mut self, key: &Value) -> Option<Value> {
        let at = self.place(key)?;
        let (_, value) = self.entries.remove(at);
        self.reindex();
        Some(value)
    }

    /// Returns the entries in Java's order of iteration: by key, by insertion, or by bucket of the hash
    /// table.
    pub fn walk(&self) -> Vec<(Value, Value)> {
        let mut entries = self.entries.clone();
        match self.order {
            MapOrder::Inserted => {}
            MapOrder::Sorted => {
                entries.sort_by(|left, right| left.0.compare(&right.0).unwrap_or(Ordering::Equal));
            }
            MapOrder::Hashed => {
                let mut capacity = 16u32;
                while entries.len() as u32 > capacity / 4 * 3 {
                    capacity *= 2;
                }
                entries.sort_by_cached_key(|(key, _)| {
                    let hash = key.hash() as u32;
                    (hash ^ (hash >> 16)) & (capacity - 1)
                });
            }
        }
        entries
    }
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
                        map.remove(&own)
                    }
                    1 => {
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
