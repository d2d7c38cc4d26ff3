//! CPU time of each thread of this process.

use std::fs;
use std::path::Path;

/// A thread and the CPU time that it has used.
#[derive(Debug, Clone)]
pub struct ThreadTime {
    pub id: u64,
    pub name: String,
    pub cpu_ms: f64,
}

/// Returns all running threads; empty if the system does not report them.
pub fn thread_times() -> Vec<ThreadTime> {
    let entries = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(&entry.path())).collect()
}

/// Reads `schedstat` of proc(5): nanoseconds on a CPU, nanoseconds waiting for one, number of time slices.
fn read(task: &Path) -> Option<ThreadTime> {
    let nanos = fs::read_to_string(task.join("schedstat"))
        .ok()?
        .split_ascii_whitespace()
        .next()?
        .parse::<u64>()
        .ok()?;
    Some(ThreadTime {
        id: task.file_name()?.to_str()?.parse().ok()?,
        name: fs::read_to_string(task.join("comm")).ok()?.trim().to_owned(),
        cpu_ms: nanos as f64 / 1e6,
    })
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
