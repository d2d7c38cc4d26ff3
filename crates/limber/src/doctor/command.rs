//! The command line and output of the command.

use std::path::PathBuf;
use std::process::ExitCode;

use super::offline::{self, Finding, Level};
use super::online;
use crate::config::{Config, Overrides};
use crate::told::say;

/// Say what is wrong with a server, its data folder and its machine, and what to do about it
///
/// Examines the configuration, the address, the data folder and the machine. If a server is running, its
/// health report is added. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  limber doctor --data /var/lib/limber
  limber doctor --config /etc/limber/limber.yml

Exit codes: 0 nothing is wrong, 1 something is (warnings do not count), 2 the server would not start.")]
pub struct DoctorCommand {
    /// Data folder; given several times if there are several [default: path.data of the configuration, else
    /// ./data]
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Configuration file [default: ./limber.yml if present]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address of the server [default: http.host and http.port of the configuration]
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
    /// One setting; wins over the configuration file
    #[arg(short = 'E', value_name = "SETTING=VALUE")]
    settings: Vec<String>,
}

/// The server would not start.
const WOULD_NOT_START: u8 = 2;

impl DoctorCommand {
    /// Prints the findings and returns the exit code.
    pub fn run(self) -> ExitCode {
        let overrides = Overrides {
            config_file: self.config,
            data: self.data,
            http: self.http,
            settings: self.settings,
            ..Overrides::default()
        };
        let config =
            match Config::load(&overrides).and_then(|config| offline::checked(&config).map(|()| config)) {
                Ok(config) => config,
                Err(error) => {
                    say(format_args!("the server would not start: {error:#}"));
                    return ExitCode::from(WOULD_NOT_START);
                }
            };
        for note in &config.notes {
            say(format_args!("[{}] changes nothing: {}", note.key, note.why));
        }
        let mut findings = offline::look(&config);
        findings.extend(offline::taken(&config));
        match online::health(&config.http_address) {
            Some(of_server) => findings.extend(of_server),
            None => say(format_args!(
                "no server answers without credentials at {}: looked offline",
                config.http_address
            )),
        }
        findings.iter().for_each(Finding::print);
        let worst = findings.iter().map(|finding| finding.level).max();
        match worst {
            None => say("nothing is wrong"),
            Some(_) if findings.len() == 1 => say("1 finding"),
            Some(_) => say(format_args!("{} findings", findings.len())),
        }
        match worst {
            Some(Level::Fatal) => ExitCode::from(WOULD_NOT_START),
            Some(Level::Problem) => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        }
    }
}
