//! `delete-index`: deletes the track's indices, or those that the operation names (`runner.py`,
//! `DeleteIndex`).

use std::time::Duration;

use serde_json::json;

use super::destructive::DestructiveSetting;
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady};
use crate::drive::operation::flow::retry::retried;
use crate::error::Error;
use crate::http::{Method, Request, in_path};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let names = plan
        .names("index")?
        .unwrap_or_else(|| plan.track.indices.iter().map(|index| index.name.clone()).collect());
    if names.is_empty() {
        return Err(Error::parameter("delete-index operation targets no index"));
    }
    let only_if_exists = plan.flag("only-if-exists")?.unwrap_or(true);
    let deletions =
        names.iter().map(|name| Deletion::plan(plan, &format!("/{}", in_path(name)), only_if_exists));
    retried(
        plan,
        DeleteIndex {
            deletions: Deletions {
                deletions: deletions.collect::<Result<_, _>>()?,
                timeout: plan.timeout()?,
            },
            setting: DestructiveSetting::plan(plan)?,
        },
    )
}

/// The deletion of one index, template or the like, which may be missing.
pub(in crate::drive::operation) struct Deletion {
    exists: Option<Request>,
    delete: Request,
}

impl Deletion {
    /// With `only_if_exists`, a request first asks whether it exists; otherwise a missing one is no error.
    pub(in crate::drive::operation) fn plan(
        plan: &Plan<'_>,
        path: &str,
        only_if_exists: bool,
    ) -> Result<Deletion, Error> {
        Deletion::plan_apart(plan, path, path, only_if_exists)
    }

    /// Plans a deletion like [`Deletion::plan`], if the path that is asked differs from the one that is
    /// deleted.
    pub(in crate::drive::operation) fn plan_apart(
        plan: &Plan<'_>,
        exists_path: &str,
        path: &str,
        only_if_exists: bool,
    ) -> Result<Deletion, Error> {
        let delete = plan.with_request_params(plan.request(Method::Delete, path)?)?;
        Ok(match only_if_exists {
            true => Deletion {
                exists: Some(plan.request(Method::Head, exists_path)?.ignore_statuses(&[404]).build()),
                delete: delete.build(),
            },
            false => Deletion { exists: None, delete: delete.ignore_statuses(&[404]).build() },
        })
    }

    /// Returns the number of deletions: 0 or 1.
    pub(in crate::drive::operation) async fn run(
        &self,
        exchange: &mut Exchange,
        timeout: Option<Duration>,
    ) -> Result<u64, Failure> {
        if let Some(exists) = &self.exists
            && !exchange.send(exists, timeout).await?.is_success()
        {
            return Ok(0);
        }
        exchange.send(&self.delete, timeout).await?;
        Ok(1)
    }
}

/// Runs deletions one after the other; the weight is the number of things deleted.
pub(in crate::drive::operation) struct Deletions {
    pub deletions: Vec<Deletion>,
    pub timeout: Option<Duration>,
}

impl Steady for Deletions {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let mut deleted = 0;
            for deletion in &self.deletions {
                deleted += deletion.run(exchange, self.timeout).await?;
            }
            Ok(Outcome::ops(deleted))
        })
    }
}

struct DeleteIndex {
    deletions: Deletions,
    setting: DestructiveSetting,
}

impl Steady for DeleteIndex {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let before = self.setting.set(exchange, json!(false)).await?;
            let deleted = self.deletions.run(exchange).await;
            self.setting.set(exchange, before).await?;
            deleted
        })
    }
}
