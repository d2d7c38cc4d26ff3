//! Sorts terms by their bytes, eight at a time.

/// Runs up to this length are compared whole; longer ones are sorted by their next eight bytes.
const SMALL_RUN: usize = 24;

/// Returns the eight bytes of `term` from `depth` as a number that sorts like them, padded with zeros.
#[inline]
fn key(term: &[u8], depth: usize) -> u64 {
    let rest = term.get(depth..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            let mut chunk = [0; 8];
            chunk[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(chunk)
        }
    }
}

/// Sorts `numbers` by the terms they stand for. Sorting pairs of (eight bytes, number) keeps most
/// comparisons inside the array; comparing the terms themselves would cause two cache misses each. Runs of
/// equal pairs are sorted by their next eight bytes.
pub fn sort_by_term<'a>(numbers: &mut [u32], term: impl Fn(u32) -> &'a [u8]) {
    let [first, rest @ ..] = &*numbers else { return };
    let mut depth = term(*first).len();
    for &number in rest {
        let (a, b) = (&term(*first)[..depth], term(number));
        if !b.starts_with(a) {
            depth = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        }
        // Generated ids differ from the first byte on, so they leave here early.
        if depth == 0 {
            break;
        }
    }
    let mut pairs: Vec<(u64, u32)> =
        numbers.iter().map(|&number| (key(term(number), depth), number)).collect();
    sort_pairs(&mut pairs, depth, &term);
    for (number, pair) in numbers.iter_mut().zip(pairs) {
        *number = pair.1;
    }
}

fn sort_pairs<'a>(pairs: &mut [(u64, u32)], depth: usize, term: &impl Fn(u32) -> &'a [u8]) {
    sort_by_key(pairs);
    let next = depth + 8;
    for run in pairs.chunk_by_mut(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        let some_go_on = || run.iter().any(|pair| term(pair.1).len() > next);
        if run.len() <= SMALL_RUN || !some_go_on() {
            run.sort_unstable_by(|a, b| {
                let (a, b) = (term(a.1), term(b.1));
                let rest = a.get(next..).unwrap_or_default().cmp(b.get(next..).unwrap_or_default());
                // The terms are equal up to the end of one of them, so they differ only in the number of
                // zero bytes at the end; the shorter one comes first.
                rest.then(a.len().cmp(&b.len()))
            });
        } else {
            let mut depth = next;
            loop {
                run.iter_mut().for_each(|pair| pair.0 = key(term(pair.1), depth));
                let differ = run.iter().any(|pair| pair.0 != run[0].0);
                if differ || run.iter().any(|pair| term(pair.1).len() < depth + 8) {
                    break;
                }
                // Long common prefixes are skipped in this loop instead of by recursion.
                depth += 8;
            }
            sort_pairs(run, depth, term);
        }
    }
}

/// Sorts by the keys. Uses a stable radix sort if that takes few passes: generated ids differ in few of
/// their first bytes, and ids with equal first bytes keep the order of documents, which is mostly the order
/// of the remaining bytes.
fn sort_by_key(pairs: &mut [(u64, u32)]) {
    if pairs.is_sorted_by_key(|pair| pair.0) {
        return;
    }
    let first = pairs[0].0;
    let varying = pairs.iter().fold(0, |bits, pair| bits | (pair.0 ^ first));
    let mut digits = (0..64u32).step_by(8).filter(|shift| varying >> shift & 0xff != 0);
    if pairs.len() < RADIX_PAIRS_MIN || digits.clone().count() > RADIX_PASSES_MAX {
        return pairs.sort_unstable_by_key(|pair| pair.0);
    }
    let mut other = pairs.to_vec();
    while let Some(shift) = digits.next() {
        radix_pass(pairs, &mut other, shift);
        match digits.next() {
            Some(shift) => radix_pass(&other, pairs, shift),
            None => pairs.copy_from_slice(&other),
        }
    }
}

/// Below this number of pairs a comparison sort is as fast.
const RADIX_PAIRS_MIN: usize = 128;
/// With more passes than this a comparison sort is as fast.
const RADIX_PASSES_MAX: usize = 5;

/// Copies `from` to `to`, sorted by the byte of their keys at `shift`; stable.
fn radix_pass(from: &[(u64, u32)], to: &mut [(u64, u32)], shift: u32) {
    let digit = |pair: &(u64, u32)| (pair.0 >> shift) as u8 as usize;
    let mut starts = [0u32; 256];
    from.iter().for_each(|pair| starts[digit(pair)] += 1);
    let mut next = 0;
    for start in &mut starts {
        (*start, next) = (next, next + *start);
    }
    for pair in from {
        let start = &mut starts[digit(pair)];
        to[*start as usize] = *pair;
        *start += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_many(term: impl Fn(u32) -> Vec<u8>) {
        let terms: Vec<Vec<u8>> = (0..5000).map(term).collect();
        let mut numbers: Vec<u32> = (0..5000).collect();
        sort_by_term(&mut numbers, |number| &terms[number as usize]);
        let sorted: Vec<&Vec<u8>> = numbers.iter().map(|&number| &terms[number as usize]).collect();
        assert!(sorted.is_sorted());
        numbers.sort_unstable();
        assert!(numbers.iter().enumerate().all(|(i, &number)| i as u32 == number));
    }

    #[test]
    fn many_long_equal_terms_are_put_side_by_side() {
        // One in ten has a byte after the common prefix.
        check_many(|number| [vec![b'x'; 20_000], vec![b'a'; (number % 10 / 9) as usize]].concat());
    }

    #[test]
    fn sorts_many_by_few_and_by_all_bytes() {
        let mixed = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        check_many(|number| mixed(number).repeat(2));
        for bytes in 1..6 {
            check_many(|number| [&mixed(number)[..bytes], b"abcdefgh", &number.to_be_bytes()].concat());
            check_many(|number| [&mixed(number)[..bytes], b"abcdefgh", &mixed(number + 7)].concat());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn sorts_like_slices(
            prefix in prop::collection::vec(0u8..3, 0..20),
            mut terms in prop::collection::vec(prop::collection::vec(0u8..3, 0..24), 0..300),
        ) {
            terms.iter_mut().for_each(|term| { term.splice(0..0, prefix.iter().copied()); });
            let mut numbers: Vec<u32> = (0..terms.len() as u32).collect();
            sort_by_term(&mut numbers, |number| &terms[number as usize]);
            let sorted: Vec<&Vec<u8>> = numbers.iter().map(|&number| &terms[number as usize]).collect();
            prop_assert!(sorted.is_sorted());
            numbers.sort_unstable();
            prop_assert!(numbers.iter().enumerate().all(|(i, &number)| i as u32 == number));
        }
    }
}
