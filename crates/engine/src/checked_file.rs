//! Small files that are replaced as a whole: "is this what was written, and what is on disk after a replacement that failed?"
//!
//! A file is one line `<magic> <version> <crc-32 of the rest, hex> <length of the rest>` and then JSON. It is replaced by a temporary
//! name, write, fsync, rename, fsync of the folder, so that there is always exactly one whole file under its name.

use limber_codec::checksum::crc32;
use limber_mapping::RequestError;
use limber_store::directory::temporary_name;
use limber_store::{Directory, Error};

/// What a file says of itself in its first line.
pub(crate) struct Format {
    pub magic: &'static str,
    /// Raised when what follows the first line changes its meaning; files of higher versions are refused by name.
    pub version: u32,
}

/// What came of a replacement.
pub(crate) enum Replaced {
    Done,
    /// Nothing has happened to the file: it failed before the rename.
    Untouched(Error),
    /// The file is the old one or the new one, now and after a crash: the rename, or its fsync, failed.
    Unknown(Error),
}

impl Format {
    pub(crate) fn encode(&self, body: &str) -> Vec<u8> {
        let Format { magic, version } = self;
        format!("{magic} {version} {:08x} {}\n{body}", crc32(body.as_bytes()), body.len()).into_bytes()
    }

    /// The JSON of a file, checked. Files from before there were first lines begin with `{` and have no checksum.
    ///
    /// # Errors
    /// `corrupt_state_exception` for damage, `illegal_state_exception` for a newer version; both name `file`.
    pub(crate) fn decode<'b>(&self, bytes: &'b [u8], file: &str) -> Result<&'b [u8], RequestError> {
        if bytes.first() == Some(&b'{') {
            return Ok(bytes);
        }
        let Format { magic, version } = self;
        let bad = |what: String| damaged(file, &what);
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let end = end.ok_or_else(|| bad("it has no first line".into()))?;
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| bad("its first line is no text".into()))?;
        let words: Vec<&str> = head.split(' ').collect();
        let [found_magic, found_version, crc, len] = words[..] else {
            return Err(bad(format!("its first line is [{head}]")));
        };
        if found_magic != *magic {
            return Err(bad(format!("it begins with [{found_magic}] instead of [{magic}]")));
        }
        let body = &bytes[end + 1..];
        let expected = (format!("{:08x}", crc32(body)), body.len().to_string());
        match found_version.parse::<u32>() {
            Ok(found) if found > *version => {
                return Err(RequestError::new(
                    500,
                    "illegal_state_exception",
                    format!(
                        "[{file}] has the format [{magic} {found}] of a newer version of Limber; this one knows [{magic} {version}]"
                    ),
                ));
            }
            Ok(found) if found == *version && found_version == version.to_string() => {}
            _ => return Err(bad(format!("its version is [{found_version}]"))),
        }
        if (crc, len) != (expected.0.as_str(), expected.1.as_str()) {
            let (crc_now, len_now) = expected;
            return Err(bad(format!(
                "checksum [{crc}] of [{len}] bytes was written, [{crc_now}] of [{len_now}] bytes is there"
            )));
        }
        Ok(body)
    }
}

pub(crate) fn damaged(file: &str, what: &str) -> RequestError {
    RequestError::new(500, "corrupt_state_exception", format!("[{file}] is damaged: {what}"))
}

/// Replaces a file durably, or says what is known of it afterwards.
pub(crate) fn replace(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Replaced {
    let temporary = temporary_name(name);
    let write = || {
        directory.delete_if_present(&temporary)?;
        let mut writer = directory.create(&temporary)?;
        writer.write_all(bytes)?;
        writer.sync()?;
        writer.finish()
    };
    if let Err(error) = write() {
        return Replaced::Untouched(error);
    }
    match directory.rename(&temporary, name).and_then(|()| directory.sync_names()) {
        Ok(()) => Replaced::Done,
        Err(error) => Replaced::Unknown(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { magic: "limber-test", version: 3 };

    #[test]
    fn the_bytes_are_pinned_and_every_flipped_bit_is_noticed() {
        let whole = FORMAT.encode(r#"{"a":1}"#);
        assert_eq!(whole, b"limber-test 3 561bacaf 7\n{\"a\":1}");
        assert_eq!(FORMAT.decode(&whole, "f"), Ok(&br#"{"a":1}"#[..]));
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                assert!(FORMAT.decode(&flipped, "f").is_err(), "byte {at} bit {bit}");
            }
            assert!(at == 0 || FORMAT.decode(&whole[..at], "f").is_err(), "cut at {at}");
        }
    }

    #[test]
    fn newer_versions_are_refused_by_name_and_old_files_read() {
        let newer = Format { magic: "limber-test", version: 4 }.encode("{}");
        let error = FORMAT.decode(&newer, "state/x").expect_err("newer");
        assert_eq!(
            error.reason,
            "[state/x] has the format [limber-test 4] of a newer version of Limber; this one knows [limber-test 3]"
        );
        assert_eq!(FORMAT.decode(b"{\"format\":1}", "f"), Ok(&b"{\"format\":1}"[..]));
        assert!(FORMAT.decode(b"", "f").is_err());
    }
}
