//! Where a section's bytes go while it is written: a file, a lane of a segment, or memory.

use limber_store::FileWriter;

use crate::Result;

/// Appends bytes. Writers of sections note [`Sink::position`] when they start; the offsets they record are
/// relative to it.
pub trait Sink {
    /// Adds bytes at the end.
    ///
    /// # Errors
    /// Fails as the disk does.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;
    /// Returns the bytes appended so far.
    fn position(&self) -> u64;
}

impl Sink for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn position(&self) -> u64 {
        self.len() as u64
    }
}

impl Sink for Box<dyn FileWriter> {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.write_all(bytes)?)
    }

    fn position(&self) -> u64 {
        FileWriter::position(&**self)
    }
}
