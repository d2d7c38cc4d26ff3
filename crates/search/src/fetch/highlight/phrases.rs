//! Where a phrase matches the tokens of a text: its words in order, or within its slop of one another.
//!
//! A match is built around each occurrence of the first word, with the nearest occurrences of the others.
//! Lucene enumerates sloppy matches differently (`SloppyPhraseMatcher`), so it may mark other words.

use std::collections::HashMap;

use limber_work as work;

use super::tokens::Tokens;
use crate::error::Result;

/// One position of a phrase: a word or several alternatives.
struct Slot {
    /// Position in the phrase.
    offset: i64,
    /// Index of its word; slots of the same terms share one.
    word: usize,
}

/// Returns start and end of each match, by its first word. `slots`: (position in the phrase, alternative
/// terms), positions ascending.
///
/// The cost is proportional to the occurrences of the first word, times the slots.
///
/// # Errors
/// There is not enough memory, or the request must end.
pub(super) fn phrases_in(
    slots: &[(u32, Vec<Box<[u8]>>)],
    slop: u32,
    tokens: &Tokens,
) -> Result<Vec<(usize, usize)>> {
    let (slots, mut words) = words_of(slots, tokens)?;
    let Some((first, others)) = slots.split_first() else { return Ok(Vec::new()) };
    if others.iter().any(|slot| words[slot.word].places.is_empty()) {
        return Ok(Vec::new());
    }
    let slop = i64::from(slop);
    let mut found = Vec::new();
    work::claim((tokens.len() * size_of::<u32>()) as u64)?;
    // Indexed by token: the number, from 1, of the occurrence of the first word that last used it.
    let mut taken_for = vec![0u32; tokens.len()];
    let shifted = |place: u32, slot: &Slot| i64::from(tokens.get(place).position) - slot.offset;
    for at in 0..words[first.word].places.len() {
        work::check_beyond_deadline()?;
        let (number, place) = (at as u32 + 1, words[first.word].places[at]);
        let (token, origin) = (tokens.get(place), shifted(place, first));
        let (mut begin, mut end) = (token.start, token.end);
        let (mut least, mut most) = (origin, origin);
        taken_for[place as usize] = number;
        let is_whole = others.iter().all(|slot| {
            let place = words[slot.word].nearest(number, &taken_for, |place| shifted(place, slot) - origin);
            let Some(place) = place else { return false };
            taken_for[place as usize] = number;
            let (token, shifted) = (tokens.get(place), shifted(place, slot));
            (begin, end) = (begin.min(token.start), end.max(token.end));
            (least, most) = (least.min(shifted), most.max(shifted));
            most - least <= slop
        });
        if is_whole {
            found.push((begin, end));
        }
    }
    Ok(found)
}

/// Returns the slots of a phrase, and their words.
fn words_of<'s>(slots: &'s [(u32, Vec<Box<[u8]>>)], tokens: &Tokens) -> Result<(Vec<Slot>, Vec<Word>)> {
    let mut numbers: HashMap<&'s [Box<[u8]>], usize> = HashMap::new();
    let (mut words, mut found) = (Vec::new(), Vec::new());
    for (offset, terms) in slots {
        let word = match numbers.get(&terms[..]) {
            Some(word) => *word,
            None => {
                words.push(Word::of(terms, tokens)?);
                numbers.insert(terms, words.len() - 1);
                words.len() - 1
            }
        };
        found.push(Slot { offset: i64::from(*offset), word });
    }
    Ok((found, words))
}

/// The occurrences of a word, or of its alternatives, in a text.
struct Word {
    /// Indexes of its tokens, ascending.
    places: Vec<u32>,
    /// For each index of `places` whose token is taken: the index at which the search for a free one goes on,
    /// downwards and upwards.
    before: Vec<Detour>,
    after: Vec<Detour>,
}

/// Leads past tokens that are taken.
#[derive(Clone, Copy, Default)]
struct Detour {
    /// The occurrence of the first word for which it holds.
    number: u32,
    to: u32,
}

impl Word {
    fn of(terms: &[Box<[u8]>], tokens: &Tokens) -> Result<Word> {
        let count: usize = terms.iter().map(|term| tokens.indexes_of(term).len()).sum();
        work::claim((count * (size_of::<u32>() + 2 * size_of::<Detour>())) as u64)?;
        let mut places: Vec<u32> = terms.iter().flat_map(|term| tokens.indexes_of(term)).copied().collect();
        if terms.len() > 1 {
            places.sort_unstable();
            places.dedup();
        }
        // One more: below the first index, and above the last, there is no token.
        let detours = || vec![Detour::default(); places.len() + 1];
        Ok(Word { before: detours(), after: detours(), places })
    }

    /// Returns the nearest token that `number` has not taken; if two are equally near, the first one.
    /// `distance` returns by how much later the phrase would begin than with the first word (negative:
    /// earlier); it ascends.
    fn nearest(&mut self, number: u32, taken_for: &[u32], distance: impl Fn(u32) -> i64) -> Option<u32> {
        let Word { places, before, after } = self;
        let next = places.partition_point(|place| distance(*place) < 0);
        let is_taken = |at: usize| taken_for[places[at] as usize] == number;
        let above = free(after, next, number, |at| (at < places.len() && is_taken(at)).then(|| at + 1));
        // Counted from 1 here, so that 0 is below the first.
        let below = free(before, next, number, |at| (at > 0 && is_taken(at - 1)).then(|| at - 1));
        let above = places.get(above).copied();
        let below = below.checked_sub(1).map(|at| places[at]);
        match (below, above) {
            (Some(below), Some(above)) if distance(above) < -distance(below) => Some(above),
            (below, above) => below.or(above),
        }
    }
}

/// Returns the first free index from `start` on. `further`: the next index to try after a taken one. Each
/// taken index is passed once, and then by its detour.
fn free(
    detours: &mut [Detour],
    start: usize,
    number: u32,
    further: impl Fn(usize) -> Option<usize>,
) -> usize {
    let mut at = start;
    loop {
        let detour = detours[at];
        match further(at) {
            _ if detour.number == number => at = detour.to as usize,
            Some(next) => at = next,
            None => break,
        }
    }
    // Every index on the way leads directly there from now on.
    let mut from = start;
    while from != at {
        let detour = detours[from];
        let next = match further(from) {
            _ if detour.number == number => detour.to as usize,
            Some(next) => next,
            None => at,
        };
        detours[from] = Detour { number, to: at as u32 };
        from = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::tokens::Token;
    use super::*;

    /// Returns tokens of one character, one at every position.
    fn tokens(words: &str) -> Tokens {
        let mut tokens = Tokens::default();
        for (at, word) in words.chars().enumerate() {
            let token = Token { position: at as u32, start: at, end: at + 1 };
            tokens.push(word.to_string().as_bytes(), token);
        }
        tokens
    }

    fn phrase(words: &str) -> Vec<(u32, Vec<Box<[u8]>>)> {
        (0..).zip(words.chars()).map(|(at, word)| (at, vec![word.to_string().as_bytes().into()])).collect()
    }

    fn check(words: &str, slop: u32, text: &str, expected: &[(usize, usize)]) {
        let found = phrases_in(&phrase(words), slop, &tokens(text)).expect("phrases");
        assert_eq!(found, expected, "{words}~{slop} in {text}");
    }

    #[test]
    fn words_are_in_order_or_within_the_slop() {
        check("ab", 0, "abxab", &[(0, 2), (3, 5)]);
        check("ab", 0, "axb", &[]);
        check("ab", 1, "axb", &[(0, 3)]);
        check("ab", 1, "ba", &[]);
        check("ab", 2, "ba", &[(0, 2)]);
        check("aa", 0, "aaa", &[(0, 2), (1, 3)]);
        check("", 0, "a", &[]);
    }

    #[test]
    fn a_token_is_one_word_of_a_match() {
        check("aa", 5, "xax", &[]);
        check("aba", 3, "xba", &[]);
        check("aa", 1, "axa", &[(0, 3)]);
    }

    /// Compares exact phrases with a substring search.
    #[test]
    fn exact_phrases_are_those_of_a_search_for_text() {
        let mut state = 5u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let mut word =
                |count: u64| (0..count).map(|_| ['a', 'b', 'c'][next(3) as usize]).collect::<String>();
            let (text, words) = (word(40), word(3));
            let expected: Vec<(usize, usize)> = (0..text.len() - 2)
                .filter(|at| text[*at..].starts_with(&words))
                .map(|at| (at, at + 3))
                .collect();
            check(&words, 0, &text, &expected);
        }
    }

    /// In quadratic time this would take 2.5 * 10^11 steps.
    #[test]
    fn a_frequent_word_twice_is_found_in_linear_time() {
        let tokens = tokens(&"a".repeat(500_000));
        let count = |slop| phrases_in(&phrase("aa"), slop, &tokens).expect("phrases").len();
        assert_eq!((count(0), count(3)), (499_999, 500_000));
    }

    /// The words that other slots took lie next to each other. Looking at each of them would take 10^9
    /// steps.
    #[test]
    fn taken_words_are_passed_at_once() {
        let tokens = tokens(&("a".repeat(2_000) + &"b".repeat(2_000)));
        let words = "b".to_owned() + &"a".repeat(1_000);
        let slots: Vec<_> = phrase(&words).into_iter().map(|(_, terms)| (0, terms)).collect();
        assert_eq!(phrases_in(&slots, u32::MAX, &tokens).expect("phrases").len(), 2_000);
    }
}
