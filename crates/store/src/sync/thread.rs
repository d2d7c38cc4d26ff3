//! The current thread's access to its simulation; outside a simulation most calls do nothing.

use std::cell::RefCell;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::simulation::{Shared, Status};

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// A simulated thread.
#[derive(Clone)]
pub(super) struct Current {
    shared: Arc<Shared>,
    number: usize,
}

/// Returns the current thread if it is simulated.
pub(super) fn current() -> Option<Current> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// Whether the current thread belongs to a simulation. Such a thread must run the work itself that it would
/// otherwise hand to others.
pub fn is_simulated() -> bool {
    CURRENT.try_with(|current| current.borrow().is_some()).unwrap_or(false)
}

/// A point at which another thread may run.
#[inline]
#[track_caller]
pub fn point() {
    if let Some(current) = current() {
        current.shared.pass(current.number, Status::Ready, Location::caller());
    }
}

/// Returns the simulation's time; `None` outside a simulation.
pub fn now_nanos() -> Option<u64> {
    current().map(|current| current.shared.now_nanos())
}

/// Adds a line to the trace of the simulation; does nothing outside one.
pub fn note(text: impl FnOnce() -> String) {
    if let Some(current) = current() {
        current.shared.note(current.number, text);
    }
}

/// Sleeps; a simulated thread sleeps on the simulation's clock.
#[track_caller]
pub fn sleep(duration: Duration) {
    match current() {
        Some(current) => {
            let until = current.shared.now_nanos().saturating_add(duration.as_nanos() as u64);
            current.shared.pass(current.number, Status::Sleeping { until }, Location::caller());
        }
        None => std::thread::sleep(duration),
    }
}

/// Size of a thread's stack, for requests that nest deeply.
const STACK_BYTES: usize = 8 << 20;

/// Returns the builder of a thread that works for requests, outside of a simulation.
pub fn thread_builder(name: impl Into<String>) -> std::thread::Builder {
    std::thread::Builder::new().name(name.into()).stack_size(STACK_BYTES)
}

/// Runs `run` on a detached thread of its own, which belongs to the same simulation as the caller.
///
/// # Errors
/// Fails if the system cannot create a thread.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    match current() {
        Some(current) => current.shared.spawn(name, Box::new(run)),
        None => thread_builder(name).spawn(run).map(drop),
    }
}

/// Whether a simulated thread waits to write what is at `address`.
pub(super) fn does_writer_wait(address: usize) -> bool {
    current().is_some_and(|current| current.does_writer_wait(address))
}

/// Wakes one or all simulated threads that wait at a condition variable. Returns whether there was one.
pub(super) fn notify(address: usize, all: bool) -> bool {
    current().is_some_and(|current| current.shared.notify(address, all))
}

/// Makes the current thread part of the simulation while `run` runs.
pub(super) fn enter(shared: Arc<Shared>, number: usize, run: impl FnOnce()) {
    CURRENT.set(Some(Current { shared, number }));
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            CURRENT.set(None);
        }
    }
    let _leave = Leave;
    run();
}

impl Current {
    /// Lets other threads run until `attempt`, which has failed once, succeeds.
    #[track_caller]
    pub fn wait_until<T>(&self, what: &'static str, mut attempt: impl FnMut() -> Option<T>) -> T {
        let location = Location::caller();
        let mut is_first = true;
        loop {
            self.shared.pass(self.number, Status::Waiting { what, tried_at: 0, is_first }, location);
            is_first = false;
            if let Some(outcome) = attempt() {
                return outcome;
            }
        }
    }

    /// Waits for a notification at the condition variable; returns whether one came before the timeout.
    pub fn wait_notified(
        &self,
        condvar: usize,
        timeout: Option<Duration>,
        location: &'static Location<'static>,
    ) -> bool {
        let now = self.shared.now_nanos();
        let until = timeout.map_or(u64::MAX, |timeout| now.saturating_add(timeout.as_nanos() as u64));
        self.shared.pass(self.number, Status::Condition { condvar, until, is_notified: false }, location);
        until == u64::MAX || self.shared.now_nanos() < until
    }

    /// Whether another simulated thread waits to write what is at `address`.
    pub fn does_writer_wait(&self, address: usize) -> bool {
        self.shared.does_writer_wait(self.number, address)
    }

    /// Makes new readers of what is at `address` wait until the returned guard drops.
    pub fn announce_writer(&self, address: usize) -> WriterWaits<'_> {
        self.shared.set_writer_waits(self.number, Some(address));
        WriterWaits(self)
    }
}

pub(super) struct WriterWaits<'a>(&'a Current);

impl Drop for WriterWaits<'_> {
    fn drop(&mut self) {
        self.0.shared.set_writer_waits(self.0.number, None);
    }
}
