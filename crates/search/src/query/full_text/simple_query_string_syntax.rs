//! Parses a query language without syntax errors to a tree of clauses.
//!
//! Source: Lucene's `SimpleQueryParser`. Invalid syntax is ignored: brackets and quotes that are never
//! closed, and operators without an operand.

use limber_mapping::RequestError;

use crate::error::Error;
use crate::query::compound::bool_query::Bool;
use crate::query::parse::{Query, QueryLimits, too_many_nested_clauses};

/// The enabled operators.
pub(in crate::query) type Flags = u32;

pub(in crate::query) const AND: Flags = 1;
pub(in crate::query) const NOT: Flags = 1 << 1;
pub(in crate::query) const OR: Flags = 1 << 2;
pub(in crate::query) const PREFIX: Flags = 1 << 3;
pub(in crate::query) const PHRASE: Flags = 1 << 4;
pub(in crate::query) const PRECEDENCE: Flags = 1 << 5;
pub(in crate::query) const ESCAPE: Flags = 1 << 6;
pub(in crate::query) const WHITESPACE: Flags = 1 << 7;
pub(in crate::query) const FUZZY: Flags = 1 << 8;
pub(in crate::query) const NEAR: Flags = 1 << 9;
pub(in crate::query) const ALL: Flags = u32::MAX;

/// Bytes that reading a text takes per byte of it: each character, and where its bracket closes.
const READ_BYTES_A_BYTE: u64 = (size_of::<char>() + size_of::<usize>()) as u64;
/// Largest nesting depth of parentheses, and of the tree: a change of operators puts everything before it one
/// level deeper. Lucene has no such limit, but every level is a level of the query here.
const DEPTH_MAX: usize = 30;

/// Largest edit distance of a fuzzy word: Lucene's `LevenshteinAutomata#MAXIMUM_SUPPORTED_DISTANCE`.
const EDITS_MAX: u32 = 2;

/// A part of the text without operators.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::query) enum Leaf {
    Word(String),
    Phrase { text: String, slop: u32 },
    Prefix(String),
    Fuzzy { text: String, edits: u32 },
}

/// How adjacent clauses are combined.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Join {
    And,
    Or,
}

/// The result of parsing a text.
#[derive(Debug)]
pub(in crate::query) enum Tree {
    Single(Query),
    Joined { is_and: bool, clauses: Vec<Query> },
}

impl Tree {
    /// Converts the tree to a query. `minimum_should_match` applies to the clauses of the top level.
    pub fn into_query(self, minimum_should_match: Option<String>) -> Query {
        match self {
            Tree::Single(query) => query,
            Tree::Joined { is_and, clauses } => {
                let mut node = Bool { adjust_pure_negative: true, minimum_should_match, ..Bool::default() };
                if is_and {
                    node.must = clauses
                } else {
                    node.should = clauses
                }
                Query::new(node)
            }
        }
    }
}

/// Parses a text. `weight`: how many clauses a leaf counts as, one for each field. `make` makes the query of
/// a leaf; `None` if no word is left of it, in which case it is ignored.
///
/// # Errors
/// Those of `make`; too many clauses, or clauses nested too deep.
pub(in crate::query) fn read<M>(
    text: &str,
    flags: Flags,
    is_and: bool,
    weight: usize,
    make: M,
) -> Result<Option<Tree>, Error>
where
    M: FnMut(&Leaf) -> Result<Option<Query>, Error>,
{
    limber_work::claim(text.len() as u64 * READ_BYTES_A_BYTE)?;
    let text: Vec<char> = text.chars().collect();
    let closing = closing_brackets(&text, flags);
    let default = if is_and { Join::And } else { Join::Or };
    let end = text.len();
    let mut reader = Reader { text: &text, closing, flags, default, make, weight, depth: 0, clauses: 0 };
    Ok(reader.part(0, end)?.map(|(tree, _)| tree))
}

/// Returns the index of the closing bracket for each opening one; its own index if there is none.
fn closing_brackets(text: &[char], flags: Flags) -> Vec<usize> {
    let mut closing: Vec<usize> = (0..text.len()).collect();
    let (mut open, mut is_escaped) = (Vec::new(), false);
    for (at, character) in text.iter().enumerate() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = flags & ESCAPE != 0,
            '(' => open.push(at),
            ')' => {
                if let Some(start) = open.pop() {
                    closing[start] = at;
                }
            }
            _ => {}
        }
    }
    closing
}

struct Reader<'t, M> {
    text: &'t [char],
    closing: Vec<usize>,
    flags: Flags,
    default: Join,
    make: M,
    weight: usize,
    depth: usize,
    clauses: usize,
}

/// The state of parsing a part of the text.
struct Part {
    at: usize,
    end: usize,
    tree: Option<Tree>,
    /// The number of levels of `tree`.
    height: usize,
    join: Option<Join>,
    previous: Option<Join>,
    nots: u32,
}

impl<M> Reader<'_, M>
where
    M: FnMut(&Leaf) -> Result<Option<Query>, Error>,
{
    fn has(&self, flag: Flags) -> bool {
        self.flags & flag != 0
    }

    /// Parses a part of the text to a tree with this number of levels.
    fn part(&mut self, start: usize, end: usize) -> Result<Option<(Tree, usize)>, Error> {
        self.depth += 1;
        check_depth(self.depth, "parentheses")?;
        let mut part = Part { at: start, end, tree: None, height: 0, join: None, previous: None, nots: 0 };
        while part.at < end {
            match self.text[part.at] {
                '(' if self.has(PRECEDENCE) => self.group(&mut part)?,
                ')' if self.has(PRECEDENCE) => part.at += 1,
                '"' if self.has(PHRASE) => self.phrase(&mut part)?,
                '+' if self.has(AND) => part.join(Join::And),
                '|' if self.has(OR) => part.join(Join::Or),
                '-' if self.has(NOT) => {
                    part.nots += 1;
                    part.at += 1;
                    continue;
                }
                blank if is_blank(blank) && self.has(WHITESPACE) => part.at += 1,
                _ => self.word(&mut part)?,
            }
            part.nots = 0;
        }
        self.depth -= 1;
        Ok(part.tree.map(|tree| (tree, part.height)))
    }

    fn group(&mut self, part: &mut Part) -> Result<(), Error> {
        let (start, end) = (part.at + 1, self.closing[part.at]);
        if end < start || end >= part.end {
            // The phrase is never closed.
            part.at = start;
        } else if end == start {
            part.join = None;
            part.at = end + 1;
        } else {
            let (inner, height) = self.part(start, end)?.unzip();
            self.add(part, inner.map(|tree| tree.into_query(None)), height.unwrap_or(0))?;
            part.at = end + 1;
        }
        Ok(())
    }

    fn phrase(&mut self, part: &mut Part) -> Result<(), Error> {
        let start = part.at + 1;
        let (mut at, mut is_escaped, mut text) = (start, false, String::new());
        while at < part.end {
            match self.text[at] {
                '\\' if !is_escaped && self.has(ESCAPE) => is_escaped = true,
                '"' if !is_escaped => break,
                character => {
                    is_escaped = false;
                    text.push(character);
                }
            }
            at += 1;
        }
        part.at = at;
        if at == part.end {
            // The bracket is never closed.
            part.at = start;
            return Ok(());
        }
        if at == start {
            part.join = None;
            part.at += 1;
            return Ok(());
        }
        let mut slop = 0;
        if at + 1 < part.end && self.text[at + 1] == '~' && self.has(NEAR) {
            part.at += 1;
            if part.at + 1 < part.end {
                slop = self.number(part);
            }
        }
        let query = self.leaf(&Leaf::Phrase { text, slop })?;
        self.add(part, query, 0)?;
        part.at += 1;
        Ok(())
    }

    fn word(&mut self, part: &mut Part) -> Result<(), Error> {
        let (mut is_escaped, mut is_prefix, mut is_fuzzy) = (false, false, false);
        let mut text = String::new();
        while part.at < part.end {
            let character = self.text[part.at];
            if !is_escaped {
                if character == '\\' && self.has(ESCAPE) {
                    (is_escaped, is_prefix) = (true, false);
                    part.at += 1;
                    continue;
                }
                if self.ends_word(character) {
                    break;
                }
                if !text.is_empty() && character == '~' && self.has(FUZZY) {
                    is_fuzzy = true;
                    break;
                }
                is_prefix = !text.is_empty() && character == '*' && self.has(PREFIX);
            }
            is_escaped = false;
            text.push(character);
            part.at += 1;
        }
        if text.is_empty() {
            return Ok(());
        }
        let leaf = if is_fuzzy {
            match self.number(part).min(EDITS_MAX) {
                0 => Leaf::Word(text),
                edits => Leaf::Fuzzy { text, edits },
            }
        } else if is_prefix {
            text.pop();
            Leaf::Prefix(text)
        } else {
            Leaf::Word(text)
        };
        let query = self.leaf(&leaf)?;
        self.add(part, query, 0)
    }

    fn leaf(&mut self, leaf: &Leaf) -> Result<Option<Query>, Error> {
        self.clauses += self.weight.max(1);
        let clauses_max = QueryLimits::default().clauses_max;
        if self.clauses > clauses_max as usize {
            return Err(too_many_nested_clauses(clauses_max).into());
        }
        (self.make)(leaf)
    }

    /// Parses the number after `~`: 2 if there is none, 0 if it is invalid.
    fn number(&self, part: &mut Part) -> u32 {
        part.at += 1;
        let start = part.at;
        while part.at < part.end && !self.ends_word(self.text[part.at]) {
            part.at += 1;
        }
        let digits: String = self.text[start..part.at].iter().collect();
        if digits.is_empty() { 2 } else { digits.parse::<i32>().map_or(0, |number| number.max(0) as u32) }
    }

    fn ends_word(&self, character: char) -> bool {
        match character {
            '"' => self.has(PHRASE),
            '|' => self.has(OR),
            '+' => self.has(AND),
            '(' | ')' => self.has(PRECEDENCE),
            blank => is_blank(blank) && self.has(WHITESPACE),
        }
    }

    /// Joins a query with this number of levels to what was read before.
    fn add(&mut self, part: &mut Part, query: Option<Query>, mut height: usize) -> Result<(), Error> {
        let join = part.join.take();
        let Some(mut query) = query else { return Ok(()) };
        if part.nots % 2 == 1 {
            height += 1;
            query = Query::new(Bool {
                should: vec![Query::match_all()],
                must_not: vec![query],
                adjust_pure_negative: true,
                ..Bool::default()
            });
        }
        let Some(tree) = part.tree.take() else {
            (part.tree, part.height) = (Some(Tree::Single(query)), height);
            return Ok(());
        };
        let join = join.unwrap_or(self.default);
        let is_same = part.previous == Some(join);
        part.height = if is_same { part.height.max(height + 1) } else { part.height.max(height) + 1 };
        check_depth(part.height, "operators")?;
        part.tree = Some(match tree {
            Tree::Joined { is_and, mut clauses } if is_same => {
                clauses.push(query);
                Tree::Joined { is_and, clauses }
            }
            // A different operator applies to everything before it.
            tree => Tree::Joined { is_and: join == Join::And, clauses: vec![tree.into_query(None), query] },
        });
        part.previous = Some(join);
        Ok(())
    }
}

/// Refuses a text with too many levels of what it names.
fn check_depth(depth: usize, of: &str) -> Result<(), Error> {
    if depth > DEPTH_MAX {
        let reason = format!("[simple_query_string] more than {DEPTH_MAX} levels of {of}");
        return Err(RequestError::illegal_argument(reason).into());
    }
    Ok(())
}

impl Part {
    fn join(&mut self, join: Join) {
        if self.join.is_none() && self.tree.is_some() {
            self.join = Some(join);
        }
        self.at += 1;
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(text: &str, flags: Flags) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        read(text, flags, false, 1, |leaf| {
            leaves.push(leaf.clone());
            Ok(Some(Query::match_all()))
        })
        .unwrap();
        leaves
    }

    fn word(text: &str) -> Leaf {
        Leaf::Word(text.to_owned())
    }

    #[test]
    fn texts_are_read_into_leaves() {
        let phrase = |text: &str, slop| Leaf::Phrase { text: text.to_owned(), slop };
        let fuzzy = |text: &str, edits| Leaf::Fuzzy { text: text.to_owned(), edits };
        for (text, expected) in [
            ("fox +dog | wi*", vec![word("fox"), word("dog"), Leaf::Prefix("wi".to_owned())]),
            ("\"a b\"~3 c~ d~1 e~9 f~x", {
                vec![phrase("a b", 3), fuzzy("c", 2), fuzzy("d", 1), fuzzy("e", 2), word("f")]
            }),
            ("\"never closed", vec![word("never"), word("closed")]),
            ("(a (b) c", vec![word("a"), word("b"), word("c")]),
            ("a\\+b \\\"c", vec![word("a+b"), word("\"c")]),
            ("a-b -c", vec![word("a-b"), word("c")]),
            ("() \"\" + | -", vec![]),
            ("~ *", vec![word("~"), word("*")]),
        ] {
            assert_eq!(leaves(text, ALL), expected, "{text}");
        }
        assert_eq!(leaves("a +b \"c", 0), [word("a +b \"c")]);
        assert_eq!(leaves("a +b \"c", WHITESPACE), [word("a"), word("+b"), word("\"c")]);
    }

    #[test]
    fn levels_and_clauses_are_limited() {
        let ends_in = |text: &str, fields: usize| {
            read(text, ALL, false, fields, |_| Ok(Some(Query::match_all()))).is_ok()
        };
        let ends = |text: &str| ends_in(text, 1);
        assert!(ends(&format!("{}a{}", "(".repeat(29), ")".repeat(29))));
        assert!(!ends(&format!("{}a{}", "(".repeat(30), ")".repeat(30))));
        assert!(ends(&"(".repeat(100_000)));
        assert!(ends(&"a | b | ".repeat(1_000)) && ends(&"a + b | ".repeat(15)));
        assert!(!ends(&"a + b | ".repeat(16)), "every change of operators is a level");
        assert!(!ends(&format!("{}a{}", "-(b + ".repeat(16), ")".repeat(16))));
        assert!(!ends(&"a ".repeat(5000)));
        assert!(ends(&"a ".repeat(500)) && !ends_in(&"a ".repeat(500), 100));
    }
}
