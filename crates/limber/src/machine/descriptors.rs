//! File descriptors: "how many may this process have, and how many has it?"
//!
//! Source: getrlimit(2), proc(5).

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

/// What a process may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorLimit {
    /// The limit that holds now.
    pub count: u64,
    /// The one before it was raised.
    pub before: u64,
}

/// Raises the limit to as much as this process may have without being asked again (the hard limit), as a
/// server of many shards and clients needs. Where that is refused the limit stays as it is.
///
/// # Errors
/// The system does not tell the limit.
pub fn raise_limit() -> io::Result<DescriptorLimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for what the call writes.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let before = limit.rlim_cur;
    if limit.rlim_cur < limit.rlim_max {
        let raised = libc::rlimit { rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max };
        // SAFETY: `raised` is a valid limit, which the call only reads.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) } == 0 {
            limit = raised;
        } else {
            let error = io::Error::last_os_error();
            tracing::warn!(%error, before, hard = limit.rlim_max, "the limit of file descriptors is not raised");
        }
    }
    Ok(DescriptorLimit { count: limit.rlim_cur, before })
}

/// Descriptors that are open; `None` where the system does not tell.
pub fn open_count() -> Option<u64> {
    // Since Linux 6.2 the folder's size is their number, told without a descriptor of its own.
    match fs::metadata("/proc/self/fd").ok()?.size() {
        0 => Some(fs::read_dir("/proc/self/fd").ok()?.count() as u64),
        count => Some(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_and_open_descriptors_are_counted() {
        let limit = raise_limit().expect("the system tells");
        assert!(limit.count >= limit.before && limit.count > 0);
        assert_eq!(raise_limit().expect("the system tells").before, limit.count);
        let files: Vec<fs::File> =
            (0..50).map(|_| fs::File::open("/proc/self/stat").expect("opens")).collect();
        assert!(open_count().is_some_and(|count| count >= 50));
        drop(files);
    }
}
