//! What the disks under the data did since the server started.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};

/// Bytes of a sector in `/proc/diskstats`, whatever the device's own sectors are. Source: the kernel's
/// `Documentation/ABI/testing/procfs-diskstats`.
const SECTOR_BYTES: u64 = 512;

/// The counters of all disks at the first call.
static FIRST: OnceLock<BTreeMap<(u32, u32), Counters>> = OnceLock::new();

/// The counters of a disk, which only grow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Counters {
    name: String,
    reads: u64,
    sectors_read: u64,
    writes: u64,
    sectors_written: u64,
    busy_ms: u64,
}

/// Remembers the counters of now; [`disk_traffic`] counts from here.
pub fn start_disk_traffic() {
    FIRST.get_or_init(|| counters(&read()));
}

/// Returns what the disks that hold `paths` did since [`start_disk_traffic`], each disk once, in the form of
/// Elasticsearch's `io_stats`; `None` if `/proc/diskstats` knows none of them.
pub fn disk_traffic<'p>(paths: impl Iterator<Item = &'p Path>) -> Option<Value> {
    let (first, now) = (FIRST.get_or_init(|| counters(&read())), counters(&read()));
    let mut devices = BTreeMap::new();
    for path in paths {
        let Some(device) = fs::metadata(path).ok().map(|metadata| device_of(metadata.dev())) else {
            continue;
        };
        let Some(current) = now.get(&device) else { continue };
        devices.insert(device, current.since(first.get(&device)));
    }
    if devices.is_empty() {
        return None;
    }
    let mut total = Counters::default();
    devices.values().for_each(|device| total.add(device));
    let list: Vec<Value> = devices
        .values()
        .map(|device| {
            let mut shown = device.to_json();
            shown["device_name"] = device.name.clone().into();
            shown
        })
        .collect();
    Some(json!({"devices": list, "total": total.to_json()}))
}

fn read() -> String {
    fs::read_to_string("/proc/diskstats").unwrap_or_default()
}

/// Takes a device number apart as the C library's `major` and `minor` do.
fn device_of(number: u64) -> (u32, u32) {
    let major = ((number >> 8) & 0xfff) | ((number >> 32) & !0xfff);
    let minor = (number & 0xff) | ((number >> 12) & !0xff);
    (major as u32, minor as u32)
}

/// Reads lines such as `254 0 vda 2921361 103477 144182434 22060574 6237444 …`; the numbers from the fourth
/// word on are reads, merged reads, sectors, milliseconds, the same of writes, requests under way and
/// milliseconds.
fn counters(diskstats: &str) -> BTreeMap<(u32, u32), Counters> {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |place: usize| words.get(place)?.parse::<u64>().ok();
        let device = (words.first()?.parse().ok()?, words.get(1)?.parse().ok()?);
        let counters = Counters {
            name: (*words.get(2)?).to_owned(),
            reads: number(3)?,
            sectors_read: number(5)?,
            writes: number(7)?,
            sectors_written: number(9)?,
            busy_ms: number(12)?,
        };
        Some((device, counters))
    };
    diskstats.lines().filter_map(of_line).collect()
}

impl Counters {
    /// Returns what was added since `before`; a disk that was not there began with zeros.
    fn since(&self, before: Option<&Counters>) -> Counters {
        let Some(before) = before else { return self.clone() };
        Counters {
            name: self.name.clone(),
            reads: self.reads.saturating_sub(before.reads),
            sectors_read: self.sectors_read.saturating_sub(before.sectors_read),
            writes: self.writes.saturating_sub(before.writes),
            sectors_written: self.sectors_written.saturating_sub(before.sectors_written),
            busy_ms: self.busy_ms.saturating_sub(before.busy_ms),
        }
    }

    fn add(&mut self, more: &Counters) {
        self.reads += more.reads;
        self.sectors_read += more.sectors_read;
        self.writes += more.writes;
        self.sectors_written += more.sectors_written;
        self.busy_ms += more.busy_ms;
    }

    fn to_json(&self) -> Value {
        json!({
            "operations": self.reads + self.writes,
            "read_operations": self.reads,
            "write_operations": self.writes,
            "read_kilobytes": self.sectors_read * SECTOR_BYTES / 1024,
            "write_kilobytes": self.sectors_written * SECTOR_BYTES / 1024,
            "io_time_in_millis": self.busy_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_those_since_the_first_reading() {
        let first = counters(
            " 254 0 vda 10 1 800 5 20 2 1600 9 0 70 14 0 0 0 0 3 1\n 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\nshort 1\n",
        );
        let now = counters(" 254 0 vda 13 1 804 5 25 2 1700 9 0 75 14 0 0 0 0 3 1\n");
        assert_eq!(first.len(), 2);
        let traffic = now[&(254, 0)].since(first.get(&(254, 0)));
        let expected = json!({
            "operations": 8, "read_operations": 3, "write_operations": 5,
            "read_kilobytes": 2, "write_kilobytes": 50, "io_time_in_millis": 5,
        });
        assert_eq!(traffic.to_json(), expected);
        assert_eq!(now[&(254, 0)].since(None).reads, 13);
    }

    #[test]
    fn device_numbers_come_apart() {
        assert_eq!(device_of(0xfe00), (254, 0));
        assert_eq!(device_of(0x1_0000_0301), (3, 0x10_0001));
        assert_eq!(device_of(0x0801), (8, 1));
    }
}
