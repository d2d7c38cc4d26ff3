//! The server that `limber race` starts when it is given no host: this same program, as a process of its own.
//!
//! A process of its own keeps the load generator's memory and processor time out of the server's figures.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use limber_race::cli::{RunningServer, ServerProvider};

pub struct ChildServer;

/// Ends the process, then its data folder goes.
struct Guard {
    child: Child,
    _data: tempfile::TempDir,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ServerProvider for ChildServer {
    fn start(&self) -> Result<RunningServer, String> {
        let data = tempfile::Builder::new()
            .prefix("limber-race-")
            .tempdir()
            .map_err(|error| format!("cannot make a temporary data folder: {error}"))?;
        let program =
            std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let mut child = Command::new(program)
            .args(["serve", "--http", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .env("LIMBER_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start the built-in server: {error}"))?;
        let stdout = child.stdout.take();
        let mut guard = Guard { child, _data: data };
        let mut line = String::new();
        if let Some(stdout) = stdout {
            // An unreadable or empty line is reported below with the server's own message on standard error.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        match line.trim().strip_prefix("listening on ") {
            Some(address) => Ok(RunningServer { address: address.to_owned(), guard: Box::new(guard) }),
            None => {
                let status =
                    guard.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(format!("the built-in server did not start ({status})"))
            }
        }
    }
}
