//! A plain or encrypted TCP stream.

use std::io::{self, IoSlice};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::http::{ReadAhead, discard};

/// Bytes that are decrypted at a time when a body is discarded.
const UNWANTED_BYTES: usize = 16 * 1024;

pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<ReadAhead<TcpStream>>>),
}

impl Stream {
    pub(super) async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(room).await,
            Stream::Tls(stream) => stream.read(room).await,
        }
    }

    /// Waits until there are bytes and discards at most `bytes_max`. Returns how many, or 0 at the end.
    pub(super) async fn discard(&mut self, bytes_max: usize) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => discard::discard(stream, bytes_max).await,
            Stream::Tls(stream) => {
                let mut unwanted = [0; UNWANTED_BYTES];
                let room = UNWANTED_BYTES.min(bytes_max);
                stream.read(&mut unwanted[..room]).await
            }
        }
    }
}

/// Writes all parts, encrypted.
pub(super) async fn write_encrypted(
    stream: &mut TlsStream<ReadAhead<TcpStream>>,
    mut left: &mut [IoSlice<'_>],
) -> io::Result<()> {
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match stream.write_vectored(left).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => IoSlice::advance_slices(&mut left, count),
        }
    }
    stream.flush().await
}
