//! Why a track could not be loaded, grouped by who can correct it.

use std::path::{Path, PathBuf};

use crate::model::InvalidTask;
use crate::track::plugin::PluginError;

/// Why a track cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The path or name of the track does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The track's author has to correct it; Rally refuses the track too.
    #[error("{0}")]
    TrackInvalid(String),
    /// The user gave parameters or filters that cannot be applied.
    #[error("{0}")]
    Parameters(String),
    /// The track has no challenge of this name.
    #[error("Unknown challenge [{challenge}] for track [{track}]; it has [{}]", known.join(", "))]
    UnknownChallenge {
        /// The name that was asked for.
        challenge: String,
        /// Name of the track.
        track: String,
        /// Names of the challenges that the track has, in its order.
        known: Vec<String>,
    },
    /// Documents are missing, or are not those that the track describes.
    #[error("{0}")]
    Documents(String),
    /// Rally can run this, but this tool cannot yet.
    #[error("{0}")]
    NotSupported(String),
    /// The track's `track.py` cannot be used.
    #[error("the track's plugin [track.py] cannot be used: {0}")]
    Plugin(PluginError),
    /// An error of the disk.
    #[error("[{}]: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl LoadError {
    pub(crate) fn invalid(reason: String) -> LoadError {
        LoadError::TrackInvalid(reason)
    }

    /// Adds the path to an I/O error, for `map_err`.
    pub(crate) fn at(path: &Path) -> impl Fn(std::io::Error) -> LoadError {
        let path = path.to_owned();
        move |source| LoadError::Io { path: path.clone(), source }
    }
}

impl From<PluginError> for LoadError {
    fn from(error: PluginError) -> LoadError {
        match error {
            PluginError::Track(reason) => LoadError::TrackInvalid(reason),
            error => LoadError::Plugin(error),
        }
    }
}

impl From<InvalidTask> for LoadError {
    fn from(error: InvalidTask) -> LoadError {
        LoadError::TrackInvalid(error.0)
    }
}
