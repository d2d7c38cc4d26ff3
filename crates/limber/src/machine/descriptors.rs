//! File descriptors: "how many may this process have open, and how many does it have?"
//!
//! Source: getrlimit(2), proc(5).

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

/// The limit of open file descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorLimit {
    /// The current limit.
    pub count: u64,
    /// The limit before it was raised.
    pub before: u64,
}

/// Raises the soft limit to the hard limit, because a server with many shards and clients needs many
/// descriptors. If that fails, the limit stays as it is.
///
/// # Errors
/// The system does not report the limit.
pub fn raise_limit() -> io::Result<DescriptorLimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid location for the call to write to.
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

/// Returns the number of open descriptors; `None` if the system does not report it.
pub fn open_count() -> Option<u64> {
    // Since Linux 6.2 the size of this folder is the number of descriptors; reading it opens none.
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
