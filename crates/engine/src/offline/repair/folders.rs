//! Where repair puts the files it takes out of use and the documents it saves.

use std::sync::Arc;

use limber_store::{Directory, Disk, FileWriter, Result};
use serde_json::{Map, Value};

/// How many bytes are copied at a time.
const COPY_BYTES: usize = 1 << 20;

/// The folders of one repair. They are created when first needed, and never in a dry run.
pub(super) struct RepairFolders {
    disk: Arc<dyn Disk>,
    /// Part of the names of both folders.
    time: String,
    /// `false` for a dry run.
    pub applies: bool,
}

/// A saved operation.
pub(super) struct Saved<'s> {
    pub index: &'s str,
    pub id: &'s str,
    pub routing: Option<&'s str>,
    /// The document; `None` for a deletion.
    pub source: Option<&'s [u8]>,
    /// Whether a document with this id that exists in the index must be kept.
    pub only_if_absent: bool,
}

/// A file of saved documents, created with the first of them.
pub(super) struct SavedFile {
    name: String,
    folder: String,
    writer: Option<Box<dyn FileWriter>>,
    pub count: u64,
}

impl RepairFolders {
    /// Prepares a repair. `time` becomes part of the folders' names; without `applies` nothing is written.
    pub fn new(disk: Arc<dyn Disk>, time: String, applies: bool) -> RepairFolders {
        RepairFolders { disk, time, applies }
    }

    /// Copies a file of a shard to `damaged-<time>`, durably. `folder` is the shard's folder, relative to the
    /// data folder.
    pub fn keep(&self, folder: &str, directory: &dyn Directory, name: &str) -> Result<()> {
        if !self.applies {
            return Ok(());
        }
        let len = match directory.len(name) {
            Err(error) if error.is_not_found() => return Ok(()),
            len => len?,
        };
        let kept = self.disk.folder(&format!("damaged-{}/{folder}", self.time))?;
        if kept.exists(name)? {
            return Ok(());
        }
        let mut writer = kept.create(name)?;
        let mut at = 0;
        while at < len {
            let piece = COPY_BYTES.min((len - at) as usize);
            // Unreadable bytes are replaced by zeros, so that the copy at least has the right length.
            let bytes = directory.read(name, at, piece).unwrap_or_else(|_| vec![0; piece]);
            writer.write_all(&bytes)?;
            at += piece as u64;
        }
        writer.sync()?;
        writer.finish()?;
        kept.sync_names()
    }

    /// Returns a file for documents saved from a shard, which is created when the first one is saved.
    pub fn saved_file(&self, folder: &str, what: &str) -> SavedFile {
        SavedFile {
            name: format!("{what}.ndjson"),
            folder: format!("salvaged-{}/{folder}", self.time),
            writer: None,
            count: 0,
        }
    }
}

impl SavedFile {
    /// Writes the two lines of `_bulk`. JSON strings contain no line breaks, so replacing those of the source
    /// makes it a single line.
    pub fn save(&mut self, folders: &RepairFolders, saved: &Saved<'_>) -> Result<()> {
        self.count += 1;
        if !folders.applies {
            return Ok(());
        }
        if self.writer.is_none() {
            self.writer = Some(folders.disk.folder(&self.folder)?.create(&self.name)?);
        }
        let mut about = Map::new();
        about.insert("_index".into(), saved.index.into());
        about.insert("_id".into(), saved.id.into());
        if let Some(routing) = saved.routing {
            about.insert("routing".into(), routing.into());
        }
        let action = match (saved.source, saved.only_if_absent) {
            (None, _) => "delete",
            (Some(_), true) => "create",
            (Some(_), false) => "index",
        };
        let mut line = Map::new();
        line.insert(action.into(), Value::Object(about));
        let mut bytes = Value::Object(line).to_string().into_bytes();
        bytes.push(b'\n');
        if let Some(source) = saved.source {
            bytes.extend(source.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
            bytes.push(b'\n');
        }
        match &mut self.writer {
            Some(writer) => writer.write_all(&bytes),
            None => Ok(()),
        }
    }

    /// Makes the file durable. Returns a line for the report if anything was saved.
    pub fn finish(mut self, folders: &RepairFolders) -> Result<Option<String>> {
        if let Some(mut writer) = self.writer.take() {
            writer.sync()?;
            writer.finish()?;
            folders.disk.folder(&self.folder)?.sync_names()?;
        }
        Ok((self.count > 0).then(|| format!("{}/{}", self.folder, self.name)))
    }
}
