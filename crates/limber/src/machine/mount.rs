//! Which file system holds a path.

use std::fs;
use std::path::Path;

/// Returns the mount point that holds `path`, with its device as Java prints it (`/ (/dev/sda1)`), and the
/// type of its file system.
pub fn mount_of(path: &Path) -> (String, String) {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?, words.next()?))
        })
        .filter(|(_, point, _)| path.starts_with(point))
        .max_by_key(|(_, point, _)| point.len())
        .map(|(device, point, kind)| (format!("{point} ({device})"), kind.to_owned()))
        .unwrap_or_default()
}
