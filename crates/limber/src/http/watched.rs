//! A socket as the server reads and writes it: it tells when its client does not take what it is sent (such a
//! connection is not idle, although no request is under way), and hands on no bytes that could be taken for
//! other requests than they are ([`Framing`]).

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

/// Most bytes that are read from a socket at a time.
const READ_BYTES_MAX: usize = 256 << 10;
/// A client that takes nothing of its answer for this long is cut off.
const STALL_TIME: Duration = Duration::from_secs(60);
/// Bytes that one read asks for while no body is expected: heads are small, and idle connections are many.
const READ_BYTES_MIN: usize = 8 << 10;

/// A socket whose bytes are counted, and which can be closed from outside.
pub struct Watched {
    io: TokioIo<Socket>,
    connection: Arc<Connection>,
    framing: Framing,
    /// Sound bytes that were not handed on for want of room, and how many of them were.
    ready: Vec<u8>,
    handed_on: usize,
    /// Room to read into; none while nothing comes.
    room: Vec<u8>,
    /// Ends when the client has taken nothing for too long.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    /// Watches `stream` for `connection`.
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

    /// Reads what is there into `ready`, as far as it is sound. Returns the number of bytes; 0 at the end.
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

    /// Ends a connection whose client takes nothing for too long: the answer is memory that others need.
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
