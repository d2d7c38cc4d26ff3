//! Regular expressions from users: "where does this match?" They must not be able to stall the server.
//!
//! Patterns run in linear time (`regex`) whenever they can be translated. Those with look-around, back
//! references, atomic groups or possessive quantifiers run on `fancy-regex` with a limit on backtracking.
//! Both have a limit on their compiled size.
//!
//! Even linear time becomes quadratic if the search is repeated after every match, and a large pattern is
//! slow on a long text. So a [`Watch`] stops work that takes longer than one document may, or whose request
//! has ended, and a large pattern is not run on a long text.

mod replacement;
mod translate;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use limber_work as work;

use crate::Error;
pub use replacement::Replacement;
use translate::{Dialect, translate};

/// Maximum number of bytes that a text may grow to by replacements.
const GROWTH_BYTES_MAX: usize = 64 << 20;

/// Maximum number of steps of a backtracking match on a short text.
const BACKTRACK_COUNT_MAX: usize = 1_000_000;

/// Longer texts have fewer steps: each may read all of the text, and nothing interrupts a match.
const SHORT_BYTES_MAX: usize = 4 << 10;

/// Maximum number of steps on a longer text. It is more than one per character, because finding the beginning
/// of a match takes that many.
const BACKTRACK_COUNT_MAX_LONG: usize = 160_000;

/// Longer texts are not matched by backtracking at all.
const BACKTRACKED_BYTES_MAX: usize = 64 << 10;

/// Maximum time for all patterns of one document or one text together. Elasticsearch only limits grok, to the
/// same time (`ingest.grok.watchdog.max_execution_time`).
const TIME_MAX: Duration = Duration::from_secs(1);

/// Matches of shorter texts are not timed, unless they backtrack.
const TIMED_FROM_BYTES: usize = 1 << 10;

/// Size limits that are tried in turn when a pattern is compiled, to learn its size. The large firewall
/// patterns of grok need about 4 MiB.
const SIZE_STEPS: [usize; 5] = [16 << 10, 128 << 10, 1 << 20, 8 << 20, COMPILED_BYTES_MAX];
const COMPILED_BYTES_MAX: usize = 32 << 20;

/// Limit for the bytes of a compiled pattern times the bytes of a text: a match that visits every state at
/// every byte then takes a second or two. Patterns of the smallest size may run on any text.
const SIZE_TIMES_TEXT_MAX: u64 = 1 << 36;

/// Maximum number of bytes of the lazy automaton of a Java pattern, for each thread that uses it: the default
/// of `regex`.
const AUTOMATON_BYTES_MAX: usize = 2 << 20;

/// Maximum number of bytes of one pattern, with grok references expanded. It is checked before a pattern is
/// translated too: a class of two characters may become one of ninety.
pub const PATTERN_BYTES_MAX: usize = 100_000;

/// Start and end of a match's groups, the whole match first; `None` if the group did not take part.
pub type Groups = Vec<Option<(usize, usize)>>;

/// A compiled pattern with a limit on the texts that it runs on.
#[derive(Debug)]
pub struct Pattern {
    engine: Engine,
    /// Longest text that it runs on, in bytes.
    text_bytes_max: usize,
}

#[derive(Debug)]
enum Engine {
    Linear(Box<regex::Regex>),
    Backtracking(Box<Backtracking>),
}

/// A pattern that automata cannot match.
#[derive(Debug)]
struct Backtracking {
    short: fancy_regex::Regex,
    /// For longer texts; compiled at the first of them.
    long: OnceLock<Result<fancy_regex::Regex, String>>,
}

impl Backtracking {
    fn parse(pattern: &str) -> Result<Backtracking, String> {
        Ok(Backtracking { short: backtracking(pattern, BACKTRACK_COUNT_MAX)?, long: OnceLock::new() })
    }

    /// Returns the form for a text.
    ///
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

/// Stops patterns that run too long for a document or text, or whose request has ended.
pub struct Watch {
    /// `None` if the text is short.
    started: Option<Instant>,
    /// Matches until the next check of the clock; fewer for long texts, where a match takes long.
    left: usize,
    every: usize,
}

impl Watch {
    /// Starts a watch over a text.
    ///
    /// # Errors
    /// Those of [`Watch::tick`], if the time for patterns is already over.
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

    /// Checks time and cancellation; called before each match.
    ///
    /// # Errors
    /// `illegal_argument_exception` if patterns take too long, and the error that stops the request.
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
    /// Compiles a `java.util.regex` pattern. The error is only the reason.
    pub fn parse(pattern: &str) -> Result<Pattern, String> {
        check_length(pattern)?;
        Pattern::compile(&translate(pattern, Dialect::Java), AUTOMATON_BYTES_MAX)
    }

    /// Compiles a `java.util.regex` pattern to automata of at most `bytes_max` bytes. `None` if it needs
    /// more, or cannot be matched by automata.
    pub fn parse_small(pattern: &str, bytes_max: usize) -> Option<Pattern> {
        let regex = regex::RegexBuilder::new(&translate(pattern, Dialect::Java))
            .size_limit(bytes_max)
            .dfa_size_limit(bytes_max)
            .build();
        let text_bytes_max = (SIZE_TIMES_TEXT_MAX / bytes_max.max(1) as u64) as usize;
        Some(Pattern { engine: Engine::Linear(Box::new(regex.ok()?)), text_bytes_max })
    }

    /// Compiles an Oniguruma (Ruby syntax) pattern as grok uses it: `^` and `$` match at line breaks.
    pub fn parse_oniguruma(pattern: &str) -> Result<Pattern, String> {
        check_length(pattern)?;
        Pattern::compile(&format!("(?m){}", translate(pattern, Dialect::Ruby)), COMPILED_BYTES_MAX)
    }

    fn compile(pattern: &str, automaton_bytes_max: usize) -> Result<Pattern, String> {
        check_length(pattern)?;
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

    /// Returns the translated pattern.
    pub fn source(&self) -> &str {
        match &self.engine {
            Engine::Linear(regex) => regex.as_str(),
            Engine::Backtracking(pattern) => pattern.short.as_str(),
        }
    }

    /// Returns the names of the groups by index.
    pub fn group_names(&self) -> Vec<Option<&str>> {
        match &self.engine {
            Engine::Linear(regex) => regex.capture_names().collect(),
            Engine::Backtracking(pattern) => pattern.short.capture_names().collect(),
        }
    }

    /// Starts a watch, and checks that the text is not too long for this pattern.
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

    /// Returns the groups of the first match as ranges, or `None`.
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

    /// Calls `each` with start and end of every match that Java's `Matcher.find` would return.
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

    /// Replaces like `Matcher.replaceAll`.
    pub fn replace_all(&self, text: &str, replacement: &Replacement) -> Result<String, Error> {
        self.replace(text, replacement, usize::MAX)
    }

    /// Replaces like `Matcher.replaceFirst`.
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

/// Runs foreign patterns on `text`, within the time for patterns.
///
/// # Errors
/// The time is over.
pub fn watched<T>(text: &str, run: impl FnOnce() -> T) -> Result<T, Error> {
    let _watch = Watch::begin(text, true)?;
    Ok(run())
}

fn check_length(pattern: &str) -> Result<(), String> {
    match pattern.len() > PATTERN_BYTES_MAX {
        true => Err("the pattern is too long".to_owned()),
        false => Ok(()),
    }
}

/// Returns where the search continues after a match: at its end, or a character later if the match was
/// empty. `None` at the end of the text.
pub fn after(text: &str, start: usize, end: usize) -> Option<usize> {
    if start < end { Some(end) } else { text[end..].chars().next().map(|char| end + char.len_utf8()) }
}

fn too_costly(error: &fancy_regex::Error) -> Error {
    Error::illegal(format!("the pattern takes too long on this value: {error}"))
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

    /// As `java.util.regex.Pattern` documents its classes.
    #[test]
    fn classes_have_javas_members() {
        check(r"[\w-.]+@([\w-]+\.)+[\w-]{2,4}", "<$0>", "to a-b.c@d-e.org!", Ok("to <a-b.c@d-e.org>!"));
        check(r"[\s-_]", "", "a -_A9", Ok("aA9"));
        check(r"[^\w-]", "", "a-b c", Ok("a-bc"));
        check(r"[\w&&[^\d_]]+", "x", "ab_1", Ok("x_1"));
        check(r"[\p{L}-.]+", "x", "é-. 1", Ok("x 1"));
        check(r"(?x) a \s b", "x", "a b", Ok("x"));
        check(r"\p{Punct}+", "", "a$b,c^d~é", Ok("abcdé"));
        check(r"[\p{Alnum}]+\P{Alnum}", "x", "a1é", Ok("x"));
        check(r"(?<=\p{Lower})(?=\p{Upper})", " ", "fooBarÉ", Ok("foo BarÉ"));
        check(r"\p{javaLetter}+", "x", "aé1", Ok("x1"));
        check(r"\p{IsLatin}+", "x", "aéж", Ok("xж"));
        check(r"\p{InCombiningDiacriticalMarks}|\p{InCOMBINING_DIACRITICAL_MARKS}", "", "e\u{301}", Ok("e"));
        check(r"a\Rb\v", "x", "a\r\nb\n", Ok("x"));
    }

    #[test]
    fn a_pattern_that_is_too_long_is_not_translated() {
        let classes = r"\h".repeat(PATTERN_BYTES_MAX);
        assert_eq!(Pattern::parse(&classes).map(drop), Err("the pattern is too long".to_owned()));
        assert!(Pattern::parse_oniguruma(&classes).is_err());
    }

    #[test]
    fn a_costly_pattern_is_refused() {
        let pattern = Pattern::parse(r"(?=(a+)+$)(a+)+\1$").expect("pattern");
        let text = "a".repeat(60) + "b";
        assert!(pattern.replace_all(&text, &Replacement::parse("x")).is_err());
    }
}
