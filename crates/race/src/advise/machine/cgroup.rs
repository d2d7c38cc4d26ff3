//! The limits of the cgroups that contain the process.
//!
//! Any group from the process's own up to the root may have a limit. All of them hold, so the lowest counts.
//! Both cgroup versions are read. Source: cgroups(7), the kernel's `cgroup-v2.rst` (`memory.max`, `cpu.max`,
//! `cpu.stat`).

use super::Machine;
use super::memory::MemoryCgroup;
use crate::advise::finding::Unread;
use crate::drive::conditions::proc_files::quota_throttled_s;

/// The tightest CPU quota on the process, and its effect while the process was watched.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CpuQuota {
    /// CPUs the process may use at once; `None` without a quota.
    pub cpus: Option<f64>,
    pub file: String,
    /// Share of the watched time (of all threads together) in which the quota held threads back; `None` if
    /// that is not counted.
    pub throttled_percent: Option<f64>,
}

impl Machine {
    /// Returns the folders of the process's groups for a controller, its own first, without a leading slash.
    fn groups(&self, controller: &str) -> Result<Vec<String>, Unread> {
        let file = format!("proc/{}/cgroup", self.pid);
        let text = self.read(&file)?;
        let mut folders = Vec::new();
        for line in text.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let top = match controllers {
                "" if number == "0" => "sys/fs/cgroup".to_owned(),
                list if list.split(',').any(|name| name == controller) => format!("sys/fs/cgroup/{list}"),
                _ => continue,
            };
            let path = path.trim_matches('/');
            let mut below = if path.split('/').any(|part| part == "..") { "" } else { path };
            loop {
                folders.push(if below.is_empty() { top.clone() } else { format!("{top}/{below}") });
                match below.rsplit_once('/') {
                    Some((above, _)) => below = above,
                    None if below.is_empty() => break,
                    None => below = "",
                }
            }
        }
        match folders.is_empty() {
            true => Err(Unread::new(format!("/{file}"), format!("no group of [{controller}] is in it"))),
            false => Ok(folders),
        }
    }

    /// Returns the lowest number that `number_in` finds in any group of the controller, and that group's
    /// folder.
    fn least(
        &self,
        controller: &str,
        number_in: impl Fn(&str) -> Option<f64>,
    ) -> Result<Option<(f64, String)>, Unread> {
        let folders = self.groups(controller)?;
        let found = folders.iter().filter_map(|folder| Some((number_in(folder)?, folder.clone())));
        Ok(found.min_by(|(a, _), (b, _)| a.total_cmp(b)))
    }

    pub(crate) fn memory_cgroup(&self) -> Result<MemoryCgroup, Unread> {
        /// Version 1 writes "no limit" as a number larger than any machine's memory.
        const UNLIMITED: f64 = (1u64 << 62) as f64;
        let number = |folder: &str, name: &str| self.number(&format!("{folder}/{name}")).ok();
        let of_group = |folder: &str| {
            number(folder, "memory.max")
                .or_else(|| number(folder, "memory.limit_in_bytes"))
                .filter(|bytes| *bytes < UNLIMITED)
        };
        Ok(match self.least("memory", of_group)? {
            Some((bytes, folder)) => {
                let has_new = number(&folder, "memory.max").is_some();
                let name = if has_new { "memory.max" } else { "memory.limit_in_bytes" };
                MemoryCgroup { limit_bytes: Some(bytes), file: format!("/{folder}/{name}") }
            }
            None => MemoryCgroup { limit_bytes: None, file: format!("/proc/{}/cgroup", self.pid) },
        })
    }

    pub(crate) fn cpu_quota(&self) -> Result<CpuQuota, Unread> {
        let of_group = |folder: &str| {
            let text = self.read(&format!("{folder}/cpu.max"));
            let (quota, period) = match &text {
                Ok(text) => {
                    let (quota, period) = text.trim().split_once(' ')?;
                    (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
                }
                Err(_) => (
                    self.number(&format!("{folder}/cpu.cfs_quota_us")).ok()?,
                    self.number(&format!("{folder}/cpu.cfs_period_us")).ok()?,
                ),
            };
            (quota > 0.0 && period > 0.0).then(|| quota / period)
        };
        let found = self.least("cpu", of_group)?;
        let file = match &found {
            Some((_, folder)) => format!("/{folder}"),
            None => format!("/proc/{}/cgroup", self.pid),
        };
        Ok(CpuQuota { cpus: found.map(|(cpus, _)| cpus), file, throttled_percent: self.throttled_percent() })
    }

    /// Reads `cpu.stat` of the nearest group that has one. Fails where there can be no quota.
    pub(super) fn cpu_stat(&self) -> Result<String, Unread> {
        let folders = self.groups("cpu")?;
        let found = folders.iter().find_map(|folder| self.read(&format!("{folder}/cpu.stat")).ok());
        found.ok_or_else(|| Unread::new("cpu.stat", "no group of the process has one"))
    }

    fn throttled_percent(&self) -> Option<f64> {
        let grown = quota_throttled_s(&self.after.cpu_stat)? - quota_throttled_s(&self.before.cpu_stat)?;
        (self.window_s > 0.0).then(|| 100.0 * grown.max(0.0) / self.window_s)
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up;

    #[test]
    fn the_tightest_quota_of_both_versions_counts() {
        let (_folder, machine) = made_up(
            &[
                ("proc/17/cgroup", "0::/pod/server\n"),
                ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
                ("sys/fs/cgroup/pod/server/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/pod/server/cpu.stat", "usage_usec 5\nthrottled_usec 1000000\n"),
            ],
            &[("sys/fs/cgroup/pod/server/cpu.stat", "usage_usec 5\nthrottled_usec 2000000\n")],
            4.0,
        );
        let quota = machine.cpu_quota().unwrap();
        assert_eq!(quota.cpus, Some(1.5));
        assert_eq!(quota.file, "/sys/fs/cgroup/pod");
        assert_eq!(quota.throttled_percent, Some(25.0));

        let (_folder, machine) = made_up(
            &[
                ("proc/17/cgroup", "4:memory:/box\n1:cpu:/box\n"),
                ("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n"),
            ],
            &[],
            1.0,
        );
        assert_eq!(machine.cpu_quota().unwrap().cpus, None);
        assert_eq!(machine.memory_cgroup().unwrap().limit_bytes, None);
    }
}
