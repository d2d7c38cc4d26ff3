//! Why a command cannot be carried out, and who can do something about it.
//!
//! There is one enum for the crate. It contains the errors of the track's files, of stored races and of the
//! track's plugin, which have their own details. All modules that race use it.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::record::StoreError;
use crate::track::plugin::PluginError;
use crate::track::track_files::LoadError;

/// Why a command cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's error: an option of the command line, or a file that it names, has no valid meaning.
    #[error("{0}")]
    Argument(String),
    /// The track cannot be found, read or understood.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The track author's error: an operation lacks the parameter of this name.
    #[error("mandatory parameter '{0}' is missing")]
    MissingParameter(String),
    /// The track author's error: a parameter of an operation has an invalid value, or excludes another one.
    #[error("{0}")]
    Parameter(String),
    /// The track author's error: what an operation works on is not in the track.
    #[error("{0}")]
    Track(String),
    /// This server cannot do it; another server, another version, or a server started otherwise can.
    #[error("{0}")]
    Unsupported(String),
    /// A task cannot be planned. This is found before the first request.
    #[error("task [{task}]: {reason}")]
    Task {
        /// Name of the task.
        task: String,
        /// The reason.
        reason: Box<Error>,
    },
    /// A task ended the race while it ran.
    #[error("cannot run task [{task}]: {reason}")]
    Aborted {
        /// Name of the task.
        task: String,
        /// The reason.
        reason: Box<Error>,
    },
    /// A request failed and the error behaviour of its task is to end the race, or a condition or assertion
    /// of an operation did not hold.
    #[error("{0}")]
    Failed(String),
    /// The server to be raced does not start.
    #[error("the server does not start: {0}")]
    ServerStart(String),
    /// The server cannot be reached, or has closed the connection.
    #[error("{call}: {reason}")]
    NoAnswer {
        /// The request, such as `GET /`.
        call: String,
        /// The network error.
        reason: String,
    },
    /// The server answered with an unexpected HTTP status.
    #[error("{call} answered with status {status}{}", after_colon(body))]
    Refused {
        /// The request, such as `GET /`.
        call: String,
        /// The answer's status.
        status: u16,
        /// The answer's body; empty if it adds nothing.
        body: String,
    },
    /// The server's answer does not have the expected contents.
    #[error("{0}")]
    Answer(String),
    /// An error of the track's plugin, or of the Python that runs it.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// An error of stored races: a race does not exist, exists already, or cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file or folder cannot be read or written.
    #[error("[{}]: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file that the user asked for cannot be written.
    #[error("cannot write [{}]: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The report or list that a command prints cannot be written.
    #[error("cannot write the report: {0}")]
    Report(std::io::Error),
    /// This machine cannot provide a thread, timer or socket, or does not have a program.
    #[error("{what}: {source}")]
    Machine {
        /// What is missing.
        what: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The user interrupted the race.
    #[error("interrupted by the user")]
    Interrupted,
    /// A comparison found a difference that `--fail-if-worse` asks for.
    #[error("{0}")]
    Worse(String),
    /// An error in a part of something larger, such as one of several clusters.
    #[error("{context}: {source}")]
    Within {
        /// The part.
        context: String,
        /// The error in it.
        source: Box<Error>,
    },
}

/// Returns `text` after a colon, or nothing if `text` is empty.
fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

impl Error {
    /// Returns an [`Error::Argument`] with a constant message.
    pub(crate) fn argument(reason: &str) -> Error {
        Error::Argument(reason.to_owned())
    }

    /// Returns an [`Error::Parameter`] with a constant message.
    pub(crate) fn parameter(reason: &str) -> Error {
        Error::Parameter(reason.to_owned())
    }

    /// Returns an [`Error::MissingParameter`] of this name.
    pub(crate) fn missing(name: &str) -> Error {
        Error::MissingParameter(name.to_owned())
    }

    /// Adds the file or folder to an I/O error, for `map_err`.
    pub(crate) fn at(path: &Path) -> impl Fn(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { path: path.clone(), source }
    }

    /// Adds to an error what this machine could not provide, for `map_err`.
    pub(crate) fn machine(what: impl Display) -> impl FnOnce(std::io::Error) -> Error {
        move |source| Error::Machine { what: what.to_string(), source }
    }

    /// Adds to an error which request got no answer, for `map_err`.
    pub(crate) fn no_answer<E: Display>(call: impl Display) -> impl FnOnce(E) -> Error {
        move |error| Error::NoAnswer { call: call.to_string(), reason: error.to_string() }
    }

    /// Turns an error into one of planning this task, for `map_err`.
    pub(crate) fn of_task(task: &str) -> impl Fn(Error) -> Error {
        move |reason| Error::Task { task: task.to_owned(), reason: Box::new(reason) }
    }

    /// Returns the error with the context in which it occurred.
    pub(crate) fn within(self, context: impl Display) -> Error {
        Error::Within { context: context.to_string(), source: Box::new(self) }
    }

    /// Whether a race that failed with this error may succeed with another setting of its server or its
    /// tasks, because the server did not start or could not sustain the load. Errors of the user and of the
    /// track's author occur with every setting.
    pub(crate) fn is_of_setting(&self) -> bool {
        match self {
            Error::ServerStart(_)
            | Error::Aborted { .. }
            | Error::NoAnswer { .. }
            | Error::Refused { .. }
            | Error::Answer(_)
            | Error::Machine { .. } => true,
            Error::Within { source, .. } => source.is_of_setting(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_whole_hides_no_class() {
        let refused =
            Error::Refused { call: "GET /".into(), status: 503, body: String::new() }.within("metrics store");
        assert_eq!(refused.to_string(), "metrics store: GET / answered with status 503");
        assert!(refused.is_of_setting());
        assert!(!Error::argument("no").within("cluster [a]").is_of_setting());
    }
}
