//! `limber advise`: its arguments, and what it prints.

use std::io::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::gather::{Source, gather};
use super::page::page;
use super::report::{Advice, write_json, write_text};
use crate::cli::{EXIT_SUCCESS, check_writable, printed};
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::server::hosts::{clusters, resolve};

/// Exit code when there are findings. A command that could not read the server ends with
/// [`crate::cli::EXIT_ERROR`].
pub(super) const EXIT_FINDINGS: u8 = 1;

const DEFAULT_HOST: &str = "127.0.0.1:9200";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdviceFormat {
    Text,
    Json,
}

/// Say why a running server is not faster, and what would prove it
///
/// Reads the statistics of a server (Limber, Elasticsearch or OpenSearch), its machine if it is this one, and
/// its garbage collector's logs; prints findings, the one that promises most first, each with the numbers
/// read, an experiment and a reference. Changes nothing.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  limber advise --host 127.0.0.1:9200
  limber advise --host es1:9200 --client-options \"basic_auth_user:'me',basic_auth_password:'secret'\"
  limber advise --host 127.0.0.1:9200 --watch 60 --gc-log /var/log/elasticsearch/gc.log
  limber advise --gc-log verbosegc.xml

Exit codes: 0 nothing was found, 1 something was (see --fail-above), 64 the server or a log could not be read.")]
pub struct AdviseCommand {
    /// The server, as host:port or https://host:port; several nodes of one cluster separated by commas
    /// [default: 127.0.0.1:9200, none if --gc-log is given]
    #[arg(long, value_name = "HOSTS", alias = "target-hosts")]
    pub host: Option<String>,
    /// How to talk to the server, as in `limber race` [default: timeout:60]
    #[arg(long, value_name = "OPTIONS")]
    pub client_options: Option<String>,
    /// Seconds between the two readings of counters: disk, CPU quota, swap, indexing
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    pub watch: f64,
    /// GC logs of one JVM: files (rotations beside them are found, .gz too) or folders [default: what a JVM
    /// on this machine says it writes]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub gc_log: Vec<PathBuf>,
    /// The server's process on this machine, if it cannot be found by the number the server gives
    /// (containers)
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// Form of the advice
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: AdviceFormat,
    /// Write the advice as one HTML file, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Exit with 0 if no finding promises at least this many percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub fail_above: f64,
}

fn seconds(text: &str) -> Result<f64, Error> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=86_400.0).contains(&value) => Ok(value),
        _ => Err(Error::Argument(format!("[{text}] is not a number of seconds up to a day"))),
    }
}

impl AdviseCommand {
    /// Reads the server, prints the advice, and returns the exit code.
    ///
    /// Errors: the server does not answer, a log cannot be read, or the options make no sense.
    pub fn run(&self) -> Result<u8, Error> {
        self.look(&mut std::io::stdout().lock())
    }

    fn look(&self, out: &mut dyn Write) -> Result<u8, Error> {
        // Watching may take long, so a file that cannot be written is reported first.
        self.html.iter().try_for_each(|file| check_writable(file))?;
        let hosts = match (&self.host, self.gc_log.is_empty()) {
            (None, true) => Some(DEFAULT_HOST),
            (hosts, _) => hosts.as_deref(),
        };
        let mut server = hosts.map(|hosts| self.connect(hosts)).transpose()?;
        let source = Source {
            server: server.as_mut().map(|(cluster, ip, host)| (cluster, *ip, host.clone())),
            watch: Duration::from_secs_f64(self.watch),
            gc_logs: &self.gc_log,
            pid: self.pid,
        };
        let seen = gather(source).map_err(|error| Error::Argument(error.to_string()))?;
        let seen = seen.map_err(|unread| Error::NoAnswer { call: unread.what, reason: unread.why })?;
        let advice = Advice::of(&seen);
        if let Some(file) = &self.html {
            let failed = |source| Error::Unwritable { path: file.clone(), source };
            std::fs::write(file, page(&seen, &advice)).map_err(failed)?;
        }
        printed(match self.format {
            AdviceFormat::Text => write_text(&seen, &advice, out),
            AdviceFormat::Json => write_json(&seen, &advice, out),
        })?;
        Ok(if advice.count_above(self.fail_above) > 0 { EXIT_FINDINGS } else { EXIT_SUCCESS })
    }

    /// Returns the cluster, an address of its first host, and that host as the user wrote it.
    fn connect(&self, hosts: &str) -> Result<(Cluster, IpAddr, String), Error> {
        let mut targets = clusters(hosts, self.client_options.as_deref())?;
        if targets.len() > 1 {
            return Err(Error::Argument("--host names several clusters: advise examines only one".into()));
        }
        let target = targets.pop().ok_or_else(|| Error::Argument("--host names no server".into()))?;
        for warning in &target.options.warnings {
            eprintln!("warning: {warning}");
        }
        let addresses = resolve(&target.hosts, &target.options)?;
        let first = addresses.first().zip(target.hosts.first());
        let ip = first.and_then(|(address, host)| Some((address.sockets.first()?.ip(), host.clone())));
        let (ip, host) = ip.ok_or_else(|| Error::Argument("--host names no server".into()))?;
        let cluster = Cluster::new(&addresses, &target.options.header_lines(None), target.options.timeout)?;
        Ok((cluster, ip, host))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::advise::server::Question;
    use crate::cli::commands::EXIT_ERROR;
    use crate::cli::exit_code;
    use crate::drive::tests::stub::Stub;

    #[derive(Debug, Parser)]
    enum Root {
        Advise(AdviseCommand),
    }

    fn command(arguments: &[&str]) -> AdviseCommand {
        let Root::Advise(command) =
            Root::try_parse_from([&["limber", "advise", "--watch=0"], arguments].concat()).unwrap();
        command
    }

    /// Starts a server that gives the recorded answers and refuses one question.
    fn stub(name: &str, refused: &'static str) -> Stub {
        let path = format!("{}/src/advise/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let answers: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        Stub::start(move |asked| {
            let path = asked.target.split('?').next().unwrap_or_default();
            let question =
                Question::ALL.iter().find(|question| question.path().split('?').next() == Some(path));
            match question {
                Some(question) if question.name() == refused => {
                    Some((403, r#"{"error":{"reason":"no rights"}}"#.to_owned()))
                }
                Some(question) => Some((200, answers[question.name()].to_string())),
                None => Some((200, answers["GET /"].to_string())),
            }
        })
    }

    #[test]
    fn findings_decide_the_exit_code() {
        let stub = stub("es-7.10.2", "");
        let host = format!("--host={}", stub.host);
        assert_eq!(command(&[&host]).look(&mut Vec::new()).unwrap(), EXIT_FINDINGS);
        assert_eq!(
            command(&[&host, "--fail-above=100", "--format=json"]).look(&mut Vec::new()).unwrap(),
            EXIT_SUCCESS
        );
        let asked = stub.lines();
        assert!(asked.iter().all(|line| line.starts_with("GET ")), "{asked:?}");
        assert_eq!(asked.iter().filter(|line| *line == "GET /_nodes/stats").count(), 4, "twice each time");
    }

    #[test]
    fn a_refused_question_costs_only_its_rules() {
        let stub = stub("limber", "_cat/shards");
        let target = command(&[]).connect(&stub.host).unwrap();
        let (mut cluster, ip, host) = target;
        let server = Some((&mut cluster, ip, host));
        let source = Source { server, watch: Duration::ZERO, gc_logs: &[], pid: Some(std::process::id()) };
        let seen = gather(source).unwrap().unwrap();
        let advice = Advice::of(&seen);
        let unread = advice.unread.iter().find(|(rule, _)| rule.id == "tiny_shards").unwrap();
        assert_eq!(unread.1.why, "status 403: no rights");
        assert!(!advice.fine.is_empty() || !advice.findings.is_empty());
        assert!(seen.machine.is_ok());
    }

    #[test]
    fn what_cannot_be_done_is_an_error() {
        #[track_caller]
        fn check(arguments: &[&str], expected: &str) {
            let error = command(arguments).look(&mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(exit_code(&error), EXIT_ERROR);
        }
        check(&["--gc-log=no-such-file.log"], "cannot read the GC log [no-such-file.log]");
        check(&[r#"--host={"a": ["127.0.0.1:1"], "b": ["127.0.0.1:2"]}"#], "cluster");
        check(&["--host=127.0.0.1:1", "--client-options=nonsense:1"], "nonsense");
        let other = Stub::start(|_| Some((200, r#"{"hello": "world"}"#.to_owned())));
        check(&[&format!("--host={}", other.host)], "not as Limber, Elasticsearch or OpenSearch do");
        // The file is tried before the server is asked.
        check(&["--host=127.0.0.1:1", "--html=no-such-folder/advice.html"], "no-such-folder/advice.html");
        // Nobody listens on port 1.
        check(&["--host=127.0.0.1:1"], "GET /: ");
        assert!(Root::try_parse_from(["limber", "advise", "--watch=-1"]).is_err());
    }
}
