//! How busy the disk of a folder is.
//!
//! The figures are those of iostat, from two readings of `/proc/diskstats`. Source: the kernel's
//! `iostats.rst`. A sector is 512 bytes there, whatever sectors the disk itself has.

use std::path::{Component, Path, PathBuf};

use super::Machine;
use crate::advise::finding::Unread;

const SECTOR_BYTES: f64 = 512.0;

/// A disk and how the kernel drives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Disk {
    /// Its name in `/proc/diskstats`.
    pub name: String,
    pub is_rotational: Option<bool>,
    /// The scheduler in use: `none`, `mq-deadline`, `bfq`, ...
    pub scheduler: Option<String>,
    pub read_ahead_kib: Option<u64>,
}

/// What a disk did per second while it was watched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DiskActivity {
    pub reads: f64,
    pub writes: f64,
    pub read_bytes: f64,
    pub written_bytes: f64,
    /// Mean milliseconds that a request took, including the time it waited.
    pub read_await_millis: f64,
    pub write_await_millis: f64,
    /// Mean number of requests in flight (iostat's `aqu-sz`).
    pub queue: f64,
    /// Share of the time with a request in flight (iostat's `%util`).
    pub busy_percent: f64,
}

impl Machine {
    /// Returns the disk that holds a folder of the server.
    ///
    /// Errors: the folder is not on a block device, as in an overlay or on a network file system.
    pub(crate) fn disk_of(&self, folder: &str) -> Result<Disk, Unread> {
        let folder = &self.whole_path(folder)?;
        let file = format!("proc/{}/mountinfo", self.pid);
        let mounts = self.read(&file)?;
        // Take the mount with the longest path above the folder, and of equal ones the last, which hides the
        // others.
        let mut best: Option<(&str, &str)> = None;
        for line in mounts.lines() {
            let mut words = line.split(' ').skip(2);
            let (Some(device), Some(point)) = (words.next(), words.nth(1)) else { continue };
            let is_above = folder
                .strip_prefix(point)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || point.ends_with('/'));
            if is_above && best.is_none_or(|(_, longest)| point.len() >= longest.len()) {
                best = Some((device, point));
            }
        }
        let (device, point) =
            best.ok_or_else(|| Unread::new(format!("/{file}"), format!("no mount holds [{folder}]")))?;
        let name = self.before.diskstats.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let number = format!("{}:{}", words.next()?, words.next()?);
            (number == device).then(|| words.next())?
        });
        let name = name.ok_or_else(|| {
            Unread::new(
                "/proc/diskstats",
                format!("the file system at [{point}] is on no disk it counts (device {device}: an overlay or a network?)"),
            )
        })?;
        Ok(self.describe(name))
    }

    /// Makes a path of the server absolute. A relative one starts at the folder in which its process was
    /// started.
    fn whole_path(&self, path: &str) -> Result<String, Unread> {
        let mut whole = match path.starts_with('/') {
            true => PathBuf::new(),
            false => self.working_folder().ok_or_else(|| {
                let what = format!("/proc/{}/cwd", self.pid);
                Unread::new(what, format!("the path [{path}] counts from it, and it cannot be read"))
            })?,
        };
        for part in Path::new(path).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    whole.pop();
                }
                part => whole.push(part),
            }
        }
        Ok(whole.to_string_lossy().into_owned())
    }

    fn describe(&self, name: &str) -> Disk {
        // Partitions have no queue of their own; the parent folder is their disk.
        let class = format!("sys/class/block/{name}");
        let queue = match self.root.join(&class).join("queue").is_dir() {
            true => Some(self.root.join(&class).join("queue")),
            false => std::fs::canonicalize(self.root.join(&class))
                .ok()
                .and_then(|path| Some(path.parent()?.join("queue"))),
        };
        let read = |file: &str| std::fs::read_to_string(queue.as_ref()?.join(file)).ok();
        let number = |file: &str| read(file)?.trim().parse::<u64>().ok();
        Disk {
            name: name.to_owned(),
            is_rotational: number("rotational").map(|value| value == 1),
            scheduler: read("scheduler").map(|text| chosen(&text).to_owned()),
            read_ahead_kib: number("read_ahead_kb"),
        }
    }

    pub(crate) fn disk_activity(&self, name: &str) -> Result<DiskActivity, Unread> {
        let before = counters(&self.before.diskstats, name);
        let after = counters(&self.after.diskstats, name);
        let (Some(before), Some(after)) = (before, after) else {
            return Err(Unread::new(format!("/proc/diskstats {name}"), "it was not read twice"));
        };
        if self.window_s <= 0.0 {
            return Err(Unread::new("/proc/diskstats", "nothing was watched (--watch 0)"));
        }
        let grown = |field: usize| (after[field] - before[field]).max(0.0);
        let rate = |field: usize| grown(field) / self.window_s;
        let mean =
            |time: usize, count: usize| if grown(count) > 0.0 { grown(time) / grown(count) } else { 0.0 };
        Ok(DiskActivity {
            reads: rate(0),
            writes: rate(4),
            read_bytes: rate(2) * SECTOR_BYTES,
            written_bytes: rate(6) * SECTOR_BYTES,
            read_await_millis: mean(3, 0),
            write_await_millis: mean(7, 4),
            queue: rate(10) / 1e3,
            busy_percent: (rate(9) / 10.0).min(100.0),
        })
    }
}

/// Returns: reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, ms busy, ms of all requests.
fn counters(diskstats: &str, name: &str) -> Option<[f64; 11]> {
    let line = diskstats.lines().find(|line| line.split_whitespace().nth(2) == Some(name))?;
    let mut fields = [0.0; 11];
    let mut words = line.split_whitespace().skip(3);
    for field in &mut fields {
        *field = words.next()?.parse().ok()?;
    }
    Some(fields)
}

/// Returns the word in brackets, or the only word: `none [mq-deadline] bfq`, `always madvise [never]`.
pub(crate) fn chosen(text: &str) -> &str {
    match text.split_once('[').and_then(|(_, rest)| rest.split_once(']')) {
        Some((word, _)) => word,
        None => text.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up;

    #[test]
    fn iostat_of_the_disk_under_a_folder() {
        let mounts = "30 1 254:0 / / rw - ext4 /dev/vda rw\n31 30 254:16 / /srv/data rw - xfs /dev/vdb rw\n\
                      32 30 0:40 / /srv/database rw - nfs a:/b rw\n";
        let (_folder, machine) = made_up(
            &[
                ("proc/17/mountinfo", mounts),
                (
                    "proc/diskstats",
                    " 254 0 vda 1 0 0 0 1 0 0 0 0 0 0\n 254 16 vdb 100 0 800 50 200 0 1600 400 0 1000 450 0 0 0 0\n",
                ),
                ("sys/class/block/vdb/queue/rotational", "1\n"),
                ("sys/class/block/vdb/queue/scheduler", "none [mq-deadline]\n"),
                ("sys/class/block/vdb/queue/read_ahead_kb", "128\n"),
            ],
            &[("proc/diskstats", " 254 16 vdb 150 0 1824 150 300 0 3648 900 1 2600 1050 0 0 0 0\n")],
            2.0,
        );
        let disk = machine.disk_of("/srv/data/nodes/0").unwrap();
        assert_eq!((disk.name.as_str(), disk.is_rotational), ("vdb", Some(true)));
        assert_eq!((disk.scheduler.as_deref(), disk.read_ahead_kib), (Some("mq-deadline"), Some(128)));
        let activity = machine.disk_activity("vdb").unwrap();
        assert_eq!((activity.reads, activity.writes), (25.0, 50.0));
        assert_eq!((activity.read_bytes, activity.written_bytes), (262_144.0, 524_288.0));
        assert_eq!((activity.read_await_millis, activity.write_await_millis), (2.0, 5.0));
        assert_eq!((activity.queue, activity.busy_percent), (0.3, 80.0));
        assert_eq!(machine.disk_of("/home").unwrap().name, "vda");
        // A relative path starts at the server's working folder.
        let error = machine.disk_of("data").unwrap_err();
        assert_eq!(error.what, "/proc/17/cwd");
        std::os::unix::fs::symlink("/srv", _folder.path().join("proc/17/cwd")).unwrap();
        for path in ["data", "./data/nodes", "data/../data/x"] {
            assert_eq!(machine.disk_of(path).unwrap().name, "vdb", "{path}");
        }
        let error = machine.disk_of("/srv/database/x").unwrap_err();
        assert!(error.why.contains("/srv/database"), "{error:?}");
        assert!(machine.disk_activity("vda").is_err());
    }
}
