//! Reads a socket one TLS record at a time: rustls asks for 4 KiB, which would be five system calls a record.

use std::cell::RefCell;
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The largest record (RFC 8446, section 5.2: 2^14 + 256 bytes, with a head of 5) and the head of the next
/// one. A connection whose bytes nobody takes holds at most this many.
const CHUNK_BYTES: usize = (1 << 14) + 256 + 2 * 5;

thread_local! {
    /// The buffer for arriving bytes, so that a connection without waiting bytes needs none of its own.
    static CHUNK: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK_BYTES].into());
}

/// A stream that reads up to [`CHUNK_BYTES`] at a time, however few bytes its reader asks for. Writes pass
/// through unchanged.
pub struct ReadAhead<S> {
    stream: S,
    waiting: Vec<u8>,
    /// How many of `waiting` have been handed out.
    taken: usize,
}

impl<S> ReadAhead<S> {
    /// Wraps a stream of which nothing has been read ahead.
    pub fn new(stream: S) -> ReadAhead<S> {
        ReadAhead { stream, waiting: Vec::new(), taken: 0 }
    }

    /// Returns the stream. What was read ahead of it is not in it any more.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    fn take_waiting(&mut self, into: &mut ReadBuf<'_>) {
        let rest = &self.waiting[self.taken..];
        let count = rest.len().min(into.remaining());
        into.put_slice(&rest[..count]);
        self.taken += count;
        if self.taken == self.waiting.len() {
            self.waiting = Vec::new();
            self.taken = 0;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ReadAhead<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let this = self.get_mut();
        if this.waiting.is_empty() {
            if into.remaining() >= CHUNK_BYTES {
                return Pin::new(&mut this.stream).poll_read(context, into);
            }
            let stream = &mut this.stream;
            let waiting = &mut this.waiting;
            ready!(CHUNK.with_borrow_mut(|chunk| {
                let mut arrived = ReadBuf::new(chunk);
                ready!(Pin::new(stream).poll_read(context, &mut arrived))?;
                let bytes = arrived.filled();
                let count = bytes.len().min(into.remaining());
                into.put_slice(&bytes[..count]);
                waiting.extend_from_slice(&bytes[count..]);
                Poll::Ready(Ok::<(), std::io::Error>(()))
            }))?;
        } else {
            this.take_waiting(into);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ReadAhead<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_come_in_order_whatever_is_asked_for() {
        let sent: Vec<u8> = (0..200_000u32).map(|n| (n * 7 % 251) as u8).collect();
        let (mut near, far) = tokio::io::duplex(50_000);
        let copy = sent.clone();
        let writer = tokio::spawn(async move {
            near.write_all(&copy).await.expect("the other end reads");
        });
        let mut read = ReadAhead::new(far);
        let mut received = Vec::new();
        for size in [1, 4_096, 5, 30_000, CHUNK_BYTES, 17].into_iter().cycle() {
            let mut part = vec![0; size];
            match read.read(&mut part).await.expect("the other end writes") {
                0 => break,
                count => received.extend_from_slice(&part[..count]),
            }
        }
        writer.await.expect("the writer ends");
        assert!(received == sent);
        assert_eq!(read.waiting.capacity(), 0, "a connection at rest holds no buffer");
    }
}
