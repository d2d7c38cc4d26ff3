//! Finds the stems of a form: removes affixes until a word of the dictionary is left that may have them.
//!
//! Source: Lucene's `Stemmer`.

use super::affix::Affix;
use super::dictionary::Dictionary;
use super::flags::has;
use super::words::Case;

/// The affixes that have been removed so far, by index.
#[derive(Debug, Clone, Copy, Default)]
struct Removed {
    outer_prefix: Option<usize>,
    inner_prefix: Option<usize>,
    outer_suffix: Option<usize>,
    inner_suffix: Option<usize>,
}

/// Maximum number of forms with `ß` for `ss` that are tried.
const SHARP_S_MAX: usize = 5;
/// Maximum length of a form in letters; longer ones are not looked up.
const FORM_MAX: usize = 256;

impl Dictionary {
    /// Returns the stems of a form, each once; empty if the form is unknown.
    pub fn stems(&self, form: &str) -> Vec<String> {
        let mut found = Vec::new();
        for stem in self.all_stems(form) {
            let is_same = |known: &String| match self.ignores_case {
                true => known.to_lowercase() == stem.to_lowercase(),
                false => *known == stem,
            };
            if !found.iter().any(is_same) {
                found.push(stem);
            }
        }
        found
    }

    /// Returns the stems, each as often as there are ways to derive it.
    pub fn all_stems(&self, form: &str) -> Vec<String> {
        let word: Vec<char> = self.affixes.cleaned(form, self.ignores_case).chars().collect();
        let mut found = Vec::new();
        if word.is_empty() || word.len() > FORM_MAX {
            return found;
        }
        self.take_apart(&word, &mut found);
        let case = match self.ignores_case || word[0].is_lowercase() {
            true => Case::Mixed,
            false => Case::of(&word),
        };
        if matches!(case, Case::Upper | Case::Title) {
            self.vary_case(&word, case, &mut found);
        }
        found
    }

    /// Tries the form as it would be written within a sentence.
    fn vary_case(&self, word: &[char], case: Case, found: &mut Vec<String>) {
        let lower = |c: &char| self.affixes.lower(*c);
        let mut title = word.to_vec();
        if case == Case::Upper {
            title = word[..1].iter().copied().chain(word[1..].iter().map(lower)).collect();
            let apostrophe = (1..title.len().saturating_sub(1))
                .find(|at| title[*at] == '\'' && title[at + 1].to_uppercase().next() != Some(title[at + 1]));
            if let Some(at) = apostrophe {
                let mut variant = title.clone();
                variant[at + 1] = title[at + 1].to_uppercase().next().unwrap_or(title[at + 1]);
                self.take_apart(&variant, found);
            }
            self.take_apart(&title, found);
            self.vary_sharp_s(&title, found);
        }
        if word[0] == 'İ' && !self.affixes.is_turkic {
            return;
        }
        title[0] = lower(&title[0]);
        self.take_apart(&title, found);
        if case == Case::Upper {
            self.vary_sharp_s(&title, found);
        }
    }

    /// Tries `ß` for every combination of its `ss`.
    fn vary_sharp_s(&self, word: &[char], found: &mut Vec<String>) {
        if !self.affixes.checks_sharp_s {
            return;
        }
        let mut places = Vec::new();
        let mut at = 0;
        while at + 1 < word.len() && places.len() < SHARP_S_MAX {
            let is_there = word[at] == 's' && word[at + 1] == 's';
            places.extend(is_there.then_some(at));
            at += if is_there { 2 } else { 1 };
        }
        for choice in 1..1u32 << places.len() {
            let mut variant = Vec::with_capacity(word.len());
            let mut at = 0;
            while at < word.len() {
                let number = places.iter().position(|place| *place == at);
                let is_chosen = number.is_some_and(|number| choice >> number & 1 == 1);
                variant.push(if is_chosen { 'ß' } else { word[at] });
                at += if is_chosen { 2 } else { 1 };
            }
            self.take_apart(&variant, found);
        }
    }

    fn take_apart(&self, word: &[char], found: &mut Vec<String>) {
        for entry in self.entries.get(word) {
            if !has(&entry.flags, self.affixes.needs_affix)
                && !has(&entry.flags, self.affixes.only_in_compound)
            {
                self.note(word, entry.stem.as_deref(), found);
            }
        }
        self.remove_affixes(word, true, Removed::default(), found);
    }

    fn note(&self, word: &[char], stem: Option<&str>, found: &mut Vec<String>) {
        let stem = stem.map_or_else(|| word.iter().collect(), str::to_owned);
        found.push(self.affixes.shown(stem));
    }

    fn appends(&self, affix: Option<usize>, flag: Option<u32>) -> bool {
        affix.is_some_and(|affix| has(&self.affixes.list[affix].appends, flag))
    }

    fn remove_affixes(&self, word: &[char], with_prefixes: bool, removed: Removed, found: &mut Vec<String>) {
        let affixes = &self.affixes;
        let whole = usize::from(affixes.strips_fully);
        let longest = affixes.longest.min((word.len() + whole).saturating_sub(1));
        for length in 0..=longest.min(word.len()) {
            if !with_prefixes {
                break;
            }
            for number in affixes.prefixes.get(&word[..length]).into_iter().flatten() {
                let rest = &word[length..];
                self.remove(*number, true, rest, removed, found);
            }
        }
        for length in 0..=longest.min(word.len()) {
            let (rest, letters) = word.split_at(word.len() - length);
            for number in affixes.suffixes.get(letters).into_iter().flatten() {
                self.remove(*number, false, rest, removed, found);
            }
        }
    }

    /// Removes one affix, if that is allowed; `rest` is the word without it.
    fn remove(
        &self,
        number: usize,
        is_prefix: bool,
        rest: &[char],
        removed: Removed,
        found: &mut Vec<String>,
    ) {
        let same = if is_prefix { removed.outer_prefix } else { removed.outer_suffix };
        let affix = &self.affixes.list[number];
        if same == Some(number) || !self.is_compatible(affix, removed) || affix.strip.len() + rest.len() == 0
        {
            return;
        }
        let word: Vec<char> = match is_prefix {
            true => affix.strip.iter().chain(rest).copied().collect(),
            false => rest.iter().chain(&affix.strip).copied().collect(),
        };
        if affix.fits(&word, is_prefix) {
            self.apply(number, is_prefix, &word, removed, found);
        }
    }

    fn is_compatible(&self, affix: &Affix, removed: Removed) -> bool {
        if has(&affix.appends, self.affixes.only_in_compound) {
            return false;
        }
        match (removed.outer_prefix, removed.outer_suffix) {
            (None, None) => true,
            _ if !affix.crosses => false,
            (_, Some(suffix)) => has(&affix.appends, Some(self.affixes.list[suffix].flag)),
            _ => true,
        }
    }

    fn apply(&self, number: usize, is_prefix: bool, word: &[char], before: Removed, found: &mut Vec<String>) {
        let prefix = before.inner_prefix.or(before.outer_prefix);
        let previous = before.outer_suffix.or(prefix);
        let mut removed = before;
        let place = match (is_prefix, before.outer_prefix, before.outer_suffix) {
            (true, None, _) => &mut removed.outer_prefix,
            (true, ..) => &mut removed.inner_prefix,
            (false, _, None) => &mut removed.outer_suffix,
            (false, ..) => &mut removed.inner_suffix,
        };
        *place = Some(number);
        if !self.needs_another(number, previous, !is_prefix, prefix) {
            self.look_up(word, number, removed, found);
        }
        let affix = &self.affixes.list[number];
        if removed.inner_suffix.is_some() || !affix.crosses {
            return;
        }
        let count =
            [removed.outer_suffix, removed.inner_prefix, removed.outer_prefix].into_iter().flatten().count();
        let complex = self.affixes.complex_prefixes;
        let with_prefixes = match (count - 1, is_prefix) {
            (0, true) => complex && self.affixes.is_second_prefix(affix.flag),
            (0, false) if !complex && self.affixes.is_second_suffix(affix.flag) => false,
            (1, true) if complex => true,
            (1, false) if !complex && self.affixes.is_second_suffix(affix.flag) => false,
            _ => return,
        };
        self.remove_affixes(word, with_prefixes, removed, found);
    }

    fn look_up(&self, word: &[char], last: usize, removed: Removed, found: &mut Vec<String>) {
        let flag = self.affixes.list[last].flag;
        let prefix = removed.inner_prefix.or(removed.outer_prefix);
        for entry in self.entries.get(word) {
            if !has(&entry.flags, Some(flag)) && !self.appends(prefix, Some(flag)) {
                continue;
            }
            if let (None, Some(outer)) = (removed.inner_prefix, removed.outer_prefix) {
                let flag = Some(self.affixes.list[outer].flag);
                if !has(&entry.flags, flag) && !self.appends(Some(last), flag) {
                    continue;
                }
            }
            if !has(&entry.flags, self.affixes.only_in_compound) {
                self.note(word, entry.stem.as_deref(), found);
            }
        }
    }

    fn needs_another(
        &self,
        affix: usize,
        previous: Option<usize>,
        is_suffix: bool,
        prefix: Option<usize>,
    ) -> bool {
        let circumfix = self.affixes.circumfix;
        if is_suffix && self.appends(prefix, circumfix) != self.appends(Some(affix), circumfix) {
            return true;
        }
        let needs = self.affixes.needs_affix;
        self.appends(Some(affix), needs)
            && (!is_suffix || previous.is_none() || self.appends(previous, needs))
    }
}
