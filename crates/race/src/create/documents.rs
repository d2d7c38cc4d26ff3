//! Writes documents as a corpus in one pass: NDJSON and its bzip2 archive, once with all documents and once
//! with the first 1,000 for test mode.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use bzip2::Compression;
use bzip2::write::BzEncoder;

use crate::model::TEST_MODE_DOCUMENTS;
use crate::track::load::LoadError;
use crate::track::track_files::files::suffixed;

const BUFFER_BYTES: usize = 1 << 20;

/// What the track declares about a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// Name of the archive.
    pub source_file: String,
    pub count: u64,
    pub compressed_bytes: u64,
    pub uncompressed_bytes: u64,
}

/// Writes documents one by one.
pub(super) struct Writer {
    whole: Pair,
    first: Pair,
    count: u64,
}

impl Writer {
    /// Creates the files `<name>-documents.json` and so on in `folder`.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn create(folder: &Path, name: &str) -> Result<Writer, LoadError> {
        let pair = |suffix: &str| Pair::create(folder.join(format!("{name}-documents{suffix}.json")));
        Ok(Writer { whole: pair("")?, first: pair("-1k")?, count: 0 })
    }

    /// Writes one document, which is one line including its line feed.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn write_line(&mut self, line: &[u8]) -> Result<(), LoadError> {
        self.whole.write(line)?;
        if self.count < TEST_MODE_DOCUMENTS {
            self.first.write(line)?;
        }
        self.count += 1;
        Ok(())
    }

    /// Returns what was written. Without documents, returns `None` and leaves no files.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn finish(self) -> Result<Option<Written>, LoadError> {
        let count = self.count;
        let (whole, first) = (self.whole.finish()?, self.first.finish()?);
        if count == 0 {
            for path in [&whole.plain, &whole.archive, &first.plain, &first.archive] {
                std::fs::remove_file(path).map_err(LoadError::at(path))?;
            }
            return Ok(None);
        }
        let size = |path: &Path| path.metadata().map(|metadata| metadata.len()).map_err(LoadError::at(path));
        let source_file = whole.archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Some(Written {
            source_file,
            count,
            compressed_bytes: size(&whole.archive)?,
            uncompressed_bytes: size(&whole.plain)?,
        }))
    }
}

/// A file and its archive.
struct Pair {
    paths: Paths,
    plain: BufWriter<File>,
    archive: BzEncoder<BufWriter<File>>,
}

struct Paths {
    plain: PathBuf,
    archive: PathBuf,
}

impl Pair {
    fn create(plain: PathBuf) -> Result<Pair, LoadError> {
        let archive = suffixed(&plain, ".bz2");
        let open = |path: &Path| {
            File::create(path)
                .map(|file| BufWriter::with_capacity(BUFFER_BYTES, file))
                .map_err(LoadError::at(path))
        };
        let (file, packed) = (open(&plain)?, open(&archive)?);
        let archive_writer = BzEncoder::new(packed, Compression::best());
        Ok(Pair { paths: Paths { plain, archive }, plain: file, archive: archive_writer })
    }

    fn write(&mut self, line: &[u8]) -> Result<(), LoadError> {
        self.plain.write_all(line).map_err(LoadError::at(&self.paths.plain))?;
        self.archive.write_all(line).map_err(LoadError::at(&self.paths.archive))
    }

    fn finish(mut self) -> Result<Paths, LoadError> {
        self.plain.flush().map_err(LoadError::at(&self.paths.plain))?;
        let ended = self.archive.finish().and_then(|mut file| file.flush());
        ended.map_err(LoadError::at(&self.paths.archive))?;
        Ok(self.paths)
    }
}
