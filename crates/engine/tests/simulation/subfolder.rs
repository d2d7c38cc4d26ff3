//! Data folders that lie on one simulated disk: its power and its faults are theirs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use limber_engine::environment::SeededRandomness;
use limber_engine::{Opener, Volumes};
use limber_store::{CrashDisk, Directory, Disk, DiskSpace, Result};

/// A folder of a disk, as a disk.
struct Subfolder {
    disk: CrashDisk,
    name: &'static str,
    root: PathBuf,
}

impl Subfolder {
    fn new(disk: &CrashDisk, name: &'static str) -> Subfolder {
        Subfolder { disk: disk.clone(), name, root: disk.root().join(name) }
    }

    fn path(&self, path: &str) -> String {
        if path.is_empty() { self.name.to_owned() } else { format!("{}/{path}", self.name) }
    }
}

impl Disk for Subfolder {
    fn folder(&self, path: &str) -> Result<Arc<dyn Directory>> {
        self.disk.folder(&self.path(path))
    }

    fn folders(&self, path: &str) -> Result<Vec<String>> {
        self.disk.folders(&self.path(path))
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        self.disk.remove_folder(&self.path(path))
    }

    fn space(&self) -> Result<DiskSpace> {
        self.disk.space()
    }

    fn root(&self) -> &Path {
        &self.root
    }
}

/// Opens a main folder and two volumes on one disk.
pub fn volumes(disk: &CrashDisk, seed: u64) -> Result<Volumes> {
    let opener = |name: &'static str| -> (PathBuf, Opener) {
        let disk = disk.clone();
        let open = move || -> Result<Arc<dyn Disk>> { Ok(Arc::new(Subfolder::new(&disk, name))) };
        (PathBuf::from(name), Box::new(open))
    };
    let others = vec![opener("one"), opener("two")];
    Volumes::over(Arc::new(Subfolder::new(disk, "main")), others, Arc::new(SeededRandomness::new(seed)))
}
