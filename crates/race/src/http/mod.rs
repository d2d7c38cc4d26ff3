//! Sends HTTP requests as cheaply as possible.
//!
//! A load generator needs only a small part of HTTP/1.1, but that part has to be fast: the bytes of a request
//! are made before the clock starts and sent with one vectored write, and the response parser leaves the body
//! in the read buffer. General clients use header maps, body streams and task switches for every request;
//! measured against a stub server, these cost more than the system calls themselves (`docs/performance.md`,
//! "Load generator").
//!
//! **Invariant**: nothing here allocates per request once a connection's buffers have grown to the largest
//! response.

pub(crate) mod cluster;
mod connection;
mod discard;
mod packer;
mod read_ahead;
mod request;
mod response;
mod static_answers;
mod stream;
mod tls;

pub(crate) use connection::{Address, Connection, HttpError, Packing};
pub(crate) use packer::Packer;
pub use read_ahead::ReadAhead;
pub(crate) use request::{Method, Request, RequestBuilder, in_path};
#[cfg(test)]
pub(crate) use response::Encoding;
pub(crate) use response::{Head, Response};
pub(crate) use static_answers::StaticAnswers;
pub(crate) use tls::{Tls, TlsOptions, server_name};
