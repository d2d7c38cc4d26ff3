//! The progress of an interrupted import, kept in `<home>/.limber/imports/`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use limber_codec::hex::hex;
use limber_race::limber_folder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The progress of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Source and target, for people who read the file.
    pub of: String,
    /// Files or indices that are done, in order.
    #[serde(default)]
    pub units: Vec<String>,
    /// Number of records of the next file that are done; `fingerprint` identifies that file.
    #[serde(default)]
    pub records: u64,
    #[serde(default)]
    pub fingerprint: String,
}

/// The file that contains the progress.
#[derive(Debug, Clone)]
pub struct StateFile {
    path: Option<PathBuf>,
}

impl StateFile {
    /// `of` identifies the import. Without a home folder nothing is kept.
    pub fn new(of: &str) -> StateFile {
        let folder = limber_folder(std::env::var_os("LIMBER_HOME"), std::env::var_os("HOME"));
        let name = hex(&Sha256::digest(of)[..8]);
        StateFile { path: folder.map(|folder| folder.join("imports").join(format!("{name}.json"))) }
    }

    /// Reads the progress. `None` if there is nothing to resume.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self) -> Result<Option<Done>> {
        let Some(path) = &self.path else { return Ok(None) };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let done = serde_json::from_str(&text);
        done.map(Some)
            .with_context(|| format!("{} is damaged; --restart starts from the beginning", path.display()))
    }

    /// Saves the progress.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, done: &Done) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let write = |path: &Path| -> std::io::Result<()> {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let part = path.with_extension("part");
            std::fs::write(&part, serde_json::to_vec(done)?)?;
            std::fs::rename(part, path)
        };
        write(path).with_context(|| format!("cannot store the progress of the import in {}", path.display()))
    }

    /// Removes the file, because the import is complete.
    pub fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}
