//! Where requests begin and end: "does everybody who reads these bytes see the same requests?"
//!
//! If a proxy and a server disagree about the end of a request, a client can smuggle in another one. Where
//! RFC 9112 lets a server choose or repair, this one refuses: both kinds of length together, a repeated or
//! malformed length, a transfer coding other than `chunked`, a line that ends with LF alone, a folded line,
//! no host or two. A head is passed on once it is complete and valid; the server's own parser sees no other.
//!
//! Source: RFC 9112, sections 2.2, 3.2, 5.1, 5.2, 6.1 to 6.3, 7.1 and 11.2.

use std::sync::atomic::{AtomicUsize, Ordering};

use limber_text::url;
use memchr::memmem;

/// Maximum length of a head that is read at all. It is above Elasticsearch's limits, so that a head that
/// exceeds those gets an error that names the limit.
const HEAD_BYTES_MAX: usize = 24 << 10;
/// Maximum total size of the incomplete heads of all connections; beyond it connections are ended. Heads of
/// well-behaved clients arrive in one piece.
const HELD_BYTES_MAX: usize = 16 << 20;
/// Maximum length of a line with a chunk's size and extensions, and of a line of the trailers.
const CHUNK_LINE_BYTES_MAX: usize = 4 << 10;
/// What the server's parser gets in place of an invalid head: it responds with 400 and closes the connection.
const UNSOUND: &[u8] = b"\0\r\n\r\n";

/// What comes next on a connection.
#[derive(Debug)]
enum State {
    Head,
    /// Remaining bytes of a body.
    Body(u64),
    Chunked(Chunked),
    /// Something was invalid: nothing more is passed on.
    Ended,
}

/// Position within a chunked body.
#[derive(Debug)]
enum Chunked {
    /// The line with a chunk's size.
    Size,
    /// Remaining bytes of a chunk, including the CRLF after it.
    Data(u64),
    Trailers,
}

/// Maximum capacity that a connection keeps for its next head.
const KEPT_BYTES_MAX: usize = 1 << 10;

/// Bytes of incomplete heads of all connections.
static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Follows the bytes of one connection from request to request.
#[derive(Debug)]
pub struct Framing {
    state: State,
    /// The part of the head, of a chunk's size line or of the trailers that has arrived.
    held: Vec<u8>,
    /// The position in `held` from which the end is still to be searched.
    looked: usize,
    /// How much of [`HELD_BYTES`] is counted for this connection.
    counted: usize,
}

impl Default for Framing {
    fn default() -> Framing {
        Framing { state: State::Head, held: Vec::new(), looked: 0, counted: 0 }
    }
}

impl Drop for Framing {
    fn drop(&mut self) {
        HELD_BYTES.fetch_sub(self.counted, Ordering::Relaxed);
    }
}

impl Framing {
    /// Takes the bytes that just arrived, and appends to `out` those that may be passed on.
    pub fn pass(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            bytes = match &mut self.state {
                State::Ended => break,
                State::Body(left) => {
                    let count = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= count as u64;
                    if *left == 0 {
                        self.state = State::Head;
                    }
                    out.extend_from_slice(&bytes[..count]);
                    &bytes[count..]
                }
                State::Chunked(Chunked::Data(left)) => {
                    let count = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= count as u64;
                    if *left == 0 {
                        self.state = State::Chunked(Chunked::Size);
                    }
                    out.extend_from_slice(&bytes[..count]);
                    &bytes[count..]
                }
                State::Head => self.head(bytes, out),
                State::Chunked(_) => self.chunk_line(bytes, out),
            };
        }
        self.count_held(out);
    }

    /// Updates the count of held bytes. Ends the connection if all connections together hold too much.
    fn count_held(&mut self, out: &mut Vec<u8>) {
        let held = self.held.capacity();
        if held == self.counted {
            return;
        }
        let all = HELD_BYTES.fetch_add(held.wrapping_sub(self.counted), Ordering::Relaxed);
        let is_too_much = held > self.counted && all + held > HELD_BYTES_MAX;
        self.counted = held;
        if is_too_much {
            self.end(out);
            HELD_BYTES.fetch_sub(self.counted, Ordering::Relaxed);
            self.counted = 0;
        }
    }

    /// Returns how many bytes of the current body are still to come; 0 if its length is not known.
    pub fn body_bytes_left(&self) -> u64 {
        match self.state {
            State::Body(left) => left,
            _ => 0,
        }
    }

    /// Whether a part of a head has arrived, but not its end.
    pub fn is_within_head(&self) -> bool {
        matches!(self.state, State::Head) && !self.held.is_empty()
    }

    /// Whether everything that has arrived belongs to requests that are complete.
    pub fn is_between_requests(&self) -> bool {
        matches!(self.state, State::Head) && self.held.is_empty()
    }

    /// Whether nothing more is passed on from this connection.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.state = State::Ended;
        self.held = Vec::new();
        out.extend_from_slice(UNSOUND);
    }

    fn head<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
        // Empty lines between requests are skipped.
        let bytes = match self.held.is_empty() {
            true => &bytes[bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()..],
            false => bytes,
        };
        let before = self.held.len();
        let room = HEAD_BYTES_MAX.saturating_sub(before);
        self.held.extend_from_slice(&bytes[..bytes.len().min(room)]);
        match end_of(b"\r\n\r\n", &self.held, &mut self.looked) {
            Some(end) => {
                match body_of(&self.held[..end]) {
                    Some(next) => {
                        push_head(&self.held[..end], out);
                        self.state = next;
                    }
                    None => self.end(out),
                }
                self.forget();
                &bytes[end - before..]
            }
            // A client that ends lines with LF alone, or one that begins TLS on a port without TLS, would
            // otherwise wait until its own time-out.
            None if memmem::find(&self.held, b"\n\n").is_some()
                || bytes.len() >= room
                || self.held.first().is_some_and(|byte| *byte < b' ') =>
            {
                self.end(out);
                &[]
            }
            None => &[],
        }
    }

    /// Reads the line with a chunk's size, or a line of the trailers.
    fn chunk_line<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
        let before = self.held.len();
        let room = CHUNK_LINE_BYTES_MAX.saturating_sub(before);
        self.held.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let Some(end) = end_of(b"\r\n", &self.held, &mut self.looked) else {
            if bytes.len() >= room || self.held.contains(&b'\n') {
                self.end(out);
            }
            return &[];
        };
        let line = &self.held[..end - 2];
        let is_sound = !line.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
        let next = match &self.state {
            _ if !is_sound => None,
            State::Chunked(Chunked::Trailers) if line.is_empty() => Some(State::Head),
            State::Chunked(Chunked::Trailers) => Some(State::Chunked(Chunked::Trailers)),
            _ => chunk_size(line).map(|size| match size {
                0 => State::Chunked(Chunked::Trailers),
                size => State::Chunked(Chunked::Data(size + 2)),
            }),
        };
        match next {
            Some(next) => {
                out.extend_from_slice(&self.held[..end]);
                self.state = next;
            }
            None => self.end(out),
        }
        self.forget();
        &bytes[end - before..]
    }

    fn forget(&mut self) {
        self.looked = 0;
        match self.held.capacity() > KEPT_BYTES_MAX {
            true => self.held = Vec::new(),
            false => self.held.clear(),
        }
    }
}

/// Characters that a URL may not contain, that clients such as `curl` send nevertheless, and that
/// Elasticsearch reads as they are. The server's own parser refuses some of them, depending on their place.
const UNWISE: &[u8] = b"\"<>\\^`{|}";

/// Appends a valid head to `out`, with the unwise characters of its request target percent-encoded.
fn push_head(head: &[u8], out: &mut Vec<u8>) {
    let line = memmem::find(head, b"\r\n").unwrap_or(head.len());
    let is_unwise = |byte: &u8| UNWISE.contains(byte);
    if !head[..line].iter().any(is_unwise) {
        return out.extend_from_slice(head);
    }
    let start = head[..line].iter().position(|&byte| byte == b' ').unwrap_or(line);
    out.extend_from_slice(&head[..start]);
    for byte in &head[start..line] {
        match is_unwise(byte) {
            true => out.extend_from_slice(url::escape_of(*byte).as_bytes()),
            false => out.push(*byte),
        }
    }
    out.extend_from_slice(&head[line..]);
}

/// Returns the end of the first `mark`. The first `looked` bytes of `held` are known to contain none.
fn end_of(mark: &[u8], held: &[u8], looked: &mut usize) -> Option<usize> {
    let from = looked.saturating_sub(mark.len() - 1);
    let found = memmem::find(&held[from..], mark).map(|at| from + at + mark.len());
    *looked = held.len();
    found
}

/// Returns the size at the start of a chunk's line, ignoring extensions after it.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let rest = line[digits..].trim_ascii_start();
    if !(1..=15).contains(&digits) || !(rest.is_empty() || rest[0] == b';') {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(&line[..digits]).ok()?, 16).ok()
}

/// Returns what follows a head, which includes its empty line. `None` if the head is invalid.
fn body_of(head: &[u8]) -> Option<State> {
    let text = &head[..head.len() - 4];
    let mut rest = text;
    let mut lines = std::iter::from_fn(|| {
        let end = memmem::find(rest, b"\r\n").unwrap_or(rest.len());
        let line = &rest[..end];
        let is_last = end == rest.len();
        rest = if is_last { &[] } else { &rest[end + 2..] };
        (!line.is_empty() || !is_last).then_some(line)
    });
    let is_clean = |line: &[u8]| !line.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
    let request_line = lines.next().filter(|line| is_clean(line))?;
    let (mut length, mut is_chunked, mut hosts) = (None, false, 0);
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        // A folded line begins with white space; a name is directly followed by its colon.
        if name.is_empty() || name.iter().any(|byte| byte.is_ascii_whitespace()) || !is_clean(line) {
            return None;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            if length.is_some() || !is_number {
                return None;
            }
            length = Some(std::str::from_utf8(value).ok()?.parse::<u64>().ok()?);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if is_chunked || !value.eq_ignore_ascii_case(b"chunked") || request_line.ends_with(b"HTTP/1.0") {
                return None;
            }
            is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"host") {
            if !is_host(value) {
                return None;
            }
            hosts += 1;
        }
    }
    let is_host_missing = hosts == 0 && !request_line.ends_with(b"HTTP/1.0");
    if hosts > 1 || is_host_missing {
        return None;
    }
    match (length, is_chunked) {
        (Some(_), true) => None,
        (None, true) => Some(State::Chunked(Chunked::Size)),
        (Some(0) | None, false) => Some(State::Head),
        (Some(length), false) => Some(State::Body(length)),
    }
}

/// Whether a value of `Host` is valid: `uri-host [ ":" port ]`, or empty (RFC 9112, section 3.2; RFC 3986,
/// section 3.2.2).
fn is_host(value: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(byte);
    let rest = match value.strip_prefix(b"[") {
        Some(literal) => {
            let Some(end) = literal.iter().position(|&byte| byte == b']') else { return false };
            if end == 0 || !literal[..end].iter().all(|byte| is_name(byte) || *byte == b':') {
                return false;
            }
            &literal[end + 1..]
        }
        None => &value[value.iter().position(|byte| !is_name(byte)).unwrap_or(value.len())..],
    };
    rest.is_empty() || rest.strip_prefix(b":").is_some_and(|port| port.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_or_without_a_port() {
        for host in ["", "a", "a:", "a.b:9200", "127.0.0.1", "[::1]:9200", "[v1.a:b]", "a_b", "%41", "a,b"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in ["a b", "a/b", "u@a", "a, b", "a:b", "[::1", "[]", "[::1]a", "a\\", "a?b", "\u{e4}"] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }

    /// Checks what is passed on of `bytes` when they arrive in pieces of various lengths.
    #[track_caller]
    fn check(bytes: &[u8], expected: &[u8], ends: bool) {
        for step in [1, 2, 3, 7, bytes.len().max(1)] {
            let (mut framing, mut out) = (Framing::default(), Vec::new());
            bytes.chunks(step).for_each(|piece| framing.pass(piece, &mut out));
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(expected), "by {step}");
            assert_eq!(framing.has_ended(), ends, "by {step}");
        }
    }

    #[test]
    fn sound_requests_pass_one_after_the_other() {
        for sound in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.0\r\n\r\n",
            "PUT /a HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nab\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "PUT /a HTTP/1.1\r\nHost:\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\na\nb\r\n1F;x=\"y\"\r\n0123456789012345678901234567890\r\n0\r\nT: 1\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            check(sound.as_bytes(), sound.as_bytes(), false);
        }
        check(b"\r\n\nGET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", false);
    }

    #[test]
    fn unwise_characters_of_a_target_are_encoded() {
        let check = |target: &str, expected: &str| {
            let head = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: a\r\nx: {{\"^\r\n\r\n");
            check(head(target).as_bytes(), head(expected).as_bytes(), false);
        };
        check("/<a>/_search?q=\"b\"", "/%3Ca%3E/_search?q=%22b%22");
        check("/_search?source={\"a\":`|^\\}", "/_search?source=%7B%22a%22:%60%7C%5E%5C%7D");
        check("/a%22?b=[c]&d='", "/a%22?b=[c]&d='");
    }

    #[test]
    fn a_head_begins_with_its_first_byte_and_ends_with_its_last() {
        let mut framing = Framing::default();
        let mut within = |bytes: &[u8]| {
            framing.pass(bytes, &mut Vec::new());
            (framing.is_within_head(), framing.is_between_requests())
        };
        assert_eq!(within(b""), (false, true));
        assert_eq!(within(b"\r\n"), (false, true));
        assert_eq!(within(b"P"), (true, false));
        assert_eq!(within(b"UT / HTTP/1.0\r\ncontent-length: 2\r\n\r"), (true, false));
        assert_eq!(within(b"\n"), (false, false));
        assert_eq!(within(b"a"), (false, false));
        assert_eq!(within(b"bG"), (true, false));
        assert_eq!(within(b"ET / HTTP/1.0\r\n\r\n"), (false, true));
        assert_eq!(within(b"no head\r\n\r\n"), (false, false));
    }

    #[test]
    fn unsound_heads_are_not_handed_on() {
        for unsound in [
            "Host: a",
            "Content-Length: 3\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 3",
            "Content-Length: 3\r\nContent-Length: 4",
            "Content-Length: 3\r\nContent-Length: 3",
            "Content-Length: 3, 3",
            "Content-Length: +3",
            "Content-Length: -3",
            "Content-Length: 0x3",
            "Content-Length:",
            "Content-Length: 99999999999999999999",
            "Content-Length : 3",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: xchunked",
            "A: b\r\n folded: c",
            "A: b\r\n\tc",
            "A: b\nB: c",
            "A: b\rB: c",
            "A: b\0",
            "no colon",
            ": no name",
        ] {
            let request = format!("POST /a HTTP/1.1\r\nHost: a\r\n{unsound}\r\n\r\nabc");
            check(request.as_bytes(), UNSOUND, true);
        }
        check(b"GET / HTTP/1.1\r\n\r\n", UNSOUND, true);
        check(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", UNSOUND, true);
        check(b"GET / HTTP/1.1\nHost: a\n\n", UNSOUND, true);
        // The beginning of a TLS handshake.
        check(b"\x16\x03\x01\x02\0\x01", UNSOUND, true);
        check(&[b"GET / HTTP/1.1\r\nHost: a\r\nA: ", &[b'a'; HEAD_BYTES_MAX][..]].concat(), UNSOUND, true);
    }

    #[test]
    fn unsound_chunks_end_the_connection() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        for unsound in [
            "x\r\n",
            "\r\n",
            "-1\r\n",
            "3\nabc",
            "3;a\nb\r\n",
            "3 4\r\n",
            "1234567890123456\r\n",
            "3\rabc\r\n",
        ] {
            let expected = [head.as_bytes(), UNSOUND].concat();
            check(format!("{head}{unsound}").as_bytes(), &expected, true);
        }
    }
}
