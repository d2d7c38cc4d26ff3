//! The tracks that come with the binary, with their files and documents.

use std::path::Path;

use bytes::Bytes;

use super::{access_log, events, generator};
use crate::model::TEST_MODE_DOCUMENTS;
use crate::track::track_files::LoadError;
use crate::track::track_files::files::{TrackFiles, write_below};

/// A track that comes with the binary.
struct BuiltIn {
    name: &'static str,
    /// Pairs of name and contents, one for each file of its folder.
    files: &'static [(&'static str, &'static str)],
    corpora: &'static [Generated],
    /// Whether `--corpus` may replace the track's only corpus.
    takes_logs: bool,
}

/// A corpus that is generated instead of downloaded.
struct Generated {
    name: &'static str,
    /// File of the track's folder that declares the corpus.
    declared_in: &'static str,
    /// File name in the declaration.
    file: &'static str,
    document_count: u64,
    includes_action_and_meta_data: bool,
    /// Generates the first documents, as many as the argument says, as NDJSON.
    generate: fn(u64) -> Vec<u8>,
}

macro_rules! track_files {
    ($track:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../../../tracks/", $track, "/", $file)))),+]
    };
}

const TRACKS: &[BuiltIn] = &[
    BuiltIn {
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
        corpora: &[Generated {
            name: "log_ingest",
            declared_in: "corpus.json",
            file: "documents.json",
            document_count: 100_000,
            includes_action_and_meta_data: false,
            generate: generator::entries,
        }],
        takes_logs: true,
    },
    BuiltIn {
        name: "segment_memory",
        files: track_files!("segment_memory":
            "track.json",
            "track.py",
            "index.json",
            "searches.json",
            "challenges.json",
            "README.md",
            "corpora/events.json",
            "corpora/updates.json",
        ),
        corpora: &[
            Generated {
                name: "events",
                declared_in: "corpora/events.json",
                file: "documents.json",
                document_count: events::EVENTS,
                includes_action_and_meta_data: true,
                generate: events::events,
            },
            Generated {
                name: "updates",
                declared_in: "corpora/updates.json",
                file: "updates.json",
                document_count: 100_000,
                includes_action_and_meta_data: true,
                generate: events::updates,
            },
        ],
        takes_logs: false,
    },
];

/// Documents of a built-in track's corpus.
#[derive(Debug)]
pub(crate) struct Documents {
    /// NDJSON; every line ends with a line feed.
    pub bytes: Bytes,
    pub count: u64,
    /// Lines of the user's file that could not be read as log entries.
    pub skipped: u64,
}

/// Returns the names of the built-in tracks.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TRACKS.iter().map(|track| track.name)
}

/// Returns the track's files.
///
/// # Errors
/// `NotFound`, with the names of the built-in tracks.
pub(crate) fn files(name: &str) -> Result<TrackFiles, LoadError> {
    Ok(TrackFiles::Embedded(find(name)?.files))
}

/// Returns the documents of the track's corpus `corpus`: generated, or converted from the user's own file. In
/// test mode there are at most 1,000.
///
/// # Errors
/// `NotFound` with the names of the built-in tracks, `NotSupported` when the track does not take the user's
/// documents, and the errors of [`access_log::convert`].
pub(crate) fn documents(
    track: &str,
    corpus: &str,
    own: Option<&Path>,
    test_mode: bool,
) -> Result<Documents, LoadError> {
    let track = find(track)?;
    let corpus = track.corpora.iter().find(|one| one.name == corpus).ok_or_else(|| {
        LoadError::NotFound(format!("The track [{}] has no generated corpus [{corpus}].", track.name))
    })?;
    made(track, corpus, own, test_mode)
}

fn made(
    track: &BuiltIn,
    corpus: &Generated,
    own: Option<&Path>,
    test_mode: bool,
) -> Result<Documents, LoadError> {
    let Some(path) = own else {
        let count = if test_mode { TEST_MODE_DOCUMENTS } else { corpus.document_count };
        return Ok(Documents { bytes: Bytes::from((corpus.generate)(count)), count, skipped: 0 });
    };
    if !track.takes_logs {
        return Err(LoadError::NotSupported(format!(
            "the track [{}] needs its own documents; --corpus goes with log_ingest",
            track.name
        )));
    }
    let converted = access_log::convert(path, if test_mode { TEST_MODE_DOCUMENTS } else { u64::MAX })?;
    Ok(Documents { bytes: Bytes::from(converted.ndjson), count: converted.count, skipped: converted.skipped })
}

/// Writes the track as a folder that Rally can race unchanged: its files, its documents, and the 1,000
/// documents of test mode.
///
/// # Errors
/// Those of [`documents`], `NotFound` when the folder holds another track, and `Io`.
pub(crate) fn export(name: &str, corpus: Option<&Path>, folder: &Path) -> Result<(), LoadError> {
    let track = find(name)?;
    let own = track.files.iter().find(|(file, _)| *file == "track.json").map(|(_, text)| *text);
    if std::fs::read_to_string(folder.join("track.json")).is_ok_and(|present| Some(present.as_str()) != own) {
        return Err(LoadError::NotFound(format!(
            "[{}] already holds another track, which is left as it is; name another folder.",
            folder.display()
        )));
    }
    let documents: Vec<Documents> =
        track.corpora.iter().map(|one| made(track, one, corpus, false)).collect::<Result<_, _>>()?;
    for (file, text) in track.files {
        write_below(folder, file, text.as_bytes())?;
    }
    for (corpus, documents) in track.corpora.iter().zip(&documents) {
        write_below(folder, corpus.declared_in, corpus_json(corpus, documents).as_bytes())?;
        write_below(folder, corpus.file, &documents.bytes)?;
        if documents.count > TEST_MODE_DOCUMENTS {
            let lines = TEST_MODE_DOCUMENTS * if corpus.includes_action_and_meta_data { 2 } else { 1 };
            write_below(
                folder,
                &corpus.file.replace(".json", "-1k.json"),
                first_lines(&documents.bytes, lines),
            )?;
        }
    }
    Ok(())
}

fn corpus_json(corpus: &Generated, documents: &Documents) -> String {
    let mut set = serde_json::json!({
        "source-file": corpus.file,
        "document-count": documents.count,
        "uncompressed-bytes": documents.bytes.len(),
    });
    if corpus.includes_action_and_meta_data {
        set["includes-action-and-meta-data"] = true.into();
    }
    format!("{:#}\n", serde_json::json!({ "name": corpus.name, "documents": [set] }))
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

    fn fnv1a(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Also pins the generator: if its bytes changed, races of different versions could not be compared.
    #[test]
    fn the_generated_documents_are_those_of_the_track() {
        let documents = documents("log_ingest", "log_ingest", None, false).unwrap();
        let stated = files("log_ingest").unwrap().read("corpus.json").unwrap();
        let made = corpus_json(&find("log_ingest").unwrap().corpora[0], &documents);
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&stated), parse(&made));
        assert_eq!(fnv1a(&documents.bytes), 1_282_741_673_880_477_472);
    }

    /// Checks the same for corpora that are too large for a test to generate in full.
    #[test]
    fn declared_corpora_are_generated_ones() {
        for track in TRACKS {
            for corpus in track.corpora {
                let stated = files(track.name).unwrap().read(corpus.declared_in).unwrap();
                let stated: serde_json::Value = serde_json::from_str(&stated).unwrap();
                let set = &stated["documents"][0];
                assert_eq!(stated["name"], corpus.name);
                assert_eq!(set["source-file"], corpus.file);
                assert_eq!(set["document-count"], corpus.document_count);
                let has_actions = set["includes-action-and-meta-data"] == true;
                assert_eq!(has_actions, corpus.includes_action_and_meta_data);
            }
        }
        let first = |corpus| fnv1a(&documents("segment_memory", corpus, None, true).unwrap().bytes);
        assert_eq!(
            (first("events"), first("updates")),
            (774_653_566_361_539_557, 11_376_215_786_379_365_472)
        );
    }

    #[test]
    fn only_a_track_of_logs_takes_logs() {
        let error = documents("segment_memory", "events", Some(Path::new("access.log")), false).unwrap_err();
        assert!(error.to_string().contains("--corpus goes with log_ingest"), "{error}");
    }
}
