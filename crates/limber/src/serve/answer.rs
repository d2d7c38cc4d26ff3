//! Requests: reads each within its limits, runs it on its pool and returns the response.
//!
//! This and [`super::accept`] are the only asynchronous code of the server. Handlers are plain functions that
//! run on the bounded [`crate::http::pools`].

use std::cell::Cell;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, HeaderValue};
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame, Incoming};
use limber_access::Access;
use limber_engine::PendingWrite;
use limber_mapping::{ErrorClass, RequestError};
use limber_work::{self as work, Warnings, Work};
use tokio::sync::oneshot;

use crate::http::config::{Compression, HttpConfig};
use crate::http::cors::{Cors, Origin};
use crate::http::media::{self, Format};
use crate::http::pools::{Pool, PoolName};
use crate::http::queue::Flow;
use crate::http::refusal::circuit_breaking;
use crate::http::render::{HttpResponse, Shape};
use crate::http::request::{Method, Parameters, Request};
use crate::http::response::BARE;
use crate::http::slow::Begun;
use crate::http::status;
use crate::page::document;
use crate::rest::{App, Resolved, Route, action_of, build_hash, check_body};
use crate::security::RequestHead;

/// Largest accepted header section, like Elasticsearch's `http.max_header_size` (16 KiB).
const HEADER_BYTES_MAX: usize = 16 << 10;
/// Longest accepted request line, like Elasticsearch's `http.max_initial_line_length` (4 KiB).
const LINE_BYTES_MAX: usize = 4 << 10;
/// A client that sends no byte of the body for this long is disconnected.
const BODY_IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// A body must arrive within this time, plus one second for each [`BODY_BYTES_PER_SECOND`] that arrived.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum speed of a body. Slower clients would hold memory for too long.
const BODY_BYTES_PER_SECOND: u64 = 64 << 10;
/// Bytes of a body that may arrive before anything is charged: the memory limit of a connection includes
/// them.
const FREE_BODY_BYTES: usize = 8 << 10;
/// The rest of a refused body is read, so that the client can read the response: up to this many bytes and
/// for this long.
const DRAINED_BYTES_MAX: usize = 256 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(5);
/// The buffer of a body may be this many times as large as the part that has arrived: what a client promises
/// takes no memory from others, and little is copied again.
const CAPACITY_FACTOR: usize = 2;
/// Maximum size of a body that is read without being charged.
const UNCHARGED_BYTES_MAX: usize = 1 << 20;

pub(super) async fn answer(
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
    app: &Arc<App>,
    config: &HttpConfig,
) -> Result<HttpResponse, Infallible> {
    let header = |name: &str| request.headers().get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let accept = header("accept");
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
    } else if let Err(error) = shape.choose_media(accept.as_deref()) {
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
    let is_refused = outcome.is_err();
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
    if is_refused && !drain(&mut body).await {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let (Some(cors), Origin::Allowed) = (&config.cors, &origin) {
        cors.sign(&parts.headers, is_preflight, &mut answer);
    }
    Ok(answer)
}

/// Returns the methods that a path allows.
fn allowed(app: &App, path: &str) -> Vec<Method> {
    Request::parse_uri(path).map_or_else(|_| Vec::new(), |(segments, _)| app.routes.allowed(&segments))
}

/// Reads the rest of a body, within limits. Returns whether the end was reached.
async fn drain(body: &mut Incoming) -> bool {
    let reading = async {
        let mut left = DRAINED_BYTES_MAX;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            let count = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(count) {
                Some(less) => left = less,
                None => return false,
            }
        }
        true
    };
    tokio::time::timeout(DRAIN_TIME, reading).await.unwrap_or(false)
}

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
    let flow = flow_of(request, peer, route, index);
    let (noted, parts) = (access.clone(), request);

    let header = |name: &str| request.headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let content_type = header("content-type");
    let gzip = match header("content-encoding").as_deref() {
        None | Some("identity") => false,
        Some("gzip" | "x-gzip") => true,
        Some(other) => {
            return Err(RequestError::new(
                ErrorClass::UnsupportedMediaType,
                "illegal_argument_exception",
                format!("Content-Encoding [{other}] is not supported, use gzip"),
            ));
        }
    };
    let length_hint = header("content-length").and_then(|v| v.parse::<usize>().ok());
    // Requests to change the breakers' own settings must pass whatever the breakers say, so that a wrong
    // limit can be corrected.
    let is_charged = route.path != "/_cluster/settings";
    let pending = (route.pool == PoolName::Write).then(|| app.node.indexing_pressure().begin());
    let mut body_charge = BodyCharge { charge: None, pending, is_charged };
    let body = read_body(body, length_hint, app, config, &mut body_charge).await?;
    let body_format = if body.is_empty() { Format::Json } else { media::of_body(content_type.as_deref())? };

    let (started, request_bytes) = (Instant::now(), body.len() as u64);
    let cancelled = Arc::new(AtomicBool::new(false));
    // Only the bodies of searches are recorded: others contain documents or secrets.
    let shown_body = if route.pool == PoolName::Search && !gzip { &body[..] } else { &[] };
    let begun = Begun::new(method, &uri, shown_body, header("x-opaque-id"));
    let prefers_html = document::is_preferred(header("accept").as_deref().unwrap_or_default())
        && query.iter().all(|(name, _)| name != "format");
    let mut request = Request { uri, query, path_values, body, prefers_html, cancelled: cancelled.clone() };
    // Dropped together with this future when the client disconnects.
    let mut on_hang_up = CancelOnDrop { cancelled, armed: true };
    let (sender, receiver) = oneshot::channel();
    let (job_app, shown) = (app.clone(), shape.clone());
    let max_content_bytes = if is_charged { config.max_content_bytes } else { UNCHARGED_BYTES_MAX };
    let meter = is_charged.then(|| Arc::new(app.node.ledger().request.meter()));
    let search = meter.as_ref().filter(|_| route.pool == PoolName::Search);
    let search = search.map(|meter| app.back_pressure.begin(meter.clone(), request.cancelled.clone()));
    let warnings = Arc::new(Warnings::default());
    let work = Work {
        meter,
        cancelled: request.cancelled.clone(),
        deadline: None,
        warnings: Some(warnings.clone()),
        opaque_id: header("x-opaque-id").map(Arc::from),
    };
    let job = Box::new(move || {
        // The client has disconnected, so requests that are still wanted run first.
        if route.pool == PoolName::Search && work.cancelled.load(Ordering::Relaxed) {
            return;
        }
        let mut body_charge = body_charge;
        let slot = Rc::new(GivenUpTurn(Cell::new(None)));
        let given_up = slot.clone();
        let _access = access.map(Access::enter);
        let entered = work.enter().when_long(move || given_up.0.set(limber_engine::give_up_turn()));
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
            if gzip && !request.body.is_empty() {
                request.body = decompress(&request.body, max_content_bytes, &job_app, &mut body_charge)?;
            }
            let is_tree =
                route.pool != PoolName::Write || !matches!(body_format, Format::Json | Format::NdJson);
            let tree_bytes = if is_tree { media::tree_bytes(body_format, &request.body) } else { 0 };
            if let Some(charge) = &mut body_charge.charge {
                charge.grow(tree_bytes, "<json_tree>").map_err(|error| circuit_breaking(&error))?;
            }
            let _copies = copies_of(route, tree_bytes + request.body.len() as u64)
                .filter(|_| body_charge.is_charged)
                .map(|bytes| job_app.node.ledger().request.charge(bytes, "<json_tree_copies>"))
                .transpose()
                .map_err(|error| circuit_breaking(&error))?;
            if let Some(json) = media::body_to_json(body_format, &request.body)? {
                request.body = Bytes::from(json);
            }
            check_body(route, method, &request)?;
            let response = (route.handler)(&job_app, &request)?;
            // If code that cannot return errors was refused memory, the response is wrong.
            entered.refusal().map_or(Ok(()), Err)?;
            shape.render(response, &job_app.node.ledger().request)
        }));
        let outcome = outcome.unwrap_or_else(|panic| {
            let what = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown");
            tracing::error!(uri = request.uri, panic = what, "a request panicked");
            Err(RequestError::internal("exception", format!("the request failed unexpectedly: {what}")))
        });
        let ended = search.and_then(|search| search.refusal()).filter(|_| outcome.is_err());
        let _ = sender.send(ended.map_or(outcome, Err));
    });
    let pool = app.pools.get(route.pool);
    if !pool.submit(flow, job) {
        return Err(rejected(pool));
    }
    let outcome = receiver.await.unwrap_or_else(|_| Err(not_run(pool)));
    on_hang_up.armed = false;
    if let (Some(guard), Some(access), Err(error)) = (&app.guard, &noted, &outcome)
        && status::of_error(error.class) == 403
    {
        let (method, uri) = (parts.method.as_str(), parts.uri.path());
        guard.note_denial(access, RequestHead { peer, method, uri, headers: &parts.headers });
    }
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

/// Adds a header for each warning, as Elasticsearch formats it (`HeaderWarning#formatWarning`): quoted, with
/// characters outside plain text percent-encoded.
fn add_warnings(answer: &mut HttpResponse, warnings: &[String], version: &str) {
    for text in warnings {
        let mut value = format!("299 Elasticsearch-{version}-{} \"", build_hash());
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' => value.extend(['\\', char::from(byte)]),
                b'%' => value.push_str("%25"),
                b' '..=b'~' => value.push(char::from(byte)),
                _ => value.push_str(&format!("%{byte:02X}")),
            }
        }
        value.push('"');
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.headers_mut().append("Warning", value);
        }
    }
}

/// Returns the flow that a request belongs to: the same client, as far as it identifies itself, and the same
/// endpoint and index. Flows take turns.
fn flow_of(request: &Parts, peer: SocketAddr, route: &Route, index: Option<&str>) -> Flow {
    let header = |name: &str| request.headers.get(name).map(HeaderValue::as_bytes);
    let mut hasher = DefaultHasher::new();
    (peer.ip(), header("authorization"), header("user-agent"), route.path, index).hash(&mut hasher);
    Flow(hasher.finish())
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

/// Holds the guard of a long job that has given up its turn in the pool.
struct GivenUpTurn(Cell<Option<limber_engine::GivenUp>>);

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

/// Returns how many bytes of copies are held while a metadata request is carried out, besides the tree of its
/// body (`tree_bytes`): the body is stored as settings, planned twice in a catalog, serialized and checked.
/// Measured: seven to ten times the tree for lists of short words. `None` for small bodies, which are not
/// charged for copies.
fn copies_of(route: &Route, tree_bytes: u64) -> Option<u64> {
    const COPIES: u64 = 7;
    const LITTLE_BYTES: u64 = 1 << 20;
    (route.pool == PoolName::Management && tree_bytes > LITTLE_BYTES).then_some(tree_bytes * COPIES)
}

/// The memory that a body uses, released when the request is answered.
struct BodyCharge {
    charge: Option<limber_store::Charge>,
    /// The bytes of a write, counted until it is answered.
    pending: Option<PendingWrite>,
    is_charged: bool,
}

impl BodyCharge {
    fn grow(&mut self, app: &App, bytes: usize) -> Result<(), RequestError> {
        if let Some(pending) = &mut self.pending {
            pending.grow(bytes as u64)?;
        }
        let outcome = match &mut self.charge {
            _ if !self.is_charged => Ok(()),
            Some(charge) => limber_store::Charge::grow(charge, bytes as u64, "<http_request>"),
            None => {
                let pool = &app.node.ledger().in_flight;
                pool.charge(bytes as u64, "<http_request>").map(|fresh| self.charge = Some(fresh))
            }
        };
        outcome.map_err(|error| circuit_breaking(&error))
    }
}

/// Reads a whole body of at most `max_content_bytes`. It is charged as it arrives, so that a body which is
/// announced and never sent does not take memory from others.
async fn read_body(
    body: &mut Incoming,
    length_hint: Option<usize>,
    app: &App,
    config: &HttpConfig,
    body_charge: &mut BodyCharge,
) -> Result<Bytes, RequestError> {
    let max_bytes = if body_charge.is_charged { config.max_content_bytes } else { UNCHARGED_BYTES_MAX };
    let expected = length_hint.unwrap_or(0);
    if expected > max_bytes {
        return Err(too_large(max_bytes));
    }
    let mut whole = Vec::with_capacity(expected.min(FREE_BODY_BYTES));
    let mut charged_bytes = FREE_BODY_BYTES;
    let started = Instant::now();
    loop {
        let Some(frame) = next_frame(body, started, whole.len()).await? else { break };
        let Ok(data) = frame.into_data() else { continue };
        let needed = whole.len() + data.len();
        if needed > max_bytes {
            return Err(too_large(max_bytes));
        }
        if needed > charged_bytes {
            // Memory that the allocator reuses is resident although nothing has arrived in it, so the whole
            // buffer is charged.
            let doubled = needed.saturating_mul(CAPACITY_FACTOR).min(max_bytes);
            let room_bytes = if expected >= needed { doubled.min(expected) } else { doubled };
            body_charge.grow(app, room_bytes - charged_bytes)?;
            charged_bytes = room_bytes;
            if whole.try_reserve_exact(room_bytes - whole.len()).is_err() {
                return Err(too_large(max_bytes));
            }
        }
        whole.extend_from_slice(&data);
    }
    if whole.len() <= FREE_BODY_BYTES {
        body_charge.grow(app, whole.len())?;
    }
    Ok(Bytes::from(whole))
}

/// Returns the next part of a body that started to arrive at `started` and has `length` bytes so far. `None`
/// at its end.
async fn next_frame(
    body: &mut Incoming,
    started: Instant,
    length: usize,
) -> Result<Option<Frame<Bytes>>, RequestError> {
    let allowed = BODY_TIMEOUT + Duration::from_secs(length as u64 / BODY_BYTES_PER_SECOND);
    let left = allowed.saturating_sub(started.elapsed()).min(BODY_IDLE_TIMEOUT);
    let frame = tokio::time::timeout(left, body.frame()).await.map_err(|_| {
        RequestError::new(
            ErrorClass::RequestTimeout,
            "illegal_argument_exception",
            "timed out waiting for the rest of the request body",
        )
    })?;
    frame.transpose().map_err(|error| {
        RequestError::bad_request(
            "illegal_argument_exception",
            format!("failed to read the request body: {error}"),
        )
    })
}

/// Decompresses gzip to at most `max_bytes`, which are charged before they are held. Runs on a pool, because
/// even a small body may take long.
fn decompress(
    packed: &[u8],
    max_bytes: usize,
    app: &App,
    body_charge: &mut BodyCharge,
) -> Result<Bytes, RequestError> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(packed);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let count = decoder.read(&mut chunk).map_err(|e| {
            RequestError::bad_request("zip_exception", format!("failed to decompress the body: {e}"))
        })?;
        if count == 0 {
            return Ok(Bytes::from(plain));
        }
        if plain.len() + count > max_bytes {
            return Err(too_large(max_bytes));
        }
        body_charge.grow(app, count)?;
        work::check_growth(plain.len(), plain.capacity(), count).map_err(RequestError::from)?;
        plain.extend_from_slice(&chunk[..count]);
    }
}

fn too_large(max_bytes: usize) -> RequestError {
    RequestError::new(
        ErrorClass::TooLarge,
        "content_too_long_exception",
        format!("entity content is too long for the configured buffer limit [{max_bytes}]"),
    )
}
