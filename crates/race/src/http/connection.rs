//! Sends requests and receives responses on one keep-alive connection.
//!
//! A connection carries one request at a time; closed-loop clients never need more. It reconnects by itself
//! when the server has closed it between two requests. After a time-out it closes the socket, since the late
//! answer would be taken for the next one.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::http::ReadAhead;
use crate::http::request::{Method, Request};
use crate::http::response::{BODY_BYTES_MAX, BodyLength, ChunkDecoder, Encoding, Head, Response, parse_head};
use crate::http::static_answers::{StaticAnswers, path};
use crate::http::stream::{Stream, write_encrypted};
use crate::http::tls::Tls;

/// Initial size of a read buffer, enough for most search responses. It grows to the largest response and
/// stays.
const READ_BYTES_INITIAL: usize = 64 * 1024;
/// Free space for each read of a body whose length is not known.
const READ_BYTES_STEP: usize = 256 * 1024;
/// Space for the first read of an answer that may be cut off: a head of a few hundred bytes and
/// [`ENOUGH_BYTES`].
const FIRST_READ_BYTES: usize = 4 * 1024;
/// Number of body bytes after which [`IsEnough`](super::request::IsEnough) is called. A gzip stream yields
/// nothing before its code tables, which take a few hundred bytes.
const ENOUGH_BYTES: usize = 1024;

#[derive(Debug, Error)]
pub(crate) enum HttpError {
    /// The server cannot be reached, or the connection was refused, reset or closed.
    #[error("{0}")]
    Connection(String),
    /// The TLS handshake failed: the server has no TLS, or a certificate is not trusted or missing.
    #[error("{0}")]
    Tls(String),
    #[error("network connection timed out")]
    Timeout,
    /// The peer does not speak HTTP/1.x as expected.
    #[error("{0}")]
    Protocol(String),
}

/// One of the target hosts.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// `host:port` as the user wrote it, for the `host` header and messages.
    pub authority: String,
    /// All addresses of the name, at least one.
    pub sockets: Vec<SocketAddr>,
    /// What precedes the path of every request, without a slash at its end; usually empty.
    pub prefix: String,
    /// `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// Answers that replace a server's; nothing is sent.
    pub answers: Option<Arc<StaticAnswers>>,
}

/// How a body is encoded for sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    AsIs,
    Gzip,
}

pub(crate) struct Connection {
    address: Address,
    /// The last headers of every request on this connection, up to but without `content-length`.
    tail: String,
    /// Index of the host's address that is tried first (modulo their number).
    first_socket: usize,
    stream: Option<Stream>,
    /// Whether the open stream has carried a response. The server may then have closed it while it was idle.
    is_reused: bool,
    /// `tail`, `content-length` and the blank line of the request being sent.
    head_end: Vec<u8>,
    read: Vec<u8>,
    /// Bytes of `read` that came from the socket.
    read_bytes: usize,
    /// Decoded body of a chunked response.
    assembled: Vec<u8>,
}

/// Why an attempt brought no answer.
enum Attempt {
    /// The connection was closed before the first byte of an answer.
    ClosedBeforeAnswer(String),
    Failed(HttpError),
}

impl Connection {
    /// `headers` are complete header lines (each ending in CR LF) added to every request, such as
    /// credentials.
    pub(crate) fn new(address: Address, headers: &str) -> Connection {
        let tail = format!("host: {}\r\n{headers}", address.authority);
        Connection::unopened(address, tail, 0)
    }

    fn unopened(address: Address, tail: String, first_socket: usize) -> Connection {
        Connection {
            address,
            tail,
            first_socket,
            stream: None,
            is_reused: false,
            head_end: Vec::with_capacity(256),
            read: Vec::new(),
            read_bytes: 0,
            assembled: Vec::new(),
        }
    }

    /// Sets which of a host's addresses is tried first, so that clients spread over the machines with that
    /// name.
    pub(crate) fn prefer_socket(mut self, first: usize) -> Connection {
        self.first_socket = first;
        self
    }

    /// Returns a separate connection to the same host, with the same headers.
    pub(crate) fn sibling(&self) -> Connection {
        Connection::unopened(self.address.clone(), self.tail.clone(), self.first_socket)
    }

    /// Opens the socket if it is not open, so that the first request does not pay for it.
    pub(crate) async fn open(&mut self) -> Result<(), HttpError> {
        if self.stream.is_none() && self.address.answers.is_none() {
            let socket = self.connect().await?;
            socket.set_nodelay(true).map_err(|error| HttpError::Connection(error.to_string()))?;
            self.stream = Some(match &self.address.tls {
                None => Stream::Plain(socket),
                Some(tls) => {
                    let connector = TlsConnector::from(Arc::clone(&tls.config));
                    let opened = connector.connect(tls.server.clone(), ReadAhead::new(socket)).await;
                    Stream::Tls(Box::new(opened.map_err(|error| self.handshake_error(&error))?))
                }
            });
            self.is_reused = false;
        }
        Ok(())
    }

    async fn connect(&self) -> Result<TcpStream, HttpError> {
        let sockets = &self.address.sockets;
        let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for turn in 0..sockets.len() {
            match TcpStream::connect(sockets[(self.first_socket + turn) % sockets.len()]).await {
                Ok(socket) => return Ok(socket),
                Err(error) => refused = error,
            }
        }
        Err(HttpError::Connection(format!("cannot connect to [{}]: {refused}", self.address.authority)))
    }

    fn handshake_error(&self, error: &io::Error) -> HttpError {
        let authority = &self.address.authority;
        let is_tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
        match error.kind() {
            io::ErrorKind::InvalidData if is_tls => {
                HttpError::Tls(format!("TLS with [{authority}]: {error}"))
            }
            _ => HttpError::Connection(format!("TLS with [{authority}]: {error}")),
        }
    }

    /// Sends `request` with `body` (which may differ from the request's own) and reads the whole answer.
    ///
    /// Errors: [`HttpError`]. After any error, the socket is closed and the next request opens a new one.
    pub(crate) async fn exchange(
        &mut self,
        request: &Request,
        body: &[u8],
        timeout: Duration,
    ) -> Result<Response<'_>, HttpError> {
        let head = self.exchange_packed(request, body, Packing::AsIs, timeout).await?;
        Ok(self.response(head))
    }

    /// Sends a request like [`Connection::exchange`], with a body that may be compressed.
    /// [`Connection::response`] returns the answer.
    pub(crate) async fn exchange_packed(
        &mut self,
        request: &Request,
        body: &[u8],
        packing: Packing,
        timeout: Duration,
    ) -> Result<Head, HttpError> {
        if let Some(answers) = self.address.answers.clone() {
            // A client that never waits would not let the other clients of its thread run.
            tokio::task::yield_now().await;
            return self.answered(&answers, request);
        }
        self.write_head_end(request.method, body.len(), packing);
        let outcome = match tokio::time::timeout(timeout, self.exchange_untimed(request, body)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(HttpError::Timeout),
        };
        match outcome {
            Ok(head) => {
                self.is_reused = true;
                if !head.keep_alive {
                    self.stream = None;
                }
                Ok(head)
            }
            Err(error) => {
                self.stream = None;
                Err(error)
            }
        }
    }

    /// Uses the answer from the file as if a server had sent it.
    fn answered(&mut self, answers: &StaticAnswers, request: &Request) -> Result<Head, HttpError> {
        let body = answers.body(&request.head).ok_or_else(|| {
            HttpError::Protocol(format!("no static response fits the path [{}]", path(&request.head)))
        })?;
        let body = if request.method == Method::Head { &[] } else { body };
        self.read.clear();
        self.read.extend_from_slice(body);
        Ok(Head {
            status: 200,
            length: BodyLength::Bytes(body.len()),
            encoding: Encoding::Identity,
            keep_alive: true,
            head_bytes: 0,
        })
    }

    async fn exchange_untimed(&mut self, request: &Request, body: &[u8]) -> Result<Head, HttpError> {
        loop {
            self.open().await?;
            match self.attempt(request, body).await {
                Ok(head) => return Ok(head),
                Err(Attempt::Failed(error)) => return Err(error),
                Err(Attempt::ClosedBeforeAnswer(_)) if self.is_reused => self.stream = None,
                Err(Attempt::ClosedBeforeAnswer(reason)) => return Err(HttpError::Connection(reason)),
            }
        }
    }

    fn write_head_end(&mut self, method: Method, body_bytes: usize, packing: Packing) {
        self.head_end.clear();
        self.head_end.extend_from_slice(self.tail.as_bytes());
        if packing == Packing::Gzip {
            self.head_end.extend_from_slice(b"content-encoding: gzip\r\n");
        }
        if body_bytes > 0 || matches!(method, Method::Post | Method::Put) {
            self.head_end.extend_from_slice(b"content-length: ");
            push_decimal(&mut self.head_end, body_bytes);
            self.head_end.extend_from_slice(b"\r\n");
        }
        self.head_end.extend_from_slice(b"\r\n");
    }

    async fn attempt(&mut self, request: &Request, body: &[u8]) -> Result<Head, Attempt> {
        self.read_bytes = 0;
        let stream = self.stream.as_mut().expect("opened by the caller");
        if self.read.is_empty() {
            self.read.resize(READ_BYTES_INITIAL, 0);
        }
        // The prefix of the host, if any, is between the method with its space and the path.
        let prefix = self.address.prefix.as_bytes();
        let (method, target) = match prefix.is_empty() {
            true => request.head.split_at(0),
            false => request.head.split_at(request.method.as_str().len() + 1),
        };
        let parts = [method, prefix, target, &self.head_end[..], body];
        let is_sent = write_parts(stream, &parts, &mut self.read, &mut self.read_bytes).await?;
        let mut head = self.read_response(request).await?;
        // If the answer came before the whole request was sent, the rest of the request would be taken for
        // the next one.
        head.keep_alive &= is_sent && head.length != BodyLength::UntilClose;
        Ok(head)
    }

    async fn read_response(&mut self, request: &Request) -> Result<Head, Attempt> {
        let bodiless = request.method == Method::Head;
        let first_bytes_max = if request.is_enough.is_some() { FIRST_READ_BYTES } else { usize::MAX };
        let mut head = loop {
            match parse_head(&self.read[..self.read_bytes], bodiless).map_err(Attempt::Failed)? {
                // An interim response such as 100 is followed by the final one.
                Some(head) if head.status < 200 => {
                    self.read.copy_within(head.head_bytes..self.read_bytes, 0);
                    self.read_bytes -= head.head_bytes;
                }
                Some(head) => break head,
                None => self.read_more(0, first_bytes_max).await?,
            }
        };
        match head.length {
            BodyLength::Bytes(length) => {
                let end = head.head_bytes + length;
                if let Some(is_enough) = request.is_enough {
                    self.read_to(end.min(head.head_bytes + ENOUGH_BYTES), first_bytes_max).await?;
                    if self.read_bytes < end {
                        head.length = BodyLength::Bytes(self.read_bytes - head.head_bytes);
                        let start = self.response(head);
                        if start.is_success() && is_enough(&start) {
                            self.discard(end - self.read_bytes).await?;
                            return Ok(head);
                        }
                        head.length = BodyLength::Bytes(length);
                    }
                }
                self.read_to(end, usize::MAX).await?;
            }
            BodyLength::Chunked => self.read_chunks(&head).await?,
            BodyLength::UntilClose => self.read_until_close().await?,
        }
        Ok(head)
    }

    async fn read_to(&mut self, end: usize, bytes_max: usize) -> Result<(), Attempt> {
        while self.read_bytes < end {
            self.read_more(end - self.read_bytes, bytes_max).await?;
        }
        Ok(())
    }

    /// Waits for `bytes` more of an answer and discards them.
    async fn discard(&mut self, mut bytes: usize) -> Result<(), Attempt> {
        while bytes > 0 {
            let stream = self.stream.as_mut().expect("opened by the caller");
            match stream.discard(bytes).await {
                Ok(0) => return Err(self.closed("the server closed the connection".into())),
                Ok(count) => bytes -= count,
                Err(error) => return Err(self.closed(error.to_string())),
            }
        }
        Ok(())
    }

    async fn read_chunks(&mut self, head: &Head) -> Result<(), Attempt> {
        let mut decoder = ChunkDecoder::default();
        self.assembled.clear();
        let mut from = head.head_bytes;
        loop {
            let read = &self.read[from..self.read_bytes];
            from += decoder.decode(read, &mut self.assembled).map_err(Attempt::Failed)?;
            if decoder.is_done() {
                return Ok(());
            }
            if from == self.read_bytes {
                (from, self.read_bytes) = (0, 0);
            }
            self.read_more(READ_BYTES_STEP, usize::MAX).await?;
        }
    }

    async fn read_until_close(&mut self) -> Result<(), Attempt> {
        loop {
            if self.read_bytes > BODY_BYTES_MAX {
                return Err(Attempt::Failed(HttpError::Protocol("response body exceeds 1 GiB".into())));
            }
            match self.read_more(READ_BYTES_STEP, usize::MAX).await {
                Ok(()) => {}
                Err(Attempt::Failed(HttpError::Connection(_))) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits for bytes and appends them (at most `bytes_max`), after making space for `wanted_bytes` (at
    /// least one).
    async fn read_more(&mut self, wanted_bytes: usize, bytes_max: usize) -> Result<(), Attempt> {
        let needed = self.read_bytes + wanted_bytes.max(1);
        if self.read.len() < needed {
            self.read.resize(needed.next_power_of_two(), 0);
        }
        let stream = self.stream.as_mut().expect("opened by the caller");
        let end = self.read.len().min(self.read_bytes.saturating_add(bytes_max));
        match stream.read(&mut self.read[self.read_bytes..end]).await {
            Ok(0) => Err(self.closed("the server closed the connection".into())),
            Ok(count) => {
                self.read_bytes += count;
                Ok(())
            }
            Err(error) => Err(self.closed(error.to_string())),
        }
    }

    fn closed(&self, reason: String) -> Attempt {
        let reason = format!("[{}]: {reason}", self.address.authority);
        match self.read_bytes {
            0 => Attempt::ClosedBeforeAnswer(reason),
            _ => Attempt::Failed(HttpError::Connection(reason)),
        }
    }

    /// Returns the answer that [`Connection::exchange_packed`] last read.
    pub(crate) fn response(&self, head: Head) -> Response<'_> {
        let body = match head.length {
            BodyLength::Bytes(length) => &self.read[head.head_bytes..head.head_bytes + length],
            BodyLength::Chunked => &self.assembled[..],
            BodyLength::UntilClose => &self.read[head.head_bytes..self.read_bytes],
        };
        Response { status: head.status, encoding: head.encoding, body }
    }
}

/// Writes all parts in as few system calls as the socket allows. Returns false when an answer arrived first;
/// it is then in `read`.
async fn write_parts(
    stream: &mut Stream,
    parts: &[&[u8]; 5],
    read: &mut [u8],
    read_bytes: &mut usize,
) -> Result<bool, Attempt> {
    let mut slices = parts.map(IoSlice::new);
    let left: &mut [IoSlice<'_>] = &mut slices;
    match stream {
        Stream::Plain(stream) => write_plain(stream, left, read, read_bytes).await,
        Stream::Tls(tls) => match write_encrypted(tls, left).await {
            Ok(()) => Ok(true),
            // As below: an answer before the close says more than the broken pipe.
            Err(error) => match stream.read(read).await {
                Ok(count @ 1..) => {
                    *read_bytes = count;
                    Ok(false)
                }
                _ => Err(Attempt::ClosedBeforeAnswer(error.to_string())),
            },
        },
    }
}

async fn write_plain(
    stream: &mut TcpStream,
    mut left: &mut [IoSlice<'_>],
    read: &mut [u8],
    read_bytes: &mut usize,
) -> Result<bool, Attempt> {
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match stream.try_write_vectored(left) {
            Ok(count) => IoSlice::advance_slices(&mut left, count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let ready = stream
                    .ready(Interest::WRITABLE | Interest::READABLE)
                    .await
                    .map_err(|error| Attempt::ClosedBeforeAnswer(error.to_string()))?;
                if ready.is_readable() && read_early(stream, read, read_bytes)? {
                    return Ok(false);
                }
            }
            Err(error) => {
                // A server that refuses a large body answers and closes the connection. The answer says more
                // than the broken pipe.
                if read_early(stream, read, read_bytes)? {
                    return Ok(false);
                }
                return Err(Attempt::ClosedBeforeAnswer(error.to_string()));
            }
        }
    }
    Ok(true)
}

fn read_early(stream: &TcpStream, read: &mut [u8], read_bytes: &mut usize) -> Result<bool, Attempt> {
    match stream.try_read(read) {
        Ok(0) => Err(Attempt::ClosedBeforeAnswer("the server closed the connection".into())),
        Ok(count) => {
            *read_bytes = count;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(Attempt::ClosedBeforeAnswer(error.to_string())),
    }
}

fn push_decimal(out: &mut Vec<u8>, mut value: usize) {
    let mut digits = [0u8; 20];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[from..]);
}
