//! The Python files that are part of the binary, and a folder that they are run from.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! scripts {
    ($($to:literal <- $from:literal),* $(,)?) => {
        &[$(($to, include_str!(concat!("python/", $from)))),*]
    };
}

/// Place in the folder and text. The worker sees its own folder; the shims are put on Python's path where they are needed.
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

/// A temporary folder with the scripts; dropping it removes it.
#[derive(Debug)]
pub struct Scripts {
    folder: PathBuf,
}

impl Scripts {
    pub fn write() -> io::Result<Scripts> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("limber-python-{}-{number}", std::process::id()));
        // What stands there is of an older process of the same id; nobody else may have put scripts there for us to run.
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

    pub fn worker(&self) -> PathBuf {
        self.folder.join("worker.py")
    }

    /// The folder with the package `esrally`; that of `elasticsearch` stands beside it.
    pub fn shims(&self) -> PathBuf {
        self.folder.join("shim")
    }

    #[cfg(test)]
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        // A folder of small files that stays in the temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_is_embedded() {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plugin/python");
        let pattern = format!("{}/**/*.py", source.display());
        let files = glob::glob(&pattern).unwrap().count();
        assert_eq!(files, SCRIPTS.len());
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
