//! Bytes that a response is written to: "may this have that many bytes more, and does somebody still wait?"

use std::io;

use crate::Stop;
use crate::current::{check_beyond_deadline, check_growth};

/// Bytes that are written between two checks for cancellation.
const CHECK_EVERY_BYTES: usize = 256 << 10;

/// A writer to memory that checks memory and cancellation as it grows. Writing fails only for a reason that
/// [`CheckedBytes::finish`] returns.
#[derive(Debug, Default)]
pub struct CheckedBytes {
    out: Vec<u8>,
    checked_bytes: usize,
    stop: Option<Stop>,
}

impl CheckedBytes {
    /// Creates a writer that appends to `out`.
    pub fn of(out: Vec<u8>) -> CheckedBytes {
        CheckedBytes { checked_bytes: out.len(), out, stop: None }
    }

    /// Returns all bytes.
    ///
    /// # Errors
    /// Why nothing more could be written.
    pub fn finish(self) -> Result<Vec<u8>, Stop> {
        self.stop.map_or(Ok(self.out), Err)
    }

    fn check(&mut self, more_bytes: usize) -> Result<(), Stop> {
        check_growth(self.out.len(), self.out.capacity(), more_bytes)?;
        if self.out.len() - self.checked_bytes < CHECK_EVERY_BYTES {
            return Ok(());
        }
        self.checked_bytes = self.out.len();
        check_beyond_deadline()
    }
}

impl io::Write for CheckedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(stop) = self.check(bytes.len()) {
            self.stop = Some(stop);
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn bytes_are_appended() {
        let mut bytes = CheckedBytes::of(b"a".to_vec());
        bytes.write_all(b"bc").expect("no request");
        assert_eq!(bytes.finish().expect("no request"), b"abc");
    }
}
