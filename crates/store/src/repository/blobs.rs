//! What every kind of repository can do.

use std::io;

use crate::{Error, Result};

/// One blob of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Relative to the repository: `snapshots/<uuid>`.
    pub name: String,
    /// Length of the blob.
    pub bytes: u64,
}

/// A repository's blobs. Names are `/`-separated, each part of letters, digits, `-`, `_` and `.`, not
/// beginning with a dot.
pub trait Blobs: Send + Sync {
    /// Writes a blob unless there is one of that name; whether it was written. The one operation that decides
    /// races: of two who put the same name, one gets `true`.
    ///
    /// # Errors
    /// After an error the blob may be there or not: only reading it tells.
    fn put_if_absent(&self, name: &str, bytes: Vec<u8>) -> Result<bool>;

    /// The whole blob.
    ///
    /// # Errors
    /// [`Error::is_not_found`] when it is certainly not there; a blob of more than `bytes_max` bytes is not
    /// read.
    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>>;

    /// All blobs in a folder and the folders below it, in no order; none when it is absent. An empty text
    /// means all there are.
    fn list(&self, folder: &str) -> Result<Vec<Blob>>;

    /// Deletes a blob; fine when absent.
    fn delete(&self, name: &str) -> Result<()>;

    /// For messages only; never holds a secret.
    fn place(&self) -> &str;
}

/// Most parts of a name: `indices/<id>/<shard>/<blob>`.
const PARTS_MAX: usize = 6;

/// Whether `name` may be a blob's or folder's: nothing in it can mean another place.
pub(super) fn check_name(place: &str, name: &str) -> Result<()> {
    let is_fine = |part: &str| {
        !part.is_empty()
            && part.len() <= 128
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if name.split('/').count() <= PARTS_MAX && name.split('/').all(is_fine) {
        return Ok(());
    }
    let why = io::Error::new(io::ErrorKind::InvalidInput, format!("[{name}] is no name of a blob"));
    Err(Error::io("look up", place, why))
}

pub(super) fn too_large(place: &str, name: &str, bytes: u64, bytes_max: u64) -> Error {
    let why = format!("the blob has {bytes} bytes, more than the {bytes_max} that it may have");
    Error::io("read", format!("{place}/{name}"), io::Error::new(io::ErrorKind::InvalidData, why))
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_stay_inside() {
        for good in ["generations/0000001", "indices/aB-_9/0/data-x.1", "snapshots"] {
            assert!(check_name("r", good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "a/..",
            "a/../b",
            "a//b",
            "a/",
            ".",
            "./a",
            ".hidden",
            "a\\b",
            "a b",
            "a\0b",
            "a/b/c/d/e/f/g",
            "ä",
            "%2e%2e",
            "a:b",
        ] {
            assert!(check_name("r", bad).is_err(), "{bad:?}");
        }
    }
}
