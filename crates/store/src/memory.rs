//! A folder in memory, for segments that live as long as a request.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::directory::{Directory, FileBytes, FileWriter, InPlaceFile};
use crate::{Error, Result};

type Files = Arc<Mutex<BTreeMap<String, FileBytes>>>;

/// Files are visible once they are finished. Nothing survives the directory.
#[derive(Default)]
pub struct MemoryDirectory {
    files: Files,
}

struct MemoryWriter {
    name: String,
    bytes: Vec<u8>,
    files: Files,
}

fn missing(name: &str) -> Error {
    Error::io("open", name, io::ErrorKind::NotFound.into())
}

impl MemoryDirectory {
    /// Creates an empty folder. The caller charges the memory of what is written to it.
    pub fn new() -> MemoryDirectory {
        MemoryDirectory::default()
    }

    fn file(&self, name: &str) -> Result<FileBytes> {
        self.files.lock().get(name).cloned().ok_or_else(|| missing(name))
    }

    fn part(&self, name: &str, offset: u64, len: usize) -> Result<FileBytes> {
        let start = usize::try_from(offset).ok();
        let part = start.and_then(|start| Some(self.file(name).ok()?.slice(start, len)));
        match part {
            Some(Some(part)) => Ok(part),
            Some(None) => Err(Error::io("read", name, io::ErrorKind::UnexpectedEof.into())),
            None => Err(missing(name)),
        }
    }
}

impl FileWriter for MemoryWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn position(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let MemoryWriter { name, bytes, files } = *self;
        files.lock().insert(name, FileBytes::from_vec(bytes));
        Ok(())
    }
}

impl Directory for MemoryDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn FileWriter>> {
        if self.exists(name)? {
            return Err(Error::io("create", name, io::ErrorKind::AlreadyExists.into()));
        }
        let files = self.files.clone();
        Ok(Box::new(MemoryWriter { name: name.to_owned(), bytes: Vec::new(), files }))
    }

    fn append(&self, name: &str, len: u64) -> Result<Box<dyn FileWriter>> {
        let bytes = match len {
            0 => Vec::new(),
            len => self.part(name, 0, len as usize)?.to_vec(),
        };
        Ok(Box::new(MemoryWriter { name: name.to_owned(), bytes, files: self.files.clone() }))
    }

    fn open_in_place(&self, name: &str) -> Result<Box<dyn InPlaceFile>> {
        let why = "files in memory are never changed in place";
        Err(Error::io("open", name, io::Error::new(io::ErrorKind::Unsupported, why)))
    }

    fn open(&self, name: &str) -> Result<FileBytes> {
        self.file(name)
    }

    fn read(&self, name: &str, offset: u64, len: usize) -> Result<Vec<u8>> {
        Ok(self.part(name, offset, len)?.to_vec())
    }

    fn read_into(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<()> {
        into.copy_from_slice(&self.part(name, offset, into.len())?);
        Ok(())
    }

    fn len(&self, name: &str) -> Result<u64> {
        Ok(self.file(name)?.len() as u64)
    }

    fn exists(&self, name: &str) -> Result<bool> {
        Ok(self.files.lock().contains_key(name))
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.files.lock().remove(name).map(|_| ()).ok_or_else(|| missing(name))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut files = self.files.lock();
        let file = files.remove(from).ok_or_else(|| missing(from))?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.files.lock().keys().cloned().collect())
    }

    fn sync(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn sync_names(&self) -> Result<()> {
        Ok(())
    }

    fn path(&self) -> &Path {
        Path::new("memory")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_there_once_they_are_finished() {
        let directory = MemoryDirectory::new();
        let mut writer = directory.create("a").unwrap();
        writer.write_all(b"hello").unwrap();
        assert!(!directory.exists("a").expect("known"));
        writer.finish().unwrap();
        assert!(directory.create("a").is_err());
        assert_eq!(&*directory.open("a").unwrap(), b"hello");
        assert_eq!(directory.read("a", 1, 3).unwrap(), b"ell");
        assert!(directory.read("a", 3, 3).is_err());
        directory.rename("a", "b").unwrap();
        assert_eq!(directory.list().unwrap(), ["b"]);
        directory.delete("b").unwrap();
        assert!(directory.open("b").is_err());
    }
}
