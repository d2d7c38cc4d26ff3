//! Memory, CPU time, threads and files of this process.

use std::fs;

use super::descriptors::open_count;

/// The size of a memory page on the machines that Limber supports.
const PAGE_BYTES: u64 = 4096;

/// Statistics of the process, from `/proc/self`.
#[derive(Debug, Default, Clone, Copy)]
pub struct ProcessStats {
    /// Files, sockets and pipes that are open.
    pub open_file_descriptors: u64,
    /// Maximum number of open file descriptors (the soft limit).
    pub max_file_descriptors: u64,
    /// CPU time since the process started, in user and kernel mode, of all its threads.
    pub cpu_millis: u64,
    /// Memory that is in RAM.
    pub resident_bytes: u64,
    /// The part of the resident bytes that [`anonymous_bytes`] returns. The rest are pages of mapped files,
    /// which belong to the system's page cache.
    pub anonymous_bytes: u64,
    /// Size of the address space.
    pub virtual_bytes: u64,
    /// Threads that exist.
    pub thread_count: u64,
}

/// Returns the memory of this process that the system cannot reclaim without swapping: heap and stacks.
pub fn anonymous_bytes() -> u64 {
    resident().anonymous_bytes
}

/// Returns the memory that counts against `memory.limit`, see [`Resident::held_bytes`]. Takes some
/// microseconds.
pub fn held_bytes() -> u64 {
    resident().held_bytes()
}

/// The resident memory of this process.
#[derive(Debug, Default, Clone, Copy)]
pub struct Resident {
    /// See [`anonymous_bytes`].
    pub anonymous_bytes: u64,
    /// Pages of mapped files.
    pub file_bytes: u64,
}

impl Resident {
    /// Returns the memory that counts against `memory.limit`: heap, stacks, and the program itself as
    /// [`ProgramPages`](super::ProgramPages) last measured it.
    pub fn held_bytes(self) -> u64 {
        self.anonymous_bytes + super::program::program_bytes()
    }
}

/// Reads the resident memory, in some microseconds. Source: proc_pid_statm(5).
pub fn resident() -> Resident {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = text.split_ascii_whitespace().skip(1).map(|pages| pages.parse().unwrap_or(0));
    let (all, of_files) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    Resident {
        anonymous_bytes: u64::saturating_sub(all, of_files) * PAGE_BYTES,
        file_bytes: of_files * PAGE_BYTES,
    }
}

/// Milliseconds of a clock tick, in which proc(5) counts times: 10 ms on every Linux that Rust supports.
pub(super) const TICK_MILLIS: u64 = 10;

/// Reads the statistics of this process; values that cannot be read are zero.
pub fn process() -> ProcessStats {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the closing parenthesis of the command. Indices are those of proc(5) minus 3.
    let fields: Vec<u64> = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.split_ascii_whitespace().map(|f| f.parse().unwrap_or(0)).collect())
        .unwrap_or_default();
    let field = |number: usize| fields.get(number - 3).copied().unwrap_or(0);
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let max_file_descriptors = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .and_then(|line| line.split_ascii_whitespace().nth(3)?.parse().ok())
        .unwrap_or(0);
    ProcessStats {
        open_file_descriptors: open_count().unwrap_or(0),
        max_file_descriptors,
        cpu_millis: (field(14) + field(15)) * TICK_MILLIS,
        resident_bytes: field(24) * PAGE_BYTES,
        anonymous_bytes: anonymous_bytes(),
        virtual_bytes: field(23),
        thread_count: field(20),
    }
}
