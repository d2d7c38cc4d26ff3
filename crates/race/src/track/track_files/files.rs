//! Reads the files of a track.
//!
//! A track is a folder on disk, or a set of files compiled into the binary. Only this module distinguishes
//! the two.

use std::path::{Component, Path, PathBuf};

use crate::track::track_files::LoadError;

/// The location of a track's own files (not its corpora).
#[derive(Debug, Clone)]
pub(crate) enum TrackFiles {
    /// A folder; file names are relative to it.
    Folder(PathBuf),
    /// `(file name, text)` pairs of a built-in track.
    Embedded(&'static [(&'static str, &'static str)]),
}

/// Returns `path` with `suffix` appended to its name.
pub(crate) fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from([path.as_os_str(), suffix.as_ref()].join("".as_ref()))
}

/// Writes a file in a folder, and creates the folders between them.
///
/// # Errors
/// `Io`.
pub(crate) fn write_below(folder: &Path, name: &str, content: &[u8]) -> Result<(), LoadError> {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap_or(folder))
        .and_then(|()| std::fs::write(&path, content))
        .map_err(LoadError::at(&path))
}

impl TrackFiles {
    /// Returns the contents of `name`, a path relative to the track's folder. As in Rally it may lead to a
    /// folder beside the track (`../shared/x.json`). Absolute paths are refused.
    ///
    /// # Errors
    /// `TrackInvalid` for an absolute path, `Io` when the file cannot be read.
    pub(crate) fn read(&self, name: &str) -> Result<String, LoadError> {
        if Path::new(name).is_absolute() {
            return Err(LoadError::invalid(format!(
                "the file name [{name}] must be relative to the track's folder"
            )));
        }
        match self {
            TrackFiles::Folder(root) => {
                let path = root.join(name);
                std::fs::read_to_string(&path).map_err(LoadError::at(&path))
            }
            TrackFiles::Embedded(files) => files
                .iter()
                .find(|(file, _)| Some(PathBuf::from(file)) == inside(name))
                .map(|(_, text)| (*text).to_owned())
                .ok_or_else(|| LoadError::Io {
                    path: PathBuf::from(name),
                    source: std::io::Error::from(std::io::ErrorKind::NotFound),
                }),
        }
    }

    /// Reads like [`read`](Self::read), but only paths inside the track's folder, which is what Jinja's own
    /// `include` may reach.
    ///
    /// # Errors
    /// `TrackInvalid` for a path that leads out of the folder, `Io`.
    pub(crate) fn read_inside(&self, name: &str) -> Result<String, LoadError> {
        match inside(name) {
            Some(_) => self.read(name),
            None => {
                Err(LoadError::invalid(format!("the file name [{name}] leads out of the track's folder")))
            }
        }
    }

    /// Whether the track has a file with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            TrackFiles::Folder(root) => root.join(name).is_file(),
            TrackFiles::Embedded(files) => files.iter().any(|(file, _)| *file == name),
        }
    }

    /// Returns the names (relative, sorted) of the files that match a shell pattern relative to the track's
    /// folder; empty if none matches.
    pub(crate) fn glob(&self, pattern: &str) -> Vec<String> {
        match self {
            TrackFiles::Folder(root) => {
                // The folder's own name may contain characters that are special in patterns.
                let full = format!("{}/{pattern}", glob::Pattern::escape(&root.to_string_lossy()));
                let Ok(paths) = glob::glob(&full) else { return Vec::new() };
                let mut names: Vec<String> = paths
                    .flatten()
                    .filter(|path| path.is_file())
                    .filter_map(|path| Some(path.strip_prefix(root).ok()?.to_str()?.to_owned()))
                    .collect();
                names.sort();
                names
            }
            TrackFiles::Embedded(files) => {
                let Ok(pattern) = glob::Pattern::new(pattern) else { return Vec::new() };
                let as_in_a_folder =
                    glob::MatchOptions { require_literal_separator: true, ..Default::default() };
                let mut names: Vec<String> = files
                    .iter()
                    .filter(|(file, _)| pattern.matches_with(file, as_in_a_folder))
                    .map(|(file, _)| (*file).to_owned())
                    .collect();
                names.sort();
                names
            }
        }
    }
}

/// Returns `name` without `.` and `..`; `None` if it is absolute or leads above its start.
fn inside(name: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_folder() {
        for (name, expected) in [
            ("track.json", Some("track.json")),
            ("a/../b.json", Some("b.json")),
            ("./a/./b", Some("a/b")),
            ("../secret", None),
            ("a/../../secret", None),
            ("/etc/passwd", None),
        ] {
            assert_eq!(inside(name), expected.map(PathBuf::from), "{name}");
        }
    }

    #[test]
    fn folders_beside_the_track_are_reached_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["track", "shared"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("shared/a.json"), "a").unwrap();
        let files = TrackFiles::Folder(folder.path().join("track"));
        assert_eq!(files.glob("../shared/*.json"), ["../shared/a.json"]);
        assert_eq!(files.read("../shared/a.json").unwrap(), "a");
        assert!(files.read_inside("../shared/a.json").is_err());
        assert!(files.read("/etc/hostname").is_err());
    }

    #[test]
    fn embedded_files_are_found_by_pattern() {
        let files = TrackFiles::Embedded(&[
            ("track.json", "{}"),
            ("operations/b.json", "b"),
            ("operations/a.json", "a"),
            ("operations/x/y.json", "y"),
        ]);
        assert_eq!(files.glob("operations/*.json"), ["operations/a.json", "operations/b.json"]);
        assert_eq!(files.read("operations/a.json").unwrap(), "a");
        assert!(files.read("operations/c.json").is_err());
    }
}
