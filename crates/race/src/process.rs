//! Ends processes.

use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Asks the process to end (SIGTERM), waits, and kills it (SIGKILL) if it does not.
///
/// `has_ended` is called repeatedly. It also reaps child processes, which would otherwise stay in the process
/// table.
pub(crate) fn end(process_id: u32, patience: Duration, mut has_ended: impl FnMut() -> bool) {
    for signal in [libc::SIGTERM, libc::SIGKILL] {
        if has_ended() {
            return;
        }
        if let Ok(id) = libc::pid_t::try_from(process_id) {
            // SAFETY: a plain system call with integers. If the signal cannot be sent, the loop below finds
            // out.
            unsafe { libc::kill(id, signal) };
        }
        let started = Instant::now();
        while started.elapsed() < patience && !has_ended() {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// Whether a process with this id exists, including those of other users.
pub(crate) fn is_alive(process_id: u32) -> bool {
    // SAFETY: signal 0 is not delivered; it only checks the process.
    let asked = libc::pid_t::try_from(process_id).map(|id| unsafe { libc::kill(id, 0) });
    asked.is_ok_and(|answer| {
        answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn stubborn_processes_end_too() {
        for script in ["exec sleep 60", "trap '' TERM; while :; do sleep 0.1; done"] {
            let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
            assert!(is_alive(child.id()));
            end(child.id(), Duration::from_millis(300), || matches!(child.try_wait(), Ok(Some(_))));
            assert!(!is_alive(child.id()), "{script}");
        }
    }
}
