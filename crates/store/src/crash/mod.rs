//! A disk that can crash on demand: "what is left of these files when the power goes now?"
//!
//! [`CrashDisk`] keeps everything in memory, twice: as a running process sees it and as it would be found
//! after a crash. It is deterministic from a seed. A crash keeps any part of what was not synced: any subset
//! of blocks of 4 KiB, torn at sectors of 512 bytes, and of names a prefix of the changes (as on a
//! journalling file system) or any subset (all that POSIX promises). Every call, those that only read
//! included, can fail, panic, take long or be the last one before the power goes. For tests only.

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
