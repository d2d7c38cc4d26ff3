//! A queue of parts by their positions.
//!
//! Among equal parts it returns the one that Lucene's `PriorityQueue` returns, since this decides what is
//! matched next. So it is the same heap, step by step.

/// Parts by their keys. `precedes` returns whether the first of two keys comes before the second; it is also
/// called with equal keys.
pub(crate) struct PositionQueue {
    heap: Vec<((i64, i64), usize)>,
    precedes: fn((i64, i64), (i64, i64)) -> bool,
}

impl PositionQueue {
    pub(crate) fn new(capacity: usize, precedes: fn((i64, i64), (i64, i64)) -> bool) -> PositionQueue {
        PositionQueue { heap: Vec::with_capacity(capacity), precedes }
    }

    /// Returns the number of queued parts.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// Returns the key and the part that come first.
    pub fn first(&self) -> Option<((i64, i64), usize)> {
        self.heap.first().copied()
    }

    /// Adds a part with its start and end.
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

    /// Removes the part that comes first, and returns it with its start and end.
    pub fn pop(&mut self) -> Option<((i64, i64), usize)> {
        let first = self.first()?;
        self.heap.swap_remove(0);
        self.sink();
        Some(first)
    }

    /// Changes the key of the first part.
    pub fn replace_first(&mut self, key: (i64, i64)) {
        if let Some(first) = self.heap.first_mut() {
            first.0 = key;
            self.sink();
        }
    }

    /// Moves the first part down the heap to its position.
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
