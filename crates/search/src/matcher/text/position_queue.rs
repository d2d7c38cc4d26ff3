//! Which of several parts stands first.
//!
//! Of parts that stand alike it gives the one that Lucene's `PriorityQueue` gives, which decides what is
//! matched next; so it is that heap, step by step.

/// Parts by their keys. `precedes` is asked whether the first of two keys goes before the second, also where
/// they are equal.
pub(crate) struct PositionQueue {
    heap: Vec<((i64, i64), usize)>,
    precedes: fn((i64, i64), (i64, i64)) -> bool,
}

impl PositionQueue {
    pub(crate) fn new(capacity: usize, precedes: fn((i64, i64), (i64, i64)) -> bool) -> PositionQueue {
        PositionQueue { heap: Vec::with_capacity(capacity), precedes }
    }

    /// How many parts wait in it.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// Key and part of the first.
    pub fn first(&self) -> Option<((i64, i64), usize)> {
        self.heap.first().copied()
    }

    /// Adds a part that stands at this start and end.
    pub fn push(&mut self, key: (i64, i64), part: usize) {
        self.heap.push((key, part));
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if !(self.precedes)(key, self.heap[parent].0) {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    /// Takes out the part that comes first, with its start and end.
    pub fn pop(&mut self) -> Option<((i64, i64), usize)> {
        let first = self.first()?;
        self.heap.swap_remove(0);
        self.sink();
        Some(first)
    }

    /// Gives the first another key.
    pub fn replace_first(&mut self, key: (i64, i64)) {
        if let Some(first) = self.heap.first_mut() {
            first.0 = key;
            self.sink();
        }
    }

    /// Moves the first down to its place.
    fn sink(&mut self) {
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            if left >= self.heap.len() {
                return;
            }
            let is_right = right < self.heap.len() && (self.precedes)(self.heap[right].0, self.heap[left].0);
            let child = if is_right { right } else { left };
            if !(self.precedes)(self.heap[child].0, self.heap[at].0) {
                return;
            }
            self.heap.swap(at, child);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_order() {
        let mut state = 3u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as i64
        };
        for _ in 0..200 {
            let mut queue = PositionQueue::new(8, |left, right| left < right);
            let mut keys: Vec<(i64, i64)> = (0..next(20)).map(|_| (next(6), next(6))).collect();
            keys.iter().enumerate().for_each(|(part, key)| queue.push(*key, part));
            if let Some((first, part)) = queue.first() {
                keys[part] = (first.0 + next(4), first.1);
                queue.replace_first(keys[part]);
            }
            keys.sort_unstable();
            let mut found = Vec::new();
            while let Some((key, _)) = queue.pop() {
                found.push(key);
            }
            assert_eq!(found, keys);
        }
    }
}
