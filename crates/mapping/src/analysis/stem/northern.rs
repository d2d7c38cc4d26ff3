//! Norwegian, Finnish and Hungarian. Source: Lucene's light and minimal stemmers, after J. Savoy.

use super::suffix::{Suffix, Word};

/// The written language to which an ending belongs.
#[derive(Clone, Copy, PartialEq)]
enum Norwegian {
    Bokmal,
    Nynorsk,
    Both,
}

use Norwegian::{Bokmal, Both, Nynorsk};

/// Minimum length, ending, language.
type Endings = &'static [(usize, &'static str, Norwegian)];

const LIGHT: Endings = &[
    (7, "heter", Bokmal),
    (7, "heten", Bokmal),
    (7, "heita", Nynorsk),
    (8, "heiter", Nynorsk),
    (8, "leiken", Nynorsk),
    (8, "leikar", Nynorsk),
    (5, "dom", Both),
    (5, "het", Bokmal),
    (6, "heit", Nynorsk),
    (6, "semd", Nynorsk),
    (6, "leik", Nynorsk),
    (7, "elser", Both),
    (7, "elsen", Both),
    (6, "ende", Bokmal),
    (6, "ande", Nynorsk),
    (6, "else", Both),
    (6, "este", Bokmal),
    (6, "aste", Nynorsk),
    (6, "eren", Bokmal),
    (6, "aren", Nynorsk),
    (5, "ere", Bokmal),
    (5, "are", Nynorsk),
    (5, "est", Bokmal),
    (5, "ast", Nynorsk),
    (5, "ene", Both),
    (5, "ane", Nynorsk),
    (4, "er", Both),
    (4, "en", Both),
    (4, "et", Both),
    (4, "ar", Nynorsk),
    (4, "st", Bokmal),
    (4, "te", Both),
    (3, "a", Both),
    (3, "e", Both),
    (3, "n", Both),
];

const MINIMAL: Endings = &[
    (5, "ene", Both),
    (5, "ane", Nynorsk),
    (4, "er", Both),
    (4, "en", Both),
    (4, "et", Both),
    (4, "ar", Nynorsk),
    (3, "a", Both),
    (3, "e", Both),
];

fn norwegian(word: &mut Word, endings: Endings, language: Norwegian) {
    if word.len() > 4 {
        word.strip("s");
    }
    let fits = |(least, ending, of): &&(usize, &str, Norwegian)| {
        word.len() > *least && (*of == Both || *of == language) && word.ends(ending)
    };
    if let Some((_, ending, _)) = endings.iter().find(fits) {
        word.strip(ending);
    }
}

/// Stems a word like Lucene's `NorwegianLightStemmer` for Bokmål.
pub fn bokmal_light(word: &mut Word) {
    norwegian(word, LIGHT, Bokmal);
}

/// Stems a word like Lucene's `NorwegianMinimalStemmer` for Bokmål.
pub fn bokmal_minimal(word: &mut Word) {
    norwegian(word, MINIMAL, Bokmal);
}

/// Stems a word like Lucene's `NorwegianLightStemmer` for Nynorsk.
pub fn nynorsk_light(word: &mut Word) {
    norwegian(word, LIGHT, Nynorsk);
}

/// Stems a word like Lucene's `NorwegianMinimalStemmer` for Nynorsk.
pub fn nynorsk_minimal(word: &mut Word) {
    norwegian(word, MINIMAL, Nynorsk);
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

/// For words longer than the first number: an ending, how many characters are removed, and their replacement.
type Step = (usize, &'static str, usize, &'static str);

/// Applies the first matching step. Returns false if there is none.
fn first(word: &mut Word, steps: &[Step]) -> bool {
    let found = steps.iter().find(|(least, ending, ..)| word.len() > *least && word.ends(ending));
    if let Some((_, _, count, to)) = found {
        word.cut(*count);
        word.extend(to.chars());
    }
    found.is_some()
}

const PARTICLES: &[Step] = &[(8, "kin", 3, ""), (8, "ko", 2, "")];
const CASES_FIRST: &[Step] =
    &[(5, "lla", 3, ""), (5, "tse", 3, ""), (5, "sti", 3, ""), (5, "ni", 2, ""), (5, "aa", 1, "")];
const CASES_LONG: &[Step] = &[
    (8, "nnen", 4, "s"),
    (8, "ntena", 5, "s"),
    (8, "tten", 4, ""),
    (8, "eiden", 5, ""),
    (6, "neen", 4, ""),
    (6, "niin", 4, ""),
    (6, "seen", 4, ""),
    (6, "teen", 4, ""),
    (6, "inen", 4, ""),
];
const CASES: &[Step] = &[
    (6, "den", 3, "s"),
    (6, "ksen", 4, "s"),
    (6, "ssa", 3, ""),
    (6, "sta", 3, ""),
    (6, "lla", 3, ""),
    (6, "lta", 3, ""),
    (6, "tta", 3, ""),
    (6, "ksi", 3, ""),
    (6, "lle", 3, ""),
    (5, "na", 2, ""),
    (5, "ne", 2, ""),
    (5, "nei", 3, ""),
    (4, "ja", 2, ""),
    (4, "ta", 2, ""),
    (4, "a", 1, ""),
];

/// Stems a word like Lucene's `FinnishLightStemmer`.
pub fn finnish_light(word: &mut Word) {
    if word.len() < 4 {
        return;
    }
    for c in word.iter_mut() {
        *c = match *c {
            'ä' | 'å' => 'a',
            'ö' => 'o',
            other => other,
        };
    }
    while first(word, PARTICLES) {}
    first(word, &[(11, "dellinen", 8, ""), (11, "dellisuus", 9, "")]);
    first(word, CASES_FIRST);
    finnish_case(word);
    if word.len() > 5 && word.ends("hde") {
        word.cut(3);
        word.extend("ksi".chars());
    }
    if !first(word, &[(4, "ei", 2, ""), (4, "at", 2, "")])
        && word.len() > 3
        && matches!(word.back(1), 't' | 's' | 'j' | 'e' | 'a' | 'i')
    {
        word.cut(1);
    }
    if word.len() > 8 && matches!(word.back(1), 'e' | 'o' | 'u') {
        word.cut(1);
    }
    if word.len() > 4 {
        word.strip("i");
    }
    if word.len() > 4 {
        word.dedup_by(|c, before| c == before && matches!(c, 'k' | 'p' | 't'));
    }
}

fn finnish_case(word: &mut Word) {
    if first(word, CASES_LONG) {
        return;
    }
    if word.len() > 6 && word.back(3) == 'h' && is_vowel(word.back(2)) && word.back(1) == 'n' {
        word.cut(3);
        return;
    }
    if !first(word, CASES) && word.len() > 4 && word.back(1) == 'n' {
        word.cut(if is_vowel(word.back(2)) { 2 } else { 1 });
    }
}

/// Stems a word like Lucene's `HungarianLightStemmer`.
pub fn hungarian_light(word: &mut Word) {
    for c in word.iter_mut() {
        *c = match *c {
            'á' => 'a',
            'ë' | 'é' => 'e',
            'í' => 'i',
            'ó' | 'ő' | 'õ' | 'ö' => 'o',
            'ú' | 'ű' | 'ũ' | 'û' | 'ü' => 'u',
            other => other,
        };
    }
    hungarian_case(word);
    hungarian_possessive(word);
    if word.len() > 3 && word.back(1) == 'k' {
        word.cut(if word.len() > 4 && matches!(word.back(2), 'a' | 'o' | 'e') { 2 } else { 1 });
    }
    if word.len() > 3 && matches!(word.back(1), 'a' | 'e' | 'i' | 'o') {
        word.cut(1);
    }
}

fn ends_with(word: &Word, endings: &[&str]) -> bool {
    endings.iter().any(|ending| word.ends(ending))
}

fn hungarian_case(word: &mut Word) {
    const LONG: &[&str] =
        &["nak", "nek", "val", "vel", "ert", "rol", "ban", "ben", "bol", "nal", "nel", "hoz", "hez", "tol"];
    const SHORT: &[&str] = &["at", "et", "ot", "va", "ve", "ra", "re", "ba", "be", "ul", "ig"];
    let length = word.len();
    let is_consonant = |n: usize| !is_vowel(word.back(n));
    let count = if length > 6 && word.ends("kent") {
        4
    } else if length > 5
        && (ends_with(word, LONG)
            || ends_with(word, &["al", "el"]) && is_consonant(3) && word.back(3) == word.back(4))
    {
        3
    } else if length <= 4 {
        0
    } else if ends_with(word, SHORT) || ends_with(word, &["on", "en"]) && is_consonant(3) {
        2
    } else {
        match word.back(1) {
            't' | 'n' => 1,
            'a' | 'e' if word.back(2) == word.back(3) && is_consonant(2) => 2,
            _ => 0,
        }
    };
    word.cut(count);
}

fn hungarian_possessive(word: &mut Word) {
    let length = word.len();
    let vowel = |n: usize| is_vowel(word.back(n));
    let ends = |endings: &[&str]| ends_with(word, endings);
    let count = if length > 6 && (!vowel(5) && ends(&["atok", "otok", "etek"]) || ends(&["itek", "itok"])) {
        4
    } else if length > 5
        && (!vowel(4) && ends(&["unk", "tok", "tek"]) || vowel(4) && ends(&["juk"]) || ends(&["ink"]))
    {
        3
    } else if length > 4
        && (!vowel(3) && ends(&["am", "em", "om", "ad", "ed", "od", "uk"])
            || vowel(3) && ends(&["nk", "ja", "je"])
            || ends(&["im", "id", "ik"]))
    {
        2
    } else if length > 3 {
        match word.back(1) {
            'a' | 'e' => usize::from(!vowel(2)),
            'm' | 'd' => usize::from(vowel(2)),
            'i' => 1,
            _ => 0,
        }
    } else {
        0
    };
    word.cut(count);
}
