//! Which numbers of a list are followed by one of another list, at a fixed distance?

/// Lists are padded to a multiple of this many numbers, which are compared at once.
pub const LANES: usize = 8;

/// Pads lists. No number of a list may be equal to it.
pub const PADDING: u32 = u32::MAX;

/// Returns the length of a list of `count` numbers with its padding.
#[inline]
pub fn padded(count: u32) -> usize {
    (count as usize).next_multiple_of(LANES)
}

/// Several lists of starts, one for each document.
#[derive(Debug, Default)]
pub struct Starts {
    numbers: Vec<u32>,
    counts: Vec<u32>,
    /// In a pass: documents and starts that were passed, and starts that were kept.
    document: usize,
    read: usize,
    kept: usize,
}

impl Starts {
    /// Removes all documents.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.counts.clear();
    }

    /// Returns the length of each list.
    #[inline]
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Appends documents with the numbers of their lists, less `place`; those below it are left out. `lists`
    /// has lists of `counts` numbers each, one after the other, with padding.
    pub fn append(&mut self, lists: &[u32], counts: &[u32], place: u32) {
        let mut from = 0;
        for count in counts {
            let list = &lists[from..][..*count as usize];
            let below = list.iter().take_while(|number| **number < place).count();
            self.numbers.extend(list[below..].iter().map(|number| number.wrapping_sub(place)));
            self.counts.push((list.len() - below) as u32);
            from += padded(*count);
        }
    }

    /// Keeps the documents at these ascending indices.
    pub fn keep_documents(&mut self, indices: impl IntoIterator<Item = usize>) {
        let (mut document, mut read, mut kept, mut kept_documents) = (0, 0, 0, 0);
        for index in indices {
            read += self.counts[document..index].iter().map(|count| *count as usize).sum::<usize>();
            let count = self.counts[index] as usize;
            self.numbers.copy_within(read..read + count, kept);
            self.counts[kept_documents] = self.counts[index];
            (document, read, kept, kept_documents) =
                (index + 1, read + count, kept + count, kept_documents + 1);
        }
        self.numbers.truncate(kept);
        self.counts.truncate(kept_documents);
    }

    /// Begins a pass over the documents with [`Starts::keep_followed`].
    pub fn begin_pass(&mut self) {
        (self.document, self.read, self.kept) = (0, 0, 0);
    }

    /// Ends a pass over all documents.
    pub fn end_pass(&mut self) {
        self.numbers.truncate(self.kept);
    }

    /// Keeps the starts of the next documents of the pass for which `lists` has the number `start + place` in
    /// the list of the same document. `lists` has a list for each of these documents, with padding.
    pub fn keep_followed(&mut self, lists: &[u32], counts: &[u32], place: u32) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, the only requirement; the body is safe code.
            return unsafe { self.keep_followed_avx2(lists, counts, place) };
        }
        self.keep_followed_any(lists, counts, place);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn keep_followed_avx2(&mut self, lists: &[u32], counts: &[u32], place: u32) {
        self.keep_followed_any(lists, counts, place);
    }

    #[inline(always)]
    fn keep_followed_any(&mut self, lists: &[u32], counts: &[u32], place: u32) {
        let Starts { numbers, counts: own, document, read, kept } = self;
        let (mut from, numbers) = (0, &mut numbers[..]);
        for (own, count) in own[*document..].iter_mut().zip(counts) {
            let len = padded(*count);
            let (list, _) = lists[from..from + len].as_chunks::<LANES>();
            let (until, first) = (*read + *own as usize, *kept);
            // Long lists are walked together, short ones are compared without branches.
            if (until - *read) * list.len() > 2 * (until - *read + len) {
                let list = &lists[from..from + *count as usize];
                let mut at = 0;
                while *read < until && at < list.len() {
                    let (start, number) = (numbers[*read], list[at]);
                    let wanted = start.saturating_add(place);
                    numbers[*kept] = start;
                    *kept += usize::from(wanted == number);
                    *read += usize::from(wanted <= number);
                    at += usize::from(number <= wanted);
                }
                *read = until;
            } else {
                while *read < until {
                    let start = numbers[*read];
                    // A start that is too great saturates to the padding, which no list has as a number.
                    let wanted = start.saturating_add(place);
                    let has = |lanes: &[u32; LANES]| {
                        lanes.iter().fold(0, |found, number| found | u32::from(*number == wanted))
                    };
                    let found = list.iter().fold(0, |found, lanes| found | has(lanes));
                    numbers[*kept] = start;
                    *kept += usize::from(found != 0 && wanted != PADDING);
                    *read += 1;
                }
            }
            *own = (*kept - first) as u32;
            from += len;
        }
        *document += counts.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document: the numbers of two terms.
    type Document<'d> = (&'d [u32], &'d [u32]);

    #[track_caller]
    fn check(documents: &[Document<'_>], place: u32) {
        let lists = |of: for<'d> fn(&Document<'d>) -> &'d [u32], documents: &[Document<'_>]| {
            let (mut all, mut counts) = (Vec::new(), Vec::new());
            for document in documents {
                let list = of(document);
                all.extend(list);
                all.resize(all.len() + padded(list.len() as u32) - list.len(), PADDING);
                counts.push(list.len() as u32);
            }
            (all, counts)
        };
        let (all, counts) = lists(|(starts, _)| starts, documents);
        let (followers, follower_counts) = lists(|(_, numbers)| numbers, documents);
        let expected: Vec<Vec<u32>> = documents
            .iter()
            .map(|(starts, numbers)| {
                let starts = starts.iter().filter_map(|start| start.checked_sub(2));
                let is_followed =
                    |start: &u32| start.checked_add(place).is_some_and(|wanted| numbers.contains(&wanted));
                starts.filter(is_followed).collect()
            })
            .collect();
        for is_fast in [true, false] {
            let mut starts = Starts::default();
            starts.append(&all, &counts, 2);
            starts.begin_pass();
            let first = documents.len().min(1);
            let middle = follower_counts[..first].iter().map(|count| padded(*count)).sum();
            let parts = [
                (&followers[..middle], &follower_counts[..first]),
                (&followers[middle..], &follower_counts[first..]),
            ];
            for (lists, counts) in parts {
                match is_fast {
                    true => starts.keep_followed(lists, counts, place),
                    false => starts.keep_followed_any(lists, counts, place),
                }
            }
            starts.end_pass();
            assert_eq!(starts.numbers, expected.concat());
            assert!(starts.counts().iter().copied().eq(expected.iter().map(|list| list.len() as u32)));
            let odd = |at: &usize| at % 2 == 1;
            starts.keep_documents((0..expected.len()).filter(odd));
            let odd: Vec<_> = expected.iter().skip(1).step_by(2).cloned().collect();
            assert_eq!((starts.numbers, starts.counts.len()), (odd.concat(), odd.len()));
        }
    }

    #[test]
    fn starts_are_kept_where_a_number_follows() {
        let many: Vec<u32> = (2..=200).collect();
        let odd: Vec<u32> = (1..=99).step_by(2).collect();
        for place in [0, 1, 3, u32::MAX] {
            check(&[], place);
            check(&[(&[2, 5, 11], &[1, 5, 10]), (&[0, 1], &[1]), (&[7], &[]), (&[9], &[8])], place);
            check(&[(&many, &odd), (&odd, &many), (&[40], &many), (&many, &[70]), (&[], &many)], place);
            check(&[(&[u32::MAX - 1, u32::MAX - 1], &[3])], place);
        }
    }
}
