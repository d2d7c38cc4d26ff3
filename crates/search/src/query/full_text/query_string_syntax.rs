//! Parses Lucene's query language to a tree of clauses.
//!
//! Source: the grammar `QueryParser.jj` of Lucene's classic query parser and its `addClause`, which decides
//! how `AND`, `OR` and the default operator affect the clauses next to them. Groups can be nested
//! [`DEPTH_MAX`] deep.

mod escapes;

use escapes::has_wildcard;
pub(in crate::query) use escapes::{escape, unescape};

/// Largest nesting depth of parentheses.
const DEPTH_MAX: usize = 30;
/// Largest number of clauses of one text.
const CLAUSES_MAX: usize = 4096;

/// A list of clauses, each with the operators before it.
#[derive(Debug, Default, PartialEq)]
pub(in crate::query) struct Tree {
    pub clauses: Vec<(Before, Clause)>,
}

/// The conjunction and the modifier before a clause.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::query) struct Before {
    conjunction: Option<Conjunction>,
    modifier: Option<Modifier>,
}

impl Before {
    /// Whether the clause must not match.
    pub fn is_prohibited(self) -> bool {
        self.modifier == Some(Modifier::Prohibited)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Conjunction {
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Modifier {
    Required,
    Prohibited,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::query) enum Occur {
    Must,
    Should,
    MustNot,
}

#[derive(Debug, PartialEq)]
pub(in crate::query) enum Clause {
    /// The clause `*:*`.
    Everything,
    Leaf {
        field: Option<String>,
        leaf: Leaf,
    },
    Group {
        field: Option<String>,
        tree: Tree,
    },
    Boosted(Box<Clause>, f32),
}

/// A leaf of the tree. Its text is still escaped.
#[derive(Debug, PartialEq)]
pub(in crate::query) enum Leaf {
    Word(String),
    Phrase {
        text: String,
        slop: Option<u32>,
    },
    /// A word with `*` or `?`.
    Pattern(String),
    /// Both ends, and whether each is included; `None` for an open end.
    Range {
        lower: Option<(String, bool)>,
        upper: Option<(String, bool)>,
    },
    /// `word~`, with the number after it.
    Fuzzy {
        text: String,
        edits: Option<String>,
    },
    /// `/regex/`.
    Expression(String),
}

impl Leaf {
    /// Returns its text, without quotes and escapes.
    pub fn text(&self) -> &str {
        match self {
            Leaf::Word(text)
            | Leaf::Phrase { text, .. }
            | Leaf::Pattern(text)
            | Leaf::Fuzzy { text, .. }
            | Leaf::Expression(text) => text,
            Leaf::Range { .. } => "",
        }
    }
}

impl Tree {
    /// Returns how each clause occurs in the query: Lucene's `QueryParserBase#addClause`.
    pub fn occurs(&self, default_is_and: bool) -> Vec<Occur> {
        let mut occurs: Vec<Occur> = Vec::with_capacity(self.clauses.len());
        for (before, _) in &self.clauses {
            if let Some(previous) = occurs.last_mut()
                && *previous != Occur::MustNot
            {
                match before.conjunction {
                    Some(Conjunction::And) => *previous = Occur::Must,
                    Some(Conjunction::Or) if default_is_and => *previous = Occur::Should,
                    _ => {}
                }
            }
            let is_required = match (before.modifier, default_is_and) {
                (Some(Modifier::Prohibited), _) => {
                    occurs.push(Occur::MustNot);
                    continue;
                }
                (Some(Modifier::Required), false) => true,
                (None, false) => before.conjunction == Some(Conjunction::And),
                (_, true) => before.conjunction != Some(Conjunction::Or),
            };
            occurs.push(if is_required { Occur::Must } else { Occur::Should });
        }
        occurs
    }
}

/// Parses a text. The error is a short form of Lucene's message.
pub(in crate::query) fn read(text: &str) -> Result<Tree, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !is_operator(text) {
        // A single word, as most texts are, needs no reader.
        let word = Clause::Leaf { field: None, leaf: Leaf::Word(text.to_owned()) };
        return Ok(Tree { clauses: vec![(Before::default(), word)] });
    }
    let mut reader = Reader { text, characters: text.chars().collect(), at: 0, clause_count: 0 };
    let tree = reader.tree(0)?;
    match reader.peek() {
        None => Ok(tree),
        Some(_) => Err(reader.unexpected()),
    }
}

struct Reader<'t> {
    text: &'t str,
    characters: Vec<char>,
    at: usize,
    clause_count: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|c| c.is_whitespace() || c == '\u{3000}') {
            self.at += 1;
        }
    }

    fn unexpected(&self) -> String {
        let found = self.peek().map_or("<EOF>".to_owned(), |c| c.to_string());
        format!("Cannot parse '{}': Encountered \"{found}\" at line 1, column {}.", self.text, self.at)
    }

    /// Takes `word` if a space, a parenthesis or the end of the text follows it.
    fn take_operator(&mut self, word: &str) -> bool {
        let end = self.at + word.chars().count();
        let is_here = self.characters[self.at..].iter().copied().take(word.len()).eq(word.chars());
        let is_whole = self.characters.get(end).is_none_or(|c| c.is_whitespace() || *c == '(');
        if is_here && (is_whole || !word.starts_with(char::is_alphabetic)) {
            self.at = end;
            return true;
        }
        false
    }

    fn tree(&mut self, depth: usize) -> Result<Tree, String> {
        if depth > DEPTH_MAX {
            return Err(format!("Cannot parse: more than {DEPTH_MAX} levels of parentheses"));
        }
        let mut tree = Tree::default();
        loop {
            self.skip_space();
            if self.peek().is_none_or(|c| c == ')') {
                return Ok(tree);
            }
            if let Some(words) = self.words() {
                let leaf = Leaf::Word(words);
                tree.clauses.push((Before::default(), Clause::Leaf { field: None, leaf }));
                continue;
            }
            let mut before = Before::default();
            if !tree.clauses.is_empty() {
                if self.take_operator("AND") || self.take_operator("&&") {
                    before.conjunction = Some(Conjunction::And);
                } else if self.take_operator("OR") || self.take_operator("||") {
                    before.conjunction = Some(Conjunction::Or);
                }
                self.skip_space();
            }
            if self.bare_sign() {
                // It is a term.
            } else if self.take('+') {
                before.modifier = Some(Modifier::Required);
            } else if self.take('-') || self.take('!') || self.take_operator("NOT") {
                before.modifier = Some(Modifier::Prohibited);
            }
            self.skip_space();
            let clause = self.clause(depth)?;
            tree.clauses.push((before, clause));
        }
    }

    /// Whether a sign with white space after it follows, which is no modifier but a term.
    fn bare_sign(&self) -> bool {
        let is_space = |c: &char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{3000}');
        self.peek().is_some_and(|c| matches!(c, '+' | '-' | '!'))
            && self.characters.get(self.at + 1).is_some_and(is_space)
    }

    /// Takes two or more adjacent plain words as one text (Lucene's `MultiTerm`); otherwise takes nothing.
    fn words(&mut self) -> Option<String> {
        let start = self.at;
        let mut text = String::new();
        let (mut end, mut count) = (start, 0);
        loop {
            self.skip_space();
            let word = self.word();
            let is_plain = !word.is_empty()
                && !has_wildcard(&word)
                && !is_operator(&word)
                && !self.peek().is_some_and(|c| matches!(c, ':' | '^' | '~' | '"' | '/' | '[' | '{' | '('));
            if !is_plain {
                break;
            }
            let after = self.at;
            // A word before an operator is an operand of that.
            self.skip_space();
            let is_marked = self.peek().is_some_and(|c| matches!(c, ':' | '^' | '~'));
            if is_marked || escapes::check(&word).is_err() || count > 0 && self.is_before_operator() {
                break;
            }
            if count > 0 {
                text.push(' ');
            }
            text.push_str(&word);
            count += 1;
            end = after;
        }
        self.at = if count > 1 { end } else { start };
        (count > 1).then_some(text)
    }

    fn is_before_operator(&mut self) -> bool {
        let at = self.at;
        let found = ["AND", "&&", "OR", "||"].into_iter().any(|word| self.take_operator(word));
        self.at = at;
        found
    }

    fn clause(&mut self, depth: usize) -> Result<Clause, String> {
        self.clause_count += 1;
        if self.clause_count > CLAUSES_MAX {
            return Err(format!("Cannot parse: more than {CLAUSES_MAX} clauses"));
        }
        let field = self.field();
        let clause = if self.take('(') {
            let tree = self.tree(depth + 1)?;
            if !self.take(')') || tree.clauses.is_empty() {
                return Err(self.unexpected());
            }
            Clause::Group { field, tree }
        } else {
            match (field, self.leaf()?) {
                (Some(field), Leaf::Pattern(text)) if field == "*" && text == "*" => Clause::Everything,
                (field, leaf) => Clause::Leaf { field, leaf },
            }
        };
        let mut clause = clause;
        let (slop, boost) = self.suffixes()?;
        if let Some(slop) = slop {
            let Clause::Leaf { leaf, .. } = &mut clause else { return Err(self.unexpected()) };
            match leaf {
                // As in Lucene, a greater one is the greatest integer.
                Leaf::Phrase { slop: own, .. } => {
                    *own = slop.parse::<f32>().ok().map(|number| (number as i32).unsigned_abs());
                }
                Leaf::Word(text) => {
                    let edits = Some(slop).filter(|edits| !edits.is_empty());
                    *leaf = Leaf::Fuzzy { text: std::mem::take(text), edits };
                }
                Leaf::Range { .. } => return Err(self.unexpected()),
                Leaf::Pattern(_) | Leaf::Expression(_) | Leaf::Fuzzy { .. } => {}
            }
        }
        Ok(match boost {
            Some(boost) => Clause::Boosted(Box::new(clause), boost),
            None => clause,
        })
    }

    /// Takes what follows `~` and the number after `^`, in either order.
    fn suffixes(&mut self) -> Result<(Option<String>, Option<f32>), String> {
        let (mut slop, mut boost) = (None, None);
        loop {
            let start = self.at;
            self.skip_space();
            if slop.is_none() && self.take('~') {
                slop = Some(self.word());
            } else if boost.is_none() && self.take('^') {
                self.skip_space();
                boost = Some(self.digits().parse().map_err(|_| self.unexpected())?);
            } else {
                self.at = start;
                return Ok((slop, boost));
            }
        }
    }

    /// Takes `name:` before a clause; otherwise takes nothing.
    fn field(&mut self) -> Option<String> {
        let start = self.at;
        let name = self.word();
        self.skip_space();
        // `f\:o:x` names the field `f:o`; a single star stands for every field.
        let is_name = !name.is_empty()
            && self.peek() == Some(':')
            && (name == "*" || !has_wildcard(&name))
            && !is_operator(&name);
        if is_name {
            self.at += 1;
            self.skip_space();
            return Some(unescape(&name));
        }
        self.at = start;
        None
    }

    fn leaf(&mut self) -> Result<Leaf, String> {
        match self.peek() {
            Some('"') => {
                let text = self.quoted('"')?;
                escapes::check(&text)?;
                Ok(Leaf::Phrase { text, slop: None })
            }
            Some('/') => Ok(Leaf::Expression(self.quoted('/')?)),
            Some('[' | '{') => self.range(),
            Some('>' | '<') => self.comparison(),
            Some(sign) if self.bare_sign() => {
                self.at += 1;
                Ok(Leaf::Word(sign.to_string()))
            }
            _ => {
                let word = self.word();
                if word.is_empty() || is_operator(&word) {
                    return Err(self.unexpected());
                }
                escapes::check(&word)?;
                Ok(if has_wildcard(&word) { Leaf::Pattern(word) } else { Leaf::Word(word) })
            }
        }
    }

    /// Takes the characters of a term, including escapes. A backslash at the end of the text is left.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(character) = self.peek() {
            match character {
                '\\' => {
                    let Some(escaped) = self.characters.get(self.at + 1) else { break };
                    word.extend(['\\', *escaped]);
                    self.at += 1;
                }
                c if c.is_whitespace() || c == '\u{3000}' => break,
                '(' | ')' | '{' | '}' | '[' | ']' | '^' | '"' | '~' | ':' | '/' | '!' => break,
                '+' | '-' if word.is_empty() => break,
                c => word.push(c),
            }
            self.at += 1;
        }
        word
    }

    fn digits(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '.') {
            self.at += 1;
        }
        self.characters[start..self.at].iter().collect()
    }

    /// Takes the text between two marks.
    fn quoted(&mut self, mark: char) -> Result<String, String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(self.unexpected()),
                Some('\\') => {
                    text.push('\\');
                    self.at += 1;
                    text.extend(self.peek());
                }
                Some(c) if c == mark => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(c) => text.push(c),
            }
            self.at += 1;
        }
    }

    /// Parses `[a TO b]`, `{a TO b}`, or a mixture of both.
    fn range(&mut self) -> Result<Leaf, String> {
        let lower_included = self.peek() == Some('[');
        self.at += 1;
        let lower = self.end()?;
        self.skip_space();
        if !self.take_operator("TO") {
            return Err(self.unexpected());
        }
        let upper = self.end()?;
        self.skip_space();
        let upper_included = match self.peek() {
            Some(']') => true,
            Some('}') => false,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        let open = |text: String, included| (text != "*").then_some((text, included));
        Ok(Leaf::Range { lower: open(lower, lower_included), upper: open(upper, upper_included) })
    }

    /// Parses one end of a range: quoted, or up to the next space or bracket.
    fn end(&mut self) -> Result<String, String> {
        self.skip_space();
        if self.peek() == Some('"') {
            return self.quoted('"');
        }
        let start = self.at;
        while self.peek().is_some_and(|c| !c.is_whitespace() && c != ']' && c != '}') {
            self.at += 1;
        }
        if start == self.at {
            return Err(self.unexpected());
        }
        Ok(self.characters[start..self.at].iter().collect())
    }

    /// Parses `>a`, `>=a`, `<a`, or `<=a`.
    fn comparison(&mut self) -> Result<Leaf, String> {
        let is_lower = self.take('>');
        if !is_lower {
            self.take('<');
        }
        let included = self.take('=');
        let text = if self.peek() == Some('"') { self.quoted('"')? } else { self.word() };
        if text.is_empty() {
            return Err(self.unexpected());
        }
        let end = Some((text, included));
        Ok(if is_lower {
            Leaf::Range { lower: end, upper: None }
        } else {
            Leaf::Range { lower: None, upper: end }
        })
    }
}

fn is_operator(word: &str) -> bool {
    matches!(word, "AND" | "OR" | "NOT" | "&&" | "||")
}

#[cfg(test)]
mod tests;
