//! Finds the process on this machine that listens on a port, and what it uses.
//!
//! This works on Linux only (`/proc`): it finds the listening socket, the process that holds it, and the
//! memory, CPU time and disk traffic of that process. The server is not asked. For processes of other users,
//! at most memory and CPU time are readable, and usually not even the sockets.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};

use crate::drive::conditions::proc_files::{bytes, value};

/// What a process uses. Times and disk traffic are totals since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ProcessSample {
    pub rss_bytes: u64,
    pub anonymous_bytes: u64,
    pub file_bytes: u64,
    pub threads: u64,
    pub cpu_ms: u64,
    /// Bytes read from and written to the disk; `None` if another user owns the process.
    pub disk_read_bytes: Option<u64>,
    pub disk_write_bytes: Option<u64>,
}

/// Returns the process that listens on one of these addresses, if it runs here and is visible.
pub(super) fn find(proc_folder: &Path, sockets: &[SocketAddr]) -> Option<u32> {
    let local: Vec<SocketAddr> = sockets.iter().copied().filter(|socket| is_local(socket.ip())).collect();
    let inodes: HashSet<String> = ["net/tcp", "net/tcp6"]
        .iter()
        .filter_map(|file| std::fs::read_to_string(proc_folder.join(file)).ok())
        .flat_map(|table| listening(&table, &local))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    let processes = std::fs::read_dir(proc_folder).ok()?.flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .find(|process| holds(&proc_folder.join(process.to_string()), &inodes))
}

/// Whether packets for this address stay on this machine, that is, whether a socket can be bound to it.
fn is_local(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

/// Returns the inodes of the sockets that listen on the ports of `wanted`.
fn listening(table: &str, wanted: &[SocketAddr]) -> Vec<String> {
    const LISTEN: &str = "0A";
    let line = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (address, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let port = u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()?;
        let is_wanted = *state == LISTEN && wanted.iter().any(|socket| socket.port() == port);
        is_wanted.then(|| (*inode).to_owned())
    };
    table.lines().skip(1).filter_map(line).collect()
}

fn holds(process: &Path, inodes: &HashSet<String>) -> bool {
    let Ok(files) = std::fs::read_dir(process.join("fd")) else { return false };
    files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok()).any(|target: PathBuf| {
        let inode = target.to_str().and_then(|text| text.strip_prefix("socket:[")?.strip_suffix(']'));
        inode.is_some_and(|inode| inodes.contains(inode))
    })
}

/// Reads a process. Returns `None` when it has ended.
pub(super) fn sample(process: &Path, ticks_per_s: u64) -> Option<ProcessSample> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    let io = std::fs::read_to_string(process.join("io")).unwrap_or_default();
    let memory = |key: &str| bytes(&status, key).unwrap_or(0);
    // The name, in parentheses, may contain spaces. After it comes the third field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Some(ProcessSample {
        rss_bytes: memory("VmRSS"),
        anonymous_bytes: memory("RssAnon"),
        file_bytes: memory("RssFile"),
        threads: value(&status, "Threads").unwrap_or(0),
        cpu_ms: (ticks(11) + ticks(12)) * 1000 / ticks_per_s.max(1),
        disk_read_bytes: value(&io, "read_bytes"),
        disk_write_bytes: value(&io, "write_bytes"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_a_port_to_the_process_and_its_memory() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "net/tcp",
            "  sl  local_address rem_address st ...\n   0: 0100007F:23F0 00000000:0000 0A 0:0 0:0 0 1000 0 4711 1\n   \
             1: 0100007F:23F0 0100007F:AAAA 01 0:0 0:0 0 1000 0 4712 1\n",
        );
        write(
            "17/status",
            "Name:\tserver\nVmRSS:\t  2048 kB\nRssAnon:\t1024 kB\nRssFile:\t1024 kB\nThreads:\t9\n",
        );
        write("17/stat", "17 (a b) c) S 1 1 1 0 -1 0 0 0 0 0 250 50 0 0");
        write("17/io", "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\n");
        std::fs::create_dir_all(folder.path().join("17/fd")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("socket:[4711]", folder.path().join("17/fd/5")).unwrap();
        let sockets = |port: u16| [SocketAddr::from(([127, 0, 0, 1], port))];
        assert_eq!(find(folder.path(), &sockets(9200)), Some(17));
        assert_eq!(find(folder.path(), &sockets(9201)), None);
        let expected = ProcessSample {
            rss_bytes: 2 << 20,
            anonymous_bytes: 1 << 20,
            file_bytes: 1 << 20,
            threads: 9,
            cpu_ms: 3000,
            disk_read_bytes: Some(4096),
            disk_write_bytes: Some(8192),
        };
        assert_eq!(sample(&folder.path().join("17"), 100), Some(expected));
        assert_eq!(sample(&folder.path().join("18"), 100), None);
    }
}
