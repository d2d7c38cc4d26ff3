//! Whether the load generator itself was the limit.
//!
//! Each worker thread runs its clients on one core. A worker that is always busy sends late, and then its own
//! time looks like the server's. The processor time of a thread comes from the kernel's clock, which costs
//! two system calls per step.

use std::time::{Duration, Instant};

/// What one worker used during one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WorkerUse {
    pub wall: Duration,
    /// `None` where the system does not report it.
    pub cpu: Option<Duration>,
}

/// Runs from the start of a worker's load to its end. It must be stopped on the thread that started it.
pub(crate) struct WorkerClock {
    started: Instant,
    cpu: Option<Duration>,
}

impl WorkerClock {
    pub(crate) fn start() -> WorkerClock {
        WorkerClock { started: Instant::now(), cpu: thread_time() }
    }

    pub(crate) fn stop(self) -> WorkerUse {
        let cpu = thread_time().zip(self.cpu).map(|(now, then)| now.saturating_sub(then));
        WorkerUse { wall: self.started.elapsed(), cpu }
    }
}

/// All workers of one step together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct GeneratorUse {
    pub workers_count: usize,
    pub wall_s: f64,
    /// Processor time of all workers.
    pub cpu_s: f64,
    /// Share of one core that the busiest worker used, in [0, 1].
    pub busiest_worker_share: f64,
}

impl GeneratorUse {
    pub(crate) fn of(workers: &[WorkerUse]) -> GeneratorUse {
        let cpu_s = |worker: &WorkerUse| worker.cpu.map_or(0.0, |cpu| cpu.as_secs_f64());
        let share = |worker: &WorkerUse| match worker.wall.as_secs_f64() {
            wall_s if wall_s > 0.0 => (cpu_s(worker) / wall_s).min(1.0),
            _ => 0.0,
        };
        GeneratorUse {
            workers_count: workers.len(),
            wall_s: workers.iter().map(|worker| worker.wall.as_secs_f64()).fold(0.0, f64::max),
            cpu_s: workers.iter().map(cpu_s).sum(),
            busiest_worker_share: workers.iter().map(share).fold(0.0, f64::max),
        }
    }
}

/// Returns the time that the calling thread has had a processor; `None` if the system does not tell.
pub fn thread_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid location for the result and outlives the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
    (result == 0).then(|| Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_worker_decides() {
        let worker = |cpu_ms: u64| WorkerUse {
            wall: Duration::from_millis(1000),
            cpu: Some(Duration::from_millis(cpu_ms)),
        };
        let load = GeneratorUse::of(&[worker(100), worker(900)]);
        assert_eq!((load.workers_count, load.cpu_s, load.busiest_worker_share), (2, 1.0, 0.9));
        assert_eq!(GeneratorUse::of(&[]), GeneratorUse::default());
    }

    #[test]
    fn a_thread_knows_its_own_time() {
        let clock = WorkerClock::start();
        let mut sum = 0u64;
        while clock.started.elapsed() < Duration::from_millis(5) {
            sum = std::hint::black_box(sum + 1);
        }
        let used = clock.stop();
        assert!(
            used.cpu.is_none_or(|cpu| cpu > Duration::ZERO && cpu <= used.wall + Duration::from_millis(1)),
            "{used:?}"
        );
    }
}
