//! "How much memory may this process use?": the machine's memory, or the tightest limit of the cgroups around
//! the process.
//!
//! A limit may be set in any cgroup from the process's own up to the root of the mounted hierarchy: a
//! container's, the enclosing pod's, the enclosing systemd slice's. All of them apply, so the smallest
//! counts. Both versions of cgroups are read, also side by side (hybrid).
//!
//! Source: cgroups(7), proc_pid_mountinfo(5), the kernel's `cgroup-v2.rst` (`memory.max`) and
//! `cgroup-v1/memory.rst`.

use std::fs;
use std::path::{Path, PathBuf};

/// The memory of the machine if the system does not report it.
const UNKNOWN_MACHINE_BYTES: u64 = 4 << 30;

/// Returns the memory that this process may use: the machine's, or the smallest limit of its cgroups.
pub fn usable_memory_bytes() -> u64 {
    usable_bytes(Path::new("/"))
}

/// Returns the usable memory. `root` is `/`, or a test's folder with `proc` and `sys` in it.
fn usable_bytes(root: &Path) -> u64 {
    let machine = machine_bytes(root).unwrap_or(UNKNOWN_MACHINE_BYTES);
    cgroup_limit_bytes(root).map_or(machine, |limit| limit.min(machine))
}

/// Returns the number after `name` in a file with lines such as `MemTotal:  16384 kB`.
pub(super) fn kib_of(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn machine_bytes(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    Some(kib_of(&text, "MemTotal:") << 10).filter(|&bytes| bytes > 0)
}

/// Returns the smallest limit of the process's cgroups; `None` if none has a limit.
fn cgroup_limit_bytes(root: &Path) -> Option<u64> {
    let memberships = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).ok()?;
    let hierarchies: Vec<Hierarchy> = mounts.lines().filter_map(Hierarchy::parse).collect();
    let limit_of = |line: &str| {
        // `number:controllers:path`; version 2 has number 0 and no controllers.
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let version = match controllers {
            "" => Version::Two,
            list if list.split(',').any(|name| name == "memory") => Version::One,
            _ => return None,
        };
        let of_version = hierarchies.iter().filter(|hierarchy| hierarchy.version == version);
        of_version.filter_map(|hierarchy| hierarchy.limit_bytes(root, path)).min()
    };
    memberships.lines().filter_map(limit_of).min()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A mounted hierarchy that controls memory.
#[derive(Debug)]
struct Hierarchy {
    version: Version,
    /// The cgroup at the mount point: `/`, or the container's own if its engine mounts only that.
    mounted_cgroup: PathBuf,
    mount_point: PathBuf,
}

impl Hierarchy {
    /// Parses a line of `mountinfo`:
    /// `36 35 98:0 /root /mount/point options [optional fields] - type source super-options`.
    fn parse(line: &str) -> Option<Hierarchy> {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (mounted_cgroup, mount_point) = (PathBuf::from(mount.next()?), PathBuf::from(mount.next()?));
        let mut words = file_system.split(' ');
        let version = match (words.next()?, words.nth(1)) {
            ("cgroup2", _) => Version::Two,
            ("cgroup", Some(options)) if options.split(',').any(|option| option == "memory") => Version::One,
            _ => return None,
        };
        Some(Hierarchy { version, mounted_cgroup, mount_point })
    }

    /// Returns the smallest limit from the cgroup `path` up to the mount point.
    fn limit_bytes(&self, root: &Path, path: &str) -> Option<u64> {
        let file_name = match self.version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        let top = root.join(self.mount_point.strip_prefix("/").unwrap_or(&self.mount_point));
        let path = Path::new(path);
        // If the path lies outside the mounted hierarchy, as with a cgroup namespace, the mount point is the
        // process's own cgroup.
        let below = path.strip_prefix(&self.mounted_cgroup).unwrap_or(Path::new(""));
        let below = if below.components().all(|part| matches!(part, std::path::Component::Normal(_))) {
            below
        } else {
            Path::new("")
        };
        // No limit: version 1 has a number above any machine's memory, version 2 the word `max`.
        let limit =
            |folder: &Path| fs::read_to_string(top.join(folder).join(file_name)).ok()?.trim().parse().ok();
        below.ancestors().filter_map(limit).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const VERSION_2: &str = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
    const VERSION_1: &str = "33 24 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory";

    /// Checks the limit on a machine with 16 GiB that has these cgroup files below `sys/fs/cgroup`.
    fn check(mounts: &[&str], memberships: &str, files: &[(&str, &str)], expected_bytes: u64) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, text).expect("written");
        };
        write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000 kB\n");
        write("proc/self/cgroup", memberships);
        write("proc/self/mountinfo", &mounts.join("\n"));
        for (path, text) in files {
            write(&format!("sys/fs/cgroup/{path}"), text);
        }
        assert_eq!(usable_bytes(folder.path()), expected_bytes, "{memberships} {files:?}");
    }

    #[test]
    fn a_machine_without_cgroups_or_limits() {
        check(&[], "", &[], 16 * GIB);
        check(&[VERSION_2], "0::/\n", &[], 16 * GIB);
        check(&[VERSION_2], "0::/user.slice\n", &[("user.slice/memory.max", "max\n")], 16 * GIB);
        check(
            &[VERSION_1],
            "5:memory:/\n",
            &[("memory/memory.limit_in_bytes", "9223372036854771712\n")],
            16 * GIB,
        );
        assert_eq!(usable_bytes(Path::new("/nowhere")), UNKNOWN_MACHINE_BYTES);
    }

    #[test]
    fn the_least_limit_of_nested_cgroups_counts() {
        let files = [
            ("kubepods/memory.max", "8589934592\n"),
            ("kubepods/pod7/memory.max", "2147483648\n"),
            ("kubepods/pod7/main/memory.max", "max\n"),
            ("kubepods/pod8/memory.max", "1048576\n"),
        ];
        check(&[VERSION_2], "0::/kubepods/pod7/main\n", &files, 2 * GIB);
        check(&[VERSION_2], "0::/kubepods\n", &files, 8 * GIB);
        let files = [
            ("memory/docker/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/docker/abc/memory.limit_in_bytes", "4294967296\n"),
            ("memory/docker/abc/inner/memory.limit_in_bytes", "6442450944\n"),
        ];
        check(&[VERSION_1], "9:cpu,cpuacct:/\n5:memory:/docker/abc/inner\n", &files, 4 * GIB);
    }

    #[test]
    fn a_container_sees_its_own_cgroup_at_the_mount_point() {
        // With a cgroup namespace the path is `/`; without one the mount's root is the container's cgroup.
        check(&[VERSION_2], "0::/\n", &[("memory.max", "1073741824\n")], GIB);
        let mount = VERSION_1.replace(" / /sys", " /docker/abc /sys");
        let files = [
            ("memory/memory.limit_in_bytes", "3221225472\n"),
            ("memory/inner/memory.limit_in_bytes", "1073741824\n"),
        ];
        check(&[&mount], "5:memory:/docker/abc\n", &files, 3 * GIB);
        check(&[&mount], "5:memory:/docker/abc/inner\n", &files, GIB);
        check(&[&mount], "5:memory:/elsewhere\n", &files, 3 * GIB);
        check(&[VERSION_2], "0::/../pod8\n", &[("memory.max", "1073741824\n")], GIB);
    }

    #[test]
    fn both_versions_side_by_side() {
        let unified = "31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
        let files =
            [("unified/a/memory.max", "2147483648\n"), ("memory/b/memory.limit_in_bytes", "1073741824\n")];
        check(&[unified, VERSION_1], "5:memory:/b\n0::/a\n", &files, GIB);
        check(&[unified, VERSION_1], "5:memory:/\n0::/a\n", &files, 2 * GIB);
    }

    #[test]
    fn a_limit_above_the_machine_is_none() {
        check(&[VERSION_2], "0::/\n", &[("memory.max", "1099511627776\n")], 16 * GIB);
    }
}
