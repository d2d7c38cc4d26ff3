//! Brazilian Portuguese. Source: Lucene's `BrazilianStemmer`, after M. Porter's method for other Romance
//! languages.

use super::suffix::{Suffix, Word};

/// The region of a word in which an ending must lie.
#[derive(Clone, Copy)]
enum Region {
    First,
    Second,
    Verb,
}

use Region::{First, Second, Verb};

/// Endings of nouns and adjectives, the region in which they must lie, and their replacement. Those with
/// `Verb` must follow an `e`.
const NOUNS: &[(&str, Region, &str)] = &[
    ("uciones", Second, "u"),
    ("imentos", Second, ""),
    ("amentos", Second, ""),
    ("adores", Second, ""),
    ("adoras", Second, ""),
    ("logias", Second, "logias"),
    ("encias", Second, "ente"),
    ("amente", First, ""),
    ("idades", Second, ""),
    ("acoes", Second, ""),
    ("imento", Second, ""),
    ("amento", Second, ""),
    ("adora", Second, ""),
    ("ismos", Second, ""),
    ("istas", Second, ""),
    ("logia", Second, "log"),
    ("ucion", Second, "u"),
    ("encia", Second, "ente"),
    ("mente", Second, ""),
    ("idade", Second, ""),
    ("acao", Second, ""),
    ("ezas", Second, ""),
    ("icos", Second, ""),
    ("icas", Second, ""),
    ("ismo", Second, ""),
    ("avel", Second, ""),
    ("ivel", Second, ""),
    ("ista", Second, ""),
    ("osos", Second, ""),
    ("osas", Second, ""),
    ("ador", Second, ""),
    ("ivas", Second, ""),
    ("ivos", Second, ""),
    ("iras", Verb, "ir"),
    ("eza", Second, ""),
    ("ico", Second, ""),
    ("ica", Second, ""),
    ("oso", Second, ""),
    ("osa", Second, ""),
    ("iva", Second, ""),
    ("ivo", Second, ""),
    ("ira", Verb, "ir"),
];

/// Endings of verbs. Lucene has a mistake in `ira`, which is found but not removed.
const VERBS: &[&str] = &[
    "issemos", "essemos", "assemos", "ariamos", "eriamos", "iriamos", "iremos", "eremos", "aremos", "avamos",
    "iramos", "eramos", "aramos", "asseis", "esseis", "isseis", "arieis", "erieis", "irieis", "irmos",
    "iamos", "armos", "ermos", "areis", "ereis", "ireis", "asses", "esses", "isses", "astes", "assem",
    "essem", "issem", "ardes", "erdes", "irdes", "ariam", "eriam", "iriam", "arias", "erias", "irias",
    "estes", "istes", "aveis", "aria", "eria", "iria", "asse", "esse", "isse", "aste", "este", "iste",
    "arei", "erei", "irei", "aram", "eram", "iram", "avam", "arem", "erem", "irem", "ando", "endo", "indo",
    "arao", "erao", "irao", "adas", "idas", "aras", "eras", "iras", "avas", "ares", "eres", "ires", "ados",
    "idos", "amos", "emos", "imos", "ieis", "ada", "ida", "ara", "era", "ira", "iam", "ado", "ido", "ias",
    "ais", "eis", "ear", "ia", "ei", "am", "em", "ar", "er", "ir", "as", "es", "is", "eu", "iu", "ou",
];

/// Stems a word like Lucene's `BrazilianStemmer`.
pub fn stem(word: &mut Word) {
    let mut made: Word = word.iter().map(|c| plain(*c)).collect();
    trim(&mut made);
    if !(3..30).contains(&made.iter().map(|c| c.len_utf16()).sum::<usize>()) {
        return;
    }
    *word = made;
    if !word.iter().all(|c| c.is_alphabetic() && *c <= '\u{ffff}') {
        return;
    }
    let first = region(word, 0);
    let regions =
        Regions { second: first.and_then(|start| region(word, start)), first, verb: verb_region(word) };
    let whole = word.clone();
    let has = |region: Region, ending: &str| regions.has(&whole, region, ending);
    let is_changed = noun(word, &has) || verb(word, &has);
    if is_changed {
        if has(Verb, "i") && has(Verb, "ci") {
            word.strip("i");
        }
    } else if let Some(ending) = ["os", "a", "i", "o"].iter().find(|ending| has(Verb, ending)) {
        word.strip(ending);
    }
    if has(Verb, "e") {
        word.strip("e");
        if has(Verb, "gue") {
            word.strip("u");
        } else if has(Verb, "cie") {
            word.strip("i");
        }
    }
}

fn plain(c: char) -> char {
    match c.to_lowercase().next().unwrap_or(c) {
        'á' | 'â' | 'ã' => 'a',
        'é' | 'ê' => 'e',
        'í' => 'i',
        'ó' | 'ô' | 'õ' => 'o',
        'ú' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        other => other,
    }
}

/// Removes one mark at each end.
fn trim(word: &mut Word) {
    let is_mark = |c: &char| matches!(c, '"' | '\'' | '-' | ',' | ';' | '.' | '?' | '!');
    if word.len() >= 2 && is_mark(&word[0]) {
        word.remove(0);
    }
    if word.len() >= 2 && word.last().is_some_and(is_mark) {
        word.pop();
    }
}

/// The positions at which the regions of a word begin.
struct Regions {
    first: Option<usize>,
    second: Option<usize>,
    verb: Option<usize>,
}

impl Regions {
    fn has(&self, word: &Word, region: Region, ending: &str) -> bool {
        let start = match region {
            First => self.first,
            Second => self.second,
            Verb => self.verb,
        };
        start.is_some_and(|start| word[start..].to_vec().ends(ending))
    }
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// Returns the position after the first consonant that follows a vowel, from `start` on.
fn region(word: &Word, start: usize) -> Option<usize> {
    let last = word.len().checked_sub(1).filter(|last| *last > start)?;
    let vowel = (start..last).find(|at| is_vowel(word[*at]))?;
    (vowel..last).find(|at| !is_vowel(word[*at])).map(|at| at + 1)
}

fn verb_region(word: &Word) -> Option<usize> {
    let last = word.len() - 1;
    if last > 0
        && !is_vowel(word[1])
        && let Some(at) = (2..last).find(|at| is_vowel(word[*at]))
    {
        return Some(at + 1);
    }
    if last > 1
        && is_vowel(word[0])
        && is_vowel(word[1])
        && let Some(at) = (2..last).find(|at| !is_vowel(word[*at]))
    {
        return Some(at + 1);
    }
    (last > 2).then_some(3)
}

fn noun(word: &mut Word, has: &dyn Fn(Region, &str) -> bool) -> bool {
    let fits = |(ending, region, _): &&(&str, Region, &str)| {
        word.ends(ending)
            && has(*region, ending)
            && (!matches!(region, Verb) || word.back(ending.chars().count() + 1) == 'e')
    };
    let found = NOUNS.iter().find(fits);
    if let Some((ending, _, to)) = found {
        word.strip(ending);
        word.extend(to.chars());
    }
    found.is_some()
}

fn verb(word: &mut Word, has: &dyn Fn(Region, &str) -> bool) -> bool {
    let found = VERBS.iter().find(|ending| has(Verb, ending));
    if let Some(ending) = found.filter(|ending| **ending != "ira") {
        word.strip(ending);
    }
    found.is_some()
}
