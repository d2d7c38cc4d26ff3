//! The command `limber import`, from its arguments to its summary.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use limber_text::url;
use serde_json::json;

use super::cluster::{Access, Cluster};
use super::files::{self, FileImport, Format, Reading, Target};
use super::server::ServerImport;
use super::sink::{Names, Sink};
use super::state::{Done, StateFile};
use super::{access_log, lines};
use crate::told::say;

/// Interval at which progress is checked.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Interval of progress lines if standard error is not a terminal.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Import documents from another Elasticsearch or OpenSearch, or from files
///
/// Files can be NDJSON (documents, or actions as in a _bulk request), CSV, or access logs of Apache or nginx.
/// They can be plain or compressed with gzip or zstd; - stands for standard input. To resume an interrupted
/// import, run the same command again. Importing a file twice does not duplicate its documents, because ids
/// are derived from the file's name and the record's number, unless --id-field or --auto-id is given.
/// Elasticsearch snapshots cannot be read: restore them on a server, and import from that server.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  limber import http://old:9200 --indices 'logs-*,books'     indices with their settings, mappings and aliases
  limber import http://old:9200 --templates                  all indices, and the templates
  limber import access.log.gz --index web-logs
  limber import books.csv --index books --id-field isbn
  zcat dump.gz | limber import - --index books --format ndjson

Put credentials into a server's URL (http://user:password@host:9200), or set LIMBER_SOURCE_AUTHORIZATION and LIMBER_TARGET_AUTHORIZATION
to the value of the header Authorization, such as 'ApiKey …'. The exit code is 1 if any document was refused.")]
pub struct ImportCommand {
    /// URL of the server to import from, or the files to import
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// Server to import into: host:port, or a URL
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9200")]
    target_host: String,
    /// Index or data stream to import into [default for a server: the same name as there]
    #[arg(long, value_name = "NAME")]
    index: Option<String>,
    /// Indices and data streams to import from a server: names or patterns with *, separated by commas
    #[arg(long, value_name = "PATTERN", default_value = "*")]
    indices: String,
    /// Also import the server's templates
    #[arg(long)]
    templates: bool,
    /// Create indices with their mappings, analysis and aliases, but without their other settings
    #[arg(long)]
    no_settings: bool,
    /// Format of the files [default: detected from their first line]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Character that separates the values of a row [default: detected from the first line]
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<char>,
    /// Field whose value becomes the id of the document
    #[arg(long, value_name = "FIELD", conflicts_with = "auto_id")]
    id_field: Option<String>,
    /// Let the server generate ids: faster, but importing a file twice duplicates its documents
    #[arg(long)]
    auto_id: bool,
    /// Number of bulk requests sent at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    clients: u8,
    /// Number of slices in which an index of a server is read at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    slices: u8,
    /// File to list refused documents in, one JSON object per line [default: the first ten on standard error]
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// Start from the beginning instead of resuming an interrupted run
    #[arg(long)]
    restart: bool,
    /// File of certificates (PEM) to trust instead of the usual authorities
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Do not verify certificates
    #[arg(long)]
    insecure: bool,
}

/// What the parts of an import share.
struct Running {
    sink: Arc<Sink>,
    names: Names,
    target: Cluster,
    state: StateFile,
    done: Done,
    reading: Reading,
    is_over: Arc<AtomicBool>,
}

impl ImportCommand {
    /// Runs the import.
    ///
    /// # Errors
    /// The import fails as a whole. Refused documents only change the exit code.
    pub fn run(self) -> Result<ExitCode> {
        let is_server = |source: &String| source.starts_with("http://") || source.starts_with("https://");
        let (servers, paths): (Vec<&String>, Vec<&String>) =
            self.sources.iter().partition(|source| is_server(source));
        match (servers.as_slice(), paths.is_empty()) {
            ([server], true) => self.check_server()?.import_server(server),
            ([], false) => self.import_files(),
            _ => bail!("give the URL of one server, or files, not both"),
        }
    }

    fn check_server(&self) -> Result<&ImportCommand> {
        let given = [
            ("--format", self.format.is_some()),
            ("--id-field", self.id_field.is_some()),
            ("--auto-id", self.auto_id),
            ("--delimiter", self.delimiter.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => {
                bail!("{flag} is for files: documents of a server keep their ids and their form")
            }
            None => Ok(self),
        }
    }

    fn access(&self, variable: &str) -> Access {
        let authorization = std::env::var(variable).ok().filter(|value| !value.is_empty());
        Access { ca_file: self.ca_file.clone(), is_insecure: self.insecure, authorization }
    }

    fn begin(&self, of: String) -> Result<Running> {
        let target = Cluster::new(&self.target_host, &self.access("LIMBER_TARGET_AUTHORIZATION"))?;
        target.info().context("the server that should get the documents (--target-host)")?;
        let open = |path: &PathBuf| {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            file.with_context(|| format!("cannot write {}", path.display()))
        };
        let errors = self.errors.as_ref().map(open).transpose()?;
        let names = Names::default();
        let sink = Arc::new(Sink::start(&target, self.clients.into(), errors, names.clone())?);
        let state = StateFile::new(&format!("{of} to {}", target.url));
        let known = if self.restart { None } else { state.read()? };
        let done = known.unwrap_or_else(|| Done { of, ..Done::default() });
        Ok(Running { sink, names, target, state, done, reading: Reading::default(), is_over: Arc::default() })
    }

    fn import_server(&self, url: &str) -> Result<ExitCode> {
        let source = Cluster::new(url, &self.access("LIMBER_SOURCE_AUTHORIZATION"))?;
        let shown = format!("{} of {} as {:?}", self.indices, source.url, self.index);
        let mut running = self.begin(shown)?;
        let read = running.reading.read.clone();
        let import = ServerImport::new(
            source,
            running.target.clone(),
            running.sink.clone(),
            self.slices.into(),
            read,
        )?;
        if self.index.is_none() && import.source.is_same_as(&running.target)? {
            bail!(
                "{} and {} are one server: --target-host says where the documents go, --index what their index is called there",
                import.source.url,
                running.target.url
            );
        }
        if self.templates {
            eprintln!("{}", counted(import.templates()? as u64, "template"));
        }
        let units = import.units(&self.indices)?;
        if units.is_empty() {
            bail!("{} has no index or data stream [{}]", import.source.url, self.indices);
        }
        for pattern in import.unmatched(&self.indices, &units) {
            eprintln!("[{pattern}]: {} has no index or data stream of that name", import.source.url);
        }
        if self.index.is_some() && units.len() > 1 {
            bail!("--index names one index, but [{}] are {} there", self.indices, units.len());
        }
        *running.names.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
            units.iter().map(|unit| unit.name.clone()).collect();
        let is_done = |name: &String| running.done.units.contains(name);
        running.reading.total = units.iter().filter(|unit| !is_done(&unit.name)).map(|unit| unit.count).sum();
        let watch = watch(&running, "documents", None)?;
        let outcome = (|| {
            for (number, unit) in units.iter().enumerate() {
                if running.done.units.contains(&unit.name) {
                    eprintln!("[{}] is done already", unit.name);
                    continue;
                }
                let name = self.index.as_ref().unwrap_or(&unit.name);
                let is_new = import.make(unit, name, !self.no_settings)?;
                let told = if is_new { "made" } else { "there already: its settings and mappings stay" };
                eprintln!("[{name}]: {told}; {}", counted(unit.count, "document"));
                import.documents(unit, number as u32, name)?;
                running.sink.drain()?;
                running.done.units.push(unit.name.clone());
                running.state.write(&running.done)?;
                // Makes the imported documents searchable.
                running.target.ask("POST", &format!("/{}/_refresh", url::encoded(name)), None)?;
            }
            Ok(())
        })();
        finish(&running, watch, outcome)
    }

    fn import_files(&self) -> Result<ExitCode> {
        let paths: Vec<PathBuf> = self.sources.iter().map(PathBuf::from).collect();
        for path in paths.iter().filter(|path| path.as_os_str() != "-") {
            if let Some(refusal) = files::refused_folder(path) {
                bail!("{refusal}");
            }
            std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        }
        let delimiter =
            self.delimiter.map(|char| u8::try_from(char).context("--delimiter must be one ASCII character"));
        let target = Target {
            index: self.index.clone(),
            id_field: self.id_field.clone(),
            has_auto_ids: self.auto_id,
            delimiter: delimiter.transpose()?,
        };
        let absolute = paths.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        let shown: Vec<String> = absolute.map(|path| path.display().to_string()).collect();
        let mut running = self.begin(format!("{} as {:?}", shown.join(" "), self.index))?;
        *running.names.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = self.sources.clone();
        running.reading.total =
            paths.iter().filter_map(|path| Some(std::fs::metadata(path).ok()?.len())).sum();
        let watch = watch(&running, "bytes", Some((running.done.clone(), paths.clone(), shown.clone())))?;
        let outcome = (|| {
            for (unit, path) in paths.iter().enumerate() {
                self.file(&running, &target, path, &shown[unit], unit as u32)?;
            }
            running.sink.drain()?;
            // If everything was refused, the index may not exist.
            let (counts, _) = running.sink.progress();
            if let Some(index) = self.index.as_ref().filter(|_| counts.taken > 0) {
                running.target.ask("POST", &format!("/{}/_refresh", url::encoded(index)), None)?;
            }
            Ok(())
        })();
        finish(&running, watch, outcome)
    }

    fn file(
        &self,
        running: &Running,
        target: &Target,
        path: &PathBuf,
        shown: &String,
        unit: u32,
    ) -> Result<()> {
        if running.done.units.contains(shown) {
            eprintln!("{} is done already", path.display());
            let bytes = std::fs::metadata(path).map_or(0, |data| data.len());
            running.reading.read.fetch_add(bytes, Ordering::Relaxed);
            return Ok(());
        }
        let mut input = lines::open(path, &running.reading.read)?;
        let format = match self.format {
            Some(format) => format,
            None => files::recognize(path, &mut input)?,
        };
        if target.index.is_none() && format != Format::Bulk {
            bail!("--index NAME says where the documents of {} go", path.display());
        }
        if let (Format::AccessLog, Some(index)) = (format, &target.index) {
            self.make_log_index(running, index)?;
        }
        let is_next = running.done.units.len() == unit as usize && running.done.records > 0;
        let is_same = running.done.fingerprint == files::fingerprint(path);
        let skipped = if is_next && is_same { running.done.records } else { 0 };
        if skipped > 0 {
            eprintln!("{}: resuming after record {skipped}", path.display());
        }
        FileImport { path, unit, skipped, target, sink: &running.sink }.run(input, format)
    }

    /// Creates the index for a log with a mapping of the known fields. An existing index keeps its own
    /// mapping.
    fn make_log_index(&self, running: &Running, index: &str) -> Result<()> {
        let path = format!("/{}", url::encoded(index));
        if running.target.send("HEAD", &path, b"", "")?.status == 200 {
            return Ok(());
        }
        // If a template makes the name a data stream, no index can be created.
        let simulated =
            running.target.ask_if_there("POST", &format!("/_index_template/_simulate_index{path}"))?;
        if simulated.is_some_and(|answer| {
            !answer["template"]["mappings"].as_object().is_none_or(serde_json::Map::is_empty)
        }) {
            return Ok(());
        }
        running.target.ask("PUT", &path, Some(&json!({"mappings": access_log::mapping()}))).map(drop)
    }
}

/// Prints the progress until the import is over. For files it also saves the progress; `files` has the
/// earlier progress, the paths and their displayed names.
fn watch(
    running: &Running,
    unit: &'static str,
    files: Option<(Done, Vec<PathBuf>, Vec<String>)>,
) -> Result<std::thread::JoinHandle<()>> {
    let (sink, reading, is_over, state) =
        (running.sink.clone(), running.reading.clone(), running.is_over.clone(), running.state.clone());
    let look = move || {
        let started = Instant::now();
        let mut told = Instant::now();
        let is_terminal = std::io::stderr().is_terminal();
        while !is_over.load(Ordering::Relaxed) {
            std::thread::park_timeout(LOOK_EVERY);
            if let Some((before, paths, shown)) = &files {
                keep(&sink, &state, before, paths, shown);
            }
            if is_over.load(Ordering::Relaxed) || (!is_terminal && told.elapsed() < TELL_EVERY) {
                continue;
            }
            told = Instant::now();
            let (counts, _) = sink.progress();
            let taken = counts.taken + counts.known;
            let rate = taken as f64 / started.elapsed().as_secs_f64();
            let share = reading.read.load(Ordering::Relaxed) as f64 / reading.total.max(1) as f64 * 100.0;
            let end = if is_terminal { "\r" } else { "\n" };
            let share =
                if reading.total == 0 { String::new() } else { format!(", {share:.0} % of {unit} read") };
            let line = format!("{taken} documents, {rate:.0} a second, {} refused{share}", counts.failed);
            let _ = write!(std::io::stderr(), "{line:<78}{end}");
        }
    };
    Ok(std::thread::Builder::new().name("import-progress".into()).spawn(look)?)
}

/// Saves the position up to which all records of the files are done.
fn keep(sink: &Sink, state: &StateFile, before: &Done, paths: &[PathBuf], shown: &[String]) {
    let (_, origin) = sink.progress();
    let Some(path) =
        paths.get(origin.unit as usize).filter(|path| origin.record > 0 && path.as_os_str() != "-")
    else {
        return;
    };
    let done = Done {
        of: before.of.clone(),
        units: shown[..origin.unit as usize].to_vec(),
        records: origin.record,
        fingerprint: files::fingerprint(path),
    };
    // If this fails, a later run after an interruption only takes longer.
    let _ = state.write(&done);
}

fn finish(running: &Running, watch: std::thread::JoinHandle<()>, outcome: Result<()>) -> Result<ExitCode> {
    running.is_over.store(true, Ordering::Relaxed);
    watch.thread().unpark();
    let _ = watch.join();
    running.sink.close();
    let (counts, _) = running.sink.progress();
    outcome.with_context(|| match counts.taken + counts.known {
        0 => "nothing was imported".to_owned(),
        taken => format!("the import ended after {taken} documents; the same command resumes it"),
    })?;
    running.state.remove();
    let known =
        if counts.known > 0 { format!(", {} were there already", counts.known) } else { String::new() };
    say(format_args!("{} imported{known}, {} refused", counted(counts.taken, "document"), counts.failed));
    Ok(if counts.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Formats `1 document`, `2 documents`.
fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
