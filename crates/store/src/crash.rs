//! A disk that can crash on demand: "what is left of these files when the power goes now?"
//!
//! [`CrashDisk`] keeps everything in memory, twice: as a running process sees it and as it would be found after a crash. It is
//! deterministic from a seed, drops or tears what was not synced, and fails the call it is told to. For tests only.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::{Directory, Disk, DiskSpace, Error, FileBytes, FileWriter, InPlaceFile, Result};

/// What a call that changes the disk answers, or leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// `EIO`; nothing happens.
    Io,
    /// `ENOSPC`; a write leaves a part of its bytes behind.
    NoSpace,
    /// The fsync fails and what it should have made durable never will be, even if a later fsync succeeds (as Linux does).
    SyncLost,
}

/// A tree of folders in memory; clones share it.
#[derive(Clone)]
pub struct CrashDisk {
    state: Arc<Mutex<State>>,
    root: PathBuf,
}

struct State {
    /// By path `folder/name`.
    names: BTreeMap<String, FileId>,
    /// Names as they were when last made durable, by folder.
    durable_names: BTreeMap<String, FileId>,
    /// Renames and creations are journalled in order: a crash keeps a prefix of what was not synced.
    pending: Vec<NameChange>,
    files: Vec<Contents>,
    folders: Vec<String>,
    random: u64,
    /// Calls that change the disk, so far.
    calls: u64,
    fault: Option<(u64, Fault)>,
    /// Bytes that still fit.
    available_bytes: u64,
    /// Writers of an earlier life fail.
    life: u64,
}

type FileId = usize;

#[derive(Default, Clone)]
struct Contents {
    bytes: Vec<u8>,
    /// What an fsync has promised to keep.
    durable: Vec<u8>,
    /// A failed fsync: the pages were marked clean although they are not on disk.
    sync_lost: bool,
}

#[derive(Clone)]
enum NameChange {
    Set(String, FileId),
    Remove(String),
}

impl CrashDisk {
    /// `seed` decides what a crash keeps of unsynced bytes and names.
    pub fn new(seed: u64) -> CrashDisk {
        let state = State {
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending: Vec::new(),
            files: Vec::new(),
            folders: Vec::new(),
            random: seed ^ 0x9e37_79b9_7f4a_7c15,
            calls: 0,
            fault: None,
            available_bytes: u64::MAX,
            life: 0,
        };
        CrashDisk { state: Arc::new(Mutex::new(state)), root: PathBuf::from("/crash") }
    }

    /// The power goes: unsynced bytes are lost, torn or kept, unsynced names likewise (a prefix of the changes survives, as on a
    /// journalling file system), and every open writer fails from now on. Faults are forgotten.
    pub fn crash(&self) {
        let state = &mut *self.state.lock();
        let kept = state.random_below(state.pending.len() as u64 + 1) as usize;
        let changes: Vec<NameChange> = state.pending.drain(..).take(kept).collect();
        for change in changes {
            change.apply(&mut state.durable_names);
        }
        state.names = state.durable_names.clone();
        for file in 0..state.files.len() {
            state.tear(file);
        }
        state.life += 1;
        state.fault = None;
    }

    /// The call number `call` from now (0 = the next one) that changes the disk fails.
    pub fn fail_call(&self, call: u64, fault: Fault) {
        let mut state = self.state.lock();
        state.fault = Some((state.calls + call, fault));
    }

    /// Calls so far that changed the disk or tried to; run a scenario once to learn how many there are.
    pub fn call_count(&self) -> u64 {
        self.state.lock().calls
    }

    /// From now on this many bytes can be written before `ENOSPC`; deleting does not give any back.
    pub fn set_available_bytes(&self, bytes: u64) {
        self.state.lock().available_bytes = bytes;
    }

    /// Flips one bit of a file, durably: a rotten disk. `false` when there is no such byte.
    pub fn flip_bit(&self, folder: &str, name: &str, byte: u64, bit: u8) -> bool {
        let mut state = self.state.lock();
        let Some(&file) = state.names.get(&format!("{folder}/{name}")) else { return false };
        let contents = &mut state.files[file];
        for bytes in [&mut contents.bytes, &mut contents.durable] {
            if let Some(byte) = bytes.get_mut(byte as usize) {
                *byte ^= 1 << (bit % 8);
            }
        }
        (byte as usize) < state.files[file].bytes.len()
    }

    /// A folder as a [`Directory`] of its own kind.
    pub fn directory(&self, folder: &str) -> CrashDirectory {
        let mut state = self.state.lock();
        if !state.folders.iter().any(|known| known == folder) {
            state.folders.push(folder.to_owned());
        }
        CrashDirectory { disk: self.clone(), folder: folder.to_owned(), path: self.root.join(folder) }
    }
}

impl NameChange {
    fn apply(self, names: &mut BTreeMap<String, FileId>) {
        match self {
            NameChange::Set(name, file) => names.insert(name, file),
            NameChange::Remove(name) => names.remove(&name),
        };
    }

    fn name(&self) -> &str {
        match self {
            NameChange::Set(name, _) | NameChange::Remove(name) => name,
        }
    }
}

impl State {
    /// Splitmix64, so that a run replays from its seed.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn random_below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.random() % end }
    }

    /// Counts a call; the fault that is due.
    fn call(&mut self) -> Option<Fault> {
        let number = self.calls;
        self.calls += 1;
        match self.fault {
            Some((due, fault)) if due == number => {
                self.fault = None;
                Some(fault)
            }
            _ => None,
        }
    }

    fn change(&mut self, change: NameChange) {
        change.clone().apply(&mut self.names);
        self.pending.push(change);
    }

    /// After a crash a file has what was synced, and of the rest nothing, a part, or a part with a torn end.
    fn tear(&mut self, file: FileId) {
        let contents = std::mem::take(&mut self.files[file]);
        let Contents { bytes, mut durable, sync_lost } = contents;
        let common = durable.iter().zip(&bytes).take_while(|(a, b)| a == b).count();
        let is_extension = common == durable.len() && bytes.len() > durable.len();
        if is_extension && !sync_lost {
            let kept = self.random_below((bytes.len() - durable.len()) as u64 + 1) as usize;
            durable.extend_from_slice(&bytes[common..common + kept]);
            // A block that was allocated but not written reads as zeros, or as half of what was meant.
            if kept > 0 && self.random_below(2) == 0 {
                let torn = self.random_below(kept as u64 + 1) as usize;
                let at = durable.len() - torn;
                durable[at..].fill(0);
            }
        } else if !is_extension && bytes.len() < durable.len() && self.random_below(2) == 0 {
            // An unsynced truncation may or may not have happened.
            durable.truncate(bytes.len());
        }
        self.files[file] = Contents { bytes: durable.clone(), durable, sync_lost: false };
    }
}

/// One folder of a [`CrashDisk`].
pub struct CrashDirectory {
    disk: CrashDisk,
    folder: String,
    path: PathBuf,
}

impl CrashDirectory {
    /// A disk with one folder.
    pub fn new(seed: u64) -> CrashDirectory {
        CrashDisk::new(seed).directory("data")
    }

    /// The disk it is on, to make it fail.
    pub fn disk(&self) -> &CrashDisk {
        &self.disk
    }

    fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn error(&self, action: &'static str, name: &str, fault: Fault) -> Error {
        let code = if fault == Fault::NoSpace { libc::ENOSPC } else { libc::EIO };
        Error::io(action, self.path.join(name), io::Error::from_raw_os_error(code))
    }

    fn find(&self, state: &State, action: &'static str, name: &str) -> Result<FileId> {
        let found = state.names.get(&self.key(name)).copied();
        found.ok_or_else(|| Error::io(action, self.path.join(name), io::ErrorKind::NotFound.into()))
    }

    fn writer(&self, state: &State, name: &str, file: FileId) -> Box<dyn FileWriter> {
        let directory =
            CrashDirectory { disk: self.disk.clone(), folder: self.folder.clone(), path: self.path.clone() };
        let position = state.files[file].bytes.len() as u64;
        Box::new(CrashWriter { directory, name: name.to_owned(), file, position, life: state.life })
    }
}

impl Directory for CrashDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn FileWriter>> {
        let mut state = self.disk.state.lock();
        if let Some(fault) = state.call() {
            return Err(self.error("create", name, fault));
        }
        if state.names.contains_key(&self.key(name)) {
            return Err(Error::io("create", self.path.join(name), io::ErrorKind::AlreadyExists.into()));
        }
        let file = state.files.len();
        state.files.push(Contents::default());
        state.change(NameChange::Set(self.key(name), file));
        Ok(self.writer(&state, name, file))
    }

    fn append(&self, name: &str, len: u64) -> Result<Box<dyn FileWriter>> {
        if !self.exists(name)? {
            if len != 0 {
                return Err(Error::io(
                    "open for append",
                    self.path.join(name),
                    io::ErrorKind::NotFound.into(),
                ));
            }
            return self.create(name);
        }
        let mut state = self.disk.state.lock();
        if let Some(fault) = state.call() {
            return Err(self.error("open for append", name, fault));
        }
        let file = self.find(&state, "open for append", name)?;
        state.files[file].bytes.resize(len as usize, 0);
        Ok(self.writer(&state, name, file))
    }

    fn open_in_place(&self, name: &str) -> Result<Box<dyn InPlaceFile>> {
        let state = self.disk.state.lock();
        let file = self.find(&state, "open", name)?;
        let directory =
            CrashDirectory { disk: self.disk.clone(), folder: self.folder.clone(), path: self.path.clone() };
        Ok(Box::new(CrashInPlaceFile { directory, name: name.to_owned(), file, life: state.life }))
    }

    fn open(&self, name: &str) -> Result<FileBytes> {
        let state = self.disk.state.lock();
        let file = self.find(&state, "open", name)?;
        Ok(FileBytes::from_vec(state.files[file].bytes.clone()))
    }

    fn read(&self, name: &str, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read_into(name, offset, &mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<()> {
        let state = self.disk.state.lock();
        let file = self.find(&state, "open", name)?;
        let bytes = &state.files[file].bytes;
        let part = usize::try_from(offset).ok().and_then(|at| bytes.get(at..at.checked_add(into.len())?));
        let part =
            part.ok_or_else(|| Error::io("read", self.path.join(name), io::ErrorKind::UnexpectedEof.into()));
        into.copy_from_slice(part?);
        Ok(())
    }

    fn len(&self, name: &str) -> Result<u64> {
        let state = self.disk.state.lock();
        Ok(state.files[self.find(&state, "stat", name)?].bytes.len() as u64)
    }

    fn exists(&self, name: &str) -> Result<bool> {
        Ok(self.disk.state.lock().names.contains_key(&self.key(name)))
    }

    fn delete(&self, name: &str) -> Result<()> {
        let mut state = self.disk.state.lock();
        if let Some(fault) = state.call() {
            return Err(self.error("delete", name, fault));
        }
        self.find(&state, "delete", name)?;
        state.change(NameChange::Remove(self.key(name)));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut state = self.disk.state.lock();
        if let Some(fault) = state.call() {
            return Err(self.error("rename", from, fault));
        }
        let file = self.find(&state, "rename", from)?;
        // One change in the journal each, target first: a crash between them leaves both names, never none.
        state.change(NameChange::Set(self.key(to), file));
        state.change(NameChange::Remove(self.key(from)));
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        let state = self.disk.state.lock();
        let prefix = format!("{}/", self.folder);
        let names = state.names.keys().filter_map(|key| key.strip_prefix(&prefix));
        Ok(names.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }

    fn sync(&self, name: &str) -> Result<()> {
        let mut state = self.disk.state.lock();
        let fault = state.call();
        let file = self.find(&state, "fsync", name)?;
        sync_file(&mut state, file, fault).map_err(|fault| self.error("fsync", name, fault))
    }

    fn sync_names(&self) -> Result<()> {
        let mut state = self.disk.state.lock();
        if let Some(fault) = state.call() {
            return Err(self.error("fsync", "", fault));
        }
        let prefix = format!("{}/", self.folder);
        let here =
            |change: &NameChange| change.name().strip_prefix(&prefix).is_some_and(|name| !name.contains('/'));
        let (mine, others) = std::mem::take(&mut state.pending).into_iter().partition(here);
        state.pending = others;
        for change in mine as Vec<NameChange> {
            change.apply(&mut state.durable_names);
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

fn sync_file(state: &mut State, file: FileId, fault: Option<Fault>) -> std::result::Result<(), Fault> {
    let contents = &mut state.files[file];
    match fault {
        None if contents.sync_lost => Ok(()),
        None => {
            contents.durable.clone_from(&contents.bytes);
            Ok(())
        }
        Some(fault) => {
            contents.sync_lost |= fault == Fault::SyncLost;
            Err(fault)
        }
    }
}

struct CrashWriter {
    directory: CrashDirectory,
    name: String,
    file: FileId,
    position: u64,
    life: u64,
}

impl CrashWriter {
    fn alive(&self, state: &State, action: &'static str) -> Result<()> {
        if state.life == self.life {
            Ok(())
        } else {
            Err(self.directory.error(action, &self.name, Fault::Io))
        }
    }
}

impl FileWriter for CrashWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        let mut state = self.directory.disk.state.lock();
        self.alive(&state, "write")?;
        let mut fault = state.call();
        let mut fits = bytes.len();
        if bytes.len() as u64 > state.available_bytes && fault.is_none() {
            fault = Some(Fault::NoSpace);
            fits = state.available_bytes as usize;
        } else if fault == Some(Fault::NoSpace) {
            fits = state.random_below(bytes.len() as u64 + 1) as usize;
        } else if fault.is_some() {
            fits = 0;
        }
        if state.available_bytes != u64::MAX {
            state.available_bytes -= (fits as u64).min(state.available_bytes);
        }
        state.files[self.file].bytes.extend_from_slice(&bytes[..fits]);
        self.position += fits as u64;
        match fault {
            None => Ok(()),
            Some(fault) => Err(self.directory.error("write", &self.name, fault)),
        }
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn flush(&mut self) -> Result<()> {
        self.alive(&self.directory.disk.state.lock(), "write")
    }

    fn sync(&mut self) -> Result<()> {
        let mut state = self.directory.disk.state.lock();
        self.alive(&state, "fsync")?;
        let fault = state.call();
        let done = sync_file(&mut state, self.file, fault);
        done.map_err(|fault| self.directory.error("fsync", &self.name, fault))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.alive(&self.directory.disk.state.lock(), "close")
    }
}

struct CrashInPlaceFile {
    directory: CrashDirectory,
    name: String,
    file: FileId,
    life: u64,
}

impl InPlaceFile for CrashInPlaceFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut state = self.directory.disk.state.lock();
        let fault = if state.life == self.life { state.call() } else { Some(Fault::Io) };
        if let Some(fault) = fault {
            return Err(self.directory.error("write", &self.name, fault));
        }
        let contents = &mut state.files[self.file].bytes;
        let end = offset as usize + bytes.len();
        contents.resize(contents.len().max(end), 0);
        contents[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        let mut state = self.directory.disk.state.lock();
        let fault = if state.life == self.life { state.call() } else { Some(Fault::Io) };
        let done = sync_file(&mut state, self.file, fault);
        done.map_err(|fault| self.directory.error("fsync", &self.name, fault))
    }
}

impl Disk for CrashDisk {
    fn folder(&self, path: &str) -> Result<Arc<dyn Directory>> {
        Ok(Arc::new(self.directory(path)))
    }

    fn folders(&self, path: &str) -> Result<Vec<String>> {
        let state = self.state.lock();
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let children = state.folders.iter().filter_map(|folder| folder.strip_prefix(&prefix));
        let mut names: Vec<String> = children
            .filter_map(|rest| rest.split('/').next())
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Durable at once: the engine never relies on when a removed folder is gone.
    fn remove_folder(&self, path: &str) -> Result<()> {
        let mut state = self.state.lock();
        let prefix = format!("{path}/");
        state.folders.retain(|folder| folder != path && !folder.starts_with(&prefix));
        state.pending.retain(|change| !change.name().starts_with(&prefix));
        state.names.retain(|name, _| !name.starts_with(&prefix));
        state.durable_names.retain(|name, _| !name.starts_with(&prefix));
        Ok(())
    }

    fn space(&self) -> Result<DiskSpace> {
        let available_bytes = self.state.lock().available_bytes;
        Ok(DiskSpace { total_bytes: u64::MAX, available_bytes })
    }

    fn root(&self) -> &Path {
        &self.root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::write_atomically;

    fn write(directory: &CrashDirectory, name: &str, bytes: &[u8]) -> Result<()> {
        let mut writer = directory.create(name)?;
        writer.write_all(bytes)?;
        writer.finish()
    }

    #[test]
    fn what_was_synced_survives_and_the_rest_may_not() {
        let (mut lost, mut torn, mut kept) = (0, 0, 0);
        for seed in 0..60 {
            let directory = CrashDirectory::new(seed);
            write(&directory, "a", b"durable").expect("writes");
            directory.sync("a").expect("syncs");
            directory.sync_names().expect("syncs");
            write(&directory, "b", b"not synced at all").expect("writes");
            directory.disk().crash();
            assert_eq!(&*directory.open("a").expect("is there"), b"durable", "seed {seed}");
            match directory.open("b") {
                Err(_) => lost += 1,
                Ok(bytes) if *bytes == *b"not synced at all" => kept += 1,
                Ok(_) => torn += 1,
            }
        }
        assert!(lost > 0 && torn > 0 && kept > 0, "{lost} lost, {torn} torn, {kept} kept");
    }

    #[test]
    fn atomic_writes_are_atomic_at_every_failing_call_and_crash() {
        for seed in 0..40 {
            for call in 0..8 {
                for fault in [Fault::Io, Fault::NoSpace, Fault::SyncLost] {
                    let directory = CrashDirectory::new(seed);
                    write_atomically(&directory, "manifest", b"old").expect("writes");
                    directory.disk().fail_call(call, fault);
                    let result = write_atomically(&directory, "manifest", b"new and longer");
                    directory.disk().crash();
                    let found = directory.open("manifest").expect("always one of the two").to_vec();
                    let is_new = found == b"new and longer";
                    assert!(is_new || found == b"old", "{found:?}");
                    assert!(
                        is_new || result.is_err(),
                        "acknowledged, then lost: seed {seed} call {call} {fault:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_append_keeps_its_synced_prefix() {
        for seed in 0..40 {
            let directory = CrashDirectory::new(seed);
            let mut log = directory.append("log", 0).expect("opens");
            log.write_all(b"first,").expect("writes");
            log.sync().expect("syncs");
            directory.sync_names().expect("syncs");
            log.write_all(b"second").expect("writes");
            directory.disk().crash();
            assert!(directory.open("log").expect("is there").starts_with(b"first,"));
            assert!(log.write_all(b"x").is_err(), "a writer of the life before");
        }
    }

    #[test]
    fn a_full_disk_and_folders() {
        let disk = CrashDisk::new(1);
        let directory = disk.directory("indices/a/0");
        disk.set_available_bytes(4);
        let error = write(&directory, "x", b"too long").expect_err("full");
        assert!(error.is_disk_full());
        assert_eq!(directory.len("x").expect("a part"), 4);
        assert_eq!(disk.folders("indices").expect("lists"), ["a"]);
        disk.set_available_bytes(u64::MAX);
        assert!(disk.flip_bit("indices/a/0", "x", 1, 0));
        assert_eq!(&*directory.open("x").expect("opens"), b"tno ");
        disk.remove_folder("indices/a").expect("removes");
        assert!(disk.folders("indices").expect("lists").is_empty() && !directory.exists("x").expect("known"));
    }
}
