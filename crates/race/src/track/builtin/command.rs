//! `limber export-track`: writes a built-in track as a folder that Rally can race unchanged.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::catalog;
use crate::track::track_files::LoadError;

/// Write a built-in track with its documents to a folder, for Rally or as a start for your own track
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  limber export-track log_ingest
  limber export-track log_ingest --corpus access.log.gz ./my_logs
  esrally race --track-path=./log_ingest --pipeline=benchmark-only --target-hosts=127.0.0.1:9200 --offline")]
pub struct ExportCommand {
    /// Name of the track (see limber list tracks)
    pub track: String,
    /// Folder to write into, created when absent [default: the track's name]
    pub folder: Option<PathBuf>,
    /// Your own access log or NDJSON file instead of the generated documents
    #[arg(long, value_name = "FILE")]
    pub corpus: Option<PathBuf>,
}

impl ExportCommand {
    /// Writes the folder and prints where it is.
    ///
    /// # Errors
    /// Those of [`catalog::export`].
    pub fn run(&self, out: &mut dyn Write) -> Result<(), LoadError> {
        let folder = self.folder.clone().unwrap_or_else(|| PathBuf::from(&self.track));
        catalog::export(&self.track, self.corpus.as_deref(), &folder)?;
        // The folder has been written, so a closed pipe is not an error.
        let _ = writeln!(out, "Track [{}] is in [{}].", self.track, folder.display());
        Ok(())
    }
}
