//! The Python files that are part of the binary, and the folder from which they run.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::process::is_alive;

/// Prefix of the folders' names; the process id and a number follow.
const PREFIX: &str = "limber-python-";

macro_rules! scripts {
    ($($to:literal <- $from:literal),* $(,)?) => {
        &[$(($to, include_str!(concat!("python/", $from)))),*]
    };
}

/// Path in the folder and contents. The worker imports from its own folder; the shims are put on Python's
/// path if they are needed.
const SCRIPTS: &[(&str, &str)] = scripts![
    "worker.py" <- "worker.py",
    "limber_api.py" <- "limber_api.py",
    "limber_clients.py" <- "limber_clients.py",
    "limber_errors.py" <- "limber_errors.py",
    "limber_loading.py" <- "limber_loading.py",
    "limber_runners.py" <- "limber_runners.py",
    "limber_schedulers.py" <- "limber_schedulers.py",
    "limber_sources.py" <- "limber_sources.py",
    "limber_tracks.py" <- "limber_tracks.py",
    "shim/esrally/__init__.py" <- "esrally/__init__.py",
    "shim/esrally/exceptions.py" <- "esrally/exceptions.py",
    "shim/esrally/version.py" <- "esrally/version.py",
    "shim/esrally/driver/__init__.py" <- "esrally/driver/__init__.py",
    "shim/esrally/driver/runner.py" <- "esrally/driver/runner.py",
    "shim/esrally/driver/scheduler.py" <- "esrally/driver/scheduler.py",
    "shim/esrally/track/__init__.py" <- "esrally/track/__init__.py",
    "shim/esrally/track/loader.py" <- "esrally/track/loader.py",
    "shim/esrally/track/params.py" <- "esrally/track/params.py",
    "shim/esrally/track/track.py" <- "esrally/track/track.py",
    "shim/esrally/utils/__init__.py" <- "esrally/utils/__init__.py",
    "shim/esrally/utils/io.py" <- "esrally/utils/io.py",
    "shim/esrally/utils/net.py" <- "esrally/utils/net.py",
    "elasticsearch_shim/elasticsearch/__init__.py" <- "elasticsearch/__init__.py",
    "elasticsearch_shim/elasticsearch/client.py" <- "elasticsearch/client.py",
    "elasticsearch_shim/elasticsearch/exceptions.py" <- "elasticsearch/exceptions.py",
];

/// A temporary folder with the scripts. Dropping it removes the folder.
#[derive(Debug)]
pub(crate) struct Scripts {
    folder: PathBuf,
}

impl Scripts {
    /// Writes a new folder, and removes the folders of processes that ended without removing theirs.
    pub(crate) fn write() -> io::Result<Scripts> {
        sweep(&std::env::temp_dir(), is_alive);
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("{PREFIX}{}-{number}", std::process::id()));
        // An existing folder belongs to an earlier process with the same id. It must not be reused, since
        // somebody else could have put scripts there.
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::create_dir(&folder)?;
        let scripts = Scripts { folder };
        for (name, text) in SCRIPTS {
            let path = scripts.folder.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(scripts)
    }

    pub(crate) fn worker(&self) -> PathBuf {
        self.folder.join("worker.py")
    }

    /// Returns the folder with the package `esrally`; that of `elasticsearch` is beside it.
    pub(crate) fn shims(&self) -> PathBuf {
        self.folder.join("shim")
    }

    #[cfg(test)]
    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.folder
    }
}

/// Removes the folders in `temporary` whose process is gone. Folders that cannot be removed, such as another
/// user's, stay.
fn sweep(temporary: &Path, is_alive: impl Fn(u32) -> bool) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok());
        if owner.is_some_and(|process_id| !is_alive(process_id)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        // If this fails, a folder of small files stays in the temporary folder, which does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_is_embedded() {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/track/plugin/python");
        let pattern = format!("{}/**/*.py", source.display());
        let files = glob::glob(&pattern).unwrap().count();
        assert_eq!(files, SCRIPTS.len());
    }

    #[test]
    fn folders_of_ended_processes_go_at_the_next_start() {
        let temporary = tempfile::tempdir().unwrap();
        let names = ["limber-python-7-0", "limber-python-8-1", "limber-python-mine", "other-8-1"];
        for name in names {
            std::fs::create_dir_all(temporary.path().join(name).join("shim")).unwrap();
        }
        sweep(temporary.path(), |process_id| process_id == 7);
        let left = names.map(|name| temporary.path().join(name).exists());
        assert_eq!(left, [true, false, true, true]);
    }

    #[test]
    fn the_folder_goes_with_its_owner() {
        let scripts = Scripts::write().unwrap();
        let folder = scripts.folder().to_owned();
        assert!(scripts.worker().is_file() && scripts.shims().join("esrally/track/params.py").is_file());
        drop(scripts);
        assert!(!folder.exists());
    }
}
