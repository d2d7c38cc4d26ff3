//! German. Source: Lucene's `GermanLightStemmer` and `GermanMinimalStemmer`, after J. Savoy.

use super::suffix::{Suffix, Word};

fn allows_s(c: char) -> bool {
    matches!(c, 'b' | 'd' | 'f' | 'g' | 'h' | 'k' | 'l' | 'm' | 'n' | 't')
}

/// Stems a word like Lucene's `GermanLightStemmer`.
pub fn light(word: &mut Word) {
    for c in word.iter_mut() {
        *c = match *c {
            'ä' | 'à' | 'á' | 'â' => 'a',
            'ö' | 'ò' | 'ó' | 'ô' => 'o',
            'ï' | 'ì' | 'í' | 'î' => 'i',
            'ü' | 'ù' | 'ú' | 'û' => 'u',
            other => other,
        };
    }
    let length = word.len();
    if length > 5 && word.ends("ern") {
        word.cut(3);
    } else if length > 4 && word.back(2) == 'e' && matches!(word.back(1), 'm' | 'n' | 'r' | 's') {
        word.cut(2);
    } else if length > 3 && (word.back(1) == 'e' || word.back(1) == 's' && allows_s(word.back(2))) {
        word.cut(1);
    }
    let length = word.len();
    if length > 5 && word.ends("est") {
        word.cut(3);
    } else if length > 4 && (word.ends("er") || word.ends("en") || word.ends("st") && allows_s(word.back(3)))
    {
        word.cut(2);
    }
}

/// Stems a word like Lucene's `GermanMinimalStemmer`.
pub fn minimal(word: &mut Word) {
    if word.len() < 5 {
        return;
    }
    for c in word.iter_mut() {
        *c = match *c {
            'ä' => 'a',
            'ö' => 'o',
            'ü' => 'u',
            other => other,
        };
    }
    if word.len() > 6 && word.ends("nen") {
        word.cut(3);
    } else if word.len() > 5 && ["en", "se", "es", "er"].iter().any(|end| word.ends(end)) {
        word.cut(2);
    } else if matches!(word.back(1), 'n' | 'e' | 's' | 'r') {
        word.cut(1);
    }
}
