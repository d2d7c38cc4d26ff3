//! Turns a task into an operation that is ready to run.
//!
//! The planner of the task's type checks the parameters and builds the requests. Parameters that it did not
//! read lead to warnings, and assertions are wrapped around the operation.

use super::KINDS;
use super::contract::{Operation, Plan};
use super::flow::assertions;
use super::flow::assertions::Assertions;
use crate::error::Error;

/// Plans the task of `plan`.
///
/// Errors: what is wrong with the operation's type or parameters.
pub(crate) fn planned(plan: &mut Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let operation = &plan.task.operation;
    let kind = operation.kind.as_str();
    let (_, plan_operation) = KINDS
        .iter()
        .find(|(name, _)| *name == kind)
        .ok_or_else(|| Error::Unsupported(format!("operation type [{kind}] is not supported")))?;
    let assertions = Assertions::plan(plan)?;
    plan.keeps_meta |= assertions.is_some();
    let planned = plan_operation(plan)?;
    for name in plan.unread() {
        plan.warn(format!("Parameter [{name}] of operation [{}] has no effect on [{kind}].", operation.name));
    }
    Ok(match assertions {
        Some(assertions) => assertions::asserting(planned, assertions),
        None => planned,
    })
}
