//! Bodies of requests: "what does a client send, and who pays for the memory while it arrives?"

use std::io::Read;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use limber_engine::PendingWrite;
use limber_mapping::{ErrorClass, RequestError};
use limber_work as work;

use crate::http::config::HttpConfig;
use crate::http::media::{self, Format};
use crate::http::pools::PoolName;
use crate::http::refusal::circuit_breaking;
use crate::rest::{App, Route};

/// A client that sends no byte of the body for this long is disconnected.
const BODY_IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// A body must arrive within this time, plus one second for each [`BODY_BYTES_PER_SECOND`] that arrived.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum speed of a body. Slower clients would hold memory for too long.
const BODY_BYTES_PER_SECOND: u64 = 64 << 10;
/// Bytes of a body that may arrive before anything is charged: the memory limit of a connection includes
/// them.
const FREE_BODY_BYTES: usize = 8 << 10;
/// The limit of a connection includes a head of this size too. A longer one is charged while the request is
/// in flight, at so many times its size, because names and values are held beside the bytes that arrived.
const FREE_HEAD_BYTES: usize = 4 << 10;
const HEAD_FACTOR: u64 = 2;
/// The rest of a refused body is read, so that the client can read the response: up to this many bytes and
/// for this long. A client that pauses for [`DRAIN_PAUSE`] waits for the response, or has promised bytes that
/// it does not have.
const DRAINED_BYTES_MAX: usize = 256 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(5);
const DRAIN_PAUSE: Duration = Duration::from_millis(500);
/// The buffer of a body may be this many times as large as the part that has arrived. So a length that a
/// client merely announces takes no memory from others, and few bytes are copied when the buffer grows.
const CAPACITY_FACTOR: usize = 2;
/// Maximum size of a body of the cluster's settings for which nothing is charged.
const UNCHARGED_BYTES_MAX: usize = 16 << 10;

/// A body that has arrived.
pub(super) struct Received {
    /// The bytes as they arrived: still compressed if `is_gzip`.
    pub bytes: Bytes,
    pub is_gzip: bool,
    /// The format of the body after it is decompressed.
    pub format: Format,
    pub charge: BodyCharge,
    /// How large the body may be, also after it is decompressed.
    max_bytes: usize,
}

impl Received {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// The body is too large, arrives too slowly or has an unknown encoding or format, or there is not enough
    /// memory.
    pub(super) async fn read(
        request: &Parts,
        body: &mut Incoming,
        route: &Route,
        app: &App,
        config: &HttpConfig,
    ) -> Result<Received, RequestError> {
        let header = |name: &str| request.headers.get(name).and_then(|v| v.to_str().ok());
        let is_gzip = is_gzip(header("content-encoding"))?;
        let length_hint = header("content-length").and_then(|v| v.parse::<usize>().ok());
        // Requests to change the breakers' own settings must pass whatever the breakers say, so that a wrong
        // limit can be corrected. Such a request is small, and what it says is not packed: an alias of YAML
        // stands for any number of values.
        let is_plain = !is_gzip && is_json(header("content-type"));
        let is_charged = route.path != "/_cluster/settings" || !is_plain;
        let pending = (route.pool == PoolName::Write).then(|| app.node.indexing_pressure().begin());
        let head = match is_charged {
            true => charge_head(request, app)?,
            false => None,
        };
        let mut charge = BodyCharge { charge: None, pending, is_charged, _head: head };
        let max_bytes = config.max_content_bytes;
        let bytes = read_body(body, length_hint, app, max_bytes, &mut charge).await?;
        let format = if bytes.is_empty() { Format::Json } else { media::of_body(header("content-type"))? };
        Ok(Received { bytes, is_gzip, format, charge, max_bytes })
    }

    /// Decompresses the body. Runs on a pool, because even a small body may take long.
    pub(super) fn decompress(&mut self, app: &App) -> Result<(), RequestError> {
        if self.is_gzip && !self.bytes.is_empty() {
            self.bytes = decompress(&self.bytes, self.max_bytes, app, &mut self.charge)?;
        }
        Ok(())
    }
}

/// Whether a body with this `Content-Type`, if there is a body, is JSON.
fn is_json(content_type: Option<&str>) -> bool {
    content_type.is_none_or(|header| matches!(media::of_body(Some(header)), Ok(Format::Json)))
}

/// Returns whether a body with this `Content-Encoding` is compressed.
fn is_gzip(encoding: Option<&str>) -> Result<bool, RequestError> {
    match encoding {
        None | Some("identity") => Ok(false),
        Some("gzip" | "x-gzip") => Ok(true),
        Some(other) => Err(RequestError::new(
            ErrorClass::UnsupportedMediaType,
            "illegal_argument_exception",
            format!("Content-Encoding [{other}] is not supported, use gzip"),
        )),
    }
}

/// Reads the rest of a body, within limits. Returns whether the end was reached.
pub(super) async fn drain(body: &mut Incoming) -> bool {
    let reading = async {
        let mut left = DRAINED_BYTES_MAX;
        while let Ok(next) = tokio::time::timeout(DRAIN_PAUSE, body.frame()).await {
            let Some(frame) = next else { return true };
            let Ok(frame) = frame else { return false };
            let count = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(count) {
                Some(less) => left = less,
                None => return false,
            }
        }
        false
    };
    tokio::time::timeout(DRAIN_TIME, reading).await.unwrap_or(false)
}

/// The memory that a body uses, released when the request is answered.
pub(super) struct BodyCharge {
    pub charge: Option<limber_store::Charge>,
    /// The bytes of a write, counted until it is answered.
    pending: Option<PendingWrite>,
    pub is_charged: bool,
    /// What a long head is charged.
    _head: Option<limber_store::Charge>,
}

/// Charges a long head of a request.
fn charge_head(request: &Parts, app: &App) -> Result<Option<limber_store::Charge>, RequestError> {
    let bytes: usize = request.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes <= FREE_HEAD_BYTES {
        return Ok(None);
    }
    let charge = app.node.ledger().in_flight.charge(bytes as u64 * HEAD_FACTOR, "<http_request>");
    charge.map(Some).map_err(|error| circuit_breaking(&error))
}

impl BodyCharge {
    /// Counts bytes of a write that have arrived.
    fn arrived(&mut self, bytes: usize) -> Result<(), RequestError> {
        self.pending.as_mut().map_or(Ok(()), |pending| pending.grow(bytes as u64))
    }

    /// Charges memory that is about to be allocated.
    fn grow(&mut self, app: &App, bytes: usize) -> Result<(), RequestError> {
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

/// Reads a whole body of at most `max_bytes`. It is charged as it arrives, so that a body which is
/// announced and never sent does not take memory from others.
async fn read_body(
    body: &mut Incoming,
    length_hint: Option<usize>,
    app: &App,
    max_bytes: usize,
    body_charge: &mut BodyCharge,
) -> Result<Bytes, RequestError> {
    let expected = length_hint.unwrap_or(0);
    if expected > max_bytes {
        return Err(too_large(max_bytes));
    }
    let mut whole: Vec<u8> = Vec::with_capacity(expected.min(FREE_BODY_BYTES));
    let mut charged_bytes = 0;
    let started = Instant::now();
    loop {
        let Some(frame) = next_frame(body, started, whole.len()).await? else { break };
        let Ok(data) = frame.into_data() else { continue };
        let needed = whole.len() + data.len();
        if needed > max_bytes {
            return Err(too_large(max_bytes));
        }
        body_charge.arrived(data.len())?;
        body_charge.is_charged |= needed > UNCHARGED_BYTES_MAX;
        if needed > charged_bytes.max(FREE_BODY_BYTES) {
            // Memory that the allocator reuses is resident although nothing has arrived in it, so the whole
            // buffer is charged.
            let doubled = needed.saturating_mul(CAPACITY_FACTOR).min(max_bytes);
            let room_bytes = if expected >= needed { doubled.min(expected) } else { doubled };
            body_charge.grow(app, room_bytes - charged_bytes)?;
            charged_bytes = room_bytes;
            // If this much cannot be reserved, the vector grows as usual.
            let _ = whole.try_reserve_exact(room_bytes - whole.len());
        }
        whole.extend_from_slice(&data);
    }
    match &mut body_charge.charge {
        // A body of unknown length has a larger buffer than it needs.
        Some(charge) if charged_bytes > whole.len() => {
            whole.shrink_to_fit();
            charge.shrink_to(whole.len() as u64);
        }
        None => body_charge.grow(app, whole.len())?,
        Some(_) => {}
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

/// Decompresses gzip to at most `max_bytes`, which are charged before they are allocated.
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
        body_charge.arrived(count)?;
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
