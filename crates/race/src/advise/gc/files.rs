//! Finds the files of one JVM's log, and their format.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use thiserror::Error;

use super::events::GcEvents;
use super::openj9::{self, OpenJ9};
use super::unified::{self, Unified};

#[derive(Debug, Error)]
pub(crate) enum GcLogError {
    #[error("cannot read the GC log [{file}]: {source}")]
    Read { file: PathBuf, source: std::io::Error },
    #[error("no GC log is in [{0}]: files named gc.log or *.log are looked for")]
    EmptyFolder(PathBuf),
    #[error(
        "[{0}] is no GC log that is understood: unified logging of Java 9 and later (-Xlog:gc*) and OpenJ9's verbose:gc are. \
         Java 8's -XX:+PrintGCDetails is not"
    )]
    Unknown(PathBuf),
}

/// Reads `paths` (files or folders) and the rotations beside them, oldest first, as the log of one JVM.
///
/// Errors: a file that cannot be read, or whose format is none of those known.
pub(crate) fn read(paths: &[PathBuf]) -> Result<GcEvents, GcLogError> {
    let mut files = Vec::new();
    for path in paths {
        for file in with_rotations(path)? {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    let mut opened = Vec::new();
    for file in files {
        opened.push(Opened::new(file)?);
    }
    // The number in a file's name says nothing about its age: unified logging reuses the numbers in turn.
    opened.sort_by(|a, b| a.first_s.total_cmp(&b.first_s));
    let mut events = GcEvents::default();
    let mut readers = Readers::default();
    for file in opened {
        file.read_into(&mut readers, &mut events)?;
    }
    Ok(events)
}

/// Returns the file itself and `name.0`, `name.1.gz`, ... beside it. For a folder, returns every log in it.
fn with_rotations(path: &Path) -> Result<Vec<PathBuf>, GcLogError> {
    let error = |source| GcLogError::Read { file: path.to_owned(), source };
    if path.is_dir() {
        let mut files: Vec<PathBuf> = std::fs::read_dir(path)
            .map_err(error)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|file| file.is_file() && is_gc_log_name(&name_of(file)))
            .collect();
        files.sort();
        return if files.is_empty() { Err(GcLogError::EmptyFolder(path.to_owned())) } else { Ok(files) };
    }
    let mut files = vec![path.to_owned()];
    let name = name_of(path);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // The user who names a rotation wants that file alone; only the base name has rotations.
    if let Ok(entries) = std::fs::read_dir(folder) {
        let is_rotation = |file: &Path| {
            let other = name_of(file);
            let number = other.strip_prefix(&name).and_then(|rest| rest.strip_prefix('.'));
            number.is_some_and(|number| {
                let digits = number.trim_end_matches(".gz");
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        let mut rotations: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|file| is_rotation(file)).collect();
        rotations.sort();
        files.extend(rotations);
    }
    Ok(files)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether a name is one like `gc.log`, `gc.log.03`, `gc-17.log.gz` or `verbosegc.xml`.
fn is_gc_log_name(name: &str) -> bool {
    let bare = name.trim_end_matches(".gz").trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let lower = bare.to_lowercase();
    lower.contains("gc") && (lower.ends_with("log") || lower.ends_with("xml") || lower.ends_with("txt"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Unified,
    OpenJ9,
}

/// One reader for all files of a format: what is said at the head of a log (such as the region size) holds
/// for all its rotations.
#[derive(Debug, Default)]
struct Readers {
    unified: Unified,
    openj9: OpenJ9,
}

impl Readers {
    fn line(&mut self, format: Format, line: &str, events: &mut GcEvents) {
        match format {
            Format::Unified => self.unified.line(line, events),
            Format::OpenJ9 => self.openj9.line(line, events),
        }
    }
}

/// A file whose format is known.
struct Opened {
    path: PathBuf,
    format: Format,
    /// When its first line was written, on the log's own clock.
    first_s: f64,
}

/// Lines that may precede the first one in the format: a banner, or the rest of a line that rotation cut.
const HEAD_LINES_MAX: usize = 50;
/// More bytes than any line of a log has.
const LINE_BYTES_MAX: u64 = 1 << 20;

impl Opened {
    fn new(path: PathBuf) -> Result<Opened, GcLogError> {
        let mut format = None;
        let (mut readers, mut head) = (Readers::default(), GcEvents::default());
        let mut seen_count = 0;
        for_each_line(&path, |line| {
            seen_count += 1;
            format = format.or(match line {
                _ if OpenJ9::recognizes(line) => Some(Format::OpenJ9),
                _ if Unified::recognizes(line) => Some(Format::Unified),
                _ => None,
            });
            if let Some(format) = format {
                readers.line(format, line, &mut head);
            }
            seen_count < HEAD_LINES_MAX && head.first_s().is_none()
        })?;
        match format {
            Some(format) => Ok(Opened { path, format, first_s: head.first_s().unwrap_or(0.0) }),
            None => Err(GcLogError::Unknown(path)),
        }
    }

    fn read_into(self, readers: &mut Readers, events: &mut GcEvents) -> Result<(), GcLogError> {
        events.format = match self.format {
            Format::Unified => unified::FORMAT,
            Format::OpenJ9 => openj9::FORMAT,
        };
        for_each_line(&self.path, |line| {
            events.line_count += 1;
            readers.line(self.format, line, events);
            true
        })
    }
}

/// Calls `take` with every line until it returns false. Bytes that are not UTF-8 are replaced. A truncated
/// gzip stream counts as the end of the file.
fn for_each_line(path: &Path, mut take: impl FnMut(&str) -> bool) -> Result<(), GcLogError> {
    let error = |source| GcLogError::Read { file: path.to_owned(), source };
    let file = BufReader::new(File::open(path).map_err(error)?);
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
    let mut reader: Box<dyn BufRead> =
        if is_compressed { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) };
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(_) if is_compressed && !line.is_empty() => {}
            Err(source) if is_compressed && source.kind() == std::io::ErrorKind::UnexpectedEof => {
                return Ok(());
            }
            Err(source) => return Err(error(source)),
        }
        if !take(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r'])) {
            return Ok(());
        }
    }
}
