//! Regular expressions of Painless: `/.../`, `=~`, `==~`, `Pattern` and `Matcher`.
//!
//! Source: Painless's specification and the methods that its whitelist `java.util.regex` names. Patterns run in linear time where they can,
//! else with a limit on backtracking ([`limber_text::pattern`]), which stands for Elasticsearch's limit on the characters that a match looks at.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use limber_mapping::RequestError;

use super::error::ScriptError;
use super::run::{Outcome, Run};
use super::tree::Type;
use super::value::Value;
use limber_text::pattern::{Groups, Pattern, Replacement};

/// Letters of flags, what they are in a pattern, and their numbers in Java.
const FLAGS: &[(char, &str, i32)] = &[
    ('i', "i", 2),
    ('x', "x", 4),
    ('m', "m", 8),
    ('l', "", 16),
    ('s', "s", 32),
    // What follows is so in any case: cases are those of Unicode, as are the classes.
    ('u', "", 64),
    ('U', "", 256),
];

/// A regular expression, compiled with its script.
#[derive(Debug)]
pub struct Regex {
    source: Arc<str>,
    flags: i32,
    find: Pattern,
    /// From the beginning of a text.
    begin: Pattern,
    /// Of a whole text.
    whole: Pattern,
}

impl Regex {
    /// The reason of a pattern that is none, in the words of Painless's compiler.
    pub fn parse(source: &str, letters: &str) -> Result<Regex, String> {
        let (mut flags, mut inline) = (0, String::new());
        for letter in letters.chars() {
            let Some((_, flag, number)) = FLAGS.iter().find(|(known, ..)| *known == letter) else {
                return Err(format!("the flag [{letter}] is not supported by Limber yet"));
            };
            if flags & number == 0 {
                inline.push_str(flag);
            }
            flags |= number;
        }
        let body = if letters.contains('l') { quoted(source) } else { source.to_owned() };
        // Comments end with their line.
        let body = if letters.contains('x') { format!("{body}\n") } else { body };
        let switch = if inline.is_empty() { String::new() } else { format!("(?{inline})") };
        let compile = |pattern: String| {
            Pattern::parse(&pattern).map_err(|reason| {
                format!(
                    "invalid regular expression: could not compile regex constant [{source}] with flags [{letters}]: {reason}"
                )
            })
        };
        Ok(Regex {
            source: source.into(),
            flags,
            find: compile(format!("{switch}{body}"))?,
            begin: compile(format!(r"\A(?:{switch}{body})"))?,
            whole: compile(format!(r"\A(?:{switch}{body})\z"))?,
        })
    }
}

/// `Pattern#quote` as a pattern that both engines read.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~ ".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// A `java.util.regex.Matcher`. Places are bytes.
#[derive(Debug)]
pub struct Matcher {
    pattern: u16,
    text: Arc<str>,
    region: (usize, usize),
    /// Where the next search begins; `None`: there is nothing left.
    next: Option<usize>,
    /// The groups of the last match, counted from the beginning of the text.
    last: Option<Groups>,
}

impl Matcher {
    fn new(pattern: u16, text: Arc<str>) -> Matcher {
        Matcher { pattern, region: (0, text.len()), next: Some(0), last: None, text }
    }

    fn reset(&mut self) {
        (self.region, self.next, self.last) = ((0, self.text.len()), Some(0), None);
    }

    /// What a match in the region gives, and where the next one is looked for.
    fn take(&mut self, found: Option<Groups>) -> bool {
        let start = self.region.0;
        let shift = |(from, to): (usize, usize)| (from + start, to + start);
        self.last = found.map(|groups| groups.into_iter().map(|group| group.map(shift)).collect());
        let whole = self.last.as_ref().and_then(|groups| groups[0]);
        self.next = whole.and_then(|(from, to)| after(&self.text, from, to, self.region.1));
        self.last.is_some()
    }

    fn group(&self, number: i64, at: u32) -> Outcome<Option<(usize, usize)>> {
        let Some(groups) = &self.last else {
            return Err(ScriptError::new(at, "illegal_state_exception", "No match found"));
        };
        let found = usize::try_from(number).ok().and_then(|number| groups.get(number).copied());
        found.ok_or_else(|| {
            ScriptError::new(at, "index_out_of_bounds_exception", format!("No group {number}"))
        })
    }

    /// A place as Java counts: in UTF-16 units.
    fn units(&self, bytes: usize) -> Value {
        Value::Int(self.text[..bytes].encode_utf16().count() as i32)
    }

    /// As `Matcher#toString`.
    pub fn text(&self, source: &str) -> String {
        let unit = |bytes| self.units(bytes).i64();
        let last =
            self.last.as_ref().and_then(|groups| groups[0]).map_or("", |(from, to)| &self.text[from..to]);
        format!(
            "java.util.regex.Matcher[pattern={source} region={},{} lastmatch={last}]",
            unit(self.region.0),
            unit(self.region.1)
        )
    }
}

/// Where the search goes on behind a match: at its end, or a character later when it was empty.
fn after(text: &str, start: usize, end: usize, stop: usize) -> Option<usize> {
    if start < end { Some(end) } else { text[end..stop].chars().next().map(|next| end + next.len_utf8()) }
}

/// Byte of a place in UTF-16 units.
fn byte_of(text: &str, units: i64) -> Option<usize> {
    let mut count = 0;
    for (byte, character) in text.char_indices() {
        if count >= units {
            return (count == units && units >= 0).then_some(byte);
        }
        count += character.len_utf16() as i64;
    }
    (count == units).then_some(text.len())
}

/// Texts from this length on are looked at for long enough that the time is asked for beside it.
const TIMED_FROM_BYTES: usize = 1 << 10;

const PATTERN: &str = "java.util.regex.Pattern";
const MATCHER: &str = "java.util.regex.Matcher";

/// Methods: class, name, arguments, and what they give.
const METHODS: &[(&str, &str, usize, Type)] = &[
    (PATTERN, "asPredicate", 0, Type::Def),
    (PATTERN, "flags", 0, Type::Int),
    (PATTERN, "matcher", 1, Type::Object(MATCHER)),
    (PATTERN, "pattern", 0, Type::Str),
    (PATTERN, "split", 1, Type::Def),
    (PATTERN, "split", 2, Type::Def),
    (PATTERN, "splitAsStream", 1, Type::Def),
    (MATCHER, "end", 0, Type::Int),
    (MATCHER, "end", 1, Type::Int),
    (MATCHER, "find", 0, Type::Bool),
    (MATCHER, "find", 1, Type::Bool),
    (MATCHER, "group", 0, Type::Str),
    (MATCHER, "group", 1, Type::Str),
    (MATCHER, "groupCount", 0, Type::Int),
    (MATCHER, "hitEnd", 0, Type::Bool),
    (MATCHER, "lookingAt", 0, Type::Bool),
    (MATCHER, "matches", 0, Type::Bool),
    (MATCHER, "namedGroup", 1, Type::Str),
    (MATCHER, "region", 2, Type::Object(MATCHER)),
    (MATCHER, "regionEnd", 0, Type::Int),
    (MATCHER, "regionStart", 0, Type::Int),
    (MATCHER, "replaceAll", 1, Type::Str),
    (MATCHER, "replaceFirst", 1, Type::Str),
    (MATCHER, "requireEnd", 0, Type::Bool),
    (MATCHER, "reset", 0, Type::Object(MATCHER)),
    (MATCHER, "start", 0, Type::Int),
    (MATCHER, "start", 1, Type::Int),
    (MATCHER, "useAnchoringBounds", 1, Type::Object(MATCHER)),
    (MATCHER, "usePattern", 1, Type::Object(MATCHER)),
    (MATCHER, "useTransparentBounds", 1, Type::Object(MATCHER)),
];

/// What a method of a pattern or matcher gives, and what its arguments have to be; `None`: neither is.
pub(super) fn check(class: &str, name: &str, count: usize) -> Option<Result<(Type, Type), String>> {
    if !matches!(class, PATTERN | MATCHER) {
        return None;
    }
    let of_object = match (name, count) {
        ("toString", 0) => Some(Type::Str),
        ("equals", 1) => Some(Type::Bool),
        ("hashCode", 0) => Some(Type::Int),
        _ => None,
    };
    if let Some(returns) = of_object {
        return Some(Ok((returns, Type::Def)));
    }
    let known = METHODS
        .iter()
        .find(|(own, known, arguments, _)| *own == class && *known == name && *arguments == count);
    Some(match known {
        Some((_, _, _, returns)) => Ok((*returns, argument_of(name))),
        None => Err(format!("member method [{class}, {name}/{count}] not found")),
    })
}

/// What the first argument of a method has to be.
fn argument_of(name: &str) -> Type {
    match name {
        "end" | "find" | "group" | "region" | "start" => Type::Int,
        "namedGroup" | "replaceAll" | "replaceFirst" => Type::Str,
        _ => Type::Def,
    }
}

impl<'a> Run<'a> {
    fn too_costly(&self, pattern: u16, error: &limber_text::Error, at: u32) -> ScriptError {
        if let limber_text::Error::Stopped(stop) = error {
            return RequestError::from(stop.clone()).into();
        }
        let source = &self.regex(pattern).source;
        let reason = format!(
            "[scripting] Regular expression considered too many characters, pattern: [{source}]: {error}"
        );
        ScriptError::new(at, "circuit_breaking_exception", reason)
    }

    fn groups_of(
        &self,
        number: u16,
        which: fn(&Regex) -> &Pattern,
        text: &str,
        from: usize,
        at: u32,
    ) -> Outcome<Option<Groups>> {
        // A script asks again and again, of texts that may be long.
        if text.len() >= TIMED_FROM_BYTES {
            self.check_time(at)?;
        }
        which(self.regex(number)).captures(text, from).map_err(|error| self.too_costly(number, &error, at))
    }

    /// `=~` and `==~`, and the methods of a pattern.
    pub(super) fn pattern_method(
        &mut self,
        number: u16,
        name: &str,
        arguments: &[Value],
        at: u32,
    ) -> Outcome<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("=~", [text]) => {
                let text = text_of(text, at)?;
                Value::Bool(self.groups_of(number, |regex| &regex.find, &text, 0, at)?.is_some())
            }
            ("==~", [text]) => {
                let text = text_of(text, at)?;
                Value::Bool(self.groups_of(number, |regex| &regex.whole, &text, 0, at)?.is_some())
            }
            // A pattern stands for the function that asks whether it is found.
            ("asPredicate", []) => Value::Pattern(number),
            ("test", [_]) => return self.pattern_method(number, "=~", arguments, at),
            ("flags", []) => Value::Int(self.regex(number).flags),
            ("matcher", [text]) => {
                let text = text_of(text, at)?;
                self.grow(text.len() + 64, at)?;
                Value::Matcher(Rc::new(RefCell::new(Matcher::new(number, text))))
            }
            ("pattern" | "toString", []) => Value::Str(self.regex(number).source.clone()),
            ("split" | "splitAsStream", [text]) => self.split(number, &text_of(text, at)?, 0, at)?,
            ("split", [text, limit]) => self.split(number, &text_of(text, at)?, limit.i64(), at)?,
            _ => return Ok(None),
        }))
    }

    /// `Pattern#split`: a limit of 0 drops empty texts at the end.
    fn split(&mut self, number: u16, text: &str, limit: i64, at: u32) -> Outcome<Value> {
        self.grow(text.len() * 2 + 64, at)?;
        let mut parts: Vec<&str> = Vec::new();
        let (mut kept, mut next) = (0, Some(0));
        while let Some(from) = next
            && (limit <= 0 || (parts.len() as i64) < limit - 1)
            && let Some(groups) = self.groups_of(number, |regex| &regex.find, text, from, at)?
            && let Some(Some((start, end))) = groups.first().copied()
        {
            // Nothing is cut off in front of the text.
            if end > 0 {
                self.grow(32, at)?;
                parts.push(&text[kept..start]);
                kept = end;
            }
            next = after(text, start, end, text.len());
        }
        parts.push(&text[kept..]);
        while limit == 0 && parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
        Ok(Value::list(parts.into_iter().map(Value::str).collect()))
    }

    /// The methods of a matcher.
    pub(super) fn matcher_method(
        &mut self,
        target: &Value,
        matcher: &Rc<RefCell<Matcher>>,
        name: &str,
        arguments: &[Value],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let mut matcher = matcher.borrow_mut();
        let (number, text) = (matcher.pattern, matcher.text.clone());
        let bounds = |range: Option<(usize, usize)>, is_start: bool, matcher: &Matcher| match range {
            None => Value::Int(-1),
            Some((start, end)) => matcher.units(if is_start { start } else { end }),
        };
        Ok(Some(match (name, arguments) {
            ("find", []) => Value::Bool(self.find_next(&mut matcher, at)?),
            ("find", [from]) => {
                let from = byte_of(&text, from.i64()).ok_or_else(|| {
                    ScriptError::new(at, "index_out_of_bounds_exception", "Illegal start index")
                })?;
                matcher.reset();
                matcher.next = Some(from);
                Value::Bool(self.find_next(&mut matcher, at)?)
            }
            ("matches" | "lookingAt", []) => {
                let (start, end) = matcher.region;
                let which: fn(&Regex) -> &Pattern =
                    if name == "matches" { |regex| &regex.whole } else { |regex| &regex.begin };
                let found = self.groups_of(number, which, &text[start..end], 0, at)?;
                Value::Bool(matcher.take(found))
            }
            ("group", []) => group_text(&text, matcher.group(0, at)?),
            ("group", [group]) => group_text(&text, matcher.group(group.i64(), at)?),
            ("namedGroup", [wanted]) => {
                let wanted = wanted.text();
                let names = self.regex(number).find.group_names();
                let Some(place) = names.iter().position(|name| *name == Some(&*wanted)) else {
                    let reason = format!("No group with name <{wanted}>");
                    return Err(ScriptError::argument(at, reason));
                };
                group_text(&text, matcher.group(place as i64, at)?)
            }
            ("groupCount", []) => Value::Int(self.regex(number).find.group_names().len() as i32 - 1),
            ("start" | "end", []) => bounds(matcher.group(0, at)?, name == "start", &matcher),
            ("start" | "end", [group]) => bounds(matcher.group(group.i64(), at)?, name == "start", &matcher),
            ("region", [start, end]) => {
                let ends = (byte_of(&text, start.i64()), byte_of(&text, end.i64()));
                let (Some(start), Some(end)) = ends else {
                    return Err(ScriptError::new(at, "index_out_of_bounds_exception", "start"));
                };
                if start > end {
                    return Err(ScriptError::new(at, "index_out_of_bounds_exception", "start"));
                }
                matcher.reset();
                (matcher.region, matcher.next) = ((start, end), Some(start));
                target.clone()
            }
            ("regionStart", []) => matcher.units(matcher.region.0),
            ("regionEnd", []) => matcher.units(matcher.region.1),
            ("reset", []) => {
                matcher.reset();
                target.clone()
            }
            ("usePattern", [Value::Pattern(other)]) => {
                (matcher.pattern, matcher.last) = (*other, None);
                target.clone()
            }
            ("replaceAll" | "replaceFirst", [with]) => {
                matcher.reset();
                let with = Replacement::parse(&text_of(with, at)?);
                let pattern = &self.regex(number).find;
                let replaced = match name {
                    "replaceAll" => pattern.replace_all(&text, &with),
                    _ => pattern.replace_first(&text, &with),
                };
                let replaced = replaced.map_err(|error| {
                    let error = RequestError::from(error);
                    ScriptError::new(at, error.kind, error.reason)
                })?;
                self.grow(replaced.len(), at)?;
                Value::str(replaced)
            }
            ("toString", []) => Value::str(matcher.text(&self.regex(number).source)),
            ("hitEnd" | "requireEnd" | "useAnchoringBounds" | "useTransparentBounds", _) => {
                return Err(ScriptError::unsupported(at, format!("[{name}] of a Matcher")));
            }
            _ => return Ok(None),
        }))
    }

    fn find_next(&mut self, matcher: &mut Matcher, at: u32) -> Outcome<bool> {
        let Some(from) = matcher.next else {
            matcher.last = None;
            return Ok(false);
        };
        let (start, end) = matcher.region;
        let text = matcher.text.clone();
        let found =
            self.groups_of(matcher.pattern, |regex| &regex.find, &text[start..end], from - start, at)?;
        Ok(matcher.take(found))
    }

    /// `String#replaceAll` and `#replaceFirst` of Painless: each match by what a function makes of its matcher.
    pub(super) fn replace_by(
        &mut self,
        text: &Arc<str>,
        (pattern, function): (&Value, &Value),
        is_all: bool,
        at: u32,
    ) -> Outcome<Value> {
        let Value::Pattern(number) = pattern else {
            let reason = format!("Cannot cast from [{}] to [{PATTERN}].", pattern.class());
            return Err(ScriptError::cast(at, reason));
        };
        let matcher = Rc::new(RefCell::new(Matcher::new(*number, text.clone())));
        let (mut out, mut kept) = (String::new(), 0);
        while self.find_next(&mut matcher.borrow_mut(), at)? {
            let Some((start, end)) = matcher.borrow().group(0, at)? else { break };
            out.push_str(&text[kept..start]);
            kept = end;
            let with = self.lambda(function, &[Value::Matcher(matcher.clone())], at)?.text();
            self.grow(with.len() + 16, at)?;
            out.push_str(&with);
            // The function may have looked further.
            matcher.borrow_mut().next = after(text, start, end, text.len());
            if !is_all {
                break;
            }
        }
        out.push_str(&text[kept..]);
        self.grow(out.len(), at)?;
        Ok(Value::str(out))
    }
}

fn group_text(text: &str, group: Option<(usize, usize)>) -> Value {
    group.map_or(Value::Null, |(start, end)| Value::str(&text[start..end]))
}

/// What a pattern is held against.
fn text_of(value: &Value, at: u32) -> Outcome<Arc<str>> {
    match value {
        Value::Str(text) => Ok(text.clone()),
        Value::Text(text) => Ok(text.borrow().as_str().into()),
        Value::Null => Err(ScriptError::new(at, "null_pointer_exception", "null")),
        other => {
            let reason = format!("cannot implicitly cast def [{}] to java.lang.String", other.plain_class());
            Err(ScriptError::cast(at, reason))
        }
    }
}
