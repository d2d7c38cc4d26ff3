//! Running requests: "what is being done, since when, and can it be stopped?"

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use limber_mapping::{ErrorClass, RequestError};
use limber_store::sync::{Condvar, Mutex};
use serde_json::{Value, json};

use crate::api::Result;
use crate::environment::Clock;
use crate::tasks::caught::caught;
use crate::tasks::progress::Progress;
use crate::tasks::waiting::wait_until;

/// One running task, or a finished one whose result is kept.
#[derive(Debug)]
pub struct Task {
    /// The number in `node:number`.
    pub id: u64,
    /// Elasticsearch's name for the action.
    pub action: &'static str,
    /// A description of the request, for `_tasks?detailed`.
    pub description: String,
    /// Whether `_tasks/_cancel` can stop it.
    pub cancellable: bool,
    /// Set by [`Task::cancel`]; searches check it once per window of documents.
    pub cancelled: Arc<AtomicBool>,
    /// Counters of a request by query.
    pub progress: Option<Arc<Progress>>,
    /// The client's name for the request (`X-Opaque-Id`).
    opaque_id: Option<Arc<str>>,
    /// When it started by the wall clock, for display.
    start_millis: u64,
    /// When it started by the monotonic clock.
    start_nanos: u64,
    finished: Mutex<Option<Finished>>,
}

#[derive(Debug)]
struct Finished {
    nanos: u64,
    outcome: Result<Value>,
    /// Memory that the outcome takes.
    bytes: u64,
}

impl Finished {
    /// A result that is too large to be kept is replaced by an error that says so.
    fn new(nanos: u64, outcome: Result<Value>) -> Finished {
        let bytes = match &outcome {
            Ok(result) => limber_mapping::copied_bytes(result),
            Err(error) => error.text_bytes() as u64,
        };
        if bytes <= FINISHED_BYTES_MAX {
            return Finished { nanos, outcome, bytes };
        }
        let reason = format!(
            "the result of the task takes [{bytes}] bytes, and at most [{FINISHED_BYTES_MAX}] are kept"
        );
        let error = RequestError::new(ErrorClass::TooManyRequests, "circuit_breaking_exception", reason);
        Finished { nanos, outcome: Err(error), bytes: 0 }
    }
}

impl Task {
    /// Asks the task to stop. Returns whether it can be stopped.
    pub fn cancel(&self) -> bool {
        if self.cancellable {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        self.cancellable
    }

    /// Renders the task as `GET _tasks` shows it. `now_nanos` is the monotonic clock.
    fn to_json(&self, node_id: &str, detailed: bool, now_nanos: u64) -> Value {
        let nanos = match &*self.finished.lock() {
            Some(finished) => finished.nanos,
            None => now_nanos.saturating_sub(self.start_nanos),
        };
        let mut task = json!({
            "node": node_id,
            "id": self.id,
            "type": "transport",
            "action": self.action,
            "start_time_in_millis": self.start_millis,
            "running_time_in_nanos": nanos,
            "cancellable": self.cancellable,
            "headers": {},
        });
        if let Some(id) = &self.opaque_id {
            task["headers"]["X-Opaque-Id"] = (**id).into();
        }
        if self.cancellable {
            task["cancelled"] = self.cancelled.load(Ordering::Relaxed).into();
        }
        if let Some(progress) = self.progress.as_ref().filter(|_| detailed) {
            task["status"] = progress.to_json();
            // As in Elasticsearch, also for requests that can only do one of them.
            for name in ["updated", "created"] {
                if task["status"].get(name).is_none() {
                    task["status"][name] = 0.into();
                }
            }
        }
        if detailed {
            task["description"] = self.description.clone().into();
        }
        task
    }
}

/// How many results of background tasks are kept for `GET _tasks/{id}`.
const FINISHED_MAX: usize = 100;
/// Memory that these results may take together. A request by query lists up to ten thousand failures.
const FINISHED_BYTES_MAX: u64 = 16 << 20;
/// How many tasks may run in the background at a time. Each has a thread of its own.
const BACKGROUND_MAX: usize = 100;

/// All tasks of a node. Cheap to clone.
#[derive(Clone)]
pub struct Tasks {
    node_id: Arc<str>,
    clock: Arc<dyn Clock>,
    list: Arc<List>,
}

#[derive(Debug, Default)]
struct List {
    next_id: AtomicU64,
    running: Mutex<BTreeMap<u64, Arc<Task>>>,
    finished: Mutex<BTreeMap<u64, Arc<Task>>>,
    ended: Condvar,
    /// The number of tasks that run in the background.
    background: AtomicUsize,
}

impl List {
    /// Keeps the result of a task for [`Tasks::get`]. The oldest results make room for it.
    fn keep(&self, task: Arc<Task>) {
        let bytes_of = |task: &Arc<Task>| task.finished.lock().as_ref().map_or(0, |finished| finished.bytes);
        let mut finished = self.finished.lock();
        finished.insert(task.id, task);
        let mut bytes: u64 = finished.values().map(bytes_of).sum();
        while finished.len() > FINISHED_MAX || bytes > FINISHED_BYTES_MAX {
            let Some((_, oldest)) = finished.pop_first() else { return };
            bytes -= bytes_of(&oldest);
        }
    }
}

/// One of the tasks that may run in the background at a time. Its place is free again when this is dropped.
struct Place(Arc<List>);

impl Place {
    fn take(list: &Arc<List>) -> Result<Place> {
        let place = Place(list.clone());
        if list.background.fetch_add(1, Ordering::Relaxed) < BACKGROUND_MAX {
            return Ok(place);
        }
        let reason =
            format!("rejected execution of task: {BACKGROUND_MAX} tasks run in the background already");
        Err(RequestError::new(ErrorClass::TooManyRequests, "es_rejected_execution_exception", reason))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.background.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Removes the task from the list when dropped.
pub struct TaskGuard<'t> {
    tasks: &'t Tasks,
    /// The listed task.
    pub task: Arc<Task>,
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        self.tasks.list.running.lock().remove(&self.task.id);
    }
}

impl Tasks {
    pub(crate) fn new(node_id: Arc<str>, clock: Arc<dyn Clock>) -> Tasks {
        Tasks { node_id, clock, list: Arc::default() }
    }

    /// Renders a task as `GET _tasks` shows it.
    pub fn show(&self, task: &Task, node_id: &str, detailed: bool) -> Value {
        task.to_json(node_id, detailed, self.clock.monotonic_nanos())
    }

    /// Lists a request as a task while the guard exists.
    pub fn register(
        &self,
        action: &'static str,
        description: impl Into<String>,
        cancellable: bool,
    ) -> TaskGuard<'_> {
        TaskGuard { tasks: self, task: self.add(action, description.into(), cancellable) }
    }

    /// Works like [`Tasks::register`], for a task that the request's own flag cancels.
    pub fn register_cancellable(
        &self,
        action: &'static str,
        description: impl Into<String>,
        cancelled: Arc<AtomicBool>,
    ) -> TaskGuard<'_> {
        TaskGuard { tasks: self, task: self.add_with(action, description.into(), true, cancelled, None) }
    }

    /// Works like [`Tasks::register_cancellable`], with counters that can be shown.
    pub(crate) fn register_by_query(
        &self,
        action: &'static str,
        description: String,
        cancelled: Arc<AtomicBool>,
        progress: Arc<Progress>,
    ) -> TaskGuard<'_> {
        TaskGuard { tasks: self, task: self.add_with(action, description, true, cancelled, Some(progress)) }
    }

    fn add(&self, action: &'static str, description: String, cancellable: bool) -> Arc<Task> {
        self.add_with(action, description, cancellable, Arc::default(), None)
    }

    fn add_with(
        &self,
        action: &'static str,
        description: String,
        cancellable: bool,
        cancelled: Arc<AtomicBool>,
        progress: Option<Arc<Progress>>,
    ) -> Arc<Task> {
        let task = Arc::new(Task {
            id: self.list.next_id.fetch_add(1, Ordering::Relaxed) + 1,
            action,
            description,
            cancellable,
            cancelled,
            progress,
            opaque_id: limber_work::Work::current().and_then(|work| work.opaque_id),
            start_millis: self.clock.now_millis(),
            start_nanos: self.clock.monotonic_nanos(),
            finished: Mutex::new(None),
        });
        self.list.running.lock().insert(task.id, task.clone());
        task
    }

    /// Returns all running tasks, in the order in which they began.
    pub fn list(&self) -> Vec<Arc<Task>> {
        self.list.running.lock().values().cloned().collect()
    }

    /// Drops the results of tasks that have ended.
    pub fn forget_results(&self) {
        self.list.finished.lock().clear();
    }

    /// Waits up to `timeout_ms` until `is_over` returns true; it is called repeatedly.
    ///
    /// # Errors
    /// Fails when nobody waits for the response any more, or when too many requests wait.
    pub fn wait(&self, timeout_ms: u64, mut is_over: impl FnMut() -> bool) -> Result<()> {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.min(3_600_000));
        wait_until(deadline, |step| {
            if !step.is_zero() {
                let mut finished = self.list.finished.lock();
                self.list.ended.wait_for(&mut finished, step);
            }
            Ok(is_over().then_some(()))
        })
        .map(drop)
    }

    /// Returns the body of `GET _tasks/{id}`, waiting up to `timeout_ms` for the task's end; `None` for an
    /// unknown task.
    ///
    /// # Errors
    /// Fails when nobody waits for the response any more, or when too many requests wait.
    pub fn get(&self, id: u64, timeout_ms: u64, node_id: &str) -> Result<Option<Value>> {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.min(3_600_000));
        wait_until(deadline, |step| {
            if !self.list.running.lock().contains_key(&id) {
                return Ok(Some(()));
            }
            let mut finished = self.list.finished.lock();
            if finished.contains_key(&id) {
                return Ok(Some(()));
            }
            if !step.is_zero() {
                // The end of the task wakes this thread. It also checks regularly, because a task without a
                // kept result ends silently.
                self.list.ended.wait_for(&mut finished, step);
            }
            Ok(None)
        })?;
        // A task is added to the finished list before it is removed from the running one, so looking in this
        // order cannot miss it.
        let running = self.list.running.lock().get(&id).cloned();
        let Some(task) = self.list.finished.lock().get(&id).cloned() else {
            let shown =
                running.map(|task| json!({"completed": false, "task": self.show(&task, node_id, true)}));
            return Ok(shown);
        };
        let mut body = json!({"completed": true, "task": self.show(&task, node_id, true)});
        match task.finished.lock().as_ref().map(|finished| &finished.outcome) {
            Some(Ok(response)) => {
                limber_mapping::claim_tree(response)?;
                body["response"] = response.clone();
            }
            Some(Err(error)) => body["error"] = error.to_json(),
            None => {}
        }
        Ok(Some(body))
    }

    /// Whether another task may run in the background.
    pub(crate) fn has_place(&self) -> bool {
        self.list.background.load(Ordering::Relaxed) < BACKGROUND_MAX
    }

    /// Runs `work` on a separate thread and returns `node:id`. The result is kept for [`Tasks::get`].
    ///
    /// # Errors
    /// Fails when there is no thread for it, and with `TooManyRequests` when too many tasks run in the
    /// background.
    pub fn spawn(
        &self,
        action: &'static str,
        description: String,
        work: impl FnOnce() -> Result<Value> + Send + 'static,
    ) -> Result<String> {
        self.start(self.add(action, description, false), work)
    }

    /// Works like [`Tasks::spawn`], for a task that is cancelled by a flag which `work` checks.
    pub(crate) fn spawn_cancellable(
        &self,
        action: &'static str,
        description: String,
        cancelled: Arc<AtomicBool>,
        work: impl FnOnce() -> Result<Value> + Send + 'static,
    ) -> Result<String> {
        self.start(self.add_with(action, description, true, cancelled, None), work)
    }

    /// Works like [`Tasks::spawn`], for a cancellable task with counters that can be shown.
    pub(crate) fn spawn_by_query(
        &self,
        action: &'static str,
        description: String,
        cancelled: Arc<AtomicBool>,
        progress: Arc<Progress>,
        work: impl FnOnce() -> Result<Value> + Send + 'static,
    ) -> Result<String> {
        self.start(self.add_with(action, description, true, cancelled, Some(progress)), work)
    }

    fn start(
        &self,
        task: Arc<Task>,
        work: impl FnOnce() -> Result<Value> + Send + 'static,
    ) -> Result<String> {
        let id = task.id;
        let (list, clock) = (self.list.clone(), self.clock.clone());
        let place = Place::take(&list).inspect_err(|_| drop(list.running.lock().remove(&id)))?;
        // What the request has parsed stays charged until the task has ended.
        let held = limber_work::Work::current().and_then(|work| work.meter);
        // The task has exactly the rights of the request that starts it.
        let work = limber_access::carried(work);
        let spawned = limber_store::sync::spawn(&format!("task-{id}"), move || {
            let outcome = caught(work);
            let nanos = clock.monotonic_nanos().saturating_sub(task.start_nanos);
            *task.finished.lock() = Some(Finished::new(nanos, outcome));
            list.keep(task.clone());
            list.running.lock().remove(&task.id);
            drop((held, place));
            list.ended.notify_all();
        });
        match spawned {
            Ok(()) => Ok(format!("{}:{id}", self.node_id)),
            Err(error) => {
                self.list.running.lock().remove(&id);
                Err(RequestError::unavailable("es_rejected_execution_exception", error.to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::environment::ManualClock;

    #[test]
    fn only_so_many_tasks_run_in_the_background() {
        let tasks = Tasks::new("node".into(), Arc::new(ManualClock::default()));
        let start = || {
            let (end, ends) = channel::<()>();
            let started = tasks.spawn("test", String::new(), move || {
                // The task runs until the other half is dropped.
                let _ = ends.recv();
                Ok(Value::Null)
            });
            started.map(|_| end)
        };
        let mut running: Vec<_> = (0..BACKGROUND_MAX).map(|_| start().expect("a place")).collect();
        assert!(!tasks.has_place());
        let error = start().map(drop).expect_err("no place");
        assert_eq!(
            (error.class, error.kind),
            (ErrorClass::TooManyRequests, "es_rejected_execution_exception")
        );
        assert_eq!(tasks.list().len(), BACKGROUND_MAX, "what was refused is not listed");
        running.pop();
        tasks.wait(60_000, || tasks.has_place()).expect("a task ends");
        drop(start().expect("a place again"));
    }

    #[test]
    fn results_are_kept_within_a_number_of_bytes() {
        let tasks = Tasks::new("node".into(), Arc::new(ManualClock::default()));
        let run = |bytes: usize| {
            let work = move || Ok(Value::from("x".repeat(bytes)));
            let id = tasks.spawn("test", String::new(), work).expect("a place");
            let id: u64 = id.trim_start_matches("node:").parse().expect("a number");
            tasks.wait(60_000, || tasks.list().is_empty()).expect("it ends");
            id
        };
        let kept = |id: u64| tasks.get(id, 0, "node").expect("not cancelled");
        let part = FINISHED_BYTES_MAX as usize / 3;
        let (first, second) = (run(part), run(part));
        assert!(kept(first).is_some() && kept(second).is_some());
        let third = run(part);
        assert!(kept(first).is_none() && kept(second).is_some() && kept(third).is_some());
        let large = kept(run(FINISHED_BYTES_MAX as usize)).expect("an error is kept");
        assert_eq!(large["error"]["type"], "circuit_breaking_exception");
    }
}
