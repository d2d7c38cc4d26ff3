//! Sends HTTP requests as cheaply as possible.
//!
//! A load generator needs little of HTTP/1.1 and needs that little fast: requests whose bytes were made
//! before the clock started, one vectored write, and a response parser that keeps the body where it arrived.
//! General clients pay for header maps, body streams and task hand-overs on every request; measured against a
//! stub server they cost more than the system calls themselves (`docs/performance.md`, "Load generator").
//!
//! **Invariant**: nothing here allocates per request once a connection's buffers have grown to the largest
//! response.

pub(crate) mod cluster;
mod connection;
mod discard;
mod packer;
mod request;
mod response;
mod static_answers;
mod stream;
mod tls;

pub(crate) use connection::{Address, Connection, HttpError, Packing};
pub(crate) use packer::Packer;
pub(crate) use request::{Method, Request, RequestBuilder};
#[cfg(test)]
pub(crate) use response::Encoding;
pub(crate) use response::{Head, Response};
pub(crate) use static_answers::StaticAnswers;
pub(crate) use tls::{Tls, TlsOptions, server_name};
