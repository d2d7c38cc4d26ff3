use std::io;
use std::path::PathBuf;

use limber_work::MemoryLimitExceeded;

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the disk or the ledger refused a request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused; `ENOSPC` and `EIO` are reported as this.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// The attempted action, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Bytes on disk are not what was written.
    #[error("corrupt {file} at offset {offset}: expected {expected}, found {found}")]
    Corrupt {
        /// Name of the file.
        file: String,
        /// Offset of the bytes.
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A file of a format that this build does not support yet. It is not touched.
    #[error(
        "{file} was written by a newer version of limber: it has format {found}, and this build reads up to {supported}"
    )]
    Newer {
        /// Name of the file.
        file: String,
        /// Version of its format.
        found: u64,
        /// Newest version that this build reads.
        supported: u64,
    },
    /// Another process holds the folder.
    #[error("folder {} is locked by another process", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// A data folder contains something else than data of this node. It is not touched.
    #[error("folder {} must be empty or belong to this node, but contains {found}", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What it contains.
        found: String,
    },
    /// A pool of the ledger is full; becomes Elasticsearch's `circuit_breaking_exception`.
    #[error(transparent)]
    LimitExceeded(#[from] MemoryLimitExceeded),
}

impl Error {
    /// Creates an I/O error. `action` is the action attempted on `path`, as a verb for the message: `open`,
    /// `fsync`.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Error::Io { action, path: path.into(), source }
    }

    /// Creates the error for a mapped file of which the disk cannot read a part.
    pub fn unreadable(path: impl Into<PathBuf>) -> Self {
        Error::io("read", path, io::Error::from_raw_os_error(libc::EIO))
    }

    /// Whether the system reports that the file does not exist. After any other error the file may or may
    /// not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the disk is full (`ENOSPC`, `EDQUOT`).
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Error::Io { source, .. } if matches!(source.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT)))
    }
}
