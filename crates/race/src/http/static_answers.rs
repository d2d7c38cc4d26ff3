//! Answers from a file that replace a server's (`client/asynchronous.py`, `ResponseMatcher`).
//!
//! This measures the load generator alone: requests are assembled as always, but nothing is sent.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;

/// Answers by path; the first that matches is used.
#[derive(Debug, PartialEq)]
pub(crate) struct StaticAnswers {
    answers: Vec<(Pattern, Vec<u8>)>,
}

#[derive(Debug, PartialEq)]
enum Pattern {
    Any,
    StartsWith(String),
    EndsWith(String),
    Equals(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// A path without its query string. `*` alone matches every path; at the start or end it matches any
    /// beginning or end.
    path: String,
    body: Value,
}

impl StaticAnswers {
    /// Reads a JSON list of objects with `path` and `body`.
    ///
    /// Errors: the file cannot be read or holds something else.
    pub(crate) fn read(path: &Path) -> Result<StaticAnswers, Error> {
        let text = std::fs::read(path).map_err(Error::at(path))?;
        let written: Vec<Written> = serde_json::from_slice(&text)
            .map_err(|error| Error::Argument(format!("[{}]: {error}", path.display())))?;
        let answer = |written: Written| (Pattern::of(&written.path), written.body.to_string().into_bytes());
        Ok(StaticAnswers { answers: written.into_iter().map(answer).collect() })
    }

    /// Returns the body for a request whose first line begins with `head`; `None` when no pattern matches.
    pub(crate) fn body(&self, head: &[u8]) -> Option<&[u8]> {
        let path = path(head);
        let found = self.answers.iter().find(|(pattern, _)| pattern.fits(path));
        found.map(|(_, body)| body.as_slice())
    }
}

/// Returns the path of a request line as it is sent, without its query string.
pub(super) fn path(head: &[u8]) -> &str {
    let target = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let end = target.iter().position(|byte| *byte == b'?').unwrap_or(target.len());
    std::str::from_utf8(&target[..end]).unwrap_or_default()
}

impl Pattern {
    fn of(path: &str) -> Pattern {
        match (path.strip_prefix('*'), path.strip_suffix('*')) {
            (Some(""), _) => Pattern::Any,
            (Some(end), _) => Pattern::EndsWith(end.to_owned()),
            (None, Some(start)) => Pattern::StartsWith(start.to_owned()),
            (None, None) => Pattern::Equals(path.to_owned()),
        }
    }

    fn fits(&self, path: &str) -> bool {
        match self {
            Pattern::Any => true,
            Pattern::StartsWith(start) => path.starts_with(start.as_str()),
            Pattern::EndsWith(end) => path.ends_with(end.as_str()),
            Pattern::Equals(whole) => path == whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pattern_that_fits_answers() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("answers.json");
        let written = r#"[{"path": "*/_bulk", "body": {"errors": false}}, {"path": "/_cluster*", "body": {"status": "green"}},
            {"path": "/a", "body": []}]"#;
        std::fs::write(&file, written).unwrap();
        let answers = StaticAnswers::read(&file).unwrap();
        let check = |head: &str, expected: Option<&str>| {
            let body = answers.body(head.as_bytes()).map(|body| std::str::from_utf8(body).unwrap());
            assert_eq!(body, expected, "{head}");
        };
        check("PUT /logs/_bulk?refresh=true HTTP/1.1\r\n", Some(r#"{"errors":false}"#));
        check("GET /_cluster/health HTTP/1.1\r\n", Some(r#"{"status":"green"}"#));
        check("GET /a HTTP/1.1\r\n", Some("[]"));
        check("GET /ab HTTP/1.1\r\n", None);
        assert_eq!(Pattern::of("*"), Pattern::Any);
        std::fs::write(&file, r#"[{"path": "*"}]"#).unwrap();
        assert!(StaticAnswers::read(&file).unwrap_err().to_string().contains("missing field `body`"));
    }
}
