//! Plans a task that needs the track's plugin.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::bulk;
use super::feed::{Body, Feed};
use super::params::ParamsRunner;
use super::runner::PythonRunner;
use super::schedule::PluginSchedule;
use crate::drive::driver::DriveConfig;
use crate::drive::exchange::Exchange;
use crate::drive::operation::{Answer, Operation, PlanFn, Runner};
use crate::drive::schedule::LoopRule;
use crate::error::Error;
use crate::model::{Task, Track};
use crate::protocol::Protocol;
use crate::track::plugin::{Lease, Plugin, PluginError};

/// Operation types whose runner has other parameters than the track writes: Rally's own sources make lists of
/// names and bodies of the track. With a plugin's source they run in Python, where such a runner exists.
const RUN_IN_PYTHON: [&str; 9] = [
    "create-index",
    "delete-index",
    "create-data-stream",
    "delete-data-stream",
    "create-index-template",
    "delete-index-template",
    "create-composable-template",
    "delete-composable-template",
    "create-component-template",
];

/// Whether the task needs the plugin.
pub(crate) fn concerns(plugin: &Plugin, task: &Task) -> bool {
    plugin.has_runner(&task.operation.kind)
        || task.operation.param_source.as_deref().is_some_and(|name| plugin.has_param_source(name))
        || task.schedule.as_deref().is_some_and(|name| plugin.has_scheduler(name))
}

/// What all clients of the task share.
pub(super) struct Shared {
    plugin: Arc<Plugin>,
    pub track: Track,
    pub protocol: Protocol,
    pub checks_assertions: bool,
    pub keeps_meta: bool,
    /// Whether every request carries the user's credentials.
    pub has_authorization: bool,
    task: Task,
}

enum Work {
    /// Only the due times come from the plugin.
    BuiltIn(Box<dyn Operation>),
    /// The parameters come from the plugin. The planner, if any, replaces the operation's own.
    Params(Option<PlanFn>, Body),
    /// A runner of the plugin.
    Python,
}

/// Plans a task that the plugin concerns. `built_in` plans it as if there were no plugin.
///
/// Errors: the reason why it cannot run.
pub(crate) fn plan(
    plugin: &Arc<Plugin>,
    track: &Track,
    task: &Task,
    config: &DriveConfig,
    built_in: impl FnOnce() -> Result<Box<dyn Operation>, Error>,
) -> Result<Box<dyn Operation>, Error> {
    let kind = task.operation.kind.as_str();
    let has_source = task.operation.param_source.as_deref().is_some_and(|name| plugin.has_param_source(name));
    let work = match (plugin.has_runner(kind), has_source, kind) {
        (true, ..) => Work::Python,
        (false, false, _) => Work::BuiltIn(built_in()?),
        (_, _, kind) if RUN_IN_PYTHON.contains(&kind) => Work::Python,
        (_, _, "bulk") => Work::Params(Some(bulk::plan), Body::Lines),
        (_, _, "search") => Work::Params(None, Body::OfSearch),
        (_, _, "raw-request") => Work::Params(None, Body::Apart),
        _ => Work::Params(None, Body::Within),
    };
    // Operations read the track's indices and the like, but never its schedule.
    let track = Track { challenges: Vec::new(), ..track.clone() };
    Ok(Box::new(PluginOperation {
        shared: Arc::new(Shared {
            plugin: Arc::clone(plugin),
            track,
            protocol: config.target.protocol.clone(),
            checks_assertions: config.checks_assertions,
            keeps_meta: config.keeps_meta,
            has_authorization: config.target.headers.to_ascii_lowercase().contains("authorization:")
                || !config.target.client_headers.is_empty(),
            task: task.clone(),
        }),
        work,
        is_finite: AtomicBool::new(false),
    }))
}

struct PluginOperation {
    shared: Arc<Shared>,
    work: Work,
    /// Whether the parameter source is finite, once a client has asked it.
    is_finite: AtomicBool,
}

impl Operation for PluginOperation {
    fn is_finite(&self) -> bool {
        match &self.work {
            Work::BuiltIn(operation) => operation.is_finite(),
            _ => self.is_finite.load(Ordering::Acquire),
        }
    }

    fn runners(&self, clients: &[u32], clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
        let lease = self.shared.plugin.lease(&self.shared.protocol)?;
        let mut opened = Vec::new();
        for client in clients {
            opened.push(self.open(&lease, *client, clients_total)?);
        }
        let rule = LoopRule::for_task(&self.shared.task, self.is_finite());
        let count = match rule {
            LoopRule::Iterations { warmup, measured: Some(measured) } => {
                Some(warmup.saturating_add(measured))
            }
            _ => None,
        };
        if let Work::BuiltIn(operation) = &self.work {
            let runners = operation.runners(clients, clients_total)?;
            let scheduled = |(runner, opened): (Box<dyn Runner>, Opened)| {
                Box::new(Scheduled { runner, schedule: opened.schedule, _lease: Arc::clone(&lease) })
                    as Box<dyn Runner>
            };
            return Ok(runners.into_iter().zip(opened).map(scheduled).collect());
        }
        let runner = |(client, opened): (&u32, Opened)| {
            let Opened { id, schedule, is_ahead } = opened;
            let feed = |body, is_ahead| {
                Feed::new(Arc::clone(&lease.process), id, body, count, clients.len(), is_ahead)
            };
            match &self.work {
                Work::Params(plan, body) => {
                    let mut task = self.shared.task.clone();
                    task.operation.param_source = None;
                    Box::new(ParamsRunner {
                        shared: Arc::clone(&self.shared),
                        plan: *plan,
                        feed: feed(*body, is_ahead),
                        client: (*client, clients_total),
                        task,
                        next: None,
                        schedule,
                        _lease: Arc::clone(&lease),
                    }) as Box<dyn Runner>
                }
                _ => Box::new(PythonRunner {
                    shared: Arc::clone(&self.shared),
                    feed: feed(Body::Kept, false),
                    lease: Arc::clone(&lease),
                    id,
                    schedule,
                }),
            }
        };
        Ok(clients.iter().zip(opened).map(runner).collect())
    }
}

/// One client's part of the task, as opened in the Python process.
struct Opened {
    id: u64,
    schedule: Option<PluginSchedule>,
    /// Whether parameters may be requested ahead. They may not if a scheduler learns of every request,
    /// because it may look at the source in between.
    is_ahead: bool,
}

impl PluginOperation {
    fn open(&self, lease: &Lease, client: u32, clients: u32) -> Result<Opened, PluginError> {
        let id = Lease::new_id();
        let request = json!({
            "request": "open",
            "id": id,
            "task": self.shared.task.name,
            "client": client,
            "clients": clients,
            "runs": matches!(self.work, Work::Python),
        });
        let limit = lease.process.time_limit();
        let opened = lease.process.ask(request, b"", Some(limit))?.header;
        let is_finite =
            opened["infinite"].as_bool() == Some(false) || opened["completes"].as_bool() == Some(true);
        self.is_finite.store(is_finite, Ordering::Release);
        let is_simple = opened["scheduler"].as_str() == Some("simple");
        let schedule = opened["scheduler"]
            .as_str()
            .map(|_| PluginSchedule::new(Arc::clone(&lease.process), id, is_simple));
        Ok(Opened { id, is_ahead: schedule.is_none() || is_simple, schedule })
    }
}

/// A built-in runner whose requests are due when a plugin's scheduler says so.
struct Scheduled {
    runner: Box<dyn Runner>,
    schedule: Option<PluginSchedule>,
    _lease: Arc<Lease>,
}

impl Runner for Scheduled {
    fn prepare(&mut self) -> Result<bool, Error> {
        self.runner.prepare()
    }

    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        self.runner.run(exchange)
    }

    fn progress(&self) -> Option<f64> {
        self.runner.progress()
    }

    fn take_schedule(&mut self) -> Option<PluginSchedule> {
        self.schedule.take()
    }
}
