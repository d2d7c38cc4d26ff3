//! Runs a schedule step by step.
//!
//! Before the first request every task is planned, so that a track that cannot run is refused as a whole.
//! Each step then starts one thread per core (at most one per client). A thread runs its clients as tasks on
//! its own runtime, so that only the step's signals are shared while load is generated. The calling thread
//! receives the samples as they come, shows progress, and ends the step when all clients have ended.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, OnceLock};
use std::time::{Duration, Instant};

use super::allocation::{Allocation, Completion, Step, steps, worker_ranges};
use super::client::{Abort, Client, ClientTask, Completes, OnError, SampleSink, StepSignals};
use super::conditions::generator::{GeneratorUse, WorkerClock, WorkerUse};
use super::conditions::machine::{MachineReading, MachineUse};
use super::exchange::Exchange;
use super::operation::{Operation, Plan, planned};
use super::plugin;
use super::schedule::LoopRule;
use super::statistics::TaskStatistics;
use super::throttle::Throttle;
use crate::error::Error;
use crate::http::Address;
use crate::metrics::SampleLog;
use crate::metrics::samples::StepLog;
use crate::model::{ScheduleElement, Task, Track};
use crate::protocol::Protocol;
use crate::record::sample::Sample;
use crate::server::hosts::Retries;
use crate::track::plugin::{Plugin, known_sources, wants};

/// Rally's rounds take 30 s. A shorter one bounds the number of samples that wait.
const ROUND: Duration = Duration::from_secs(5);
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
const INTERRUPT_GRACE: Duration = Duration::from_millis(50);
/// How long clients have to stop after the race was cancelled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(500);

/// The server to send to, and how.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub hosts: Vec<Address>,
    pub protocol: Protocol,
    /// Header lines of every request (user agent, credentials), each ending in CR LF.
    pub headers: String,
    /// Header lines for each client, instead of `headers`, if clients have their own credentials.
    pub client_headers: Vec<String>,
    pub timeout: Duration,
    /// Whether bodies are sent as gzip.
    pub compresses: bool,
    pub retries: Retries,
}

#[derive(Debug, Clone)]
pub(crate) struct DriveConfig {
    pub target: Target,
    pub on_error: OnError,
    pub checks_assertions: bool,
    /// Whether samples carry Rally's meta data of each request, for a metrics store.
    pub keeps_meta: bool,
    /// Largest number of threads that generate load.
    pub workers_max: usize,
    /// Seed for Poisson arrivals.
    pub seed: u64,
    /// The track's `track.py`, if the race needs it.
    pub plugin: Option<Arc<Plugin>>,
    /// Stores every request as documents; `None` if the user wants no metrics store.
    pub samples: Option<SampleLog>,
}

impl DriveConfig {
    /// Returns a configuration for planning a schedule without running it.
    pub(crate) fn unconnected(protocol: Protocol, checks_assertions: bool) -> DriveConfig {
        DriveConfig {
            target: Target {
                hosts: Vec::new(),
                protocol,
                headers: String::new(),
                client_headers: Vec::new(),
                timeout: Duration::ZERO,
                compresses: false,
                retries: Retries::default(),
            },
            on_error: OnError::Continue,
            checks_assertions,
            keeps_meta: false,
            workers_max: 1,
            seed: 0,
            samples: None,
            plugin: None,
        }
    }
}

/// What the driver reports while it works.
pub(crate) trait DriveProgress {
    /// A step starts. `names` are its tasks.
    fn step_started(&mut self, names: &str);
    /// A share of the step is done, in [0, 1].
    fn step_advanced(&mut self, share: f64);
    fn step_finished(&mut self, error_rate_max: f64);
    /// The clients of the step start now. [`Sample::task_index`] is an index into `tasks`; the times of
    /// samples are relative to `start`.
    fn clock_started(&mut self, _tasks: &[&Task], _start: Instant) {}
    /// Samples have arrived, in no particular order.
    fn sampled(&mut self, _samples: &[Sample]) {}
}

/// A task and its results.
pub(crate) struct TaskResult<'a> {
    pub task: &'a Task,
    pub statistics: TaskStatistics,
    /// The load generator's use of the machine during the step of this task.
    pub generator: GeneratorUse,
    pub machine: MachineUse,
}

/// Results of a schedule.
pub(crate) struct Driven<'a> {
    pub tasks: Vec<TaskResult<'a>>,
    /// The tasks during which the user interrupted the race; later tasks did not run.
    pub interrupted_in: Option<String>,
}

/// A schedule whose tasks are planned.
pub(crate) struct PlannedSchedule<'a> {
    /// What the track asks for but cannot get.
    pub warnings: Vec<String>,
    steps: Vec<(Step<'a>, Vec<Box<dyn Operation>>)>,
}

impl<'a> PlannedSchedule<'a> {
    /// Plans the tasks of a schedule. Errors: [`Error::Task`] for the first task that cannot run.
    pub(crate) fn new(
        track: &'a Track,
        schedule: &'a [ScheduleElement],
        config: &DriveConfig,
    ) -> Result<PlannedSchedule<'a>, Error> {
        let mut planned = PlannedSchedule { warnings: Vec::new(), steps: Vec::new() };
        for step in steps(schedule) {
            let mut operations = Vec::new();
            for task in &step.tasks {
                operations.push(plan_task(track, task, config, &mut planned.warnings)?);
            }
            planned.steps.push((step, operations));
        }
        Ok(planned)
    }

    /// Returns the largest number of clients that run at the same time.
    pub(crate) fn clients_max(&self) -> usize {
        self.steps.iter().map(|(step, _)| step.clients.len()).max().unwrap_or(0)
    }

    /// Runs all steps, or those until the user interrupts the race. Results are in the schedule's order.
    ///
    /// Errors: the error that ended the race. The results so far are lost, as in Rally. `Interrupted` when no
    /// task that reports name had begun.
    pub(crate) fn run(
        self,
        config: &DriveConfig,
        is_interrupted: &Arc<AtomicBool>,
        progress: &mut dyn DriveProgress,
    ) -> Result<Driven<'a>, Error> {
        let mut driven = Driven { tasks: Vec::new(), interrupted_in: None };
        for (step, operations) in &self.steps {
            driven.tasks.extend(run_step(step, operations, config, is_interrupted, progress)?);
            if is_interrupted.load(Ordering::Acquire) {
                driven.interrupted_in = Some(step.names());
                break;
            }
        }
        let is_reported = |result: &TaskResult<'_>| result.task.operation.include_in_reporting;
        let is_kept = driven.interrupted_in.is_none() || driven.tasks.iter().any(is_reported);
        if is_kept { Ok(driven) } else { Err(Error::Interrupted) }
    }
}

fn plan_task(
    track: &Track,
    task: &Task,
    config: &DriveConfig,
    warnings: &mut Vec<String>,
) -> Result<Box<dyn Operation>, Error> {
    let wrong = Error::of_task(&task.name);
    if let Some(plugin) = config.plugin.as_ref().filter(|plugin| plugin::concerns(plugin, task)) {
        let built_in = || plan_built_in(track, task, config, warnings);
        return plugin::plan(plugin, track, task, config, built_in).map_err(wrong);
    }
    Throttle::for_task(task, 0, None).map_err(&wrong)?;
    if let Some(source) = unknown_source(task) {
        let reason = format!("parameter source [{source}] is not known (it needs a track plugin)");
        return Err(wrong(Error::Track(reason)));
    }
    plan_built_in(track, task, config, warnings).map_err(wrong)
}

/// Returns the task's parameter source if it is not a built-in one.
fn unknown_source(task: &Task) -> Option<&str> {
    let sources = wants(task).filter(|(what, _)| *what == "parameter source");
    sources.map(|(_, name)| name).find(|name| !known_sources::is_source(name))
}

fn plan_built_in(
    track: &Track,
    task: &Task,
    config: &DriveConfig,
    warnings: &mut Vec<String>,
) -> Result<Box<dyn Operation>, Error> {
    let mut plan = Plan::new(track, task, &config.target.protocol, config.checks_assertions);
    plan.keeps_meta = config.keeps_meta;
    let operation = planned(&mut plan)?;
    for warning in plan.take_warnings() {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    Ok(operation)
}

fn run_step<'a>(
    step: &Step<'a>,
    operations: &[Box<dyn Operation>],
    config: &DriveConfig,
    is_interrupted: &Arc<AtomicBool>,
    progress: &mut dyn DriveProgress,
) -> Result<Vec<TaskResult<'a>>, Error> {
    progress.step_started(&step.names());
    let signals = Arc::new(StepSignals {
        is_interrupted: Arc::clone(is_interrupted),
        is_aborted: AtomicBool::new(false),
        is_completed: AtomicBool::new(false),
        completing_clients: AtomicUsize::new(completing_clients(step)),
    });
    let ranges = worker_ranges(step.clients.len(), config.workers_max);
    let start_line = StartLine { barrier: Barrier::new(ranges.len()), start: OnceLock::new() };
    let (sender, receiver) = channel();
    let machine_before = MachineReading::now();
    let (statistics, outcome) = std::thread::scope(|scope| {
        let worker = |range: std::ops::Range<usize>| {
            let worker = Worker {
                first_client: range.start as u32,
                clients: &step.clients[range],
                completion: step.completion,
                operations,
                config,
                signals: Arc::clone(&signals),
                start_line: &start_line,
                sender: sender.clone(),
            };
            scope.spawn(move || worker.run())
        };
        let workers: Vec<_> = ranges.into_iter().map(worker).collect();
        drop(sender);
        let mut log =
            StepDocuments { log: config.samples.as_ref(), step, start_line: &start_line, open: None };
        let mut statistics = take_samples(&receiver, step, &start_line, &mut log, progress);
        log.finish(&mut statistics);
        let join = |worker: std::thread::ScopedJoinHandle<'_, Result<WorkerUse, Error>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        (statistics, workers.into_iter().map(join).collect::<Result<Vec<WorkerUse>, _>>())
    });
    if outcome.is_err() {
        // An interrupt also reaches a server started from the same terminal. Wait for our own signal, so that
        // the server's end does not look like the cause.
        std::thread::sleep(INTERRUPT_GRACE);
    }
    let is_cut = is_interrupted.load(Ordering::Acquire);
    // After an interrupt, errors of clients are its consequence.
    let uses = outcome.or_else(|error| if is_cut { Ok(Vec::new()) } else { Err(error) })?;
    let generator = GeneratorUse::of(&uses);
    let machine = MachineReading::now().since(&machine_before);
    progress.step_finished(statistics.iter().map(TaskStatistics::error_rate).fold(0.0, f64::max));
    let result = |(task, statistics)| TaskResult { task, statistics, generator, machine };
    let has_begun = |result: &TaskResult<'_>| !is_cut || result.statistics.has_samples();
    Ok(step.tasks.iter().copied().zip(statistics).map(result).filter(has_begun).collect())
}

/// Returns the number of clients whose end completes the step.
fn completing_clients(step: &Step<'_>) -> usize {
    match step.completion {
        Completion::Task(index) => step.tasks[index].clients as usize,
        _ => 0,
    }
}

/// Receives samples until the last client has ended.
fn take_samples(
    receiver: &Receiver<Vec<Sample>>,
    step: &Step<'_>,
    start_line: &StartLine,
    documents: &mut StepDocuments<'_>,
    progress: &mut dyn DriveProgress,
) -> Vec<TaskStatistics> {
    let mut statistics: Vec<TaskStatistics> = step.tasks.iter().map(|_| TaskStatistics::default()).collect();
    let mut progress_of_clients: Vec<Option<f32>> = vec![None; step.clients.len()];
    let (mut round_start, mut shown) = (Instant::now(), Instant::now());
    let mut is_clock_started = false;
    loop {
        let received = receiver.recv_timeout(PROGRESS_INTERVAL);
        if let (false, Some(start)) = (is_clock_started, start_line.start.get()) {
            progress.clock_started(&step.tasks, *start);
            is_clock_started = true;
        }
        match received {
            Ok(batch) => {
                progress.sampled(&batch);
                for sample in batch {
                    progress_of_clients[sample.client as usize] = sample.progress;
                    documents.record(&sample);
                    statistics[sample.task_index as usize].record(sample);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return statistics,
        }
        if round_start.elapsed() >= ROUND {
            statistics.iter_mut().for_each(TaskStatistics::end_round);
            round_start = Instant::now();
        }
        if shown.elapsed() >= PROGRESS_INTERVAL {
            // Clients that do not know their progress do not count.
            let known: Vec<f64> =
                progress_of_clients.iter().flatten().map(|share| f64::from(*share)).collect();
            progress.step_advanced(known.iter().sum::<f64>() / known.len().max(1) as f64);
            shown = Instant::now();
        }
    }
}

/// Passes a step's requests to the metrics store, if there is one.
struct StepDocuments<'a> {
    log: Option<&'a SampleLog>,
    step: &'a Step<'a>,
    start_line: &'a StartLine,
    /// Open from the first sample on, when the step's start is known.
    open: Option<StepLog>,
}

impl StepDocuments<'_> {
    fn record(&mut self, sample: &Sample) {
        let Some(log) = self.log else { return };
        let open = self.open.get_or_insert_with(|| {
            let start = self.start_line.start.get().copied().unwrap_or_else(Instant::now);
            log.step(&self.step.tasks, start)
        });
        open.record(sample);
    }

    fn finish(self, statistics: &mut [TaskStatistics]) {
        let Some(open) = self.open else { return };
        // Completes the throughput of tasks that were too short for one value per second.
        statistics.iter_mut().for_each(|task| {
            task.throughput();
        });
        let throughput: Vec<_> =
            statistics.iter().map(|task| (task.throughput_notes(), task.throughput_unit())).collect();
        open.finish(&throughput);
    }
}

/// The barrier at which all workers of a step wait for each other when they are connected and ready.
struct StartLine {
    barrier: Barrier,
    start: OnceLock<Instant>,
}

impl StartLine {
    fn wait(&self) -> Instant {
        self.barrier.wait();
        *self.start.get_or_init(Instant::now)
    }
}

struct Worker<'w, 'a> {
    first_client: u32,
    clients: &'w [Vec<Allocation<'a>>],
    completion: Completion,
    operations: &'w [Box<dyn Operation>],
    config: &'w DriveConfig,
    signals: Arc<StepSignals>,
    start_line: &'w StartLine,
    sender: Sender<Vec<Sample>>,
}

impl Worker<'_, '_> {
    fn run(self) -> Result<WorkerUse, Error> {
        // If this fails, the worker still has to reach the start line: the other workers wait for it.
        let prepared = self.prepare();
        if prepared.is_err() {
            self.signals.abort();
        }
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                self.signals.abort();
                self.start_line.wait();
                return Err(Error::machine("cannot start the load generator")(error));
            }
        };
        tokio::task::LocalSet::new().block_on(&runtime, self.run_clients(prepared))
    }

    async fn run_clients(&self, prepared: Result<Vec<Vec<ClientTask>>, Error>) -> Result<WorkerUse, Error> {
        let target = &self.config.target;
        let mut exchanges = Vec::new();
        for client in 0..self.clients.len() {
            let first = self.first_client as usize + client;
            let mut exchange = Exchange::new(target, first);
            exchange.open().await;
            exchanges.push(exchange);
        }
        let step_start = self.start_line.wait();
        let clock = WorkerClock::start();
        let sink = Rc::new(RefCell::new(SampleSink::new(self.sender.clone())));
        let mut running = tokio::task::JoinSet::new();
        for (index, (tasks, exchange)) in prepared?.into_iter().zip(exchanges).enumerate() {
            let client = Client {
                id: self.first_client + index as u32,
                tasks,
                exchange,
                sink: Rc::clone(&sink),
                signals: Arc::clone(&self.signals),
                step_start,
            };
            running.spawn_local(client.run());
        }
        let mut first_abort: Option<Abort> = None;
        loop {
            let joined = match tokio::time::timeout(CANCEL_INTERVAL, running.join_next()).await {
                Ok(Some(joined)) => joined,
                Ok(None) => break,
                // Clients check the signal between requests. A client that waits longer is aborted during its
                // request.
                Err(_) if self.signals.is_cancelled() => {
                    running.abort_all();
                    continue;
                }
                Err(_) => continue,
            };
            match joined {
                Ok(Ok(())) => {}
                Ok(Err(abort)) => first_abort = first_abort.or(Some(abort)),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_stopped) => {}
            }
        }
        sink.borrow_mut().flush();
        match first_abort {
            None => Ok(clock.stop()),
            Some((task, reason)) => Err(Error::Aborted { task: task.to_string(), reason: Box::new(reason) }),
        }
    }

    /// Returns the tasks of each client. The runners of a task share their state among a worker's clients.
    fn prepare(&self) -> Result<Vec<Vec<ClientTask>>, Error> {
        let mut prepared: Vec<Vec<Option<ClientTask>>> =
            self.clients.iter().map(|allocations| allocations.iter().map(|_| None).collect()).collect();
        for (task_index, operation) in self.operations.iter().enumerate() {
            // (position of the client, position in its list, allocation), by client index within the task
            let mut of_task: Vec<(usize, usize, &Allocation<'_>)> = Vec::new();
            for (client, allocations) in self.clients.iter().enumerate() {
                let matching = allocations.iter().enumerate().filter(|(_, one)| one.task_index == task_index);
                of_task.extend(matching.map(|(place, allocation)| (client, place, allocation)));
            }
            let Some((_, _, first)) = of_task.first() else { continue };
            let task = first.task;
            of_task.sort_by_key(|(_, _, allocation)| allocation.client_in_task);
            let indices: Vec<u32> =
                of_task.iter().map(|(_, _, allocation)| allocation.client_in_task).collect();
            let runners = operation.runners(&indices, task.clients).map_err(Error::of_task(&task.name))?;
            let rule = LoopRule::for_task(task, operation.is_finite());
            let task_name: Arc<str> = task.name.as_str().into();
            for ((client, place, allocation), mut runner) in of_task.into_iter().zip(runners) {
                let seed =
                    self.config.seed ^ (u64::from(allocation.client_in_step) << 32) ^ task_index as u64;
                prepared[client][place] = Some(ClientTask {
                    task_index: task_index as u32,
                    task_name: Arc::clone(&task_name),
                    throttle: Throttle::for_task(task, seed, runner.take_schedule())
                        .map_err(Error::of_task(&task.name))?,
                    runner,
                    rule,
                    ramp_up_wait: allocation.ramp_up_wait(),
                    on_error: self.config.on_error.of_task(task),
                    completes: match self.completion {
                        Completion::Task(index) if index == task_index => Completes::WithLastClient,
                        Completion::Any => Completes::WithFirstClient,
                        _ => Completes::No,
                    },
                });
            }
        }
        Ok(prepared.into_iter().map(|tasks| tasks.into_iter().flatten().collect()).collect())
    }
}
