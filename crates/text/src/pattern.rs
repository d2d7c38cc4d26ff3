//! Regular expressions from users: "where does this match?" without a user being able to stop the server.
//!
//! Patterns run in linear time (`regex`) whenever they can be translated; those with look-around, back
//! references, atomic groups or possessive quantifiers run over `fancy-regex` with a limit on backtracking.
//! Both have a limit on their compiled size.
//!
//! Even linear time is quadratic where a match is looked for again after every match, and long where a large
//! pattern meets a long text: a [`Watch`] ends what takes longer than a document may, or what nobody waits
//! for; a large pattern is not run over a long text.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use limber_work as work;

use crate::Error;

/// What a text may grow to by replacements.
const GROWTH_BYTES_MAX: usize = 64 << 20;

/// Steps a backtracking match may take on a short text before it is refused.
const BACKTRACK_COUNT_MAX: usize = 1_000_000;

/// Longer texts have fewer steps: each may look at all of the text, and nothing interrupts a match.
const SHORT_BYTES_MAX: usize = 4 << 10;

/// Steps on a text that is not short: more than one a character, as looking for the beginning of a match
/// takes that many.
const BACKTRACK_COUNT_MAX_LONG: usize = 160_000;

/// Longer texts are not looked at by backtracking at all.
const BACKTRACKED_BYTES_MAX: usize = 64 << 10;

/// What patterns may take for one document or one text, all together. Elasticsearch interrupts a grok after
/// this long (`ingest.grok.watchdog.max_execution_time`), and nothing else.
const TIME_MAX: Duration = Duration::from_secs(1);

/// Matches of a short text are not timed, unless they backtrack.
const TIMED_FROM_BYTES: usize = 1 << 10;

/// Sizes at which it is tried to compile a pattern, so that it is known how large it is. The large firewall
/// patterns of grok need about 4 MiB.
const SIZE_STEPS: [usize; 5] = [16 << 10, 128 << 10, 1 << 20, 8 << 20, COMPILED_BYTES_MAX];
const COMPILED_BYTES_MAX: usize = 32 << 20;

/// A compiled pattern's bytes times a text's bytes: what a match that visits every state at every byte takes
/// is a second or two. Patterns of the smallest size may be run over any text.
const SIZE_TIMES_TEXT_MAX: u64 = 1 << 36;

/// What the lazy automaton of a Java pattern may take, for each thread that uses it: the default of `regex`.
const AUTOMATON_BYTES_MAX: usize = 2 << 20;

/// Characters of one pattern, grok references expanded.
const PATTERN_CHARS_MAX: usize = 100_000;

/// Start and end of a match's groups, the whole match first; `None`: the group took no part.
pub type Groups = Vec<Option<(usize, usize)>>;

/// A compiled pattern with a bound on the text that it is run over.
#[derive(Debug)]
pub struct Pattern {
    engine: Engine,
    /// Longest text that it is run over.
    text_bytes_max: usize,
}

#[derive(Debug)]
enum Engine {
    Linear(Box<regex::Regex>),
    Backtracking(Box<Backtracking>),
}

/// A pattern that no automaton matches.
#[derive(Debug)]
struct Backtracking {
    short: fancy_regex::Regex,
    /// For longer texts, made when the first comes.
    long: OnceLock<Result<fancy_regex::Regex, String>>,
}

impl Backtracking {
    fn parse(pattern: &str) -> Result<Backtracking, String> {
        Ok(Backtracking { short: backtracking(pattern, BACKTRACK_COUNT_MAX)?, long: OnceLock::new() })
    }

    /// # Errors
    /// The text is too long.
    fn for_text(&self, text: &str) -> Result<&fancy_regex::Regex, Error> {
        if text.len() <= SHORT_BYTES_MAX {
            return Ok(&self.short);
        }
        if text.len() > BACKTRACKED_BYTES_MAX {
            return Err(Error::illegal(format!(
                "a pattern with look-around, back references, atomic groups or possessive quantifiers is not matched against a text of more than \
                 [{BACKTRACKED_BYTES_MAX}] bytes, this one has [{}]",
                text.len()
            )));
        }
        let long = || backtracking(self.short.as_str(), BACKTRACK_COUNT_MAX_LONG);
        self.long.get_or_init(long).as_ref().map_err(Error::illegal)
    }
}

fn backtracking(pattern: &str, count_max: usize) -> Result<fancy_regex::Regex, String> {
    let regex = fancy_regex::RegexBuilder::new(pattern)
        .backtrack_limit(count_max)
        .delegate_size_limit(COMPILED_BYTES_MAX)
        .build();
    regex.map_err(|error| format!("{error} near\n{pattern}"))
}

/// Ends what patterns do for a document or a text for too long, or for a request that nobody waits for.
pub struct Watch {
    /// `None`: the text is short.
    started: Option<Instant>,
    /// Matches until the clock is looked at again: long texts take long.
    left: usize,
    every: usize,
}

impl Watch {
    /// Begins now.
    ///
    /// # Errors
    /// As [`Watch::tick`], when the time for patterns is over already.
    pub fn over(text: &str) -> Result<Watch, Error> {
        Watch::begin(text, text.len() >= TIMED_FROM_BYTES)
    }

    fn begin(text: &str, is_timed: bool) -> Result<Watch, Error> {
        work::check_beyond_deadline()?;
        let every = (1 + (16 << 10) / (text.len() + 1)).min(256);
        let started = is_timed.then(Instant::now);
        let watch = Watch { started, left: every, every };
        watch.check()?;
        Ok(watch)
    }

    /// Called before each match.
    ///
    /// # Errors
    /// `illegal_argument_exception` for patterns that take too long, and what ends the request.
    #[inline]
    pub fn tick(&mut self) -> Result<(), Error> {
        self.left -= 1;
        if self.left > 0 {
            return Ok(());
        }
        self.left = self.every;
        work::check_beyond_deadline()?;
        self.check()
    }

    fn check(&self) -> Result<(), Error> {
        let Some(started) = self.started else { return Ok(()) };
        if work::pattern_time() + started.elapsed() <= TIME_MAX {
            return Ok(());
        }
        Err(Error::illegal(format!(
            "pattern matching was interrupted after [{}] ms: the patterns take too long on this value",
            TIME_MAX.as_millis()
        )))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(started) = self.started {
            work::spend_on_patterns(started.elapsed());
        }
    }
}

impl Pattern {
    /// Compiles a `java.util.regex` pattern. The error is the reason alone.
    pub fn parse(pattern: &str) -> Result<Pattern, String> {
        Pattern::compile(&translate(pattern, Dialect::Java), AUTOMATON_BYTES_MAX)
    }

    /// Compiles an Oniguruma (Ruby syntax) pattern as grok uses them: `^` and `$` match at lines.
    pub fn parse_oniguruma(pattern: &str) -> Result<Pattern, String> {
        Pattern::compile(&format!("(?m){}", translate(pattern, Dialect::Ruby)), COMPILED_BYTES_MAX)
    }

    fn compile(pattern: &str, automaton_bytes_max: usize) -> Result<Pattern, String> {
        if pattern.len() > PATTERN_CHARS_MAX {
            return Err("the pattern is too long".to_owned());
        }
        for (step, size) in SIZE_STEPS.into_iter().enumerate() {
            let linear = regex::RegexBuilder::new(pattern)
                .size_limit(size)
                .dfa_size_limit(automaton_bytes_max)
                .build();
            match linear {
                Ok(regex) => {
                    let bytes_max = (SIZE_TIMES_TEXT_MAX / size as u64) as usize;
                    let text_bytes_max = if step == 0 { usize::MAX } else { bytes_max };
                    return Ok(Pattern { engine: Engine::Linear(Box::new(regex)), text_bytes_max });
                }
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(_) => {
                    let engine = Engine::Backtracking(Box::new(Backtracking::parse(pattern)?));
                    return Ok(Pattern { engine, text_bytes_max: usize::MAX });
                }
            }
        }
        Err("the pattern is too large".to_owned())
    }

    /// The pattern as it is matched.
    pub fn source(&self) -> &str {
        match &self.engine {
            Engine::Linear(regex) => regex.as_str(),
            Engine::Backtracking(pattern) => pattern.short.as_str(),
        }
    }

    /// Names of the groups by index.
    pub fn group_names(&self) -> Vec<Option<&str>> {
        match &self.engine {
            Engine::Linear(regex) => regex.capture_names().collect(),
            Engine::Backtracking(pattern) => pattern.short.capture_names().collect(),
        }
    }

    /// The time for patterns, and whether the text is not too long for this one.
    fn watch(&self, text: &str) -> Result<Watch, Error> {
        if text.len() > self.text_bytes_max {
            return Err(Error::illegal(format!(
                "the pattern is too large for a text of [{}] bytes, it is run over at most [{}]",
                text.len(),
                self.text_bytes_max
            )));
        }
        let is_timed = text.len() >= TIMED_FROM_BYTES || matches!(self.engine, Engine::Backtracking(_));
        Watch::begin(text, is_timed)
    }

    /// The first match's groups as ranges, or `None`.
    pub fn captures(&self, text: &str, from: usize) -> Result<Option<Groups>, Error> {
        let _watch = self.watch(text)?;
        self.captures_from(text, from)
    }

    fn captures_from(&self, text: &str, from: usize) -> Result<Option<Groups>, Error> {
        match &self.engine {
            Engine::Linear(regex) => {
                let mut locations = regex.capture_locations();
                let found = regex.captures_read_at(&mut locations, text, from).is_some();
                Ok(found.then(|| (0..locations.len()).map(|group| locations.get(group)).collect()))
            }
            Engine::Backtracking(pattern) => {
                let regex = pattern.for_text(text)?;
                let captures = regex.captures_from_pos(text, from).map_err(|error| too_costly(&error))?;
                Ok(captures.map(|captures| {
                    captures.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
                }))
            }
        }
    }

    fn find(&self, text: &str, from: usize) -> Result<Option<(usize, usize)>, Error> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.find_at(text, from).map(|found| (found.start(), found.end()))),
            Engine::Backtracking(pattern) => {
                let regex = pattern.for_text(text)?;
                let found = regex.find_from_pos(text, from).map_err(|error| too_costly(&error))?;
                Ok(found.map(|found| (found.start(), found.end())))
            }
        }
    }

    /// Calls `each` with start and end of every match that Java's `Matcher.find` would give.
    pub fn find_each(&self, text: &str, mut each: impl FnMut(usize, usize)) -> Result<(), Error> {
        let mut watch = self.watch(text)?;
        let mut from = Some(0);
        while let Some(at) = from
            && let Some((start, end)) = self.find(text, at)?
        {
            watch.tick()?;
            each(start, end);
            from = after(text, start, end);
        }
        Ok(())
    }

    /// `Matcher.replaceAll`.
    pub fn replace_all(&self, text: &str, replacement: &Replacement) -> Result<String, Error> {
        self.replace(text, replacement, usize::MAX)
    }

    /// `Matcher.replaceFirst`.
    pub fn replace_first(&self, text: &str, replacement: &Replacement) -> Result<String, Error> {
        self.replace(text, replacement, 1)
    }

    /// Replaces the first `most` matches.
    fn replace(&self, text: &str, replacement: &Replacement, most: usize) -> Result<String, Error> {
        let mut watch = self.watch(text)?;
        let names = self.group_names();
        let mut out = String::with_capacity(text.len());
        let mut kept = 0;
        let (mut from, mut count) = (Some(0), 0);
        while let Some(at) = from
            && count < most
            && let Some(groups) = self.captures_from(text, at)?
            && let Some(&Some((start, end))) = groups.first()
        {
            watch.tick()?;
            count += 1;
            out.push_str(&text[kept..start]);
            replacement.push(text, &groups, &names, &mut out)?;
            work::check_growth(out.len(), out.capacity(), replacement.text_bytes() + text.len() / 2)?;
            if out.len() > GROWTH_BYTES_MAX + 2 * text.len() {
                return Err(Error::illegal("the text grew too large by replacements"));
            }
            kept = end;
            from = after(text, start, end);
        }
        out.push_str(&text[kept..]);
        Ok(out)
    }
}

/// Runs patterns of somebody else's over `text`, within the time for patterns.
///
/// # Errors
/// That time is over.
pub fn watched<T>(text: &str, run: impl FnOnce() -> T) -> Result<T, Error> {
    let _watch = Watch::begin(text, true)?;
    Ok(run())
}

/// Where the search goes on after a match: at its end, or a character later when it was empty. `None` at the
/// end of the text.
pub fn after(text: &str, start: usize, end: usize) -> Option<usize> {
    if start < end { Some(end) } else { text[end..].chars().next().map(|char| end + char.len_utf8()) }
}

fn too_costly(error: &fancy_regex::Error) -> Error {
    Error::illegal(format!("the pattern takes too long on this value: {error}"))
}

/// What a match is replaced with: Java's `$1`, `${name}` and `\` escapes.
#[derive(Debug)]
pub struct Replacement {
    parts: Vec<ReplacementPart>,
}

#[derive(Debug)]
enum ReplacementPart {
    Text(String),
    /// All digits after `$`; Java takes as many as still name a group.
    Group(String),
    Name(String),
    Invalid(&'static str),
}

impl Replacement {
    /// Never fails: Java, too, reports a wrong replacement only when it is used.
    pub fn parse(text: &str) -> Replacement {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let part = match char {
                '\\' => match chars.next() {
                    Some(escaped) => {
                        plain.push(escaped);
                        continue;
                    }
                    None => ReplacementPart::Invalid("character to be escaped is missing"),
                },
                '$' if chars.peek() == Some(&'{') => {
                    let name: String = chars.by_ref().skip(1).take_while(|&char| char != '}').collect();
                    ReplacementPart::Name(name)
                }
                '$' => {
                    let mut digits = String::new();
                    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                        digits.push(digit);
                    }
                    match (digits.is_empty(), chars.peek()) {
                        (false, _) => ReplacementPart::Group(digits),
                        (true, None) => {
                            ReplacementPart::Invalid("Illegal group reference: group index is missing")
                        }
                        (true, Some(_)) => ReplacementPart::Invalid("Illegal group reference"),
                    }
                }
                other => {
                    plain.push(other);
                    continue;
                }
            };
            if !plain.is_empty() {
                parts.push(ReplacementPart::Text(std::mem::take(&mut plain)));
            }
            parts.push(part);
        }
        if !plain.is_empty() {
            parts.push(ReplacementPart::Text(plain));
        }
        Replacement { parts }
    }

    /// Bytes of its own text.
    fn text_bytes(&self) -> usize {
        let of = |part: &ReplacementPart| match part {
            ReplacementPart::Text(text) => text.len(),
            _ => 0,
        };
        self.parts.iter().map(of).sum()
    }

    /// Appends what a match of `text` with these groups, of these names, is replaced with.
    ///
    /// # Errors
    /// A group that there is not.
    pub fn push(
        &self,
        text: &str,
        groups: &[Option<(usize, usize)>],
        names: &[Option<&str>],
        out: &mut String,
    ) -> Result<(), Error> {
        for part in &self.parts {
            match part {
                ReplacementPart::Text(text) => out.push_str(text),
                ReplacementPart::Invalid(reason) => return Err(Error::illegal(*reason)),
                ReplacementPart::Group(digits) => {
                    // The first digit always counts, later ones only while such a group exists.
                    let mut used = 1;
                    while used < digits.len()
                        && digits[..used + 1].parse::<usize>().is_ok_and(|group| group < groups.len())
                    {
                        used += 1;
                    }
                    let group: usize = digits[..used].parse().unwrap_or(usize::MAX);
                    let range =
                        groups.get(group).ok_or_else(|| Error::NoSuchGroup(digits[..used].to_owned()))?;
                    out.push_str(range.map_or("", |(start, end)| &text[start..end]));
                    out.push_str(&digits[used..]);
                }
                ReplacementPart::Name(name) => {
                    let group = names.iter().position(|known| *known == Some(name));
                    let group =
                        group.ok_or_else(|| Error::illegal(format!("No group with name {{{name}}}")))?;
                    out.push_str(groups[group].map_or("", |(start, end)| &text[start..end]));
                }
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Java,
    Ruby,
}

/// Rewrites what Java or Oniguruma and Rust's engines read differently: classes such as `\d` are ASCII, `\h`
/// is horizontal space (Java) or a hexadecimal digit (Ruby), `\Z` ends before a last line break, `\Q..\E`
/// quotes, and an opening bracket in a class is literal in Ruby.
fn translate(pattern: &str, dialect: Dialect) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut class_depth = 0usize;
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                let Some(escaped) = chars.next() else {
                    out.push('\\');
                    break;
                };
                let in_class = class_depth > 0;
                let class = match (escaped, dialect) {
                    ('d', _) => Some(("0-9", false)),
                    ('D', _) => Some(("0-9", true)),
                    ('w', _) => Some(("0-9A-Za-z_", false)),
                    ('W', _) => Some(("0-9A-Za-z_", true)),
                    ('s', _) => Some((r" \t\n\x0B\x0C\r", false)),
                    ('S', _) => Some((r" \t\n\x0B\x0C\r", true)),
                    ('h', Dialect::Ruby) => Some(("0-9A-Fa-f", false)),
                    ('H', Dialect::Ruby) => Some(("0-9A-Fa-f", true)),
                    ('h', Dialect::Java) => {
                        Some((r" \t\xA0\u{1680}\u{180e}\u{2000}-\u{200a}\u{202f}\u{205f}\u{3000}", false))
                    }
                    _ => None,
                };
                match (class, escaped) {
                    (Some((set, negated)), _) => push_class(&mut out, set, negated, in_class),
                    (None, 'Z') => out.push_str(r"(?:\n?\z)"),
                    (None, 'Q') if dialect == Dialect::Java => push_quoted(&mut out, &mut chars),
                    (None, 'e') => out.push_str(r"\x1B"),
                    (None, other) if other.is_ascii_alphanumeric() || is_meta(other) => {
                        out.push('\\');
                        out.push(other);
                    }
                    // Escapes of characters that need none, such as `\/` or `\"`.
                    (None, other) => out.push(other),
                }
            }
            '[' if class_depth > 0 && chars.peek() != Some(&':') && dialect == Dialect::Ruby => {
                out.push_str("\\[")
            }
            '[' => {
                class_depth += 1;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.push('^');
                    chars.next();
                }
                // A closing bracket right after the opening is literal in both.
                if chars.peek() == Some(&']') {
                    out.push_str("\\]");
                    chars.next();
                }
            }
            ']' if class_depth > 0 => {
                class_depth -= 1;
                out.push(']');
            }
            // Set operators of Rust's engine that are plain characters here.
            '~' | '&' if class_depth > 0 && dialect == Dialect::Ruby => {
                out.push('\\');
                out.push(char);
            }
            other => out.push(other),
        }
    }
    out
}

fn push_class(out: &mut String, set: &str, negated: bool, in_class: bool) {
    match (in_class, negated) {
        (true, false) => out.push_str(set),
        (_, true) => {
            out.push_str("[^");
            out.push_str(set);
            out.push(']');
        }
        (false, false) => {
            out.push('[');
            out.push_str(set);
            out.push(']');
        }
    }
}

fn push_quoted(out: &mut String, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(char) = chars.next() {
        if char == '\\' && chars.peek() == Some(&'E') {
            chars.next();
            return;
        }
        if is_meta(char) {
            out.push('\\');
        }
        out.push(char);
    }
}

fn is_meta(char: char) -> bool {
    matches!(
        char,
        '\\' | '.'
            | '+'
            | '*'
            | '?'
            | '('
            | ')'
            | '|'
            | '['
            | ']'
            | '{'
            | '}'
            | '^'
            | '$'
            | '#'
            | '&'
            | '-'
            | '~'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, replacement: &str, text: &str, expected: Result<&str, &str>) {
        let made =
            Pattern::parse(pattern).expect("pattern").replace_all(text, &Replacement::parse(replacement));
        assert_eq!(
            made.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned),
            "{pattern} {replacement}"
        );
    }

    #[test]
    fn replaces_as_java_does() {
        check(r"(\d)", "<$1>", "a1b2", Ok("a<1>b<2>"));
        check(r"(\d)", r"\$x", "a1", Ok("a$x"));
        check(r"(\d)", "$2", "a1", Err("No group 2"));
        check(r"(\d)", "$", "1", Err("Illegal group reference: group index is missing"));
        check(r"(\d)", "$12", "1", Ok("12"));
        check(r"(?<x>\d)", "[${x}]$0", "1", Ok("[1]1"));
        check(r"x*", "-", "axb", Ok("-a--b-"));
        check(r"", "-", "é", Ok("-é-"));
        check(r"(?<!a)b", "-", "abb", Ok("ab-"));
        check(r"\Qa.b\E+", "-", "a.bb a+b", Ok("- a+b"));
        check(r"[\s\d]+", "", "a 1\u{a0}\u{663}", Ok("a\u{a0}\u{663}"));
    }

    #[test]
    fn a_costly_pattern_is_refused() {
        let pattern = Pattern::parse(r"(?=(a+)+$)(a+)+\1$").expect("pattern");
        let text = "a".repeat(60) + "b";
        assert!(pattern.replace_all(&text, &Replacement::parse("x")).is_err());
    }
}
