//! Answers requests: has each request read within its limits and run on its pool, and returns the response.
//!
//! This, [`super::body`] and [`super::accept`] are the only asynchronous code of the server. Handlers are
//! plain functions that run on the bounded [`crate::http::pools`].

use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, EXPECT, HeaderValue};
use http::request::Parts;
use hyper::body::{Body as _, Incoming};
use limber_access::{Access, AuthenticationType};
use limber_mapping::{ErrorClass, RequestError};
use limber_text::url;
use limber_work::{Warnings, Work};
use tokio::sync::oneshot;

use super::body::{Received, drain};
use super::job::{Job, Outcome};
use crate::http::config::{Compression, HttpConfig};
use crate::http::cors::{Cors, Origin};
use crate::http::pools::{Pool, PoolName};
use crate::http::queue::{Flow, client_at};
use crate::http::render::{HttpResponse, Shape};
use crate::http::request::{Method, Parameters, Request};
use crate::http::response::BARE;
use crate::http::slow::Begun;
use crate::http::status;
use crate::page::document;
use crate::rest::{App, Resolved, Route, action_of, build_hash};
use crate::security::RequestHead;

/// Largest accepted header section, like Elasticsearch's `http.max_header_size` (16 KiB).
const HEADER_BYTES_MAX: usize = 16 << 10;
/// Longest accepted request line, like Elasticsearch's `http.max_initial_line_length` (4 KiB).
const LINE_BYTES_MAX: usize = 4 << 10;
pub(super) async fn answer(
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
    app: &Arc<App>,
    config: &HttpConfig,
) -> Result<HttpResponse, Infallible> {
    let header = |name: &str| request.headers().get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let accept = header("accept");
    let content_type = header("content-type");
    let opaque_id = header("x-opaque-id");
    let gzip_accepted = header("accept-encoding").is_some_and(|v| v.contains("gzip"));
    let head_only = request.method() == hyper::Method::HEAD;
    let header_bytes: usize = request.headers().iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum();
    let uri_bytes = request.uri().path_and_query().map_or(1, |uri| uri.as_str().len());
    let line_bytes = request.method().as_str().len() + uri_bytes + " HTTP/1.1 ".len();
    let compress = gzip_accepted
        && match config.compression {
            Compression::Always => true,
            Compression::Never => false,
            Compression::ExceptLoopback => !peer.ip().is_loopback(),
        };
    let query = request.uri().query().filter(|query| query.len() <= LINE_BYTES_MAX);
    let mut shape = Shape::of(query.unwrap_or(""), head_only, compress, opaque_id);
    let (parts, mut body) = request.into_parts();
    let is_preflight = Cors::is_preflight(parts.method.as_str(), &parts.headers);
    let origin = config.cors.as_ref().map_or(Origin::Same, |cors| cors.judge(&parts.headers));
    // A request must not have effects if its response could not be sent in a form that the client accepts.
    let outcome = if origin == Origin::Forbidden || config.cors.is_some() && is_preflight {
        // A preflight request of a browser is never carried out.
        Ok(shape.render_allowed(if origin == Origin::Forbidden && !is_preflight { 403 } else { 200 }, &[]))
    } else if expects_more(&parts) {
        // As in Elasticsearch, without a body (RFC 9110, section 10.1.1).
        Ok(shape.render_allowed(417, &[]))
    } else if let Err(error) = shape.choose_media(accept.as_deref(), content_type.as_deref()) {
        Err(error)
    } else if line_bytes > LINE_BYTES_MAX {
        let reason = format!("An HTTP line is larger than {LINE_BYTES_MAX} bytes.");
        Err(RequestError::bad_request("too_long_http_line_exception", reason))
    } else if header_bytes > HEADER_BYTES_MAX {
        let reason = format!("HTTP header is larger than {HEADER_BYTES_MAX} bytes.");
        Err(RequestError::bad_request("too_long_http_header_exception", reason))
    } else {
        handle(&parts, &mut body, peer, app, config, shape.clone()).await
    };
    let mut answer = outcome.unwrap_or_else(|error| {
        let mut answer = shape.render_error(&error);
        if status::of_error(error.class) == 405 {
            let allowed = allowed(app, parts.uri.path());
            answer.headers_mut().extend(
                shape.render_allowed(405, &allowed).headers_mut().remove(ALLOW).map(|value| (ALLOW, value)),
            );
        }
        answer
    });
    // Requests that are refused, or that need no body, leave it unread.
    if !body.is_end_stream() && !drain(&mut body).await {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let (Some(cors), Origin::Allowed) = (&config.cors, &origin) {
        cors.sign(&parts.headers, is_preflight, &mut answer);
    }
    Ok(answer)
}

/// Whether the client expects something that the server cannot promise. `100-continue` is answered by the
/// HTTP library.
fn expects_more(request: &Parts) -> bool {
    let expected = request.headers.get(EXPECT);
    expected.is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Returns the methods that a path allows.
fn allowed(app: &App, path: &str) -> Vec<Method> {
    Request::parse_uri(path).map_or_else(|_| Vec::new(), |(segments, _)| app.routes.allowed(&segments))
}

/// Carries out a request: finds its route, reads its body, runs it on its pool and returns the response.
async fn handle(
    request: &Parts,
    body: &mut Incoming,
    peer: SocketAddr,
    app: &Arc<App>,
    config: &HttpConfig,
    shape: Shape,
) -> Result<HttpResponse, RequestError> {
    let uri = request.uri.path_and_query().map_or("/", |p| p.as_str()).to_owned();
    let Some(method) = Method::parse(request.method.as_str()) else {
        return Err(RequestError::new(
            ErrorClass::MethodNotAllowed,
            "illegal_argument_exception",
            format!("Unexpected HTTP method [{}]", request.method),
        ));
    };
    if method == Method::Options {
        return Ok(shape.render_allowed(200, &allowed(app, request.uri.path())));
    }
    let head = RequestHead { peer, method: request.method.as_str(), uri: &uri, headers: &request.headers };
    let Wanted { route, path_values, query, access } = wanted(app, method, head).await?;
    let index = path_values.iter().find(|(name, _)| *name == "index").map(|(_, index)| index.as_str());
    let flow = Flow { client: client_of(peer, access.as_deref()), kind: kind_of(request, route, index) };
    let (noted, parts) = (access.clone(), request);

    let header = |name: &str| request.headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let body = Received::read(request, body, route, app, config).await?;
    let (started, request_bytes) = (Instant::now(), body.bytes.len() as u64);
    let cancelled = Arc::new(AtomicBool::new(false));
    // Only the bodies of searches are recorded: others contain documents or secrets.
    let shown_body = if route.pool == PoolName::Search && !body.is_gzip { &body.bytes[..] } else { &[] };
    let begun = Begun::new(method, &uri, shown_body, header("x-opaque-id"));
    let prefers_html = document::is_preferred(header("accept").as_deref().unwrap_or_default())
        && query.iter().all(|(name, _)| name != "format");
    let request =
        Request { uri, query, path_values, body: Bytes::new(), prefers_html, cancelled: cancelled.clone() };
    // Dropped together with this future when the client disconnects.
    let mut on_hang_up = CancelOnDrop { cancelled, armed: true };
    let (sender, receiver) = oneshot::channel();
    let shown = shape.clone();
    let meter = body.charge.is_charged.then(|| Arc::new(app.node.ledger().request.meter()));
    let search = meter.as_ref().filter(|_| route.pool == PoolName::Search);
    let search = search.map(|meter| app.back_pressure.begin(meter.clone(), request.cancelled.clone()));
    let warnings = Arc::new(Warnings::default());
    let work = Work {
        meter,
        cancelled: request.cancelled.clone(),
        deadline: None,
        warnings: Some(warnings.clone()),
        opaque_id: header("x-opaque-id").map(Arc::from),
        client: flow.client,
    };
    let job = Job { body, route, method, flow, request, shape, app: app.clone() };
    let pool = app.pools.get(route.pool);
    if !pool.submit(flow, Box::new(move || job.run(access, work, search, sender))) {
        return Err(rejected(pool));
    }
    let outcome = receiver.await.unwrap_or_else(|_| Err(not_run(pool)));
    on_hang_up.armed = false;
    let (verb, path) = (parts.method.as_str(), parts.uri.path());
    let head = RequestHead { peer, method: verb, uri: path, headers: &parts.headers };
    note_denial(app, noted.as_ref(), &outcome, head);
    // The body was read completely, so an error needs no special handling of the connection.
    let mut answer = outcome.unwrap_or_else(|error| shown.render_error(&error));
    add_warnings(&mut answer, &warnings.take(), &app.config.compat_version);
    let response_bytes = answer.body().size_hint().exact().unwrap_or(0);
    app.usage.note(route.path, method, request_bytes, response_bytes, started.elapsed());
    app.slow_requests.end(begun, answer.status().as_u16());
    Ok(answer)
}

/// The route of a request, its parameters, and the caller's access.
struct Wanted {
    route: &'static Route,
    path_values: Vec<(&'static str, String)>,
    query: Parameters,
    /// `None` if security is off.
    access: Option<Arc<Access>>,
}

/// Finds the route and authorizes the caller. A caller that is not authenticated learns nothing, not even
/// which paths exist.
async fn wanted(app: &App, method: Method, head: RequestHead<'_>) -> Result<Wanted, RequestError> {
    let caller = match &app.guard {
        Some(guard) => Some((guard, guard.identify(&app.node, head).await?)),
        None => None,
    };
    let (segments, query) = Request::parse_uri(head.uri)?;
    let Resolved { route, path_values } = app.routes.resolve(method, &segments, &query, head.uri)?;
    if app.guard.is_none() && route.path.starts_with("/_security/") {
        // As in Elasticsearch, these paths exist only while security is on.
        let reason = format!("no handler found for uri [{}] and method [{}]", head.uri, method.name());
        return Err(RequestError::bad_request(BARE, reason));
    }
    let index = path_values.iter().find(|(name, _)| *name == "index").map_or("", |(_, index)| index.as_str());
    let access = caller
        .map(|(guard, caller)| guard.admit(&app.node, caller, (action_of(route, method), index), head))
        .transpose()?;
    Ok(Wanted { route, path_values, query, access })
}

/// Tells the guard if the caller was denied what it asked for.
fn note_denial(app: &App, access: Option<&Arc<Access>>, outcome: &Outcome, head: RequestHead<'_>) {
    if let (Some(guard), Some(access), Err(error)) = (&app.guard, access, outcome)
        && status::of_error(error.class) == 403
    {
        guard.note_denial(access, head);
    }
}

/// Adds a header for each warning, as Elasticsearch formats it (`HeaderWarning#formatWarning`): quoted, with
/// characters outside plain text percent-encoded.
fn add_warnings(answer: &mut HttpResponse, warnings: &[String], version: &str) {
    for text in warnings {
        let mut value = format!("299 Elasticsearch-{version}-{} \"", build_hash());
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' => value.extend(['\\', char::from(byte)]),
                b' '..=b'~' if byte != b'%' => value.push(char::from(byte)),
                _ => value.push_str(url::escape_of(byte)),
            }
        }
        value.push('"');
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.headers_mut().append("Warning", value);
        }
    }
}

/// Returns what tells clients apart: their user, whatever keys they have, or without users their address.
fn client_of(peer: SocketAddr, access: Option<&Access>) -> u64 {
    let identity = access.map(|access| access.identity.run_by.as_deref().unwrap_or(&access.identity));
    match identity.filter(|identity| identity.authentication != AuthenticationType::Anonymous) {
        Some(identity) => {
            let mut hasher = DefaultHasher::new();
            identity.username.hash(&mut hasher);
            hasher.finish()
        }
        None => client_at(peer.ip()),
    }
}

/// Returns what tells the requests of a client apart: the endpoint, the index and the program that sends it,
/// as far as it identifies itself.
fn kind_of(request: &Parts, route: &Route, index: Option<&str>) -> u64 {
    let header = |name: &str| request.headers.get(name).map(HeaderValue::as_bytes);
    let mut hasher = DefaultHasher::new();
    (header("authorization"), header("user-agent"), route.path, index).hash(&mut hasher);
    hasher.finish()
}

/// Returns the error of a request that did not fit into the pool's queue.
fn rejected(pool: &Pool) -> RequestError {
    let stats = pool.stats();
    let reason = format!(
        "rejected execution of request on [{}] pool: queue capacity = {}, active threads = {}, queued tasks = {}",
        stats.name, stats.queue_size, stats.active, stats.queue
    );
    RequestError::new(ErrorClass::TooManyRequests, "es_rejected_execution_exception", reason)
}

/// Returns the error of a request that was dropped from the queue before it ran.
fn not_run(pool: &Pool) -> RequestError {
    match pool.is_closed() {
        true => RequestError::unavailable(
            "node_closed_exception",
            "the node closed before the request was answered",
        ),
        // Its position in the queue was given to a client with fewer requests.
        false => rejected(pool),
    }
}

struct CancelOnDrop {
    cancelled: Arc<AtomicBool>,
    armed: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if self.armed {
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }
}
