//! "Which tracks come with the binary, and what are their files and documents?"

use std::path::Path;

use bytes::Bytes;

use super::{access_log, generator};
use crate::load::LoadError;
use crate::load::files::TrackFiles;
use crate::load::selection::TEST_MODE_DOCUMENTS;

/// A track that comes with the binary.
struct BuiltIn {
    name: &'static str,
    /// `(file name, text)` of its folder.
    files: &'static [(&'static str, &'static str)],
    /// Documents of its only corpus.
    document_count: u64,
    /// Makes so many documents as NDJSON.
    generate: fn(u64) -> Vec<u8>,
}

macro_rules! track_files {
    ($track:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../../tracks/", $track, "/", $file)))),+]
    };
}

const TRACKS: &[BuiltIn] = &[BuiltIn {
    name: "log_ingest",
    files: track_files!("log_ingest":
        "track.json",
        "index.json",
        "README.md",
        "corpus.json",
        "challenges/default.json",
        "challenges/high-concurrency.json",
        "challenges/ramp-up.json",
    ),
    document_count: 100_000,
    generate: generator::entries,
}];

/// Documents of a built-in track's corpus.
#[derive(Debug)]
pub struct Documents {
    /// NDJSON, every line ended.
    pub bytes: Bytes,
    pub count: u64,
    /// Lines of the user's file that could not be read as log entries.
    pub skipped: u64,
}

/// Names of the built-in tracks.
pub fn names() -> impl Iterator<Item = &'static str> {
    TRACKS.iter().map(|track| track.name)
}

/// The track's files.
///
/// # Errors
/// `NotFound` with the names there are.
pub fn files(name: &str) -> Result<TrackFiles, LoadError> {
    Ok(TrackFiles::Embedded(find(name)?.files))
}

/// The track's documents: generated, or converted from the user's own file; at most 1,000 in test mode.
///
/// # Errors
/// As [`access_log::convert`].
pub fn documents(name: &str, corpus: Option<&Path>, test_mode: bool) -> Result<Documents, LoadError> {
    let track = find(name)?;
    let Some(path) = corpus else {
        let count = if test_mode { TEST_MODE_DOCUMENTS } else { track.document_count };
        return Ok(Documents { bytes: Bytes::from((track.generate)(count)), count, skipped: 0 });
    };
    let converted = access_log::convert(path, if test_mode { TEST_MODE_DOCUMENTS } else { u64::MAX })?;
    Ok(Documents { bytes: Bytes::from(converted.ndjson), count: converted.count, skipped: converted.skipped })
}

/// Writes the track as a folder that Rally races unchanged: its files, its documents, and the 1,000 documents of test mode.
///
/// # Errors
/// As [`documents`], `NotFound` when the folder holds another track, and `Io`.
pub fn export(name: &str, corpus: Option<&Path>, folder: &Path) -> Result<(), LoadError> {
    let track = find(name)?;
    let own = track.files.iter().find(|(file, _)| *file == "track.json").map(|(_, text)| *text);
    if std::fs::read_to_string(folder.join("track.json")).is_ok_and(|present| Some(present.as_str()) != own) {
        return Err(LoadError::NotFound(format!(
            "[{}] already holds another track, which is left as it is; name another folder.",
            folder.display()
        )));
    }
    let documents = documents(name, corpus, false)?;
    let write = |file: &str, content: &[u8]| {
        let path = folder.join(file);
        let parent = path.parent().unwrap_or(folder).to_owned();
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, content))
            .map_err(|source| LoadError::Io { path, source })
    };
    for (file, text) in track.files {
        write(file, text.as_bytes())?;
    }
    write("corpus.json", corpus_json(name, &documents).as_bytes())?;
    write("documents.json", &documents.bytes)?;
    if documents.count > TEST_MODE_DOCUMENTS {
        write("documents-1k.json", first_lines(&documents.bytes, TEST_MODE_DOCUMENTS))?;
    }
    Ok(())
}

fn corpus_json(name: &str, documents: &Documents) -> String {
    let corpus = serde_json::json!({
        "name": name,
        "documents": [{
            "source-file": "documents.json",
            "document-count": documents.count,
            "uncompressed-bytes": documents.bytes.len(),
        }],
    });
    format!("{corpus:#}\n")
}

fn first_lines(ndjson: &[u8], count: u64) -> &[u8] {
    let last = memchr::memchr_iter(b'\n', ndjson)
        .nth(usize::try_from(count.saturating_sub(1)).unwrap_or(usize::MAX));
    last.map_or(ndjson, |newline| &ndjson[..=newline])
}

fn find(name: &str) -> Result<&'static BuiltIn, LoadError> {
    TRACKS.iter().find(|track| track.name == name).ok_or_else(|| {
        LoadError::NotFound(format!(
            "Unknown track [{name}]; built-in tracks: [{}]. Use --track-path for a track of your own.",
            names().collect::<Vec<_>>().join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also pins the generator: other bytes would make races of different versions incomparable.
    #[test]
    fn the_generated_documents_are_those_of_the_track() {
        let documents = documents("log_ingest", None, false).unwrap();
        let stated = files("log_ingest").unwrap().read("corpus.json").unwrap();
        let made = corpus_json("log_ingest", &documents);
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&stated), parse(&made));
        let hash = documents.bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        assert_eq!(hash, 1_282_741_673_880_477_472, "FNV-1a of the documents");
    }
}
