//! Czech, Bulgarian and Russian, and also Latvian and Swedish. Source: Lucene's light stemmers of these
//! languages.

use super::endings::{CZECH, RUSSIAN, SWEDISH, cut};
use super::suffix::{Suffix, Word};

/// Stems a word like Lucene's `CzechStemmer`.
pub fn czech(word: &mut Word) {
    cut(word, CZECH);
    if word.len() > 5 && (word.ends("ov") || word.ends("in") || word.ends("ův")) {
        word.cut(2);
    }
    if word.is_empty() {
        return;
    }
    let last = word.back(1);
    if word.ends("čt") {
        word.cut(2);
        word.extend(['c', 'k']);
    } else if word.ends("št") {
        word.cut(2);
        word.extend(['s', 'k']);
    } else if matches!(last, 'c' | 'č') {
        word.put(1, 'k');
    } else if matches!(last, 'z' | 'ž') {
        word.put(1, 'h');
    } else if word.len() > 1 && word.back(2) == 'e' {
        word.put(2, last);
        word.cut(1);
    } else if word.len() > 2 && word.back(2) == 'ů' {
        word.put(2, 'o');
    }
}

/// Stems a word like Lucene's `RussianLightStemmer`.
pub fn russian_light(word: &mut Word) {
    cut(word, RUSSIAN);
    if word.len() > 3 && (matches!(word.back(1), 'ь' | 'и') || word.ends("нн")) {
        word.cut(1);
    }
}

/// Stems a word like Lucene's `SwedishLightStemmer`.
pub fn swedish_light(word: &mut Word) {
    if word.len() > 4 {
        word.strip("s");
    }
    cut(word, SWEDISH);
}

/// Stems a word like Lucene's `BulgarianStemmer`.
pub fn bulgarian(word: &mut Word) {
    if word.len() < 4 {
        return;
    }
    if word.len() > 5 && word.ends("ища") {
        word.cut(3);
        return;
    }
    if word.len() > 6 && word.ends("ият") {
        word.cut(3);
    } else if word.len() > 5 && ["ът", "то", "те", "та", "ия"].iter().any(|ending| word.ends(ending))
        || word.len() > 4 && word.ends("ят")
    {
        word.cut(2);
    }
    bulgarian_plural(word);
    if word.len() > 3 {
        word.strip("я");
        let _ = word.strip("а") || word.strip("о") || word.strip("е");
    }
    if word.len() > 4 && word.ends("ен") {
        word.put(2, 'н');
        word.cut(1);
    }
    if word.len() > 5 && word.back(2) == 'ъ' {
        let last = word.back(1);
        word.put(2, last);
        word.cut(1);
    }
}

/// Minimum length, ending, and its replacement.
const BULGARIAN_PLURALS: &[(usize, &str, &str)] = &[
    (6, "овци", "о"),
    (6, "ове", ""),
    (6, "еве", "й"),
    (5, "ища", ""),
    (5, "та", ""),
    (5, "ци", "к"),
    (5, "зи", "г"),
];

fn bulgarian_plural(word: &mut Word) {
    let length = word.len();
    let found = BULGARIAN_PLURALS.iter().find(|(least, ending, _)| length > *least && word.ends(ending));
    if let Some((_, ending, to)) = found {
        word.strip(ending);
        word.extend(to.chars());
    } else if length > 5 && word.back(3) == 'е' && word.back(1) == 'и' {
        word.put(3, 'я');
        word.cut(1);
    } else if length > 4 && word.ends("си") {
        word.put(2, 'х');
        word.cut(1);
    } else if length > 4 {
        word.strip("и");
    }
}

/// Ending, a number of vowels that the word must exceed, and whether the ending changed the letter before it.
#[rustfmt::skip]
const LATVIAN: &[(&str, usize, bool)] = &[
    ("ajiem", 3, false), ("ajai", 3, false), ("ajam", 2, false), ("ajām", 2, false), ("ajos", 2, false),
    ("ajās", 2, false), ("iem", 2, true), ("ajā", 2, false), ("ais", 2, false), ("ai", 2, false), ("ei", 2, false),
    ("ām", 1, false), ("am", 1, false), ("ēm", 1, false), ("īm", 1, false), ("im", 1, false), ("um", 1, false),
    ("us", 1, true), ("as", 1, false), ("ās", 1, false), ("es", 1, false), ("os", 1, true), ("ij", 1, false),
    ("īs", 1, false), ("ēs", 1, false), ("is", 1, false), ("ie", 1, false), ("u", 1, true), ("a", 1, true),
    ("i", 1, true), ("e", 1, false), ("ā", 1, false), ("ē", 1, false), ("ī", 1, false), ("ū", 1, false),
    ("o", 1, false), ("s", 0, false), ("š", 0, false),
];

/// Changed letters and their original form.
const LATVIAN_CHANGES: &[(&str, &str)] = &[
    ("pj", "p"),
    ("bj", "b"),
    ("mj", "m"),
    ("vj", "v"),
    ("šņ", "sn"),
    ("žņ", "zn"),
    ("šļ", "sl"),
    ("žļ", "zl"),
    ("ļņ", "ln"),
    ("ļļ", "ll"),
    ("č", "c"),
    ("ļ", "l"),
    ("ņ", "n"),
];

/// Stems a word like Lucene's `LatvianStemmer`.
pub fn latvian(word: &mut Word) {
    let vowels =
        word.iter().filter(|c| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'ā' | 'ī' | 'ē' | 'ū')).count();
    let found = LATVIAN.iter().find(|(ending, more_than, _)| {
        vowels > *more_than && word.len() >= ending.chars().count() + 3 && word.ends(ending)
    });
    let Some((ending, _, changes)) = found else { return };
    word.strip(ending);
    if !changes {
        return;
    }
    let of_u: &[(&str, &str)] = if ending.starts_with('u') { &[("kš", "kst"), ("ņņ", "nn")] } else { &[] };
    if let Some((from, to)) = of_u.iter().chain(LATVIAN_CHANGES).find(|(from, _)| word.ends(from)) {
        word.strip(from);
        word.extend(to.chars());
    }
}
