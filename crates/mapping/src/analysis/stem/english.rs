//! English plurals. Source: Lucene's `EnglishMinimalStemmer`.

use super::suffix::{Suffix, Word};

/// Replaces plurals by singulars, like Lucene's `EnglishMinimalStemmer`.
pub fn minimal(word: &mut Word) {
    if word.len() < 3 || word.back(1) != 's' {
        return;
    }
    match word.back(2) {
        'u' | 's' => {}
        'e' if word.len() > 3 && word.back(3) == 'i' && !matches!(word.back(4), 'a' | 'e') => {
            word.put(3, 'y');
            word.cut(2);
        }
        'e' if matches!(word.back(3), 'i' | 'a' | 'o' | 'e') => {}
        _ => word.cut(1),
    }
}
