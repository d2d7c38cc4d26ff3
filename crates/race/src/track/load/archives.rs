//! Extracts the data file of a corpus from its archive.
//!
//! These are the formats that Rally supports (`esrally/utils/io.py`, `decompress`): zip, bz2, gz, tar, tgz,
//! tar.gz, tar.bz2 and zst. Only the wanted file is taken from a zip or tar, so an archive cannot write files
//! elsewhere.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::LoadError;
use crate::track::track_files::files::suffixed;

/// Extensions of archives. If two match a name, the longer one comes first.
pub(crate) const EXTENSIONS: [&str; 8] =
    [".tar.gz", ".tar.bz2", ".zip", ".bz2", ".gz", ".tar", ".tgz", ".zst"];

/// Frames of zstd with a window of up to 2 GB, as `zstd --long=31` writes them.
const ZSTD_WINDOW_LOG_MAX: u32 = 31;

const BUFFER_BYTES: usize = 1 << 20;

/// Writes the file with `target`'s name from `archive` to `target`, and returns its size in bytes. It uses a
/// temporary name, so that an interrupted run leaves no incomplete file at `target`.
///
/// # Errors
/// `Documents` for an archive that is damaged, does not contain the file, or has one of another size than
/// expected; `NotSupported` for a name without an archive's extension; `Io`.
pub(crate) fn unpack(archive: &Path, target: &Path, expected_bytes: Option<u64>) -> Result<u64, LoadError> {
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder).map_err(LoadError::at(folder))?;
    }
    let part = suffixed(target, ".part");
    let file = File::create(&part).map_err(LoadError::at(&part))?;
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, file);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let copied = copy(archive, &name, &mut writer)
        .and_then(|bytes| writer.flush().map(|()| bytes).map_err(LoadError::at(&part)))
        .and_then(|bytes| match expected_bytes {
            Some(expected) if expected != bytes => Err(LoadError::Documents(format!(
                "[{}] is corrupt. Extracted [{bytes}] bytes but [{expected}] bytes are expected.",
                target.display()
            ))),
            _ => Ok(bytes),
        });
    match copied {
        Ok(bytes) => {
            std::fs::rename(&part, target).map_err(LoadError::at(target))?;
            Ok(bytes)
        }
        Err(error) => {
            // This error is more useful than one about removing the rest.
            let _ = std::fs::remove_file(&part);
            Err(error)
        }
    }
}

fn copy(archive: &Path, name: &str, out: &mut dyn Write) -> Result<u64, LoadError> {
    let shown = archive.to_string_lossy();
    let damaged = |error: io::Error| match error.raw_os_error() {
        Some(_) => LoadError::Io { path: archive.to_owned(), source: error },
        None => LoadError::Documents(format!("[{shown}] cannot be decompressed: {error}.")),
    };
    let input = File::open(archive).map_err(damaged)?;
    let input = BufReader::with_capacity(BUFFER_BYTES, input);
    match EXTENSIONS.iter().copied().find(|extension| shown.ends_with(extension)) {
        Some(".gz") => io::copy(&mut flate2::bufread::MultiGzDecoder::new(input), out).map_err(damaged),
        Some(".bz2") => io::copy(&mut bzip2::bufread::MultiBzDecoder::new(input), out).map_err(damaged),
        Some(".zst") => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(input).map_err(damaged)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(damaged)?;
            io::copy(&mut decoder, out).map_err(damaged)
        }
        Some(".tar") => from_tar(input, &shown, name, out, &damaged),
        Some(".tgz" | ".tar.gz") => {
            from_tar(flate2::bufread::MultiGzDecoder::new(input), &shown, name, out, &damaged)
        }
        Some(".tar.bz2") => from_tar(bzip2::bufread::MultiBzDecoder::new(input), &shown, name, out, &damaged),
        Some(".zip") => {
            let zip_error = |error: zip::result::ZipError| damaged(error.into());
            let mut zip = zip::ZipArchive::new(input).map_err(zip_error)?;
            let found = zip.file_names().find(|member| base_name(member) == name).map(str::to_owned);
            let member = found.ok_or_else(|| without(&shown, name))?;
            io::copy(&mut zip.by_name(&member).map_err(zip_error)?, out).map_err(damaged)
        }
        _ => Err(LoadError::NotSupported(format!(
            "[{shown}] has no known archive's name; known are: {}",
            EXTENSIONS.join(", ")
        ))),
    }
}

fn from_tar(
    input: impl Read,
    archive: &str,
    name: &str,
    out: &mut dyn Write,
    damaged: &dyn Fn(io::Error) -> LoadError,
) -> Result<u64, LoadError> {
    let mut tar = tar::Archive::new(input);
    for entry in tar.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let is_wanted = entry.header().entry_type().is_file()
            && entry.path().is_ok_and(|path| base_name(&path.to_string_lossy()) == name);
        if is_wanted {
            return io::copy(&mut entry, out).map_err(damaged);
        }
    }
    Err(without(archive, name))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn without(archive: &str, name: &str) -> LoadError {
    LoadError::Documents(format!("[{archive}] holds no file [{name}]."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"{\"a\":1}\n{\"a\":2}\n";

    fn tar_of(name: &str) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, content) in [("data/other.json", &b"no"[..]), (name, TEXT)] {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, path, content).unwrap();
        }
        tar.into_inner().unwrap()
    }

    fn zip_of(name: &str, method: zip::CompressionMethod) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        zip.start_file("data/other.json", options).unwrap();
        zip.start_file(name, options).unwrap();
        zip.write_all(TEXT).unwrap();
        zip.finish().unwrap().into_inner()
    }

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bz2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn every_format_of_rally_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let check = |extension: &str, archive: Vec<u8>| {
            let path = folder.path().join(format!("documents.json{extension}"));
            std::fs::write(&path, archive).unwrap();
            let target = folder.path().join("documents.json");
            assert_eq!(unpack(&path, &target, Some(TEXT.len() as u64)).unwrap(), TEXT.len() as u64);
            assert_eq!(std::fs::read(&target).unwrap(), TEXT, "{extension}");
            std::fs::remove_file(target).unwrap();
        };
        let name = "data/documents.json";
        // Parallel compressors write several members one after the other.
        check(".gz", [gz(&TEXT[..5]), gz(&TEXT[5..])].concat());
        check(".bz2", [bz2(&TEXT[..5]), bz2(&TEXT[5..])].concat());
        check(
            ".zst",
            [zstd::encode_all(&TEXT[..5], 1).unwrap(), zstd::encode_all(&TEXT[5..], 1).unwrap()].concat(),
        );
        check(".tar", tar_of(name));
        check(".tar.gz", gz(&tar_of(name)));
        check(".tgz", gz(&tar_of("documents.json")));
        check(".tar.bz2", bz2(&tar_of(name)));
        check(".zip", zip_of(name, zip::CompressionMethod::Deflated));
        check(".zip", zip_of("documents.json", zip::CompressionMethod::Bzip2));
        check(".zip", zip_of("documents.json", zip::CompressionMethod::Zstd));
    }

    #[test]
    fn what_is_wrong_is_told_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let check = |archive: &str, bytes: &[u8], expected_bytes: Option<u64>, expected: &str| {
            let path = folder.path().join(archive);
            std::fs::write(&path, bytes).unwrap();
            let error = unpack(&path, &folder.path().join("d.json"), expected_bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{error}");
            std::fs::remove_file(path).unwrap();
        };
        check("d.json.gz", b"no gzip", None, "cannot be decompressed");
        check("d.json.gz", &gz(TEXT)[..20], None, "cannot be decompressed");
        check("d.json.zip", b"no zip", None, "cannot be decompressed");
        check(
            "d.json.gz",
            &gz(TEXT),
            Some(3),
            "is corrupt. Extracted [16] bytes but [3] bytes are expected.",
        );
        check("d.json.tar", &tar_of("e.json"), None, "holds no file [d.json]");
        check(
            "d.json.zip",
            &zip_of("e.json", zip::CompressionMethod::Stored),
            None,
            "holds no file [d.json]",
        );
        check("d.json.rar", b"", None, "known are: .tar.gz, ");
    }
}
