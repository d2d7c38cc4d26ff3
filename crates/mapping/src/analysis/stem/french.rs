//! French. Source: Lucene's `FrenchLightStemmer` and `FrenchMinimalStemmer`, after J. Savoy.

use super::suffix::{Suffix, Word};
use crate::analysis::tokenizer::is_letter;

/// Minimum length, suffix, and its replacement. The first match ends the stemming.
const SUFFIXES: &[(usize, &str, &str)] = &[
    (5, "ième", ""),
    (7, "teuse", "ter"),
    (6, "teur", "ter"),
    (5, "euse", "eu"),
    (8, "ère", "er"),
    (7, "ive", "if"),
    (4, "folle", "fou"),
    (4, "molle", "mou"),
    (9, "nnelle", "n"),
    (9, "nnel", "n"),
];

const LATE: &[(usize, &str, &str)] =
    &[(8, "esse", "e"), (7, "inage", "in"), (9, "isateur", ""), (8, "ation", ""), (8, "ition", "")];

/// The same, tried before the others.
const EARLY: &[(usize, &str, &str)] = &[
    (11, "ficatrice", "fier"),
    (10, "ficateur", "fier"),
    (9, "catrice", "quer"),
    (8, "cateur", "quer"),
    (8, "atrice", "er"),
    (7, "ateur", "er"),
];

fn replace(word: &mut Word, rules: &[(usize, &str, &str)]) -> bool {
    let length = word.len();
    let Some((_, suffix, to)) = rules.iter().find(|(least, suffix, _)| length > *least && word.ends(suffix))
    else {
        return false;
    };
    word.strip(suffix);
    word.extend(to.chars());
    true
}

/// Stems a word like Lucene's `FrenchLightStemmer`.
pub fn light(word: &mut Word) {
    if word.len() > 5 && word.back(1) == 'x' {
        if word.back(3) == 'a' && word.back(2) == 'u' && word.back(4) != 'e' {
            word.put(2, 'l');
        }
        word.cut(1);
    }
    if word.len() > 3 && word.back(1) == 'x' {
        word.cut(1);
    }
    if word.len() > 3 && word.back(1) == 's' {
        word.cut(1);
    }
    suffixes(word);
    normal(word);
}

fn suffixes(word: &mut Word) {
    if replace(word, &[(9, "issement", "ir"), (8, "issant", "ir")]) {
        return;
    }
    if word.len() > 6 && word.ends("ement") {
        word.cut(4);
        if word.len() > 3 && word.ends("ive") {
            word.cut(1);
            word.put(1, 'f');
        }
        return;
    }
    if replace(word, EARLY) {
        return;
    }
    replace(word, &[(6, "trice", "teur")]);
    if replace(word, SUFFIXES) {
        return;
    }
    replace(word, &[(4, "ète", "et")]);
    replace(word, &[(8, "ique", "")]);
    if word.len() > 9 && word.ends("isation") {
        word.cut(7);
        if word.len() > 5 && word.ends("ual") {
            word.put(2, 'e');
        }
        return;
    }
    replace(word, LATE);
}

fn normal(word: &mut Word) {
    if word.len() > 4 {
        for c in word.iter_mut() {
            *c = match *c {
                'à' | 'á' | 'â' => 'a',
                'ô' => 'o',
                'è' | 'é' | 'ê' => 'e',
                'ù' | 'û' => 'u',
                'î' => 'i',
                'ç' => 'c',
                other => other,
            };
        }
        word.dedup_by(|c, before| c == before && is_letter(*c));
    }
    if word.len() > 4 {
        word.strip("ie");
    }
    if word.len() > 4 {
        word.strip("r");
        word.strip("e");
        word.strip("e");
        if word.back(1) == word.back(2) && is_letter(word.back(1)) {
            word.cut(1);
        }
    }
}

/// Stems a word like Lucene's `FrenchMinimalStemmer`.
pub fn minimal(word: &mut Word) {
    if word.len() < 6 {
        return;
    }
    if word.back(1) == 'x' {
        if word.back(3) == 'a' && word.back(2) == 'u' {
            word.put(2, 'l');
        }
        word.cut(1);
        return;
    }
    for suffix in ["s", "r", "e", "é"] {
        word.strip(suffix);
    }
    if word.back(1) == word.back(2) && is_letter(word.back(1)) {
        word.cut(1);
    }
}
