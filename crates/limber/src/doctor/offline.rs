//! Checks the configuration, the data folder and the machine without a server.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result};
use limber_engine::settings::ClusterSettings;
use limber_store::FsDisk;

use crate::config::Config;
use crate::machine::{self, Reserved, cannot_listen};
use crate::told::{in_words, say};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Warning,
    /// Something does not work, or soon will not.
    Problem,
    /// The server would not start.
    Fatal,
}

/// What was found, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    pub what: String,
    pub action: String,
}

impl Finding {
    /// Creates a finding: what is wrong, and what to do about it.
    pub fn new(level: Level, what: impl Into<String>, action: impl Into<String>) -> Finding {
        Finding { level, what: what.into(), action: action.into() }
    }

    /// Prints the finding to standard output.
    pub fn print(&self) {
        let level = match self.level {
            Level::Warning => "warning",
            Level::Problem => "PROBLEM",
            Level::Fatal => "FATAL",
        };
        say(format_args!("{level}: {}\n    {}", self.what, self.action));
    }
}

/// Minimum of `vm.max_map_count`, below which a folder with many segments runs out of memory maps.
const MAP_COUNT_MIN: u64 = 262_144;
/// Minimum number of file descriptors, below which many connections and segments compete for them.
const DESCRIPTORS_MIN: u64 = 65_536;
/// Disk usage in percent: the defaults of `cluster.routing.allocation.disk.watermark.*`.
const DISK_LOW_PERCENT: u64 = 85;
const DISK_FLOOD_PERCENT: u64 = 95;
/// Percentage of the machine's memory above which nothing is left for the page cache.
const MEMORY_PERCENT_MAX: u64 = 75;

/// Refuses a configuration that the server would refuse.
///
/// # Errors
/// All problems with the settings, in one message if they can be found together; a data folder that is a
/// file, or a main one in which no node may begin.
pub fn checked(config: &Config) -> Result<()> {
    config.check_network()?;
    limber_engine::refuse_foreign(&config.data_paths).map_err(in_words)?;
    ClusterSettings::new(config.engine_settings.clone(), Default::default())
        .map(drop)
        .map_err(|error| Error::msg(error.reason))
}

/// Returns all findings.
pub fn look(config: &Config) -> Vec<Finding> {
    let mut findings: Vec<Finding> = config.data_paths.iter().flat_map(|path| data_folder(path)).collect();
    findings.extend(memory(config.memory_limit_bytes, machine::usable_memory_bytes()));
    findings.extend(keys(config));
    let number = |path: &str| std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
    findings.extend(kernel(
        number("/proc/sys/vm/max_map_count"),
        machine::process().max_file_descriptors,
        &std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default(),
        &std::fs::read_to_string("/proc/swaps").unwrap_or_default(),
    ));
    findings
}

/// Returns why a server that starts now would not get its address or its data folders. If it would get
/// neither, the server is running, and there is nothing to find.
pub fn taken(config: &Config) -> Option<Finding> {
    let address = &config.http_address;
    let use_of = |path: &PathBuf| (path.clone(), FsDisk::is_in_use(path));
    let in_use: Vec<_> =
        config.data_paths.iter().map(use_of).filter(|(_, used)| *used != Some(false)).collect();
    if let Err(error) = Reserved::take(address) {
        if error.kind() == std::io::ErrorKind::AddrInUse && !in_use.is_empty() {
            return None;
        }
        let action = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "stop it or choose another port (http.port, --http); if it is the server that you mean, name its \
                 data folder (path.data, --data)"
            }
            _ => "correct http.host and http.port (--http)",
        };
        return Some(Finding::new(Level::Fatal, cannot_listen(address, &error).to_string(), action));
    }
    let (path, _) = in_use.iter().find(|(_, used)| *used == Some(true))?;
    let what = format!(
        "another process uses the data folder {}, but no server listens on {address}",
        path.display()
    );
    let action = "wait if it is a server that starts; else stop that process, or name the address of its server \
                  (http.host and http.port, --http)";
    Some(Finding::new(Level::Fatal, what, action))
}

fn data_folder(path: &Path) -> Vec<Finding> {
    let shown = path.display();
    // If the folder does not exist yet, its closest existing ancestor is checked.
    let Some(existing) = path.ancestors().find(|path| path.exists() && !path.as_os_str().is_empty()) else {
        return Vec::new();
    };
    if !existing.is_dir() {
        let level = if existing == path { Level::Problem } else { Level::Fatal };
        let what = format!("{} is a file, not a folder", existing.display());
        return vec![Finding::new(level, what, "name a folder (path.data, --data)")];
    }
    let mut findings = Vec::new();
    if let Err(error) = tempfile::tempfile_in(existing) {
        let action = format!("let the server's user write to {}", existing.display());
        findings.push(Finding::new(Level::Fatal, format!("{shown} cannot be written to: {error}"), action));
    }
    let (mount, kind) = machine::mount_of(existing);
    if kind.starts_with("nfs") || kind == "cifs" || kind == "9p" {
        let what = format!("{shown} is on a network file system ({kind}, {mount})");
        let action =
            "use a local disk: locks, fsync and mapped files are what the promises of the translog rest on";
        findings.push(Finding::new(Level::Problem, what, action));
    }
    if kind == "tmpfs" {
        let what = format!("{shown} is in memory (tmpfs, {mount})");
        findings.push(Finding::new(
            Level::Warning,
            what,
            "use a disk unless the data may go with the machine",
        ));
    }
    if let Ok(space) = limber_store::space_of(existing) {
        findings.extend(disk(path, space.total_bytes, space.available_bytes));
    }
    findings
}

fn disk(path: &Path, total_bytes: u64, free_bytes: u64) -> Option<Finding> {
    let used_percent = 100 - (free_bytes * 100).checked_div(total_bytes)?.min(100);
    let what = format!("the disk of {} is used by {used_percent} %", path.display());
    if used_percent >= DISK_FLOOD_PERCENT {
        let action = "make room: from 95 % on indices take no writes (cluster.routing.allocation.disk.watermark.flood_stage)";
        return Some(Finding::new(Level::Problem, what, action));
    }
    (used_percent >= DISK_LOW_PERCENT)
        .then(|| Finding::new(Level::Warning, what, "make room: from 95 % on indices take no writes"))
}

fn memory(limit_bytes: u64, usable_bytes: u64) -> Option<Finding> {
    let percent = (limit_bytes * 100).checked_div(usable_bytes)?;
    let what = format!("memory.limit is {percent} % of the memory that this process may use");
    if percent > 100 {
        return Some(Finding::new(
            Level::Problem,
            what,
            "lower memory.limit, or the system ends the server when it is used",
        ));
    }
    (percent > MEMORY_PERCENT_MAX).then(|| {
        Finding::new(Level::Warning, what, "half is the default: segments are read through the page cache")
    })
}

/// Finds private keys that other users can read.
fn keys(config: &Config) -> Option<Finding> {
    let key = &config.security.tls.as_ref()?.key;
    let mode = std::fs::metadata(key).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        let what = format!("others than its owner can read {} (mode {:o})", key.display(), mode & 0o777);
        Finding::new(Level::Problem, what, format!("chmod 600 {}", key.display()))
    })
}

fn kernel(map_count: Option<u64>, descriptors: u64, huge_pages: &str, swaps: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(count) = map_count.filter(|count| *count < MAP_COUNT_MIN) {
        let action = format!("sysctl -w vm.max_map_count={MAP_COUNT_MIN}");
        findings.push(Finding::new(Level::Warning, format!("vm.max_map_count is {count}"), action));
    }
    if (1..DESCRIPTORS_MIN).contains(&descriptors) {
        let what = format!("this process may open {descriptors} files");
        let action = format!(
            "raise the limit (LimitNOFILE={DESCRIPTORS_MIN}, ulimit -n): connections and segments share it"
        );
        findings.push(Finding::new(Level::Warning, what, action));
    }
    if huge_pages.contains("[always]") {
        let what = "transparent huge pages are always on: freed memory goes back to the system late";
        findings.push(Finding::new(
            Level::Warning,
            what,
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        ));
    }
    if swaps.lines().count() > 1 {
        let what = "the machine swaps: what is charged may be on disk";
        findings.push(Finding::new(Level::Warning, what, "swapoff -a, or MemorySwapMax=0 for the service"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    #[test]
    fn shares_of_disk_and_memory() {
        let level = |finding: Option<Finding>| finding.map(|finding| finding.level);
        let path = Path::new("data");
        assert_eq!(level(disk(path, 1000, 200)), None);
        assert_eq!(level(disk(path, 1000, 150)), Some(Level::Warning));
        assert_eq!(level(disk(path, 1000, 50)), Some(Level::Problem));
        assert_eq!(level(disk(path, 0, 0)), None);
        assert_eq!(level(memory(500, 1000)), None);
        assert_eq!(level(memory(900, 1000)), Some(Level::Warning));
        assert_eq!(level(memory(2000, 1000)), Some(Level::Problem));
    }

    #[test]
    fn limits_of_the_kernel() {
        let swaps = "Filename Type Size Used Priority\n";
        assert_eq!(kernel(Some(262_144), 65_536, "always [madvise] never", swaps), []);
        let all =
            kernel(Some(65_530), 1024, "[always] madvise never", &format!("{swaps}/swap file 1 0 -2\n"));
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|finding| finding.level == Level::Warning));
        assert_eq!(kernel(None, 0, "", ""), [], "what cannot be read is no finding");
    }

    #[test]
    fn addresses_and_folders_are_free_or_both_are_of_the_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let (own, other) = (folder.path().join("own"), folder.path().join("other"));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let busy = listener.local_addr().expect("an address").to_string();
        let _disk = FsDisk::open(&own).expect("opens");
        let found = |data: &Path, address: &str| {
            let overrides = Overrides {
                data: vec![data.to_owned()],
                http: Some(address.to_owned()),
                ..Overrides::default()
            };
            let finding = taken(&Config::load(&overrides).expect("valid"));
            finding.map(|finding| {
                assert_eq!(finding.level, Level::Fatal);
                finding.what
            })
        };
        assert_eq!(found(&own, &busy), None, "the server is running");
        assert_eq!(found(&other, "127.0.0.1:0"), None, "a server could start");
        let told = found(&other, &busy).expect("the port is taken");
        assert!(told.contains("Another program listens there"), "{told}");
        let told = found(&own, "127.0.0.1:0").expect("the folder is in use");
        assert!(told.contains("another process uses the data folder"), "{told}");
        assert!(!other.exists(), "nothing is created");
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_judged_by_the_one_above() {
        let folder = tempfile::tempdir().expect("a folder");
        let findings = data_folder(&folder.path().join("not/there/yet"));
        assert!(findings.iter().all(|finding| finding.level != Level::Fatal), "{findings:?}");
    }
}
