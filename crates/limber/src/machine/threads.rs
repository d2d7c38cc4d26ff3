//! CPU time of the threads of this process.

use std::fs;
use std::path::Path;

use super::process::TICK_MILLIS;

/// A thread and the CPU time that it has used.
#[derive(Debug, Clone)]
pub struct ThreadTime {
    pub id: u64,
    pub name: String,
    pub cpu_ms: f64,
    /// Time in which it could have run and had no processor.
    pub queued_ms: f64,
    /// Time in which it waited for a disk.
    pub disk_ms: f64,
}

/// Returns all running threads; empty if the system does not report them.
pub fn thread_times() -> Vec<ThreadTime> {
    let entries = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(&entry.path())).collect()
}

/// Reads `schedstat` of proc(5): nanoseconds on a CPU, nanoseconds waiting for one, number of time slices.
fn read(task: &Path) -> Option<ThreadTime> {
    let times = fs::read_to_string(task.join("schedstat")).ok()?;
    let mut times = times.split_ascii_whitespace().map(|nanos| nanos.parse::<u64>().ok());
    let (nanos, queued) = (times.next()??, times.next()??);
    Some(ThreadTime {
        id: task.file_name()?.to_str()?.parse().ok()?,
        name: fs::read_to_string(task.join("comm")).ok()?.trim().to_owned(),
        cpu_ms: nanos as f64 / 1e6,
        queued_ms: queued as f64 / 1e6,
        disk_ms: disk_ms(task).unwrap_or(0.0),
    })
}

/// Reads `delayacct_blkio_ticks` of `stat` (proc(5)), which is 0 where the kernel does not count.
fn disk_ms(task: &Path) -> Option<f64> {
    let stat = fs::read_to_string(task.join("stat")).ok()?;
    // The name of the thread, which is in parentheses, may contain spaces.
    let after_name = &stat[stat.rfind(')')? + 1..];
    // Fields are numbered from 1, and the first one after the name is the third.
    let ticks = after_name.split_ascii_whitespace().nth(42 - 3)?.parse::<u64>().ok()?;
    Some((ticks * TICK_MILLIS) as f64)
}

#[cfg(test)]
mod tests {
    use super::thread_times;

    #[test]
    fn a_thread_that_works_has_had_time() {
        let spin = std::time::Instant::now();
        while spin.elapsed().as_millis() < 20 {}
        let id = u64::from(std::process::id());
        let all = thread_times();
        assert!(
            all.iter().any(|thread| thread.id == id) && all.iter().any(|thread| thread.cpu_ms > 1.0),
            "{all:?}"
        );
    }
}
