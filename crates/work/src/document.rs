//! The current document of a request: how many bytes its values expand to.

/// Bytes that the values of one document may expand to before they are charged, in addition to twice its
/// size. Nearly all documents need no more.
const DOCUMENT_BYTES: u64 = 256 << 10;
/// Expansion of the current document so far.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) allowed_bytes: u64,
    pub(crate) made_bytes: u64,
    /// The part of it that the meter counts as held.
    pub(crate) stated_bytes: u64,
}

impl Default for Document {
    fn default() -> Document {
        Document::of(0)
    }
}

impl Document {
    pub(crate) fn of(source_bytes: u64) -> Document {
        Document { allowed_bytes: 2 * source_bytes + DOCUMENT_BYTES, made_bytes: 0, stated_bytes: 0 }
    }

    pub(crate) fn source_bytes(&self) -> u64 {
        (self.allowed_bytes - DOCUMENT_BYTES) / 2
    }

    /// Returns the bytes to subtract from the meter, and resets them.
    pub(crate) fn take_stated(&mut self) -> i64 {
        std::mem::take(&mut self.stated_bytes) as i64
    }
}
