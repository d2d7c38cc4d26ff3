//! English words that carry no meaning for search.

/// Lucene's `EnglishAnalyzer.ENGLISH_STOP_WORDS_SET`.
pub(super) const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "will", "with",
];

/// Whether a token, in lower case, is one of them.
#[inline]
pub(super) fn is_stop_word(token: &str) -> bool {
    // Cheap ways out first: most tokens are longer, or start otherwise.
    token.len() <= 5
        && matches!(
            token.as_bytes().first(),
            Some(b'a' | b'b' | b'f' | b'i' | b'n' | b'o' | b's' | b't' | b'w')
        )
        && STOP_WORDS.binary_search(&token).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_found() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        for word in ["", "the ", "fox", "thei", "tax"] {
            assert!(!is_stop_word(word), "{word}");
        }
    }
}
