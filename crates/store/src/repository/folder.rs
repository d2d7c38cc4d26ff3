//! A repository in a folder, such as a mounted share.
//!
//! A blob is written under a unique temporary name, synced, and linked to its name. `link` fails if the
//! name is taken, so that only one of two writers succeeds, even across processes and machines that share
//! the folder. A crash may leave a file `pending-...`, which no snapshot names and a cleanup removes.
//! Symbolic links are not followed anywhere below the configured folder.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use super::blobs::{Blob, Blobs, check_name};
use crate::{Error, Result};

/// Why a location is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocationError {
    /// `path.repo` is not set.
    NoRoots,
    /// It lies in none of the configured folders, or its path leads out of them.
    Outside,
}

/// Blobs as files.
pub struct FolderBlobs {
    /// One of the configured folders; it may itself be reached by a symbolic link, since an administrator
    /// chose it.
    root: PathBuf,
    /// Path components from there to the repository.
    below: Vec<OsString>,
    place: String,
}

const PENDING: &str = "pending-";

impl FolderBlobs {
    /// Opens a location. `roots` are the folders of `path.repo`; a relative location is below the first.
    /// Nothing is created before the first write.
    ///
    /// # Errors
    /// Fails if the location is in none of them. `..` is always refused.
    pub fn open(roots: &[PathBuf], location: &str) -> std::result::Result<FolderBlobs, LocationError> {
        let first = roots.first().ok_or(LocationError::NoRoots)?;
        let path = Path::new(location);
        if location.contains('\0') || path.components().any(|part| part == Component::ParentDir) {
            return Err(LocationError::Outside);
        }
        let (root, rest) = match path.is_absolute() {
            false => (first, path),
            true => roots
                .iter()
                .find_map(|root| Some((root, path.strip_prefix(root).ok()?)))
                .ok_or(LocationError::Outside)?,
        };
        let below = rest.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            _ => None,
        });
        let below: Vec<OsString> = below.collect();
        let place = below.iter().fold(root.clone(), |path, name| path.join(name)).display().to_string();
        Ok(FolderBlobs { root: root.clone(), below, place })
    }

    /// Returns the folder of a path inside the repository; `None` if it does not exist and `create` is not
    /// set.
    fn folder(&self, inside: &[&str], create: bool) -> Result<Option<PathBuf>> {
        let mut path = self.root.clone();
        if create && !path.is_dir() {
            fs::create_dir_all(&path).map_err(|e| Error::io("create folder", &path, e))?;
        }
        let inside = inside.iter().map(|name| OsString::from(*name));
        for name in self.below.iter().cloned().chain(inside) {
            let parent = path.clone();
            path.push(name);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => continue,
                Ok(found) => {
                    let what = if found.is_symlink() { "a symbolic link" } else { "not a folder" };
                    let why = io::Error::new(io::ErrorKind::PermissionDenied, format!("it is {what}"));
                    return Err(Error::io("enter", &path, why));
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound && !create => return Ok(None),
                Err(e) if e.kind() == io::ErrorKind::NotFound => match fs::create_dir(&path) {
                    Ok(()) => sync_folder(&parent)?,
                    // Another writer created it just now. The next step or the next call checks whether it
                    // is a folder.
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(e) => return Err(Error::io("create folder", &path, e)),
                },
                Err(e) => return Err(Error::io("stat", &path, e)),
            }
        }
        Ok(Some(path))
    }

    fn parts<'n>(&self, name: &'n str) -> Result<(Vec<&'n str>, &'n str)> {
        check_name(&self.place, name)?;
        let mut parts: Vec<&str> = name.split('/').collect();
        let last = parts.pop().unwrap_or_default();
        Ok((parts, last))
    }

    fn list_into(&self, inside: &mut Vec<String>, blobs: &mut Vec<Blob>) -> Result<()> {
        let names: Vec<&str> = inside.iter().map(String::as_str).collect();
        let Some(path) = self.folder(&names, false)? else { return Ok(()) };
        let entries = match fs::read_dir(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(|e| Error::io("list", &path, e))?,
        };
        for entry in entries {
            let entry = entry.map_err(|e| Error::io("list", &path, e))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if check_name(&self.place, &name).is_err() {
                continue;
            }
            // The metadata of the entry itself: links count neither as blobs nor as folders of the
            // repository.
            let kind = entry.file_type().map_err(|e| Error::io("stat", entry.path(), e))?;
            if kind.is_dir() {
                inside.push(name);
                let outcome = self.list_into(inside, blobs);
                inside.pop();
                outcome?;
            } else if kind.is_file() {
                let bytes = match entry.metadata() {
                    Ok(found) => found.len(),
                    // Deleted in the meantime.
                    Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                    Err(e) => return Err(Error::io("stat", entry.path(), e)),
                };
                let name =
                    inside.iter().map(String::as_str).chain([name.as_str()]).collect::<Vec<_>>().join("/");
                blobs.push(Blob { name, bytes });
            }
        }
        Ok(())
    }
}

fn sync_folder(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|e| Error::io("fsync", path, e))
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
        .map_err(|e| Error::io("create", path, e))?;
    file.write_all(bytes).map_err(|e| Error::io("write", path, e))?;
    file.sync_all().map_err(|e| Error::io("fsync", path, e))
}

/// Returns a name that no other writer uses, on this machine or another.
fn pending_name() -> Result<String> {
    let mut random = [0u8; 16];
    getrandom::fill(&mut random)
        .map_err(|e| Error::io("get random bytes for", PENDING, io::Error::other(e.to_string())))?;
    Ok(format!("{PENDING}{:032x}", u128::from_ne_bytes(random)))
}

impl Blobs for FolderBlobs {
    fn put_if_absent(&self, name: &str, bytes: Vec<u8>) -> Result<bool> {
        let (folders, last) = self.parts(name)?;
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let folder =
            self.folder(&folders, true)?.ok_or_else(|| Error::io("enter", &self.place, missing()))?;
        let pending = folder.join(pending_name()?);
        let path = folder.join(last);
        let linked = write_synced(&pending, &bytes).and_then(|()| match fs::hard_link(&pending, &path) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(Error::io("link", &path, e)),
        });
        // If this fails, the file is garbage that a cleanup will find.
        let _ = fs::remove_file(&pending);
        if linked? {
            // A name that may vanish with the power must not be found afterwards, as if it had been written.
            sync_folder(&folder).inspect_err(|_| drop(fs::remove_file(&path)))?;
            return Ok(true);
        }
        Ok(false)
    }

    fn may_lose_answers(&self) -> bool {
        false
    }

    fn get_if(&self, name: &str, admits: &mut dyn FnMut(u64) -> Result<()>) -> Result<Vec<u8>> {
        let (folders, last) = self.parts(name)?;
        let missing = || Error::io("open", format!("{}/{name}", self.place), io::ErrorKind::NotFound.into());
        let path = self.folder(&folders, false)?.ok_or_else(missing)?.join(last);
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&path)
            .map_err(|e| Error::io("open", &path, e))?;
        let found = file.metadata().map_err(|e| Error::io("stat", &path, e))?;
        if !found.is_file() {
            let why = io::Error::new(io::ErrorKind::PermissionDenied, "it is not a file");
            return Err(Error::io("open", &path, why));
        }
        admits(found.len())?;
        let mut bytes = Vec::with_capacity(found.len() as usize);
        // No more than was admitted, even if somebody extends the file.
        file.take(found.len()).read_to_end(&mut bytes).map_err(|e| Error::io("read", &path, e))?;
        Ok(bytes)
    }

    fn list(&self, folder: &str) -> Result<Vec<Blob>> {
        let mut inside = Vec::new();
        if !folder.is_empty() {
            check_name(&self.place, folder)?;
            inside.extend(folder.split('/').map(str::to_owned));
        }
        let mut blobs = Vec::new();
        self.list_into(&mut inside, &mut blobs)?;
        Ok(blobs)
    }

    fn delete(&self, name: &str) -> Result<()> {
        let (folders, last) = self.parts(name)?;
        let Some(folder) = self.folder(&folders, false)? else { return Ok(()) };
        let path = folder.join(last);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("delete", &path, e)),
            _ => Ok(()),
        }
        // Empty folders are kept: a writer may be about to put a blob there.
    }

    fn place(&self) -> &str {
        &self.place
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn locations_stay_below_the_configured_folders() {
        let roots = [PathBuf::from("/mnt/a"), PathBuf::from("/mnt/b")];
        let check = |location: &str, expected: std::result::Result<&str, LocationError>| {
            let opened = FolderBlobs::open(&roots, location).map(|blobs| blobs.place);
            assert_eq!(opened, expected.map(str::to_owned), "{location}");
        };
        let outside = || Err(LocationError::Outside);
        check("x", Ok("/mnt/a/x"));
        check("./x//y/.", Ok("/mnt/a/x/y"));
        check("/mnt/b/x", Ok("/mnt/b/x"));
        check("/mnt/b", Ok("/mnt/b"));
        check("/mnt/bad", outside());
        check("/mnt/a/../b/x", outside());
        check("/", outside());
        check("/etc", outside());
        check("..", outside());
        check("x/../../y", outside());
        check("x\0y", outside());
        assert_eq!(FolderBlobs::open(&[], "x").err(), Some(LocationError::NoRoots));
    }

    #[test]
    fn blobs_are_written_once_listed_and_deleted() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let blobs = FolderBlobs::open(&[folder.path().join("new")], "r").expect("inside");
        assert!(blobs.list("").expect("lists").is_empty());
        assert!(blobs.get("a/b", 10).expect_err("absent").is_not_found());
        assert!(blobs.put_if_absent("a/b", b"one".to_vec()).expect("writes"));
        assert!(!blobs.put_if_absent("a/b", b"two".to_vec()).expect("is there"));
        assert_eq!(blobs.get("a/b", 3).expect("reads"), b"one");
        assert!(blobs.get("a/b", 2).is_err());
        assert_eq!(blobs.list("").expect("lists"), [Blob { name: "a/b".into(), bytes: 3 }]);
        assert_eq!(blobs.list("a").expect("lists").len(), 1);
        assert!(blobs.get("../r/a/b", 3).is_err());
        blobs.delete("a/b").expect("deletes");
        blobs.delete("a/b").expect("is gone");
        assert!(blobs.list("").expect("lists").is_empty());
    }

    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("r")).expect("made");
        fs::create_dir_all(&outside).expect("made");
        fs::write(outside.join("secret"), b"secret").expect("written");
        symlink(&outside, root.join("link")).expect("linked");
        symlink(&outside, root.join("r/indices")).expect("linked");
        symlink(outside.join("secret"), root.join("r/secret")).expect("linked");
        let by_link = FolderBlobs::open(std::slice::from_ref(&root), "link").expect("a path");
        assert!(by_link.put_if_absent("a", Vec::new()).is_err() && by_link.get("secret", 9).is_err());
        let blobs = FolderBlobs::open(&[root], "r").expect("a path");
        assert!(blobs.get("secret", 9).is_err(), "a link to a file");
        assert!(blobs.get("indices/secret", 9).is_err(), "a link on the way");
        assert!(blobs.put_if_absent("indices/new", Vec::new()).is_err());
        assert!(blobs.delete("indices/secret").is_err() && outside.join("secret").exists());
        assert!(blobs.list("").expect("lists").is_empty());
        assert!(!blobs.put_if_absent("secret", b"x".to_vec()).expect("the name is taken"));
        assert_eq!(fs::read(outside.join("secret")).expect("reads"), b"secret");
    }

    #[test]
    fn of_many_writers_of_a_name_one_succeeds() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let blobs = FolderBlobs::open(&[folder.path().to_owned()], "r").expect("inside");
        let won: usize = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8u8)
                .map(|number| {
                    scope.spawn({
                        let blobs = &blobs;
                        move || usize::from(blobs.put_if_absent("g/1", vec![number; 1000]).expect("writes"))
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().expect("ends")).sum()
        });
        assert_eq!(won, 1);
        assert_eq!(blobs.list("").expect("lists").len(), 1, "nothing pending is left");
    }
}
