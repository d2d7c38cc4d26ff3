//! Jobs that wait while all processors have jobs: "did those that run become long?"
//!
//! A pool lets a job wait for a thread whose job has only just begun. Usually that ends soon. If it does
//! not, nobody would wake another thread. A thread that looks periodically, while there are such jobs, does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::Thread;
use std::time::Duration;

/// Time between two looks. A job waits at most about this long without need.
const LOOK: Duration = Duration::from_millis(1);
/// After this many looks that found no waiting job, the thread sleeps until it is asked again.
const QUIET_LOOKS: u32 = 64;
/// How often a sleeping thread checks whether the pools still exist.
const SLEEP: Duration = Duration::from_secs(10);

/// What the thread looks at.
pub(super) trait Look: Send + Sync {
    /// Wakes another thread if one is needed. Returns whether jobs wait.
    fn look(self: Arc<Self>) -> bool;
}

/// The thread that looks.
#[derive(Debug, Default)]
pub struct Late {
    thread: OnceLock<Thread>,
    is_watching: AtomicBool,
}

impl Late {
    /// Makes the thread look until no job has waited for a while. Costs nothing if it is looking already.
    pub(super) fn watch(&self) {
        if !self.is_watching.load(Ordering::Relaxed) && !self.is_watching.swap(true, Ordering::Relaxed) {
            self.thread.get().inspect(|thread| thread.unpark());
        }
    }

    /// Starts the thread. It ends when one of the pools is gone.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(super) fn start(self: &Arc<Self>, pools: Vec<Weak<dyn Look>>) -> std::io::Result<()> {
        let late = self.clone();
        let run = move || while late.watch_and_sleep(&pools).is_some() {};
        let started = std::thread::Builder::new().name("late".into()).spawn(run)?;
        let _ = self.thread.set(started.thread().clone());
        Ok(())
    }

    /// Looks while jobs wait, then sleeps until asked. `None` if a pool is gone.
    fn watch_and_sleep(&self, pools: &[Weak<dyn Look>]) -> Option<()> {
        let mut quiet_looks = 0;
        while self.is_watching.load(Ordering::Relaxed) && quiet_looks < QUIET_LOOKS {
            std::thread::sleep(LOOK);
            quiet_looks = if look(pools)? { 0 } else { quiet_looks + 1 };
        }
        self.is_watching.store(false, Ordering::Relaxed);
        // A job that has begun to wait since the last look may have found the thread still watching.
        match look(pools)? {
            true => self.is_watching.store(true, Ordering::Relaxed),
            false => std::thread::park_timeout(SLEEP),
        }
        Some(())
    }
}

/// Looks at all pools. Returns whether jobs wait; `None` if a pool is gone.
fn look(pools: &[Weak<dyn Look>]) -> Option<bool> {
    let mut is_waiting = false;
    for pool in pools {
        is_waiting |= pool.upgrade()?.look();
    }
    Some(is_waiting)
}
