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

    /// Appends bytes.
    ///
    /// # Errors
    /// There is not enough memory for them, or the client has disconnected.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let is_due = self.out.len() - self.checked_bytes >= CHECK_EVERY_BYTES;
        if is_due || bytes.len() > self.out.capacity() - self.out.len() {
            self.make_room(bytes.len())?;
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Fails if a write has failed.
    ///
    /// # Errors
    /// Why nothing more can be written.
    #[inline]
    pub fn check(&self) -> Result<(), Stop> {
        match &self.stop {
            None => Ok(()),
            Some(stop) => Err(stop.clone()),
        }
    }

    /// Checks what was written since the last check, and that `more_bytes` may follow.
    #[cold]
    fn make_room(&mut self, more_bytes: usize) -> Result<(), Stop> {
        let outcome = check_growth(self.out.len(), self.out.capacity(), more_bytes);
        let outcome = outcome.and_then(|()| {
            if self.out.len() - self.checked_bytes < CHECK_EVERY_BYTES {
                return Ok(());
            }
            self.checked_bytes = self.out.len();
            check_beyond_deadline()
        });
        if let Err(stop) = &outcome {
            self.stop = Some(stop.clone());
        }
        outcome
    }
}

impl io::Write for CheckedBytes {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.push(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(_) => Err(io::ErrorKind::OutOfMemory.into()),
        }
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).map(|_| ())
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
