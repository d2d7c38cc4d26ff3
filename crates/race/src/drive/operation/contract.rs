//! The interface between operations and the clients that run them.
//!
//! Before the race each task is planned once: parameters are checked and requests built ([`Plan`] to
//! [`Operation`]). The operation then makes one [`Runner`] for each client of a worker. A client calls
//! [`Runner::prepare`] outside the measured time and [`Runner::run`] within it.

use crate::error::Error;
use crate::record::sample::{Details, ErrorNote};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::drive::exchange::Exchange;
use crate::drive::plugin::schedule::PluginSchedule;
use crate::http::{Method, Request, RequestBuilder};
use crate::model::{Params, Task, Track, bare_text};
use crate::protocol::Protocol;

/// What an operation knows when it is planned.
pub(crate) struct Plan<'a> {
    pub track: &'a Track,
    pub task: &'a Task,
    pub protocol: &'a Protocol,
    /// Whether the track's assertions are checked (`--enable-assertions`).
    pub checks_assertions: bool,
    /// Whether samples carry Rally's meta data of each request; see [`Details::meta`].
    pub keeps_meta: bool,
    /// Whether the operation is a request of a `composite`.
    pub is_in_composite: bool,
    /// Whether the parameters are those of one request, from a parameter source of the track's plugin.
    pub is_of_source: bool,
    /// Names of the parameters that were read; see [`Plan::unread`].
    read: RefCell<BTreeSet<String>>,
    warnings: RefCell<Vec<String>>,
}

/// Parameters that describe an operation and are read when the track is loaded.
const DESCRIPTIONS: [&str; 7] =
    ["name", "operation-type", "param-source", "include-in-reporting", "meta", "tags", "description"];

/// A planned operation, shared by all clients of its task.
pub(crate) trait Operation: Send + Sync {
    /// Whether the task ends by itself, because its parameters run out or the operation reports that it is
    /// done ([`Details::completion`]).
    fn is_finite(&self) -> bool {
        false
    }

    /// Returns one runner for each of `clients`, which are ascending indices within the task and belong to
    /// one worker. The task has `clients_total` clients.
    ///
    /// Errors: the reason why the task cannot run.
    fn runners(&self, clients: &[u32], clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error>;
}

/// One client's side of an operation.
pub(crate) trait Runner {
    /// Returns what has to be awaited before [`Runner::prepare`], for parameters that come from elsewhere.
    /// Runners that already have their parameters return `None`, which costs nothing.
    fn pending(&mut self) -> Option<Pending<'_>> {
        None
    }

    /// Prepares the next request before any clock starts. Returns false when the parameters have run out.
    fn prepare(&mut self) -> Result<bool, Error> {
        Ok(true)
    }

    /// Runs the operation once. The boxed future is one small allocation, which costs about 1 % of the system
    /// calls.
    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a>;

    /// Returns the share of the parameters used up, in [0, 1].
    fn progress(&self) -> Option<f64> {
        None
    }

    /// Returns the scheduler of the track's plugin that says when requests are due. It is called once.
    fn take_schedule(&mut self) -> Option<PluginSchedule> {
        None
    }
}

/// A wait. Errors: the reason why the task cannot continue.
pub(crate) type Pending<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + 'a>>;

pub(crate) type Answer<'a> = Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + 'a>>;

/// The result of one run of an operation.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub weight: u64,
    pub unit: &'static str,
    /// The server's own time (`took`), if the answer has it.
    pub took: Option<Duration>,
    pub error: Option<Box<ErrorNote>>,
    /// False if a repetition may succeed, even though the request itself succeeded (Rally's
    /// `success: false`).
    pub is_success: bool,
    /// Results that only few operations have.
    pub details: Option<Box<Details>>,
}

impl Outcome {
    pub(crate) fn ops(weight: u64) -> Outcome {
        Outcome { weight, unit: "ops", took: None, error: None, is_success: true, details: None }
    }

    /// Returns the outcome of a request that succeeded, but whose condition does not hold (yet).
    pub(crate) fn unmet(description: String) -> Outcome {
        Outcome::ops(1).failed("unmet", description)
    }

    /// Returns this outcome with an error of this kind, although the request succeeded.
    pub(crate) fn failed(self, kind: &'static str, description: String) -> Outcome {
        let note = ErrorNote { kind, status: None, description };
        Outcome { error: Some(Box::new(note)), is_success: false, ..self }
    }

    /// Adds Rally's meta data of the request; `meta` must be an object.
    pub(crate) fn with_meta(mut self, meta: Value) -> Outcome {
        if let Value::Object(meta) = meta {
            self.details.get_or_insert_default().meta = meta;
        }
        self
    }
}

/// How a run of an operation failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection was refused, reset or closed. Ends the race under every error behaviour except
    /// `continue-on-network`.
    Connection { description: String },
    /// There was no answer within the request's time-out.
    Timeout,
    /// The answer is not HTTP, or does not have what the operation reads from it.
    Transport { description: String },
    /// The server answered with an error status.
    Api { status: u16, description: String },
    /// No later request could succeed either: a failed assertion, a parameter of the wrong type. Ends the
    /// race.
    Fatal(Box<Error>),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Fatal(Box::new(error))
    }
}

impl Failure {
    /// Returns the failure as meta data of its sample; `None` for fatal ones, which leave no sample.
    pub(crate) fn note(&self) -> Option<ErrorNote> {
        let (kind, status, description) = match self {
            Failure::Connection { description } | Failure::Transport { description } => {
                ("transport", None, description.clone())
            }
            Failure::Timeout => ("transport", None, "network connection timed out".to_owned()),
            Failure::Api { status, description } => ("api", Some(*status), description.clone()),
            Failure::Fatal(_) => return None,
        };
        Some(ErrorNote { kind, status, description })
    }
}

/// An operation that does the same for every client each time.
pub(super) trait Steady: Send + Sync + 'static {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a>;
}

/// Makes an [`Operation`] of a [`Steady`] one.
pub(super) fn steady(operation: impl Steady) -> Box<dyn Operation> {
    Box::new(SteadyOperation(Arc::new(operation)))
}

struct SteadyOperation<S>(Arc<S>);

impl<S: Steady> Operation for SteadyOperation<S> {
    fn runners(&self, clients: &[u32], _clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
        let runner = |_: &u32| Box::new(SteadyRunner(Arc::clone(&self.0))) as Box<dyn Runner>;
        Ok(clients.iter().map(runner).collect())
    }
}

struct SteadyRunner<S>(Arc<S>);

impl<S: Steady> Runner for SteadyRunner<S> {
    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        self.0.run(exchange)
    }
}

impl<'a> Plan<'a> {
    pub(crate) fn new(
        track: &'a Track,
        task: &'a Task,
        protocol: &'a Protocol,
        checks_assertions: bool,
    ) -> Plan<'a> {
        Plan {
            track,
            task,
            protocol,
            checks_assertions,
            keeps_meta: false,
            is_in_composite: false,
            is_of_source: false,
            read: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// Adds a warning that the user sees before the race.
    pub(crate) fn warn(&self, warning: String) {
        self.warnings.borrow_mut().push(warning);
    }

    pub(crate) fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// Refuses an operation that stores or needs an id in the context of a `composite`, if it is outside of
    /// one.
    pub(crate) fn only_in_composite(&self) -> Result<(), Error> {
        match self.is_in_composite {
            true => Ok(()),
            false => Err(Error::parameter("This operation is only allowed inside a composite operation.")),
        }
    }

    pub(crate) fn of_source(self) -> Plan<'a> {
        Plan { is_of_source: true, ..self }
    }

    /// Returns a parameter of the operation.
    pub(crate) fn param(&self, name: &str) -> Option<&Value> {
        self.read.borrow_mut().insert(name.to_owned());
        self.task.operation.params.get(name)
    }

    /// Returns all parameters, for callers that read several of them; `read` has the names of those.
    pub(crate) fn params(&self, read: &[&str]) -> &Params {
        self.read.borrow_mut().extend(read.iter().map(|name| (*name).to_owned()));
        &self.task.operation.params
    }

    /// Returns the names of the parameters that planning did not read. They have no effect.
    pub(crate) fn unread(&self) -> Vec<&str> {
        let read = self.read.borrow();
        let names = self.task.operation.params.keys().map(String::as_str);
        names.filter(|name| !DESCRIPTIONS.contains(name) && !read.contains(*name)).collect()
    }

    /// Builds a request with the headers that every track operation sends, and the operation's own `headers`
    /// and `opaque-id`.
    pub(crate) fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, Error> {
        let mut builder = Request::builder(method, path)
            .header("accept", &self.protocol.accept)
            .header("accept-encoding", "gzip, deflate");
        if let Some(id) = self.text("opaque-id")? {
            builder = builder.header("x-opaque-id", id);
        }
        match self.param("headers") {
            None | Some(Value::Null) => {}
            Some(Value::Object(headers)) => {
                for (name, value) in headers {
                    builder = builder.header(name, &plain(value));
                }
            }
            Some(_) => return Err(Error::parameter("parameter 'headers' must be an object")),
        }
        Ok(builder)
    }

    /// Builds a [`Plan::request`] with a JSON body. If `body` is absent or `null`, the request has none.
    pub(crate) fn request_with_body(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<RequestBuilder, Error> {
        let builder = self.request(method, path)?;
        Ok(match body {
            None | Some(Value::Null) => builder,
            Some(body) => self.with_json(builder, body),
        })
    }

    pub(crate) fn with_json(&self, builder: RequestBuilder, body: &Value) -> RequestBuilder {
        // Tracks may give a body as a string, which is sent as it is.
        let text = bare_text(body).into_bytes();
        builder.header("content-type", &self.protocol.content_json).body(text)
    }

    /// Adds the operation's `request-params` to the query string.
    pub(crate) fn with_request_params(&self, mut builder: RequestBuilder) -> Result<RequestBuilder, Error> {
        for (name, value) in self.request_params()? {
            if !value.is_null() && name != "ignore" {
                builder = builder.query(name, &plain(value));
            }
        }
        Ok(builder)
    }

    /// Returns the `request-params`; empty when absent.
    pub(crate) fn request_params(&self) -> Result<impl Iterator<Item = (&str, &Value)>, Error> {
        let params = match self.param("request-params") {
            None | Some(Value::Null) => None,
            Some(Value::Object(params)) => Some(params),
            Some(_) => return Err(Error::parameter("parameter 'request-params' must be an object")),
        };
        Ok(params.into_iter().flatten().map(|(name, value)| (name.as_str(), value)))
    }

    /// Returns the `request-timeout`; `None` means the client option `timeout`.
    pub(crate) fn timeout(&self) -> Result<Option<Duration>, Error> {
        match self.number("request-timeout")? {
            None => Ok(None),
            Some(seconds) => Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| {
                Error::Parameter(format!("parameter 'request-timeout' must be positive but was {seconds}"))
            }),
        }
    }

    /// Returns a string parameter.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Error> {
        match self.param(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => {
                Err(Error::Parameter(format!("parameter '{name}' must be a string but was {other}")))
            }
        }
    }

    pub(crate) fn mandatory(&self, name: &str) -> Result<&Value, Error> {
        match self.param(name) {
            None | Some(Value::Null) => Err(Error::missing(name)),
            Some(value) => Ok(value),
        }
    }

    pub(crate) fn mandatory_text(&self, name: &str) -> Result<&str, Error> {
        self.mandatory(name)?;
        self.text(name)?.ok_or_else(|| Error::missing(name))
    }

    /// Returns the time to wait between two requests, from a parameter in seconds or `default_s`.
    pub(crate) fn wait(&self, name: &str, default_s: f64) -> Result<Duration, Error> {
        let seconds = self.number(name)?.unwrap_or(default_s);
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| Error::Parameter(format!("'{name}' must not be negative but was {seconds}")))
    }

    /// Returns a number; tracks also write numbers as strings.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, Error> {
        let wrong =
            |value: &Value| Error::Parameter(format!("parameter '{name}' must be numeric but was {value}"));
        match self.param(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value @ Value::Number(number)) => number.as_f64().map(Some).ok_or_else(|| wrong(value)),
            Some(value @ Value::String(text)) => text.trim().parse().map(Some).map_err(|_| wrong(value)),
            Some(value) => Err(wrong(value)),
        }
    }

    /// Returns a truth value; templates also render it as a string.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.param(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(other) => {
                Err(Error::Parameter(format!("parameter '{name}' must be true or false but was {other}")))
            }
        }
    }

    /// Returns one name or a list of names; `None` when absent or empty.
    pub(crate) fn names(&self, name: &str) -> Result<Option<Vec<String>>, Error> {
        let wrong = || Error::Parameter(format!("parameter '{name}' must be a name or a list of names"));
        match self.param(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(vec![text.clone()])),
            Some(Value::Array(items)) if items.is_empty() => Ok(None),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(_) => Err(wrong()),
        }
    }

    /// Returns the index or data stream that the operation works on: its own `index` or `data-stream`, else
    /// the track's only one. It is empty, which means everything, if a plugin's parameter source names none.
    pub(crate) fn target(&self) -> Result<Option<String>, Error> {
        let own = self.names("index")?.or(self.names("data-stream")?).map(|names| names.join(","));
        if self.is_of_source {
            // Rally's runners do not use the track for parameters that the source left out.
            return Ok(Some(own.unwrap_or_default()));
        }
        Ok(own.or_else(|| match (&self.track.indices[..], &self.track.data_streams[..]) {
            ([index], _) => Some(index.name.clone()),
            (_, [stream]) => Some(stream.clone()),
            _ => None,
        }))
    }
}

/// Returns a parameter's value as it is written in a query string or header.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => bare_text(other),
    }
}
