//! `limber check --repair`: "what in this damaged data folder can be saved, and what is lost?" It works
//! offline.
//!
//! Repair makes shards usable that do not open, or whose readers fail, and reports what is lost. It deletes
//! nothing for good: every file that it changes or takes out of use is first copied to `damaged-<time>/`. The
//! readable documents that an index loses are written to `salvaged-<time>/` as bodies for `_bulk`. Nothing is
//! indexed again automatically; that is the user's decision.
//!
//! [`conduct`] goes through the shards; [`commit`] builds a commit from the existing segments if the commit
//! is lost; [`segments`] reads documents from damaged segments; [`log`] truncates a damaged translog;
//! [`folders`] keeps the originals and writes what was saved.

mod commit;
mod conduct;
mod folders;
mod log;
mod segments;

pub use conduct::{RepairReport, repair_data_folder};
