//! The name of a filter's set of documents.

/// Writes the bytes by which a filter's documents are kept: equal for equal filters of a shard, different for
/// different ones.
#[derive(Debug, Default)]
pub(crate) struct KeyWriter(Vec<u8>);

impl KeyWriter {
    /// Tells one form from the others. Whoever writes a form takes a byte that no other query begins with.
    pub fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    /// Adds a number to the key.
    pub fn number(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes with their length before them, so that what follows cannot be taken for part of them.
    pub fn text(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
