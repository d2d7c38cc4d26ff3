//! Converts the user's own access log into documents of the track.
//!
//! It reads the common (`host ident user [time] "request" status bytes`) and combined
//! (`... "referer" "agent"`) formats of Apache and nginx, and NDJSON without conversion. Files may be
//! compressed with gzip, bzip2 or zstd, which are recognized by their first bytes.
//!
//! Fields that a log does not have are left out or marked: the operating system is guessed from the agent
//! (`unknown` without one), and there is no memory size. Each host name gets a fixed address in the reserved
//! range 240.0.0.0/4, so that the number of clients and their skew stay realistic.

use std::fmt::Write as _;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use jiff::fmt::strtime;
use jiff::tz::TimeZone;

use crate::track::track_files::LoadError;

/// Documents made from a file.
#[derive(Debug)]
pub(crate) struct Converted {
    /// NDJSON; every line ends with a line feed.
    pub ndjson: Vec<u8>,
    pub count: u64,
    /// Number of lines in neither format, which are left out.
    pub skipped: u64,
    /// Whether the documents were made from log entries rather than taken from NDJSON.
    pub is_log: bool,
}

/// Reads `path` and converts at most the first `documents_max` documents.
///
/// # Errors
/// `Io`; `Documents` when no line can be read, or when NDJSON carries bulk action lines.
pub(crate) fn convert(path: &Path, documents_max: u64) -> Result<Converted, LoadError> {
    let at = &LoadError::at(path);
    let raw = std::fs::read(path).map_err(at)?;
    let content = decompress(raw).map_err(at)?;
    let converted = if content.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
        take_ndjson(&content, documents_max, path)?
    } else {
        convert_lines(&content, documents_max)
    };
    if converted.count == 0 {
        return Err(LoadError::Documents(format!(
            "[{}] has no line in common or combined log format, and is not NDJSON ({} lines read).",
            path.display(),
            converted.skipped
        )));
    }
    Ok(converted)
}

fn decompress(raw: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    match raw.as_slice() {
        [0x1f, 0x8b, ..] => flate2::read::MultiGzDecoder::new(raw.as_slice()).read_to_end(&mut content)?,
        [b'B', b'Z', b'h', ..] => {
            bzip2::read::MultiBzDecoder::new(raw.as_slice()).read_to_end(&mut content)?
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            zstd::stream::read::Decoder::new(raw.as_slice())?.read_to_end(&mut content)?
        }
        _ => return Ok(raw),
    };
    Ok(content)
}

fn take_ndjson(content: &[u8], documents_max: u64, path: &Path) -> Result<Converted, LoadError> {
    let mut ndjson = Vec::with_capacity(content.len() + 1);
    let (mut count, mut skipped) = (0, 0);
    for line in content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        if count == documents_max {
            break;
        }
        if count == 0 && is_action_line(line) {
            return Err(LoadError::Documents(format!(
                "[{}] holds bulk action lines; give the documents alone, one a line.",
                path.display()
            )));
        }
        if line.first() != Some(&b'{') {
            skipped += 1;
            continue;
        }
        ndjson.extend_from_slice(line);
        ndjson.push(b'\n');
        count += 1;
    }
    Ok(Converted { ndjson, count, skipped, is_log: false })
}

fn is_action_line(line: &[u8]) -> bool {
    let Ok(serde_json::Value::Object(object)) = serde_json::from_slice(line) else { return false };
    object.len() == 1
        && object.iter().all(|(key, value)| {
            ["index", "create", "update", "delete"].contains(&key.as_str()) && value.is_object()
        })
}

fn convert_lines(content: &[u8], documents_max: u64) -> Converted {
    let mut text = String::with_capacity(content.len().saturating_mul(2));
    let (mut count, mut skipped) = (0, 0);
    let mut times = Times::default();
    for line in content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        if count == documents_max {
            break;
        }
        let line = String::from_utf8_lossy(line);
        match Entry::parse(&line).and_then(|entry| entry.write(&mut times, &mut text)) {
            Some(()) => count += 1,
            None => skipped += 1,
        }
    }
    Converted { ndjson: text.into_bytes(), count, skipped, is_log: true }
}

/// The fields of one line as they are in the log; quoted ones are still escaped.
struct Entry<'a> {
    host: &'a str,
    time: &'a str,
    request: &'a str,
    status: u16,
    referer: &'a str,
    agent: &'a str,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a str) -> Option<Entry<'a>> {
        let (host, rest) = line.split_once(' ')?;
        let (_, rest) = rest.split_once('[')?;
        let (time, rest) = rest.split_once(']')?;
        let (request, rest) = quoted(rest)?;
        let (status, rest) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        let status = status.parse().ok()?;
        let (referer, rest) = quoted(rest).unwrap_or(("-", ""));
        let (agent, _) = quoted(rest).unwrap_or(("", ""));
        Some(Entry { host, time, request, status, referer, agent })
    }

    /// Appends the document. Returns `None` and appends nothing if the time cannot be read.
    fn write(&self, times: &mut Times, text: &mut String) -> Option<()> {
        let time = times.iso(self.time)?;
        let _ = write!(
            text,
            "{{\"@timestamp\":\"{time}\",\"clientip\":\"{}\",\"response\":{},\"request\":",
            address(self.host),
            self.status
        );
        write_json(self.request, text);
        let _ = write!(text, ",\"machine\":{{\"os\":\"{}\"}},\"referer\":", operating_system(self.agent));
        write_json(self.referer, text);
        text.push_str("}\n");
        Some(())
    }
}

/// Returns the next string in double quotes and what follows it; a backslash escapes.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (_, inner) = text.split_once('"')?;
    let bytes = inner.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        match bytes[position] {
            b'"' => return Some((&inner[..position], &inner[position + 1..])),
            b'\\' => position += 2,
            _ => position += 1,
        }
    }
    None
}

/// Appends `field` as a JSON string; the log's own `\"` and `\\` become the characters they stand for.
fn write_json(field: &str, text: &mut String) {
    text.push('"');
    let mut chars = field.chars().peekable();
    while let Some(mut char) = chars.next() {
        if char == '\\' && matches!(chars.peek(), Some('"' | '\\')) {
            char = chars.next().unwrap_or(char);
        }
        match char {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            control if (control as u32) < 0x20 => {
                let _ = write!(text, "\\u{:04x}", control as u32);
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

fn address(host: &str) -> IpAddr {
    if let Ok(address) = host.parse() {
        return address;
    }
    // FNV-1a, 32 bits: stable across runs and platforms.
    let hash =
        host.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    IpAddr::V4(Ipv4Addr::from_bits(0xf000_0000 | (hash >> 4)))
}

fn operating_system(agent: &str) -> &'static str {
    // The order matters: Android's agents also say Linux, and iPhones' also say Mac OS X.
    [
        ("Android", "android"),
        ("iPhone", "ios"),
        ("iPad", "ios"),
        ("Windows", "windows"),
        ("Mac", "macos"),
        ("Linux", "linux"),
        ("X11", "linux"),
    ]
    .iter()
    .find(|(mark, _)| agent.contains(mark))
    .map_or("unknown", |(_, system)| system)
}

/// Converts `10/Oct/2000:13:55:36 -0700`. The last result is kept, because neighbouring entries often have
/// the same second.
#[derive(Default)]
struct Times {
    last: String,
    iso: String,
}

impl Times {
    fn iso(&mut self, time: &str) -> Option<&str> {
        if self.last != time || self.iso.is_empty() {
            let zoned = strtime::parse("%d/%b/%Y:%H:%M:%S %z", time).and_then(|parsed| parsed.to_timestamp());
            let iso = zoned.ok()?.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            self.last = time.to_owned();
            self.iso = iso;
        }
        Some(&self.iso)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(line: &str, expected: serde_json::Value) {
        let converted = convert_lines(line.as_bytes(), u64::MAX);
        assert_eq!((converted.count, converted.skipped), (1, 0), "{line}");
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&converted.ndjson).unwrap(), expected);
    }

    #[test]
    fn both_formats_become_documents() {
        check(
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#,
            json!({"@timestamp": "2000-10-10T20:55:36Z", "clientip": "127.0.0.1", "response": 200,
                "request": "GET /apache_pb.gif HTTP/1.0", "machine": {"os": "unknown"}, "referer": "-"}),
        );
        check(
            r#"2001:db8::1 - - [17/May/2015:10:05:03 +0000] "GET /a\"b\\c\x16 HTTP/1.1" 404 - "http://x/?q=\"1\"" "Mozilla/5.0 (Linux; Android 4.0)""#,
            json!({"@timestamp": "2015-05-17T10:05:03Z", "clientip": "2001:db8::1", "response": 404,
                "request": "GET /a\"b\\c\\x16 HTTP/1.1", "machine": {"os": "android"}, "referer": "http://x/?q=\"1\""}),
        );
    }

    #[test]
    fn host_names_get_stable_addresses() {
        assert_eq!(address("unicomp6.unicomp.net"), address("unicomp6.unicomp.net"));
        assert_ne!(address("a.example"), address("b.example"));
        assert!(matches!(address("a.example"), IpAddr::V4(v4) if v4.octets()[0] >= 240));
    }

    #[test]
    fn other_lines_are_counted_and_left_out() {
        let converted =
            convert_lines(b"nonsense\n\n1.2.3.4 - - [bad time] \"GET / HTTP/1.0\" 200 1\n\"\\", u64::MAX);
        assert_eq!((converted.count, converted.skipped), (0, 3));
    }

    #[test]
    fn files_may_be_compressed_or_ndjson() {
        let folder = tempfile::tempdir().unwrap();
        let line = "1.2.3.4 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.0\" 200 1\n";
        let path = folder.path().join("access.log.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, line.repeat(3).as_bytes()).unwrap();
        std::fs::write(&path, encoder.finish().unwrap()).unwrap();
        assert_eq!(convert(&path, 2).unwrap().count, 2);
        assert_eq!(convert(&path, u64::MAX).unwrap().count, 3);

        let path = folder.path().join("documents.ndjson");
        std::fs::write(&path, "{\"a\":1}\n\n{\"a\":2}").unwrap();
        let converted = convert(&path, u64::MAX).unwrap();
        assert_eq!((converted.count, converted.ndjson.as_slice()), (2, &b"{\"a\":1}\n{\"a\":2}\n"[..]));

        std::fs::write(&path, "{\"index\":{\"_index\":\"x\"}}\n{\"a\":2}\n").unwrap();
        assert!(convert(&path, u64::MAX).unwrap_err().to_string().contains("action lines"));
        std::fs::write(&path, "nothing\n").unwrap();
        assert!(convert(&path, u64::MAX).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_give_valid_documents_or_none(
            lines in proptest::collection::vec("(1\\.2\\.3\\.4|h) - - \\[17/May/2015:10:05:03 .0000\\] \"[ -~\u{0}\u{e9}\\\\\"]{0,20}\"? ?[0-9]{0,6}.{0,20}", 0..8),
            tail in proptest::collection::vec(proptest::num::u8::ANY, 0..60),
        ) {
            let mut content = lines.join("\n").into_bytes();
            content.push(b'\n');
            content.extend(tail);
            let converted = convert_lines(&content, u64::MAX);
            let documents: Vec<&[u8]> = converted.ndjson.split_inclusive(|byte| *byte == b'\n').collect();
            proptest::prop_assert_eq!(documents.len() as u64, converted.count);
            for document in documents {
                serde_json::from_slice::<serde_json::Value>(document).unwrap();
            }
        }
    }
}
