//! Locks that a simulation can schedule: "may this thread continue, and which one runs next?"
//!
//! [`Mutex`], [`RwLock`], [`Condvar`] and [`OnceLock`] wrap those of parking_lot and the standard library,
//! with the same names and the same guards. Only where a thread would block do they check whether it
//! belongs to a [`Simulation`]; such a thread passes its turn to another one instead. Outside a simulation,
//! calls that do not block cost nothing extra.
//!
//! A thread that waits for a lock longer than a millisecond lets another job of its pool run meanwhile
//! ([`limber_work::waiting`]). So jobs that wait for a long one, for example to write the same document, do
//! not keep others from running.
//!
//! A simulation runs real threads, exactly one at a time. The next thread is drawn from a seed, so a run
//! can be repeated exactly.
//!
//! **Invariant**: every wait of the engine is on one of these, or ends without the help of another
//! simulated thread.

mod condvar;
mod mutex;
mod once;
mod rwlock;
mod schedule;
mod simulation;
mod thread;

/// Most waits are much shorter. To run another job costs a lock of the pool, and at times a new thread.
const SHORT_WAIT: std::time::Duration = std::time::Duration::from_millis(1);

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::Mutex;
pub use once::OnceLock;
pub use parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};
pub use rwlock::RwLock;
pub use schedule::{Schedule, SwitchPolicy};
pub use simulation::{Simulation, SimulationEnd, SimulationFailure};
pub use thread::{is_simulated, note, now_nanos, point, sleep, spawn, thread_builder};
