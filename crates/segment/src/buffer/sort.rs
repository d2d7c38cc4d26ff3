//! The order of terms: "which of these byte strings comes first?", eight bytes at a time.

/// Runs up to this length are compared whole; longer ones are sorted by their next eight bytes.
const SMALL_RUN: usize = 24;

/// The eight bytes of `term` from `depth` as a number that sorts like them, zeros beyond the end.
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

/// Sorts `numbers` by the terms they stand for. Sorting pairs of (eight bytes, number) keeps most comparisons inside the array,
/// where comparing the terms themselves would miss the cache twice each; equal runs go on with the next eight bytes.
pub fn sort_by_term<'a>(numbers: &mut [u32], term: impl Fn(u32) -> &'a [u8]) {
    let depth = match numbers {
        [] => return,
        [first, rest @ ..] => rest.iter().fold(term(*first).len(), |depth, &number| {
            let (a, b) = (&term(*first)[..depth], term(number));
            if b.starts_with(a) { depth } else { a.iter().zip(b).take_while(|(x, y)| x == y).count() }
        }),
    };
    let mut pairs: Vec<(u64, u32)> =
        numbers.iter().map(|&number| (key(term(number), depth), number)).collect();
    sort_pairs(&mut pairs, depth, &term);
    for (number, pair) in numbers.iter_mut().zip(pairs) {
        *number = pair.1;
    }
}

fn sort_pairs<'a>(pairs: &mut [(u64, u32)], depth: usize, term: &impl Fn(u32) -> &'a [u8]) {
    pairs.sort_unstable_by_key(|pair| pair.0);
    let next = depth + 8;
    for run in pairs.chunk_by_mut(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        let some_go_on = || run.iter().any(|pair| term(pair.1).len() > next);
        if run.len() <= SMALL_RUN || !some_go_on() {
            run.sort_unstable_by(|a, b| {
                let (a, b) = (term(a.1), term(b.1));
                let rest = a.get(next..).unwrap_or_default().cmp(b.get(next..).unwrap_or_default());
                // Equal so far with one ended: they differ in how many zero bytes end them, so the shorter comes first.
                rest.then(a.len().cmp(&b.len()))
            });
        } else {
            run.iter_mut().for_each(|pair| pair.0 = key(term(pair.1), next));
            sort_pairs(run, next, term);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
