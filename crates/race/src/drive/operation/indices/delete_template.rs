//! `delete-index-template`, `delete-composable-template`, `delete-component-template` (`runner.py`,
//! `Delete…Template`).
//!
//! The indices that match an index template can be deleted with it (`delete-matching-indices`).

use std::time::Duration;

use serde_json::{Value, json};

use super::delete_index::Deletion;
use super::destructive::DestructiveSetting;
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady};
use crate::drive::operation::flow::retry::retried;
use crate::error::Error;
use crate::http::{Method, Request};
use crate::model::Template;

pub(in crate::drive::operation) fn plan_index_template(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    delete(plan, "/_template", &plan.track.templates, true)
}

pub(in crate::drive::operation) fn plan_composable_template(
    plan: &Plan<'_>,
) -> Result<Box<dyn Operation>, Error> {
    delete(plan, "/_index_template", &plan.track.composable_templates, true)
}

pub(in crate::drive::operation) fn plan_component_template(
    plan: &Plan<'_>,
) -> Result<Box<dyn Operation>, Error> {
    delete(plan, "/_component_template", &plan.track.component_templates, false)
}

fn delete(
    plan: &Plan<'_>,
    path: &str,
    templates: &[Template],
    has_indices: bool,
) -> Result<Box<dyn Operation>, Error> {
    let filter = plan.text("template")?;
    let only_if_exists = plan.flag("only-if-exists")?.unwrap_or(true);
    // (template, pattern of the indices to delete with it)
    let mut targets: Vec<(String, Option<String>)> = Vec::new();
    if templates.is_empty() {
        let name = filter.ok_or_else(|| {
            Error::Parameter(format!(
                "Please set the property 'template' for the {} operation",
                plan.task.operation.kind
            ))
        })?;
        let pattern = match plan.flag("delete-matching-indices")?.unwrap_or(false) {
            true => Some(plan.text("index-pattern")?.ok_or_else(|| Error::parameter("The property 'index-pattern' is required for delete-index-template if 'delete-matching-indices' is \
                 true."))?),
            false => None,
        };
        targets.push((name.to_owned(), pattern.map(str::to_owned)));
    }
    for template in templates.iter().filter(|template| filter.is_none_or(|name| name == template.name)) {
        let pattern = template.delete_matching_indices.then(|| template.index_pattern.clone());
        targets.push((template.name.clone(), pattern));
    }
    let target = |(name, pattern): (String, Option<String>)| -> Result<_, Error> {
        let indices = match pattern.filter(|pattern| has_indices && !pattern.is_empty()) {
            Some(pattern) => Some(plan.request(Method::Delete, &format!("/{pattern}"))?.build()),
            None => None,
        };
        Ok((Deletion::plan(plan, &format!("{path}/{name}"), only_if_exists)?, indices))
    };
    retried(
        plan,
        DeleteTemplate {
            targets: targets.into_iter().map(target).collect::<Result<_, _>>()?,
            setting: DestructiveSetting::plan(plan)?,
            timeout: plan.timeout()?,
        },
    )
}

struct DeleteTemplate {
    targets: Vec<(Deletion, Option<Request>)>,
    setting: DestructiveSetting,
    timeout: Option<Duration>,
}

impl Steady for DeleteTemplate {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            // The setting is changed only when the first pattern is about to be deleted.
            let mut before = None;
            let deleted = self.delete_all(exchange, &mut before).await;
            let mut changes = 0;
            if let Some(before) = before {
                self.setting.set(exchange, before).await?;
                changes += 1;
            }
            Ok(Outcome::ops(deleted? + changes))
        })
    }
}

impl DeleteTemplate {
    /// Deletes all targets and returns their number. As in Rally, changes of the setting count as well.
    /// `before` receives the value to restore once the setting was changed.
    async fn delete_all(&self, exchange: &mut Exchange, before: &mut Option<Value>) -> Result<u64, Failure> {
        let mut deleted = 0;
        for (template, indices) in &self.targets {
            deleted += template.run(exchange, self.timeout).await?;
            if let Some(indices) = indices {
                if before.is_none() {
                    *before = Some(self.setting.set(exchange, json!(false)).await?);
                    deleted += 1;
                }
                exchange.send(indices, self.timeout).await?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }
}
