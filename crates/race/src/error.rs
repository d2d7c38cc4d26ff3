//! "What was asked for cannot be done": why, and who can act on it?
//!
//! One enum for the crate. It stands above the errors of the track's files, of stored races and of the
//! track's plugin, which carry facts of their own, and below every room that races.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::record::StoreError;
use crate::track::plugin::PluginError;
use crate::track::track_files::LoadError;

/// Why something that was asked for cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's: an option of the command line, or a file that it names, does not say what can be done.
    #[error("{0}")]
    Argument(String),
    /// The track cannot be found, read or understood.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The track author's: an operation lacks the parameter of this name.
    #[error("mandatory parameter '{0}' is missing")]
    MissingParameter(String),
    /// The track author's: a parameter of an operation has a value that it cannot have, or does not go with
    /// another one.
    #[error("{0}")]
    Parameter(String),
    /// The track author's: what an operation works on is not in the track.
    #[error("{0}")]
    Track(String),
    /// Another server, another version of it or another way to start it would have what is asked for.
    #[error("{0}")]
    Unsupported(String),
    /// A task cannot be planned; found before the first request.
    #[error("task [{task}]: {reason}")]
    Task {
        /// Its name.
        task: String,
        /// Why.
        reason: Box<Error>,
    },
    /// A task ended the race while it ran.
    #[error("cannot run task [{task}]: {reason}")]
    Aborted {
        /// Its name.
        task: String,
        /// Why.
        reason: Box<Error>,
    },
    /// A request failed and the error behaviour of its task says to end the race, or what an operation waits
    /// for or asserts did not come true.
    #[error("{0}")]
    Failed(String),
    /// The server that was to be raced does not start.
    #[error("the server does not start: {0}")]
    ServerStart(String),
    /// The server cannot be reached, or went away.
    #[error("{call}: {reason}")]
    NoAnswer {
        /// What it was asked, such as `GET /`.
        call: String,
        /// What the network says.
        reason: String,
    },
    /// The server answered with a status of HTTP that is none of those expected.
    #[error("{call} answered with status {status}{}", after_colon(body))]
    Refused {
        /// What it was asked, such as `GET /`.
        call: String,
        /// The answer's status.
        status: u16,
        /// The answer's body; empty where it tells nothing.
        body: String,
    },
    /// The server answered, but not with what was asked for.
    #[error("{0}")]
    Answer(String),
    /// The track's plugin, or the Python that runs it.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// Stored races: one that is not there, is there already, or cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file or folder cannot be read or written.
    #[error("[{}]: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A file that the user wants written cannot be.
    #[error("cannot write [{}]: {source}", path.display())]
    Unwritable {
        /// Which one.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The report or the list that a command prints cannot be printed.
    #[error("cannot write the report: {0}")]
    Report(std::io::Error),
    /// This machine has no thread, timer or socket left, or no such program.
    #[error("{what}: {source}")]
    Machine {
        /// What could not be had.
        what: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The user ended the race.
    #[error("interrupted by the user")]
    Interrupted,
    /// A comparison found what `--fail-if-worse` asks about.
    #[error("{0}")]
    Worse(String),
    /// An error in a larger whole, such as one of several clusters.
    #[error("{context}: {source}")]
    Within {
        /// The whole.
        context: String,
        /// What happened in it.
        source: Box<Error>,
    },
}

/// `text` as the end of a sentence, where there is any.
fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

impl Error {
    /// [`Error::Argument`] with a constant text.
    pub(crate) fn argument(reason: &str) -> Error {
        Error::Argument(reason.to_owned())
    }

    /// [`Error::Parameter`] with a constant text.
    pub(crate) fn parameter(reason: &str) -> Error {
        Error::Parameter(reason.to_owned())
    }

    /// [`Error::MissingParameter`] of this name.
    pub(crate) fn missing(name: &str) -> Error {
        Error::MissingParameter(name.to_owned())
    }

    /// Names the file or folder of an I/O error, for `map_err`.
    pub(crate) fn at(path: &Path) -> impl Fn(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { path: path.clone(), source }
    }

    /// Says what this machine could not give, for `map_err`.
    pub(crate) fn machine(what: impl Display) -> impl FnOnce(std::io::Error) -> Error {
        move |source| Error::Machine { what: what.to_string(), source }
    }

    /// Says which call brought no answer, for `map_err`.
    pub(crate) fn no_answer<E: Display>(call: impl Display) -> impl FnOnce(E) -> Error {
        move |error| Error::NoAnswer { call: call.to_string(), reason: error.to_string() }
    }

    /// An error of planning this task, for `map_err`.
    pub(crate) fn of_task(task: &str) -> impl Fn(Error) -> Error {
        move |reason| Error::Task { task: task.to_owned(), reason: Box::new(reason) }
    }

    /// The error as one of a larger whole.
    pub(crate) fn within(self, context: impl Display) -> Error {
        Error::Within { context: context.to_string(), source: Box::new(self) }
    }

    /// Whether a race that failed so may succeed with another setting of its server or its tasks: the server
    /// did not start, or did not bear the load. Errors of the user and of the track's author come back with
    /// every setting.
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
