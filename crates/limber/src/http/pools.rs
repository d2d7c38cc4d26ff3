//! Bounded thread pools: where handlers run, and when a request is turned away instead.
//!
//! Names and queue sizes are Elasticsearch's (`write`, `search`, `get`, `management`, ...). A full queue answers
//! `es_rejected_execution_exception` (429). A panic in a job ends that job only.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};

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

pub struct Pool {
    name: &'static str,
    threads: usize,
    queue_size: usize,
    shared: Arc<Shared>,
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    active: AtomicUsize,
    largest: AtomicUsize,
    completed: AtomicU64,
    rejected: AtomicU64,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Pool {
    /// Starts `threads` threads. `queue_size` counts waiting jobs only.
    pub fn start(name: &'static str, threads: usize, queue_size: usize) -> std::io::Result<Pool> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue::default()),
            wake: Condvar::new(),
            active: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
            completed: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
        });
        for number in 0..threads {
            let shared = shared.clone();
            std::thread::Builder::new().name(format!("{name}-{number}")).spawn(move || shared.work())?;
        }
        Ok(Pool { name, threads, queue_size, shared })
    }

    /// Queues `job`; `false` when the queue is full.
    pub fn submit(&self, job: Job) -> bool {
        let mut queue = self.shared.queue.lock();
        if queue.closed || queue.jobs.len() >= self.queue_size {
            self.shared.rejected.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.shared.wake.notify_one();
        true
    }

    pub fn stats(&self) -> PoolStats {
        PoolStats {
            name: self.name,
            threads: self.threads,
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

impl Shared {
    fn work(&self) {
        loop {
            let mut queue = self.queue.lock();
            let job = loop {
                if let Some(job) = queue.jobs.pop_front() {
                    break job;
                }
                if queue.closed {
                    return;
                }
                self.wake.wait(&mut queue);
            };
            drop(queue);
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
        assert!(pool.submit(Box::new(move || {
            started.send(()).expect("receiver lives");
            wait.recv().expect("sender lives");
            panic!("on purpose");
        })));
        has_started.recv().expect("job runs");
        assert!(pool.submit(Box::new(move || done.send(7).expect("receiver lives"))));
        assert!(!pool.submit(Box::new(|| {})), "queue of one is full");
        release.send(()).expect("job waits");
        assert_eq!(finished.recv(), Ok(7));
        assert_eq!(pool.stats().rejected, 1);
    }
}
