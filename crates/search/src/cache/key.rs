//! Cache keys of filters.

/// Writes the cache key of a filter: equal filters of a shard have equal keys, different filters different
/// ones.
#[derive(Debug, Default)]
pub(crate) struct KeyWriter(Vec<u8>);

impl KeyWriter {
    /// Writes the byte that identifies a kind of query. Each kind must use a byte of its own.
    pub fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    /// Adds a number to the key.
    pub fn number(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes bytes after their length, so that what follows cannot be taken for part of them.
    pub fn text(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Returns the key.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
