//! Greek. Source: Lucene's `GreekStemmer`, after G. Ntais and S. Saroukos.

use super::suffix::{Suffix, Word};

mod endings;
mod rules;

use endings::{Cut, DEGREES, ENDINGS, IRREGULAR};
use rules::{FIRST, Rule, SECOND};

const VOWELS: &str = "αεηιουω";

/// Stems a word like Lucene's `GreekStemmer`. The word must be in lower case without accents.
pub fn stem(word: &mut Word) {
    if word.len() < 4 {
        return;
    }
    let length = word.len();
    cut(word, IRREGULAR);
    for rule in FIRST {
        // If the word is exactly this ending, the seventh rule stops here.
        if rule.cuts[0].2[0] == "ηθηκαμε" && word.iter().collect::<String>() == "αγαμε" {
            word.cut(1);
            continue;
        }
        rule.apply(word);
    }
    participle(word);
    middle(word);
    SECOND.iter().for_each(|rule| rule.apply(word));
    if word.len() == length && !cut(word, ENDINGS) && word.len() > 1 && VOWELS.contains(word.back(1)) {
        word.cut(1);
    }
    cut(word, DEGREES);
}

fn cut(word: &mut Word, cuts: &[Cut]) -> bool {
    let fits =
        |(least, _, endings): &&Cut| word.len() > *least && endings.iter().any(|ending| word.ends(ending));
    let found = cuts.iter().find(fits);
    if let Some((_, count, _)) = found {
        word.cut(*count);
    }
    found.is_some()
}

impl Rule {
    fn apply(&self, word: &mut Word) {
        if !cut(word, self.cuts) || self.back.is_empty() {
            return;
        }
        let is_whole =
            |list: &[&str]| list.iter().any(|one| one.chars().count() == word.len() && word.ends(one));
        let ends = |list: &[&str]| list.iter().any(|one| word.ends(one));
        let is_listed =
            is_whole(self.whole) || ends(self.ends) || !word.is_empty() && self.vowel.contains(word.back(1));
        let is_never = is_whole(self.never_whole) || ends(self.never_ends);
        if is_listed != self.is_unless && !is_never {
            word.extend(self.back.chars());
        }
    }
}

/// Applies rule 10.
fn participle(word: &mut Word) {
    if word.len() > 5 && (word.ends("οντασ") || word.ends("ωντασ")) {
        word.cut(5);
        if word.len() == 3 && word.ends("αρχ") {
            word.extend("οντ".chars());
        }
        if word.ends("κρε") {
            word.extend("ωντ".chars());
        }
    }
}

/// Applies rule 11.
fn middle(word: &mut Word) {
    if word.len() > 6 && word.ends("ομαστε") {
        word.cut(6);
    } else if word.len() > 7 && word.ends("ιομαστε") {
        word.cut(7);
    } else {
        return;
    }
    if word.len() == 2 && word.ends("ον") {
        word.extend("ομαστ".chars());
    }
}
