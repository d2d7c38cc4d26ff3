//! A socket as the server reads and writes it. It detects a client that does not read its response (such a
//! connection is not idle, although no request is in flight) and one that does not finish the head of its
//! request. It passes on only bytes that cannot be misread as other requests ([`Framing`]).

use std::cell::RefCell;
use std::io::{ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::Sleep;

use super::connections::Connection;
use super::framing::Framing;
use super::socket::Socket;

/// Maximum number of bytes read from a socket at a time, and of a request's head.
pub const READ_BYTES_MAX: usize = 32 << 10;
/// Maximum number of bytes passed on to Hyper at a time. A read that fills Hyper's first buffer of 8 KiB
/// would make it double that buffer, which the connection keeps.
const PASSED_BYTES_MAX: usize = (8 << 10) - 1;
/// A client is disconnected if it needs this much longer for a response than [`RESPONSE_BYTES_PER_SECOND`]
/// allows, because it reads nothing for this long, or only a little now and then.
const STALL_TIME: Duration = Duration::from_secs(60);
/// Minimum speed at which a response is read, the same as that of bodies.
const RESPONSE_BYTES_PER_SECOND: u64 = 64 << 10;
/// A client must finish a head within this time after its first byte. A client that sends nothing is idle,
/// and its connection stays open.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Interval at which a request that must wait for room is looked at again.
const PAUSE: Duration = Duration::from_millis(20);
/// A connection that closes within a request reads and discards what its client still sends for this long:
/// closing a socket with unread bytes would discard the response that the client has not read.
const LINGER_TIME: Duration = Duration::from_secs(2);

thread_local! {
    /// Buffers for arriving bytes and for the valid ones among them, so that connections need none of their
    /// own.
    static ARRIVING: RefCell<Arriving> = RefCell::default();
}

#[derive(Default)]
struct Arriving {
    read: Vec<u8>,
    valid: Vec<u8>,
}

/// Where the socket of a connection is left when the connection is parked: it stays open, without the buffers
/// that serve it.
pub type Parked = Arc<Mutex<Option<Socket>>>;

/// A socket whose requests are checked, and whose stalled client is detected.
pub struct Watched {
    io: TokioIo<Socket>,
    connection: Arc<Connection>,
    parked: Parked,
    framing: Framing,
    /// Valid bytes that could not be passed on immediately, and how many of them have been passed on since.
    ready: Vec<u8>,
    handed_on: usize,
    /// Fires when the client has not read for too long, and since when it has not. `None` while it reads.
    stalled: Option<(Pin<Box<Sleep>>, Instant)>,
    behind: Behind,
    /// Fires when the rest of a head takes too long.
    head_due: Option<Pin<Box<Sleep>>>,
    /// Fires when a request whose parts found no room is looked at again.
    paused: Option<Pin<Box<Sleep>>>,
    /// Fires when a closing connection has read for long enough. `None` until its sending half is closed.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    /// Wraps `stream` for `connection`. If the connection is parked, `parked` gets the socket.
    pub fn new(stream: Socket, connection: Arc<Connection>, parked: Parked) -> Watched {
        Watched {
            io: TokioIo::new(stream),
            connection,
            parked,
            framing: Framing::default(),
            ready: Vec::new(),
            handed_on: 0,
            stalled: None,
            behind: Behind::default(),
            head_due: None,
            paused: None,
            lingering: None,
        }
    }

    /// Waits until more of a request may be held.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while !self.connection.may_receive() {
            let paused = self.paused.get_or_insert_with(|| Box::pin(tokio::time::sleep(PAUSE)));
            ready!(paused.as_mut().poll(context));
            self.paused = None;
        }
        self.paused = None;
        Poll::Ready(())
    }

    fn poll_head_due(&mut self, context: &mut Context<'_>) -> Poll<Result<usize>> {
        match self.head_due.as_mut().map(|due| due.as_mut().poll(context)) {
            Some(Poll::Ready(())) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            _ => Poll::Pending,
        }
    }

    /// Reads what has arrived, and passes on as many valid bytes as `into` has room for. Returns the number
    /// of bytes read; 0 at the end.
    fn read(&mut self, context: &mut Context<'_>, into: &mut ReadBufCursor<'_>) -> Poll<Result<usize>> {
        if self.poll_room(context).is_pending() {
            return self.poll_head_due(context);
        }
        ARRIVING.with_borrow_mut(|Arriving { read, valid }| {
            read.resize(READ_BYTES_MAX, 0);
            // Bytes that are not passed on immediately stay with the connection. Bytes of a body are consumed
            // soon. Bytes of the next request are consumed only after this request is answered, so few of
            // them are read.
            let is_body = self.framing.body_bytes_left() >= READ_BYTES_MAX as u64;
            let wanted = if is_body { READ_BYTES_MAX } else { PASSED_BYTES_MAX };
            let mut buffer = ReadBuf::new(&mut read[..wanted]);
            if Pin::new(self.io.inner_mut()).poll_read(context, &mut buffer)?.is_pending() {
                return self.poll_head_due(context);
            }
            let count = buffer.filled().len();
            valid.clear();
            self.framing.pass(buffer.filled(), valid);
            let is_part = !self.framing.is_between_requests() && !self.framing.has_ended();
            self.connection.note_bytes(count, is_part);
            match self.framing.is_within_head() {
                true if self.head_due.is_none() => {
                    self.head_due = Some(Box::pin(tokio::time::sleep(HEAD_TIME)));
                }
                true => {}
                false => self.head_due = None,
            }
            let fitting = valid.len().min(into.remaining()).min(PASSED_BYTES_MAX);
            into.put_slice(&valid[..fitting]);
            self.ready.extend_from_slice(&valid[fitting..]);
            Poll::Ready(Ok(count))
        })
    }

    /// Reads and discards what the client sends, until it closes its half or [`LINGER_TIME`] is over.
    fn linger(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let lingering = self.lingering.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER_TIME)));
        while lingering.as_mut().poll(context).is_pending() {
            let is_end = ready!(ARRIVING.with_borrow_mut(|Arriving { read, .. }| {
                read.resize(READ_BYTES_MAX, 0);
                let mut buffer = ReadBuf::new(read);
                let polled = Pin::new(self.io.inner_mut()).poll_read(context, &mut buffer);
                polled.map(|outcome| outcome.is_err() || buffer.filled().is_empty())
            }));
            if is_end {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Ends the connection if its client reads nothing for too long, because the response occupies memory.
    fn note(&mut self, outcome: Poll<Result<usize>>, context: &mut Context<'_>) -> Poll<Result<usize>> {
        self.connection.set_write_blocked(outcome.is_pending());
        if let Poll::Ready(written) = outcome {
            if let Some((_, since)) = self.stalled.take() {
                self.behind.waited(since.elapsed());
            }
            return Poll::Ready(written.inspect(|count| self.behind.read(*count)));
        }
        let Behind(behind) = self.behind;
        let (stalled, _) = self.stalled.get_or_insert_with(|| {
            (Box::pin(tokio::time::sleep(STALL_TIME.saturating_sub(behind))), Instant::now())
        });
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// How much longer a client has needed than the minimum speed of reading allows.
#[derive(Debug, Default, Clone, Copy)]
struct Behind(Duration);

impl Behind {
    fn waited(&mut self, time: Duration) {
        self.0 = self.0.saturating_add(time);
    }

    fn read(&mut self, bytes: usize) {
        let micros = bytes as u64 * 1_000_000 / RESPONSE_BYTES_PER_SECOND;
        self.0 = self.0.saturating_sub(Duration::from_micros(micros));
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
                let count = rest.len().min(into.remaining()).min(PASSED_BYTES_MAX);
                into.put_slice(&rest[..count]);
                watched.handed_on += count;
                return Poll::Ready(Ok(()));
            }
            (watched.ready, watched.handed_on) = (Vec::new(), 0);
            if watched.framing.has_ended() {
                return Poll::Ready(Ok(()));
            }
            let room = into.remaining();
            match ready!(watched.read(context, &mut into))? {
                0 => return Poll::Ready(Ok(())),
                _ if into.remaining() < room => return Poll::Ready(Ok(())),
                // The bytes are part of a head that is not complete.
                _ => {}
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
        let is_unread = self.handed_on < self.ready.len();
        if self.connection.is_parking() && self.framing.is_between_requests() && !is_unread {
            let socket = std::mem::replace(self.io.inner_mut(), Socket::Taken);
            *self.parked.lock() = Some(socket);
            return Poll::Ready(Ok(()));
        }
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.io).poll_shutdown(context))?;
        }
        match self.framing.is_between_requests() {
            true => Poll::Ready(Ok(())),
            false => self.linger(context),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that takes what it can is never cut off, however long that takes, and one that takes a little
    /// before each end of its time is.
    #[test]
    fn a_client_reads_at_some_speed() {
        let behind_after = |bytes: usize, waited: Duration| {
            let mut behind = Behind::default();
            for _ in 0..100 {
                behind.waited(waited);
                behind.read(bytes);
            }
            behind.0
        };
        assert_eq!(behind_after(640 << 10, Duration::from_secs(10)), Duration::ZERO);
        assert!(behind_after(64 << 10, Duration::from_secs(50)) > STALL_TIME);
    }
}
