//! Memory, CPU time, load and name of the operating system.

use std::fs;

use super::memory::kib_of;
use super::process::TICK_MILLIS;

/// Memory, CPU time and load of the machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct OsStats {
    /// RAM.
    pub memory_total_bytes: u64,
    /// RAM that programs can have without swapping (`MemAvailable`).
    pub memory_available_bytes: u64,
    /// Size of the swap space.
    pub swap_total_bytes: u64,
    /// The part of the swap space that is unused.
    pub swap_free_bytes: u64,
    /// Over 1, 5 and 15 minutes.
    pub load_average: [f64; 3],
    /// Milliseconds since the machine started, summed over all cores, in which they were busy.
    pub busy_millis: u64,
    /// The same for idle time.
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
        busy_millis: all.saturating_sub(idle) * TICK_MILLIS,
        idle_millis: idle * TICK_MILLIS,
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
