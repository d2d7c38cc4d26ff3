//! What processors need of the node: scripts, and files of the user.

use std::sync::Arc;

use limber_script::Scripts;
use limber_store::{Directory, Disk, Pool};

use super::geoip::Databases;
use super::processor::enrich::Source as EnrichLookups;
use super::user_agent::Parsers;

/// Where users put files for processors, below the data folder.
const FOLDER: &str = "config";

/// What processors find at the node.
#[derive(Default)]
pub struct Resources {
    /// Compiled scripts.
    pub scripts: Arc<Scripts>,
    /// Patterns of `user_agent`.
    pub user_agents: Parsers,
    /// Databases of `geoip`.
    pub databases: Arc<Databases>,
    /// Indices of `enrich`.
    pub enrich: EnrichLookups,
    /// The pool that compiled pipelines are charged to; `None`: they are not charged.
    pub memory: Option<Arc<Pool>>,
}

impl std::fmt::Debug for Resources {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Resources").finish_non_exhaustive()
    }
}

impl Resources {
    /// The files of `disk`; nothing is made where there are none.
    pub fn open(scripts: Arc<Scripts>, disk: &Arc<dyn Disk>) -> Resources {
        let user_agents = Parsers::of(folder(disk, "ingest-user-agent"));
        let databases = Arc::new(Databases::of(disk.clone()));
        Resources { scripts, user_agents, databases, enrich: EnrichLookups::default(), memory: None }
    }
}

/// A folder of files, if it is there.
pub fn folder(disk: &Arc<dyn Disk>, name: &str) -> Option<Arc<dyn Directory>> {
    let is_there = disk.folders(FOLDER).is_ok_and(|names| names.iter().any(|known| known == name));
    if is_there { disk.folder(&format!("{FOLDER}/{name}")).ok() } else { None }
}
