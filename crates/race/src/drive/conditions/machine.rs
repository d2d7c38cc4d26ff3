//! Whether the machine was quiet while the load ran.
//!
//! Read from Linux before and after each step: processor time of all processes (`/proc/stat`, including the
//! time that a hypervisor stole), stalls (`/proc/pressure`, PSI), throttling by the cgroup's quota and by
//! heat, and the clock frequency. What a system does not report is `None` and leads to no warning. A reading
//! costs about twenty reads of files that are in memory, and is done between steps, never during one.

use std::path::Path;
use std::time::Instant;

use super::proc_files::{quota_throttled_s, stalled_s, ticks_per_s};

/// Counters at one moment. All of them only grow, except for the frequency.
#[derive(Debug, Clone)]
pub(crate) struct MachineReading {
    at: Instant,
    processors: Option<ProcessorTimes>,
    own_cpu_s: Option<f64>,
    stalls: Stalls,
    quota_throttled_s: Option<f64>,
    heat_throttle_count: Option<u64>,
    mhz: Option<f64>,
}

/// Seconds over all processors since the system started.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ProcessorTimes {
    busy_s: f64,
    stolen_s: f64,
    all_s: f64,
}

/// Seconds in which at least one task waited for the resource.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Stalls {
    cpu_s: Option<f64>,
    memory_s: Option<f64>,
    io_s: Option<f64>,
}

/// What happened between two readings. Shares are in [0, 1].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct MachineUse {
    pub wall_s: f64,
    pub processors_count: usize,
    /// Processor time of all processes in seconds, without stolen time.
    pub busy_s: Option<f64>,
    /// Processor time of this process.
    pub own_cpu_s: Option<f64>,
    /// Share of all processors' time that the hypervisor gave to others.
    pub steal_share: Option<f64>,
    /// Shares of the wall time in which some task on the machine waited for a processor, for memory, or for a
    /// disk.
    pub cpu_stall_share: Option<f64>,
    pub memory_stall_share: Option<f64>,
    pub io_stall_share: Option<f64>,
    /// Share of the wall time in which the quota of this process's cgroup stopped it. With several processors
    /// it can exceed 1.
    pub quota_throttled_share: Option<f64>,
    pub heat_throttle_count: Option<u64>,
    /// Mean clock frequency of the processors, before and after.
    pub mhz_before: Option<f64>,
    pub mhz_after: Option<f64>,
}

impl MachineReading {
    pub(crate) fn now() -> MachineReading {
        let text = |path: &str| std::fs::read_to_string(path).ok();
        MachineReading {
            at: Instant::now(),
            processors: text("/proc/stat").and_then(|stat| processor_times(&stat, ticks_per_s() as f64)),
            own_cpu_s: own_cpu_s(),
            stalls: Stalls {
                cpu_s: text("/proc/pressure/cpu").and_then(|pressure| stalled_s(&pressure)),
                memory_s: text("/proc/pressure/memory").and_then(|pressure| stalled_s(&pressure)),
                io_s: text("/proc/pressure/io").and_then(|pressure| stalled_s(&pressure)),
            },
            quota_throttled_s: own_cgroup_stat().and_then(|stat| quota_throttled_s(&stat)),
            heat_throttle_count: sum_over_processors("thermal_throttle/core_throttle_count")
                .map(|sum| sum as u64),
            mhz: sum_over_processors("cpufreq/scaling_cur_freq")
                .map(|khz| khz / 1e3 / processors_count() as f64),
        }
    }

    /// Returns what happened since `before`.
    pub(crate) fn since(&self, before: &MachineReading) -> MachineUse {
        let wall_s = (self.at - before.at).as_secs_f64();
        let grown =
            |now: Option<f64>, then: Option<f64>| now.zip(then).map(|(now, then)| (now - then).max(0.0));
        let share = |seconds: Option<f64>| seconds.filter(|_| wall_s > 0.0).map(|seconds| seconds / wall_s);
        let processors = self.processors.zip(before.processors);
        MachineUse {
            wall_s,
            processors_count: processors_count(),
            busy_s: processors.map(|(now, then)| (now.busy_s - then.busy_s).max(0.0)),
            own_cpu_s: grown(self.own_cpu_s, before.own_cpu_s),
            steal_share: processors
                .filter(|(now, then)| now.all_s > then.all_s)
                .map(|(now, then)| (now.stolen_s - then.stolen_s).max(0.0) / (now.all_s - then.all_s)),
            cpu_stall_share: share(grown(self.stalls.cpu_s, before.stalls.cpu_s)),
            memory_stall_share: share(grown(self.stalls.memory_s, before.stalls.memory_s)),
            io_stall_share: share(grown(self.stalls.io_s, before.stalls.io_s)),
            quota_throttled_share: share(grown(self.quota_throttled_s, before.quota_throttled_s)),
            heat_throttle_count: self
                .heat_throttle_count
                .zip(before.heat_throttle_count)
                .map(|(now, then)| now.saturating_sub(then)),
            mhz_before: before.mhz,
            mhz_after: self.mhz,
        }
    }
}

pub(crate) fn processors_count() -> usize {
    // `available_parallelism` would count the processors that this process may use; `/proc/stat` counts all.
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").ok();
    online
        .and_then(|list| list_length(list.trim()))
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Returns the number of processors in a list such as `0-3,6`.
fn list_length(list: &str) -> Option<usize> {
    list.split(',').try_fold(0, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(sum + (last + 1).checked_sub(first)?)
    })
}

/// Reads the first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq,
/// steal. The time of guests is part of user.
fn processor_times(stat: &str, ticks_per_s: f64) -> Option<ProcessorTimes> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let seconds: Vec<f64> = line
        .split_whitespace()
        .map(|ticks| ticks.parse::<f64>().map(|ticks| ticks / ticks_per_s))
        .collect::<Result<_, _>>()
        .ok()?;
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = seconds[..] else { return None };
    let busy_s = user + nice + system + irq + softirq;
    Some(ProcessorTimes { busy_s, stolen_s: steal, all_s: busy_s + idle + iowait + steal })
}

/// Returns `cpu.stat` of the cgroup of this process.
fn own_cgroup_stat() -> Option<String> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    // Lines are `<id>:<controllers>:<path>`; the unified hierarchy has no controllers and no folder of its
    // own (cgroups(7)).
    groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(":/")?;
        let is_meant = controllers.is_empty() || controllers.split(',').any(|name| name == "cpu");
        let file = Path::new("/sys/fs/cgroup").join(controllers).join(path).join("cpu.stat");
        is_meant.then(|| std::fs::read_to_string(file).ok()).flatten()
    })
}

/// Sums a number that every processor has below `/sys/devices/system/cpu/cpu<n>/`; `None` if the first
/// processor does not have it.
fn sum_over_processors(file: &str) -> Option<f64> {
    let read = |processor: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{processor}/{file}");
        std::fs::read_to_string(path).ok()?.trim().parse::<f64>().ok()
    };
    let first = read(0)?;
    Some((1..processors_count()).filter_map(read).sum::<f64>() + first)
}

fn own_cpu_s() -> Option<f64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` is a valid location for the result and outlives the call.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it has filled the whole structure.
    let usage = unsafe { usage.assume_init() };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Some(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_linux_are_read() {
        let stat = "cpu  100 0 50 800 20 10 20 100 7 0\ncpu0 1 2 3\n";
        let times = processor_times(stat, 100.0).unwrap();
        assert_eq!((times.busy_s, times.stolen_s, times.all_s), (1.8, 1.0, 11.0));
        assert_eq!(processor_times("cpu  1 2\n", 100.0), None);
        assert_eq!((list_length("0-3,6"), list_length("0"), list_length("x")), (Some(5), Some(1), None));
    }

    #[test]
    fn differences_are_shares_of_the_time_between() {
        let reading = |after_s: u64, busy_s: f64, stolen_s: f64, stall_s: f64| MachineReading {
            at: Instant::now() + std::time::Duration::from_secs(after_s),
            processors: Some(ProcessorTimes { busy_s, stolen_s, all_s: 2.0 * after_s as f64 }),
            own_cpu_s: Some(0.5 * busy_s),
            stalls: Stalls { cpu_s: Some(stall_s), ..Stalls::default() },
            quota_throttled_s: None,
            heat_throttle_count: Some(after_s),
            mhz: Some(3000.0),
        };
        let (before, after) = (reading(0, 0.0, 0.0, 1.0), reading(10, 8.0, 1.0, 3.0));
        let used = after.since(&before);
        assert!((used.wall_s - 10.0).abs() < 0.1);
        assert_eq!((used.busy_s, used.own_cpu_s, used.steal_share), (Some(8.0), Some(4.0), Some(0.05)));
        assert!((used.cpu_stall_share.unwrap() - 0.2).abs() < 0.01);
        assert_eq!((used.quota_throttled_share, used.heat_throttle_count), (None, Some(10)));
    }

    #[test]
    fn this_machine_can_be_read() {
        let before = MachineReading::now();
        let used = MachineReading::now().since(&before);
        assert!(used.wall_s >= 0.0 && used.processors_count >= 1, "{used:?}");
        assert!(used.steal_share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{used:?}");
    }
}
