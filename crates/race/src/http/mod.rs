//! How does one request travel, as cheaply as the machine allows?
//!
//! A load generator needs little of HTTP/1.1 and needs that little fast: requests whose bytes were made before the clock
//! started, one vectored write, and a response parser that keeps the body where it arrived. General clients pay for header
//! maps, body streams and task hand-overs on every request; measured against a stub server they cost more than the system
//! calls themselves (`docs/performance.md`, "Load generator").
//!
//! **Invariant**: nothing here allocates per request once a connection's buffers have grown to the largest response.

pub mod cluster;
mod connection;
mod discard;
mod packer;
pub mod protocol;
mod request;
mod response;
mod static_answers;
mod stream;
mod tls;

pub use connection::{Address, Connection, HttpError, Packing};
pub use packer::Packer;
pub use request::{Method, Request, RequestBuilder};
pub use response::{Encoding, Head, Response};
pub use static_answers::StaticAnswers;
pub use tls::{Tls, TlsOptions, server_name};
