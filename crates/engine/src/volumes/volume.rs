//! One volume: whether it is there, and whether it is ours.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use limber_store::sync::Mutex;
use limber_store::{Disk, Error, Result};

use super::files::{IDENTITY_FOLDER, Identity, Known};

/// Opens the folder of a volume; called again until it succeeds.
pub type Opener = Box<dyn Fn() -> Result<Arc<dyn Disk>> + Send + Sync>;

/// A folder of `path.data` besides the main one.
pub(super) struct Volume {
    pub path: PathBuf,
    open: Opener,
    state: Mutex<State>,
}

enum State {
    Attached {
        id: String,
        disk: Arc<dyn Disk>,
    },
    /// Why the volume is not there.
    Absent(String),
}

/// Why a volume is not attached.
pub(super) enum Refusal {
    /// It may come back: a device that failed, or that is not mounted.
    Absent(String),
    /// The folder can never be used as it is, so the configuration is wrong.
    Unusable(Error),
}

/// Folders that a new volume may have: that of a new file system, and that of an identity which was not
/// completely written.
const OF_NEW_VOLUME: &[&str] = &["lost+found", IDENTITY_FOLDER];

impl Volume {
    pub(super) fn new(path: PathBuf, open: Opener) -> Volume {
        Volume { path, open, state: Mutex::new(State::Absent("it was not opened yet".into())) }
    }

    /// Returns the id and the disk, or why the volume is not there.
    pub(super) fn attached(&self) -> std::result::Result<(String, Arc<dyn Disk>), String> {
        match &*self.state.lock() {
            State::Attached { id, disk } => Ok((id.clone(), disk.clone())),
            State::Absent(why) => Err(why.clone()),
        }
    }

    /// Opens the folder and checks to whom it belongs. An empty folder becomes a new volume with the id
    /// `new_id`, unless a volume that still has shards was last seen at this path (`expected`): that one is
    /// probably not mounted.
    ///
    /// # Errors
    /// The volume is not there, or the folder cannot be used.
    pub(super) fn attach(
        &self,
        main: &dyn Disk,
        known: &mut Known,
        expected: Option<&str>,
        new_id: impl FnOnce() -> String,
    ) -> std::result::Result<(), Refusal> {
        let outcome = self.identify(main, known, expected, new_id);
        let mut state = self.state.lock();
        match outcome {
            Ok((id, disk)) => {
                *state = State::Attached { id, disk };
                Ok(())
            }
            Err(refusal) => {
                if let Refusal::Absent(why) = &refusal {
                    *state = State::Absent(why.clone());
                }
                Err(refusal)
            }
        }
    }

    fn identify(
        &self,
        main: &dyn Disk,
        known: &mut Known,
        expected: Option<&str>,
        new_id: impl FnOnce() -> String,
    ) -> std::result::Result<(String, Arc<dyn Disk>), Refusal> {
        let absent = |error: Error| match error {
            Error::Locked { .. } | Error::Corrupt { .. } | Error::Newer { .. } => Refusal::Unusable(error),
            error => Refusal::Absent(error.to_string()),
        };
        let disk = (self.open)().map_err(absent)?;
        let path = self.path.display().to_string();
        if let Some(identity) = Identity::read(&*disk).map_err(absent)? {
            if identity.main != known.main {
                let found = format!("a volume of another node ({})", identity.main);
                return Err(Refusal::Unusable(self.unusable(found)));
            }
            if known.volumes.get(&identity.id) != Some(&path) {
                let mut next = known.clone();
                next.volumes.insert(identity.id.clone(), path);
                next.write(main).map_err(|error| Refusal::Absent(error.to_string()))?;
                *known = next;
            }
            return Ok((identity.id, disk));
        }
        let folders = disk.folders("").map_err(absent)?;
        if let Some(other) = folders.iter().find(|name| !OF_NEW_VOLUME.contains(&name.as_str())) {
            return Err(Refusal::Unusable(self.unusable(format!("the folder [{other}]"))));
        }
        if let Some(id) = expected {
            return Err(Refusal::Absent(format!(
                "the folder [{path}] is empty, and the volume [{id}] with its shards was there; is it mounted?"
            )));
        }
        let id = new_id();
        let mut next = known.clone();
        next.volumes.retain(|_, other| *other != path);
        next.volumes.insert(id.clone(), path);
        let identity = Identity { id: id.clone(), main: known.main.clone() };
        let written = next.write(main).and_then(|()| identity.write(&*disk));
        written.map_err(|error| Refusal::Absent(error.to_string()))?;
        *known = next;
        Ok((id, disk))
    }

    fn unusable(&self, found: String) -> Error {
        Error::Foreign { path: self.path.clone(), found }
    }

    /// Returns where a path lies on this volume.
    pub(super) fn full_path(&self, path: &str) -> PathBuf {
        Path::new(&self.path).join(path)
    }
}
