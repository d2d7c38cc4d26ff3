//! The files of users, roles and keys: "is this change durable, and what was changed before?"
//!
//! The folder `security/<cluster UUID>` has the whole store at some version, and one file for each change
//! since ([`super::security_format`]). A change costs its own file, whatever else is stored. When the files
//! of changes have become large or many, the store is written anew, entry by entry, and the files before it
//! are removed.
//!
//! **Failures.** A file gets its name by a rename that an fsync of the folder makes durable. If one of the
//! two fails, the file may or may not exist after a crash. The change is refused then, so the file is deleted
//! durably; until that succeeds, no other change is made.
//!
//! **Files that are removed.** Versions have no gaps, so a missing change is noticed if a later one is there.
//! For the last ones there is the file `newest`, which names a version that is durable. It is written in the
//! background after changes, and not with each of them, which would cost a change twice as much. Folders of
//! earlier builds do not have it.

use std::collections::VecDeque;
use std::sync::Arc;

use limber_access::{EntryChange, Store};
use limber_mapping::RequestError;
use limber_store::directory::{Replaced, replace, replace_with};
use limber_store::{Directory, Disk, Error};
use serde_json::{Value, json};

use super::security_format::{FileId, FileKind, RecordWriter, apply};
use crate::api::Result;
use crate::checked_file::{Format, damaged};
use crate::environment::Environment;
use crate::shard::store_error;

const FOLDER: &str = "security";
/// The file that names the newest version, in a member `version`.
const NEWEST: &str = "newest";
const NEWEST_FORMAT: Format = Format { magic: "limber-security-newest", version: 1 };
/// The store is written anew when the files of changes are larger than the file of the store, and than this,
const CHANGES_BYTES_MIN: u64 = 256 << 10;
/// or when there are this many. Each takes a block of the disk, and the start reads all of them.
const CHANGES_MAX: usize = 1_000;

/// The files as they are on disk.
pub(crate) struct SecurityFiles {
    cluster_uuid: String,
    whole_bytes: u64,
    /// Versions and sizes of the changes since the store was written as a whole.
    changes: VecDeque<(u64, u64)>,
    /// A change that failed and whose file may exist, and why it failed.
    doubt: Option<(FileId, RequestError)>,
    /// The version in the file `newest`; 0 if there is none.
    newest: u64,
}

impl SecurityFiles {
    /// Writes the first file, with the whole store. Files from an attempt that was cut short are deleted, so
    /// no durable state of the node may refer to them.
    pub(super) fn create(
        environment: &Environment,
        cluster_uuid: &str,
        store: &Store,
    ) -> limber_store::Result<SecurityFiles> {
        let directory = environment.folder(&security_folder(cluster_uuid))?;
        for name in directory.list()? {
            directory.delete(&name)?;
        }
        directory.sync_names()?;
        let mut files = SecurityFiles {
            cluster_uuid: cluster_uuid.to_owned(),
            whole_bytes: 0,
            changes: VecDeque::new(),
            doubt: None,
            newest: 0,
        };
        let id = FileId { kind: FileKind::Whole, version: store.version };
        match files.write(&*directory, &id, &Store::default(), store) {
            (Replaced::Done, bytes) => {
                files.whole_bytes = bytes;
                Ok(files)
            }
            (Replaced::Untouched(error) | Replaced::Unknown(error), _) => Err(error),
        }
    }

    /// Reads the files. Nothing is changed on the disk.
    ///
    /// # Errors
    /// A file cannot be read, is damaged, or is missing; the error names it.
    pub(crate) fn open(disk: &dyn Disk, cluster_uuid: &str) -> Result<(SecurityFiles, Store)> {
        let path = security_folder(cluster_uuid);
        if !disk.folders(FOLDER).map_err(|e| store_error(&e))?.iter().any(|name| name == cluster_uuid) {
            return Err(damaged(&path, "the folder with the users and keys is not there"));
        }
        let directory = disk.folder(&path).map_err(|e| store_error(&e))?;
        let names = directory.list().map_err(|e| store_error(&e))?;
        let mut ids: Vec<FileId> = names
            .iter()
            .filter_map(|name| FileId::of(name))
            .filter(|(_, whole)| *whole)
            .map(|(id, _)| id)
            .collect();
        ids.sort_by_key(|id| id.version);
        let Some(whole) = ids.iter().rev().find(|id| id.kind == FileKind::Whole).cloned() else {
            return Err(damaged(&path, "the file with the users and keys is not there"));
        };
        let mut files = SecurityFiles {
            cluster_uuid: cluster_uuid.to_owned(),
            whole_bytes: 0,
            changes: VecDeque::new(),
            doubt: None,
            newest: 0,
        };
        let mut store = Store::default();
        files.whole_bytes = files.read(&*directory, &whole, &mut store)?;
        for id in ids.iter().filter(|id| id.kind == FileKind::Change && id.version > whole.version) {
            let next = FileId { kind: FileKind::Change, version: store.version + 1 };
            if *id != next {
                return Err(damaged(&format!("{path}/{}", next.file_name()), "the file is not there"));
            }
            let bytes = files.read(&*directory, id, &mut store)?;
            files.changes.push_back((id.version, bytes));
        }
        files.newest = files.read_newest(&*directory)?;
        if store.version < files.newest {
            let missing = FileId { kind: FileKind::Change, version: store.version + 1 };
            let why = format!("the file is not there, and [{NEWEST}] names version [{}]", files.newest);
            return Err(damaged(&format!("{path}/{}", missing.file_name()), &why));
        }
        Ok((files, store))
    }

    /// Reads the version in the file `newest`; 0 if there is none.
    fn read_newest(&self, directory: &dyn Directory) -> Result<u64> {
        let file = format!("{}/{NEWEST}", security_folder(&self.cluster_uuid));
        if !directory.exists(NEWEST).map_err(|error| unreadable(&file, &error))? {
            return Ok(0);
        }
        let bytes = directory.read_whole(NEWEST).map_err(|error| unreadable(&file, &error))?;
        let body = NEWEST_FORMAT.decode(&bytes).map_err(|error| error.refusal(&file))?;
        let body: Value = serde_json::from_slice(body).map_err(|error| damaged(&file, &error.to_string()))?;
        match (body["version"].as_u64(), body["cluster_uuid"] == *self.cluster_uuid) {
            (Some(version), true) => Ok(version),
            _ => Err(damaged(&file, "it names no version of these files")),
        }
    }

    /// Notes in the file `newest` that the changes up to this version are durable, unless it says so already.
    pub(super) fn note_newest(
        &mut self,
        environment: &Environment,
        version: u64,
    ) -> limber_store::Result<()> {
        if version <= self.newest {
            return Ok(());
        }
        let body = json!({"cluster_uuid": self.cluster_uuid, "version": version}).to_string();
        match replace(&*self.directory(environment)?, NEWEST, &NEWEST_FORMAT.encode(&body)) {
            Replaced::Done => self.newest = version,
            // The file names this version or an older one, and both are durable.
            Replaced::Untouched(error) | Replaced::Unknown(error) => return Err(error),
        }
        Ok(())
    }

    fn read(&self, directory: &dyn Directory, id: &FileId, store: &mut Store) -> Result<u64> {
        let name = id.file_name();
        let file = format!("{}/{name}", security_folder(&self.cluster_uuid));
        let bytes = directory.read_whole(&name).map_err(|error| unreadable(&file, &error))?;
        apply(&bytes, id, &self.cluster_uuid, &file, store)?;
        Ok(bytes.len() as u64)
    }

    /// Makes the change from `before` to `next` durable. `refused` makes the error of a failed call.
    ///
    /// # Errors
    /// The change is not made, and will not be there after a crash.
    pub(super) fn append(
        &mut self,
        environment: &Environment,
        before: &Store,
        next: &Store,
        refused: impl Fn(&Error) -> RequestError,
    ) -> Result<()> {
        self.settle(environment)?;
        let directory = self.directory(environment).map_err(|error| refused(&error))?;
        let id = FileId { kind: FileKind::Change, version: next.version };
        match self.write(&*directory, &id, before, next) {
            (Replaced::Done, bytes) => {
                self.changes.push_back((id.version, bytes));
                Ok(())
            }
            (Replaced::Untouched(error), _) => Err(refused(&error)),
            (Replaced::Unknown(error), _) => {
                let error = refused(&error);
                self.doubt = Some((id, error.clone()));
                self.settle(environment)?;
                Err(error)
            }
        }
    }

    /// Ends a doubt, if there is one, by deleting the file of the change that failed.
    ///
    /// # Errors
    /// Fails with `Unavailable` while that is impossible; nothing may be changed then.
    pub(super) fn settle(&mut self, environment: &Environment) -> Result<()> {
        let Some((id, why)) = &self.doubt else { return Ok(()) };
        let delete = || {
            let directory = self.directory(environment)?;
            directory.delete_if_present(&id.file_name())?;
            directory.sync_names()
        };
        if let Err(error) = delete() {
            tracing::error!(%error, "a change of users and keys is in doubt");
            let reason = format!(
                "users, roles and keys do not change until the files in [{}] can be written again after a failure",
                security_folder(&self.cluster_uuid)
            );
            return Err(RequestError::unavailable("illegal_state_exception", reason).caused_by(why.clone()));
        }
        self.doubt = None;
        Ok(())
    }

    /// Whether the store should be written anew.
    pub(super) fn wants_whole(&self) -> bool {
        let bytes: u64 = self.changes.iter().map(|(_, bytes)| bytes).sum();
        bytes > self.whole_bytes.max(CHANGES_BYTES_MIN) || self.changes.len() > CHANGES_MAX
    }

    /// Returns what [`Rewrite::run`] needs to write `store` anew.
    pub(super) fn rewrite(&self, store: Arc<Store>) -> Rewrite {
        Rewrite { cluster_uuid: self.cluster_uuid.clone(), store }
    }

    /// Notes that the store of a version is in a file as a whole, and the files before it are gone.
    pub(super) fn rewritten(&mut self, version: u64, bytes: u64) {
        self.whole_bytes = bytes;
        self.changes.retain(|(change, _)| *change > version);
    }

    fn directory(&self, environment: &Environment) -> limber_store::Result<Arc<dyn Directory>> {
        environment.folder(&security_folder(&self.cluster_uuid))
    }

    /// Writes a file, entry by entry. Also returns its size.
    fn write(&self, directory: &dyn Directory, id: &FileId, before: &Store, next: &Store) -> (Replaced, u64) {
        write(directory, id, &self.cluster_uuid, before, next)
    }
}

/// Writes a store anew while other changes go on.
pub(super) struct Rewrite {
    cluster_uuid: String,
    store: Arc<Store>,
}

impl Rewrite {
    /// Writes the store, and removes the files before it. Returns the version and the size of the file.
    pub(super) fn run(&self, environment: &Environment) -> limber_store::Result<(u64, u64)> {
        let version = self.store.version;
        let directory = environment.folder(&security_folder(&self.cluster_uuid))?;
        let id = FileId { kind: FileKind::Whole, version };
        let bytes = match write(&*directory, &id, &self.cluster_uuid, &Store::default(), &self.store) {
            (Replaced::Done, bytes) => bytes,
            // Until it is known whether the file exists, those before it stay. They say the same.
            (Replaced::Untouched(error) | Replaced::Unknown(error), _) => return Err(error),
        };
        for name in directory.list()? {
            let is_before = |id: &FileId| match id.kind {
                FileKind::Whole => id.version < version,
                FileKind::Change => id.version <= version,
            };
            if FileId::of(&name).is_some_and(|(id, _)| is_before(&id)) {
                directory.delete_if_present(&name)?;
            }
        }
        Ok((version, bytes))
    }
}

/// Returns the path of the folder with the files.
pub(super) fn security_folder(cluster_uuid: &str) -> String {
    format!("{FOLDER}/{cluster_uuid}")
}

fn write(
    directory: &dyn Directory,
    id: &FileId,
    cluster_uuid: &str,
    before: &Store,
    next: &Store,
) -> (Replaced, u64) {
    let mut bytes = 0;
    let replaced = replace_with(directory, &id.file_name(), |file| {
        let mut writer = RecordWriter::begin(file, id, cluster_uuid)?;
        next.for_each_change(before, |change: EntryChange<'_>| writer.add(change))?;
        writer.end()?;
        bytes = file.position();
        Ok(())
    });
    (replaced, bytes)
}

fn unreadable(file: &str, error: &Error) -> RequestError {
    RequestError::internal("i_o_exception", format!("[{file}] cannot be read: {error}"))
}
