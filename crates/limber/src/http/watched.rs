//! A socket as the server reads and writes it. It detects a client that does not read its response (such a
//! connection is not idle, although no request is in flight). It passes on only bytes that cannot be misread
//! as other requests ([`Framing`]).

use std::io::{ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::Sleep;

use super::connections::Connection;
use super::framing::Framing;
use super::socket::Socket;

/// Maximum number of bytes that are read from a socket at a time.
const READ_BYTES_MAX: usize = 256 << 10;
/// A client that reads nothing of its response for this long is disconnected.
const STALL_TIME: Duration = Duration::from_secs(60);
/// Bytes per read while no body is expected: heads are small, and idle connections are many.
const READ_BYTES_MIN: usize = 8 << 10;

/// A socket whose requests are checked, and whose stalled client is detected.
pub struct Watched {
    io: TokioIo<Socket>,
    connection: Arc<Connection>,
    framing: Framing,
    /// Valid bytes that did not fit into the reader's buffer, and how many of them have been passed on since.
    ready: Vec<u8>,
    handed_on: usize,
    /// The read buffer; empty while nothing arrives.
    room: Vec<u8>,
    /// Fires when the client has read nothing for too long.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    /// Wraps `stream` for `connection`.
    pub fn new(stream: Socket, connection: Arc<Connection>) -> Watched {
        let (ready, room) = (Vec::new(), Vec::new());
        Watched {
            io: TokioIo::new(stream),
            connection,
            framing: Framing::default(),
            ready,
            handed_on: 0,
            room,
            stalled: None,
        }
    }

    /// Reads available bytes, and moves the valid ones to `ready`. Returns the number of bytes read; 0 at the
    /// end.
    fn read(&mut self, context: &mut Context<'_>) -> Poll<Result<usize>> {
        let expected = usize::try_from(self.framing.expected_bytes()).unwrap_or(usize::MAX);
        let wanted = expected.clamp(READ_BYTES_MIN, READ_BYTES_MAX);
        if self.room.len() < wanted {
            self.room.resize(wanted, 0);
        }
        let mut buffer = ReadBuf::new(&mut self.room[..wanted]);
        match Pin::new(self.io.inner_mut()).poll_read(context, &mut buffer) {
            Poll::Ready(Ok(())) => {
                self.framing.pass(buffer.filled(), &mut self.ready);
                Poll::Ready(Ok(buffer.filled().len()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Ends the connection if its client reads nothing for too long, because the response occupies memory.
    fn note<T>(&mut self, outcome: Poll<Result<T>>, context: &mut Context<'_>) -> Poll<Result<T>> {
        self.connection.set_write_blocked(outcome.is_pending());
        if outcome.is_ready() {
            self.stalled = None;
            return outcome;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL_TIME)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Read for Watched {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        let watched = self.get_mut();
        loop {
            if watched.handed_on < watched.ready.len() {
                let rest = &watched.ready[watched.handed_on..];
                let count = rest.len().min(into.remaining());
                into.put_slice(&rest[..count]);
                watched.handed_on += count;
                return Poll::Ready(Ok(()));
            }
            watched.handed_on = 0;
            watched.ready.clear();
            if watched.framing.has_ended() {
                return Poll::Ready(Ok(()));
            }
            match watched.read(context) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    if watched.framing.expected_bytes() == 0 {
                        (watched.ready, watched.room) = (Vec::new(), Vec::new());
                    }
                    return Poll::Pending;
                }
            }
        }
    }
}

impl Write for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let outcome = Pin::new(&mut self.io).poll_write(context, bytes);
        self.note(outcome, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let outcome = Pin::new(&mut self.io).poll_write_vectored(context, parts);
        self.note(outcome, context)
    }
}
