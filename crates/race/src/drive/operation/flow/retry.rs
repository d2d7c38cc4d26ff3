//! Retries administrative operations (`runner.py`, `Retry`).
//!
//! Parameters: `retries` (0), `retry-until-success` (false), `retry-wait-period` (0.5 s), `retry-on-timeout`
//! (true), `retry-on-error` (false). Only time-outs (of the connection, or status 408) and lost connections
//! are retried, and with `retry-on-error` also answers whose condition does not hold yet.

use std::time::Duration;

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Plan, Steady, steady};
use crate::error::Error;

/// Wraps `operation` in the retries that the plan asks for.
pub(in crate::drive::operation) fn retried(
    plan: &Plan<'_>,
    operation: impl Steady,
) -> Result<Box<dyn Operation>, Error> {
    retry(plan, operation, false)
}

/// Wraps `operation` like [`retried`], with `retry-until-success` unless the plan says otherwise.
pub(in crate::drive::operation) fn retried_until_success(
    plan: &Plan<'_>,
    operation: impl Steady,
) -> Result<Box<dyn Operation>, Error> {
    retry(plan, operation, true)
}

fn retry(
    plan: &Plan<'_>,
    operation: impl Steady,
    until_success_default: bool,
) -> Result<Box<dyn Operation>, Error> {
    let until_success = plan.flag("retry-until-success")?.unwrap_or(until_success_default);
    let attempts_max = match until_success {
        true => u64::MAX,
        false => plan.number("retries")?.unwrap_or(0.0).max(0.0) as u64 + 1,
    };
    Ok(steady(Retry {
        operation,
        attempts_max,
        retries_on_error: until_success || plan.flag("retry-on-error")?.unwrap_or(false),
        retries_on_timeout: plan.flag("retry-on-timeout")?.unwrap_or(true),
        wait: plan.wait("retry-wait-period", 0.5)?,
    }))
}

struct Retry<S> {
    operation: S,
    attempts_max: u64,
    retries_on_error: bool,
    retries_on_timeout: bool,
    wait: Duration,
}

impl<S: Steady> Steady for Retry<S> {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let mut attempt = 1;
            loop {
                let result = self.operation.run(exchange).await;
                let is_last = attempt >= self.attempts_max;
                let tries_again = match &result {
                    Ok(outcome) => self.retries_on_error && !outcome.is_success,
                    Err(Failure::Connection { .. } | Failure::Timeout | Failure::Api { status: 408, .. }) => {
                        self.retries_on_timeout
                    }
                    Err(_) => false,
                };
                if is_last || !tries_again {
                    return result;
                }
                tokio::time::sleep(self.wait).await;
                attempt += 1;
            }
        })
    }
}
