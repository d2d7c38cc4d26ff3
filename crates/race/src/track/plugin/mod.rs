//! "A track has a `track.py`: what does it register, and who runs it?"
//!
//! Rally's tracks may bring parameter sources, runners, schedulers and track processors in Python. They run
//! unmodified in Python processes ([`process`]) that execute the scripts of the folder `python`, which are
//! part of the binary ([`scripts`]): one process for each thread that generates load, as Rally has one worker
//! a core. [`Plugin`] is a loaded `track.py`; what clients ask it while they race is in `drive/plugin`.
//!
//! Requests to a process, each a JSON header with a payload: `load` (import and register), `track` (the
//! track's objects), `process_track`, `used_corpora`, `files`, `prepare_track` (before the race), and for one
//! client's part in a task `open`, `next` (many sets of parameters), `due` (due times of a scheduler), `run`
//! (a runner; it asks for HTTP requests in between, which `answer` answers), `close`.

mod interpreter;
pub(crate) mod known_sources;
mod loaded;
mod need;
pub(crate) mod process;
mod scripts;
mod track_json;
mod units;

use crate::model::InvalidTask;

pub(crate) use interpreter::{Interpreter, PythonSettings};
pub(crate) use loaded::{Lease, Plugin};
pub(crate) use need::{needs_python, wants};
pub(crate) use units::unit;

/// The file of a track that Rally imports.
pub(crate) const PLUGIN_FILE: &str = "track.py";

/// Why the Python side of a track cannot go on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PluginError {
    /// No Python, or not one that works.
    #[error("{0}")]
    Python(String),
    /// The plugin raised an exception; with the lines of its own code that led there.
    #[error("{error}{}", shown(traceback))]
    Raised {
        /// The exception's type and message, as Python prints them.
        error: String,
        /// Lines of the plugin, the innermost last; empty where the exception came from elsewhere.
        traceback: String,
    },
    /// What a track processor made of the track is none, or the plugin names more units than are kept.
    #[error("{0}")]
    Track(String),
    /// The process ended or does not answer.
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
