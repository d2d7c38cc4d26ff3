//! Arabic, Sorani, Hindi, Bengali and Indonesian. Source: Lucene's stemmers of these languages.

use super::endings::{BENGALI, HINDI, SORANI, cut};
use super::suffix::{Suffix, Word};

const ARABIC_PREFIXES: [&str; 7] = ["ال", "وال", "بال", "كال", "فال", "لل", "و"];
const ARABIC_SUFFIXES: [&str; 10] = ["ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"];

/// Stems a word like Lucene's `ArabicStemmer`.
pub fn arabic(word: &mut Word) {
    let prefix = ARABIC_PREFIXES.iter().map(|prefix| prefix.chars().collect::<Word>()).find(|prefix| {
        let least = if prefix.len() == 1 { 4 } else { prefix.len() + 2 };
        word.len() >= least && word.starts_with(prefix)
    });
    if let Some(prefix) = prefix {
        word.drain(..prefix.len());
    }
    for suffix in ARABIC_SUFFIXES {
        if word.len() >= suffix.chars().count() + 2 {
            word.strip(suffix);
        }
    }
}

/// Stems a word like Lucene's `HindiStemmer`.
pub fn hindi(word: &mut Word) {
    cut(word, HINDI);
}

/// Stems a word like Lucene's `BengaliStemmer`.
pub fn bengali(word: &mut Word) {
    let length = word.len();
    let found = BENGALI
        .iter()
        .find(|(least, _, endings)| length > *least && endings.iter().any(|ending| word.ends(ending)));
    if let Some((_, count, _)) = found {
        word.cut(*count);
    }
}

/// Stems a word like Lucene's `SoraniStemmer`.
pub fn sorani(word: &mut Word) {
    if word.len() > 5 && word.ends("دا") {
        word.cut(2);
    } else if word.len() > 4 && word.ends("نا") {
        word.cut(1);
    } else if word.len() > 6 && word.ends("ەوە") {
        word.cut(3);
    }
    if word.len() > 6 && ["مان", "یان", "تان"].iter().any(|ending| word.ends(ending)) {
        word.cut(3);
    }
    let length = word.len();
    let copula = length > 5 && (word.ends("ایە") || word.ends("ەیە"));
    let is_late = SORANI.iter().all(|(least, endings)| {
        endings[0].chars().count() == 1 || length <= *least || !word.ends(endings[0])
    });
    if is_late && copula {
        word.cut(2);
    } else {
        cut(word, SORANI);
    }
}

/// What has been removed, because some endings are kept after some prefixes.
#[derive(Default)]
struct Removed {
    ke: bool,
    peng: bool,
    di: bool,
    meng: bool,
    ter: bool,
    ber: bool,
    pe: bool,
}

fn is_vowel(c: Option<&char>) -> bool {
    matches!(c, Some('a' | 'e' | 'i' | 'o' | 'u'))
}

fn begins(word: &Word, prefix: &str) -> bool {
    prefix.chars().zip(word.iter()).filter(|(a, b)| a == *b).count() == prefix.len()
}

/// Removes a particle, a pronoun, prefixes and suffixes while more than two syllables are left, like Lucene's
/// `IndonesianStemmer`.
pub fn indonesian(word: &mut Word) {
    let mut syllables = word.iter().filter(|c| is_vowel(Some(c))).count();
    let mut removed = Removed::default();
    let mut step = |word: &mut Word, rule: &mut dyn FnMut(&mut Word) -> bool| {
        let fired = syllables > 2 && rule(word);
        syllables -= usize::from(fired);
        fired
    };
    step(word, &mut particle);
    step(word, &mut pronoun);
    if step(word, &mut |word| first_prefix(word, &mut removed)) {
        if step(word, &mut |word| suffix(word, &removed)) {
            step(word, &mut |word| second_prefix(word, &mut removed));
        }
    } else {
        step(word, &mut |word| second_prefix(word, &mut removed));
        step(word, &mut |word| suffix(word, &removed));
    }
}

fn particle(word: &mut Word) -> bool {
    ["kah", "lah", "pun"].iter().any(|ending| word.strip(ending))
}

fn pronoun(word: &mut Word) -> bool {
    ["ku", "mu", "nya"].iter().any(|ending| word.strip(ending))
}

fn first_prefix(word: &mut Word, removed: &mut Removed) -> bool {
    // Prefix, number of characters to remove, and what the first remaining one becomes.
    let (prefix, count, first) = match () {
        () if begins(word, "meng") => ("meng", 4, None),
        () if begins(word, "meny") && is_vowel(word.get(4)) => ("meng", 3, Some('s')),
        () if begins(word, "men") || begins(word, "mem") => ("meng", 3, None),
        () if begins(word, "me") => ("meng", 2, None),
        () if begins(word, "peng") => ("peng", 4, None),
        () if begins(word, "peny") && is_vowel(word.get(4)) => ("peng", 3, Some('s')),
        () if begins(word, "peny") => ("peng", 4, None),
        () if begins(word, "pen") && is_vowel(word.get(3)) => ("peng", 2, Some('t')),
        () if begins(word, "pen") || begins(word, "pem") => ("peng", 3, None),
        () if begins(word, "di") => ("di", 2, None),
        () if begins(word, "ter") => ("ter", 3, None),
        () if begins(word, "ke") => ("ke", 2, None),
        () => return false,
    };
    match prefix {
        "meng" => removed.meng = true,
        "peng" => removed.peng = true,
        "di" => removed.di = true,
        "ter" => removed.ter = true,
        _ => removed.ke = true,
    }
    word.drain(..count);
    if let Some(first) = first {
        word[0] = first;
    }
    true
}

fn second_prefix(word: &mut Word, removed: &mut Removed) -> bool {
    let is = |text: &str| word.len() == text.len() && begins(word, text);
    let count = if begins(word, "ber") || is("belajar") {
        removed.ber = true;
        3
    } else if begins(word, "be")
        && word.len() > 4
        && !is_vowel(word.get(2))
        && word[3] == 'e'
        && word[4] == 'r'
    {
        removed.ber = true;
        2
    } else if begins(word, "per") || is("pelajar") {
        3
    } else if begins(word, "pe") {
        removed.pe = true;
        2
    } else {
        return false;
    };
    word.drain(..count);
    true
}

fn suffix(word: &mut Word, removed: &Removed) -> bool {
    if word.ends("kan") && !(removed.ke || removed.peng || removed.pe) {
        word.cut(3);
    } else if word.ends("an") && !(removed.di || removed.meng || removed.ter) {
        word.cut(2);
    } else if word.ends("i") && !word.ends("si") && !(removed.ber || removed.ke || removed.peng) {
        word.cut(1);
    } else {
        return false;
    }
    true
}
