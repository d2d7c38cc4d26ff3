//! `bulk`: indexes the corpora (`runner.py`, `BulkIndex`; `track/params.py`, `BulkIndexParamSource`).
//!
//! The weight of a request is its number of documents, and the unit is `docs`. Only `errors` is read from the
//! answer; the items are read only when it is true or `detailed-results` asks for them.
//!
//! A client's next body is assembled while the client waits for an answer, so that between an answer and the
//! next request there is nothing left to do but send it. A client therefore holds two bodies.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::bulk_result::{BulkResult, says_no_errors};
use super::bulk_retry::{Sent, completed};
use crate::drive::conflicts::ConflictRule;
use crate::drive::documents::{BulkBody, BulkReader, OpenSet, ReadingRule};
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Runner};
use crate::error::Error;
use crate::http::{Method, Request};
use crate::model::DocumentSet;
use crate::track::load::selection::reads;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let bulk_documents = positive_integer(plan, "bulk-size")?.ok_or_else(|| Error::missing("bulk-size"))?;
    check_batch_size(plan, bulk_documents)?;
    let (ingest_percentage, ingest_documents) = amount(plan, bulk_documents)?;
    let mut builder =
        plan.request(Method::Put, "/_bulk")?.header("content-type", &plan.protocol.content_ndjson);
    let is_detailed = plan.flag("detailed-results")?.unwrap_or(false);
    if !is_detailed {
        builder = builder.enough_when(says_no_errors);
    }
    for name in ["timeout", "pipeline"] {
        if let Some(value) = plan.text(name)?.filter(|value| !value.is_empty()) {
            builder = builder.query(name, value);
        }
    }
    if let Some(refresh) = refresh(plan)? {
        builder = builder.query("refresh", &refresh);
    }
    let corpora = used_corpora(plan)?;
    let documents: u64 = corpora.iter().flatten().map(|set| set.documents).sum();
    if let Some(count) = ingest_documents.filter(|count| *count > documents) {
        return Err(Error::Parameter(format!(
            "'ingest-doc-count' must be less than or equal to the total number of documents in the corpus ({documents}) but \
             was {count}"
        )));
    }
    let conflicts = conflicts(plan, &corpora)?;
    Ok(Box::new(Bulk {
        request: plan.with_request_params(builder)?.build(),
        timeout: plan.timeout()?,
        rule: ReadingRule {
            bulk_documents,
            ingest_percentage,
            ingest_documents,
            is_looped: plan.flag("looped")?.unwrap_or(false),
            conflicts,
        },
        corpora: corpora.into(),
        is_detailed,
        keeps_meta: plan.keeps_meta,
        retries_on_429: plan.number("retries_on_429")?.unwrap_or(0.0) as u64,
    }))
}

fn positive_integer(plan: &Plan<'_>, name: &str) -> Result<Option<u64>, Error> {
    match plan.number(name)? {
        None => Ok(None),
        Some(value) if (1.0..1e15).contains(&value) => Ok(Some(value as u64)),
        Some(value) => Err(Error::Parameter(format!("'{name}' must be positive but was {value}"))),
    }
}

/// Checks `batch-size`. It only says how much is read at once, which means nothing for a mapped file, but
/// Rally's rules for it still apply.
fn check_batch_size(plan: &Plan<'_>, bulk_documents: u64) -> Result<(), Error> {
    match positive_integer(plan, "batch-size")? {
        Some(batch) if batch < bulk_documents => {
            Err(Error::parameter("'batch-size' must be greater than or equal to 'bulk-size'"))
        }
        Some(batch) if batch % bulk_documents != 0 => {
            Err(Error::parameter("'batch-size' must be a multiple of 'bulk-size'"))
        }
        _ => Ok(()),
    }
}

/// Reads `ingest-percentage` and `ingest-doc-count`.
fn amount(plan: &Plan<'_>, bulk_documents: u64) -> Result<(f64, Option<u64>), Error> {
    let percentage = plan.number("ingest-percentage")?;
    if let Some(value) = percentage.filter(|value| !(*value > 0.0 && *value <= 100.0)) {
        return Err(Error::Parameter(format!(
            "'ingest-percentage' must be in the range (0.0, 100.0] but was {value:.1}"
        )));
    }
    let documents = positive_integer(plan, "ingest-doc-count")?;
    if documents.is_some() && percentage.is_some() {
        return Err(Error::parameter("'ingest-doc-count' and 'ingest-percentage' are mutually exclusive"));
    }
    if let Some(count) = documents.filter(|count| count % bulk_documents != 0) {
        return Err(Error::Parameter(format!(
            "'ingest-doc-count' must be a multiple of 'bulk-size' ({bulk_documents}) but was {count}"
        )));
    }
    Ok((percentage.unwrap_or(100.0), documents))
}

/// Reads `conflicts` and the parameters that belong to it.
fn conflicts(plan: &Plan<'_>, corpora: &[Vec<OpenSet>]) -> Result<Option<ConflictRule>, Error> {
    let in_range = |name: &str, default: f64, max: f64| match plan.number(name)?.unwrap_or(default) {
        value if (0.0..=max).contains(&value) => Ok(value),
        value => {
            Err(Error::Parameter(format!("'{name}' must be in the range [0.0, {max:.1}] but was {value:.1}")))
        }
    };
    match plan.text("conflicts")? {
        None | Some("") => return Ok(None),
        Some("sequential" | "random") if plan.param("data-streams").is_some() => {
            return Err(Error::parameter("'conflicts' cannot be used with 'data-streams'"));
        }
        Some("sequential" | "random") => {}
        Some(other) => return Err(Error::Parameter(format!("Unknown 'conflicts' setting [{other}]"))),
    }
    let rule = ConflictRule {
        is_shuffled: plan.text("conflicts")? == Some("random"),
        probability: in_range("conflict-probability", 25.0, 100.0)? / 100.0,
        is_update: match plan.text("on-conflict")?.unwrap_or("index") {
            "index" => false,
            "update" => true,
            other => return Err(Error::Parameter(format!("Unknown 'on-conflict' setting [{other}]"))),
        },
        recency: in_range("recency", 0.0, 1.0)?,
    };
    for set in corpora.iter().flatten() {
        match &set.action {
            None => {
                return Err(Error::parameter(
                    "'conflicts' cannot be used with documents that have action lines",
                ));
            }
            Some(action) if action.verb == "create" => {
                return Err(Error::parameter("'conflicts' cannot be used with data streams"));
            }
            Some(_) => {}
        }
    }
    Ok(Some(rule))
}

fn refresh(plan: &Plan<'_>) -> Result<Option<String>, Error> {
    match plan.param("refresh") {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(value) => match crate::drive::operation::contract::plain(value) {
            value if ["wait_for", "true", "false"].contains(&value.as_str()) => Ok(Some(value)),
            other => Err(Error::Parameter(format!(
                "unsupported bulk refresh value: {other}; use one of [wait_for, true, false]"
            ))),
        },
    }
}

/// Opens the document sets that this task reads, grouped by corpus.
fn used_corpora(plan: &Plan<'_>) -> Result<Vec<Vec<OpenSet>>, Error> {
    let mut used = Vec::new();
    let params = plan.params(&["corpora", "indices", "data-streams"]);
    for corpus in &plan.track.corpora {
        let is_read = |set: &&DocumentSet| set.number_of_documents > 0 && reads(params, &corpus.name, set);
        let sets =
            corpus.documents.iter().filter(is_read).map(OpenSet::open).collect::<Result<Vec<_>, _>>()?;
        if !sets.is_empty() {
            used.push(sets);
        }
    }
    if used.is_empty() {
        let known: Vec<&str> = plan.track.corpora.iter().map(|corpus| corpus.name.as_str()).collect();
        return Err(match known.is_empty() {
            true => Error::Track("the track defines no corpora, which bulk needs".into()),
            false => {
                Error::Track(format!("no documents of the track's corpora [{}] match", known.join(", ")))
            }
        });
    }
    Ok(used)
}

struct Bulk {
    request: Request,
    timeout: Option<Duration>,
    rule: ReadingRule,
    corpora: Arc<[Vec<OpenSet>]>,
    is_detailed: bool,
    keeps_meta: bool,
    retries_on_429: u64,
}

impl Operation for Bulk {
    fn is_finite(&self) -> bool {
        true
    }

    fn runners(&self, clients: &[u32], clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
        let (Some(first), Some(last)) = (clients.first(), clients.last()) else { return Ok(Vec::new()) };
        let reader =
            BulkReader::new(Arc::clone(&self.corpora), (*first, *last, clients_total), self.rule.clone())?;
        let reader = Rc::new(RefCell::new(reader));
        let runner = |_: &u32| {
            Box::new(BulkRunner {
                request: self.request.clone(),
                timeout: self.timeout,
                reader: Rc::clone(&reader),
                body: BulkBody::default(),
                ahead: Ahead::default(),
                is_detailed: self.is_detailed,
                keeps_meta: self.keeps_meta,
                retries_on_429: self.retries_on_429,
            }) as Box<dyn Runner>
        };
        Ok(clients.iter().map(runner).collect())
    }
}

struct BulkRunner {
    request: Request,
    timeout: Option<Duration>,
    reader: Rc<RefCell<BulkReader>>,
    body: BulkBody,
    ahead: Ahead,
    is_detailed: bool,
    keeps_meta: bool,
    retries_on_429: u64,
}

/// The body of a client's next request.
#[derive(Default)]
struct Ahead {
    body: BulkBody,
    is_ready: bool,
    /// The reader's progress before the body was taken.
    progress: Option<f64>,
}

impl Ahead {
    fn take_from(&mut self, reader: &RefCell<BulkReader>) {
        let mut reader = reader.borrow_mut();
        self.progress = reader.progress();
        self.is_ready = reader.next(&mut self.body);
    }
}

impl Runner for BulkRunner {
    fn prepare(&mut self) -> Result<bool, Error> {
        if !self.ahead.is_ready {
            self.ahead.take_from(&self.reader);
        }
        std::mem::swap(&mut self.body, &mut self.ahead.body);
        Ok(std::mem::take(&mut self.ahead.is_ready))
    }

    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(self.send(exchange))
    }

    fn progress(&self) -> Option<f64> {
        if self.ahead.is_ready { self.ahead.progress } else { self.reader.borrow().progress() }
    }
}

impl BulkRunner {
    async fn send(&mut self, exchange: &mut Exchange) -> Result<Outcome, Failure> {
        let answer = exchange.send_body(&self.request, self.body.bytes(), self.timeout);
        let response = while_waiting(answer, || self.ahead.take_from(&self.reader)).await?;
        let first = BulkResult::read(&response, self.is_detailed)?;
        let sent = Sent {
            request: &self.request,
            body: self.body.bytes(),
            has_actions: true,
            timeout: self.timeout,
            is_detailed: self.is_detailed,
            retries_max: self.retries_on_429,
            documents: self.body.documents,
            unit: "docs",
            index: self.body.target.as_deref(),
            keeps_meta: self.keeps_meta,
        };
        completed(exchange, &sent, first).await
    }
}

/// Awaits `future`, and runs `work` when it has to wait for the first time. If it never has to wait, `work`
/// is not run.
async fn while_waiting<F: Future>(future: F, work: impl FnOnce()) -> F::Output {
    let mut future = pin!(future);
    let mut work = Some(work);
    poll_fn(|context| {
        let polled = future.as_mut().poll(context);
        if let (true, Some(work)) = (polled.is_pending(), work.take()) {
            work();
        }
        polled
    })
    .await
}
