//! `limber`: a search server that speaks Elasticsearch's API, and a race tool that runs Rally's tracks.

#[cfg(test)]
mod attacks;
mod check;
mod config;
mod doctor;
#[cfg(test)]
mod documented_commands;
mod elasticsearch_yml;
mod http;
mod import;
mod inspect;
mod log;
mod machine;
mod manual;
mod page;
mod race_server;
mod remote;
mod reset_password;
mod rest;
mod secure_start;
mod security;
mod serve;
mod settings_file;
mod told;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use limber_race::{
    AddCommand, CompareCommand, CreateTrackCommand, DeleteCommand, InfoCommand, ListCommand, RaceCommand,
    RenderTrackCommand, ReportCommand, exit_code,
};
use limber_race::{AdviseCommand, ExportCommand, SchemesCommand, TuneCommand};

use crate::config::{Config, Overrides, shown_paths};
use crate::machine::{Reserved, cannot_listen};
use crate::race_server::ChildServer;
use crate::serve::Server;

/// jemalloc returns freed pages to the system, so that `memory.limit` shows in the resident size too.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The allocator's options, which it reads at startup (`malloc_conf` in jemalloc's manual). There is one
/// arena per core, whatever the number of threads. Large arrays, such as those for inverting a buffer, are
/// reused like small ones instead of being faulted in each time. Measured while indexing: a quarter fewer
/// page faults and a tenth less resident memory. [`machine::FreedMemory`] decides how long freed pages stay.
// SAFETY: the symbol is jemalloc's own hook: a pointer to a NUL-terminated string.
#[unsafe(export_name = "_rjem_malloc_conf")]
static ALLOCATOR_OPTIONS: &[u8; 64] = b"oversize_threshold:0,percpu_arena:percpu,background_thread:true\0";

/// A search server that speaks Elasticsearch's API and stays inside the memory it is given, and a race tool
/// that runs Rally's tracks.
#[derive(Debug, Parser)]
#[command(name = "limber", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(ServeCommand),
    Race(Box<RaceCommand>),
    RaceSchemes(SchemesCommand),
    #[command(subcommand)]
    List(ListCommand),
    #[command(subcommand)]
    Delete(DeleteCommand),
    #[command(subcommand)]
    Add(AddCommand),
    Info(InfoCommand),
    RenderTrack(RenderTrackCommand),
    CreateTrack(CreateTrackCommand),
    Compare(CompareCommand),
    Advise(AdviseCommand),
    Report(ReportCommand),
    Tune(Box<TuneCommand>),
    ExportTrack(ExportCommand),
    Check(check::CheckCommand),
    Doctor(doctor::DoctorCommand),
    Inspect(inspect::InspectCommand),
    ResetPassword(reset_password::ResetPasswordCommand),
    Completion(CompletionCommand),
    Man(manual::ManCommand),
    Page(page::forward::PageCommand),
    Import(import::command::ImportCommand),
}

/// Run the server until it is told to stop (SIGINT or SIGTERM)
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  limber serve --data /var/lib/limber --memory-limit 2gb
  limber serve --http 127.0.0.1:0 -E cluster.name=test -E indices.memory.index_buffer_size=30%

LIMBER_LOG says what is logged on standard error: error, warn, info (the default), debug, trace, or module=level.")]
struct ServeCommand {
    /// Data folder, created when absent; given several times, shards are spread over the folders, and the
    /// first one has everything else [default: path.data of the configuration, else ./data]
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Address to listen on, or a port alone; port 0 takes a free one and prints it [default: 127.0.0.1:9200]
    #[arg(long, value_name = "[HOST:]PORT")]
    http: Option<String>,
    /// Listen on an address that is not loopback, although everybody who reaches it may do everything
    /// [default: network.insecure of the configuration, else false]
    #[arg(long)]
    insecure_network: bool,
    /// Ask everybody for a password and speak TLS: makes a certificate and the password of the user elastic,
    /// and prints them once, unless they are there already
    #[arg(long)]
    secure: bool,
    /// Memory of the server, such as 2gb, or 25% of the machine's; all memory pools are shares of it
    /// [default: half of the machine's or the cgroup's memory]
    #[arg(long, value_name = "SIZE")]
    memory_limit: Option<String>,
    /// Configuration file; its keys are Elasticsearch's where one exists [default: ./limber.yml if present]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How lines of the log are written: text or json [default: log.format of the configuration, else text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    /// One setting, such as cluster.name=test; wins over the configuration file, and may be given several
    /// times
    #[arg(short = 'E', value_name = "SETTING=VALUE")]
    settings: Vec<String>,
}

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
struct CompletionCommand {
    /// The shell that is to complete commands
    shell: clap_complete::Shell,
}

fn main() -> ExitCode {
    let command = Cli::try_parse().unwrap_or_else(|message| manual::help::exit(&message)).command;
    let outcome = match command {
        Command::Serve(serve) => return report(serve.run()),
        Command::Check(check) => return check.run().unwrap_or_else(|error| report(Err(error))),
        Command::Doctor(doctor) => return doctor.run(),
        Command::Inspect(inspect) => return report(inspect.run()),
        Command::ResetPassword(reset) => return report(reset.run()),
        Command::Completion(completion) => {
            return report(completion.run());
        }
        Command::Import(import) => return import.run().unwrap_or_else(|error| report(Err(error))),
        Command::Page(page) => return report(page.run(&rest::words_of_routes())),
        Command::Man(man) => return report(man.run(Cli::command())),
        Command::ExportTrack(export) => {
            return report(export.run(&mut std::io::stdout()).map_err(Into::into));
        }
        Command::Race(race) => race.run(&ChildServer),
        Command::RaceSchemes(race) => race.run(&ChildServer),
        Command::List(list) => list.run(),
        Command::Delete(delete) => delete.run(&mut std::io::stdout()),
        Command::Add(add) => add.run(&mut std::io::stdout()),
        Command::Info(info) => info.run(),
        Command::RenderTrack(render) => render.run(&mut std::io::stdout()),
        Command::CreateTrack(create) => create.run(&mut std::io::stdout()),
        Command::Compare(compare) => compare.run(),
        Command::Advise(advise) => match advise.run() {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Report(report) => report.run(),
        Command::Tune(tune) => tune.run(&ChildServer),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(exit_code(&error))
        }
    }
}

impl CompletionCommand {
    fn run(self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "limber", &mut script);
        Ok(told::closed_is_fine(std::io::stdout().write_all(&script))?)
    }
}

fn report(outcome: anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

impl ServeCommand {
    /// Returns the flags that override settings.
    fn overrides(&self) -> Overrides {
        Overrides {
            config_file: self.config.clone(),
            data: self.data.clone(),
            http: self.http.clone(),
            insecure_network: self.insecure_network,
            memory_limit: self.memory_limit.clone(),
            settings: self.settings.clone(),
            log_format: self.log_format.clone(),
        }
    }

    fn run(self) -> anyhow::Result<()> {
        let mut config = Config::load(&self.overrides())?;
        log::start(config.log_format)?;
        // What prevents the start is found before anything is created.
        let reserved = Reserved::take(&config.http_address)
            .map_err(|error| cannot_listen(&config.http_address, &error))?;
        limber_engine::refuse_foreign(&config.data_paths).map_err(told::in_words)?;
        let authority = if self.secure { secure_start::prepare(&mut config)? } else { None };
        config.check_network()?;
        let server = Server::start(&config, reserved)?;
        log::apply(server.loggers());
        secure_start::set_first_password(server.node(), &config)?;
        // Scripts and `limber race` read the address from this line.
        println!("listening on {}", server.address);
        if self.secure {
            secure_start::tell(server.node(), authority.as_deref())?;
        }
        for note in &config.notes {
            tracing::info!(setting = note.key, why = note.why, "a setting changes nothing here");
        }
        tracing::info!(
            address = %server.address,
            data = %shown_paths(&config.data_paths),
            memory_limit_mib = config.memory_limit_bytes >> 20,
            "ready"
        );
        server.run_until_signal()
    }
}
