//! Stores races and finds them again: `<home>/.limber/benchmarks/races/<race id>/race.json`, which is Rally's
//! layout in another folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::model::Params;
use crate::notation::python_json::{self, Characters};
use crate::record::measurements::{self, Measurements};
use crate::record::race::{Race, is_timestamp};

/// Why a stored race cannot be found, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No stored race has this id.
    #[error("No race with race id [{0}]; [limber list races] shows those there are.")]
    NotFound(String),
    /// A race with this id would be overwritten.
    #[error(
        "There is a race [{0}] already. Choose another --race-id, or delete it first: limber delete race --id {0}"
    )]
    Exists(String),
    /// The newest race was requested, but the store is empty.
    #[error("No race is stored in [{}] yet; [limber race] runs one.", .0.display())]
    None(PathBuf),
    /// A shortened id matches several races.
    #[error("The id of more than one race begins with [{prefix}]: {}", ids.join(", "))]
    Ambiguous {
        /// The id as the user gave it.
        prefix: String,
        /// The ids that begin with it, sorted.
        ids: Vec<String>,
    },
    /// The file of a race exists but does not contain a race.
    #[error("[{}] is not a race: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The position at which its JSON could not be read, and why.
        reason: String,
    },
    /// The race exists, but its results come from a program with another layout.
    #[error("The results of race [{race_id}] are not in Rally's layout: {reason}")]
    Results {
        /// Id of the race.
        race_id: String,
        /// The member of the results that has another type.
        reason: String,
    },
    /// This text cannot be the id of a race, which is also the name of its folder.
    #[error("Race id [{0}] may only hold letters, digits, '-', '_' and '.'.")]
    InvalidId(String),
    /// This string, given as the first or last day of a list, is not a date.
    #[error("[{0}] is not a date of the form YYYYMMDD.")]
    InvalidDate(String),
    /// This string, given as the time of an annotation, is not a timestamp.
    #[error("[{0}] is not a race's timestamp of the form YYYYMMDDTHHMMSSZ.")]
    InvalidTimestamp(String),
    /// An error of the disk.
    #[error("[{}]: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Returns the tool's folder: `.limber` in `LIMBER_HOME` if that is set, else in the user's home; `None` if
/// neither is known.
pub fn limber_folder(limber_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let home = limber_home.filter(|path| !path.is_empty()).or(home.filter(|path| !path.is_empty()))?;
    Some(PathBuf::from(home).join(".limber"))
}

/// Whether a string can be the id of a race or a search, so that the folder of this name is directly in the
/// store's.
pub(crate) fn is_id(text: &str) -> bool {
    let allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(allowed)
}

const RACE_FILE: &str = "race.json";

/// Races stored as files.
#[derive(Debug, Clone)]
pub struct RaceStore {
    races: PathBuf,
}

/// Which races to list. A field that is `None` or empty does not filter.
#[derive(Debug, Clone, Default)]
pub struct RaceFilter {
    /// Name of the track.
    pub track: Option<String>,
    /// Name of the challenge.
    pub challenge: Option<String>,
    /// The value of the user tag `name` or `benchmark-name`.
    pub benchmark_name: Option<String>,
    /// First and last day, `YYYYMMDD`.
    pub from_date: Option<String>,
    /// Last day, `YYYYMMDD`.
    pub to_date: Option<String>,
    /// Tags that a race must have, with these values.
    pub user_tags: Params,
    /// Largest number of races; the newest are kept.
    pub limit: Option<usize>,
}

impl RaceStore {
    /// Returns the store in the tool's folder (see [`limber_folder`]).
    pub fn new(limber_folder: &Path) -> RaceStore {
        RaceStore { races: limber_folder.join("benchmarks").join("races") }
    }

    /// Returns the folder with all files of a race.
    ///
    /// # Errors
    /// `InvalidId` for ids that would lead out of the store.
    pub fn race_folder(&self, race_id: &str) -> Result<PathBuf, StoreError> {
        match is_id(race_id) {
            true => Ok(self.races.join(race_id)),
            false => Err(StoreError::InvalidId(race_id.to_owned())),
        }
    }

    /// Writes the race, replacing one with the same id, and returns the path of its file.
    ///
    /// # Errors
    /// `InvalidId`, `Io`.
    pub fn save(&self, race: &Race) -> Result<PathBuf, StoreError> {
        let folder = self.race_folder(&race.race_id)?;
        let path = folder.join(RACE_FILE);
        std::fs::create_dir_all(&folder).map_err(|source| StoreError::Io { path: folder.clone(), source })?;
        replace(&path, &python_json::pretty(race, 1, Characters::AsTheyAre))?;
        Ok(path)
    }

    /// Writes the measurements beside the race, which must have been saved before.
    ///
    /// # Errors
    /// `InvalidId`, `Io`.
    pub fn save_measurements(&self, measurements: &Measurements) -> Result<PathBuf, StoreError> {
        let path = self.race_folder(&measurements.race_id)?.join(measurements::FILE);
        replace(&path, &python_json::pretty(measurements, 1, Characters::AsTheyAre))?;
        Ok(path)
    }

    /// Reads the measurements; `None` for a race without any: one of Rally, or of an older version.
    ///
    /// # Errors
    /// `Corrupt`, `InvalidId`, `Io`.
    pub fn measurements(&self, race_id: &str) -> Result<Option<Measurements>, StoreError> {
        let path = self.race_folder(race_id)?.join(measurements::FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| StoreError::Corrupt { path, reason: error.to_string() }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Io { path, source }),
        }
    }

    /// Removes everything that is stored of a race. Returns false if there is nothing.
    ///
    /// # Errors
    /// `InvalidId`, `Io`.
    pub fn delete(&self, race_id: &str) -> Result<bool, StoreError> {
        let folder = self.race_folder(race_id)?;
        match std::fs::remove_dir_all(&folder) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(StoreError::Io { path: folder, source }),
        }
    }

    /// Whether anything of this race is stored.
    ///
    /// # Errors
    /// `InvalidId`.
    pub fn has(&self, race_id: &str) -> Result<bool, StoreError> {
        Ok(self.race_folder(race_id)?.exists())
    }

    /// Checks that no race with this id would be overwritten.
    ///
    /// # Errors
    /// `Exists`, `InvalidId`.
    pub fn check_free(&self, race_id: &str) -> Result<(), StoreError> {
        match self.race_folder(race_id)?.join(RACE_FILE).exists() {
            true => Err(StoreError::Exists(race_id.to_owned())),
            false => Ok(()),
        }
    }

    /// Returns the full id of the race that `id` names. A prefix is enough if no other id begins with it.
    ///
    /// # Errors
    /// `NotFound`, `Ambiguous`, `InvalidId`, `Io`.
    pub fn resolve(&self, id: &str) -> Result<String, StoreError> {
        if self.race_folder(id)?.join(RACE_FILE).is_file() {
            return Ok(id.to_owned());
        }
        let entries = match std::fs::read_dir(&self.races) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::NotFound(id.to_owned()));
            }
            Err(source) => return Err(StoreError::Io { path: self.races.clone(), source }),
        };
        let mut ids: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.path().join(RACE_FILE).is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|known| known.starts_with(id))
            .collect();
        ids.sort();
        match ids.as_slice() {
            [] => Err(StoreError::NotFound(id.to_owned())),
            [_] => Ok(ids.remove(0)),
            _ => Err(StoreError::Ambiguous { prefix: id.to_owned(), ids }),
        }
    }

    /// Returns the race with the latest timestamp.
    ///
    /// # Errors
    /// `None` if there is no race; `Io`.
    pub fn latest(&self) -> Result<Race, StoreError> {
        let races = self.list(&RaceFilter { limit: Some(1), ..RaceFilter::default() })?;
        races.into_iter().next().ok_or_else(|| StoreError::None(self.races.clone()))
    }

    /// # Errors
    /// `NotFound`, `Corrupt`, `InvalidId`, `Io`.
    pub fn find(&self, race_id: &str) -> Result<Race, StoreError> {
        let path = self.race_folder(race_id)?.join(RACE_FILE);
        if !path.is_file() {
            return Err(StoreError::NotFound(race_id.to_owned()));
        }
        read(&path)
    }

    /// Returns the stored races that pass the filter, newest first. Files that are not races are left out.
    ///
    /// # Errors
    /// `InvalidDate`, `Io`.
    pub fn list(&self, filter: &RaceFilter) -> Result<Vec<Race>, StoreError> {
        for date in [&filter.from_date, &filter.to_date].into_iter().flatten() {
            if date.len() != 8 || !date.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(StoreError::InvalidDate(date.clone()));
            }
        }
        let entries = match std::fs::read_dir(&self.races) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StoreError::Io { path: self.races.clone(), source }),
        };
        let mut races: Vec<Race> = entries
            .flatten()
            .filter_map(|entry| read(&entry.path().join(RACE_FILE)).ok())
            .filter(|race| is_timestamp(&race.race_timestamp) && filter.passes(race))
            .collect();
        races.sort_by(|a, b| b.race_timestamp.cmp(&a.race_timestamp).then_with(|| a.race_id.cmp(&b.race_id)));
        races.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(races)
    }
}

impl RaceFilter {
    fn passes(&self, race: &Race) -> bool {
        let equals =
            |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        let tag = |name: &str| race.user_tags.get(name).and_then(serde_json::Value::as_str);
        let day = &race.race_timestamp[..8];
        equals(&self.track, Some(&race.track))
            && equals(&self.challenge, race.challenge.as_deref())
            && (equals(&self.benchmark_name, tag("name"))
                || equals(&self.benchmark_name, tag("benchmark-name")))
            && self.from_date.as_deref().is_none_or(|from| day >= from)
            && self.to_date.as_deref().is_none_or(|to| day <= to)
            && self.user_tags.iter().all(|(key, value)| race.user_tags.get(key) == Some(value))
    }
}

fn read(path: &Path) -> Result<Race, StoreError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| StoreError::Io { path: path.to_owned(), source })?;
    serde_json::from_str(&text)
        .map_err(|error| StoreError::Corrupt { path: path.to_owned(), reason: error.to_string() })
}

/// Replaces a file atomically, so that a crash leaves the old or the new one.
pub(super) fn replace(path: &Path, text: &[u8]) -> Result<(), StoreError> {
    let part = path.with_extension("part");
    std::fs::write(&part, text)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|source| StoreError::Io { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::tests::race;

    #[test]
    fn races_by_the_beginning_of_their_id() {
        let home = tempfile::tempdir().unwrap();
        let store = RaceStore::new(home.path());
        assert!(matches!(store.resolve("a"), Err(StoreError::NotFound(_))));
        let none = store.latest().unwrap_err().to_string();
        assert!(
            none.contains(&home.path().display().to_string()) && none.contains("[limber race]"),
            "{none}"
        );
        for (id, timestamp) in
            [("ab", "20260101T000000Z"), ("abc", "20260103T000000Z"), ("b-1", "20260102T000000Z")]
        {
            store.save(&Race { race_timestamp: timestamp.into(), ..race(id, 1.0, 1.0) }).unwrap();
        }
        let resolved = |id: &str| store.resolve(id).map_err(|error| error.to_string());
        // A complete id takes precedence over one that begins with it.
        assert_eq!(
            (resolved("ab"), resolved("abc"), resolved("b")),
            (Ok("ab".into()), Ok("abc".into()), Ok("b-1".into()))
        );
        assert!(resolved("a").unwrap_err().contains("[a]: ab, abc"));
        assert_eq!(store.latest().unwrap().race_id, "abc");
        assert!(store.check_free("x").is_ok());
        assert!(store.check_free("ab").unwrap_err().to_string().contains("limber delete race --id ab"));
    }
}
