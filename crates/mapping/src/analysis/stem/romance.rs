//! Spanish, Italian and Portuguese. Source: Lucene's light stemmers, after J. Savoy.

use super::suffix::{Suffix, Word, without_accent};

fn drop_accents(word: &mut Word) {
    for c in word {
        *c = without_accent(*c);
    }
}

/// Stems a word like Lucene's `SpanishLightStemmer`.
pub fn spanish_light(word: &mut Word) {
    if word.len() < 5 {
        return;
    }
    drop_accents(word);
    match word.back(1) {
        'o' | 'a' | 'e' => word.cut(1),
        's' if word.ends("eses") => word.cut(2),
        's' if word.ends("ces") => {
            word.put(3, 'z');
            word.cut(2);
        }
        's' if matches!(word.back(2), 'o' | 'a' | 'e') => word.cut(2),
        _ => {}
    }
}

/// Stems a word like Lucene's `ItalianLightStemmer`.
pub fn italian_light(word: &mut Word) {
    if word.len() < 6 {
        return;
    }
    drop_accents(word);
    let before = word.back(2);
    match word.back(1) {
        'e' | 'i' => word.cut(if matches!(before, 'i' | 'h') { 2 } else { 1 }),
        'a' | 'o' => word.cut(if before == 'i' { 2 } else { 1 }),
        _ => {}
    }
}

/// Stems a word like Lucene's `PortugueseLightStemmer`.
pub fn portuguese_light(word: &mut Word) {
    if word.len() < 4 {
        return;
    }
    portuguese_suffix(word);
    if word.len() > 3 && word.back(1) == 'a' {
        feminine(word);
    }
    if word.len() > 4 && matches!(word.back(1), 'e' | 'a' | 'o') {
        word.cut(1);
    }
    for c in word.iter_mut() {
        *c = match *c {
            'ã' => 'a',
            'õ' => 'o',
            'ç' => 'c',
            other => without_accent(other),
        };
    }
}

/// Minimum length, suffix, and its replacement.
const PLURALS: &[(usize, &str, &str)] = &[
    (3, "ns", "m"),
    (4, "eis", "el"),
    (4, "éis", "el"),
    (4, "ais", "al"),
    (4, "óis", "ol"),
    (4, "is", "il"),
    (3, "ões", "ão"),
    (3, "ães", "ão"),
    (6, "mente", ""),
    (3, "s", ""),
];

fn portuguese_suffix(word: &mut Word) {
    let length = word.len();
    if length > 4 && word.ends("es") && matches!(word.back(3), 'r' | 's' | 'l' | 'z') {
        word.cut(2);
        return;
    }
    if let Some((_, suffix, to)) =
        PLURALS.iter().find(|(least, suffix, _)| length > *least && word.ends(suffix))
    {
        word.strip(suffix);
        word.extend(to.chars());
    }
}

fn feminine(word: &mut Word) {
    let ends = |list: &[&str]| list.iter().any(|suffix| word.ends(suffix));
    let to = if word.len() > 7 && ends(&["inha", "iaca", "eira"]) {
        (1, "o")
    } else if word.len() <= 6 {
        return;
    } else if ends(&["osa", "ica", "ida", "ada", "iva", "ama"]) {
        (1, "o")
    } else if word.ends("ona") {
        (3, "ão")
    } else if word.ends("ora") {
        (1, "")
    } else if word.ends("esa") {
        (3, "ês")
    } else if word.ends("na") {
        (1, "o")
    } else {
        return;
    };
    word.cut(to.0);
    word.extend(to.1.chars());
}
