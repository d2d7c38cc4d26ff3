//! CRC-32 (IEEE, as in zip and Lucene's footers): "are these the bytes that were written?"

/// Returns the checksum of one slice.
#[inline]
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// A checksum over bytes that arrive in pieces.
#[derive(Debug, Clone, Default)]
pub struct Crc32(crc32fast::Hasher);

impl Crc32 {
    /// Creates the checksum of no bytes.
    pub fn new() -> Crc32 {
        Crc32::default()
    }

    /// Adds the bytes that follow.
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Appends the bytes that `next` has seen. This takes time logarithmic in their number and does not
    /// read them again.
    pub fn append(&mut self, next: &Crc32) {
        self.0.combine(&next.0);
    }

    /// Returns the checksum of all bytes added.
    pub fn finish(self) -> u32 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_equal_the_whole() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let mut crc = Crc32::new();
        crc.update(b"1234");
        crc.update(b"56789");
        assert_eq!(crc.clone().finish(), 0xcbf4_3926);
        let (mut parts, mut end) = (Crc32::new(), Crc32::new());
        parts.update(b"123");
        end.update(b"456789");
        parts.append(&Crc32::new());
        parts.append(&end);
        assert_eq!(parts.finish(), crc.finish());
    }
}
