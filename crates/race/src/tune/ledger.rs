//! Records every race of a search, one line each, so that an interrupted search can be resumed.
//!
//! The files in `<home>/.limber/benchmarks/tunes/<id>/` are `experiment.json` (with values resolved),
//! `trials.ndjson` (appended after each race), `report.md` and `tradeoff.svg` (written at the end). The
//! search itself is deterministic, so it is resumed by replaying: it gets the recorded outcomes in order,
//! then races begin.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::halving::Outcome;
use crate::error::Error;
use crate::record::store::is_id;

/// One line of `trials.ndjson`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub candidate: usize,
    pub settings: Map<String, Value>,
    /// Absent when the race failed before it had an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<f64>,
    #[serde(default)]
    pub is_within_bounds: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Entry {
    pub(super) fn new(
        candidate: usize,
        settings: Map<String, Value>,
        race_id: Option<String>,
        outcome: &Outcome,
    ) -> Entry {
        let mut entry = Entry {
            candidate,
            settings,
            race_id,
            goal: None,
            memory_bytes: None,
            is_within_bounds: false,
            failure: None,
        };
        match outcome {
            Outcome::Measured { goal, memory_bytes, is_within_bounds } => {
                (entry.goal, entry.memory_bytes, entry.is_within_bounds) =
                    (Some(*goal), *memory_bytes, *is_within_bounds);
            }
            Outcome::Failed(reason) => entry.failure = Some(reason.clone()),
        }
        entry
    }

    pub(super) fn outcome(&self) -> Outcome {
        match (self.goal, &self.failure) {
            (Some(goal), None) => Outcome::Measured {
                goal,
                memory_bytes: self.memory_bytes,
                is_within_bounds: self.is_within_bounds,
            },
            (_, failure) => Outcome::Failed(failure.clone().unwrap_or_default()),
        }
    }
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { path: path.clone(), source }
}

/// The folder of one search.
#[derive(Debug)]
pub(super) struct Ledger {
    folder: PathBuf,
    entries: Vec<Entry>,
}

impl Ledger {
    /// Opens the folder of search `id` in the tool's folder, which may be new or have recorded races.
    ///
    /// # Errors
    /// `Argument` for an id that is not a plain name, I/O errors, lines that cannot be read (except an
    /// incomplete last one, which is removed).
    pub(super) fn open(limber_folder: &Path, id: &str) -> Result<Ledger, Error> {
        if !is_id(id) {
            return Err(Error::Argument(format!(
                "[{id}] is not an id: use letters, digits, '-', '_' and '.'"
            )));
        }
        let folder = limber_folder.join("benchmarks").join("tunes").join(id);
        std::fs::create_dir_all(&folder).map_err(at(&folder))?;
        let mut ledger = Ledger { folder, entries: Vec::new() };
        let text = match std::fs::read_to_string(ledger.trials()) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(ledger),
            Err(error) => return Err(at(&ledger.trials())(error)),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        for (number, line) in text[..whole].lines().enumerate() {
            let entry = serde_json::from_str(line).map_err(|error| {
                Error::Argument(format!("{}, line {}: {error}", ledger.trials().display(), number + 1))
            })?;
            ledger.entries.push(entry);
        }
        if whole < text.len() {
            std::fs::write(ledger.trials(), &text[..whole]).map_err(at(&ledger.trials()))?;
        }
        Ok(ledger)
    }

    fn trials(&self) -> PathBuf {
        self.folder.join("trials.ndjson")
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn recorded(&self) -> &[Entry] {
        &self.entries
    }

    /// # Errors
    /// I/O errors. The race itself is already stored among the races.
    pub(super) fn append(&mut self, entry: Entry) -> Result<(), Error> {
        let mut line = serde_json::to_string(&entry).expect("an entry holds only texts, numbers and objects");
        line.push('\n');
        let trials = self.trials();
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&trials);
        file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(at(&trials))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Returns the experiment with which the search began; `None` for a new folder.
    ///
    /// # Errors
    /// I/O errors, a file that is not JSON.
    pub(super) fn experiment(&self) -> Result<Option<Value>, Error> {
        let path = self.folder.join("experiment.json");
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| Error::Argument(format!("[{}]: {error}", path.display()))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at(&path)(error)),
        }
    }

    /// Writes one of the other files of the search.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(at(&path))?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_raced_is_known_again() {
        let home = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(home.path(), "t1").unwrap();
        let measured = Outcome::Measured { goal: 4.5, memory_bytes: None, is_within_bounds: true };
        let failed = Outcome::Failed("no heap".into());
        ledger.append(Entry::new(0, Map::new(), Some("r1".into()), &measured)).unwrap();
        ledger.append(Entry::new(3, Map::new(), None, &failed)).unwrap();
        // This line was being written when the machine crashed.
        let file = home.path().join("benchmarks/tunes/t1/trials.ndjson");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{text}{{\"candi")).unwrap();

        let again = Ledger::open(home.path(), "t1").unwrap();
        let outcomes: Vec<Outcome> = again.recorded().iter().map(Entry::outcome).collect();
        assert_eq!(outcomes, [measured, failed]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        assert!(Ledger::open(home.path(), "../x").is_err());
        std::fs::write(&file, "{}\nx\n").unwrap();
        assert!(Ledger::open(home.path(), "t1").unwrap_err().to_string().contains("line 1"));
    }
}
