//! Runs an unpacked Elasticsearch or OpenSearch for a race.
//!
//! Nothing is written into the distribution: configuration (a copy), data, logs and temporary files are in a
//! folder of the race. The settings of the race are passed on the command line (`-Esetting=value`), which
//! takes precedence over the configuration file. A setting of the user replaces one of the race.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{EngineSpec, RunningServer, ServerGuard};
use crate::error::Error;
use crate::process;

/// A cold JVM on a busy machine takes half a minute to start; Rally waits two minutes.
const START_WAIT_MAX: Duration = Duration::from_secs(180);
const START_LOOK_EVERY: Duration = Duration::from_millis(250);
/// A node flushes and closes its shards on a signal. After this time it is killed.
const STOP_WAIT_MAX: Duration = Duration::from_secs(60);
/// Number of log lines that an error shows.
const LOG_LINES: usize = 15;

/// What differs between the two servers.
struct Product {
    name: &'static str,
    /// Prefix of its environment variables.
    prefix: &'static str,
    /// The module or plugin that gives a fresh node TLS and passwords, and the setting that turns it off.
    security: (&'static str, &'static str),
}

const PRODUCTS: [Product; 2] = [
    Product {
        name: "elasticsearch",
        prefix: "ES",
        security: ("modules/x-pack-security", "xpack.security.enabled=false"),
    },
    Product {
        name: "opensearch",
        prefix: "OPENSEARCH",
        security: ("plugins/opensearch-security", "plugins.security.disabled=true"),
    },
];

/// Starts the server in `home` on a free local port, and returns when it answers.
///
/// # Errors
/// `ServerStart`: what is missing, or the end of the server's log when it does not start.
pub(crate) fn start(home: &Path, spec: &EngineSpec) -> Result<RunningServer, Error> {
    let home =
        home.canonicalize().map_err(|error| Error::ServerStart(format!("[{}]: {error}", home.display())))?;
    let product = PRODUCTS.iter().find(|product| home.join("bin").join(product.name).is_file()).ok_or_else(|| {
        Error::ServerStart(format!(
            "[{}] holds neither bin/elasticsearch nor bin/opensearch: --engine takes [limber], [host] or the folder of an unpacked \
             distribution",
            home.display()
        ))
    })?;
    // SAFETY: a system call without arguments that cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        return Err(Error::ServerStart(format!(
            "{} refuses to run as root. Race as another user, or in a user namespace in which root has another number:\n  unshare --user \
             --map-user=1000 --map-group=1000 limber race --engine {} ...",
            product.name,
            home.display()
        )));
    }
    let files = tempfile::Builder::new()
        .prefix("limber-race-")
        .tempdir()
        .map_err(|error| Error::ServerStart(error.to_string()))?;
    let failed = |error: io::Error| Error::ServerStart(format!("[{}]: {error}", files.path().display()));
    prepare(&home, files.path(), spec).map_err(failed)?;
    let (port, transport_port) = (free_port().map_err(failed)?, free_port().map_err(failed)?);
    let log_file = files.path().join("logs").join("console.log");
    let log = File::create(&log_file).map_err(failed)?;
    let mut command = Command::new(home.join("bin").join(product.name));
    command
        .arg("-p")
        .arg(files.path().join("pid"))
        .args(arguments(product, &home, files.path(), (port, transport_port), spec))
        .envs(environment(product, files.path(), spec)?)
        .current_dir(&home)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(failed)?)
        .stderr(log);
    if spec.is_kept {
        command.process_group(0);
    }
    let launcher = command
        .spawn()
        .map_err(|error| Error::ServerStart(format!("cannot start {}: {error}", product.name)))?;
    let address = format!("127.0.0.1:{port}");
    let mut guard = Guard { launcher, files: Some(files) };
    guard.wait_until_it_answers(&address, &|reason| {
        Error::ServerStart(format!(
            "{} {reason}. The end of its log:\n{}",
            product.name,
            last_lines(&log_file)
        ))
    })?;
    Ok(RunningServer {
        address,
        name: product.name.to_owned(),
        process_id: guard.process_id(),
        folder: guard.folder().to_owned(),
        guard: Box::new(guard),
    })
}

/// Creates the folders and the copy of the configuration.
fn prepare(home: &Path, files: &Path, spec: &EngineSpec) -> io::Result<()> {
    for folder in ["data", "logs", "tmp"] {
        std::fs::create_dir(files.join(folder))?;
    }
    copy(&home.join("config"), &files.join("config"))?;
    let options = files.join("config").join("jvm.options");
    if options.is_file() {
        let text = std::fs::read_to_string(&options)?;
        std::fs::write(&options, jvm_options(&text, files, spec))?;
    }
    Ok(())
}

/// Returns the distribution's JVM options with relative paths moved below `files`. Its collector is left out
/// when the user chooses one, since a JVM refuses two.
fn jvm_options(text: &str, files: &Path, spec: &EngineSpec) -> String {
    let is_collector = |option: &str| option.contains("-XX:+Use") && option.trim_end().ends_with("GC");
    let chosen = spec.jvm_options.iter().any(|option| is_collector(option));
    let mut kept = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !(chosen && is_collector(line))) {
        if line.trim_start().starts_with('#') {
            continue;
        }
        let place = |name: &str| files.join(name).display().to_string();
        let line = line.replace("=logs/", &format!("={}/", place("logs")));
        kept.push_str(&match line.strip_suffix("=data") {
            Some(option) => format!("{option}={}", place("data")),
            None => line,
        });
        kept.push('\n');
    }
    kept
}

/// Returns the settings as arguments. A setting of the user replaces one of the race.
fn arguments(
    product: &Product,
    home: &Path,
    files: &Path,
    ports: (u16, u16),
    spec: &EngineSpec,
) -> Vec<String> {
    let place = |name: &str| files.join(name).display().to_string();
    let mut settings = vec![
        ("cluster.name".to_owned(), "limber-race".to_owned()),
        ("node.name".to_owned(), "race-node-0".to_owned()),
        ("path.data".to_owned(), place("data")),
        ("path.logs".to_owned(), place("logs")),
        ("network.host".to_owned(), "127.0.0.1".to_owned()),
        ("http.port".to_owned(), ports.0.to_string()),
        ("transport.port".to_owned(), ports.1.to_string()),
        ("discovery.type".to_owned(), "single-node".to_owned()),
        ("cluster.routing.allocation.disk.threshold_enabled".to_owned(), "false".to_owned()),
    ];
    let (module, setting) = product.security;
    if home.join(module).is_dir()
        && let Some((name, value)) = setting.split_once('=')
    {
        settings.push((name.to_owned(), value.to_owned()));
    }
    for (name, value) in &spec.settings {
        // Elasticsearch refuses a setting that is given twice.
        settings.retain(|(known, _)| known != name);
        settings.push((name.clone(), value.clone()));
    }
    settings.into_iter().map(|(name, value)| format!("-E{name}={value}")).collect()
}

/// Returns the environment variables for the folders, the heap and the JVM options.
fn environment(product: &Product, files: &Path, spec: &EngineSpec) -> Result<Vec<(String, String)>, Error> {
    if let Some(option) = spec.jvm_options.iter().find(|option| option.contains(char::is_whitespace)) {
        return Err(Error::ServerStart(format!(
            "--jvm-option [{option}] may hold no space; give --jvm-option once for each option"
        )));
    }
    let heap = spec.heap.iter().flat_map(|heap| [format!("-Xms{heap}"), format!("-Xmx{heap}")]);
    let options: Vec<String> = heap.chain(spec.jvm_options.iter().cloned()).collect();
    let place = |name: &str| files.join(name).display().to_string();
    let variable = |name: &str, value: String| (format!("{}_{name}", product.prefix), value);
    let mut variables = vec![variable("PATH_CONF", place("config")), variable("TMPDIR", place("tmp"))];
    if !options.is_empty() {
        variables.push(variable("JAVA_OPTS", options.join(" ")));
    }
    Ok(variables)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target)?,
            false => std::fs::copy(entry.path(), target).map(|_| ())?,
        }
    }
    Ok(())
}

/// Returns a port that was free a moment ago.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn last_lines(log: &Path) -> String {
    let text =
        std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

/// Stops the server and removes its files.
struct Guard {
    /// The start script, or the server that replaced it.
    launcher: Child,
    files: Option<tempfile::TempDir>,
}

impl Guard {
    fn folder(&self) -> &Path {
        self.files.as_ref().map_or(Path::new(""), tempfile::TempDir::path)
    }

    /// Returns the server's process id. Newer start scripts stay alive as its parent, and write the id to a
    /// file.
    fn process_id(&self) -> u32 {
        let written = std::fs::read_to_string(self.folder().join("pid")).ok();
        written.and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| self.launcher.id())
    }

    /// Waits until the server is ready for requests. `failed` turns a message about the server into an error.
    fn wait_until_it_answers(
        &mut self,
        address: &str,
        failed: &dyn Fn(String) -> Error,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(10)))
            .build()
            .new_agent();
        let url = format!("http://{address}/_cluster/health?wait_for_status=yellow&timeout=5s");
        loop {
            if let Ok(Some(status)) = self.launcher.try_wait() {
                return Err(failed(format!("ended at once ({status})")));
            }
            let answer =
                agent.get(&url).call().ok().and_then(|mut answer| answer.body_mut().read_to_vec().ok());
            let health = answer.and_then(|body| serde_json::from_slice::<Value>(&body).ok());
            match health.as_ref().and_then(|health| health["status"].as_str()) {
                Some("green" | "yellow") => return Ok(()),
                _ if started.elapsed() > START_WAIT_MAX => {
                    return Err(failed(format!("does not answer within {} s", START_WAIT_MAX.as_secs())));
                }
                _ => std::thread::sleep(START_LOOK_EVERY),
            }
        }
    }
}

impl ServerGuard for Guard {
    fn keep(mut self: Box<Self>) {
        if let Some(files) = self.files.take() {
            let _kept: PathBuf = files.keep();
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.files.is_none() {
            return;
        }
        let (server, launcher) = (self.process_id(), &mut self.launcher);
        process::end(server, STOP_WAIT_MAX, || {
            let launcher_has_ended = matches!(launcher.try_wait(), Ok(Some(_)));
            launcher_has_ended && (server == launcher.id() || !process::is_alive(server))
        });
    }
}

#[cfg(test)]
mod tests;
