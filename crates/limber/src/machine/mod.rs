//! The machine and this process: "how much of it is used?", according to Linux's `/proc`; also how long freed
//! memory is kept, how threads are scheduled, and whether an address is free.
//!
//! Functions that read figures return zeros, never an error, if a file is missing: these numbers are only
//! used for statistics.

mod allocated;
mod descriptors;
mod disk;
mod freed;
mod mapped;
mod memory;
mod mount;
mod process;
mod program;
mod reserved;
mod scheduling;
mod system;
mod threads;

pub use allocated::{allocated_bytes, allocator_stats};
pub use descriptors::{open_count as open_descriptor_count, raise_limit as raise_descriptor_limit};
pub use disk::{disk_traffic, start_disk_traffic};
pub use freed::{FreedMemory, give_back_freed};
pub use mapped::MappedMemory;
pub use memory::usable_memory_bytes;
pub use mount::mount_of;
pub use process::{Resident, held_bytes, process, resident};
pub use program::ProgramPages;
pub use reserved::{Reserved, cannot_listen};
pub use scheduling::prefer_short_turns;
pub use system::{os, os_release};
pub use threads::{ThreadTime, thread_times};
