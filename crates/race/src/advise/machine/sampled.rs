//! Reads the kernel's files about one process, and its counters twice.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::finding::Unread;

/// Counters at one moment: the contents of the kernel's files, empty where a file does not exist.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    pub(super) diskstats: String,
    pub(super) vmstat: String,
    pub(super) cpu_stat: String,
}

#[derive(Debug)]
pub(in crate::advise) struct Machine {
    pub(super) root: PathBuf,
    /// Id of the server's process on this machine.
    pub pid: u32,
    pub(super) before: Sample,
    pub(super) after: Sample,
    pub(super) window_s: f64,
    started: Instant,
}

impl Machine {
    /// Opens the machine with the process `pid`, at the beginning of the sampling.
    ///
    /// `root` is `/`, or in a test a folder with `proc` and `sys` in it.
    ///
    /// Errors: there is no such process.
    pub(in crate::advise) fn of_process(root: &Path, pid: u32) -> Result<Machine, Unread> {
        let mut machine = Machine {
            root: root.to_owned(),
            pid,
            before: Sample::default(),
            after: Sample::default(),
            window_s: 0.0,
            started: Instant::now(),
        };
        machine.read(&format!("proc/{pid}/cmdline"))?;
        machine.before = machine.sample();
        Ok(machine)
    }

    /// Takes the sample at the end of the sampling.
    pub(in crate::advise) fn sample_again(&mut self) {
        let window_s = self.started.elapsed().as_secs_f64();
        self.end_sampling(window_s);
    }

    fn end_sampling(&mut self, window_s: f64) {
        self.after = self.sample();
        self.window_s = window_s;
    }

    fn sample(&self) -> Sample {
        Sample {
            diskstats: self.read("proc/diskstats").unwrap_or_default(),
            vmstat: self.read("proc/vmstat").unwrap_or_default(),
            cpu_stat: self.cpu_stat().unwrap_or_default(),
        }
    }

    /// Whether the process's command line contains `word`.
    pub(in crate::advise) fn runs(&self, word: &str) -> bool {
        self.read(&format!("proc/{}/cmdline", self.pid)).is_ok_and(|line| line.to_lowercase().contains(word))
    }

    /// Returns the folder at which relative paths of the process start.
    pub(in crate::advise) fn working_folder(&self) -> Option<PathBuf> {
        std::fs::read_link(self.root.join(format!("proc/{}/cwd", self.pid))).ok()
    }

    /// Returns the contents of a file; `path` has no leading slash.
    pub(in crate::advise) fn read(&self, path: &str) -> Result<String, Unread> {
        std::fs::read_to_string(self.root.join(path)).map_err(|error| Unread::new(format!("/{path}"), error))
    }

    /// Reads a file that holds one number.
    pub(in crate::advise) fn number(&self, path: &str) -> Result<f64, Unread> {
        let text = self.read(path)?;
        text.trim()
            .parse()
            .map_err(|_| Unread::new(format!("/{path}"), format!("[{}] is no number", text.trim())))
    }

    /// Returns how much a counter of `/proc/vmstat` grew per second.
    pub(in crate::advise) fn vmstat_rate(&self, counter: &str) -> Result<f64, Unread> {
        let value = |text: &str| -> Option<f64> {
            text.lines().find_map(|line| line.strip_prefix(counter)?.strip_prefix(' ')?.trim().parse().ok())
        };
        match (value(&self.before.vmstat), value(&self.after.vmstat)) {
            (Some(before), Some(after)) if self.window_s > 0.0 => {
                Ok((after - before).max(0.0) / self.window_s)
            }
            _ => Err(Unread::new(format!("/proc/vmstat {counter}"), "it was not read twice")),
        }
    }
}

/// Builds a machine from files for a test: `(path, text)`, paths without the leading slash.
#[cfg(test)]
pub(in crate::advise) fn made_up(
    before: &[(&str, &str)],
    after: &[(&str, &str)],
    window_s: f64,
) -> (tempfile::TempDir, Machine) {
    let folder = tempfile::tempdir().unwrap();
    let write = |files: &[(&str, &str)]| {
        for (path, text) in files {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
    };
    write(&[("proc/17/cmdline", "java\0org.elasticsearch.bootstrap.Elasticsearch\0")]);
    write(before);
    let mut machine = Machine::of_process(folder.path(), 17).unwrap();
    write(after);
    machine.end_sampling(window_s);
    (folder, machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Machine::of_process(folder.path(), 99).unwrap_err();
        assert_eq!(error.what, "/proc/99/cmdline");
    }

    #[test]
    fn counters_have_rates() {
        let (_folder, machine) = made_up(
            &[("proc/vmstat", "pswpin 10\npswpout 5\n")],
            &[("proc/vmstat", "pswpin 30\npswpout 5\n")],
            4.0,
        );
        assert_eq!(machine.vmstat_rate("pswpin"), Ok(5.0));
        assert_eq!(machine.vmstat_rate("pswp").unwrap_err().what, "/proc/vmstat pswp");
        assert!(machine.runs("elasticsearch"));
    }
}
