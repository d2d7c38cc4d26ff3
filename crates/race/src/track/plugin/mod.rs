//! Runs the Python code of a track's `track.py`.
//!
//! Rally's tracks may have parameter sources, runners, schedulers and track processors in Python. They run
//! unmodified in Python processes ([`process`]) that execute the scripts of the folder `python`, which are
//! part of the binary ([`scripts`]). There is one process for each thread that generates load, as Rally has
//! one worker per core. [`Plugin`] is a loaded `track.py`; `drive/plugin` has the requests of clients to it
//! during the race.
//!
//! Requests to a process, each with a JSON header and a payload, are: `load` (import and register), `track`
//! (the track's objects), `process_track`, `used_corpora`, `files`, `prepare_track` (before the race), and
//! for one client's part in a task `open`, `next` (many sets of parameters), `due` (due times of a
//! scheduler), `run` (a runner, which may ask for HTTP requests, and `answer` returns their answers),
//! `close`.

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

/// The file in a track's folder that Rally imports.
pub(crate) const PLUGIN_FILE: &str = "track.py";

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
