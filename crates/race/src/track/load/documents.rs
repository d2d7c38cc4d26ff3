//! Finds and checks the uncompressed data file of a document set.
//!
//! The order is Rally's (`DocumentSetPreparator` in `esrally/track/loader.py`). First comes the track's
//! folder, where a file of the wrong size is an error of the track's author; then the data folder of the
//! corpus, where such a file is downloaded again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::download::{self, Download, Patience};
use super::{LoadError, archives, offsets};
use crate::model::DocumentSet;

/// The folders that may contain the data files of a corpus.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentSources<'a> {
    pub track_folder: &'a Path,
    /// Folder for downloads, and for files unpacked from a read-only track; `None` for no such folder.
    pub corpus_folder: Option<&'a Path>,
    /// Whether nothing may be downloaded.
    pub is_offline: bool,
}

/// Finds, downloads, unpacks and checks the data file of `set`, and returns its path. Progress goes to `log`.
///
/// # Errors
/// `Documents` for a missing file, or one with another size, checksum or number of lines than the track says;
/// `Io`.
pub(crate) fn prepare(
    track: &str,
    set: &DocumentSet,
    folders: &DocumentSources<'_>,
    log: &mut dyn Write,
) -> Result<PathBuf, LoadError> {
    let path = match bundled(set, folders, log)? {
        Some(path) => path,
        None => cached(set, folders, log)?,
    };
    check_lines(track, set, &path, log)?;
    Ok(path)
}

/// Describes where [`prepare`] would take the data file from.
pub(crate) fn whereabouts(set: &DocumentSet, folders: &DocumentSources<'_>) -> String {
    for folder in [Some(folders.track_folder), folders.corpus_folder].into_iter().flatten() {
        let (file, archive) =
            (folder.join(&set.file), set.archive.as_ref().map(|archive| folder.join(archive)));
        if is_complete(&file, set.uncompressed_size_bytes) {
            return format!("in [{}]", file.display());
        }
        if let Some(archive) = archive.filter(|archive| is_complete(archive, set.compressed_size_bytes)) {
            return format!("in [{}], to be unpacked", archive.display());
        }
    }
    match &set.base_url {
        Some(_) if folders.is_offline => "missing, and not to be downloaded (--offline)".to_owned(),
        Some(url) => format!("to be downloaded from [{url}]"),
        None => "missing, and the track names no base-url".to_owned(),
    }
}

/// Returns the data file in the track's own folder, unpacked if needed.
fn bundled(
    set: &DocumentSet,
    folders: &DocumentSources<'_>,
    log: &mut dyn Write,
) -> Result<Option<PathBuf>, LoadError> {
    let path = folders.track_folder.join(&set.file);
    if path.is_file() {
        check_size(&path, set.uncompressed_size_bytes)?;
        return Ok(Some(path));
    }
    let Some(archive) = set.archive.as_ref().map(|archive| folders.track_folder.join(archive)) else {
        return Ok(None);
    };
    if !archive.is_file() {
        return Ok(None);
    }
    check_size(&archive, set.compressed_size_bytes)?;
    match (unpack(&archive, &path, set, log), folders.corpus_folder) {
        (Ok(()), _) => Ok(Some(path)),
        (Err(LoadError::Io { source, .. }), Some(folder)) if is_not_writable(&source) => {
            let path = folder.join(&set.file);
            if !is_complete(&path, set.uncompressed_size_bytes) {
                unpack(&archive, &path, set, log)?;
            }
            Ok(Some(path))
        }
        (Err(error), _) => Err(error),
    }
}

/// Returns the data file in the corpus's data folder, unpacked or downloaded if needed.
fn cached(
    set: &DocumentSet,
    folders: &DocumentSources<'_>,
    log: &mut dyn Write,
) -> Result<PathBuf, LoadError> {
    let folder = folders.corpus_folder.ok_or_else(|| missing(set, folders.track_folder))?;
    let path = folder.join(&set.file);
    if is_complete(&path, set.uncompressed_size_bytes) {
        return Ok(path);
    }
    let Some(archive) = set.archive.as_ref().map(|archive| folder.join(archive)) else {
        fetch(set, &path, set.uncompressed_size_bytes, folders, log)?;
        return Ok(path);
    };
    if !is_complete(&archive, set.compressed_size_bytes) {
        fetch(set, &archive, set.compressed_size_bytes, folders, log)?;
    }
    unpack(&archive, &path, set, log)?;
    Ok(path)
}

fn fetch(
    set: &DocumentSet,
    target: &Path,
    expected_bytes: Option<u64>,
    folders: &DocumentSources<'_>,
    log: &mut dyn Write,
) -> Result<(), LoadError> {
    let Some(base_url) = set.base_url.as_deref() else {
        return match target.is_file() {
            true => Err(LoadError::Documents(format!(
                "[{}] is present but does not have the expected size of [{}] bytes and it cannot be downloaded because no base URL is \
                 provided.",
                target.display(),
                expected_bytes.unwrap_or_default()
            ))),
            false => Err(missing(set, target.parent().unwrap_or(target))),
        };
    };
    if folders.is_offline {
        return Err(LoadError::Documents(format!(
            "Cannot find [{}]. Please disable offline mode and retry, or put the file there.",
            target.display()
        )));
    }
    let scheme = base_url.split_once("://").map_or("", |(scheme, _)| scheme);
    if !["http", "https"].contains(&scheme) {
        return Err(LoadError::NotSupported(format!(
            "[{base_url}]: only http and https are downloaded from; fetch the file to [{}] with the storage's own tool, or give its https \
             address.",
            target.display()
        )));
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let url = format!("{}/{name}", base_url.trim_end_matches('/'));
    let download = Download {
        url: &url,
        target,
        expected_bytes,
        sha256: set.sha256.as_deref(),
        advice_if_missing: is_of_test_mode(set).then_some(
            "This track does not support test mode. Ask the track author to add it or disable test mode and retry.",
        ),
    };
    download::fetch(&download, &Patience::default(), log)
}

fn unpack(archive: &Path, target: &Path, set: &DocumentSet, log: &mut dyn Write) -> Result<(), LoadError> {
    let (from, to) = (archive.display(), target.display());
    let _ = write!(log, "[INFO] Decompressing track data from [{from}] to [{to}] ... ");
    let _ = log.flush();
    let unpacked = archives::unpack(archive, target, set.uncompressed_size_bytes);
    let _ = writeln!(log, "{}", if unpacked.is_ok() { "[OK]" } else { "[FAILED]" });
    unpacked.map(|_| ())
}

fn is_not_writable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn missing(set: &DocumentSet, folder: &Path) -> LoadError {
    let wanted = set.archive.as_ref().unwrap_or(&set.file);
    let advice = match &set.base_url {
        Some(url) => format!("Download [{}/{wanted}] to that path and retry.", url.trim_end_matches('/')),
        None => "Put the file there and retry; the track names no base-url to get it from.".to_owned(),
    };
    let test_mode = if is_of_test_mode(set) {
        " It holds the 1,000 documents of test mode; a track whose author offers no such file can only be raced without test mode."
    } else {
        ""
    };
    LoadError::Documents(format!("Cannot find [{}]. {advice}{test_mode}", folder.join(wanted).display()))
}

/// Whether the file is the one that test mode uses instead of the whole corpus.
fn is_of_test_mode(set: &DocumentSet) -> bool {
    set.file.contains("-1k.") || set.file.ends_with("-1k")
}

fn is_complete(path: &Path, expected_bytes: Option<u64>) -> bool {
    path.metadata().is_ok_and(|metadata| {
        metadata.is_file() && expected_bytes.is_none_or(|expected| metadata.len() == expected)
    })
}

fn check_size(path: &Path, expected_bytes: Option<u64>) -> Result<(), LoadError> {
    if is_complete(path, expected_bytes) {
        return Ok(());
    }
    Err(LoadError::Documents(format!(
        "[{}] is present but does not have the expected size of [{}] bytes.",
        path.display(),
        expected_bytes.unwrap_or_default()
    )))
}

fn check_lines(track: &str, set: &DocumentSet, path: &Path, log: &mut dyn Write) -> Result<(), LoadError> {
    if offsets::is_current(path) {
        return Ok(());
    }
    let _ = write!(log, "[INFO] Preparing file offset table for [{}] ... ", path.display());
    let _ = log.flush();
    let lines = offsets::build(path).map_err(LoadError::at(path))?;
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
