//! Pages of the program file: "how much of the resident memory is the program itself?"
//!
//! The system could reclaim these pages, but reads them back at once, since they are the code that runs. They
//! show in the resident size of the process, so they count against `memory.limit`.
//!
//! Source: proc_pid_smaps(5).

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Part of `memory.limit` that the program may take from the data. A build without optimisation has several
/// times as many pages as the shipped one.
const LIMIT_PART: u64 = 8;
/// Interval between measurements: more of the code becomes resident when it first runs.
const MEASURE_EVERY: Duration = Duration::from_secs(1);
/// The longest part of `smaps` that is read: the program's few mappings are at its beginning.
const BUFFER_BYTES: usize = 4096;

static PROGRAM_BYTES: AtomicU64 = AtomicU64::new(0);

/// Returns the bytes of the program that count, as last measured.
pub(super) fn program_bytes() -> u64 {
    PROGRAM_BYTES.load(Ordering::Relaxed)
}

/// Measures the resident pages of the program file.
#[derive(Debug)]
pub struct ProgramPages {
    limit_bytes: u64,
    measured: Option<Instant>,
}

impl ProgramPages {
    /// Creates the state before any measurement. `limit_bytes` is `memory.limit`.
    pub fn new(limit_bytes: u64) -> ProgramPages {
        ProgramPages { limit_bytes, measured: None }
    }

    /// Measures, unless that was done less than a second ago.
    pub fn measure(&mut self) {
        if self.measured.is_some_and(|measured| measured.elapsed() < MEASURE_EVERY) {
            return;
        }
        self.measured = Some(Instant::now());
        let smaps = File::open("/proc/self/smaps").map(|file| BufReader::with_capacity(BUFFER_BYTES, file));
        let resident_bytes = smaps.map_or(0, file_bytes_of_first);
        PROGRAM_BYTES.store(resident_bytes.min(self.limit_bytes / LIMIT_PART), Ordering::Relaxed);
    }
}

/// Returns the resident bytes of the file that is mapped first, without pages that the process has changed.
/// In a position-independent program that file is the program.
fn file_bytes_of_first(smaps: impl BufRead) -> u64 {
    let mut inode = None;
    let (mut resident_kib, mut changed_kib) = (0, 0);
    for line in smaps.lines().map_while(Result::ok) {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { break };
        match first {
            "Rss:" => resident_kib += kib(words.next()),
            "Anonymous:" => changed_kib += kib(words.next()),
            _ if first.ends_with(':') => {}
            // `start-end permissions offset device inode path`
            _ => {
                let of_mapping = words.nth(3).map(str::to_owned);
                if inode.is_some() && inode != of_mapping {
                    break;
                }
                inode = of_mapping;
            }
        }
    }
    u64::saturating_sub(resident_kib, changed_kib) << 10
}

fn kib(word: Option<&str>) -> u64 {
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
55d0-55d4 r--p 00000000 fe:00 4711                /usr/bin/limber
Size:                 16 kB
Rss:                  12 kB
Anonymous:             0 kB
VmFlags: rd mr mw me sd
55d4-55d8 rw-p 00004000 fe:00 4711                /usr/bin/limber
Rss:                   8 kB
Anonymous:             4 kB
55d8-55f0 rw-p 00000000 00:00 0                   [heap]
Rss:                 400 kB
Anonymous:           400 kB
7f00-7f10 r-xp 00000000 fe:00 815                 /usr/lib/libc.so.6
Rss:                 800 kB
Anonymous:             0 kB
";

    #[test]
    fn only_unchanged_pages_of_the_program_count() {
        assert_eq!(file_bytes_of_first(SMAPS.as_bytes()), 16 << 10);
        assert_eq!(file_bytes_of_first(&b""[..]), 0);
    }

    #[test]
    fn this_program_takes_at_most_its_part_of_the_limit() {
        ProgramPages::new(u64::MAX).measure();
        assert!(program_bytes() > 0);
        ProgramPages::new(80 << 10).measure();
        assert_eq!(program_bytes(), 10 << 10);
    }
}
