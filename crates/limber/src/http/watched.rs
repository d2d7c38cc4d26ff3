//! A socket that tells when its client does not take what it is sent: such a connection is not idle, although no request is under way.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::connections::Connection;

pub struct Watched {
    io: TokioIo<TcpStream>,
    connection: Arc<Connection>,
}

impl Watched {
    pub fn new(stream: TcpStream, connection: Arc<Connection>) -> Watched {
        Watched { io: TokioIo::new(stream), connection }
    }

    fn note<T>(&self, outcome: Poll<T>) -> Poll<T> {
        self.connection.set_write_blocked(outcome.is_pending());
        outcome
    }
}

impl Read for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_read(context, into)
    }
}

impl Write for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let outcome = Pin::new(&mut self.io).poll_write(context, bytes);
        self.note(outcome)
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
        self.note(outcome)
    }
}
