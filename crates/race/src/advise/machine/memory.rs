//! How much memory there is, and how much of it the process may use.

use std::path::Path;

use super::Machine;
use crate::advise::finding::Unread;
use crate::drive::conditions::proc_files;

/// `/proc/meminfo` in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Memory {
    pub total: f64,
    pub available: f64,
    /// Page cache without shared memory, which cannot be reclaimed.
    pub cached: f64,
    pub swap_total: f64,
    pub swap_free: f64,
}

/// The tightest memory limit on the process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MemoryCgroup {
    /// `None` without a limit.
    pub limit_bytes: Option<f64>,
    pub file: String,
}

impl Machine {
    pub(crate) fn memory(&self) -> Result<Memory, Unread> {
        let text = self.read("proc/meminfo")?;
        let bytes = |name: &str| -> Result<f64, Unread> {
            proc_files::bytes(&text, name)
                .map(|bytes| bytes as f64)
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

    /// Returns the most that the process may use: the machine's memory or its cgroup's limit.
    pub(crate) fn usable_memory(&self) -> Result<(f64, String), Unread> {
        let machine = self.memory()?.total;
        let cgroup = self.memory_cgroup()?;
        Ok(match cgroup.limit_bytes {
            Some(limit) if limit < machine => (limit, cgroup.file),
            _ => (machine, "/proc/meminfo MemTotal".to_owned()),
        })
    }
}

/// Returns the most bytes that this process may use; `None` where Linux does not say.
pub(crate) fn own_usable_bytes() -> Option<u64> {
    let machine = Machine::of_process(Path::new("/"), std::process::id()).ok()?;
    let usable = machine.usable_memory().map(|(bytes, _)| bytes);
    // Without cgroups there is no limit below the machine's memory.
    usable.or_else(|_| machine.memory().map(|memory| memory.total)).map(|bytes| bytes as u64).ok()
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
