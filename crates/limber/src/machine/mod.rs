//! The machine and this process: "how much of it is used?", according to Linux's `/proc`; also how long freed
//! memory is kept, and how threads are scheduled.
//!
//! Functions that read return zeros, never an error, if a file is missing: these numbers are only used for
//! statistics.

mod allocated;
mod descriptors;
mod freed;
mod mapped;
mod memory;
mod scheduling;
mod threads;

use std::fs;
use std::path::Path;

pub use allocated::allocated_bytes;
pub use descriptors::{open_count as open_descriptor_count, raise_limit as raise_descriptor_limit};
pub use freed::{FreedMemory, give_back_freed};
pub use mapped::MappedMemory;
pub use scheduling::prefer_short_turns;
pub use threads::{ThreadTime, thread_times};

/// The size of a memory page on the machines that Limber supports.
const PAGE_BYTES: u64 = 4096;

/// Returns the memory that this process may use: the machine's, or the smallest limit of its cgroups.
pub fn usable_memory_bytes() -> u64 {
    memory::usable_bytes(Path::new("/"))
}

/// Statistics of the process, from `/proc/self`.
#[derive(Debug, Default, Clone, Copy)]
pub struct ProcessStats {
    pub open_file_descriptors: u64,
    pub max_file_descriptors: u64,
    pub cpu_millis: u64,
    pub resident_bytes: u64,
    /// The part of the resident bytes that [`anonymous_bytes`] returns. The rest are pages of mapped files,
    /// which belong to the system's page cache.
    pub anonymous_bytes: u64,
    pub virtual_bytes: u64,
    pub thread_count: u64,
}

/// Returns the memory of this process that the system cannot reclaim without swapping: heap and stacks.
pub fn anonymous_bytes() -> u64 {
    resident().anonymous_bytes
}

/// The resident memory of this process.
#[derive(Debug, Default, Clone, Copy)]
pub struct Resident {
    /// See [`anonymous_bytes`].
    pub anonymous_bytes: u64,
    /// Pages of mapped files.
    pub file_bytes: u64,
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
        open_file_descriptors: open_descriptor_count().unwrap_or(0),
        max_file_descriptors,
        // Clock ticks are 10 ms on every Linux that Rust supports.
        cpu_millis: (field(14) + field(15)) * 10,
        resident_bytes: field(24) * PAGE_BYTES,
        anonymous_bytes: anonymous_bytes(),
        virtual_bytes: field(23),
        thread_count: field(20),
    }
}

/// Returns the number after `name` in a file with lines such as `MemTotal:  16384 kB`.
fn kib_of(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Memory, CPU time and load of the machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct OsStats {
    pub memory_total_bytes: u64,
    pub memory_available_bytes: u64,
    pub swap_total_bytes: u64,
    pub swap_free_bytes: u64,
    /// Over 1, 5 and 15 minutes.
    pub load_average: [f64; 3],
    /// Milliseconds since the machine started, summed over all cores: busy and idle.
    pub busy_millis: u64,
    pub idle_millis: u64,
}

/// Reads the statistics of the machine; values that cannot be read are zero.
pub fn os() -> OsStats {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = |name| kib_of(&meminfo, name) << 10;
    let mut load_average = [0.0; 3];
    let loads = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    for (slot, text) in load_average.iter_mut().zip(loads.split_ascii_whitespace()) {
        *slot = text.parse().unwrap_or(0.0);
    }
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks: Vec<u64> = stat
        .lines()
        .next()
        .map(|line| line.split_ascii_whitespace().skip(1).map(|t| t.parse().unwrap_or(0)).collect())
        .unwrap_or_default();
    let idle = ticks.get(3).copied().unwrap_or(0) + ticks.get(4).copied().unwrap_or(0);
    let all: u64 = ticks.iter().take(8).sum();
    OsStats {
        memory_total_bytes: bytes("MemTotal:"),
        memory_available_bytes: bytes("MemAvailable:"),
        swap_total_bytes: bytes("SwapTotal:"),
        swap_free_bytes: bytes("SwapFree:"),
        load_average,
        busy_millis: all.saturating_sub(idle) * 10,
        idle_millis: idle * 10,
    }
}

/// Returns the name of the operating system (`PRETTY_NAME`) and the version of the kernel.
pub fn os_release() -> (String, String) {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .map_or_else(|| "unknown".to_owned(), |value| value.trim_matches('"').to_owned())
    };
    (
        value("PRETTY_NAME="),
        fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
    )
}

/// Returns the mount point that holds `path`, with its device as Java prints it (`/ (/dev/sda1)`), and the
/// type of its file system.
pub fn mount_of(path: &Path) -> (String, String) {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?, words.next()?))
        })
        .filter(|(_, point, _)| path.starts_with(point))
        .max_by_key(|(_, point, _)| point.len())
        .map(|(device, point, kind)| (format!("{point} ({device})"), kind.to_owned()))
        .unwrap_or_default()
}
