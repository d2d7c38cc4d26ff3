//! A running server, and the traits by which it is started and stopped.

use std::path::PathBuf;

use super::spec::EngineSpec;
use crate::error::Error;

/// Starts the built-in server. The binary implements this trait, since this crate does not depend on the
/// engine.
pub trait ServerProvider {
    /// Starts the server with the spec's settings and memory limit.
    ///
    /// Errors: why it does not start.
    fn start_with(&self, spec: &EngineSpec) -> Result<RunningServer, Error>;

    /// Starts the server with its defaults.
    ///
    /// Errors: those of [`start_with`](Self::start_with).
    fn start(&self) -> Result<RunningServer, Error> {
        self.start_with(&EngineSpec::default())
    }
}

/// A running server; dropping it stops it.
pub struct RunningServer {
    /// `host:port`.
    pub address: String,
    /// Its name in races: Rally's "car".
    pub name: String,
    /// The process that answers, which is not the script that started it.
    pub process_id: u32,
    /// Folder with its data, configuration and logs.
    pub folder: PathBuf,
    /// Stops the process and removes the folder when it is dropped.
    pub guard: Box<dyn ServerGuard>,
}

/// Stops a server when it is dropped.
pub trait ServerGuard {
    /// Keeps the server running, and keeps its folder.
    fn keep(self: Box<Self>);
}

impl RunningServer {
    /// Keeps the server running. Returns a line that says where it is and how to stop it.
    pub fn keep(self) -> String {
        self.guard.keep();
        format!(
            "The server keeps running on http://{} as process {pid}, with its files in [{folder}]. End it with: kill {pid} && rm -r {folder}",
            self.address,
            pid = self.process_id,
            folder = self.folder.display()
        )
    }
}
