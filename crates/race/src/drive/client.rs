//! One client during one step.
//!
//! This is the loop of Rally's `AsyncExecutor` (`driver.py`): for each of its tasks, the client asks the
//! schedule when the next request is due, prepares it, waits, sends it, and records a [`Sample`]. Everything
//! costly happens outside the measured time.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::exchange::Exchange;
use super::schedule::{LoopControl, LoopRule};
use super::throttle::Throttle;
use super::timer::Timer;
use crate::drive::operation::{Failure, Outcome, Runner};
use crate::error::Error;
use crate::model::Task;
use crate::record::sample::{ErrorNote, Sample};

/// What to do when a request fails (`--on-error`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    /// Count it. A lost connection still ends the race.
    Continue,
    /// Count it, even if the connection was lost.
    ContinueOnNetwork,
    /// End the race.
    Abort,
}

impl OnError {
    /// Returns the behaviour for a task: `ignore-response-error-level: non-fatal` softens `abort`.
    pub(crate) fn of_task(self, task: &Task) -> OnError {
        match (self, task.ignore_response_error_level.as_deref()) {
            (OnError::Abort, Some("non-fatal")) => OnError::Continue,
            (behaviour, _) => behaviour,
        }
    }
}

/// Signals shared by all clients of a step.
#[derive(Debug)]
pub(crate) struct StepSignals {
    /// The user interrupted the race.
    pub is_interrupted: Arc<AtomicBool>,
    /// A client had an error that ends the race.
    pub is_aborted: AtomicBool,
    /// The completing task is done: the other clients stop after their current request.
    pub is_completed: AtomicBool,
    /// Number of clients of the completing task that are still running.
    pub completing_clients: AtomicUsize,
}

impl StepSignals {
    /// Whether clients have to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_aborted.load(Ordering::Acquire) || self.is_interrupted.load(Ordering::Acquire)
    }

    pub(crate) fn abort(&self) {
        self.is_aborted.store(true, Ordering::Release);
    }
}

/// Whether a task ends its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completes {
    No,
    /// When the last of its clients has ended.
    WithLastClient,
    /// When the first of its clients has ended.
    WithFirstClient,
}

/// One client's part in one task, ready to run.
pub(crate) struct ClientTask {
    pub task_index: u32,
    pub task_name: Arc<str>,
    pub runner: Box<dyn Runner>,
    pub rule: LoopRule,
    pub throttle: Throttle,
    pub ramp_up_wait: Duration,
    pub on_error: OnError,
    pub completes: Completes,
}

/// Collects a worker's samples and hands them on in batches.
pub(crate) struct SampleSink {
    batch: Vec<Sample>,
    sender: Sender<Vec<Sample>>,
    sent: Instant,
}

impl SampleSink {
    const BATCH_SAMPLES_MAX: usize = 1024;
    const BATCH_AGE_MAX: Duration = Duration::from_millis(100);

    pub(crate) fn new(sender: Sender<Vec<Sample>>) -> SampleSink {
        SampleSink { batch: Vec::with_capacity(Self::BATCH_SAMPLES_MAX), sender, sent: Instant::now() }
    }

    fn push(&mut self, sample: Sample, now: Instant) {
        self.batch.push(sample);
        if self.batch.len() >= Self::BATCH_SAMPLES_MAX || now - self.sent >= Self::BATCH_AGE_MAX {
            self.flush();
            self.sent = now;
        }
    }

    pub(crate) fn flush(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(Self::BATCH_SAMPLES_MAX));
        // The receiver is dropped only when the race is over.
        let _ = self.sender.send(batch);
    }
}

/// A client with its connections.
pub(crate) struct Client {
    pub id: u32,
    pub tasks: Vec<ClientTask>,
    pub exchange: Exchange,
    pub sink: Rc<RefCell<SampleSink>>,
    pub signals: Arc<StepSignals>,
    /// When the step began; the times of samples are relative to it.
    pub step_start: Instant,
}

/// Why a client ended the race: the task's name and the reason.
pub(crate) type Abort = (Arc<str>, Error);

impl Client {
    /// Runs all tasks of this client one after the other.
    ///
    /// Errors: an error that ends the race. It makes the other clients stop.
    pub(crate) async fn run(mut self) -> Result<(), Abort> {
        for task in std::mem::take(&mut self.tasks) {
            let (name, completes) = (Arc::clone(&task.task_name), task.completes);
            let result = self.run_task(task).await;
            let ends_step = match completes {
                Completes::No => false,
                Completes::WithFirstClient => true,
                Completes::WithLastClient => {
                    self.signals.completing_clients.fetch_sub(1, Ordering::AcqRel) == 1
                }
            };
            if ends_step {
                self.signals.is_completed.store(true, Ordering::Release);
            }
            if let Err(reason) = result {
                self.signals.abort();
                return Err((name, reason));
            }
        }
        Ok(())
    }

    async fn run_task(&mut self, mut task: ClientTask) -> Result<(), Error> {
        let task_start = Instant::now();
        // The schedule's clock starts before the ramp-up wait, so that warm-up periods end at the same time
        // for all clients.
        let mut control = LoopControl::start(task.rule, task_start);
        if !task.ramp_up_wait.is_zero() {
            tokio::time::sleep(task.ramp_up_wait).await;
        }
        let mut timer: Option<Timer> = None;
        let mut free_since = Instant::now();
        while !control.is_completed() && !self.signals.is_cancelled() {
            if let Some(pending) = task.throttle.pending() {
                pending.await?;
            }
            let due_s = task.throttle.next_due_s();
            if let Some(pending) = task.runner.pending() {
                pending.await?;
            }
            // The task ends with the loop or with the parameters, whichever ends first.
            let progress =
                [control.progress(), task.runner.progress()].into_iter().flatten().reduce(f64::max);
            if !task.runner.prepare()? {
                break;
            }
            let is_throttled = due_s > 0.0;
            let due = match Duration::try_from_secs_f64(due_s) {
                Ok(due) => task_start + due,
                Err(_) => return Err(Error::Parameter(format!("a request would be due in {due_s} s"))),
            };
            if is_throttled && due > Instant::now() {
                wait_until(&mut timer, due).await.map_err(Error::machine("cannot wait"))?;
            }
            let times = TaskTimes { task_start, due: is_throttled.then_some(due), free_since };
            let is_over = self.run_once(&mut task, times, control.is_warmup(), progress).await?;
            if is_over {
                break;
            }
            free_since = Instant::now();
            control.advance(free_since);
        }
        Ok(())
    }

    /// Sends one request and records it. Returns true when the task is over for this client.
    async fn run_once(
        &mut self,
        task: &mut ClientTask,
        times: TaskTimes,
        is_warmup: bool,
        progress: Option<f64>,
    ) -> Result<bool, Error> {
        let processing_start = Instant::now();
        self.exchange.begin();
        let result = task.runner.run(&mut self.exchange).await;
        let processing_end = Instant::now();
        let (request_start, request_end) = self.exchange.span().unwrap_or((processing_start, processing_end));

        let outcome = counted(result, task.on_error)?;
        task.throttle.after_request(outcome.weight, outcome.unit)?;
        task.throttle.tell_plugin(processing_start, processing_end, &outcome);
        let service_time = request_end - request_start;
        let ignores_completion = task.completes == Completes::WithLastClient;
        let completion = outcome.details.as_ref().and_then(|details| details.completion);
        let is_over = completion.is_some_and(|share| share >= 1.0)
            || (!ignores_completion && self.signals.is_completed.load(Ordering::Acquire));
        let sample = Sample {
            task_index: task.task_index,
            client: self.id,
            is_warmup,
            is_success: outcome.is_success,
            processing_start: processing_start - self.step_start,
            request_start: request_start - self.step_start,
            service_time,
            latency: times.due.map_or(service_time, |due| request_end - due),
            processing_time: processing_end - processing_start,
            send_delay: times.due.map(|due| request_start.saturating_duration_since(due)),
            own_delay: request_start.saturating_duration_since(times.could_be_sent()),
            took: outcome.took,
            time_period: request_end - times.task_start,
            weight: outcome.weight,
            unit: outcome.unit,
            progress: match completion.filter(|share| *share > 0.0).or(progress) {
                _ if is_over => Some(1.0),
                progress => progress.map(|progress| progress as f32),
            },
            error: outcome.error,
            details: outcome.details,
        };
        self.sink.borrow_mut().push(sample, processing_end);
        Ok(is_over)
    }
}

struct TaskTimes {
    task_start: Instant,
    /// When the request was due; `None` for unthrottled requests and for the first of a task.
    due: Option<Instant>,
    /// When the client had finished the previous request.
    free_since: Instant,
}

impl TaskTimes {
    /// Returns the earliest time at which the client could send. Any later delay is the load generator's own.
    fn could_be_sent(&self) -> Instant {
        self.due.map_or(self.free_since, |due| due.max(self.free_since))
    }
}

async fn wait_until(timer: &mut Option<Timer>, due: Instant) -> std::io::Result<()> {
    let timer = match timer {
        Some(timer) => timer,
        None => timer.insert(Timer::new()?),
    };
    timer.sleep_until(due).await
}

/// Converts a result into the outcome that is counted.
///
/// Errors: a failure that ends the race.
fn counted(result: Result<Outcome, Failure>, on_error: OnError) -> Result<Outcome, Error> {
    let (outcome, is_connection_lost) = match result {
        Ok(outcome) => (outcome, false),
        Err(Failure::Fatal(reason)) => return Err(*reason),
        Err(failure) => {
            let is_connection_lost = matches!(failure, Failure::Connection { .. });
            let error = failure.note().map(Box::new);
            (Outcome { error, is_success: false, ..Outcome::ops(0) }, is_connection_lost)
        }
    };
    let ends_race = !outcome.is_success
        && (on_error == OnError::Abort || (is_connection_lost && on_error != OnError::ContinueOnNetwork));
    if ends_race {
        return Err(Error::Failed(described(outcome.error.as_deref())));
    }
    Ok(outcome)
}

/// Describes the failed request in Rally's words.
fn described(error: Option<&ErrorNote>) -> String {
    let kind = error.map_or("Unknown", |error| error.kind);
    let mut message = format!("Request returned an error. Error type: {kind}");
    if let Some(error) = error {
        message.push_str(&format!(", Description: {}", error.description));
        if let Some(status) = error.status {
            message.push_str(&format!(", HTTP Status: {status}"));
        }
    }
    message
}
