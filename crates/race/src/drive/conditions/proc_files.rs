//! Parses Linux's files about processes, memory and cgroups (proc(5), `psi.rst`, `cgroup-v2.rst`).

/// Returns the number after `key:` at the start of a line, in the file's unit.
pub(crate) fn value(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns the bytes of a field of `/proc/<id>/status` or `/proc/meminfo`, which are in kilobytes.
pub(crate) fn bytes(text: &str, field: &str) -> Option<u64> {
    Some(value(text, field)? * 1024)
}

/// Returns a field of the line `some …` of a pressure file, about the time in which at least one task waited:
/// `avg10` in percent, `total` in microseconds.
pub(crate) fn pressure(text: &str, field: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix(field)?.strip_prefix('=')?.parse().ok())
}

/// Returns the seconds in which at least one task waited for a resource.
pub(crate) fn stalled_s(text: &str) -> Option<f64> {
    Some(pressure(text, "total")? / 1e6)
}

/// Returns the seconds in which a quota stopped a cgroup, from its `cpu.stat`: `throttled_usec` of version 2,
/// `throttled_time` (ns) of version 1.
pub(crate) fn quota_throttled_s(stat: &str) -> Option<f64> {
    stat.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        match name {
            "throttled_usec" => Some(value.parse::<f64>().ok()? / 1e6),
            "throttled_time" => Some(value.parse::<f64>().ok()? / 1e9),
            _ => None,
        }
    })
}

/// Returns the ticks per second of processor times.
pub(crate) fn ticks_per_s() -> u64 {
    // SAFETY: sysconf(3) reads a constant of the system and takes no pointers.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks).unwrap_or(100).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_process() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t3\n";
        let known = ["VmHWM", "VmRSS", "VmPeak"].map(|field| bytes(status, field));
        assert_eq!(known, [Some(2_097_152), Some(1_048_576), None]);
        assert_eq!((value(status, "Threads"), value(status, "Name")), (Some(3), None));
    }

    #[test]
    fn time_lost_to_others_and_to_quotas() {
        let text = "some avg10=1.25 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n";
        assert_eq!((stalled_s(text), stalled_s("full total=1")), (Some(2.5), None));
        assert_eq!((pressure(text, "avg10"), pressure(text, "avg")), (Some(1.25), None));
        assert_eq!(quota_throttled_s("usage_usec 5\nthrottled_usec 1500000\n"), Some(1.5));
        assert_eq!(quota_throttled_s("nr_periods 5\nthrottled_time 2000000000\n"), Some(2.0));
    }
}
