//! Bounded thread pools: where handlers run, and when a request is rejected instead.
//!
//! Names and queue sizes are Elasticsearch's (`write`, `search`, `get`, `management`, ...). When the queue is
//! full, the response is `es_rejected_execution_exception` (429). A panic in a job ends only that job. While
//! a job waits for the disk, another one runs on a thread that is started for it, so that requests share an
//! fsync and no core is idle meanwhile.
//!
//! Waking a thread takes longer than many searches. So while every processor has a job that has only just
//! begun, the next job waits for one of these threads, and [`Late`] wakes another one if they take longer.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use limber_work::{ThreadOwner, set_thread_owner};
use parking_lot::{Condvar, Mutex};

use super::late::{Late, Look};
use super::queue::{self, Flow, Pushed, Shares};

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

/// A fixed number of threads with a bounded queue.
pub struct Pool {
    queue_size: usize,
    shared: Arc<Shared>,
}

/// Maximum number of jobs that wait for the disk and let others run, so that the number of threads stays
/// bounded. There are three times as many threads besides, so that one flow may use all processors.
const WAITING_JOBS_MAX: usize = 256;
/// An additional thread ends after it had nothing to do for this long.
const SPARE_THREAD_IDLE: Duration = Duration::from_secs(10);

/// A job that has run for less time than this is expected to end before another thread would have woken up.
const SHORT: Duration = Duration::from_micros(300);

/// Address space of a thread's stack; only the used part takes memory. Aggregations and queries at the
/// maximum nesting depth need 2 MiB in unoptimised builds.
const STACK_BYTES: usize = 8 << 20;

/// Returns the maximum number of threads of a pool that runs `threads` jobs at a time.
fn workers_max(threads: usize) -> usize {
    3 * threads + WAITING_JOBS_MAX
}

struct Shared {
    name: &'static str,
    /// Maximum number of running jobs, not counting those that wait for the disk.
    threads: usize,
    processors: usize,
    late: Arc<Late>,
    queue: Mutex<Queue>,
    wake: Condvar,
    active: AtomicUsize,
    largest: AtomicUsize,
    completed: AtomicU64,
    rejected: AtomicU64,
}

struct Queue {
    jobs: queue::Queue<Job>,
    shares: Shares,
    /// Jobs that use a CPU. May be one more than `threads` when a job continues after waiting.
    running: usize,
    /// The threads of jobs that use a CPU and have not waited yet, and when they began.
    begun: Vec<(usize, Instant)>,
    /// The number of threads, of those that sleep, and of those that were woken or started but have not
    /// looked for a job yet.
    workers: usize,
    idle: usize,
    woken: usize,
    /// How many threads have been started so far.
    started: usize,
    closed: bool,
}

impl Pool {
    /// Starts `threads` threads for a machine with `processors`. `queue_size` only counts waiting jobs.
    pub fn start(
        name: &'static str,
        threads: usize,
        queue_size: usize,
        processors: usize,
        late: Arc<Late>,
    ) -> std::io::Result<Pool> {
        let shared = Arc::new(Shared {
            name,
            threads,
            processors,
            late,
            queue: Mutex::new(Queue::new(workers_max(threads))),
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

    /// Queues `job` with others of its flow. Returns `false` if the queue is full. A job that loses its
    /// position to another flow is dropped.
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

    /// Notes that a job of a flow is long and runs beside others, until the guard is dropped.
    pub fn begin_long(&self, flow: Flow) -> LongJob {
        self.shared.queue.lock().shares.begin_long(flow);
        LongJob { shared: self.shared.clone(), flow }
    }

    /// Whether jobs are dropped because the server is stopping.
    pub fn is_closed(&self) -> bool {
        self.shared.queue.lock().closed
    }

    /// Returns the current counters, for `_nodes/stats/thread_pool`.
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
        let mut queue = self.shared.queue.lock();
        queue.closed = true;
        let notified = self.shared.wake.notify_all();
        queue.idle -= notified;
        queue.woken += notified;
    }
}

/// A job that is long and runs beside others. See [`Pool::begin_long`].
pub struct LongJob {
    shared: Arc<Shared>,
    flow: Flow,
}

impl Drop for LongJob {
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.shares.end_long(self.flow);
        self.shared.let_one_run(&mut queue);
    }
}

/// Receives notifications from the thread of a pool with this number.
struct Owner(Arc<Shared>, usize);

impl ThreadOwner for Owner {
    fn begin_wait(&self) {
        let mut queue = self.0.queue.lock();
        queue.running -= 1;
        queue.forget_begin(self.1);
        self.0.let_one_run(&mut queue);
    }

    fn end_wait(&self) {
        self.0.queue.lock().running += 1;
    }
}

impl Queue {
    fn new(begun_max: usize) -> Queue {
        Queue {
            jobs: queue::Queue::default(),
            shares: Shares::new(begun_max),
            running: 0,
            begun: Vec::new(),
            workers: 0,
            idle: 0,
            woken: 0,
            started: 0,
            closed: false,
        }
    }

    /// How many of the running jobs began so recently that they may end at any moment.
    fn short_count(&self) -> usize {
        self.begun.iter().filter(|(_, begun)| begun.elapsed() < SHORT).count()
    }

    /// Whether a job waits that may run.
    fn has_next(&self) -> bool {
        self.jobs.has(&self.shares)
    }

    fn next_job(&mut self) -> Option<(Flow, Job)> {
        let (flow, job) = self.jobs.pop(&self.shares)?;
        self.shares.begin(flow);
        Some((flow, job))
    }

    fn forget_begin(&mut self, thread: usize) {
        self.begun.retain(|(other, _)| *other != thread);
    }
}

impl Look for Shared {
    fn look(self: Arc<Self>) -> bool {
        let mut queue = self.queue.lock();
        self.let_one_run(&mut queue);
        queue.has_next()
    }
}

impl Shared {
    /// Makes a thread take the next job, if one may run and none is about to take it anyway.
    fn let_one_run(self: &Arc<Self>, queue: &mut Queue) {
        if queue.running + queue.woken >= self.threads || !queue.has_next() {
            return;
        }
        if queue.running + queue.woken >= self.processors
            && queue.woken + queue.short_count() >= self.processors
        {
            self.late.watch();
            return;
        }
        if queue.idle > 0 {
            // If no thread was notified, the time of the idle ones has just run out: they are awake, and take
            // the job themselves.
            if self.wake.notify_one() {
                queue.idle -= 1;
                queue.woken += 1;
            }
        } else if queue.workers < workers_max(self.threads)
            && let Err(error) = self.start_worker(queue)
        {
            // The job runs as soon as another thread is free.
            tracing::warn!(%error, pool = self.name, "a further thread does not start");
        }
    }

    fn start_worker(self: &Arc<Self>, queue: &mut Queue) -> std::io::Result<()> {
        let (shared, number) = (self.clone(), queue.started);
        let name = format!("{}-{number}", self.name);
        std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || shared.work(number))?;
        queue.workers += 1;
        queue.started += 1;
        queue.woken += 1;
        Ok(())
    }

    /// The loop of the thread with this number.
    fn work(self: Arc<Self>, number: usize) {
        set_thread_owner(Arc::new(Owner(self.clone(), number)));
        let mut queue = self.queue.lock();
        queue.woken -= 1;
        loop {
            if queue.running < self.threads
                && let Some((flow, job)) = queue.next_job()
            {
                queue.running += 1;
                queue.begun.push((number, Instant::now()));
                // Several jobs may have relied on this thread while it was starting.
                self.let_one_run(&mut queue);
                drop(queue);
                self.run(job);
                queue = self.queue.lock();
                queue.running -= 1;
                queue.shares.end(flow);
                queue.forget_begin(number);
                continue;
            }
            if queue.closed {
                return;
            }
            queue.idle += 1;
            // Whoever notifies this thread counts it as woken.
            let timed_out = self.wake.wait_for(&mut queue, SPARE_THREAD_IDLE).timed_out();
            match timed_out {
                true => queue.idle -= 1,
                false => queue.woken -= 1,
            }
            if timed_out && queue.workers > self.threads && queue.jobs.is_empty() {
                queue.workers -= 1;
                return;
            }
        }
    }

    fn run(&self, job: Job) {
        let active = self.active.fetch_add(1, Ordering::Relaxed) + 1;
        self.largest.fetch_max(active, Ordering::Relaxed);
        // A job handles its own panic. This keeps the thread alive if that handling panics.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        if outcome.is_err() {
            tracing::error!(pool = std::thread::current().name(), "a job panicked past its own handler");
        }
        self.active.fetch_sub(1, Ordering::Relaxed);
        self.completed.fetch_add(1, Ordering::Relaxed);
    }
}

/// The pool that a route runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolName {
    /// Bulk and single-document writes: one thread per core, queue 10,000.
    Write,
    /// Searches: `cores * 3 / 2 + 1` threads, queue 1,000.
    Search,
    /// Gets: one thread per core, queue 1,000.
    Get,
    /// Everything that inspects or administers, including refreshes: up to 8 threads.
    Management,
    /// Creates, opens, closes and deletes indices: opening one may replay a translog.
    Generic,
    Flush,
    /// One at a time, because a force merge uses the whole disk bandwidth.
    ForceMerge,
}

/// All pools, under Elasticsearch's names.
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
    /// Starts the pools for `cores` processors; the sizes of their queues are Elasticsearch's.
    pub fn start(cores: usize) -> std::io::Result<Pools> {
        let late = Arc::new(Late::default());
        let start = |name, threads, queue_size| Pool::start(name, threads, queue_size, cores, late.clone());
        let pools = Pools {
            write: start("write", cores, 10_000)?,
            search: start("search", cores * 3 / 2 + 1, 1_000)?,
            get: start("get", cores, 1_000)?,
            management: start("management", (cores + 3).min(8), 10_000)?,
            generic: start("generic", 4, 10_000)?,
            flush: start("flush", cores.div_ceil(2).clamp(1, 5), 10_000)?,
            force_merge: start("force_merge", 1, 10_000)?,
        };
        late.start(pools.all().map(|pool| Arc::downgrade(&pool.shared) as Weak<dyn Look>).to_vec())?;
        Ok(pools)
    }

    /// Returns the pool with this name.
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

    /// Returns the counters of all pools, sorted by name.
    pub fn stats(&self) -> [PoolStats; 7] {
        self.all().map(Pool::stats)
    }

    /// Returns all pools, sorted by name.
    fn all(&self) -> [&Pool; 7] {
        let Pools { write, search, get, management, generic, flush, force_merge } = self;
        [flush, force_merge, generic, get, management, search, write]
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::FLOW_LONG_MAX;
    use super::*;
    use std::sync::mpsc;

    /// The only flow of a client.
    fn flow(client: u64) -> Flow {
        Flow { client, kind: 0 }
    }

    /// A pool of a machine with as many processors as the pool has threads.
    fn pool(threads: usize, queue_size: usize) -> Pool {
        Pool::start("write", threads, queue_size, threads, Arc::default()).expect("threads start")
    }

    #[test]
    fn a_full_queue_rejects_and_a_panic_does_not_end_the_thread() {
        let pool = pool(1, 1);
        let (release, wait) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        let (started, has_started) = mpsc::channel();
        assert!(pool.submit(
            flow(1),
            Box::new(move || {
                started.send(()).expect("receiver lives");
                wait.recv().expect("sender lives");
                panic!("on purpose");
            })
        ));
        has_started.recv().expect("job runs");
        assert!(pool.submit(flow(1), Box::new(move || done.send(7).expect("receiver lives"))));
        assert!(!pool.submit(flow(1), Box::new(|| {})), "queue of one is full");
        release.send(()).expect("job waits");
        assert_eq!(finished.recv(), Ok(7));
        assert_eq!(pool.stats().rejected, 1);
    }

    #[test]
    fn a_job_does_not_wait_for_a_long_one_while_there_are_threads() {
        let pools = Pools::start(1).expect("threads start");
        for _ in 0..3 {
            let (release, wait) = mpsc::channel::<()>();
            let (done, finished) = mpsc::channel();
            assert!(pools.search.submit(flow(1), Box::new(move || wait.recv().unwrap_or_default())));
            assert!(pools.search.submit(flow(2), Box::new(move || done.send(7).expect("receiver lives"))));
            assert_eq!(finished.recv_timeout(Duration::from_secs(60)), Ok(7));
            drop(release);
        }
    }

    #[test]
    fn a_flow_with_many_long_jobs_leaves_threads_to_others() {
        let pool = pool(1, 10);
        let (done, finished) = mpsc::channel();
        let long: Vec<LongJob> = (0..FLOW_LONG_MAX).map(|_| pool.begin_long(flow(1))).collect();
        for number in [1, 2] {
            let done = done.clone();
            let job = Box::new(move || done.send(number).expect("receiver lives"));
            assert!(pool.submit(flow(number), job));
        }
        assert_eq!(finished.recv(), Ok(2));
        assert!(finished.try_recv().is_err(), "the other flow has as many as it may");
        drop(long);
        assert_eq!(finished.recv(), Ok(1));
    }

    #[test]
    fn a_client_whose_jobs_wait_leaves_threads_to_others() {
        let pool = pool(1, 1_000);
        let (release, wait) = mpsc::channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        let (done, finished) = mpsc::channel();
        for kind in 0..300 {
            let wait = wait.clone();
            let job = move || limber_work::waiting(|| wait.lock().recv().unwrap_or_default());
            assert!(pool.submit(Flow { client: 1, kind }, Box::new(job)));
        }
        assert!(pool.submit(flow(2), Box::new(move || done.send(2).expect("receiver lives"))));
        assert_eq!(finished.recv_timeout(Duration::from_secs(60)), Ok(2));
        drop(release);
    }

    #[test]
    fn another_job_runs_while_one_waits() {
        let pool = pool(1, 10);
        let owner = Owner(pool.shared.clone(), 0);
        let (resume, wait) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        let first_done = done.clone();
        assert!(pool.submit(
            flow(1),
            Box::new(move || {
                owner.begin_wait();
                wait.recv().expect("sender lives");
                owner.end_wait();
                first_done.send(1).expect("receiver lives");
            })
        ));
        for number in [2, 3] {
            let done = done.clone();
            assert!(pool.submit(flow(1), Box::new(move || done.send(number).expect("receiver lives"))));
            assert_eq!(finished.recv(), Ok(number));
        }
        resume.send(()).expect("job waits");
        assert_eq!(finished.recv(), Ok(1));
        let queue = pool.shared.queue.lock();
        assert!(queue.workers == 2 && queue.started == 2, "one thread more, and no further");
    }

    #[test]
    fn another_job_runs_while_one_waits_for_a_lock() {
        let pool = pool(1, 10);
        let lock = Arc::new(limber_store::sync::Mutex::new(()));
        let shared = Arc::new(limber_store::sync::RwLock::new(()));
        let (done, finished) = mpsc::channel();
        let (held, read) = (lock.lock(), shared.read());
        let (locked, written, first, second) = (lock.clone(), shared.clone(), done.clone(), done.clone());
        let waits: [Box<dyn FnOnce() + Send>; 3] = [
            Box::new(move || {
                drop(locked.lock());
                first.send(1).expect("receiver lives");
            }),
            Box::new(move || {
                drop(written.write());
                second.send(2).expect("receiver lives");
            }),
            Box::new(move || done.send(3).expect("receiver lives")),
        ];
        waits.into_iter().for_each(|job| assert!(pool.submit(flow(1), job)));
        assert_eq!(finished.recv(), Ok(3));
        drop(read);
        assert_eq!(finished.recv(), Ok(2));
        drop(held);
        assert_eq!(finished.recv(), Ok(1));
    }
}
