//! Locks that a simulation can schedule: "may this thread go on, and which one runs next?"
//!
//! [`Mutex`], [`RwLock`], [`Condvar`] and [`OnceLock`] are parking_lot's and the standard library's, with the
//! same names and the same guards. Only where a thread would block do they ask whether it belongs to a
//! [`Simulation`]; such a thread hands its turn to another one instead. Outside of a simulation nothing is
//! paid on the way that does not block.
//!
//! A simulation runs real threads, exactly one at a time. Who runs next is drawn from a seed, so a run can be
//! repeated exactly.
//!
//! **Invariant**: whatever the engine can block on is one of these, or ends without the help of another
//! simulated thread.

mod condvar;
mod mutex;
mod once;
mod rwlock;
mod schedule;
mod simulation;
mod thread;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::Mutex;
pub use once::OnceLock;
pub use parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};
pub use rwlock::RwLock;
pub use schedule::{Manner, Schedule};
pub use simulation::{Simulation, SimulationEnd, SimulationFailure};
pub use thread::{is_simulated, note, now_nanos, point, sleep, spawn};
