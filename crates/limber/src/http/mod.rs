//! HTTP: sockets, limits, compression and media types on one side, plain request and response values on the
//! other.
//!
//! Reading order: [`framing`] guards against request smuggling, [`connections`] limits the number of clients,
//! [`pools`] runs the handlers on bounded threads, [`late`] wakes more of them when jobs take long, [`queue`]
//! decides whose turn it is, [`back_pressure`] decides which search is cancelled when memory is short,
//! [`request`] and [`response`] are what handlers see, [`status`] maps outcomes to status codes, [`render`]
//! with [`media`], [`filter_path`], [`json`] and [`yaml`] produces the bytes of the response;
//! [`checked_tree`] reads bodies in YAML and CBOR, [`comments`] removes comments from those in JSON, and
//! [`positions`] finds where in a body an error is.

pub mod back_pressure;
mod checked_tree;
pub mod comments;
pub mod config;
pub mod connections;
pub mod cors;
pub mod filter_path;
mod framing;
pub mod json;
mod late;
pub mod media;
pub mod pools;
pub mod positions;
pub mod queue;
pub mod refusal;
pub mod render;
pub mod request;
pub mod response;
pub mod slow;
mod smile;
pub mod socket;
pub mod status;
pub mod watched;
mod yaml;
