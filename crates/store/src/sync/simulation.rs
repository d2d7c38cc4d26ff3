//! The scheduler: real threads, of which exactly one has the turn.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::schedule::{Chooser, Schedule};
use super::thread;

/// Maximum number of trace lines that are kept.
const TRACE_LINES_MAX: usize = 4000;
/// Seconds after which a thread that reaches no scheduling point counts as stuck.
const STUCK_SECONDS: u32 = 120;

/// Why a thread does not run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Status {
    Ready,
    /// Retries once another thread has made progress since the last attempt (`tried_at`).
    Waiting {
        what: &'static str,
        tried_at: u64,
        is_first: bool,
    },
    /// `until` is in nanoseconds; [`u64::MAX`] means forever.
    Condition {
        condvar: usize,
        until: u64,
        is_notified: bool,
    },
    Sleeping {
        until: u64,
    },
    Ended,
}

struct Thread {
    name: String,
    /// Notified when the thread gets the turn.
    turn: Arc<Condvar>,
    status: Status,
    location: &'static Location<'static>,
    /// The address that the thread waits to write.
    writes: Option<usize>,
    panic: Option<String>,
}

struct State {
    threads: Vec<Thread>,
    /// The thread that has the turn; `None` before the first and after the last.
    running: Option<usize>,
    chooser: Chooser,
    schedule: Schedule,
    now_nanos: u64,
    /// Counts the steps that may let a waiting thread continue.
    progress: u64,
    steps: u64,
    steps_max: u64,
    hash: u64,
    trace: Option<VecDeque<String>>,
    failure: Option<String>,
    is_over: bool,
    handles: Vec<JoinHandle<()>>,
}

pub(super) struct Shared {
    state: Mutex<State>,
    over: Condvar,
}

/// A run that did not end by itself.
#[derive(Debug)]
pub struct SimulationFailure {
    /// What happened, which threads wait where, and the trace if there is one.
    pub report: String,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct SimulationEnd {
    /// Hash of all steps; equal runs have equal hashes.
    pub hash: u64,
    /// Number of scheduling points passed.
    pub steps: u64,
    /// Time on the simulation's clock at the end.
    pub now_nanos: u64,
    /// Name and message of each thread that panicked.
    pub panics: Vec<(String, String)>,
    /// The last lines of the trace; empty unless [`Simulation::trace`] was called.
    pub trace: Vec<String>,
}

type Run = Box<dyn FnOnce() + Send>;

/// Threads to run under one schedule.
pub struct Simulation {
    schedule: Schedule,
    threads: Vec<(String, Run)>,
    steps_max: u64,
    is_traced: bool,
    begun_nanos: u64,
}

impl Simulation {
    /// Creates a simulation without threads, whose clock starts at 0.
    pub fn new(schedule: Schedule) -> Simulation {
        Simulation { schedule, threads: Vec::new(), steps_max: 2_000_000, is_traced: false, begun_nanos: 0 }
    }

    /// Adds a thread that executes `run` when the simulation runs.
    pub fn thread(&mut self, name: &str, run: impl FnOnce() + Send + 'static) {
        self.threads.push((name.to_owned(), Box::new(run)));
    }

    /// Sets the number of steps after which a run counts as endless. The default is 2,000,000.
    pub fn set_steps_max(&mut self, steps_max: u64) {
        self.steps_max = steps_max;
    }

    /// Sets the initial time of the simulation's clock.
    pub fn set_begun_nanos(&mut self, begun_nanos: u64) {
        self.begun_nanos = begun_nanos;
    }

    /// Keeps the last [`TRACE_LINES_MAX`] lines of a trace.
    pub fn trace(&mut self) {
        self.is_traced = true;
    }

    /// Runs all threads until they end.
    ///
    /// # Errors
    /// Fails if all threads wait for each other, or if the run does not end. The threads are then left
    /// behind.
    pub fn run(self) -> Result<SimulationEnd, Box<SimulationFailure>> {
        let shared = Arc::new(self.shared());
        for (name, run) in self.threads {
            if let Err(error) = shared.spawn(&name, run) {
                return Err(Box::new(SimulationFailure { report: error.to_string() }));
            }
        }
        shared.begin();
        let end = shared.wait_for_end()?;
        let handles = std::mem::take(&mut shared.state.lock().handles);
        for handle in handles {
            let _ = handle.join();
        }
        Ok(end)
    }

    fn shared(&self) -> Shared {
        let state = State {
            chooser: Chooser::new(&self.schedule),
            threads: Vec::new(),
            running: None,
            schedule: self.schedule,
            now_nanos: self.begun_nanos,
            progress: 1,
            steps: 0,
            steps_max: self.steps_max,
            hash: 0xcbf2_9ce4_8422_2325,
            trace: self.is_traced.then(VecDeque::new),
            failure: None,
            is_over: false,
            handles: Vec::new(),
        };
        Shared { state: Mutex::new(state), over: Condvar::new() }
    }
}

impl Shared {
    fn begin(&self) {
        let mut state = self.state.lock();
        self.hand_over(&mut state, None);
    }

    /// Adds a thread, even to a running simulation; it runs when it is chosen.
    pub fn spawn(self: &Arc<Self>, name: &str, run: Run) -> std::io::Result<()> {
        let mut state = self.state.lock();
        let number = state.threads.len();
        let shared = self.clone();
        let start = move || thread::enter(shared.clone(), number, || shared.live(number, run));
        let handle = std::thread::Builder::new().name(name.to_owned()).spawn(start)?;
        state.handles.push(handle);
        state.chooser.add_thread();
        state.threads.push(Thread {
            name: name.to_owned(),
            turn: Arc::default(),
            status: Status::Ready,
            location: Location::caller(),
            writes: None,
            panic: None,
        });
        Ok(())
    }

    /// Runs a thread: waits for its first turn, runs it, and gives up the turn for good.
    fn live(&self, number: usize, run: Run) {
        let mut state = self.state.lock();
        wait_for_turn(&mut state, number);
        drop(state);
        let outcome = catch_unwind(AssertUnwindSafe(run));
        let mut state = self.state.lock();
        state.threads[number].panic = outcome.err().map(|panic| message_of(&*panic));
        state.threads[number].status = Status::Ended;
        state.progress += 1;
        self.hand_over(&mut state, Some(number));
    }

    /// Ends the thread's turn unless it is chosen again; returns at its next turn.
    pub fn pass(&self, number: usize, status: Status, location: &'static Location<'static>) {
        let mut state = self.state.lock();
        state.step(number, location);
        state.threads[number].location = location;
        state.threads[number].status = match status {
            Status::Waiting { what, is_first, .. } => {
                // Before its first attempt the thread may have done something that helps others; a further
                // failed attempt changes nothing.
                state.progress += u64::from(is_first);
                Status::Waiting { what, is_first, tried_at: state.progress }
            }
            other => {
                state.progress += 1;
                other
            }
        };
        self.hand_over(&mut state, Some(number));
        wait_for_turn(&mut state, number);
        state.threads[number].status = Status::Ready;
    }

    /// Chooses the next thread and wakes it.
    fn hand_over(&self, state: &mut State, from: Option<usize>) {
        let next = if state.failure.is_some() { None } else { state.choose(from) };
        state.running = next;
        match next {
            Some(next) if from == Some(next) => {}
            Some(next) => {
                if state.trace.is_some() {
                    state.note(next, "runs");
                }
                state.threads[next].turn.notify_one();
            }
            None => {
                state.is_over = true;
                self.over.notify_all();
            }
        }
    }

    fn wait_for_end(&self) -> Result<SimulationEnd, Box<SimulationFailure>> {
        let mut state = self.state.lock();
        let (mut steps_before, mut seconds) = (0, 0);
        while !state.is_over {
            self.over.wait_for(&mut state, Duration::from_secs(1));
            seconds = if state.steps == steps_before { seconds + 1 } else { 0 };
            steps_before = state.steps;
            if seconds > STUCK_SECONDS {
                state.failure = Some("a thread blocks outside of the simulation or does not end".to_owned());
                break;
            }
        }
        if let Some(failure) = state.failure.clone() {
            return Err(Box::new(SimulationFailure { report: state.report(&failure) }));
        }
        let panics = state.threads.iter();
        let panics = panics.filter_map(|thread| Some((thread.name.clone(), thread.panic.clone()?))).collect();
        Ok(SimulationEnd {
            hash: state.hash,
            steps: state.steps,
            now_nanos: state.now_nanos,
            panics,
            trace: state.trace.take().into_iter().flatten().collect(),
        })
    }

    /// Returns the time on the simulation's clock.
    pub fn now_nanos(&self) -> u64 {
        self.state.lock().now_nanos
    }

    /// Adds a line about thread `number` to the trace, if one is kept.
    pub fn note(&self, number: usize, text: impl FnOnce() -> String) {
        let mut state = self.state.lock();
        if state.trace.is_some() {
            let text = text();
            state.note(number, &text);
        }
    }

    /// Wakes one or all threads that wait at the condition variable; returns whether there was one.
    pub fn notify(&self, address: usize, all: bool) -> bool {
        let mut state = self.state.lock();
        let waits = |thread: &Thread| matches!(thread.status, Status::Condition { condvar, is_notified: false, .. } if condvar == address);
        let mut waiting: Vec<usize> =
            (0..state.threads.len()).filter(|number| waits(&state.threads[*number])).collect();
        if !all && waiting.len() > 1 {
            let chosen = state.chooser.random.below(waiting.len() as u64) as usize;
            waiting = vec![waiting[chosen]];
        }
        for number in &waiting {
            if let Status::Condition { is_notified, .. } = &mut state.threads[*number].status {
                *is_notified = true;
            }
        }
        !waiting.is_empty()
    }

    /// Whether a thread other than `number` waits to write what is at `address`.
    pub fn does_writer_wait(&self, number: usize, address: usize) -> bool {
        let state = self.state.lock();
        let mut others = state.threads.iter().enumerate().filter(|(other, _)| *other != number);
        others.any(|(_, thread)| thread.writes == Some(address))
    }

    /// Records that thread `number` waits to write what is at `address`, or, with `None`, that it no longer
    /// waits.
    pub fn set_writer_waits(&self, number: usize, address: Option<usize>) {
        self.state.lock().threads[number].writes = address;
    }
}

impl State {
    /// Counts a step: advances the time and adds the thread and the location to the hash of the run.
    fn step(&mut self, number: usize, location: &'static Location<'static>) {
        self.steps += 1;
        if self.steps > self.steps_max && self.failure.is_none() {
            self.failure = Some(format!("does not end: more than {} steps", self.steps_max));
        }
        self.now_nanos += self.chooser.random.below(self.schedule.step_nanos_max) + 1;
        let place = u64::from(location.line()) << 32 | location.file().len() as u64;
        for word in [number as u64, place, self.now_nanos] {
            self.hash = (self.hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
    }

    /// Returns the thread that runs next. `None` if all have ended or, with a failure set, if none can
    /// continue.
    fn choose(&mut self, from: Option<usize>) -> Option<usize> {
        loop {
            let ready: Vec<usize> =
                (0..self.threads.len()).filter(|number| self.can_go_on(*number)).collect();
            if !ready.is_empty() {
                return Some(self.chooser.choose(&ready, from));
            }
            let deadlines = self.threads.iter().filter_map(|thread| match thread.status {
                Status::Sleeping { until } => Some(until),
                Status::Condition { until, .. } if until != u64::MAX => Some(until),
                _ => None,
            });
            match deadlines.min() {
                Some(first) => self.now_nanos = self.now_nanos.max(first),
                None => {
                    let all_ended = self.threads.iter().all(|thread| matches!(thread.status, Status::Ended));
                    if !all_ended {
                        self.failure = Some("deadlock: no thread can go on".to_owned());
                    }
                    return None;
                }
            }
        }
    }

    fn can_go_on(&mut self, number: usize) -> bool {
        match self.threads[number].status {
            Status::Ready => true,
            Status::Waiting { tried_at, .. } => tried_at < self.progress,
            Status::Condition { is_notified: true, .. } => true,
            Status::Condition { until, .. } => {
                let wakes = self.schedule.wakes_without_reason && self.chooser.random.one_in(50);
                wakes || until <= self.now_nanos
            }
            Status::Sleeping { until } => until <= self.now_nanos,
            Status::Ended => false,
        }
    }

    fn note(&mut self, number: usize, text: &str) {
        let line = format!("{:>12} {:<12} {text}", self.now_nanos / 1000, self.threads[number].name);
        if let Some(trace) = &mut self.trace {
            if trace.len() == TRACE_LINES_MAX {
                trace.pop_front();
            }
            trace.push_back(line);
        }
    }

    fn report(&self, failure: &str) -> String {
        let mut report = format!("{failure} (after {} steps)\n", self.steps);
        for (number, thread) in self.threads.iter().enumerate() {
            let status = match thread.status {
                Status::Ready if self.running == Some(number) => "runs since".to_owned(),
                Status::Ready => "could run at".to_owned(),
                Status::Waiting { what, .. } => format!("waits for {what} at"),
                Status::Condition { .. } => "waits to be notified at".to_owned(),
                Status::Sleeping { .. } => "sleeps at".to_owned(),
                Status::Ended => "has ended; last at".to_owned(),
            };
            report += &format!("  {:<12} {status} {}\n", thread.name, thread.location);
        }
        for line in self.trace.iter().flatten() {
            report += line;
            report.push('\n');
        }
        report
    }
}

fn wait_for_turn(state: &mut MutexGuard<'_, State>, number: usize) {
    let turn = state.threads[number].turn.clone();
    while state.running != Some(number) {
        turn.wait(state);
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
