//! The database files of a node, which are checked for changes now and then.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use limber_store::sync::Mutex;
use limber_store::{Directory, Disk};

use super::super::resources::folder;
use super::database::Database;

/// Name of the folder with databases, below `config` in the data folder.
pub const FOLDER: &str = "ingest-geoip";

/// How long a file is not checked again.
const FRESH: Duration = Duration::from_secs(10);

/// How much of the end of a file is compared. The metadata with the time of the build is there.
const END_BYTES: u64 = 4096;

/// A file as it was when it was last checked.
struct Known {
    looked: Instant,
    mark: Mark,
    database: Option<Arc<Database>>,
}

/// What tells a file from its successor: length and last bytes. `None` if these cannot be read.
type Mark = Option<(u64, Vec<u8>)>;

/// The databases of a node. Each is opened when first requested, and again when its file changes.
#[derive(Default)]
pub struct Databases {
    disk: Option<Arc<dyn Disk>>,
    known: Mutex<HashMap<String, Known>>,
}

impl fmt::Debug for Databases {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Databases").finish_non_exhaustive()
    }
}

impl Databases {
    /// Uses the databases in the data folder on this disk.
    pub fn of(disk: Arc<dyn Disk>) -> Databases {
        Databases { disk: Some(disk), known: Mutex::default() }
    }

    /// Returns the names of the existing files, readable or not.
    pub fn names(&self) -> Vec<String> {
        let directory = self.disk.as_ref().and_then(|disk| folder(disk, FOLDER));
        let mut names = directory.and_then(|directory| directory.list().ok()).unwrap_or_default();
        names.retain(|name| name.ends_with(".mmdb"));
        names.sort_unstable();
        names
    }

    /// Returns the database in the file with this name; `None` when there is none or it cannot be read.
    pub fn get(&self, name: &str) -> Option<Arc<Database>> {
        let mut known = self.known.lock();
        if let Some(found) = known.get(name)
            && found.looked.elapsed() < FRESH
        {
            return found.database.clone();
        }
        let directory = folder(self.disk.as_ref()?, FOLDER);
        // A name with separators is never in the listing, so no other folder can be reached.
        let directory = directory
            .filter(|directory| directory.list().is_ok_and(|names| names.iter().any(|known| known == name)));
        let Some(directory) = directory else {
            known.remove(name);
            return None;
        };
        let mark = mark_of(&*directory, name);
        let is_same = |found: &&Known| mark.is_some() && found.mark == mark && found.database.is_some();
        let unchanged = known.get(name).filter(is_same);
        let database = match unchanged {
            Some(found) => found.database.clone(),
            None => read(&*directory, name),
        };
        known.insert(name.to_owned(), Known { looked: Instant::now(), mark, database: database.clone() });
        database
    }
}

fn mark_of(directory: &dyn Directory, name: &str) -> Mark {
    let bytes = directory.len(name).ok()?;
    let end = bytes.min(END_BYTES);
    Some((bytes, directory.read(name, bytes - end, end as usize).ok()?))
}

fn read(directory: &dyn Directory, name: &str) -> Option<Arc<Database>> {
    let opened = directory.open(name).map_err(|error| error.to_string()).and_then(Database::open);
    match opened {
        Ok(database) => Some(Arc::new(database)),
        Err(reason) => {
            tracing::warn!("the database [{name}] cannot be read: {reason}");
            None
        }
    }
}
