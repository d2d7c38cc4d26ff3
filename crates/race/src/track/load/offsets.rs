//! Finds the byte at which a line of a large data file begins.
//!
//! The file `<file>.offset` beside a data file is Rally's table (`esrally/utils/io.py`): one text line
//! `lines;bytes` for every 50,000 lines, which means that this many lines take this many bytes. A client that
//! starts in the middle seeks there and skips the rest.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Number of lines between two entries.
pub(crate) const LINES_PER_ENTRY: u64 = 50_000;
const BUFFER_BYTES: usize = 1 << 20;

/// Returns the path of the table: the data file's with `.offset` appended.
pub(crate) fn table_path(data_file: &Path) -> PathBuf {
    let mut name = OsString::from(data_file);
    name.push(".offset");
    PathBuf::from(name)
}

/// Whether the table exists and is not older than the data.
pub(crate) fn is_current(data_file: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified());
    match (modified(&table_path(data_file)), modified(data_file)) {
        (Ok(table), Ok(data)) => table >= data,
        _ => false,
    }
}

/// Counts the lines of `data_file` and writes its table. Returns the count, which includes a last line
/// without a newline.
///
/// If the table cannot be written (in a read-only folder) it is left out, since it only speeds skipping up.
pub(crate) fn build(data_file: &Path) -> io::Result<u64> {
    let (lines, entries) = scan(File::open(data_file)?)?;
    let table = table_path(data_file);
    let written = File::create(&table).and_then(|mut file| file.write_all(entries.as_bytes()));
    if written.is_err() {
        // An incomplete table would be taken for a complete one.
        let _ = std::fs::remove_file(&table);
    }
    Ok(lines)
}

fn scan(mut data: impl Read) -> io::Result<(u64, String)> {
    let mut entries = String::new();
    let mut buffer = vec![0_u8; BUFFER_BYTES];
    let (mut lines, mut bytes, mut ends_with_newline) = (0_u64, 0_u64, true);
    loop {
        let read = data.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        for newline in memchr::memchr_iter(b'\n', &buffer[..read]) {
            lines += 1;
            if lines.is_multiple_of(LINES_PER_ENTRY) {
                entries.push_str(&format!("{lines};{}\n", bytes + newline as u64 + 1));
            }
        }
        bytes += read as u64;
        ends_with_newline = buffer[read - 1] == b'\n';
    }
    if !ends_with_newline {
        lines += 1;
        if lines.is_multiple_of(LINES_PER_ENTRY) {
            entries.push_str(&format!("{lines};{bytes}\n"));
        }
    }
    Ok((lines, entries))
}

/// Returns the closest known position before `line` (from 0) as
/// `(offset in bytes, lines still to skip from there)`. Without a table it is `(0, line)`.
pub(crate) fn closest(data_file: &Path, line: u64) -> (u64, u64) {
    let Ok(table) = std::fs::read_to_string(table_path(data_file)) else { return (0, line) };
    let mut best = (0, line);
    for entry in table.lines() {
        let Some((lines, bytes)) = entry.trim().split_once(';') else { break };
        let (Ok(lines), Ok(bytes)) = (lines.parse::<u64>(), bytes.parse::<u64>()) else { break };
        if lines > line {
            break;
        }
        best = (bytes, line - lines);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stand_every_50_000_lines() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("documents.json");
        let data: String = (0..120_000).map(|line| format!("{{\"n\":{line}}}\n")).collect();
        std::fs::write(&file, &data).unwrap();
        assert_eq!(build(&file).unwrap(), 120_000);
        assert!(is_current(&file));
        let table = std::fs::read_to_string(table_path(&file)).unwrap();
        assert_eq!(table.lines().count(), 2);
        for line in [0, 1, 49_999, 50_000, 50_001, 100_000, 119_999] {
            let (offset, remaining) = closest(&file, line);
            let found = data[offset as usize..].lines().nth(remaining as usize).unwrap();
            assert_eq!(found, format!("{{\"n\":{line}}}"));
            assert!(remaining < LINES_PER_ENTRY);
        }
    }

    #[test]
    fn a_last_line_without_newline_counts() {
        assert_eq!(scan(&b"a\nb"[..]).unwrap().0, 2);
        assert_eq!(scan(&b"a\nb\n"[..]).unwrap().0, 2);
        assert_eq!(scan(&b""[..]).unwrap().0, 0);
    }
}
