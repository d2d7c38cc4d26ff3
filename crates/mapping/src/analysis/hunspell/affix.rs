//! The affix file: prefixes and suffixes, and the meaning of flags.

use hashbrown::{HashMap, HashSet};

use super::dictionary::decoded;
use super::flags::FlagForm;

/// An affix as one line describes it.
#[derive(Debug)]
pub struct Affix {
    pub flag: u32,
    /// The part of the word that the affix replaces.
    pub strip: Box<[char]>,
    /// Flags that a word gets from it.
    pub appends: Box<[u32]>,
    /// Whether it can be combined with a prefix or suffix on the other side.
    pub crosses: bool,
    condition: Vec<Letter>,
}

/// What a condition requires of a letter.
#[derive(Debug, PartialEq)]
enum Letter {
    Any,
    OneOf(Vec<char>),
    NoneOf(Vec<char>),
}

impl Letter {
    fn fits(&self, c: char) -> bool {
        match self {
            Letter::Any => true,
            Letter::OneOf(letters) => letters.contains(&c),
            Letter::NoneOf(letters) => !letters.contains(&c),
        }
    }
}

impl Affix {
    /// Whether the affix may be added to this word without it.
    pub fn fits(&self, word: &[char], is_prefix: bool) -> bool {
        let length = self.condition.len();
        let part = match is_prefix {
            true => word.get(..length),
            false => word.len().checked_sub(length).and_then(|start| word.get(start..)),
        };
        part.is_some_and(|part| part.iter().zip(&self.condition).all(|(c, letter)| letter.fits(*c)))
    }
}

/// Indices of affixes by their letters, in the order in which these occur in a word.
type ByLetters = HashMap<Box<[char]>, Vec<usize>>;

/// The contents of an affix file.
#[derive(Debug, Default)]
pub struct Affixes {
    pub list: Vec<Affix>,
    pub prefixes: ByLetters,
    pub suffixes: ByLetters,
    /// Number of letters of the longest affix.
    pub longest: usize,
    pub encoding: String,
    pub form: FlagForm,
    /// Flags to which the numbers of `AF` refer, and morphology to which those of `AM` refer.
    pub aliases: Vec<String>,
    pub morphology: Vec<String>,
    pub needs_affix: Option<u32>,
    pub only_in_compound: Option<u32>,
    pub circumfix: Option<u32>,
    pub complex_prefixes: bool,
    pub strips_fully: bool,
    pub checks_sharp_s: bool,
    /// Whether the language is Turkish or Azerbaijani, which distinguish `i` with and without a dot.
    pub is_turkic: bool,
    ignored: HashSet<char>,
    inputs: Vec<(String, String)>,
    outputs: Vec<(String, String)>,
    second_prefixes: HashSet<u32>,
    second_suffixes: HashSet<u32>,
}

/// Maximum number of affixes, and of conversions, in a file.
const LINES_MAX: usize = 1 << 20;

impl Affixes {
    /// Parses the file. Fails with the reason.
    pub fn parse(bytes: &[u8], ignores_case: bool) -> Result<Affixes, String> {
        let mut own = Affixes { encoding: "ISO8859-1".to_owned(), ..Affixes::default() };
        // The encoding and the form of flags apply to the whole file.
        let latin: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        for line in latin.lines() {
            match line.trim().split_once(char::is_whitespace) {
                Some(("SET" | "\u{ef}\u{bb}\u{bf}SET", name)) => own.encoding = name.trim().to_owned(),
                Some(("FLAG", name)) => own.form = FlagForm::parse(name.trim())?,
                _ => {}
            }
        }
        let text = decoded(bytes, &own.encoding)?;
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(first) = words.first() else { continue };
            let argument = || words.get(1).copied().ok_or_else(|| format!("Invalid syntax: {line}"));
            let count = || {
                let count: usize = argument()?.parse().map_err(|_| format!("Invalid syntax: {line}"))?;
                if count > LINES_MAX { Err(format!("Too many lines: {line}")) } else { Ok(count) }
            };
            match *first {
                "AF" if own.aliases.is_empty()
                    && argument()?.parse::<usize>().is_ok()
                    && words.len() == 2 =>
                {
                    let count = count()?;
                    let rest = lines.by_ref().take(count);
                    own.aliases = rest.map(|line| word_of(line, 1)).collect();
                }
                "AM" if own.morphology.is_empty() => {
                    let rest = lines.by_ref().take(count()?);
                    own.morphology =
                        rest.map(|line| line.get(2..).unwrap_or_default().trim().to_owned()).collect();
                }
                "PFX" | "SFX" => own.affix_block(&words, line, &mut lines, ignores_case)?,
                "ICONV" | "OCONV" => {
                    let table =
                        lines.by_ref().take(count()?).map(|line| (word_of(line, 1), word_of(line, 2)));
                    match *first {
                        "ICONV" => own.inputs = longest_first(table.collect()),
                        _ => own.outputs = longest_first(table.collect()),
                    }
                }
                "COMPLEXPREFIXES" => own.complex_prefixes = true,
                "FULLSTRIP" => own.strips_fully = true,
                "CHECKSHARPS" => own.checks_sharp_s = true,
                "CIRCUMFIX" => own.circumfix = Some(own.form.one(argument()?)?),
                "NEEDAFFIX" | "PSEUDOROOT" => own.needs_affix = Some(own.form.one(argument()?)?),
                "ONLYINCOMPOUND" => own.only_in_compound = Some(own.form.one(argument()?)?),
                "IGNORE" => own.ignored = argument()?.chars().collect(),
                "LANG" => own.is_turkic = matches!(argument()?.split('_').next(), Some("tr" | "az")),
                _ => {}
            }
        }
        Ok(own)
    }

    fn affix_block<'l>(
        &mut self,
        header: &[&str],
        line: &str,
        lines: &mut impl Iterator<Item = &'l str>,
        ignores_case: bool,
    ) -> Result<(), String> {
        let is_prefix = header[0] == "PFX";
        let count: usize = (header.get(3).and_then(|count| count.parse().ok()))
            .filter(|count| *count <= LINES_MAX)
            .ok_or_else(|| format!("Affix rule header expected; got {line}"))?;
        let crosses = header[2] == "Y";
        for _ in 0..count {
            let rule = lines.next().ok_or_else(|| format!("Premature end of rules for {line}"))?;
            limber_work::claim(8 * rule.len() as u64 + 200).map_err(|stop| stop.to_string())?;
            self.affix(rule, crosses, is_prefix, ignores_case)?;
        }
        Ok(())
    }

    fn affix(
        &mut self,
        rule: &str,
        crosses: bool,
        is_prefix: bool,
        ignores_case: bool,
    ) -> Result<(), String> {
        let words: Vec<&str> = rule.split_whitespace().collect();
        let [_, flag, strip, letters, ..] = words[..] else {
            return Err(format!("The affix file contains a rule with less than four elements: {rule}"));
        };
        let or_empty = |text: &str| if text == "0" { String::new() } else { text.to_owned() };
        let (letters, appends) = match letters.rsplit_once('/') {
            Some((letters, flags)) => (letters, self.flags(flags)?),
            None => (letters, Box::default()),
        };
        let seconds = if is_prefix { &mut self.second_prefixes } else { &mut self.second_suffixes };
        seconds.extend(appends.iter().copied());
        let letters: Box<[char]> = self.cleaned(&or_empty(letters), ignores_case).chars().collect();
        self.longest = self.longest.max(letters.len());
        self.list.push(Affix {
            flag: self.form.one(flag)?,
            strip: or_empty(strip).chars().collect(),
            appends,
            crosses,
            condition: condition(words.get(4).copied().unwrap_or(".")),
        });
        let table = if is_prefix { &mut self.prefixes } else { &mut self.suffixes };
        table.entry(letters).or_default().push(self.list.len() - 1);
        Ok(())
    }

    /// Parses the flags of a word or an affix, which may be the number of an alias.
    pub fn flags(&self, text: &str) -> Result<Box<[u32]>, String> {
        if self.aliases.is_empty() || text.is_empty() {
            return self.form.read(text);
        }
        let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let alias = number.and_then(|number| self.aliases.get(number));
        self.form.read(alias.ok_or_else(|| format!("Bad flag alias number:{text}"))?)
    }

    /// Whether some prefix adds this flag to a word, so that an affix with the flag may be added to that
    /// prefix.
    pub fn is_second_prefix(&self, flag: u32) -> bool {
        self.second_prefixes.contains(&flag)
    }

    /// Whether some suffix adds this flag to a word, so that an affix with the flag may be added to that
    /// suffix.
    pub fn is_second_suffix(&self, flag: u32) -> bool {
        self.second_suffixes.contains(&flag)
    }

    /// Returns a word in the form in which it is looked up: without ignored letters, converted, and in lower
    /// case if requested.
    pub fn cleaned(&self, word: &str, ignores_case: bool) -> String {
        let kept: String = word.chars().filter(|c| !self.ignored.contains(c)).collect();
        let converted = convert(&self.inputs, kept);
        if ignores_case { converted.chars().map(|c| self.lower(c)).collect() } else { converted }
    }

    /// Returns a stem in its output form.
    pub fn shown(&self, stem: String) -> String {
        convert(&self.outputs, stem)
    }

    /// Returns a letter in lower case, as the language requires.
    pub fn lower(&self, c: char) -> char {
        match c {
            'I' if self.is_turkic => 'ı',
            'İ' if self.is_turkic => 'i',
            _ => c.to_lowercase().next().unwrap_or(c),
        }
    }
}

fn word_of(line: &str, number: usize) -> String {
    line.split_whitespace().nth(number).unwrap_or_default().to_owned()
}

fn longest_first(mut table: Vec<(String, String)>) -> Vec<(String, String)> {
    table.retain(|(from, _)| !from.is_empty());
    table.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
    table
}

/// Replaces the longest matching entry of the table at each position.
fn convert(table: &[(String, String)], text: String) -> String {
    if table.is_empty() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        match table.iter().find(|(from, _)| rest.starts_with(from.as_str())) {
            Some((from, to)) => {
                out.push_str(to);
                rest = &rest[from.len()..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// Parses a condition: letters, `.`, `[abc]` and `[^abc]`. A single dot means no condition.
fn condition(text: &str) -> Vec<Letter> {
    let mut letters = Vec::new();
    if text == "." {
        return letters;
    }
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        letters.push(match c {
            '.' => Letter::Any,
            '[' => {
                let mut class: Vec<char> = chars.by_ref().take_while(|c| *c != ']').collect();
                match class.first() {
                    Some('^') => Letter::NoneOf(class.split_off(1)),
                    _ => Letter::OneOf(class),
                }
            }
            other => Letter::OneOf(vec![other]),
        });
    }
    letters
}
