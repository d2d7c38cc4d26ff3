//! `limber check --repair`: "what of this damaged data folder can be saved, and what is lost?", offline.
//!
//! Repair makes shards open again that do not, or whose readers fail, and says what that costs. It deletes
//! nothing: every file that it changes or takes out of use is copied to `damaged-<time>/` first, and what it
//! can read of the documents that the index loses goes to `salvaged-<time>/` as bodies for `_bulk`. Nothing
//! is taken back into an index by itself: whoever runs it decides.
//!
//! [`conduct`] walks the shards; [`commit`] makes a commit of the segments that are there where the commit is
//! lost; [`segments`] reads documents out of damaged segments; [`log`] cuts a damaged log; [`aside`] keeps
//! the originals and writes what was saved.

mod aside;
mod commit;
mod conduct;
mod log;
mod segments;

pub use conduct::{RepairReport, repair_data_folder};
