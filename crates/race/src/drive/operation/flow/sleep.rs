//! `sleep`: sends nothing for `duration` seconds (`runner.py`, `Sleep`).

use std::time::Duration;

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Operation, Outcome, Plan, Steady, steady};
use crate::error::Error;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let seconds = plan
        .number("duration")?
        .ok_or_else(|| Error::parameter("parameter 'duration' is mandatory for sleep operation"))?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| {
        Error::Parameter(format!("parameter 'duration' must be non-negative but was {seconds}"))
    })?;
    Ok(steady(Sleep(duration)))
}

struct Sleep(Duration);

impl Steady for Sleep {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            exchange.sleep(self.0).await;
            Ok(Outcome::ops(1))
        })
    }
}
