//! `limber create-track`: makes a track of the user's data.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::hosts::HostArguments;
use super::printed;
use crate::create::{self, Selection};
use crate::error::Error;
use crate::server::hosts::connect;

/// Create a track from indices or data streams of a running server, or from a log file
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  limber create-track --track mine --target-hosts 127.0.0.1:9200 --indices 'products*' --output-path tracks
  limber create-track --track logs --target-hosts 127.0.0.1:9200 --data-streams logs-nginx
  limber create-track --track weblog --from access.log.gz")]
#[command(group = clap::ArgGroup::new("what").required(true).args(["indices", "data_streams", "from"]))]
pub struct CreateTrackCommand {
    /// Name of the track, and of its folder
    #[arg(long, value_name = "NAME")]
    pub track: String,
    /// Indices to take, separated by commas; names may be patterns
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "target_hosts")]
    pub indices: Vec<String>,
    /// Data streams to take, separated by commas; names may be patterns
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "target_hosts")]
    pub data_streams: Vec<String>,
    /// Access log (common or combined format) or NDJSON to take, also compressed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["target_hosts", "client_options"])]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) hosts: HostArguments,
    /// Folder into which the track's folder is written
    #[arg(long, value_name = "DIR", default_value = "tracks")]
    pub output_path: PathBuf,
    /// Documents that are read by one request
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub batch_size: u64,
}

impl CreateTrackCommand {
    /// # Errors
    /// Those of [`create::from_cluster`] and [`create::from_file`].
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let log = &mut std::io::stderr();
        let folder = match &self.from {
            Some(file) => create::from_file(&self.track, &self.output_path, file, log)?,
            None => {
                let target = self.hosts.clusters(None)?.remove(0);
                let mut cluster = connect(&target.hosts, &target.options)?;
                let are_data_streams = !self.data_streams.is_empty();
                let selection = Selection {
                    names: if are_data_streams { self.data_streams.clone() } else { self.indices.clone() },
                    are_data_streams,
                    batch_size: self.batch_size,
                };
                create::from_cluster(&self.track, &self.output_path, &mut cluster, &selection, log)?
            }
        };
        let (name, folder) = (&self.track, folder.display());
        printed(writeln!(
            out,
            "Track {name} has been created. Run it with: limber race --track-path={folder}"
        ))
    }
}
