//! Builds the bytes of a request.
//!
//! A request is built once per operation and sent many times. Its head ends before the `host` header:
//! everything that belongs to the connection (host, user agent, credentials) is appended by
//! [`crate::http::Connection`], so that the same request can go to several hosts.

use bytes::Bytes;

use crate::http::response::Response;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Put,
    Post,
    Delete,
    Head,
}

impl Method {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
            Method::Delete => "DELETE",
            Method::Head => "HEAD",
        }
    }

    /// Returns the method of this name in any case, as tracks write it; `None` for methods that no operation
    /// needs.
    pub(crate) fn from_name(name: &str) -> Option<Method> {
        [Method::Get, Method::Put, Method::Post, Method::Delete, Method::Head]
            .into_iter()
            .find(|method| method.as_str().eq_ignore_ascii_case(name))
    }
}

/// A request ready to be sent any number of times.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub method: Method,
    /// Request line and headers, each ending in CR LF, without `host`, `content-length` and the empty line.
    pub head: Bytes,
    pub body: Bytes,
    /// Statuses outside 2xx that count as success (Rally's `ignore`).
    pub ignored_statuses: Vec<u16>,
    pub is_enough: Option<IsEnough>,
}

/// Whether the first bytes of a successful answer contain all that the operation needs. If so, the rest is
/// received but discarded, and the answer ends where it was at that moment.
pub(super) type IsEnough = fn(&Response<'_>) -> bool;

impl Request {
    pub(crate) fn builder(method: Method, path: &str) -> RequestBuilder {
        RequestBuilder {
            method,
            target: path.to_owned(),
            has_query: path.contains('?'),
            headers: Vec::new(),
            body: Bytes::new(),
            ignored_statuses: Vec::new(),
            is_enough: None,
        }
    }

    /// Returns the path and query string.
    pub(crate) fn target(&self) -> &str {
        let mut words = self.head.split(|byte| *byte == b' ');
        words.nth(1).and_then(|target| std::str::from_utf8(target).ok()).unwrap_or_default()
    }

    /// Returns a request with the same headers and another target, such as one that contains an id from an
    /// answer. The target is sent as it is, except for bytes that cannot be in a request line.
    pub(crate) fn retargeted(&self, method: Method, target: &str) -> Request {
        let mut head = format!("{} ", method.as_str());
        push_target(&mut head, target);
        let headers = memchr::memmem::find(&self.head, b" HTTP/1.1\r\n").unwrap_or(self.head.len());
        let head = [head.as_bytes(), &self.head[headers..]].concat().into();
        Request { method, head, ..self.clone() }
    }

    /// Appends `end` to the path of a request without a query string, such as an id from an answer.
    pub(crate) fn with_path_end(mut self, end: &str) -> Request {
        let mut escaped = String::new();
        escape_into(&mut escaped, end, b":");
        if let Some(at) = memchr::memmem::find(&self.head, b" HTTP/1.1\r\n") {
            self.head = [&self.head[..at], escaped.as_bytes(), &self.head[at..]].concat().into();
        }
        self
    }
}

pub(crate) struct RequestBuilder {
    method: Method,
    target: String,
    has_query: bool,
    headers: Vec<(String, String)>,
    body: Bytes,
    ignored_statuses: Vec<u16>,
    is_enough: Option<IsEnough>,
}

impl RequestBuilder {
    /// Appends `name=value`, percent-encoded, to the query string.
    pub(crate) fn query(mut self, name: &str, value: &str) -> Self {
        self.target.push(if self.has_query { '&' } else { '?' });
        self.has_query = true;
        escape_into(&mut self.target, name, b"");
        self.target.push('=');
        escape_into(&mut self.target, value, b",*:");
        self
    }

    /// Sets a header, and replaces an earlier one of the same name (in any case).
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn ignore_statuses(mut self, statuses: &[u16]) -> Self {
        self.ignored_statuses.extend_from_slice(statuses);
        self
    }

    /// Allows answers to be cut off if their first bytes are enough.
    pub(crate) fn enough_when(mut self, is_enough: IsEnough) -> Self {
        self.is_enough = Some(is_enough);
        self
    }

    pub(crate) fn build(self) -> Request {
        let mut head = String::with_capacity(256);
        head.push_str(self.method.as_str());
        head.push(' ');
        push_target(&mut head, &self.target);
        head.push_str(" HTTP/1.1\r\n");
        for (name, value) in &self.headers {
            head.extend(name.chars().filter(is_header_char));
            head.push_str(": ");
            head.extend(value.chars().filter(is_header_char));
            head.push_str("\r\n");
        }
        Request {
            method: self.method,
            head: Bytes::from(head),
            body: self.body,
            ignored_statuses: self.ignored_statuses,
            is_enough: self.is_enough,
        }
    }
}

/// Control characters would let a track's value end the header early.
fn is_header_char(c: &char) -> bool {
    !c.is_control()
}

/// Appends the request target. Bytes that cannot be in a request line (spaces, control and non-ASCII bytes)
/// are percent-encoded; anything else is the caller's own encoding and stays.
fn push_target(head: &mut String, target: &str) {
    for byte in target.bytes() {
        if byte.is_ascii_graphic()
            && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')
        {
            head.push(byte as char);
        } else {
            push_escaped(head, byte);
        }
    }
}

/// Returns names or patterns, separated by commas, as one part of a path. Nothing that they contain can end
/// the part, begin a query string or be decoded as another character. Rally's client does the same for the
/// operations that it has a method for; paths that a track gives as a whole stay as they are.
pub(crate) fn in_path(names: &str) -> String {
    let mut part = String::with_capacity(names.len());
    escape_into(&mut part, names, b",*");
    part
}

/// Percent-encodes everything but RFC 3986's unreserved characters and `kept`.
pub(super) fn escape_into(out: &mut String, text: &str, kept: &[u8]) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') || kept.contains(&byte) {
            out.push(byte as char);
        } else {
            push_escaped(out, byte);
        }
    }
}

fn push_escaped(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(HEX[usize::from(byte >> 4)] as char);
    out.push(HEX[usize::from(byte & 15)] as char);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(builder: RequestBuilder, expected: &str) {
        assert_eq!(std::str::from_utf8(&builder.build().head).unwrap(), expected);
    }

    #[test]
    fn heads() {
        check(Request::builder(Method::Get, "/_search"), "GET /_search HTTP/1.1\r\n");
        check(
            Request::builder(Method::Put, "/_bulk").query("pipeline", "a b&c").query("refresh", "true"),
            "PUT /_bulk?pipeline=a%20b%26c&refresh=true HTTP/1.1\r\n",
        );
        check(
            Request::builder(Method::Get, "/logs-*/_search?a=1")
                .query("b", "x")
                .header("Accept", "a/b")
                .header("accept", "c/d\r\ninjected: 1"),
            "GET /logs-*/_search?a=1&b=x HTTP/1.1\r\naccept: c/dinjected: 1\r\n",
        );
        check(Request::builder(Method::Get, "/a b/é"), "GET /a%20b/%C3%A9 HTTP/1.1\r\n");
    }

    #[test]
    fn names_in_paths() {
        assert_eq!(in_path("logs-*,-.a_b~1"), "logs-*,-.a_b~1");
        assert_eq!(in_path("a b?c#d%2F/é"), "a%20b%3Fc%23d%252F%2F%C3%A9");
        check(
            Request::builder(Method::Get, &format!("/{}", in_path("<l-{now/d}>"))),
            "GET /%3Cl-%7Bnow%2Fd%7D%3E HTTP/1.1\r\n",
        );
    }

    #[test]
    fn path_ends() {
        let request =
            Request::builder(Method::Get, "/_tasks/").header("a", "b").build().with_path_end("x:1/2");
        assert_eq!(&request.head[..], b"GET /_tasks/x:1%2F2 HTTP/1.1\r\na: b\r\n");
    }

    #[test]
    fn another_target() {
        let request = Request::builder(Method::Get, "/").header("a", "b").build();
        let request = request.retargeted(Method::Put, "/x y?z=1");
        assert_eq!(&request.head[..], b"PUT /x%20y?z=1 HTTP/1.1\r\na: b\r\n");
        assert_eq!(request.method, Method::Put);
    }

    #[test]
    fn methods_by_name() {
        assert_eq!(Method::from_name("post"), Some(Method::Post));
        assert_eq!(Method::from_name("PATCH"), None);
    }
}
