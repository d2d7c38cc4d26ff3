//! Parses Lucene's regular expressions into a tree.
//!
//! Source: the grammar in the documentation of Lucene's `RegExp`; errors in the words of Elasticsearch
//! 9.4.3.

use crate::{Error, Result};

/// Operators beyond the common ones, as bits of `flags`.
pub(super) const INTERSECTION: u32 = 0x01;
pub(super) const COMPLEMENT: u32 = 0x02;
pub(super) const EMPTY: u32 = 0x04;
pub(super) const ANYSTRING: u32 = 0x08;
pub(super) const AUTOMATON: u32 = 0x10;
pub(super) const INTERVAL: u32 = 0x20;
pub(super) const ALL: u32 = 0xff;

/// Largest nesting of parentheses and complements.
const DEPTH_MAX: u32 = 100;
/// Largest height of a tree: a parenthesis is three levels, a repetition of a repetition another one.
const HEIGHT_MAX: u32 = 500;

/// Greatest code point.
pub(super) const LAST: u32 = char::MAX as u32;

/// A parsed pattern.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    /// Matches no string.
    Nothing,
    /// Matches the empty string.
    Epsilon,
    /// Matches one character of these ranges, ends included.
    Class(Vec<(u32, u32)>),
    Concat(Vec<Tree>),
    Or(Vec<Tree>),
    And(Vec<Tree>),
    Not(Box<Tree>),
    /// Least and greatest number of repetitions.
    Repeat(Box<Tree>, u32, Option<u32>),
}

/// Bytes that a character of a pattern takes in its tree, and in what the states are made of. Measured: 172.
const TREE_BYTES: u64 = 192;

struct Reader {
    text: Vec<char>,
    at: usize,
    flags: u32,
    ignores_case: bool,
    depth: u32,
    /// The height of the tree that was parsed last.
    height: u32,
}

/// Parses a pattern; an empty one matches the empty string.
///
/// `ignores_case`: ASCII letters match in either case, except for the ends of ranges.
pub(super) fn read(text: &str, flags: u32, ignores_case: bool) -> Result<Tree> {
    limber_work::claim(text.len() as u64 * TREE_BYTES)?;
    let mut reader = Reader { text: text.chars().collect(), at: 0, flags, ignores_case, depth: 0, height: 0 };
    if reader.text.is_empty() {
        return Ok(Tree::Epsilon);
    }
    let tree = reader.union()?;
    match reader.at < reader.text.len() {
        true => Err(wrong(format!("end-of-string expected at position {}", reader.at))),
        false => Ok(tree),
    }
}

fn wrong(reason: impl Into<String>) -> Error {
    Error::illegal(reason)
}

fn any() -> Tree {
    Tree::Class(vec![(0, LAST)])
}

impl Reader {
    fn allows(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn peek(&self, among: &str) -> bool {
        self.text.get(self.at).is_some_and(|next| among.contains(*next))
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.text.get(self.at) == Some(&wanted);
        self.at += usize::from(found);
        found
    }

    fn next(&mut self) -> Result<char> {
        let next = self.text.get(self.at).copied().ok_or_else(|| wrong("unexpected end-of-string"))?;
        self.at += 1;
        Ok(next)
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        match self.take(wanted) {
            true => Ok(()),
            false => Err(wrong(format!("expected '{wanted}' at position {}", self.at))),
        }
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(wrong(format!("a regular expression is nested at most {DEPTH_MAX} deep"))),
            false => Ok(()),
        }
    }

    /// Counts a level above what was parsed last, and `height` levels below that.
    fn raise(&mut self, height: u32) -> Result<()> {
        self.height = height + 1;
        match self.height > HEIGHT_MAX {
            true => Err(wrong(format!("a regular expression has at most {HEIGHT_MAX} levels"))),
            false => Ok(()),
        }
    }

    /// Parses one part and, while `goes_on` takes what stands between two of them, further ones.
    fn list(
        &mut self,
        part: fn(&mut Reader) -> Result<Tree>,
        goes_on: fn(&mut Reader) -> bool,
    ) -> Result<Vec<Tree>> {
        let mut parts = vec![part(self)?];
        let mut height = self.height;
        while goes_on(self) {
            parts.push(part(self)?);
            height = height.max(self.height);
        }
        self.raise(height)?;
        Ok(parts)
    }

    fn union(&mut self) -> Result<Tree> {
        self.deeper()?;
        let mut choices = self.list(Reader::intersection, |reader| reader.take('|'))?;
        self.depth -= 1;
        Ok(if choices.len() == 1 { choices.remove(0) } else { Tree::Or(choices) })
    }

    fn intersection(&mut self) -> Result<Tree> {
        let mut parts =
            self.list(Reader::concat, |reader| reader.allows(INTERSECTION) && reader.take('&'))?;
        Ok(if parts.len() == 1 { parts.remove(0) } else { Tree::And(parts) })
    }

    fn concat(&mut self) -> Result<Tree> {
        let mut parts = self.list(Reader::repeat, |reader| {
            let is_end = reader.at == reader.text.len() || reader.peek(")|");
            let is_operator = reader.allows(INTERSECTION) && reader.peek("&");
            !is_end && !is_operator
        })?;
        Ok(if parts.len() == 1 { parts.remove(0) } else { Tree::Concat(parts) })
    }

    fn repeat(&mut self) -> Result<Tree> {
        let mut tree = self.complement()?;
        let mut repeats = self.depth;
        while self.peek("?*+{") {
            // Each repetition is a level of the tree, like a parenthesis.
            repeats += 1;
            if repeats > DEPTH_MAX {
                return Err(wrong(format!("a regular expression is nested at most {DEPTH_MAX} deep")));
            }
            self.raise(self.height)?;
            let (least, most) = match self.next()? {
                '?' => (0, Some(1)),
                '*' => (0, None),
                '+' => (1, None),
                _ => self.counts()?,
            };
            tree = Tree::Repeat(Box::new(tree), least, most);
        }
        Ok(tree)
    }

    /// Parses `n}`, `n,}` or `n,m}`.
    fn counts(&mut self) -> Result<(u32, Option<u32>)> {
        let least =
            self.number()?.ok_or_else(|| wrong(format!("integer expected at position {}", self.at)))?;
        let most = if self.take(',') { self.number()? } else { Some(least) };
        self.expect('}')?;
        match most {
            Some(most) if least > most => {
                Err(wrong(format!("invalid repetition range(out of order): {least}..{most}")))
            }
            most => Ok((least, most)),
        }
    }

    fn number(&mut self) -> Result<Option<u32>> {
        let start = self.at;
        while self.peek("0123456789") {
            self.at += 1;
        }
        let digits: String = self.text[start..self.at].iter().collect();
        match digits.is_empty() {
            true => Ok(None),
            false => digits
                .parse::<i32>()
                .map(|number| Some(number as u32))
                .map_err(|_| Error::NumberFormat(digits)),
        }
    }

    fn complement(&mut self) -> Result<Tree> {
        self.height = 0;
        if self.allows(COMPLEMENT) && self.take('~') {
            self.deeper()?;
            let inner = self.complement()?;
            self.depth -= 1;
            self.raise(self.height)?;
            return Ok(Tree::Not(Box::new(inner)));
        }
        if !self.take('[') {
            return self.simple();
        }
        let negated = self.take('^');
        let mut ranges = self.class()?;
        while self.at < self.text.len() && !self.peek("]") {
            ranges.extend(self.class()?);
        }
        self.expect(']')?;
        Ok(Tree::Class(if negated { inverted(ranges) } else { ranges }))
    }

    /// Parses one character, range, or named class within a class.
    fn class(&mut self) -> Result<Vec<(u32, u32)>> {
        if let Some(named) = self.named_class() {
            return Ok(named);
        }
        let first = self.character()?;
        if !self.take('-') {
            return Ok(self.one(first));
        }
        let last = self.character()?;
        if first > last {
            let (first, last) = (first as u32, last as u32);
            return Err(wrong(format!("invalid range: from ({first}) cannot be > to ({last})")));
        }
        Ok(vec![(first as u32, last as u32)])
    }

    /// Parses `\d`, `\w`, `\s` or their complements.
    fn named_class(&mut self) -> Option<Vec<(u32, u32)>> {
        if self.text.get(self.at) != Some(&'\\') {
            return None;
        }
        let name = *self.text.get(self.at + 1)?;
        let range = |first: char, last: char| (first as u32, last as u32);
        let ranges = match name.to_ascii_lowercase() {
            'd' => vec![range('0', '9')],
            'w' => vec![range('0', '9'), range('A', 'Z'), range('_', '_'), range('a', 'z')],
            's' => vec![range('\t', '\n'), range('\r', '\r'), range(' ', ' ')],
            _ => return None,
        };
        self.at += 2;
        Some(if name.is_ascii_uppercase() { inverted(ranges) } else { ranges })
    }

    fn character(&mut self) -> Result<char> {
        self.take('\\');
        self.next()
    }

    fn simple(&mut self) -> Result<Tree> {
        if self.take('.') {
            return Ok(any());
        }
        if self.allows(EMPTY) && self.take('#') {
            return Ok(Tree::Nothing);
        }
        if self.allows(ANYSTRING) && self.take('@') {
            return Ok(Tree::Repeat(Box::new(any()), 0, None));
        }
        if self.take('"') {
            let start = self.at;
            while self.at < self.text.len() && !self.peek("\"") {
                self.at += 1;
            }
            let text = self.text[start..self.at].to_vec();
            self.expect('"')?;
            return Ok(Tree::Concat(text.into_iter().map(|char| Tree::Class(self.one(char))).collect()));
        }
        if self.take('(') {
            if self.take(')') {
                return Ok(Tree::Epsilon);
            }
            let inner = self.union()?;
            self.expect(')')?;
            return Ok(inner);
        }
        if (self.allows(AUTOMATON) || self.allows(INTERVAL)) && self.take('<') {
            return self.interval();
        }
        if let Some(named) = self.named_class() {
            return Ok(Tree::Class(named));
        }
        let char = self.character()?;
        Ok(Tree::Class(self.one(char)))
    }

    /// Returns the ranges for a literal character.
    fn one(&self, char: char) -> Vec<(u32, u32)> {
        let one = |char: char| (char as u32, char as u32);
        match self.ignores_case && char.is_ascii_alphabetic() {
            true => vec![one(char.to_ascii_uppercase()), one(char.to_ascii_lowercase())],
            false => vec![one(char)],
        }
    }

    /// Parses `<5-12>`: a range of numbers. Names of automata are refused, because none are defined.
    fn interval(&mut self) -> Result<Tree> {
        let start = self.at;
        while self.at < self.text.len() && !self.peek(">") {
            self.at += 1;
        }
        let text: String = self.text[start..self.at].iter().collect();
        self.expect('>')?;
        let syntax = |at: usize| wrong(format!("interval syntax error at position {}", at - 1));
        let Some((first, last)) = text.split_once('-') else {
            return Err(match self.allows(AUTOMATON) {
                true => wrong(format!("'{text}' not found")),
                false => syntax(self.at),
            });
        };
        if !self.allows(INTERVAL) {
            return Err(wrong(format!("illegal identifier at position {}", self.at - 1)));
        }
        if first.is_empty() || last.is_empty() || last.contains('-') {
            return Err(syntax(self.at));
        }
        let number =
            |text: &str| text.parse::<i32>().ok().filter(|number| *number >= 0).map(|number| number as u32);
        let (Some(least), Some(most)) = (number(first), number(last)) else {
            let wrong = if number(first).is_none() { first } else { last };
            return Err(Error::IllegalNumber {
                reason: syntax(self.at).to_string(),
                number: wrong.to_owned(),
            });
        };
        let digits = if first.len() == last.len() { first.len() } else { 0 };
        Ok(numbers(least.min(most), least.max(most), digits))
    }
}

/// Returns the ranges of all other characters.
fn inverted(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut others = Vec::new();
    let mut next = 0;
    for (first, last) in ranges {
        if first > next {
            others.push((next, first - 1));
        }
        next = next.max(last + 1);
    }
    if next <= LAST {
        others.push((next, LAST));
    }
    others
}

fn digit_range(first: u8, last: u8) -> Tree {
    Tree::Class(vec![(u32::from(first), u32::from(last))])
}

/// Returns numbers of `digits` digits each or, if `digits` is 0, with any number of leading zeros.
fn numbers(least: u32, most: u32, digits: usize) -> Tree {
    let fixed = |least: u32, most: u32, digits: usize| {
        let text = |number: u32| format!("{number:0digits$}").into_bytes();
        between(&text(least), &text(most))
    };
    if digits > 0 {
        return fixed(least, most, digits);
    }
    let mut choices = Vec::new();
    let (mut start, mut width) = (0u64, 1);
    while start <= u64::from(most) {
        let end = 10u64.pow(width) - 1;
        let (first, last) = (start.max(u64::from(least)), end.min(u64::from(most)));
        if first <= last {
            choices.push(fixed(first as u32, last as u32, width as usize));
        }
        (start, width) = (end + 1, width + 1);
    }
    let zeros = Tree::Repeat(Box::new(digit_range(b'0', b'0')), 0, None);
    Tree::Concat(vec![zeros, Tree::Or(choices)])
}

/// Returns strings of digits between two strings of the same length.
fn between(least: &[u8], most: &[u8]) -> Tree {
    let (Some((low, low_rest)), Some((high, high_rest))) = (least.split_first(), most.split_first()) else {
        return Tree::Epsilon;
    };
    let free =
        |count: usize| Tree::Repeat(Box::new(digit_range(b'0', b'9')), count as u32, Some(count as u32));
    if low == high {
        return Tree::Concat(vec![digit_range(*low, *low), between(low_rest, high_rest)]);
    }
    let nines = vec![b'9'; low_rest.len()];
    let zeros = vec![b'0'; low_rest.len()];
    let mut choices = vec![
        Tree::Concat(vec![digit_range(*low, *low), between(low_rest, &nines)]),
        Tree::Concat(vec![digit_range(*high, *high), between(&zeros, high_rest)]),
    ];
    if high - low > 1 {
        choices.push(Tree::Concat(vec![digit_range(low + 1, high - 1), free(low_rest.len())]));
    }
    Tree::Or(choices)
}
