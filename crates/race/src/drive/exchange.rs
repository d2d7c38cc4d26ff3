//! An operation's connection to the server, and what is measured on it.
//!
//! An [`Exchange`] belongs to one client. It rotates over the target hosts, distinguishes failures as Rally
//! does (`driver.py`, `execute_single`), and measures the service time: the time from the first byte sent to
//! the last byte received over all requests of one operation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::driver::Target;
use super::operation::Failure;
use crate::error::Error;
use crate::http::{Connection, Head, HttpError, Packer, Packing, Request, Response};
use crate::server::hosts::Retries;

pub(crate) struct Exchange {
    connections: Vec<Connection>,
    next: usize,
    timeout: Duration,
    retries: Retries,
    packer: Option<Packer>,
    span: Option<(Instant, Instant)>,
    context: Option<Rc<Context>>,
}

/// Ids that requests of a `composite` leave for later ones, by the name of the operation that got them.
type Context = RefCell<BTreeMap<String, String>>;

impl Exchange {
    /// `client` is the client's number within the race. Clients start with different hosts in turn, and with
    /// different addresses of a host name.
    pub(crate) fn new(target: &Target, client: usize) -> Exchange {
        let headers = target.client_headers.get(client).unwrap_or(&target.headers);
        let connect =
            |host: &crate::http::Address| Connection::new(host.clone(), headers).prefer_socket(client);
        let connections: Vec<Connection> = target.hosts.iter().map(connect).collect();
        Exchange {
            next: client % connections.len().max(1),
            connections,
            timeout: target.timeout,
            retries: target.retries.clone(),
            packer: target.compresses.then(Packer::default),
            span: None,
            context: None,
        }
    }

    /// Connects to every host. If a host cannot be reached, its first request fails again, and then the error
    /// handling of the task applies.
    pub(crate) async fn open(&mut self) {
        for connection in &mut self.connections {
            let _ = tokio::time::timeout(self.timeout, connection.open()).await;
        }
    }

    /// Forgets the previous operation's times.
    pub(crate) fn begin(&mut self) {
        self.span = None;
    }

    /// Returns the start of the first request and the end of the last response since [`Exchange::begin`].
    pub(crate) fn span(&self) -> Option<(Instant, Instant)> {
        self.span
    }

    /// Returns another exchange with the same hosts and the same context, but its own connections.
    pub(crate) fn sibling(&self) -> Exchange {
        Exchange {
            connections: self.connections.iter().map(Connection::sibling).collect(),
            next: self.next,
            timeout: self.timeout,
            retries: self.retries.clone(),
            packer: self.packer.as_ref().map(|_| Packer::default()),
            span: None,
            context: self.context.clone(),
        }
    }

    /// Counts requests that another exchange sent as part of this operation.
    pub(crate) fn include(&mut self, span: Option<(Instant, Instant)>) {
        self.span = match (self.span, span) {
            (Some((start, end)), Some((other_start, other_end))) => {
                Some((start.min(other_start), end.max(other_end)))
            }
            (own, other) => own.or(other),
        };
    }

    /// Begins an empty context, which ends with [`Exchange::end_context`].
    pub(crate) fn begin_context(&mut self) {
        self.context = Some(Rc::default());
    }

    pub(crate) fn end_context(&mut self) {
        self.context = None;
    }

    pub(crate) fn share_context(&mut self, with: &Exchange) {
        self.context = with.context.clone();
    }

    /// Stores `id` for later requests of the same composite operation.
    pub(crate) fn remember(&self, name: &str, id: String) {
        if let Some(context) = &self.context {
            context.borrow_mut().insert(name.to_owned(), id);
        }
    }

    /// Returns the id that the operation `name` stored.
    ///
    /// Errors: [`Failure::Fatal`] if there is none.
    pub(crate) fn recall(&self, name: &str) -> Result<String, Failure> {
        let known = |context: &Rc<Context>| context.borrow().get(name).cloned();
        self.context.as_ref().and_then(known).ok_or_else(|| self.unknown(name))
    }

    pub(crate) fn forget(&self, name: &str) -> Result<(), Failure> {
        let removed = |context: &Rc<Context>| context.borrow_mut().remove(name);
        self.context.as_ref().and_then(removed).map(|_| ()).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Failure {
        let names = |context: &Rc<Context>| context.borrow().keys().cloned().collect::<Vec<_>>().join(", ");
        let known = self.context.as_ref().map_or_else(String::new, names);
        let reason = format!("Unknown property [{name}]. Currently recognized properties are [{known}].");
        Error::Parameter(reason).into()
    }

    /// Sends a request with its own body; see [`Exchange::send_body`].
    pub(crate) async fn send(
        &mut self,
        request: &Request,
        timeout: Option<Duration>,
    ) -> Result<Response<'_>, Failure> {
        self.send_body(request, &request.body, timeout).await
    }

    /// Sends `request` with `body` and returns the answer.
    ///
    /// Errors: [`Failure`]; an answer outside 2xx that the request does not ignore is [`Failure::Api`].
    pub(crate) async fn send_body(
        &mut self,
        request: &Request,
        body: &[u8],
        timeout: Option<Duration>,
    ) -> Result<Response<'_>, Failure> {
        let response = self.send_as_is(request, body, timeout).await?;
        if response.is_success() || request.ignored_statuses.contains(&response.status) {
            return Ok(response);
        }
        Err(Failure::Api { status: response.status, description: described(&response) })
    }

    /// Sends `request` with `body` and returns the answer, whatever its status.
    pub(crate) async fn send_as_is(
        &mut self,
        request: &Request,
        body: &[u8],
        timeout: Option<Duration>,
    ) -> Result<Response<'_>, HttpError> {
        let Exchange { connections, next, timeout: timeout_default, retries, packer, span, .. } = self;
        let (body, packing) = match packer {
            Some(packer) if !body.is_empty() => {
                let packed = packer.pack(body);
                (packed, Packing::Gzip)
            }
            _ => (body, Packing::AsIs),
        };
        let mut attempts_left = retries.attempts_max;
        let started = Instant::now();
        let (current, result) = loop {
            let current = *next;
            *next = (current + 1) % connections.len();
            let timeout = timeout.unwrap_or(*timeout_default);
            let result = connections[current].exchange_packed(request, body, packing, timeout).await;
            if attempts_left == 0 || !is_retried(retries, &result) {
                break (current, result);
            }
            attempts_left -= 1;
        };
        let ended = Instant::now();
        extend(span, started, ended);
        Ok(connections[current].response(result?))
    }

    /// Extends the service time up to now.
    pub(crate) fn mark(&mut self) {
        let now = Instant::now();
        extend(&mut self.span, now, now);
    }

    /// Waits; the service time includes the wait.
    pub(crate) async fn sleep(&mut self, duration: Duration) {
        let started = Instant::now();
        tokio::time::sleep(duration).await;
        extend(&mut self.span, started, Instant::now());
    }
}

/// Extends `span` to `end`. An empty span begins at `start`.
fn extend(span: &mut Option<(Instant, Instant)>, start: Instant, end: Instant) {
    *span = Some((span.map_or(start, |(first, _)| first), end));
}

fn is_retried(retries: &Retries, result: &Result<Head, HttpError>) -> bool {
    match result {
        Ok(head) => retries.on_statuses.contains(&head.status),
        Err(HttpError::Timeout) => retries.on_timeout,
        Err(HttpError::Connection(_)) => true,
        Err(HttpError::Tls(_) | HttpError::Protocol(_)) => false,
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Failure {
        match error {
            HttpError::Connection(description) | HttpError::Tls(description) => {
                Failure::Connection { description }
            }
            HttpError::Timeout => Failure::Timeout,
            HttpError::Protocol(description) => Failure::Transport { description },
        }
    }
}

/// Returns the body of an error response, shortened for a message.
pub(super) fn described(response: &Response<'_>) -> String {
    const SHOWN_BYTES_MAX: usize = 1000;
    match response.text() {
        Ok(text) if text.is_empty() => "None".to_owned(),
        Ok(text) => {
            let mut shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN_BYTES_MAX)]).into_owned();
            if text.len() > SHOWN_BYTES_MAX {
                shown.push_str(" [...]");
            }
            shown
        }
        Err(error) => error.to_string(),
    }
}
