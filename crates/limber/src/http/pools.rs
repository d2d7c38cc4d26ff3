//! Bounded thread pools: where handlers run, and when a request is turned away instead.
//!
//! Names and queue sizes are Elasticsearch's (`write`, `search`, `get`, `management`, ...). A full queue
//! answers `es_rejected_execution_exception` (429). A panic in a job ends that job only. While a job waits
//! for the disk another one runs, on a thread that is started for it: requests share an fsync, and no core
//! stands still for one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use limber_engine::{ThreadOwner, set_thread_owner};
use parking_lot::{Condvar, Mutex};

use super::queue::{self, Flow, Pushed};

type Job = Box<dyn FnOnce() + Send>;

/// Counters as `_nodes/stats/thread_pool` reports them.
#[derive(Debug, Clone, Copy)]
pub struct PoolStats {
    pub name: &'static str,
    pub threads: usize,
    pub queue: usize,
    pub queue_size: usize,
    pub active: usize,
    pub rejected: u64,
    pub largest: usize,
    pub completed: u64,
}

/// A number of threads with a bounded queue.
pub struct Pool {
    queue_size: usize,
    shared: Arc<Shared>,
}

/// Jobs that wait for the disk let others run; at most this many at a time, so that the number of threads
/// stays bounded.
const WAITING_JOBS_MAX: usize = 256;
/// A thread beyond the pool's number ends when it had nothing to do for this long.
const SPARE_THREAD_IDLE: Duration = Duration::from_secs(10);

/// Address space of a thread's stack, of which what is used is memory. Aggregations and queries that are
/// nested as deeply as is allowed need 2 MiB in unoptimised code.
const STACK_BYTES: usize = 8 << 20;

struct Shared {
    name: &'static str,
    /// Jobs that may run at a time, waiting ones not counted.
    threads: usize,
    queue: Mutex<Queue>,
    wake: Condvar,
    active: AtomicUsize,
    largest: AtomicUsize,
    completed: AtomicU64,
    rejected: AtomicU64,
}

#[derive(Default)]
struct Queue {
    jobs: queue::Queue<Job>,
    /// Jobs that use a processor. One more than `threads` when a job goes on after waiting.
    running: usize,
    /// Threads, and those of them without a job, on their way to one included.
    workers: usize,
    idle: usize,
    started: usize,
    closed: bool,
}

impl Pool {
    /// Starts `threads` threads. `queue_size` counts waiting jobs only.
    pub fn start(name: &'static str, threads: usize, queue_size: usize) -> std::io::Result<Pool> {
        let shared = Arc::new(Shared {
            name,
            threads,
            queue: Mutex::new(Queue::default()),
            wake: Condvar::new(),
            active: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
            completed: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
        });
        for _ in 0..threads {
            shared.start_worker(&mut shared.queue.lock())?;
        }
        Ok(Pool { queue_size, shared })
    }

    /// Queues `job` with others of its flow; `false` when the queue is full. A job that loses its place to
    /// another flow is dropped.
    pub fn submit(&self, flow: Flow, job: Job) -> bool {
        let mut queue = self.shared.queue.lock();
        let pushed = match queue.closed {
            true => Pushed::Full,
            false => queue.jobs.push(flow, job, self.queue_size),
        };
        if !matches!(pushed, Pushed::Waits) {
            self.shared.rejected.fetch_add(1, Ordering::Relaxed);
        }
        let is_queued = !matches!(pushed, Pushed::Full);
        if is_queued {
            self.shared.let_one_run(&mut queue);
        }
        drop(queue);
        is_queued
    }

    /// Whether jobs are dropped because the server stops.
    pub fn is_closed(&self) -> bool {
        self.shared.queue.lock().closed
    }

    /// The numbers of now, for `_nodes/stats/thread_pool`.
    pub fn stats(&self) -> PoolStats {
        PoolStats {
            name: self.shared.name,
            threads: self.shared.threads,
            queue: self.shared.queue.lock().jobs.len(),
            queue_size: self.queue_size,
            active: self.shared.active.load(Ordering::Relaxed),
            rejected: self.shared.rejected.load(Ordering::Relaxed),
            largest: self.shared.largest.load(Ordering::Relaxed),
            completed: self.shared.completed.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.queue.lock().closed = true;
        self.shared.wake.notify_all();
    }
}

/// What a pool's threads tell it.
struct Owner(Arc<Shared>);

impl ThreadOwner for Owner {
    fn begin_wait(&self) {
        let mut queue = self.0.queue.lock();
        queue.running -= 1;
        self.0.let_one_run(&mut queue);
    }

    fn end_wait(&self) {
        self.0.queue.lock().running += 1;
    }
}

impl Shared {
    /// Sees to it that a thread takes the next job, if one may run.
    fn let_one_run(self: &Arc<Self>, queue: &mut Queue) {
        if queue.jobs.is_empty() || queue.running >= self.threads {
            return;
        }
        if queue.idle > 0 {
            self.wake.notify_one();
        } else if queue.workers < self.threads + WAITING_JOBS_MAX
            && let Err(error) = self.start_worker(queue)
        {
            // The job runs as soon as another thread is free.
            tracing::warn!(%error, pool = self.name, "a further thread does not start");
        }
    }

    fn start_worker(self: &Arc<Self>, queue: &mut Queue) -> std::io::Result<()> {
        let shared = self.clone();
        let name = format!("{}-{}", self.name, queue.started);
        std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || shared.work())?;
        queue.workers += 1;
        queue.started += 1;
        // Until it has the queue and looks for a job.
        queue.idle += 1;
        Ok(())
    }

    fn work(self: Arc<Self>) {
        set_thread_owner(Arc::new(Owner(self.clone())));
        let mut queue = self.queue.lock();
        queue.idle -= 1;
        loop {
            if queue.running < self.threads
                && let Some(job) = queue.jobs.pop()
            {
                queue.running += 1;
                // Several jobs may have counted on this thread while it was on its way.
                self.let_one_run(&mut queue);
                drop(queue);
                self.run(job);
                queue = self.queue.lock();
                queue.running -= 1;
                continue;
            }
            if queue.closed {
                return;
            }
            queue.idle += 1;
            let slept = self.wake.wait_for(&mut queue, SPARE_THREAD_IDLE);
            queue.idle -= 1;
            if slept.timed_out() && queue.workers > self.threads && queue.jobs.is_empty() {
                queue.workers -= 1;
                return;
            }
        }
    }

    fn run(&self, job: Job) {
        let active = self.active.fetch_add(1, Ordering::Relaxed) + 1;
        self.largest.fetch_max(active, Ordering::Relaxed);
        // The job answers its own panic; this keeps the thread alive should the answer itself panic.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        if outcome.is_err() {
            tracing::error!(pool = std::thread::current().name(), "a job panicked past its own handler");
        }
        self.active.fetch_sub(1, Ordering::Relaxed);
        self.completed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Which pool a route runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolName {
    /// Bulk and single document writes: one thread a core, queue 10,000.
    Write,
    /// Searches: `cores * 3 / 2 + 1` threads, queue 1,000.
    Search,
    /// Gets: one thread a core, queue 1,000.
    Get,
    /// Everything that inspects or administers, refresh included: up to 8 threads.
    Management,
    /// Creates, opens, closes and deletes indices: opening one may replay a translog.
    Generic,
    Flush,
    /// One at a time: a merge of everything takes the disk to itself.
    ForceMerge,
}

/// All pools, each with Elasticsearch's name.
pub struct Pools {
    pub write: Pool,
    pub search: Pool,
    pub get: Pool,
    pub management: Pool,
    pub generic: Pool,
    pub flush: Pool,
    pub force_merge: Pool,
}

impl Pools {
    /// Sizes by Elasticsearch's rules for `cores` processors.
    pub fn start(cores: usize) -> std::io::Result<Pools> {
        Ok(Pools {
            write: Pool::start("write", cores, 10_000)?,
            search: Pool::start("search", cores * 3 / 2 + 1, 1_000)?,
            get: Pool::start("get", cores, 1_000)?,
            management: Pool::start("management", (cores + 3).min(8), 10_000)?,
            generic: Pool::start("generic", 4, 10_000)?,
            flush: Pool::start("flush", cores.div_ceil(2).clamp(1, 5), 10_000)?,
            force_merge: Pool::start("force_merge", 1, 10_000)?,
        })
    }

    /// The pool of this name.
    pub fn get(&self, name: PoolName) -> &Pool {
        match name {
            PoolName::Write => &self.write,
            PoolName::Search => &self.search,
            PoolName::Get => &self.get,
            PoolName::Management => &self.management,
            PoolName::Generic => &self.generic,
            PoolName::Flush => &self.flush,
            PoolName::ForceMerge => &self.force_merge,
        }
    }

    /// By name.
    pub fn stats(&self) -> [PoolStats; 7] {
        let Pools { write, search, get, management, generic, flush, force_merge } = self;
        [flush, force_merge, generic, get, management, search, write].map(Pool::stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_full_queue_rejects_and_a_panic_does_not_end_the_thread() {
        let pool = Pool::start("write", 1, 1).expect("threads start");
        let (release, wait) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        let (started, has_started) = mpsc::channel();
        assert!(pool.submit(
            Flow(1),
            Box::new(move || {
                started.send(()).expect("receiver lives");
                wait.recv().expect("sender lives");
                panic!("on purpose");
            })
        ));
        has_started.recv().expect("job runs");
        assert!(pool.submit(Flow(1), Box::new(move || done.send(7).expect("receiver lives"))));
        assert!(!pool.submit(Flow(1), Box::new(|| {})), "queue of one is full");
        release.send(()).expect("job waits");
        assert_eq!(finished.recv(), Ok(7));
        assert_eq!(pool.stats().rejected, 1);
    }

    #[test]
    fn another_job_runs_while_one_waits() {
        let pool = Pool::start("write", 1, 10).expect("threads start");
        let owner = Owner(pool.shared.clone());
        let (resume, wait) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        let first_done = done.clone();
        assert!(pool.submit(
            Flow(1),
            Box::new(move || {
                owner.begin_wait();
                wait.recv().expect("sender lives");
                owner.end_wait();
                first_done.send(1).expect("receiver lives");
            })
        ));
        for number in [2, 3] {
            let done = done.clone();
            assert!(pool.submit(Flow(1), Box::new(move || done.send(number).expect("receiver lives"))));
            assert_eq!(finished.recv(), Ok(number));
        }
        resume.send(()).expect("job waits");
        assert_eq!(finished.recv(), Ok(1));
        let queue = pool.shared.queue.lock();
        assert!(queue.workers == 2 && queue.started == 2, "one thread more, and no further");
    }
}
