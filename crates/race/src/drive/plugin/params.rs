//! A built-in operation with new parameters from a plugin's source for every request.
//!
//! The operation is planned for each set of parameters, outside the measured time. This works for every
//! operation whose source returns parameters that the track could have written.

use std::sync::Arc;

use super::feed::Feed;
use super::operation::Shared;
use super::schedule::PluginSchedule;
use crate::drive::exchange::Exchange;
use crate::drive::operation::{Answer, Pending, Plan, PlanFn, Runner, planned};
use crate::error::Error;
use crate::model::Task;
use crate::track::plugin::Lease;

pub(super) struct ParamsRunner {
    pub shared: Arc<Shared>,
    /// Replaces the operation's own planner.
    pub plan: Option<PlanFn>,
    pub feed: Feed,
    /// Index of the client, and number of clients of the task.
    pub client: (u32, u32),
    /// The task with the parameters of the next request.
    pub task: Task,
    pub next: Option<Box<dyn Runner>>,
    pub schedule: Option<PluginSchedule>,
    pub _lease: Arc<Lease>,
}

impl Runner for ParamsRunner {
    fn pending(&mut self) -> Option<Pending<'_>> {
        self.feed.pending()
    }

    fn prepare(&mut self) -> Result<bool, Error> {
        let Some(set) = self.feed.take() else { return Ok(false) };
        self.task.operation.params = set.params;
        if let Some(body) = set.body {
            let body = String::from_utf8(body).map_err(|_| {
                Error::parameter("the plugin's parameter source gave a body that is no UTF-8")
            })?;
            self.task.operation.params.insert("body".into(), body.into());
        }
        let Shared { track, protocol, checks_assertions, keeps_meta, .. } = &*self.shared;
        let mut plan = Plan::new(track, &self.task, protocol, *checks_assertions).of_source();
        plan.keeps_meta = *keeps_meta;
        let operation = match self.plan {
            Some(plan_operation) => plan_operation(&plan)?,
            None => planned(&mut plan)?,
        };
        let mut runners = operation.runners(&[self.client.0], self.client.1)?;
        let mut next = runners.pop().ok_or_else(|| Error::parameter("the operation has no runner"))?;
        let is_ready = next.prepare()?;
        self.next = Some(next);
        Ok(is_ready)
    }

    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        match &mut self.next {
            Some(next) => next.run(exchange),
            None => unreachable!("prepare comes first"),
        }
    }

    fn progress(&self) -> Option<f64> {
        self.feed.progress()
    }

    fn take_schedule(&mut self) -> Option<PluginSchedule> {
        self.schedule.take()
    }
}
