//! Options that select a track, for every subcommand that needs one, and `limber list tracks`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;

use super::python::PythonArguments;
use super::{folder, printed};
use crate::arguments::parse;
use crate::error::Error;
use crate::model::Track;
use crate::report::listing;
use crate::report::narrow::terminal_width;
use crate::track::builtin;
use crate::track::load::repository::Repository;
use crate::track::load::{self, TrackSource, TrackSpec};

const DEFAULT_TRACK: &str = "log_ingest";

/// Options that select a track.
#[derive(Debug, Clone, Default, Args)]
pub struct TrackArguments {
    /// Folder of a Rally track (or its track.json)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["track", "track_repository", "track_revision"])]
    pub track_path: Option<PathBuf>,
    /// Built-in track, or track of --track-repository [default: log_ingest]
    #[arg(long, value_name = "NAME")]
    pub track: Option<String>,
    #[command(flatten)]
    pub repository: RepositoryArguments,
    /// Challenge of the track [default: the track's own default]
    #[arg(long, value_name = "NAME")]
    pub challenge: Option<String>,
    /// Track parameters: key:value,key2:value2, a JSON object, or a .json file
    #[arg(long, value_name = "PARAMS")]
    pub track_params: Option<String>,
    /// Download nothing; corpora must be on disk already
    #[arg(long)]
    pub offline: bool,
    #[command(flatten)]
    pub python: PythonArguments,
}

/// Options that select tasks of a challenge, for the subcommands that look at schedules.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TaskArguments {
    /// Only these tasks: names, type:<operation-type> or tag:<tag>, separated by commas
    #[arg(long, value_name = "TASKS", value_delimiter = ',', conflicts_with = "exclude_tasks")]
    pub include_tasks: Vec<String>,
    /// Leave these tasks out
    #[arg(long, value_name = "TASKS", value_delimiter = ',')]
    pub exclude_tasks: Vec<String>,
}

impl TaskArguments {
    pub(crate) fn apply(&self, spec: &mut TrackSpec) {
        spec.include_tasks = self.include_tasks.clone();
        spec.exclude_tasks = self.exclude_tasks.clone();
    }
}

/// Options that select a folder or clone with several tracks.
#[derive(Debug, Clone, Default, Args)]
pub struct RepositoryArguments {
    /// Folder or git clone with tracks, or the name of one below ~/.limber/benchmarks/tracks or
    /// ~/.rally/benchmarks/tracks. The branch that fits the server's version is read; the clone stays as it
    /// is
    #[arg(long, value_name = "DIR")]
    pub track_repository: Option<PathBuf>,
    /// Branch, tag or commit of the repository [default: the branch for the server's version]
    #[arg(long, value_name = "REVISION", requires = "track_repository")]
    pub track_revision: Option<String>,
    /// Version of the server by which the repository's branch is chosen [default: what the server says]
    #[arg(long, value_name = "VERSION", requires = "track_repository")]
    pub distribution_version: Option<String>,
}

impl RepositoryArguments {
    fn repository(&self) -> Result<Option<Repository>, Error> {
        let Some(path) = &self.track_repository else { return Ok(None) };
        let home = folder()?;
        let below = |home: &Path| home.join("benchmarks").join("tracks").join(path);
        let rally = std::env::var_os("RALLY_HOME").or_else(|| std::env::var_os("HOME"));
        let places = [
            Some(path.clone()),
            Some(below(&home)),
            rally.map(|home| below(&Path::new(&home).join(".rally"))),
        ];
        Ok(Some(Repository {
            path: places.into_iter().flatten().find(|place| place.is_dir()).unwrap_or_else(|| path.clone()),
            revision: self.track_revision.clone(),
            checkouts: home.join("benchmarks").join("checkouts"),
        }))
    }
}

impl TrackArguments {
    pub(crate) fn spec(&self, corpus: Option<&Path>) -> Result<TrackSpec, Error> {
        let refused = |reason: &str| Err(Error::Argument(reason.into()));
        let source = match (&self.track_path, self.repository.repository()?, &self.track) {
            (Some(_), ..) | (_, Some(_), _) if corpus.is_some() => {
                return refused(
                    "--corpus goes with a built-in track, not with --track-path or --track-repository",
                );
            }
            (Some(path), ..) => TrackSource::Path(path.clone()),
            (None, Some(repository), Some(track)) => {
                TrackSource::Repository { repository, track: track.trim_end_matches('/').to_owned() }
            }
            (None, Some(_), None) => {
                return refused(
                    "--track-repository needs --track; limber list tracks --track-repository shows its tracks",
                );
            }
            (None, None, name) => TrackSource::BuiltIn {
                name: name.clone().unwrap_or_else(|| DEFAULT_TRACK.to_owned()),
                corpus: corpus.map(Path::to_owned),
            },
        };
        let mut spec = TrackSpec::new(source, now_s());
        spec.challenge = self.challenge.clone();
        spec.is_offline = self.offline;
        spec.python = self.python.settings();
        spec.distribution_version = self.repository.distribution_version.clone();
        if let Some(params) = &self.track_params {
            spec.params = parse(params)?;
        }
        Ok(spec)
    }
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// List the built-in tracks (and the one at --track-path), or the tracks of a repository
#[derive(Debug, Clone, Args)]
pub struct ListTracksCommand {
    /// Folder of a Rally track to describe as well
    #[arg(long, value_name = "DIR", conflicts_with = "track_repository")]
    pub track_path: Option<PathBuf>,
    #[command(flatten)]
    pub repository: RepositoryArguments,
}

impl ListTracksCommand {
    /// Lists the tracks. Tracks of a repository that cannot be read are left out with a warning on standard
    /// error.
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let mut tracks = Vec::new();
        let read = |source: TrackSource| load::read(&TrackSpec::new(source, now_s()));
        if let Some(repository) = self.repository.repository()? {
            let version = self.repository.distribution_version.as_deref();
            let checkout = repository.checkout(version)?;
            for name in checkout.track_names()? {
                match read(TrackSource::Path(checkout.folder.join(&name))) {
                    Ok(track) => tracks.push(Track { name, ..track }),
                    Err(error) => {
                        let _ = writeln!(std::io::stderr(), "[WARNING] Track [{name}] is left out: {error}");
                    }
                }
            }
        } else {
            for name in builtin::names() {
                tracks.push(read(TrackSource::BuiltIn { name: name.to_owned(), corpus: None })?);
            }
            if let Some(path) = &self.track_path {
                tracks.push(read(TrackSource::Path(path.clone()))?);
            }
        }
        printed(listing::write_tracks(&tracks, terminal_width(), out))
    }
}
