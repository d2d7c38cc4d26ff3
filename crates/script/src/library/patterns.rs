//! Regular expressions of Painless: `/.../`, `=~`, `==~`, `Pattern` and `Matcher`.
//!
//! Source: Painless's specification and the methods of `java.util.regex` on its whitelist. Patterns run in
//! linear time where they can, otherwise with a limit on backtracking ([`limber_text::pattern`]), which
//! replaces Elasticsearch's limit on the characters that a match may read.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_text::pattern::{Groups, Pattern, Replacement};

use super::machine::Machine;
use crate::error::{Outcome, ScriptError};
use crate::types::Type;
use crate::values::{Matcher, Regex, Value, after, byte_of};

/// Matching strings of at least this length takes so long that checking the time adds little.
const TIMED_FROM_BYTES: usize = 1 << 10;

const PATTERN: &str = "java.util.regex.Pattern";
const MATCHER: &str = "java.util.regex.Matcher";

/// Methods: class, name, number of arguments, type of the result.
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

/// Returns the types of the result and of the arguments of a pattern's or matcher's method; `None` for
/// another class.
pub(crate) fn check_pattern_method(
    class: &str,
    name: &str,
    count: usize,
) -> Option<Result<(Type, Type), String>> {
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

/// Returns the type that the first argument of a method must have.
fn argument_of(name: &str) -> Type {
    match name {
        "end" | "find" | "group" | "region" | "start" => Type::Int,
        "namedGroup" | "replaceAll" | "replaceFirst" => Type::Str,
        _ => Type::Def,
    }
}

fn too_costly(machine: &impl Machine, pattern: u16, error: &limber_text::Error, at: u32) -> ScriptError {
    if let limber_text::Error::Stopped(stop) = error {
        return RequestError::from(stop.clone()).into();
    }
    let source = &machine.regex(pattern).source;
    let reason = format!(
        "[scripting] Regular expression considered too many characters, pattern: [{source}]: {error}"
    );
    ScriptError::new(at, "circuit_breaking_exception", reason)
}

fn groups_of(
    machine: &impl Machine,
    number: u16,
    which: fn(&Regex) -> &Pattern,
    text: &str,
    from: usize,
    at: u32,
) -> Outcome<Option<Groups>> {
    // A script may match many times, against strings that may be long.
    if text.len() >= TIMED_FROM_BYTES {
        machine.check_time(at)?;
    }
    which(machine.regex(number)).captures(text, from).map_err(|error| too_costly(machine, number, &error, at))
}

/// Evaluates `=~`, `==~`, and the methods of a pattern.
pub(crate) fn pattern_method(
    machine: &mut impl Machine,
    number: u16,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("=~", [text]) => {
            let text = text_of(text, at)?;
            Value::Bool(groups_of(machine, number, |regex| &regex.find, &text, 0, at)?.is_some())
        }
        ("==~", [text]) => {
            let text = text_of(text, at)?;
            Value::Bool(groups_of(machine, number, |regex| &regex.whole, &text, 0, at)?.is_some())
        }
        // The pattern itself serves as the predicate that finds it.
        ("asPredicate", []) => Value::Pattern(number),
        ("test", [_]) => return pattern_method(machine, number, "=~", arguments, at),
        ("flags", []) => Value::Int(machine.regex(number).flags),
        ("matcher", [text]) => {
            let text = text_of(text, at)?;
            // The text may be a copy of a builder's.
            machine.grow(text.len() + 64, at)?;
            Value::Matcher(Rc::new(RefCell::new(Matcher::new(number, text))))
        }
        ("pattern" | "toString", []) => Value::Str(machine.regex(number).source.clone()),
        ("split" | "splitAsStream", [text]) => split(machine, number, &text_of(text, at)?, 0, at)?,
        ("split", [text, limit]) => split(machine, number, &text_of(text, at)?, limit.i64(), at)?,
        _ => return Ok(None),
    }))
}

/// Minimum bytes of a part of a split text.
const PART_BYTES: usize = 32;

/// `Pattern#split`: a limit of 0 drops empty strings at the end.
fn split(machine: &mut impl Machine, number: u16, text: &str, limit: i64, at: u32) -> Outcome<Value> {
    let mut parts: Vec<&str> = Vec::new();
    let (mut kept, mut next) = (0, Some(0));
    while let Some(from) = next
        && (limit <= 0 || (parts.len() as i64) < limit - 1)
        && let Some(groups) = groups_of(machine, number, |regex| &regex.find, text, from, at)?
        && let Some(Some((start, end))) = groups.first().copied()
    {
        // An empty match at the start of the string cuts off nothing.
        if end > 0 {
            machine.check_room(parts.len() * PART_BYTES, at)?;
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

/// Calls a method of a matcher.
pub(crate) fn matcher_method(
    machine: &mut impl Machine,
    target: &Value,
    matcher: &Rc<RefCell<Matcher>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let mut matcher = matcher.borrow_mut();
    let (number, text) = (matcher.pattern, matcher.text.clone());
    Ok(Some(match (name, arguments) {
        ("find", []) => Value::Bool(find_next(machine, &mut matcher, at)?),
        ("find", [from]) => {
            let from = byte_of(&text, from.i64()).ok_or_else(|| {
                ScriptError::new(at, "index_out_of_bounds_exception", "Illegal start index")
            })?;
            matcher.reset();
            matcher.next = Some(from);
            Value::Bool(find_next(machine, &mut matcher, at)?)
        }
        ("matches" | "lookingAt", []) => {
            let (start, end) = matcher.region;
            let which: fn(&Regex) -> &Pattern =
                if name == "matches" { |regex| &regex.whole } else { |regex| &regex.begin };
            let found = groups_of(machine, number, which, &text[start..end], 0, at)?;
            Value::Bool(matcher.take(found))
        }
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
            replace(machine.regex(number), &text, with, name == "replaceAll", at)?
        }
        ("toString", []) => Value::str(matcher.text(&machine.regex(number).source)),
        ("hitEnd" | "requireEnd" | "useAnchoringBounds" | "useTransparentBounds", _) => {
            return Err(ScriptError::unsupported(at, format!("[{name}] of a Matcher")));
        }
        _ => return match_method(machine, &matcher, name, arguments, at),
    }))
}

/// Calls a method that says what a matcher found, and where; `None` if there is no such method.
fn match_method(
    machine: &mut impl Machine,
    matcher: &Matcher,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let (number, text) = (matcher.pattern, &matcher.text);
    let bounds = |range: Option<(usize, usize)>, is_start: bool| match range {
        None => Value::Int(-1),
        Some((start, end)) => matcher.units(if is_start { start } else { end }),
    };
    Ok(Some(match (name, arguments) {
        ("group", []) => group_text(text, matcher.group(0, at)?),
        ("group", [group]) => group_text(text, matcher.group(group.i64(), at)?),
        ("namedGroup", [wanted]) => {
            let wanted = wanted.text();
            let names = machine.regex(number).find.group_names();
            let Some(place) = names.iter().position(|name| *name == Some(&*wanted)) else {
                let reason = format!("No group with name <{wanted}>");
                return Err(ScriptError::argument(at, reason));
            };
            group_text(text, matcher.group(place as i64, at)?)
        }
        ("groupCount", []) => Value::Int(machine.regex(number).find.group_names().len() as i32 - 1),
        ("start" | "end", []) => bounds(matcher.group(0, at)?, name == "start"),
        ("start" | "end", [group]) => bounds(matcher.group(group.i64(), at)?, name == "start"),
        ("regionStart", []) => matcher.units(matcher.region.0),
        ("regionEnd", []) => matcher.units(matcher.region.1),
        _ => return Ok(None),
    }))
}

/// Replaces the matches of a pattern, or the first one, by `with`, in which `$1` stands for a group.
fn replace(regex: &Regex, text: &str, with: &Value, is_all: bool, at: u32) -> Outcome<Value> {
    let with = Replacement::parse(&text_of(with, at)?);
    let replaced = match is_all {
        true => regex.find.replace_all(text, &with),
        false => regex.find.replace_first(text, &with),
    };
    replaced.map(Value::str).map_err(|error| {
        let error = RequestError::from(error);
        ScriptError::new(at, error.kind, error.reason)
    })
}

fn find_next(machine: &mut impl Machine, matcher: &mut Matcher, at: u32) -> Outcome<bool> {
    let Some(from) = matcher.next else {
        matcher.last = None;
        return Ok(false);
    };
    let (start, end) = matcher.region;
    let text = matcher.text.clone();
    let found =
        groups_of(machine, matcher.pattern, |regex| &regex.find, &text[start..end], from - start, at)?;
    Ok(matcher.take(found))
}

/// `String#replaceAll` and `#replaceFirst` of Painless: replaces each match by what a function returns for
/// its matcher.
pub(crate) fn replace_by(
    machine: &mut impl Machine,
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
    while find_next(machine, &mut matcher.borrow_mut(), at)? {
        let Some((start, end)) = matcher.borrow().group(0, at)? else { break };
        out.push_str(&text[kept..start]);
        kept = end;
        let with = machine.lambda(function, &[Value::Matcher(matcher.clone())], at)?.text();
        out.push_str(&with);
        machine.check_room(out.len(), at)?;
        // The function may have moved the matcher.
        matcher.borrow_mut().reset();
        matcher.borrow_mut().next = after(text, start, end, text.len());
        if !is_all {
            break;
        }
    }
    out.push_str(&text[kept..]);
    Ok(Value::str(out))
}

fn group_text(text: &str, group: Option<(usize, usize)>) -> Value {
    group.map_or(Value::Null, |(start, end)| Value::str(&text[start..end]))
}

/// Returns the string that a pattern is matched against.
fn text_of(value: &Value, at: u32) -> Outcome<Arc<str>> {
    match value {
        Value::Str(text) => Ok(text.clone()),
        Value::Text(text) => Ok(text.borrow().text().into()),
        Value::Null => Err(ScriptError::new(at, "null_pointer_exception", "null")),
        other => {
            let reason = format!("cannot implicitly cast def [{}] to java.lang.String", other.plain_class());
            Err(ScriptError::cast(at, reason))
        }
    }
}
