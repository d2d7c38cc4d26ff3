//! Limits of the server's process, and what it uses.

use super::Machine;
use crate::advise::finding::Unread;
use crate::drive::conditions::proc_files;

/// A soft limit; `None` means unlimited.
pub(super) type Limit = Option<f64>;

impl Machine {
    /// Reads a row of `/proc/<pid>/limits`, such as `Max open files`.
    pub(crate) fn limit(&self, name: &str) -> Result<Limit, Unread> {
        let file = format!("proc/{}/limits", self.pid);
        let text = self.read(&file)?;
        let found = text.lines().find_map(|line| {
            let soft = line.strip_prefix(name)?.split_whitespace().next()?;
            match soft {
                "unlimited" => Some(None),
                digits => digits.parse().ok().map(Some),
            }
        });
        found.ok_or_else(|| Unread::new(format!("/{file} [{name}]"), "the file does not have it"))
    }

    /// Reads a size of `/proc/<pid>/status` in bytes, such as `VmSwap`.
    pub(crate) fn status_bytes(&self, name: &str) -> Result<f64, Unread> {
        let file = format!("proc/{}/status", self.pid);
        let text = self.read(&file)?;
        proc_files::bytes(&text, name)
            .map(|bytes| bytes as f64)
            .ok_or_else(|| Unread::new(format!("/{file} {name}"), "the file does not have it"))
    }

    /// Returns the number of memory maps that the process has now.
    pub(crate) fn map_count(&self) -> Result<usize, Unread> {
        Ok(self.read(&format!("proc/{}/maps", self.pid))?.lines().count())
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up;

    #[test]
    fn limits_and_sizes_of_a_process() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max processes             96365                96365                processes \n\
                      Max open files            20000                20000                files     \n\
                      Max locked memory         unlimited            unlimited            bytes     \n";
        let (_folder, machine) = made_up(
            &[
                ("proc/17/limits", limits),
                ("proc/17/status", "Name:\tjava\nVmRSS:\t  2048 kB\nVmSwap:\t     4 kB\n"),
                ("proc/17/maps", "a\nb\n"),
            ],
            &[],
            1.0,
        );
        assert_eq!(machine.limit("Max open files"), Ok(Some(20_000.0)));
        assert_eq!(machine.limit("Max locked memory"), Ok(None));
        assert_eq!(machine.limit("Max nonsense").unwrap_err().what, "/proc/17/limits [Max nonsense]");
        assert_eq!(machine.status_bytes("VmSwap"), Ok(4096.0));
        assert_eq!(machine.map_count(), Ok(2));
    }
}
