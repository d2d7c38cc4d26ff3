//! "Here is a document set of the track; where is its uncompressed data file, and is it the right one?"
//!
//! Rally's `DocumentSetPreparator` (`esrally/track/loader.py`) without downloads: the track's folder first, where a file of the wrong
//! size is an error, then the data folder of the corpus.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::{LoadError, offsets};
use crate::model::DocumentSet;

/// Finds, unpacks and checks the data file of `set`; returns its path. Progress goes to `log`.
///
/// `track_folder` holds the track, `corpus_folder` (if any) the data files of this corpus.
///
/// # Errors
/// `Documents` for a missing file or one of another size or number of lines than the track says, `NotSupported` for an archive format without
/// decompressor, `Io`.
pub fn prepare(
    track: &str,
    set: &DocumentSet,
    track_folder: &Path,
    corpus_folder: Option<&Path>,
    log: &mut dyn Write,
) -> Result<PathBuf, LoadError> {
    let path = locate(set, track_folder, corpus_folder, log)?;
    check_lines(track, set, &path, log)?;
    Ok(path)
}

fn locate(
    set: &DocumentSet,
    track_folder: &Path,
    corpus_folder: Option<&Path>,
    log: &mut dyn Write,
) -> Result<PathBuf, LoadError> {
    let folders: Vec<&Path> = std::iter::once(track_folder).chain(corpus_folder).collect();
    for folder in &folders {
        let path = folder.join(&set.file);
        if path.is_file() {
            check_size(&path, set.uncompressed_size_bytes)?;
            return Ok(path);
        }
        let Some(archive) =
            set.archive.as_ref().map(|archive| folder.join(archive)).filter(|path| path.is_file())
        else {
            continue;
        };
        check_size(&archive, set.compressed_size_bytes)?;
        return unpack(&archive, &path, set, corpus_folder, log);
    }
    Err(missing(set, &folders))
}

/// Unpacks `archive` into `beside`, or into the corpus folder when the track's own folder is read-only.
fn unpack(
    archive: &Path,
    beside: &Path,
    set: &DocumentSet,
    corpus_folder: Option<&Path>,
    log: &mut dyn Write,
) -> Result<PathBuf, LoadError> {
    match (decompress(archive, beside, set, log), corpus_folder) {
        (Ok(()), _) => Ok(beside.to_owned()),
        (Err(LoadError::Io { source, .. }), Some(folder)) if is_not_writable(&source) => {
            let path = folder.join(&set.file);
            if !path.is_file() || check_size(&path, set.uncompressed_size_bytes).is_err() {
                decompress(archive, &path, set, log)?;
            }
            Ok(path)
        }
        (Err(error), _) => Err(error),
    }
}

fn is_not_writable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn missing(set: &DocumentSet, folders: &[&Path]) -> LoadError {
    let wanted = set.archive.as_ref().unwrap_or(&set.file);
    let target = folders.last().map_or_else(|| PathBuf::from(wanted), |folder| folder.join(wanted));
    let advice = match &set.base_url {
        Some(url) => format!("Download [{}/{wanted}] to that path and retry.", url.trim_end_matches('/')),
        None => "Put the file there and retry; the track names no URL to get it from.".to_owned(),
    };
    let test_mode = if set.file.contains("-1k.") || set.file.ends_with("-1k") {
        " It holds the 1,000 documents of test mode; a track whose author offers no such file can only be raced without test mode."
    } else {
        ""
    };
    LoadError::Documents(format!("Cannot find [{}]. {advice}{test_mode}", target.display()))
}

fn check_size(path: &Path, expected_bytes: Option<u64>) -> Result<(), LoadError> {
    let Some(expected) = expected_bytes else { return Ok(()) };
    let found = path.metadata().map_err(|source| LoadError::Io { path: path.to_owned(), source })?.len();
    if found == expected {
        return Ok(());
    }
    Err(LoadError::Documents(format!(
        "[{}] is present but does not have the expected size of [{expected}] bytes.",
        path.display()
    )))
}

/// Unpacks `archive` into `target`, through a temporary name so that an interrupted run leaves no half file behind.
fn decompress(
    archive: &Path,
    target: &Path,
    set: &DocumentSet,
    log: &mut dyn Write,
) -> Result<(), LoadError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| LoadError::Io { path, source }
    };
    let input = BufReader::with_capacity(1 << 20, File::open(archive).map_err(at(archive))?);
    let name = archive.to_string_lossy();
    let mut reader: Box<dyn Read> = match name
        .rsplit_once('.')
        .map(|(stem, extension)| (stem.ends_with(".tar"), extension))
    {
        Some((false, "gz")) => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
        Some((false, "bz2")) => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        Some((false, "zst")) => {
            Box::new(zstd::stream::read::Decoder::with_buffer(input).map_err(at(archive))?)
        }
        _ => {
            return Err(LoadError::NotSupported(format!(
                "the archive format of [{name}] is not supported yet; unpack it beside the archive and retry"
            )));
        }
    };
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder).map_err(at(folder))?;
    }
    let mut part = target.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let file = File::create(&part).map_err(at(&part))?;
    let _ = write!(
        log,
        "[INFO] Decompressing track data from [{}] to [{}] ... ",
        archive.display(),
        target.display()
    );
    let _ = log.flush();
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    let copied = io::copy(&mut reader, &mut writer).and_then(|bytes| writer.flush().map(|()| bytes));
    let bytes = copied.map_err(|source| {
        let _ = std::fs::remove_file(&part);
        LoadError::Io { path: archive.to_owned(), source }
    })?;
    if let Some(expected) = set.uncompressed_size_bytes.filter(|expected| *expected != bytes) {
        let _ = std::fs::remove_file(&part);
        return Err(LoadError::Documents(format!(
            "[{}] is corrupt. Extracted [{bytes}] bytes but [{expected}] bytes are expected.",
            target.display()
        )));
    }
    std::fs::rename(&part, target).map_err(at(target))?;
    let _ = writeln!(log, "[OK]");
    Ok(())
}

fn check_lines(track: &str, set: &DocumentSet, path: &Path, log: &mut dyn Write) -> Result<(), LoadError> {
    if offsets::is_current(path) {
        return Ok(());
    }
    let _ = write!(log, "[INFO] Preparing file offset table for [{}] ... ", path.display());
    let _ = log.flush();
    let lines = offsets::build(path).map_err(|source| LoadError::Io { path: path.to_owned(), source })?;
    let _ = writeln!(log, "[OK]");
    let expected =
        set.number_of_documents.saturating_mul(if set.includes_action_and_meta_data { 2 } else { 1 });
    if lines == expected {
        return Ok(());
    }
    let _ = std::fs::remove_file(offsets::table_path(path));
    Err(LoadError::Documents(format!(
        "Data in [{}] for track [{track}] are invalid. Expected [{expected}] lines but got [{lines}].",
        path.display()
    )))
}
