//! Names of files and folders, as the process sees them and as a crash may leave them.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::Below;

pub(super) type FileId = usize;

#[derive(Default)]
pub(super) struct Names {
    /// Keyed by path `folder/name`.
    pub files: BTreeMap<String, FileId>,
    /// The files as they were when last made durable.
    durable: BTreeMap<String, FileId>,
    /// Changes that are not durable yet, in their order.
    pending: Vec<Change>,
    pub folders: BTreeSet<String>,
}

#[derive(Clone)]
enum Change {
    Set(String, FileId),
    Remove(String),
    Rename {
        from: String,
        to: String,
        file: FileId,
    },
    /// Removes a folder with everything in it; changes inside it can no longer be made durable.
    RemoveFolder(String),
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<String, FileId>) {
        match self {
            Change::Set(name, file) => drop(names.insert(name.clone(), *file)),
            Change::Remove(name) => drop(names.remove(name)),
            Change::Rename { from, to, file } => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
            // Once the folder's name is gone from its parent, nothing in it can be reached.
            Change::RemoveFolder(folder) => {
                names.retain(|name, _| !name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
            }
        }
    }

    fn folder(&self) -> &str {
        match self {
            Change::Set(name, _) | Change::Remove(name) | Change::Rename { to: name, .. } => {
                name.rsplit_once('/').map_or("", |(folder, _)| folder)
            }
            Change::RemoveFolder(folder) => folder.rsplit_once('/').map_or("", |(parent, _)| parent),
        }
    }
}

impl Names {
    /// Gives `file` the name `name`; replaces the file that had it.
    pub fn set(&mut self, name: String, file: FileId) {
        self.change(Change::Set(name, file));
    }

    /// Removes the name `name`.
    pub fn remove(&mut self, name: String) {
        self.change(Change::Remove(name));
    }

    /// Removes the name `from` and gives `file` the name `to`, as one change.
    pub fn rename(&mut self, from: String, to: String, file: FileId) {
        self.change(Change::Rename { from, to, file });
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.files);
        self.pending.push(change);
    }

    /// Removes a folder file by file, as the system does, and stops after `limit` files. Returns whether
    /// the folder is gone.
    pub fn remove_folder(&mut self, path: &str, limit: usize) -> bool {
        let prefix = format!("{path}/");
        let inside: Vec<String> =
            self.files.keys().filter(|name| name.starts_with(&prefix)).take(limit).cloned().collect();
        inside.into_iter().for_each(|name| self.remove(name));
        let is_empty = !self.files.keys().any(|name| name.starts_with(&prefix));
        if is_empty {
            let inside = |folder: &String| folder == path || folder.starts_with(&prefix);
            let gone: Vec<String> = self.folders.iter().filter(|folder| inside(folder)).cloned().collect();
            for folder in gone {
                self.folders.remove(&folder);
                self.pending.push(Change::RemoveFolder(folder));
            }
        }
        is_empty
    }

    /// Makes the names in `folder` durable; with `all`, also every earlier change, as a file system with
    /// one journal does.
    pub fn sync(&mut self, folder: &str, all: bool) {
        let pending = std::mem::take(&mut self.pending);
        for change in pending {
            if all || change.folder() == folder {
                change.apply(&mut self.durable);
            } else {
                self.pending.push(change);
            }
        }
    }

    /// Applies a crash: keeps a prefix of the changes that are not durable, or any subset of them.
    pub fn crash(&mut self, below: Below<'_>) {
        let is_journalled = below(2) == 0;
        let kept = below(self.pending.len() as u64 + 1) as usize;
        for (number, change) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            let is_kept = if is_journalled { number < kept } else { below(2) == 0 };
            match (&change, is_kept) {
                (Change::RemoveFolder(folder), false) => drop(self.folders.insert(folder.clone())),
                (_, true) => change.apply(&mut self.durable),
                (_, false) => {}
            }
        }
        // A file that comes back brings its folder back.
        for name in self.durable.keys() {
            if let Some((folder, _)) = name.rsplit_once('/') {
                self.folders.insert(folder.to_owned());
            }
        }
        self.files = self.durable.clone();
    }
}
