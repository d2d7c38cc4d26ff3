//! What the machine says about the server's process.
//!
//! It is read from `/proc` and `/sys` when a rule asks. Counters are sampled twice to compute rates. A test
//! passes another root.

mod cgroup;
mod disk;
mod memory;
mod own_address;
mod process;
mod sampled;

pub(super) use disk::{DiskActivity, chosen};
pub(crate) use memory::own_usable_bytes;
pub(super) use own_address::is_own_address;
pub(super) use sampled::Machine;
#[cfg(test)]
pub(super) use sampled::made_up;
