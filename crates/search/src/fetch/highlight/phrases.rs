//! Where a phrase matches the tokens of a text: its words in order, or within its slop of one another.
//!
//! A match is built around each occurrence of the first word, with the nearest occurrences of the others.
//! Lucene enumerates sloppy matches differently (`SloppyPhraseMatcher`), so it may mark other words.

use super::tokens::Tokens;

/// One position of a phrase: a word or several alternatives.
struct Slot {
    /// Position in the phrase.
    offset: i64,
    /// Indexes of its tokens, ascending.
    places: Vec<u32>,
}

/// Returns start and end of each match, by its first word. `slots`: (position in the phrase, alternative
/// terms), positions ascending.
///
/// The cost is proportional to the occurrences of the first word, times the slots, times the choices that
/// the slop allows.
pub(super) fn phrases_in(slots: &[(u32, Vec<Box<[u8]>>)], slop: u32, tokens: &Tokens) -> Vec<(usize, usize)> {
    let slots: Vec<Slot> = slots.iter().map(|(offset, terms)| Slot::of(*offset, terms, tokens)).collect();
    let Some((first, others)) = slots.split_first() else { return Vec::new() };
    if others.iter().any(|slot| slot.places.is_empty()) {
        return Vec::new();
    }
    let slop = i64::from(slop);
    let mut found = Vec::new();
    // Indexed by token: the number, from 1, of the occurrence of the first word that last used it.
    let mut taken_for = vec![0u32; tokens.len()];
    for (number, &place) in (1..).zip(&first.places) {
        let (token, origin) = (tokens.get(place), first.shifted(place, tokens));
        let (mut begin, mut end) = (token.start, token.end);
        let (mut least, mut most) = (origin, origin);
        taken_for[place as usize] = number;
        let is_whole = others.iter().all(|slot| {
            let is_free = |place: &u32| taken_for[*place as usize] != number;
            let Some(place) = slot.nearest(origin, slop, tokens, is_free) else { return false };
            taken_for[place as usize] = number;
            let (token, shifted) = (tokens.get(place), slot.shifted(place, tokens));
            (begin, end) = (begin.min(token.start), end.max(token.end));
            (least, most) = (least.min(shifted), most.max(shifted));
            most - least <= slop
        });
        if is_whole {
            found.push((begin, end));
        }
    }
    found
}

impl Slot {
    fn of(offset: u32, terms: &[Box<[u8]>], tokens: &Tokens) -> Slot {
        let mut places: Vec<u32> = terms.iter().flat_map(|term| tokens.indexes_of(term)).copied().collect();
        if terms.len() > 1 {
            places.sort_unstable();
            places.dedup();
        }
        Slot { offset: i64::from(offset), places }
    }

    /// Returns where the phrase begins if this token fills this slot.
    fn shifted(&self, place: u32, tokens: &Tokens) -> i64 {
        i64::from(tokens.get(place).position) - self.offset
    }

    /// Returns the free token for which the phrase begins nearest to `origin`, at most `slop` away; the
    /// first of two.
    fn nearest(
        &self,
        origin: i64,
        slop: i64,
        tokens: &Tokens,
        is_free: impl Fn(&u32) -> bool,
    ) -> Option<u32> {
        let distance = |place: u32| (self.shifted(place, tokens) - origin).abs();
        let next = self.places.partition_point(|place| self.shifted(*place, tokens) < origin);
        let is_near = |place: &u32| distance(*place) <= slop;
        let (before, behind) = self.places.split_at(next);
        let before = before.iter().rev().copied().take_while(is_near).find(&is_free);
        let behind = behind.iter().copied().take_while(is_near).find(&is_free);
        match (before, behind) {
            (Some(before), Some(behind)) if distance(behind) < distance(before) => Some(behind),
            (before, behind) => before.or(behind),
        }
    }
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
        assert_eq!(phrases_in(&phrase(words), slop, &tokens(text)), expected, "{words}~{slop} in {text}");
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
        assert_eq!(phrases_in(&phrase("aa"), 0, &tokens).len(), 499_999);
        assert_eq!(phrases_in(&phrase("aa"), 3, &tokens).len(), 500_000);
    }
}
