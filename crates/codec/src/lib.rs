//! Encodes values as bytes and decodes them; also hints to the processor about slices that are read soon.
//!
//! Question answered: "how is this number, length or list written, and is what I read back sound?"
//!
//! **Invariant**: pure functions over slices; no files, no threads, no clock.

#![deny(missing_docs)]

pub mod ascending;
pub mod bits;
pub mod block128;
pub mod bloom;
pub mod checksum;
pub mod column_block;
pub mod decimal;
pub mod followed;
pub mod hash64;
pub mod hex;
pub mod java_hash;
pub mod line;
pub mod members;
pub mod murmur3;
pub mod norm;
pub mod ordered64;
pub mod prefetch;
mod reader;
pub mod varint;
pub mod z_order;

pub use reader::{Corrupt, Reader};
