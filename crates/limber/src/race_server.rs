//! The server that `limber race` starts when it is given no host: this same program in a separate process.
//!
//! The separate process keeps the load generator's memory and CPU time out of the server's figures.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use limber_race::{EngineSpec, Error, RunningServer, ServerGuard, ServerProvider};

/// Starts the servers of races.
pub struct ChildServer;

/// Turned off in every server that a race starts, including Elasticsearch and OpenSearch, so that the free
/// space on the machine's disk does not affect the result.
const DISK_THRESHOLD: &str = "cluster.routing.allocation.disk.threshold_enabled";

/// The setting with the folders on whose volumes the server keeps its data. The server gets a temporary
/// folder inside each of them.
const DATA_PATHS: &str = "path.data";

/// Ends the process when dropped, and then removes its data folders.
struct Guard {
    child: Child,
    data: Option<Vec<tempfile::TempDir>>,
}

impl ServerGuard for Guard {
    fn keep(mut self: Box<Self>) {
        for folder in self.data.take().into_iter().flatten() {
            let _kept = folder.keep();
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.data.is_some() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Makes the data folders, the main one first: one in each folder of [`DATA_PATHS`], or one in the system's
/// folder for temporary files.
fn data_folders(spec: &EngineSpec) -> Result<Vec<tempfile::TempDir>, Error> {
    let failed =
        |error: std::io::Error| Error::ServerStart(format!("cannot make a temporary data folder: {error}"));
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("limber-race-");
        builder
    };
    match spec.settings.iter().find(|(name, _)| name == DATA_PATHS) {
        None => Ok(vec![builder().tempdir().map_err(failed)?]),
        // A value of a knob cannot contain a comma, so a semicolon separates paths as well.
        Some((_, paths)) => {
            let paths = paths.split([',', ';']).map(str::trim);
            paths.map(|path| builder().tempdir_in(path).map_err(failed)).collect()
        }
    }
}

impl ServerProvider for ChildServer {
    fn start_with(&self, spec: &EngineSpec) -> Result<RunningServer, Error> {
        let data = data_folders(spec)?;
        let program = std::env::current_exe()
            .map_err(|error| Error::ServerStart(format!("cannot find this program: {error}")))?;
        // There is at least one.
        let main = data.first().map(|folder| folder.path().to_owned()).unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(["serve", "--http", "127.0.0.1:0"])
            .args(data.iter().flat_map(|folder| ["--data".as_ref(), folder.path().as_os_str()]))
            .env("LIMBER_LOG", std::env::var("LIMBER_LOG").unwrap_or_else(|_| "warn".into()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if !spec.settings.iter().any(|(name, _)| name == DISK_THRESHOLD) {
            command.arg("-E").arg(format!("{DISK_THRESHOLD}=false"));
        }
        for (name, value) in spec.settings.iter().filter(|(name, _)| name != DATA_PATHS) {
            command.arg("-E").arg(format!("{name}={value}"));
        }
        if let Some(limit) = &spec.memory_limit {
            command.arg("--memory-limit").arg(limit);
        }
        if spec.is_kept {
            // An interrupt at the terminal must end the race, not the server. The server must not write to
            // the terminal later either.
            let log = std::fs::File::create(main.join("server.log"))
                .map_err(|error| Error::ServerStart(format!("cannot write into the data folder: {error}")))?;
            command.process_group(0).stderr(log);
        }
        let mut child = command
            .spawn()
            .map_err(|error| Error::ServerStart(format!("cannot start the built-in server: {error}")))?;
        let stdout = child.stdout.take();
        let folder = main;
        let mut guard = Guard { child, data: Some(data) };
        let mut line = String::new();
        if let Some(stdout) = stdout {
            // An unreadable or empty line is reported below, together with the server's own message on
            // standard error.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        match line.trim().strip_prefix("listening on ") {
            Some(address) => Ok(RunningServer {
                address: address.to_owned(),
                name: "limber".to_owned(),
                process_id: guard.child.id(),
                folder,
                guard: Box::new(guard),
            }),
            None => {
                let status =
                    guard.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                let log = std::fs::read_to_string(folder.join("server.log")).unwrap_or_default();
                let reason = format!("the built-in server did not start ({status})\n{log}");
                Err(Error::ServerStart(reason.trim_end().to_owned()))
            }
        }
    }
}
