//! A log that grows without moving its values, in memory that the next buffer can reuse.

/// Bytes per chunk. The allocator hands freed chunks of one size to the next buffer, so their pages are
/// faulted in only once. A vector that doubles is copied again and again, may be half empty, and leaves
/// holes of every size.
const CHUNK_BYTES: usize = 64 << 10;

/// Values in the order they were added. The first chunk doubles as it fills, so that a log of few values
/// takes little memory; later chunks are allocated whole and never move.
pub struct ChunkLog<T> {
    /// [`ChunkLog::CHUNK_LEN`] values each.
    full: Vec<Vec<T>>,
    last: Vec<T>,
}

impl<T> Default for ChunkLog<T> {
    fn default() -> ChunkLog<T> {
        ChunkLog { full: Vec::new(), last: Vec::new() }
    }
}

impl<T: Copy> ChunkLog<T> {
    /// Values per full chunk.
    const CHUNK_LEN: usize = {
        assert!(size_of::<T>().is_power_of_two());
        CHUNK_BYTES / size_of::<T>()
    };

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.full.len() * Self::CHUNK_LEN + self.last.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty() && self.full.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        if self.last.len() == self.last.capacity() {
            self.grow();
        }
        self.last.push(value);
    }

    pub(crate) fn extend_from_slice(&mut self, mut values: &[T]) {
        loop {
            let room = self.last.capacity() - self.last.len();
            let Some((fitting, rest)) = values.split_at_checked(room) else { break };
            self.last.extend_from_slice(fitting);
            if rest.is_empty() {
                return;
            }
            values = rest;
            self.grow();
        }
        self.last.extend_from_slice(values);
    }

    /// Appends the values of an iterator.
    #[inline]
    pub fn extend(&mut self, values: impl ExactSizeIterator<Item = T>) {
        if self.last.capacity() - self.last.len() < values.len() {
            return values.for_each(|value| self.push(value));
        }
        self.last.extend(values);
    }

    /// Makes space for at least one value.
    #[cold]
    fn grow(&mut self) {
        if self.last.len() < Self::CHUNK_LEN {
            let len = (self.last.len() * 2).clamp(4, Self::CHUNK_LEN);
            self.last.reserve_exact(len - self.last.len());
        } else {
            let next = Vec::with_capacity(Self::CHUNK_LEN);
            self.full.push(std::mem::replace(&mut self.last, next));
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> T {
        match self.full.get(at / Self::CHUNK_LEN) {
            Some(chunk) => chunk[at % Self::CHUNK_LEN],
            None => self.last[at - self.full.len() * Self::CHUNK_LEN],
        }
    }

    /// Replaces the value at `at`.
    #[inline]
    pub fn set(&mut self, at: usize, value: T) {
        match self.full.get_mut(at / Self::CHUNK_LEN) {
            Some(chunk) => chunk[at % Self::CHUNK_LEN] = value,
            None => self.last[at % Self::CHUNK_LEN] = value,
        }
    }

    #[inline]
    pub(crate) fn last(&self) -> Option<T> {
        self.last.last().or_else(|| self.full.last()?.last()).copied()
    }

    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        match self.last.last_mut() {
            None => self.full.last_mut()?.last_mut(),
            last => last,
        }
    }

    /// Drops all values from `len` on.
    pub fn truncate(&mut self, len: usize) {
        while len < self.full.len() * Self::CHUNK_LEN
            && let Some(chunk) = self.full.pop()
        {
            self.last = chunk;
        }
        self.last.truncate(len - self.full.len() * Self::CHUNK_LEN);
    }

    /// Returns the values from `start` to `end` in order, in slices.
    pub fn slices(&self, start: usize, end: usize) -> impl Iterator<Item = &[T]> {
        let mut at = start;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let number = at / Self::CHUNK_LEN;
                let first = number * Self::CHUNK_LEN;
                let chunk = self.full.get(number).unwrap_or(&self.last);
                let slice = &chunk[at - first..(end - first).min(chunk.len())];
                at += slice.len();
                slice
            })
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + Clone {
        self.chunks().flatten().copied()
    }

    /// Returns all values in order, in slices.
    pub fn chunks(&self) -> impl Iterator<Item = &[T]> + Clone {
        self.full.iter().chain([&self.last]).map(Vec::as_slice)
    }

    /// Returns all values as one vector. Frees each chunk once it is copied.
    pub fn into_vec(self) -> Vec<T> {
        if self.full.is_empty() {
            return self.last;
        }
        let mut values = Vec::with_capacity(self.len());
        self.full.into_iter().chain([self.last]).for_each(|chunk| values.extend_from_slice(&chunk));
        values
    }

    /// Returns the allocated bytes.
    pub fn memory_bytes(&self) -> usize {
        let values = self.full.len() * Self::CHUNK_LEN + self.last.capacity();
        values * size_of::<T>() + self.full.capacity() * size_of::<Vec<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHUNK_LEN: usize = ChunkLog::<u32>::CHUNK_LEN;

    #[derive(Debug, Clone)]
    enum Step {
        Push,
        Extend(usize),
        Iterate(usize),
        /// Truncates to this many thousandths of the length.
        Truncate(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => Just(Step::Push),
            3 => (0..CHUNK_LEN * 5 / 2).prop_map(Step::Extend),
            2 => (0..CHUNK_LEN * 3 / 2).prop_map(Step::Iterate),
            1 => Just(Step::Extend(CHUNK_LEN)),
            2 => (0..=1000usize).prop_map(Step::Truncate),
        ];
        prop::collection::vec(step, 0..20)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn holds_what_a_vector_holds(steps in steps(), bounds in (0..=1000usize, 0..=1000usize)) {
            let (mut log, mut expected) = (ChunkLog::default(), Vec::new());
            let mut values = 0u32..;
            for step in steps {
                match step {
                    Step::Push => {
                        let value = values.next().unwrap_or(0);
                        log.push(value);
                        expected.push(value);
                    }
                    Step::Extend(len) => {
                        let new: Vec<u32> = values.by_ref().take(len).collect();
                        log.extend_from_slice(&new);
                        expected.extend(new);
                    }
                    Step::Iterate(len) => {
                        let new: Vec<u32> = values.by_ref().take(len).collect();
                        log.extend(new.iter().copied());
                        expected.extend(new);
                    }
                    Step::Truncate(thousandths) => {
                        let len = expected.len() * thousandths / 1000;
                        log.truncate(len);
                        expected.truncate(len);
                    }
                }
                prop_assert_eq!((log.len(), log.last()), (expected.len(), expected.last().copied()));
                prop_assert_eq!(log.last_mut(), expected.last_mut());
            }
            if let Some(at) = expected.len().checked_sub(1).map(|last| last * bounds.0 / 1000) {
                log.set(at, u32::MAX);
                expected[at] = u32::MAX;
            }
            let [a, b] = [bounds.0, bounds.1].map(|thousandths| expected.len() * thousandths / 1000);
            let (start, end) = (a.min(b), a.max(b));
            prop_assert_eq!(log.slices(start, end).collect::<Vec<_>>().concat(), &expected[start..end]);
            prop_assert!(log.iter().eq(expected.iter().copied()));
            prop_assert!((0..expected.len()).step_by(997).all(|at| log.get(at) == expected[at]));
            prop_assert_eq!(log.into_vec(), expected);
        }
    }

    #[track_caller]
    fn check_memory(len: usize, at_most_bytes: usize) {
        let mut log = ChunkLog::default();
        (0..len as u32).for_each(|value| log.push(value));
        assert!((len * 4..=at_most_bytes).contains(&log.memory_bytes()), "{} bytes", log.memory_bytes());
    }

    #[test]
    fn few_values_take_little_and_many_waste_little() {
        check_memory(0, 0);
        check_memory(1, 16);
        check_memory(100, 512);
        check_memory(CHUNK_LEN, CHUNK_BYTES);
        check_memory(10 * CHUNK_LEN + 1, 11 * CHUNK_BYTES + 16 * size_of::<Vec<u32>>());
    }
}
