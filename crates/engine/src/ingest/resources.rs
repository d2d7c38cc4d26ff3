//! The node's resources for processors: scripts, and files of the user.

use std::sync::Arc;

use limber_script::Scripts;
use limber_store::{Directory, Disk, Pool};

use super::geoip::Databases;
use super::processor::enrich::Source as EnrichLookups;
use super::user_agent::Parsers;

/// Folder for the user's files, in the data folder.
const FOLDER: &str = "config";

/// The node's resources for processors.
#[derive(Default)]
pub struct Resources {
    /// Compiled scripts.
    pub scripts: Arc<Scripts>,
    /// Pattern files for `user_agent`.
    pub user_agents: Parsers,
    /// Databases for `geoip`.
    pub databases: Arc<Databases>,
    /// Enrich indices for `enrich`.
    pub enrich: EnrichLookups,
    /// The memory pool that compiled pipelines are charged to; `None` means that they are not charged.
    pub memory: Option<Arc<Pool>>,
}

impl std::fmt::Debug for Resources {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Resources").finish_non_exhaustive()
    }
}

impl Resources {
    /// Opens the files on `disk`. Creates no missing folders.
    pub fn open(scripts: Arc<Scripts>, disk: &Arc<dyn Disk>) -> Resources {
        let user_agents = Parsers::of(folder(disk, "ingest-user-agent"));
        let databases = Arc::new(Databases::of(disk.clone()));
        Resources { scripts, user_agents, databases, enrich: EnrichLookups::default(), memory: None }
    }
}

/// Returns a folder of files, if it exists.
pub fn folder(disk: &Arc<dyn Disk>, name: &str) -> Option<Arc<dyn Directory>> {
    let is_there = disk.folders(FOLDER).is_ok_and(|names| names.iter().any(|known| known == name));
    if is_there { disk.folder(&format!("{FOLDER}/{name}")).ok() } else { None }
}
