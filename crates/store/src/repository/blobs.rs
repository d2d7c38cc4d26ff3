//! The operations of every kind of repository.

use std::io;

use crate::{Error, Result};

/// One blob of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Name relative to the repository: `snapshots/<uuid>`.
    pub name: String,
    /// Length of the blob.
    pub bytes: u64,
}

/// A repository's blobs. Names are `/`-separated; each part consists of letters, digits, `-`, `_` and `.`
/// and does not begin with a dot.
pub trait Blobs: Send + Sync {
    /// Writes a blob unless one of that name exists; returns whether it was written. This is the one
    /// operation that decides races: if two callers put the same name, only one gets `true`.
    ///
    /// # Errors
    /// After an error the blob may or may not exist; only reading it tells.
    fn put_if_absent(&self, name: &str, bytes: Vec<u8>) -> Result<bool>;

    /// Whether a blob that is found after its writing has failed is written all the same, because only the
    /// answer was lost on its way. A blob on a disk may be found and vanish with the power.
    fn may_lose_answers(&self) -> bool {
        true
    }

    /// Returns the whole blob.
    ///
    /// # Errors
    /// Fails with [`Error::is_not_found`] only if the blob certainly does not exist. Does not read a blob
    /// of more than `bytes_max` bytes.
    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>> {
        self.get_if(name, &mut |bytes| match bytes > bytes_max {
            true => Err(too_large(self.place(), name, bytes, bytes_max)),
            false => Ok(()),
        })
    }

    /// Returns the whole blob if `admits` accepts its length, which it is asked before memory is allocated.
    ///
    /// # Errors
    /// As [`Blobs::get`]; the error of `admits`.
    fn get_if(&self, name: &str, admits: &mut dyn FnMut(u64) -> Result<()>) -> Result<Vec<u8>>;

    /// Lists all blobs in a folder and the folders below it, in no order; none if it does not exist. An
    /// empty string means the whole repository.
    fn list(&self, folder: &str) -> Result<Vec<Blob>>;

    /// Deletes a blob; succeeds if it does not exist.
    fn delete(&self, name: &str) -> Result<()>;

    /// Returns the location of the repository, for messages only; never contains a secret.
    fn place(&self) -> &str;
}

/// Maximum number of parts of a name: `indices/<id>/<shard>/<blob>`.
const PARTS_MAX: usize = 6;

/// Checks that `name` is valid for a blob or folder, so that it cannot lead out of the repository.
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

/// Makes the error for a blob that is larger than the reader allows.
pub fn too_large(place: &str, name: &str, bytes: u64, bytes_max: u64) -> Error {
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
