//! A disk that can crash on demand: "what is left of these files if the power goes off now?"
//!
//! [`CrashDisk`] keeps everything in memory twice: as a running process sees it, and as it would be found
//! after a crash. Its behaviour is determined by a seed. A crash keeps any part of what was not synced: any
//! subset of the 4 KiB blocks, torn between sectors of 512 bytes; and of the changes of names a prefix (as
//! on a journalling file system) or any subset (all that POSIX promises). Every call, even one that only
//! reads, can fail, panic, take long, or be the last before the power goes off. For tests only.

mod contents;
mod directory;
mod disk;
mod faults;
mod names;
mod sites;
mod state;
#[cfg(test)]
mod tests;
mod writer;

pub use directory::CrashDirectory;
pub use disk::CrashDisk;
pub use faults::{CallKind, Fault, FaultRule, When};
pub use sites::{Site, SiteCall, Sites};
