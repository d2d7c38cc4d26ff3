//! What can end a race before its end?

use thiserror::Error;

use crate::http::cluster::ClusterError;

#[derive(Debug, Error)]
pub enum DriveError {
    /// The track asks for something impossible or not supported; found before the first request.
    #[error("task [{task}]: {reason}")]
    Track { task: String, reason: String },
    /// A request failed and the task's error behaviour says to stop, or the failure is one that nothing survives.
    #[error("cannot run task [{task}]: {reason}")]
    Aborted { task: String, reason: String },
    /// The server did not answer a call that the race needs outside of its tasks.
    #[error("{0}")]
    Cluster(String),
    #[error("interrupted by the user")]
    Interrupted,
    /// Threads or sockets could not be had.
    #[error("cannot start the load generator: {0}")]
    Start(#[from] std::io::Error),
}

impl From<ClusterError> for DriveError {
    fn from(error: ClusterError) -> DriveError {
        match error {
            ClusterError::Failed(reason) => DriveError::Cluster(reason),
            ClusterError::Interrupted => DriveError::Interrupted,
            ClusterError::Start(error) => DriveError::Start(error),
        }
    }
}

impl DriveError {
    pub fn track(task: &str, reason: impl Into<String>) -> DriveError {
        DriveError::Track { task: task.to_owned(), reason: reason.into() }
    }
}
