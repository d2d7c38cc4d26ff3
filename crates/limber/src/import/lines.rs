//! Reads lines of limited length from files that may be compressed, and counts the bytes read.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};

/// Maximum length of a line or row: the default maximum of a request body.
pub const RECORD_BYTES_MAX: usize = 64 << 20;
const BUFFER_BYTES: usize = 256 << 10;

/// Counts the bytes that are read.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// A source of bytes: a file, standard input, or a decompressor of either.
pub type Input = Box<dyn BufRead + Send>;

/// Opens a file, or standard input for `-`. gzip, zstd and bzip2 are detected by their first bytes. `read`
/// counts bytes of the file before decompression.
///
/// # Errors
/// The file cannot be read.
pub fn open(path: &Path, read: &Arc<AtomicU64>) -> Result<Input> {
    let at = || format!("cannot read {}", path.display());
    let raw: Box<dyn Read + Send> = match path.as_os_str() == "-" {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path).with_context(at)?),
    };
    let mut raw = BufReader::with_capacity(BUFFER_BYTES, Counted { inner: raw, count: read.clone() });
    let first = raw.fill_buf().with_context(at)?;
    let text: Box<dyn Read + Send> = match first {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Box::new(zstd::stream::read::Decoder::with_buffer(raw).with_context(at)?)
        }
        [b'B', b'Z', b'h', ..] => {
            bail!("{}: bzip2 is not read here; unpack it with bzip2 -dc", path.display())
        }
        [b'P', b'K', 3, 4, ..] => bail!("{}: unpack the archive first", path.display()),
        _ => return Ok(Box::new(raw)),
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, text)))
}

/// A line as it was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Without surrounding white space, never empty.
    Text(&'a [u8]),
    /// Longer than [`RECORD_BYTES_MAX`]. Reading continues with the next line.
    TooLong,
}

/// Iterates over lines, skipping empty ones, and counts all of them.
pub struct Lines {
    input: Input,
    line: Vec<u8>,
    pub number: u64,
}

impl Lines {
    /// Nothing may have been read from `input` yet.
    pub fn new(input: Input) -> Lines {
        Lines { input, line: Vec::new(), number: 0 }
    }

    /// Returns the next line.
    ///
    /// # Errors
    /// The file cannot be read any further, for example because an archive is damaged.
    pub fn next_line(&mut self) -> std::io::Result<Option<Line<'_>>> {
        loop {
            self.line.clear();
            let count =
                (&mut self.input).take(RECORD_BYTES_MAX as u64 + 1).read_until(b'\n', &mut self.line)?;
            if count == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.len() > RECORD_BYTES_MAX {
                self.line = Vec::new();
                self.input.skip_until(b'\n')?;
                return Ok(Some(Line::TooLong));
            }
            // A byte order mark is not part of the text.
            if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some(Line::Text(self.line.trim_ascii())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn lines_have_their_number_and_an_end() {
        let long = "x".repeat(RECORD_BYTES_MAX + 5);
        let text = format!("\u{feff}a\r\n\n {long}\nb");
        let mut lines = Lines::new(Box::new(Cursor::new(text.into_bytes())));
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line().expect("read") {
            let text = match line {
                Line::Text(text) => String::from_utf8_lossy(text).into_owned(),
                Line::TooLong => "too long".into(),
            };
            seen.push((text, lines.number));
        }
        assert_eq!(seen, [("a".into(), 1), ("too long".into(), 3), ("b".into(), 4)]);
    }
}
