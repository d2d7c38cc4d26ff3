//! Parses responses.
//!
//! [`parse_head`] reads the few headers that determine how long the body is and how it is compressed. Bodies
//! with a length stay in the connection's read buffer; chunked ones are assembled by [`ChunkDecoder`].
//! Compressed bodies are decompressed only when an operation reads them.

use std::borrow::Cow;
use std::io::Read;

use crate::http::HttpError;

/// Larger heads are refused (Elasticsearch's own limit for headers is 16 KiB).
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Larger bodies are refused: no length from a server leads to a larger allocation.
pub(super) const BODY_BYTES_MAX: usize = 1 << 30;
/// Compressed bytes that are read for the start of a body: code tables of at most about 300 bytes, and text.
const START_PACKED_BYTES: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Deflate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Bytes(usize),
    Chunked,
    UntilClose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub status: u16,
    pub length: BodyLength,
    pub encoding: Encoding,
    pub keep_alive: bool,
    /// Bytes of the head, including the blank line.
    pub head_bytes: usize,
}

/// One answer. The body is compressed or not, as the server sent it.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub status: u16,
    pub encoding: Encoding,
    pub body: &'a [u8],
}

impl<'a> Response<'a> {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the decompressed body, borrowed if the server did not compress it.
    ///
    /// Errors: [`HttpError::Protocol`] when the stream is damaged or decompresses to more than
    /// [`BODY_BYTES_MAX`].
    pub(crate) fn text(&self) -> Result<Cow<'a, [u8]>, HttpError> {
        let mut unpacked = Vec::new();
        let limit = BODY_BYTES_MAX as u64;
        let done = match self.encoding {
            Encoding::Identity => return Ok(Cow::Borrowed(self.body)),
            Encoding::Gzip => {
                flate2::read::MultiGzDecoder::new(self.body).take(limit).read_to_end(&mut unpacked)
            }
            Encoding::Deflate => {
                flate2::read::ZlibDecoder::new(self.body).take(limit).read_to_end(&mut unpacked)
            }
        };
        match done {
            Ok(_) if (unpacked.len() as u64) < limit => Ok(Cow::Owned(unpacked)),
            Ok(_) => Err(HttpError::Protocol("compressed response unpacks to more than 1 GiB".into())),
            Err(error) => Err(HttpError::Protocol(format!("compressed response is damaged: {error}"))),
        }
    }

    /// Returns the decompressed start of the body: at most `bytes_max` bytes, and fewer if it compresses
    /// badly. The rest of the body may be missing or damaged.
    pub(crate) fn text_start(&self, bytes_max: usize) -> Cow<'a, [u8]> {
        // A decoder decompresses all its input, up to its window of 32 KiB.
        let packed = &self.body[..self.body.len().min(START_PACKED_BYTES)];
        let mut decoder: Box<dyn Read + 'a> = match self.encoding {
            Encoding::Identity => return Cow::Borrowed(&self.body[..self.body.len().min(bytes_max)]),
            Encoding::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Encoding::Deflate => Box::new(flate2::bufread::ZlibDecoder::new(packed)),
        };
        let mut start = vec![0; bytes_max];
        let mut filled = 0;
        while let Ok(count @ 1..) = decoder.read(&mut start[filled..]) {
            filled += count;
        }
        start.truncate(filled);
        Cow::Owned(start)
    }

    /// Parses the body as JSON.
    pub(crate) fn json(&self) -> Result<serde_json::Value, HttpError> {
        serde_json::from_slice(&self.text()?)
            .map_err(|error| HttpError::Protocol(format!("response is not JSON: {error}")))
    }
}

/// Parses the head at the start of `bytes`. Returns `None` while it is incomplete.
///
/// `bodiless` says that the request was HEAD, so that no body follows whatever the headers say.
pub(super) fn parse_head(bytes: &[u8], bodiless: bool) -> Result<Option<Head>, HttpError> {
    let Some(end) = memchr::memmem::find(&bytes[..bytes.len().min(HEAD_BYTES_MAX)], b"\r\n\r\n") else {
        return match bytes.len() < HEAD_BYTES_MAX {
            true => Ok(None),
            false => Err(HttpError::Protocol(format!("response head exceeds {HEAD_BYTES_MAX} bytes"))),
        };
    };
    let mut lines = Lines { rest: &bytes[..end + 2] };
    let (status, is_http_1_1) = lines.next().and_then(parse_status_line).ok_or_else(|| {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        HttpError::Protocol(format!("not an HTTP/1.x response: [{shown}]"))
    })?;
    let mut head = Head {
        status,
        length: BodyLength::UntilClose,
        encoding: Encoding::Identity,
        keep_alive: is_http_1_1,
        head_bytes: end + 4,
    };
    for line in lines {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        apply_header(&mut head, name, value)?;
    }
    if bodiless || status < 200 || status == 204 || status == 304 {
        head.length = BodyLength::Bytes(0);
    }
    Ok(Some(head))
}

fn apply_header(head: &mut Head, name: &[u8], value: &[u8]) -> Result<(), HttpError> {
    // The length of a name decides most comparisons.
    match name.len() {
        14 if name.eq_ignore_ascii_case(b"content-length") => {
            let length = std::str::from_utf8(value).ok().and_then(|text| text.parse::<usize>().ok());
            match length {
                Some(length) if length <= BODY_BYTES_MAX => {
                    if head.length != BodyLength::Chunked {
                        head.length = BodyLength::Bytes(length);
                    }
                }
                _ => {
                    let shown = String::from_utf8_lossy(value).into_owned();
                    return Err(HttpError::Protocol(format!("content-length [{shown}] is not acceptable")));
                }
            }
        }
        17 if name.eq_ignore_ascii_case(b"transfer-encoding") && value.eq_ignore_ascii_case(b"chunked") => {
            head.length = BodyLength::Chunked;
        }
        16 if name.eq_ignore_ascii_case(b"content-encoding") => {
            head.encoding = match value {
                b"gzip" | b"x-gzip" => Encoding::Gzip,
                b"deflate" => Encoding::Deflate,
                b"identity" => Encoding::Identity,
                other => {
                    let shown = String::from_utf8_lossy(other).into_owned();
                    return Err(HttpError::Protocol(format!("content-encoding [{shown}] was not asked for")));
                }
            }
        }
        10 if name.eq_ignore_ascii_case(b"connection") => {
            if value.eq_ignore_ascii_case(b"close") {
                head.keep_alive = false;
            } else if value.eq_ignore_ascii_case(b"keep-alive") {
                head.keep_alive = true;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Parses `HTTP/1.1 200 OK` to (200, true).
fn parse_status_line(line: &[u8]) -> Option<(u16, bool)> {
    let rest = line.strip_prefix(b"HTTP/1.")?;
    let (minor, rest) = rest.split_first()?;
    let digits = rest.strip_prefix(b" ")?.get(..3)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let status = digits.iter().fold(0u16, |value, digit| value * 10 + u16::from(digit - b'0'));
    Some((status, *minor == b'1'))
}

struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(b'\n', self.rest)?;
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Decodes a chunked body as its bytes arrive.
#[derive(Debug, Default)]
pub(super) struct ChunkDecoder {
    state: ChunkState,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum ChunkState {
    #[default]
    Size,
    Data(usize),
    DataEnd,
    Trailer,
    Done,
}

impl ChunkDecoder {
    pub(super) fn is_done(&self) -> bool {
        self.state == ChunkState::Done
    }

    /// Appends the data in `bytes` to `body` and returns how many of `bytes` were used. The rest must be
    /// passed again together with the bytes that arrive next.
    pub(super) fn decode(&mut self, bytes: &[u8], body: &mut Vec<u8>) -> Result<usize, HttpError> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            match self.state {
                ChunkState::Done => return Ok(used),
                ChunkState::Data(0) => self.state = ChunkState::DataEnd,
                ChunkState::Data(wanted) => {
                    let taken = wanted.min(rest.len());
                    if taken == 0 {
                        return Ok(used);
                    }
                    body.extend_from_slice(&rest[..taken]);
                    used += taken;
                    self.state = ChunkState::Data(wanted - taken);
                }
                ChunkState::Size | ChunkState::DataEnd | ChunkState::Trailer => {
                    let Some(end) = memchr::memchr(b'\n', rest) else {
                        return match rest.len() > 4096 {
                            true => Err(HttpError::Protocol("chunk line exceeds 4096 bytes".into())),
                            false => Ok(used),
                        };
                    };
                    let line = rest[..end].trim_ascii_end();
                    used += end + 1;
                    self.state = match self.state {
                        ChunkState::DataEnd => ChunkState::Size,
                        ChunkState::Trailer if line.is_empty() => ChunkState::Done,
                        ChunkState::Trailer => ChunkState::Trailer,
                        _ => match chunk_size(line)? {
                            0 => ChunkState::Trailer,
                            size if body.len().saturating_add(size) > BODY_BYTES_MAX => {
                                return Err(HttpError::Protocol("response body exceeds 1 GiB".into()));
                            }
                            size => ChunkState::Data(size),
                        },
                    };
                }
            }
        }
    }
}

fn chunk_size(line: &[u8]) -> Result<usize, HttpError> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    std::str::from_utf8(digits).ok().and_then(|text| usize::from_str_radix(text, 16).ok()).ok_or_else(|| {
        HttpError::Protocol(format!("chunk size [{}] is not hexadecimal", String::from_utf8_lossy(digits)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &str, expected: Result<Option<(u16, BodyLength, Encoding, bool)>, ()>) {
        let parsed = parse_head(bytes.as_bytes(), false)
            .map(|head| head.map(|head| (head.status, head.length, head.encoding, head.keep_alive)))
            .map_err(|_| ());
        assert_eq!(parsed, expected, "{bytes:?}");
    }

    #[test]
    fn heads() {
        use BodyLength::*;
        use Encoding::*;
        check("HTTP/1.1 200 OK\r\nContent-Le", Ok(None));
        check("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", Ok(Some((200, Bytes(12), Identity, true))));
        check(
            "HTTP/1.1 404\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n",
            Ok(Some((404, Chunked, Gzip, true))),
        );
        check("HTTP/1.0 200 OK\r\n\r\n", Ok(Some((200, UntilClose, Identity, false))));
        check(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length:0\r\n\r\n",
            Ok(Some((200, Bytes(0), Identity, false))),
        );
        check("HTTP/1.1 204 No Content\r\n\r\n", Ok(Some((204, Bytes(0), Identity, true))));
        check("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999\r\n\r\n", Err(()));
        check("HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n", Err(()));
        check("SSH-2.0-x\r\n\r\n", Err(()));
    }

    #[test]
    fn chunks_in_any_split() {
        let wire = b"4;x=1\r\nwiki\r\n5\r\npedia\r\n0\r\nTrailer: 1\r\n\r\n";
        for split in 0..wire.len() {
            let (mut decoder, mut body) = (ChunkDecoder::default(), Vec::new());
            let used = decoder.decode(&wire[..split], &mut body).unwrap();
            let used_then = decoder.decode(&wire[used..], &mut body).unwrap();
            assert!(decoder.is_done(), "split {split}");
            assert_eq!((used + used_then, body.as_slice()), (wire.len(), b"wikipedia".as_slice()));
        }
        assert!(ChunkDecoder::default().decode(b"zz\r\n", &mut Vec::new()).is_err());
        assert!(ChunkDecoder::default().decode(b"ffffffffff\r\n", &mut Vec::new()).is_err());
    }

    #[test]
    fn compressed_bodies() {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(b"{\"took\":3}").unwrap();
        let packed = packer.finish().unwrap();
        let response = Response { status: 200, encoding: Encoding::Gzip, body: &packed };
        assert_eq!(response.json().unwrap()["took"], 3);
        for length in 0..=packed.len() {
            let cut = Response { status: 200, encoding: Encoding::Gzip, body: &packed[..length] };
            let start = cut.text_start(8).into_owned();
            assert!(b"{\"took\":".starts_with(&start), "{length}");
            assert!(length < packed.len() || start.len() == 8);
        }
        let damaged = Response { status: 200, encoding: Encoding::Gzip, body: &packed[..packed.len() - 9] };
        assert!(damaged.text().is_err());
    }
}
