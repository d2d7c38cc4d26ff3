//! A sorted map whose copies share their entries: "how does a store change without being copied?"
//!
//! A copy of the map takes one pointer per chunk, and a change of a copy copies one chunk of pointers. So a
//! change takes memory in proportion to what it changes, and readers keep the map that they began with.

use std::cmp::Ordering;
use std::sync::Arc;

/// Maximum number of entries of a chunk. 20,000 entries are about 400 chunks.
const CHUNK_LEN_MAX: usize = 64;

type Entry<T> = (Arc<str>, Arc<T>);

/// A map from names to values, sorted by name.
///
/// **Invariant**: chunks are not empty, and names ascend within a chunk and from one chunk to the next.
#[derive(Debug)]
pub struct SharedMap<T> {
    chunks: Vec<Arc<Vec<Entry<T>>>>,
    len: usize,
}

/// A name of which the value in one map is not that in another. Values are `None` where it does not exist.
#[derive(Debug)]
pub struct Difference<'m, T> {
    /// The name.
    pub name: &'m str,
    /// The value in the other, earlier map.
    pub before: Option<&'m T>,
    /// The value in this map.
    pub after: Option<&'m T>,
}

impl<T> Clone for SharedMap<T> {
    fn clone(&self) -> SharedMap<T> {
        SharedMap { chunks: self.chunks.clone(), len: self.len }
    }
}

impl<T> Default for SharedMap<T> {
    fn default() -> SharedMap<T> {
        SharedMap { chunks: Vec::new(), len: 0 }
    }
}

impl<T: PartialEq> PartialEq for SharedMap<T> {
    fn eq(&self, other: &SharedMap<T>) -> bool {
        self.len == other.len && self.differences(other).next().is_none()
    }
}

impl<T> SharedMap<T> {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        let (chunk, at) = self.find(name)?;
        Some(&self.chunks[chunk][at].1)
    }

    /// Whether the name has a value.
    pub fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns the entries in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.entries().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the names in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries().map(|(name, _)| &**name)
    }

    /// Sets the value of a name. Returns whether the name is new.
    pub fn insert(&mut self, name: &str, value: T) -> bool {
        let value = Arc::new(value);
        if let Some((chunk, at)) = self.find(name) {
            Arc::make_mut(&mut self.chunks[chunk])[at].1 = value;
            return false;
        }
        self.len += 1;
        let entry = (Arc::from(name), value);
        let chunk = self.chunk_of(name);
        let Some(shared) = self.chunks.get_mut(chunk) else {
            self.chunks.push(Arc::new(vec![entry]));
            return true;
        };
        let entries = Arc::make_mut(shared);
        let at = entries.partition_point(|(known, _)| **known < *name);
        entries.insert(at, entry);
        if entries.len() > CHUNK_LEN_MAX {
            let upper = entries.split_off(entries.len() / 2);
            self.chunks.insert(chunk + 1, Arc::new(upper));
        }
        true
    }

    /// Removes a name. Returns whether it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some((chunk, at)) = self.find(name) else { return false };
        self.len -= 1;
        let entries = Arc::make_mut(&mut self.chunks[chunk]);
        entries.remove(at);
        if entries.is_empty() {
            self.chunks.remove(chunk);
        }
        true
    }

    /// Returns in order the names whose values differ from those in `before`. Entries that both maps share
    /// are not compared.
    pub fn differences<'m>(
        &'m self,
        before: &'m SharedMap<T>,
    ) -> impl Iterator<Item = Difference<'m, T>> + use<'m, T>
    where
        T: PartialEq,
    {
        let (mut old, mut new) = (before.entries().peekable(), self.entries().peekable());
        std::iter::from_fn(move || {
            loop {
                let order = match (old.peek(), new.peek()) {
                    (None, None) => return None,
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (Some((left, _)), Some((right, _))) if Arc::ptr_eq(left, right) => Ordering::Equal,
                    (Some((left, _)), Some((right, _))) => left.cmp(right),
                };
                let from_old = if order.is_le() { old.next() } else { None };
                let from_new = if order.is_ge() { new.next() } else { None };
                let is_same = matches!((from_old, from_new), (Some((_, left)), Some((_, right)))
                    if Arc::ptr_eq(left, right) || left == right);
                if let Some((name, _)) = from_old.or(from_new).filter(|_| !is_same) {
                    let value = |entry: Option<&'m Entry<T>>| entry.map(|(_, value)| &**value);
                    return Some(Difference { name, before: value(from_old), after: value(from_new) });
                }
            }
        })
    }

    fn entries(&self) -> impl Iterator<Item = &Entry<T>> + use<'_, T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// Returns the chunk that has the name or would get it; 0 if there are no chunks.
    fn chunk_of(&self, name: &str) -> usize {
        self.chunks
            .partition_point(|chunk| chunk.first().is_some_and(|(first, _)| **first <= *name))
            .saturating_sub(1)
    }

    fn find(&self, name: &str) -> Option<(usize, usize)> {
        let chunk = self.chunk_of(name);
        let at = self.chunks.get(chunk)?.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some((chunk, at))
    }
}

impl<T: Clone> SharedMap<T> {
    /// Returns the value of a name, to be changed in this map and not in its copies.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        let (chunk, at) = self.find(name)?;
        Some(Arc::make_mut(&mut Arc::make_mut(&mut self.chunks[chunk])[at].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn contents(map: &SharedMap<u64>) -> Vec<(String, u64)> {
        map.iter().map(|(name, value)| (name.to_owned(), *value)).collect()
    }

    #[test]
    fn it_equals_a_sorted_map_and_copies_stay_as_they_were() {
        let mut random = 12_345u64;
        let mut below = |max: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % max
        };
        let (mut map, mut model) = (SharedMap::default(), BTreeMap::new());
        for step in 0..4_000 {
            let (copy, before) = (map.clone(), model.clone());
            for _ in 0..=below(3) {
                let name = below(500).to_string();
                match below(4) {
                    0 => assert_eq!(map.remove(&name), model.remove(&name).is_some()),
                    1 => {
                        if let Some(value) = map.get_mut(&name) {
                            *value += 1;
                            *model.get_mut(&name).expect("in both") += 1;
                        }
                    }
                    _ => assert_eq!(map.insert(&name, step), model.insert(name, step).is_none()),
                }
            }
            assert_eq!(map.len(), model.len());
            let seen: Vec<_> = map
                .differences(&copy)
                .map(|one| (one.name.to_owned(), one.before.copied(), one.after.copied()))
                .collect();
            let names = before.keys().chain(model.keys()).collect::<std::collections::BTreeSet<_>>();
            let expected: Vec<_> = names
                .into_iter()
                .map(|name| (name.clone(), before.get(name).copied(), model.get(name).copied()))
                .filter(|(_, before, after)| before != after)
                .collect();
            assert_eq!(seen, expected);
            if step % 100 == 0 {
                assert_eq!(contents(&copy), before.into_iter().collect::<Vec<_>>());
                assert_eq!(contents(&map), model.clone().into_iter().collect::<Vec<_>>());
            }
        }
        assert!(map.chunks.len() > 4 && map.chunks.iter().all(|chunk| chunk.len() <= CHUNK_LEN_MAX));
    }

    #[test]
    fn a_change_copies_one_chunk() {
        let mut map = SharedMap::default();
        (0..5_000u64).for_each(|number| assert!(map.insert(&format!("{number:05}"), number)));
        let copy = map.clone();
        *map.get_mut("02500").expect("there") = 1;
        let shared = map.chunks.iter().zip(&copy.chunks).filter(|(left, right)| Arc::ptr_eq(left, right));
        assert_eq!(shared.count(), map.chunks.len() - 1);
        assert_eq!((map.get("02500"), copy.get("02500")), (Some(&1), Some(&2_500)));
    }
}
