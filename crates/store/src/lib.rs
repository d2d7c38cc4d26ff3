//! Stores bytes on disk, and keeps the one ledger of memory.
//!
//! The questions it answers: "where are these bytes, are they safe on disk yet, and may I have that much
//! memory?"
//!
//! **Invariant**: this is the only crate with file access and, except for SIMD, with `unsafe`. It does not
//! know what the bytes mean.

#![deny(missing_docs)]

pub mod crash;
mod direct;
pub mod directory;
pub mod disk;
mod error;
mod fs_directory;
pub mod ledger;
pub mod mapped;
mod memory;
pub mod random;
pub mod repository;
pub mod sync;
pub mod term_index;

pub use crash::{CrashDirectory, CrashDisk, Fault, FaultRule};
pub use directory::{Directory, FileBytes, FileWriter, InPlaceFile};
pub use disk::{Disk, DiskPart, DiskSpace, FsDisk, space_of};
pub use error::{Error, Result};
pub use fs_directory::FsDirectory;
pub use ledger::{Charge, Ledger, Parent, Pool, Process};
pub use memory::MemoryDirectory;
