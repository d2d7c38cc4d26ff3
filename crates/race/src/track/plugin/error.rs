//! What can go wrong on the Python side of a track.

use crate::model::InvalidTask;

/// Errors of the Python side of a track.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PluginError {
    /// There is no Python, or none that works.
    #[error("{0}")]
    Python(String),
    /// The plugin raised an exception. The lines of its own code that led there are included.
    #[error("{error}{}", shown(traceback))]
    Raised {
        /// The exception's type and message, as Python prints them.
        error: String,
        /// Lines of the plugin, the innermost last; empty if the exception came from elsewhere.
        traceback: String,
    },
    /// The result of a track processor is not a valid track, or the plugin names more units than are kept.
    #[error("{0}")]
    Track(String),
    /// The process ended, or does not answer.
    #[error("{0}")]
    Ended(String),
}

fn shown(traceback: &str) -> String {
    match traceback {
        "" => String::new(),
        lines => format!("\n{lines}"),
    }
}

impl From<InvalidTask> for PluginError {
    fn from(error: InvalidTask) -> PluginError {
        PluginError::Track(error.0)
    }
}
