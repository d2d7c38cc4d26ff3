//! `esql` and `esql-profile`: an ES|QL query (`runner.py`, `Esql`, `EsqlProfile`).
//!
//! Partial results count as an error.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Operation, Outcome, Plan, Steady, steady};
use crate::drive::probe::{Found, probe};
use crate::error::Error;
use crate::http::{Method, Request};

/// Values that `detailed-results` adds.
const DETAILS: [&str; 6] = [
    "took",
    "documents_found",
    "values_loaded",
    "completion_time_in_millis",
    "start_time_in_millis",
    "expiration_time_in_millis",
];

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    Ok(steady(Esql {
        request: request(plan, &[])?,
        timeout: plan.timeout()?,
        is_detailed: plan.flag("detailed-results")?.unwrap_or(false),
        keeps_meta: plan.keeps_meta,
    }))
}

/// Builds `POST /_query` with the operation's `body`, its `query` and `filter`, and the members `more`.
fn request(plan: &Plan<'_>, more: &[(&str, Value)]) -> Result<Request, Error> {
    let query = plan.mandatory("query")?;
    let mut body = match plan.param("body") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(body)) => body.clone(),
        Some(_) => return Err(Error::parameter("parameter 'body' must be an object")),
    };
    body.insert("query".into(), query.clone());
    body.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    if let Some(filter) = plan.param("filter").filter(|filter| !filter.is_null()) {
        body.insert("filter".into(), filter.clone());
    }
    let builder = plan.request_with_body(Method::Post, "/_query", Some(&Value::Object(body)))?;
    Ok(plan.with_request_params(builder)?.build())
}

struct Esql {
    request: Request,
    timeout: Option<Duration>,
    is_detailed: bool,
    keeps_meta: bool,
}

impl Steady for Esql {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.timeout).await?;
            let text = response.text()?;
            let [is_partial, took] = probe(&text, ["is_partial", "took"]);
            let is_partial = is_partial.and_then(Found::as_bool).unwrap_or(false);
            let took = took.and_then(Found::as_u64).map(Duration::from_millis);
            let mut outcome = Outcome { took, ..Outcome::ops(1) };
            if is_partial {
                outcome = outcome.failed("esql", "ES|QL query returned partial results".into());
            }
            if self.is_detailed {
                let figures = probe(&text, DETAILS).map(|found| found.and_then(Found::as_u64));
                let figures = DETAILS.iter().zip(figures).map(|(name, figure)| (*name, json!(figure)));
                let mut meta = json!({ "is_partial": is_partial });
                figures.for_each(|(name, figure)| meta[name] = figure);
                outcome = outcome.with_meta(meta);
            } else if self.keeps_meta {
                outcome = outcome.with_meta(json!({ "is_partial": is_partial }));
            }
            Ok(outcome)
        })
    }
}

pub(in crate::drive::operation) fn plan_profile(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let request = request(plan, &[("profile", json!(true))])?;
    Ok(steady(EsqlProfile { request, timeout: plan.timeout()? }))
}

struct EsqlProfile {
    request: Request,
    timeout: Option<Duration>,
}

impl Steady for EsqlProfile {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let answer = exchange.send(&self.request, self.timeout).await?.json()?;
            let took = answer["took"].as_u64().map(Duration::from_millis);
            Ok(Outcome { took, ..Outcome::ops(1) }.with_meta(Value::Object(profile(&answer["profile"]))))
        })
    }
}

const PHASES: [&str; 6] =
    ["query", "planning", "parsing", "preanalysis", "dependency_resolution", "analysis"];
const OPTIMIZATIONS: [&str; 3] = ["logical_optimization", "physical_optimization", "reduction"];

/// Flattens a profile into figures: `<phase>.took_ms`; for each driver, its number, its largest and total
/// times, and its operators' work; for each plan, the times of its optimizations.
fn profile(profile: &Value) -> Map<String, Value> {
    let mut figures = Map::new();
    let nanos = |value: &Value, name: &str| value[name].as_u64().unwrap_or(0);
    let in_ms = |nanos: u64| nanos as f64 / 1_000_000.0;
    for phase in PHASES {
        let took = nanos(&profile[phase], "took_nanos");
        if took > 0 {
            figures.insert(format!("{phase}.took_ms"), json!(in_ms(took)));
        }
    }
    for driver in profile["drivers"].as_array().into_iter().flatten() {
        let name = driver["description"].as_str().unwrap_or("unknown");
        let (took, cpu) = (in_ms(nanos(driver, "took_nanos")), in_ms(nanos(driver, "cpu_nanos")));
        count(&mut figures, format!("{name}.number"), 1);
        largest(&mut figures, format!("{name}.took_ms"), took);
        largest(&mut figures, format!("{name}.cpu_ms"), cpu);
        total(&mut figures, format!("{name}.took_total_ms"), took);
        total(&mut figures, format!("{name}.cpu_total_ms"), cpu);
        for (index, operator) in driver["operators"].as_array().into_iter().flatten().enumerate() {
            let fallback = format!("operator_{index}");
            let operator_name = operator["operator"].as_str().unwrap_or(&fallback);
            let operator_name = operator_name.split('[').next().unwrap_or(operator_name);
            let status = &operator["status"];
            let worked = ["process_nanos", "receive_nanos", "emit_nanos"].map(|part| nanos(status, part));
            let worked: u64 = worked.iter().sum();
            if worked > 0 {
                total(&mut figures, format!("{name}.{operator_name}.process_ms"), in_ms(worked));
            }
            let slices = nanos(status, "processed_slices");
            if slices > 0 {
                count(&mut figures, format!("{name}.{operator_name}.processed_slices"), slices);
            }
        }
    }
    for plan in profile["plans"].as_array().into_iter().flatten() {
        let name = plan["description"].as_str().unwrap_or("unknown");
        for optimization in OPTIMIZATIONS {
            let took = nanos(plan, &format!("{optimization}_nanos"));
            if took > 0 {
                total(&mut figures, format!("{name}.{optimization}.took_ms"), in_ms(took));
            }
        }
    }
    figures
}

fn count(figures: &mut Map<String, Value>, name: String, add: u64) {
    let value = figures.entry(name).or_insert(json!(0));
    *value = json!(value.as_u64().unwrap_or(0) + add);
}

fn total(figures: &mut Map<String, Value>, name: String, add: f64) {
    let value = figures.entry(name).or_insert(json!(0.0));
    *value = json!(value.as_f64().unwrap_or(0.0) + add);
}

fn largest(figures: &mut Map<String, Value>, name: String, candidate: f64) {
    let value = figures.entry(name).or_insert(json!(0.0));
    *value = json!(value.as_f64().unwrap_or(0.0).max(candidate));
}
