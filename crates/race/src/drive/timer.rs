//! Wakes a throttled client up on time.
//!
//! The runtime's timers tick in milliseconds, and latency counts from the moment a request was due: at 1,000
//! requests per second, being late by half a millisecond would be half of the figure. On Linux, each
//! throttled client therefore waits on its own timer descriptor (`timerfd_create(2)`, nanosecond resolution,
//! typically about 50 µs late). Other systems use the runtime's timer.

use std::time::Instant;

#[cfg(target_os = "linux")]
pub(super) use linux::Timer;
#[cfg(not(target_os = "linux"))]
pub use portable::Timer;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use tokio::io::unix::AsyncFd;

    use super::Instant;

    pub(crate) struct Timer {
        descriptor: AsyncFd<OwnedFd>,
    }

    impl Timer {
        /// Must be called on a runtime with I/O enabled.
        pub(crate) fn new() -> io::Result<Timer> {
            // SAFETY: the call takes no pointers; its result is checked before it is used.
            let raw = unsafe {
                libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC)
            };
            if raw < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: `raw` is an open descriptor that nothing else owns.
            let owned = unsafe { OwnedFd::from_raw_fd(raw) };
            // SAFETY: the `AsyncFd` owns the descriptor, nothing else closes it, and `as_raw_fd` always
            // returns the same one.
            let descriptor = unsafe { AsyncFd::register(owned) }.map_err(io::Error::from)?;
            Ok(Timer { descriptor })
        }

        pub(crate) async fn sleep_until(&mut self, due: Instant) -> io::Result<()> {
            let wait = due.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return Ok(());
            }
            let setting = libc::itimerspec {
                it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: libc::timespec {
                    tv_sec: libc::time_t::try_from(wait.as_secs()).unwrap_or(libc::time_t::MAX),
                    tv_nsec: libc::c_long::from(wait.subsec_nanos() as i32),
                },
            };
            let raw = self.descriptor.as_raw_fd();
            // SAFETY: `raw` is open as long as `self.descriptor`; `setting` outlives the call; the old value
            // is not requested.
            if unsafe { libc::timerfd_settime(raw, 0, &setting, std::ptr::null_mut()) } < 0 {
                return Err(io::Error::last_os_error());
            }
            loop {
                let mut guard = self.descriptor.readable().await?;
                let read = guard.try_io(|descriptor| {
                    let mut expirations = 0u64;
                    // SAFETY: the buffer has 8 bytes, as read(2) on a timer descriptor requires, and outlives
                    // the call.
                    let count = unsafe {
                        libc::read(descriptor.as_raw_fd(), (&raw mut expirations).cast(), size_of::<u64>())
                    };
                    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
                });
                match read {
                    Ok(result) => return result,
                    Err(_would_block) => continue,
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::io;

    use super::Instant;

    pub(crate) struct Timer;

    impl Timer {
        pub(crate) fn new() -> io::Result<Timer> {
            Ok(Timer)
        }

        pub(crate) async fn sleep_until(&mut self, due: Instant) -> io::Result<()> {
            tokio::time::sleep_until(due.into()).await;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn wakes_after_the_due_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut timer = Timer::new().unwrap();
            for microseconds in [0, 300, 2_000] {
                let due = Instant::now() + Duration::from_micros(microseconds);
                timer.sleep_until(due).await.unwrap();
                assert!(Instant::now() >= due);
            }
        });
    }
}
