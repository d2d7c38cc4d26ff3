//! Positions of errors in a body: the line and the column that Elasticsearch's parsers report.
//!
//! Handlers read a body as a tree, which has no positions. The reason of an error names the member that it is
//! about. If the body has only one such member, that is the position; otherwise the error stays without one.

use limber_mapping::{ErrorClass, ObjectParser, RequestError, Subject};

use super::comments::{begins_comment, comment_end, string_end};

/// Bodies of more bytes are not searched.
const BODY_BYTES_MAX: usize = 1 << 20;

/// The errors of parsers that have positions: in members of their own, or before the reason.
const PARSING: &str = "parsing_exception";
const OBJECT_PARSER: &str = "x_content_parse_exception";
/// The cause of one of these, which has its position.
const NO_NAMED_OBJECT: &str = "named_object_not_found_exception";

/// Adds the position in the body to an error of a parser and to its causes, if it can be found.
pub fn placed(mut error: RequestError, body: &[u8]) -> RequestError {
    if error.class != ErrorClass::BadRequest || body.len() > BODY_BYTES_MAX {
        return error;
    }
    let Some(at) = position(&error, body) else { return error };
    let (line, column) = line_and_column(body, at);
    let mut link = Some(&mut error);
    while let Some(one) = link {
        match one.kind {
            PARSING => {
                one.metadata.insert("line".to_owned(), line.into());
                one.metadata.insert("col".to_owned(), column.into());
            }
            OBJECT_PARSER | NO_NAMED_OBJECT => one.reason.insert_str(0, &format!("[{line}:{column}] ")),
            _ => break,
        }
        link = one.caused_by.as_deref_mut();
    }
    error
}

/// Returns the index in the body of what the error is about. The innermost parser knows: the others stop
/// where it does.
fn position(error: &RequestError, body: &[u8]) -> Option<usize> {
    let links = std::iter::successors(Some(error), |link| link.caused_by.as_deref());
    let innermost = links.take_while(|link| matches!(link.kind, PARSING | OBJECT_PARSER)).last()?;
    let is_scalar = |first: u8| !matches!(first, b'{' | b'[');
    match subject(&innermost.reason)? {
        Subject::Name(name) => only_member(body, name, |_| true).map(|found| found.name),
        Subject::Value(name, None) => only_member(body, name, |_| true).map(|found| found.value),
        Subject::Value(name, Some(token)) => {
            only_member(body, name, |first| token_of(first) == token).map(|found| found.value)
        }
        // A shape is looked at only after its end was read.
        Subject::Failed(_) if innermost.reason.starts_with("[geojson] ") => None,
        // The position inside an object or a list is unknown, so only errors in scalars get one.
        Subject::Failed(name) => only_member(body, name, is_scalar).map(|found| found.value),
    }
}

/// Reads from the reason of an error which member it is about.
fn subject(reason: &str) -> Option<Subject<'_>> {
    if let Some(subject) = ObjectParser::subject(reason) {
        return Some(subject);
    }
    if let Some(rest) = reason.strip_prefix("Unknown key for a ") {
        let (token, rest) = rest.split_once(" in [")?;
        return Some(Subject::Value(rest.strip_suffix("].")?, Some(token)));
    }
    for start in ["unknown query [", "Unknown aggregation type ["] {
        if let Some(rest) = reason.strip_prefix(start) {
            return rest.split_once(']').map(|(name, _)| Subject::Value(name, Some("START_OBJECT")));
        }
    }
    if let Some(rest) = reason.strip_prefix("request does not support [") {
        return rest.strip_suffix(']').map(Subject::Name);
    }
    if let Some((_, rest)) = reason.split_once("] query does not support [") {
        return rest.strip_suffix(']').map(|name| Subject::Value(name, None));
    }
    if let Some((_, rest)) = reason.split_once("] unknown token [") {
        let (token, rest) = rest.split_once("] after [")?;
        return Some(Subject::Value(rest.strip_suffix(']')?, Some(token)));
    }
    let name = reason.strip_suffix("] query malformed, no start_object after query name")?;
    name.strip_prefix('[').map(|name| Subject::Value(name, None))
}

/// The indices in the body of the first bytes of a member's name and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    name: usize,
    value: usize,
}

/// Returns the only member of any object in the body that has this name and whose value `fits`, given the
/// value's first byte. The body is valid JSON, perhaps with comments.
fn only_member(body: &[u8], name: &str, fits: impl Fn(u8) -> bool) -> Option<Member> {
    let (mut found, mut pending) = (None, None);
    // For each open object or list, whether it is an object.
    let mut open: Vec<bool> = Vec::new();
    let mut expects_name = false;
    let mut at = 0;
    while let Some(start) = significant(body, at) {
        let first = body[start];
        let is_name = first == b'"' && std::mem::take(&mut expects_name);
        at = match first {
            b'"' => string_end(body, start)?,
            b'{' | b'[' | b'}' | b']' | b',' | b':' => start + 1,
            _ => start + body[start..].iter().take_while(|byte| is_of_scalar(**byte)).count().max(1),
        };
        if is_name {
            pending = (&body[start + 1..at - 1] == name.as_bytes()).then_some(start);
            continue;
        }
        match first {
            b',' => expects_name = open.last() == Some(&true),
            b'}' | b']' => {
                open.pop();
                expects_name = false;
            }
            b':' => {}
            _ => {
                if let Some(name) = pending.take().filter(|_| fits(first)) {
                    if found.is_some() {
                        return None;
                    }
                    found = Some(Member { name, value: start });
                }
                if matches!(first, b'{' | b'[') {
                    expects_name = first == b'{';
                    open.push(expects_name);
                }
            }
        }
    }
    found
}

/// Returns the index of the first byte from `at` on that is neither white space nor of a comment.
fn significant(body: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *body.get(at)? {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            _ if begins_comment(body, at) => at = comment_end(body, at)?,
            _ => return Some(at),
        }
    }
}

fn is_of_scalar(byte: u8) -> bool {
    !matches!(byte, b',' | b'}' | b']' | b'/' | b' ' | b'\t' | b'\r' | b'\n')
}

/// Returns the name of the token of a value that begins with this byte.
fn token_of(first: u8) -> &'static str {
    match first {
        b'{' => "START_OBJECT",
        b'[' => "START_ARRAY",
        b'"' => "VALUE_STRING",
        b't' | b'f' => "VALUE_BOOLEAN",
        b'n' => "VALUE_NULL",
        _ => "VALUE_NUMBER",
    }
}

/// Returns the line and the column in bytes, both from 1 on.
fn line_and_column(body: &[u8], at: usize) -> (usize, usize) {
    let before = &body[..at];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    (1 + before.iter().filter(|byte| **byte == b'\n').count(), at - line_start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: RequestError, body: &str, expected: Option<(usize, usize)>) {
        let at = position(&error, body.as_bytes());
        assert_eq!(at.map(|at| line_and_column(body.as_bytes(), at)), expected, "{body}");
    }

    #[test]
    fn a_member_that_is_there_once_is_found() {
        let parser = ObjectParser::new("terms");
        check(parser.unknown("siz"), r#"{"a":{"size":1, "siz":2}}"#, Some((1, 17)));
        check(parser.unknown("siz"), r#"{"siz":1,"a":{"siz":2}}"#, None);
        check(parser.unknown("siz"), "{\n  /* \"siz\": */ \"a\": \"siz\",\n  \"siz\": [1]\n}", Some((3, 3)));
        check(parser.unknown("s"), r#"{"a":["s",{"b":"\"s"}],"s":-1.5e3}"#, Some((1, 24)));
        let unsupported = parser.unsupported("size", &serde_json::json!([]));
        check(unsupported, r#"{"size":1,"a":{"size":[]}}"#, Some((1, 23)));
        check(parser.malformed("size"), r#"{"size":[1],"a":{"size":true}}"#, Some((1, 25)));
        check(parser.malformed("size"), r#"{"size":[1]}"#, None);
        check(ObjectParser::new("geojson").malformed("type"), r#"{"type":"x"}"#, None);
    }

    #[test]
    fn parsers_of_queries_name_members() {
        for (reason, body, column) in [
            ("Unknown key for a VALUE_NUMBER in [foo].", r#"{"foo":{},"x":{"foo":1}}"#, 22),
            ("unknown query [mach] did you mean [match]?", r#"{"query":{"mach":{}}}"#, 18),
            ("[match] query does not support [x]", r#"{"match":{"t":{"x":5}}}"#, 20),
            ("[match] unknown token [START_ARRAY] after [x]", r#"{"match":{"t":{"x":[]}}}"#, 20),
            ("[term] query malformed, no start_object after query name", r#"{"query":{"term":1}}"#, 18),
            ("request does not support [size]", r#"{"size":1}"#, 2),
        ] {
            check(RequestError::parsing(reason), body, Some((1, column)));
        }
        check(RequestError::parsing("anything else [foo]"), r#"{"foo":1}"#, None);
        check(RequestError::illegal_argument("request does not support [size]"), r#"{"size":1}"#, None);
    }

    #[test]
    fn all_parsers_stop_where_the_innermost_does() {
        let inner = RequestError::parsing("unknown query [x]").caused_by(ObjectParser::no_named_object("x"));
        let outer = ObjectParser::new("bool").failed("filter", inner);
        let placed = placed(outer, br#"{"query":{"bool":{"filter":[{"x":{}}]}}}"#);
        assert_eq!(placed.reason, "[1:34] [bool] failed to parse field [filter]");
        let inner = placed.caused_by.expect("a cause");
        assert_eq!((&inner.metadata["line"], &inner.metadata["col"]), (&1.into(), &34.into()));
        assert_eq!(inner.caused_by.expect("a cause").reason, "[1:34] unknown field [x]");
    }
}
