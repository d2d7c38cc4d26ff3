//! Notes on points in time, which dashboards of races show.
//!
//! Rally keeps them only in the index `rally-annotations` of its metrics store. Here they are in a file
//! beside the races, one JSON object per line with the same fields.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::record::race::is_timestamp;
use crate::record::store::{StoreError, replace};

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Annotation {
    pub id: String,
    pub environment: String,
    /// Midnight of the day, `20261122T000000Z`, which is where charts of nightly races have their points.
    pub race_timestamp: String,
    /// `None` for all tracks. The chart's type and name work the same way.
    pub track: Option<String>,
    pub chart: Option<String>,
    pub chart_name: Option<String>,
    pub message: String,
}

/// Which annotations to list. A field that is `None` does not filter.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnnotationFilter {
    pub track: Option<String>,
    /// First and last day, `YYYYMMDD`.
    pub from_date: Option<String>,
    pub to_date: Option<String>,
    pub limit: Option<usize>,
}

/// Annotations in a file.
#[derive(Debug, Clone)]
pub(crate) struct AnnotationStore {
    file: PathBuf,
}

/// Returns the midnight of a race's day.
///
/// # Errors
/// `InvalidTimestamp` for a string that does not have the form `20261122T070830Z`.
pub(crate) fn midnight(race_timestamp: &str) -> Result<String, StoreError> {
    let day = race_timestamp.get(..8).filter(|_| is_timestamp(race_timestamp));
    match day.and_then(|day| jiff::civil::Date::strptime("%Y%m%d", day).ok()) {
        Some(day) => Ok(day.strftime("%Y%m%dT000000Z").to_string()),
        None => Err(StoreError::InvalidTimestamp(race_timestamp.to_owned())),
    }
}

impl AnnotationStore {
    /// Returns the store in the tool's folder.
    pub(crate) fn new(limber_folder: &Path) -> AnnotationStore {
        AnnotationStore { file: limber_folder.join("benchmarks").join("annotations.ndjson") }
    }

    /// # Errors
    /// `Io`, `Corrupt`.
    pub(crate) fn add(&self, annotation: Annotation) -> Result<(), StoreError> {
        let mut all = self.read()?;
        all.push(annotation);
        self.write(&all)
    }

    /// Removes the annotation with this id. Returns false if there is none.
    ///
    /// # Errors
    /// `Io`, `Corrupt`.
    pub(crate) fn delete(&self, id: &str) -> Result<bool, StoreError> {
        let mut all = self.read()?;
        let before = all.len();
        all.retain(|annotation| annotation.id != id);
        if all.len() == before {
            return Ok(false);
        }
        self.write(&all).map(|()| true)
    }

    /// Whether there is an annotation with this id.
    ///
    /// # Errors
    /// `Io`, `Corrupt`.
    pub(crate) fn has(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.read()?.iter().any(|annotation| annotation.id == id))
    }

    /// Returns the annotations, newest first, then by track and chart. Those for all tracks or charts come
    /// last.
    ///
    /// # Errors
    /// `Io`, `Corrupt`.
    pub(crate) fn list(&self, filter: &AnnotationFilter) -> Result<Vec<Annotation>, StoreError> {
        let mut found = self.read()?;
        found.retain(|annotation| {
            let day = annotation.race_timestamp.get(..8).unwrap_or_default();
            (filter.track.is_none() || filter.track == annotation.track)
                && filter.from_date.as_deref().is_none_or(|from| day >= from)
                && filter.to_date.as_deref().is_none_or(|to| day <= to)
        });
        fn none_last(text: &Option<String>) -> (bool, Option<&str>) {
            (text.is_none(), text.as_deref())
        }
        found.sort_by(|a, b| {
            let by_time = b.race_timestamp.cmp(&a.race_timestamp);
            by_time
                .then_with(|| none_last(&a.track).cmp(&none_last(&b.track)))
                .then_with(|| none_last(&a.chart).cmp(&none_last(&b.chart)))
        });
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    fn read(&self) -> Result<Vec<Annotation>, StoreError> {
        let text = match std::fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StoreError::Io { path: self.file.clone(), source }),
        };
        let corrupt = |error: serde_json::Error| StoreError::Corrupt {
            path: self.file.clone(),
            reason: error.to_string(),
        };
        text.lines().map(|line| serde_json::from_str(line).map_err(corrupt)).collect()
    }

    fn write(&self, annotations: &[Annotation]) -> Result<(), StoreError> {
        let lines: String =
            annotations.iter().map(|annotation| format!("{}\n", serde_json::json!(annotation))).collect();
        let folder = self.file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .map_err(|source| StoreError::Io { path: folder.to_owned(), source })?;
        replace(&self.file, lines.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(id: &str, day: &str, track: Option<&str>) -> Annotation {
        Annotation {
            id: id.into(),
            environment: "local".into(),
            race_timestamp: midnight(&format!("{day}T070830Z")).unwrap(),
            track: track.map(str::to_owned),
            chart: None,
            chart_name: None,
            message: format!("message of {id}"),
        }
    }

    #[test]
    fn annotations_are_kept_listed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = AnnotationStore::new(folder.path());
        assert_eq!(store.list(&AnnotationFilter::default()).unwrap(), []);
        for (id, day, track) in [
            ("a", "20261120", None),
            ("b", "20261122", None),
            ("c", "20261122", Some("geonames")),
            ("d", "20261121", Some("pmc")),
        ] {
            store.add(annotation(id, day, track)).unwrap();
        }
        let check = |filter: AnnotationFilter, expected: &[&str]| {
            let found = store.list(&filter).unwrap();
            assert_eq!(found.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), expected, "{filter:?}");
        };
        check(AnnotationFilter::default(), &["c", "b", "d", "a"]);
        check(AnnotationFilter { limit: Some(2), ..AnnotationFilter::default() }, &["c", "b"]);
        check(AnnotationFilter { track: Some("pmc".into()), ..AnnotationFilter::default() }, &["d"]);
        let days = AnnotationFilter {
            from_date: Some("20261121".into()),
            to_date: Some("20261121".into()),
            ..AnnotationFilter::default()
        };
        check(days, &["d"]);
        assert!(store.delete("b").unwrap());
        assert!(!store.delete("b").unwrap());
        check(AnnotationFilter::default(), &["c", "d", "a"]);
    }

    #[test]
    fn timestamps_become_midnights() {
        assert_eq!(midnight("20261122T235959Z").unwrap(), "20261122T000000Z");
        for wrong in ["2026-11-22", "20261399T000000Z", "", "20261122T0000"] {
            assert!(midnight(wrong).unwrap_err().to_string().contains("YYYYMMDDTHHMMSSZ"), "{wrong}");
        }
    }
}
