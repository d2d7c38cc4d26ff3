//! A client's socket, plain or with TLS.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll};

use limber_race::ReadAhead;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// A plain or TLS socket.
pub enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<ReadAhead<TcpStream>>>),
    /// What is left where a socket was taken from. It neither reads nor writes.
    Taken,
}

impl Socket {
    /// Waits until the client sends something or closes its half; returns whether it sent something. All that
    /// arrived before must have been read.
    pub async fn is_sent_something(&self) -> bool {
        let stream = match self {
            Socket::Plain(stream) => stream,
            Socket::Tls(stream) => stream.get_ref().0.get_ref(),
            Socket::Taken => return false,
        };
        // A socket may be called readable although nothing has arrived, so a byte is looked at.
        stream.peek(&mut [0]).await.is_ok_and(|count| count > 0)
    }
}

fn is_taken() -> Error {
    Error::from(ErrorKind::NotConnected)
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Socket::Tls(stream) => Pin::new(stream).poll_read(context, into),
            Socket::Taken => Poll::Ready(Err(is_taken())),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Taken => Poll::Ready(Err(is_taken())),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_write_vectored(context, parts),
            Socket::Tls(stream) => Pin::new(stream).poll_write_vectored(context, parts),
            Socket::Taken => Poll::Ready(Err(is_taken())),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Socket::Plain(stream) => stream.is_write_vectored(),
            Socket::Tls(stream) => stream.is_write_vectored(),
            Socket::Taken => false,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_flush(context),
            Socket::Tls(stream) => Pin::new(stream).poll_flush(context),
            Socket::Taken => Poll::Ready(Err(is_taken())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Tls(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Taken => Poll::Ready(Err(is_taken())),
        }
    }
}
