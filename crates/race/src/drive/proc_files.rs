//! Words of Linux's files about processes (proc(5)).

/// The number behind `key:` on a line of its own, in the unit that the file has there.
pub fn value(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Bytes of a field of `/proc/<id>/status`, which counts kilobytes.
pub fn status_bytes(status: &str, field: &str) -> Option<u64> {
    Some(value(status, field)? * 1024)
}

/// Ticks a second of processor times.
pub fn ticks_per_s() -> u64 {
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
        let bytes = |field| status_bytes(status, field);
        assert_eq!(
            (bytes("VmHWM"), bytes("VmRSS"), bytes("VmPeak")),
            (Some(2_097_152), Some(1_048_576), None)
        );
        assert_eq!((value(status, "Threads"), value(status, "Name")), (Some(3), None));
    }
}
