//! `composite`: several requests, possibly concurrent ones, measured as one (`runner.py`, `Composite`).
//!
//! `requests` is a list of operations, which run one after the other, and of objects `{"stream": [...]}` with
//! lists of the same kind. Consecutive streams run concurrently, and the next operation waits for all of
//! them. At most `max-connections` requests are in flight at a time. Each stream has its own connections. Ids
//! that a request stores (of points in time and asynchronous searches) are visible to all later requests.
//!
//! The service time lasts from the first request to the last answer. The times of the individual requests go
//! into [`Details::dependent`].

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use serde_json::Value;
use tokio::sync::Semaphore;

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Runner};
use crate::drive::operation::planned;
use crate::error::Error;
use crate::model::{self, Params, Task};
use crate::record::sample::DependentTiming;

/// The operations that Rally allows.
const ALLOWED: [&str; 11] = [
    "open-point-in-time",
    "close-point-in-time",
    "search",
    "paginated-search",
    "composite-agg",
    "raw-request",
    "sleep",
    "submit-async-search",
    "get-async-search",
    "delete-async-search",
    "field-caps",
];

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let connections_max = match plan.number("max-connections")? {
        None => Semaphore::MAX_PERMITS,
        Some(count) if count >= 1.0 => (count as usize).min(Semaphore::MAX_PERMITS),
        Some(count) => {
            return Err(Error::Parameter(format!("'max-connections' must be positive but was {count}")));
        }
    };
    let requests = stream(plan, plan.mandatory("requests")?)?;
    Ok(Box::new(Composite { requests, connections_max }))
}

/// Plans a list of requests.
fn stream(plan: &Plan<'_>, items: &Value) -> Result<Vec<Item>, Error> {
    let items = items.as_array().ok_or_else(|| Error::parameter("'requests' and 'stream' must be lists"))?;
    items
        .iter()
        .map(|item| match (item.get("stream"), item.get("operation-type")) {
            (Some(items), _) => Ok(Item::Stream(stream(plan, items)?)),
            (None, Some(kind)) => request(plan, item, kind.as_str().unwrap_or_default()),
            (None, None) => {
                Err(Error::parameter("Requests structure must contain [stream] or [operation-type]."))
            }
        })
        .collect()
}

fn request(plan: &Plan<'_>, item: &Value, kind: &str) -> Result<Item, Error> {
    if !ALLOWED.contains(&kind) {
        let allowed = ALLOWED.join(", ");
        return Err(Error::Parameter(format!(
            "Unsupported operation-type [{kind}]. Use one of [{allowed}]."
        )));
    }
    let params: Params = item.as_object().cloned().unwrap_or_default();
    let name = params.get("name").and_then(Value::as_str).unwrap_or(kind).to_owned();
    let operation = model::Operation {
        name: name.clone(),
        kind: kind.to_owned(),
        params,
        param_source: None,
        meta: Params::new(),
        include_in_reporting: true,
    };
    let task = Task { operation, ..plan.task.clone() };
    let mut inner = Plan::new(plan.track, &task, plan.protocol, plan.checks_assertions);
    (inner.keeps_meta, inner.is_in_composite) = (plan.keeps_meta, true);
    let operation = planned(&mut inner).map_err(|reason| reason.within(format_args!("request [{name}]")))?;
    inner.take_warnings().into_iter().for_each(|warning| plan.warn(warning));
    Ok(Item::Request { operation, name: name.into(), kind: kind.into() })
}

enum Item {
    Request { operation: Box<dyn Operation>, name: Arc<str>, kind: Arc<str> },
    Stream(Vec<Item>),
}

struct Composite {
    requests: Vec<Item>,
    connections_max: usize,
}

impl Operation for Composite {
    fn runners(&self, clients: &[u32], clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
        let runner = |client: &u32| -> Result<Box<dyn Runner>, Error> {
            Ok(Box::new(CompositeRunner {
                main: StreamRunner::new(&self.requests, *client, clients_total)?,
                connections: Rc::new(Semaphore::new(self.connections_max)),
            }))
        };
        clients.iter().map(runner).collect()
    }
}

struct CompositeRunner {
    main: StreamRunner,
    /// A permit for each request that may be in flight.
    connections: Rc<Semaphore>,
}

impl Runner for CompositeRunner {
    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            exchange.begin_context();
            let mut timings = Vec::new();
            let result = self.main.run(exchange, &self.connections, &mut timings).await;
            exchange.end_context();
            if let Err(failure) = result {
                // Requests of other streams were aborted halfway. Their late answers must not be taken for
                // answers to later requests.
                self.main.disconnect();
                return Err(failure);
            }
            let mut outcome = Outcome::ops(1);
            outcome.details.get_or_insert_default().dependent = timings;
            Ok(outcome)
        })
    }
}

enum ItemRunner {
    Request { runner: Box<dyn Runner>, name: Arc<str>, kind: Arc<str> },
    Stream { stream: StreamRunner, exchange: Option<Box<Exchange>> },
}

struct StreamRunner(Vec<ItemRunner>);

type Timings = Vec<DependentTiming>;
/// Start of the first request and end of the last answer.
type Span = Option<(Instant, Instant)>;
type Running<'a> = Pin<Box<dyn Future<Output = Result<(Timings, Span), Failure>> + 'a>>;

impl StreamRunner {
    fn new(items: &[Item], client: u32, clients_total: u32) -> Result<StreamRunner, Error> {
        let runner = |item: &Item| match item {
            Item::Request { operation, name, kind } => {
                let mut runners = operation.runners(&[client], clients_total)?;
                let runner =
                    runners.pop().ok_or_else(|| Error::Parameter(format!("[{name}] cannot be run")))?;
                Ok(ItemRunner::Request { runner, name: Arc::clone(name), kind: Arc::clone(kind) })
            }
            Item::Stream(items) => Ok(ItemRunner::Stream {
                stream: StreamRunner::new(items, client, clients_total)?,
                exchange: None,
            }),
        };
        items.iter().map(runner).collect::<Result<_, Error>>().map(StreamRunner)
    }

    /// Closes the connections of all streams.
    fn disconnect(&mut self) {
        for item in &mut self.0 {
            if let ItemRunner::Stream { stream, exchange } = item {
                *exchange = None;
                stream.disconnect();
            }
        }
    }

    /// Runs the list. Timings are added in Rally's order: streams in the order of the list, before the
    /// request that waits for them.
    async fn run(
        &mut self,
        exchange: &mut Exchange,
        connections: &Semaphore,
        timings: &mut Timings,
    ) -> Result<(), Failure> {
        let mut streams: Vec<Running<'_>> = Vec::new();
        for item in &mut self.0 {
            match item {
                ItemRunner::Stream { stream, exchange: own } => {
                    let own = own.get_or_insert_with(|| Box::new(exchange.sibling()));
                    own.share_context(exchange);
                    own.begin();
                    streams.push(Box::pin(async move {
                        let mut timings = Vec::new();
                        stream.run(own, connections, &mut timings).await?;
                        Ok((timings, own.span()))
                    }));
                }
                ItemRunner::Request { runner, name, kind } => {
                    finish(&mut streams, exchange, timings).await?;
                    timings.extend(timed(runner.as_mut(), exchange, connections, (name, kind)).await?);
                }
            }
        }
        finish(&mut streams, exchange, timings).await
    }
}

/// Waits for all streams, which run concurrently. After the first failure the others are not continued.
async fn finish(
    streams: &mut Vec<Running<'_>>,
    exchange: &mut Exchange,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let mut done: Vec<Option<Timings>> = streams.iter().map(|_| None).collect();
    let mut spans = Vec::new();
    poll_fn(|context| {
        let mut is_pending = false;
        for (stream, done) in streams.iter_mut().zip(&mut done) {
            if done.is_some() {
                continue;
            }
            match stream.as_mut().poll(context) {
                Poll::Ready(Ok((timings, span))) => {
                    spans.push(span);
                    *done = Some(timings);
                }
                Poll::Ready(Err(failure)) => return Poll::Ready(Err(failure)),
                Poll::Pending => is_pending = true,
            }
        }
        if is_pending { Poll::Pending } else { Poll::Ready(Ok(())) }
    })
    .await?;
    streams.clear();
    spans.into_iter().for_each(|span| exchange.include(span));
    timings.extend(done.into_iter().flatten().flatten());
    Ok(())
}

/// Runs one request with a permit, and measures its own service time.
async fn timed(
    runner: &mut dyn Runner,
    exchange: &mut Exchange,
    connections: &Semaphore,
    (name, kind): (&Arc<str>, &Arc<str>),
) -> Result<Option<DependentTiming>, Failure> {
    let _permit = connections.acquire().await.expect("the semaphore is never closed");
    if !runner.prepare()? {
        return Ok(None);
    }
    let before = exchange.span();
    exchange.begin();
    let result = runner.run(exchange).await;
    let span = exchange.span();
    exchange.include(before);
    let outcome = result?;
    Ok(span.map(|(request_start, request_end)| DependentTiming {
        operation: Arc::clone(name),
        operation_type: Arc::clone(kind),
        request_start,
        service_time: request_end - request_start,
        meta: outcome.details.map(|details| details.meta).unwrap_or_default(),
    }))
}
