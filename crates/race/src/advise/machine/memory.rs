//! How much memory is there, for whom?

use super::Machine;
use crate::advise::finding::Unread;

/// `/proc/meminfo` in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    pub total: f64,
    pub available: f64,
    /// Page cache, without shared memory, which nobody can give back.
    pub cached: f64,
    pub swap_total: f64,
    pub swap_free: f64,
}

/// The tightest memory limit around the process.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryCgroup {
    /// `None` without a limit.
    pub limit_bytes: Option<f64>,
    pub file: String,
}

impl Machine {
    pub fn memory(&self) -> Result<Memory, Unread> {
        let text = self.read("proc/meminfo")?;
        let bytes = |name: &str| -> Result<f64, Unread> {
            let found = text.lines().find_map(|line| {
                let value = line.strip_prefix(name)?.strip_prefix(':')?;
                value.trim().trim_end_matches(" kB").parse::<f64>().ok()
            });
            found
                .map(|kib| kib * 1024.0)
                .ok_or_else(|| Unread::new(format!("/proc/meminfo {name}"), "the file does not have it"))
        };
        Ok(Memory {
            total: bytes("MemTotal")?,
            available: bytes("MemAvailable")?,
            cached: bytes("Cached")? - bytes("Shmem").unwrap_or(0.0),
            swap_total: bytes("SwapTotal")?,
            swap_free: bytes("SwapFree")?,
        })
    }

    /// What the process may use at most: the machine's memory or its cgroup's limit.
    pub fn usable_memory(&self) -> Result<(f64, String), Unread> {
        let machine = self.memory()?.total;
        let cgroup = self.memory_cgroup()?;
        Ok(match cgroup.limit_bytes {
            Some(limit) if limit < machine => (limit, cgroup.file),
            _ => (machine, "/proc/meminfo MemTotal".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up;

    #[test]
    fn memory_is_the_cgroups_when_that_is_less() {
        let meminfo = "MemTotal: 1000 kB\nMemAvailable: 600 kB\nCached: 500 kB\nShmem: 100 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n";
        let (_folder, machine) = made_up(
            &[
                ("proc/meminfo", meminfo),
                ("proc/17/cgroup", "0::/pod/server\n"),
                ("sys/fs/cgroup/pod/memory.max", "512000\n"),
                ("sys/fs/cgroup/pod/server/memory.max", "max\n"),
            ],
            &[],
            1.0,
        );
        assert_eq!(machine.memory().unwrap().cached, 400.0 * 1024.0);
        assert_eq!(machine.usable_memory(), Ok((512_000.0, "/sys/fs/cgroup/pod/memory.max".to_owned())));
        let (_folder, machine) =
            made_up(&[("proc/meminfo", meminfo), ("proc/17/cgroup", "0::/\n")], &[], 1.0);
        assert_eq!(machine.usable_memory(), Ok((1_024_000.0, "/proc/meminfo MemTotal".to_owned())));
        let (_folder, machine) = made_up(&[], &[], 1.0);
        assert_eq!(machine.usable_memory().unwrap_err().what, "/proc/meminfo");
    }
}
