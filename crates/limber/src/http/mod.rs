//! HTTP: sockets, limits, compression and media types on one side, plain request and response values on the
//! other.
//!
//! Reading order: [`framing`] sees to it that requests are what they seem, [`connections`] limits how many
//! clients there are, [`pools`] runs the handlers on bounded threads, [`queue`] says whose turn it is,
//! [`back_pressure`] which search goes when memory is short, [`request`] and [`response`] are what handlers
//! see, [`status`] says which status an outcome has, [`render`] with [`media`], [`filter_path`] and [`json`]
//! shapes what goes out.

pub mod back_pressure;
pub mod config;
pub mod connections;
pub mod cors;
pub mod filter_path;
mod framing;
pub mod json;
pub mod media;
pub mod pools;
pub mod queue;
pub mod refusal;
pub mod render;
pub mod request;
pub mod response;
pub mod slow;
pub mod socket;
pub mod status;
pub mod watched;
