//! Small files with a checksum: "is this what was written?"
//!
//! A file consists of the line `<magic> <version> <crc-32 of the rest, hex> <length of the rest>`, followed
//! by JSON. It is always replaced as a whole ([`limber_store::directory::replace`]), so that there is exactly
//! one complete file under its name at any time.
//!
//! **Versions.** The form of the first line never changes. The version is raised when a member of the JSON
//! changes its meaning, or when a new member is added without which older builds would misread the rest.
//! Older builds then refuse the file, and their error names it.

use limber_codec::checksum::crc32;
use limber_mapping::RequestError;
use limber_store::Error;
use serde_json::Value;

/// The value of `format` in files without a first line.
const PLAIN_VERSION: u32 = 1;

/// The file type and version that the first line of a file states.
pub(crate) struct Format {
    pub magic: &'static str,
    pub version: u32,
}

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The bytes from `offset` on are not what was written.
    Damaged {
        offset: usize,
        expected: String,
        found: String,
    },
    Newer {
        magic: &'static str,
        version: u32,
        found: u32,
    },
}

impl Format {
    pub(crate) fn encode(&self, body: &str) -> Vec<u8> {
        let Format { magic, version } = self;
        format!("{magic} {version} {:08x} {}\n{body}", crc32(body.as_bytes()), body.len()).into_bytes()
    }

    /// Returns the JSON of a file after verifying the first line and the checksum.
    pub(crate) fn decode<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], Unreadable> {
        self.decode_since(self.version, bytes).map(|(_, body)| body)
    }

    /// Works like [`Format::decode`], for files of the version `oldest` or newer. Also returns the version.
    fn decode_since<'b>(&self, oldest: u32, bytes: &'b [u8]) -> Result<(u32, &'b [u8]), Unreadable> {
        let Format { magic, version } = self;
        let damaged = |offset: usize, expected: String, found: String| {
            Err(Unreadable::Damaged { offset, expected, found })
        };
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            return damaged(0, "a first line".into(), "none".into());
        };
        let Ok(head) = std::str::from_utf8(&bytes[..end]) else {
            return damaged(0, "text".into(), "other bytes".into());
        };
        let words: Vec<&str> = head.split(' ').collect();
        let [found_magic, found_version, crc, len] = words[..] else {
            return damaged(0, "a first line of four words".into(), format!("[{head}]"));
        };
        let found = match found_version.parse::<u32>() {
            _ if found_magic != *magic => {
                return damaged(0, format!("[{magic}]"), format!("[{found_magic}]"));
            }
            Ok(found) if found > *version => {
                return Err(Unreadable::Newer { magic, version: *version, found });
            }
            Ok(found) if found >= oldest && found_version == found.to_string() => found,
            _ => return damaged(0, format!("[{magic} {version}]"), format!("[{head}]")),
        };
        let body = &bytes[end + 1..];
        let (crc_now, len_now) = (format!("{:08x}", crc32(body)), body.len().to_string());
        if (crc, len) != (crc_now.as_str(), len_now.as_str()) {
            return damaged(
                end + 1,
                format!("checksum [{crc}] of [{len}] bytes"),
                format!("[{crc_now}] of [{len_now}] bytes"),
            );
        }
        Ok((found, body))
    }

    /// Works like [`Format::decode`], for files whose version 1 had a member `format` instead of a first line
    /// and checksum. Returns whether the file has a first line, and its JSON.
    ///
    /// # Errors
    /// Fails like [`Unreadable::refusal`].
    pub(crate) fn decode_or_plain(&self, bytes: &[u8], file: &str) -> Result<(bool, Value), RequestError> {
        let (version, value) = self.decode_or_plain_since(self.version, bytes, file)?;
        Ok((version != PLAIN_VERSION, value))
    }

    /// Works like [`Format::decode_or_plain`], for files with a first line that have the version `oldest` or
    /// a newer one. Returns the version and the JSON.
    pub(crate) fn decode_or_plain_since(
        &self,
        oldest: u32,
        bytes: &[u8],
        file: &str,
    ) -> Result<(u32, Value), RequestError> {
        let has_first_line = bytes.first() != Some(&b'{');
        let (version, body) = match has_first_line {
            true => self.decode_since(oldest, bytes).map_err(|error| error.refusal(file))?,
            false => (PLAIN_VERSION, bytes),
        };
        let value: Value = serde_json::from_slice(body).map_err(|e| damaged(file, &e.to_string()))?;
        if !has_first_line && value["format"] != PLAIN_VERSION {
            return Err(damaged(file, &format!("format [{}] instead of [{PLAIN_VERSION}]", value["format"])));
        }
        Ok((version, value))
    }
}

impl Unreadable {
    pub(crate) fn in_file(self, file: &str) -> Error {
        let file = file.to_owned();
        match self {
            Unreadable::Damaged { offset, expected, found } => {
                Error::Corrupt { file, offset: offset as u64, expected, found }
            }
            Unreadable::Newer { version, found, .. } => {
                Error::Newer { file, found: u64::from(found), supported: u64::from(version) }
            }
        }
    }

    /// Makes a `corrupt_state_exception` for damage, and an `illegal_state_exception` for a newer version.
    /// Both name `file`.
    pub(crate) fn refusal(self, file: &str) -> RequestError {
        match self {
            Unreadable::Damaged { expected, found, .. } => {
                damaged(file, &format!("{expected} was written, {found} is there"))
            }
            Unreadable::Newer { magic, version, found } => RequestError::internal(
                "illegal_state_exception",
                format!(
                    "[{file}] has the format [{magic} {found}] of a newer version of Limber; this one knows [{magic} {version}]"
                ),
            ),
        }
    }
}

pub(crate) fn damaged(file: &str, what: &str) -> RequestError {
    RequestError::internal("corrupt_state_exception", format!("[{file}] is damaged: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { magic: "limber-test", version: 3 };

    #[test]
    fn the_bytes_are_pinned_and_every_flipped_bit_is_noticed() {
        let whole = FORMAT.encode(r#"{"a":1}"#);
        assert_eq!(whole, b"limber-test 3 561bacaf 7\n{\"a\":1}");
        assert_eq!(FORMAT.decode(&whole), Ok(&br#"{"a":1}"#[..]));
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                assert!(FORMAT.decode(&flipped).is_err(), "byte {at} bit {bit}");
            }
            assert!(FORMAT.decode(&whole[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn newer_versions_are_refused_by_name_and_old_files_read() {
        let newer = Format { magic: "limber-test", version: 4 }.encode("{}");
        let error = FORMAT.decode_or_plain(&newer, "state/x").expect_err("newer");
        assert_eq!(
            error.reason,
            "[state/x] has the format [limber-test 4] of a newer version of Limber; this one knows [limber-test 3]"
        );
        let plain = serde_json::json!({"format": 1});
        assert_eq!(FORMAT.decode_or_plain(plain.to_string().as_bytes(), "f"), Ok((false, plain.clone())));
        assert!(FORMAT.decode_or_plain(b"{\"format\":2}", "f").is_err());
        let older = Format { magic: "limber-test", version: 2 }.encode("{}");
        assert!(FORMAT.decode_or_plain(&older, "f").is_err());
        let empty = serde_json::json!({});
        assert_eq!(FORMAT.decode_or_plain_since(2, &older, "f"), Ok((2, empty.clone())));
        assert_eq!(FORMAT.decode_or_plain_since(2, &FORMAT.encode("{}"), "f"), Ok((3, empty)));
        assert!(FORMAT.decode(b"").is_err());
    }
}
