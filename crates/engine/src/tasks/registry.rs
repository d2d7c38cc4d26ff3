//! Running requests: "what is being done, since when, and can it be stopped?"

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use limber_mapping::RequestError;
use limber_store::sync::{Condvar, Mutex};
use serde_json::{Value, json};

use crate::api::Result;
use crate::environment::Clock;
use crate::tasks::caught::caught;
use crate::tasks::progress::Progress;
use crate::tasks::waiting::patiently;

/// One running (or kept) task.
#[derive(Debug)]
pub struct Task {
    /// The number in `node:number`.
    pub id: u64,
    /// Elasticsearch's name of what it does.
    pub action: &'static str,
    /// What the request asks for, as `_tasks?detailed` shows it.
    pub description: String,
    /// Whether `_tasks/_cancel` may end it.
    pub cancellable: bool,
    /// Set by [`Task::cancel`]; searches look at it once a window.
    pub cancelled: Arc<AtomicBool>,
    /// Counters of a request by query.
    pub progress: Option<Arc<Progress>>,
    /// What its request is called by whoever sent it.
    opaque_id: Option<Arc<str>>,
    /// Wall clock, as it is shown.
    start_millis: u64,
    /// Monotonic.
    start_nanos: u64,
    finished: Mutex<Option<Finished>>,
}

#[derive(Debug)]
struct Finished {
    nanos: u64,
    outcome: Result<Value>,
}

impl Task {
    /// Asks the task to stop; whether it can.
    pub fn cancel(&self) -> bool {
        if self.cancellable {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        self.cancellable
    }

    /// As `GET _tasks` shows it, `now_nanos` being what the monotonic clock says.
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
        if let Some(progress) = &self.progress {
            task["status"] = progress.to_json();
        }
        if detailed {
            task["description"] = self.description.clone().into();
        }
        task
    }
}

/// Results of background tasks that are kept for `GET _tasks/{id}`.
const FINISHED_MAX: usize = 100;

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
}

/// Takes the task off the list when it drops.
pub struct TaskGuard<'t> {
    tasks: &'t Tasks,
    /// The task on the list.
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

    /// A task as `GET _tasks` shows it.
    pub fn show(&self, task: &Task, node_id: &str, detailed: bool) -> Value {
        task.to_json(node_id, detailed, self.clock.monotonic_nanos())
    }

    /// Lists a request while the guard lives.
    pub fn register(
        &self,
        action: &'static str,
        description: impl Into<String>,
        cancellable: bool,
    ) -> TaskGuard<'_> {
        TaskGuard { tasks: self, task: self.add(action, description.into(), cancellable) }
    }

    /// As [`Tasks::register`], cancelled by the flag the request already has.
    pub fn register_cancellable(
        &self,
        action: &'static str,
        description: impl Into<String>,
        cancelled: Arc<AtomicBool>,
    ) -> TaskGuard<'_> {
        TaskGuard { tasks: self, task: self.add_with(action, description.into(), true, cancelled, None) }
    }

    /// As [`Tasks::register_cancellable`], with counters to look at.
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

    /// All running tasks, in the order in which they began.
    pub fn list(&self) -> Vec<Arc<Task>> {
        self.list.running.lock().values().cloned().collect()
    }

    /// Waits up to `timeout_ms` until `is_over`, which is asked again and again.
    ///
    /// # Errors
    /// Nobody waits for the answer any more, or too many wait.
    pub fn wait(&self, timeout_ms: u64, mut is_over: impl FnMut() -> bool) -> Result<()> {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.min(3_600_000));
        patiently(deadline, |step| {
            if !step.is_zero() {
                let mut finished = self.list.finished.lock();
                self.list.ended.wait_for(&mut finished, step);
            }
            Ok(is_over().then_some(()))
        })
        .map(drop)
    }

    /// The body of `GET _tasks/{id}`, waiting up to `timeout_ms` for its end; `None`: unknown.
    ///
    /// # Errors
    /// Nobody waits for the answer any more, or too many wait.
    pub fn get(&self, id: u64, timeout_ms: u64, node_id: &str) -> Result<Option<Value>> {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms.min(3_600_000));
        patiently(deadline, |step| {
            if !self.list.running.lock().contains_key(&id) {
                return Ok(Some(()));
            }
            let mut finished = self.list.finished.lock();
            if finished.contains_key(&id) {
                return Ok(Some(()));
            }
            if !step.is_zero() {
                // Woken at its end; looks again in any case, as a task without a kept result just vanishes.
                self.list.ended.wait_for(&mut finished, step);
            }
            Ok(None)
        })?;
        // It is in the second list before it leaves the first.
        let running = self.list.running.lock().get(&id).cloned();
        let Some(task) = self.list.finished.lock().get(&id).cloned() else {
            let shown =
                running.map(|task| json!({"completed": false, "task": self.show(&task, node_id, true)}));
            return Ok(shown);
        };
        let mut body = json!({"completed": true, "task": self.show(&task, node_id, true)});
        match task.finished.lock().as_ref().map(|finished| &finished.outcome) {
            Some(Ok(response)) => body["response"] = response.clone(),
            Some(Err(error)) => body["error"] = error.to_json(),
            None => {}
        }
        Ok(Some(body))
    }

    /// Runs `work` on a thread of its own and answers `node:id`. Its result is kept for [`Tasks::get`].
    pub fn spawn(
        &self,
        action: &'static str,
        description: String,
        work: impl FnOnce() -> Result<Value> + Send + 'static,
    ) -> Result<String> {
        self.start(self.add(action, description, false), work)
    }

    /// As [`Tasks::spawn`], cancelled by a flag that `work` looks at.
    pub(crate) fn spawn_cancellable(
        &self,
        action: &'static str,
        description: String,
        cancelled: Arc<AtomicBool>,
        work: impl FnOnce() -> Result<Value> + Send + 'static,
    ) -> Result<String> {
        self.start(self.add_with(action, description, true, cancelled, None), work)
    }

    /// As [`Tasks::spawn`], cancellable and with counters to look at.
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
        // A task may do what the request may that starts it, and no more.
        let work = limber_access::carried(work);
        let spawned = limber_store::sync::spawn(&format!("task-{id}"), move || {
            let outcome = caught(work);
            let nanos = clock.monotonic_nanos().saturating_sub(task.start_nanos);
            *task.finished.lock() = Some(Finished { nanos, outcome });
            let mut finished = list.finished.lock();
            finished.insert(task.id, task.clone());
            while finished.len() > FINISHED_MAX {
                finished.pop_first();
            }
            drop(finished);
            list.running.lock().remove(&task.id);
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
