//! The exact subject of a race (documents, tasks and mode), which Rally's `race.json` does not contain, and
//! whether two races had the same subject.

use serde::{Deserialize, Serialize};

use crate::model::{Corpus, Track};
use crate::notation::shown;
use crate::record::race::Race;
use crate::track::load::{TrackSource, TrackSpec};

/// The part of a track that a race used. It is in `race.json` beside Rally's own keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Scope {
    pub test_mode: bool,
    /// Whether the user interrupted the race before its schedule ended.
    #[serde(skip_serializing_if = "is_false")]
    pub interrupted: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include_tasks: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_tasks: Vec<String>,
    pub corpora: Vec<RacedCorpus>,
}

/// The documents of one corpus of the track.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RacedCorpus {
    pub name: String,
    /// The user's own file (`--corpus`), or the names of the track's data files.
    pub files: Vec<String>,
    pub document_count: u64,
    /// `None` if the track does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Scope {
    /// `track` was loaded with `spec`.
    pub fn of(spec: &TrackSpec, track: &Track) -> Scope {
        let own = match &spec.source {
            TrackSource::BuiltIn { corpus: Some(path), .. } => Some(path.display().to_string()),
            _ => None,
        };
        Scope {
            test_mode: spec.test_mode,
            interrupted: false,
            include_tasks: spec.include_tasks.clone(),
            exclude_tasks: spec.exclude_tasks.clone(),
            corpora: track.corpora.iter().map(|corpus| RacedCorpus::of(corpus, own.as_deref())).collect(),
        }
    }

    /// Returns pairs of `name` and `value` as strings.
    pub fn described(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = self
            .corpora
            .iter()
            .map(|corpus| (format!("corpus {}", corpus.name), corpus.to_string()))
            .collect();
        all.push(("only tasks".to_owned(), self.include_tasks.join(", ")));
        all.push(("without tasks".to_owned(), self.exclude_tasks.join(", ")));
        all.push(("test mode".to_owned(), yes_or_no(self.test_mode).to_owned()));
        if self.interrupted {
            all.push(("interrupted".to_owned(), yes_or_no(true).to_owned()));
        }
        all
    }
}

impl RacedCorpus {
    fn of(corpus: &Corpus, own: Option<&str>) -> RacedCorpus {
        let sets = &corpus.documents;
        RacedCorpus {
            name: corpus.name.clone(),
            files: match own {
                Some(own) => vec![own.to_owned()],
                None => sets.iter().map(|set| set.file.clone()).collect(),
            },
            document_count: sets.iter().map(|set| set.number_of_documents).sum(),
            bytes: sets.iter().map(|set| set.uncompressed_size_bytes).sum(),
        }
    }
}

impl std::fmt::Display for RacedCorpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} documents", shown::grouped(self.document_count as f64))?;
        if let Some(bytes) = self.bytes {
            write!(f, ", {}", shown::bytes(bytes as f64))?;
        }
        match self.files.as_slice() {
            [] => Ok(()),
            [file] => write!(f, " ({file})"),
            files => write!(f, " ({} files)", files.len()),
        }
    }
}

fn yes_or_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

/// Returns why two races did not race the same, one line per reason: differences in what was raced, not how.
/// Only known values are compared; what one race does not record (races of Rally, or of older versions) is no
/// difference.
pub(crate) fn differences(one: &Race, other: &Race) -> Vec<String> {
    let mut lines = Vec::new();
    let mut compare = |what: &str, one: &str, other: &str| {
        if one != other {
            let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
            lines.push(format!("{what}: {} against {}", or_none(one), or_none(other)));
        }
    };
    let challenge = |race: &Race| race.challenge.clone().unwrap_or_default();
    compare("track", &one.track, &other.track);
    compare("challenge", &challenge(one), &challenge(other));
    let (Some(one), Some(other)) = (&one.scope, &other.scope) else { return lines };
    compare("test mode", yes_or_no(one.test_mode), yes_or_no(other.test_mode));
    compare("interrupted", yes_or_no(one.interrupted), yes_or_no(other.interrupted));
    compare("only tasks", &one.include_tasks.join(", "), &other.include_tasks.join(", "));
    compare("without tasks", &one.exclude_tasks.join(", "), &other.exclude_tasks.join(", "));
    let names = one.corpora.iter().chain(&other.corpora).map(|corpus| corpus.name.as_str());
    for name in shown::distinct(names) {
        let of = |scope: &Scope| {
            scope
                .corpora
                .iter()
                .find(|corpus| corpus.name == name)
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        compare(&format!("documents of corpus [{name}]"), &of(one), &of(other));
    }
    lines
}

/// Returns [`differences`] of each other race to the first, each line once.
pub(crate) fn differences_of_all<'a>(races: impl Iterator<Item = &'a Race>) -> Vec<String> {
    let mut races = races;
    let Some(first) = races.next() else { return Vec::new() };
    let mut lines: Vec<String> = Vec::new();
    for line in races.flat_map(|race| differences(first, race)) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::tests::race;

    fn of(documents: u64, test_mode: bool) -> Race {
        let corpora = vec![RacedCorpus {
            name: "logs".into(),
            files: vec!["access.log".into()],
            document_count: documents,
            bytes: Some(documents * 100),
        }];
        Race { scope: Some(Scope { test_mode, corpora, ..Scope::default() }), ..race("a", 1.0, 1.0) }
    }

    #[test]
    fn unlike_races_are_told() {
        assert!(differences(&of(5000, false), &of(5000, false)).is_empty());
        assert_eq!(
            differences(&of(5000, false), &of(1000, true)),
            [
                "test mode: no against yes",
                "documents of corpus [logs]: 5,000 documents, 488 KiB (access.log) against 1,000 documents, 97.7 KiB (access.log)"
            ]
        );
        // A race of an older version, or of Rally, records none of this.
        assert!(differences(&of(5000, false), &race("b", 1.0, 1.0)).is_empty());
        let other = Race { track: "other".into(), ..of(5000, false) };
        assert_eq!(differences_of_all([&of(5000, false), &other, &other].into_iter()).len(), 1);
    }

    #[test]
    fn kept_in_rallys_file() {
        let text = serde_json::to_string(&of(7, false)).unwrap();
        assert!(
            text.contains(r#""scope":{"test-mode":false,"corpora":[{"name":"logs","files":["access.log"],"document-count":7,"bytes":700}]}"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Race>(&text).unwrap(), of(7, false));
    }
}
