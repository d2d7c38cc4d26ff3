//! Threads that search shards of a request in parallel to the request's own thread.
//!
//! A request that turns out to be long gets as many of them as processors are idle. So a single client can
//! use the whole machine, and many clients share it as if there were no workers. Source: Elasticsearch's
//! pool `search_worker`, which parallelises over segments.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use limber_segment::uses;
use limber_work::Work;

/// The worker threads of a node. Idle ones cost nothing but their stacks.
pub struct Workers {
    pool: rayon_core::ThreadPool,
    processors: usize,
    worth_sharing: Duration,
    /// Threads that are searching now, including those of requests. Only requests can make it exceed
    /// `processors`.
    searching: AtomicUsize,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "workers of {} processors", self.processors)
    }
}

/// Address space of a thread's stack; it is large because requests may be nested deeply.
const STACK_BYTES: usize = 8 << 20;

/// A thread's claim on a processor.
struct Claim<'w>(&'w Workers);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.searching.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    /// Whether this thread already has a claim: parts of a shard are shared while the shard itself is being
    /// searched.
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

/// A claim of the current thread, which must also drop it.
struct OwnClaim<'w> {
    _claim: Claim<'w>,
}

impl<'w> OwnClaim<'w> {
    fn of(claim: Claim<'w>) -> OwnClaim<'w> {
        IS_COUNTED.set(true);
        OwnClaim { _claim: claim }
    }
}

impl Drop for OwnClaim<'_> {
    fn drop(&mut self) {
        IS_COUNTED.set(false);
    }
}

impl Workers {
    /// A request whose first shards took less time than this continues alone: waking a thread costs about
    /// 10 microseconds.
    pub const WORTH_SHARING: Duration = Duration::from_micros(150);

    /// Starts one thread less than there are `processors`. They help requests that last longer than
    /// `worth_sharing`.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start(processors: usize, worth_sharing: Duration) -> std::io::Result<Workers> {
        let pool = rayon_core::ThreadPoolBuilder::new()
            .num_threads(processors.saturating_sub(1).max(1))
            .thread_name(|number| format!("search_worker-{number}"))
            .stack_size(STACK_BYTES)
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Workers { pool, processors, worth_sharing, searching: AtomicUsize::new(0) })
    }

    /// Returns the claim of a thread that searches in any case.
    fn claim(&self) -> Claim<'_> {
        self.searching.fetch_add(1, Ordering::Relaxed);
        Claim(self)
    }

    /// Returns a claim of this thread, unless it has one already.
    fn own_claim(&self) -> Option<OwnClaim<'_>> {
        (!IS_COUNTED.get()).then(|| OwnClaim::of(self.claim()))
    }

    /// Whether new requests need the processors that helpers use.
    fn is_crowded(&self) -> bool {
        self.searching.load(Ordering::Relaxed) > self.processors
    }

    /// Returns a claim if a processor is idle.
    fn claim_idle(&self) -> Option<Claim<'_>> {
        self.searching
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |searching| {
                (searching < self.processors).then_some(searching + 1)
            })
            .ok()?;
        Some(Claim(self))
    }
}

/// Calls `work` with each number below `count`, in order on this thread; if that takes long, also on idle
/// workers. After a `Break` no further call begins. A panic on a worker is passed on to the caller.
pub(crate) fn for_each(
    workers: Option<&Workers>,
    count: usize,
    work: impl Fn(usize) -> ControlFlow<()> + Sync,
) {
    let next = AtomicUsize::new(0);
    // Returns `false` if nothing was left to do.
    let step = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at < count && work(at).is_break() {
            next.store(count, Ordering::Relaxed);
        }
        at < count
    };
    // In a simulation, no thread may wait for threads outside of it.
    let Some(workers) = workers.filter(|_| !limber_store::sync::is_simulated()) else {
        while step() {}
        return;
    };
    let _own = workers.own_claim();
    let started = Instant::now();
    let mut alone = 0;
    while started.elapsed() < workers.worth_sharing || alone + 1 >= count {
        if !step() {
            return;
        }
        alone += 1;
    }
    let step = &step;
    workers.pool.in_place_scope(|scope| {
        for _ in alone + 1..count {
            let Some(claim) = workers.claim_idle() else { break };
            let (work, uses) = (Work::current(), uses::current());
            scope.spawn(move |_| {
                let _claim = OwnClaim::of(claim);
                let _entered = work.map(Work::enter);
                let _noted = uses::enter(uses);
                while step() {}
            });
        }
        while step() {}
    });
}

/// Calls `work` on this thread and, if that takes long, on idle workers too. All of them take numbers below
/// `count` from the same supply, in order, until none is left. For a worker, the supply also ends as soon
/// as more threads search than there are processors. A panic on a worker is passed on to the caller.
pub(crate) fn share(
    workers: Option<&Workers>,
    count: usize,
    work: impl Fn(&mut dyn FnMut() -> Option<usize>) + Sync,
) {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < count);
    // In a simulation, no thread may wait for threads outside of it.
    let Some(workers) = workers.filter(|_| !limber_store::sync::is_simulated()) else {
        work(&mut || take());
        return;
    };
    let _own = workers.own_claim();
    let started = Instant::now();
    let (work, take) = (&work, &take);
    workers.pool.in_place_scope(|scope| {
        let mut is_alone = true;
        work(&mut || {
            let at = take()?;
            if is_alone && started.elapsed() >= workers.worth_sharing {
                is_alone = false;
                for _ in at + 1..count {
                    let Some(claim) = workers.claim_idle() else { break };
                    let (entered, uses) = (Work::current(), uses::current());
                    scope.spawn(move |_| {
                        let _claim = OwnClaim::of(claim);
                        let _entered = entered.map(Work::enter);
                        let _noted = uses::enter(uses);
                        work(&mut || if workers.is_crowded() { None } else { take() });
                    });
                }
            }
            Some(at)
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use limber_store::sync::Mutex;

    fn calls(workers: Option<&Workers>, count: usize, break_at: usize) -> Vec<usize> {
        let seen = Mutex::new(Vec::new());
        for_each(workers, count, |at| {
            std::thread::sleep(Duration::from_micros(100));
            seen.lock().push(at);
            if at == break_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let mut seen = seen.into_inner();
        seen.sort_unstable();
        seen
    }

    #[test]
    fn every_number_comes_once_with_and_without_workers() {
        let workers = Workers::start(4, Duration::ZERO).expect("threads start");
        for workers in [None, Some(&workers)] {
            for count in [0, 1, 2, 7, 40] {
                assert_eq!(calls(workers, count, usize::MAX), (0..count).collect::<Vec<_>>());
            }
        }
        assert_eq!(workers.searching.load(Ordering::Relaxed), 0, "all claims are given back");
    }

    #[test]
    fn nothing_begins_after_a_break() {
        let workers = Workers::start(2, Duration::ZERO).expect("threads start");
        assert!(calls(Some(&workers), 1000, 5).len() < 20);
        assert_eq!(calls(None, 1000, 5).len(), 6);
    }

    #[test]
    fn shared_numbers_come_once() {
        let workers = Workers::start(4, Duration::ZERO).expect("threads start");
        for workers in [None, Some(&workers)] {
            for count in [0, 1, 2, 7, 40] {
                let seen = Mutex::new(Vec::new());
                share(workers, count, |next| {
                    while let Some(at) = next() {
                        std::thread::sleep(Duration::from_micros(100));
                        seen.lock().push(at);
                    }
                });
                let mut seen = seen.into_inner();
                seen.sort_unstable();
                assert_eq!(seen, (0..count).collect::<Vec<_>>());
            }
        }
        assert_eq!(workers.searching.load(Ordering::Relaxed), 0, "all claims are given back");
    }

    #[test]
    fn a_busy_machine_lends_no_worker() {
        let workers = Workers::start(2, Duration::ZERO).expect("threads start");
        let _others = [workers.claim(), workers.claim()];
        let here = std::thread::current().id();
        for_each(Some(&workers), 10, |_| {
            std::thread::sleep(Duration::from_micros(100));
            assert_eq!(std::thread::current().id(), here);
            ControlFlow::Continue(())
        });
    }
}
