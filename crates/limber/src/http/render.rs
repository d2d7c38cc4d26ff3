//! Renders a handler's response to bytes: media type, `pretty`, `filter_path`, compression, and the memory
//! they need.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use limber_mapping::RequestError;
use limber_store::{Charge, Pool};
use serde_json::Value;

use super::media::{self, Format, MediaType};
use super::refusal::circuit_breaking;
use super::request::{Method, Request};
use super::response::{Body, CHALLENGES, Response};

/// A response as the HTTP server sends it.
pub type HttpResponse = hyper::Response<Full<Bytes>>;

const TEXT: &str = "text/plain; charset=UTF-8";
/// Smaller responses are never compressed, because they fit into one packet anyway.
const COMPRESS_BYTES_MIN: usize = 1 << 10;
/// Smaller responses are not charged.
const CHARGE_BYTES_MIN: usize = 64 << 10;

/// How the client wants its response. It is determined before routing, so that errors have the same form.
#[derive(Debug, Clone)]
pub struct Shape {
    media: MediaType,
    pretty: bool,
    error_trace: bool,
    filter_path: Option<String>,
    format: Option<String>,
    head_only: bool,
    compress: bool,
    opaque_id: Option<String>,
}

impl Shape {
    /// Reads the shape from the query string of the request.
    pub fn of(query: &str, head_only: bool, compress: bool, opaque_id: Option<String>) -> Shape {
        let mut shape = Shape {
            media: MediaType::json(),
            pretty: false,
            error_trace: false,
            filter_path: None,
            format: None,
            head_only,
            compress,
            opaque_id,
        };
        let Ok((_, parameters)) = Request::parse_uri(&format!("/?{query}")) else { return shape };
        for (name, value) in parameters {
            match name.as_str() {
                "pretty" => shape.pretty = value != "false",
                "error_trace" => shape.error_trace = value != "false",
                "filter_path" => shape.filter_path = Some(value),
                "format" => shape.format = Some(value),
                _ => {}
            }
        }
        shape
    }

    /// Determines the media type from `format=` and the headers `Accept` and `Content-Type`. It stays JSON on
    /// failure.
    pub fn choose_media(
        &mut self,
        accept: Option<&str>,
        content_type: Option<&str>,
    ) -> Result<(), RequestError> {
        self.media = media::of_answer(self.format.as_deref(), accept, content_type)?;
        Ok(())
    }

    /// Renders the response. Its bytes are charged to `pool` until they are written. Fails with
    /// `circuit_breaking_exception` if there are too many.
    pub fn render(&self, response: Response, pool: &Arc<Pool>) -> Result<HttpResponse, RequestError> {
        let Response { status, body, headers } = response;
        let (bytes, content_type) = self.bytes(body, Some(pool))?;
        let charge = match bytes.len() >= CHARGE_BYTES_MIN {
            true => Some(charged(pool, bytes.len() as u64)?),
            false => None,
        };
        Ok(self.finish(status, headers, bytes, content_type, charge, Some(pool)))
    }

    /// Renders an error, in the format that the client asked for.
    pub fn render_error(&self, error: &RequestError) -> HttpResponse {
        let Response { status, mut body, mut headers } = Response::from_error(error);
        if let Body::Json(value) = &mut body
            && self.error_trace
        {
            add_traces(&mut value["error"]);
        }
        if status == 401 {
            headers.extend(CHALLENGES.map(|challenge| ("WWW-Authenticate", challenge.to_owned())));
        }
        // `filter_path` does not apply to errors.
        let shape = Shape { filter_path: None, ..self.clone() };
        let (bytes, content_type) = shape.bytes(body, None).unwrap_or_default();
        self.finish(status, headers, bytes, content_type, None, None)
    }

    /// Renders the response to `OPTIONS`, which is also the basis of the response to a method that a path
    /// does not have.
    pub fn render_allowed(&self, status: u16, allowed: &[Method]) -> HttpResponse {
        let mut headers = Vec::new();
        if !allowed.is_empty() {
            let names: Vec<&str> = allowed.iter().map(|method| method.name()).collect();
            headers.push(("Allow", names.join(",")));
        }
        self.finish(status, headers, Vec::new(), TEXT.to_owned(), None, None)
    }

    fn bytes(&self, body: Body, pool: Option<&Arc<Pool>>) -> Result<(Vec<u8>, String), RequestError> {
        let shaped = self.filter_path.is_some() || self.pretty || self.media.format != Format::Json;
        let bytes = match body {
            Body::Empty => Vec::new(),
            Body::Json(value) => self.value(value)?,
            Body::RawJson(bytes) if shaped => {
                let _tree_charge = match pool {
                    Some(pool) if bytes.len() >= CHARGE_BYTES_MIN => Some(charged(
                        pool,
                        bytes.len() as u64 + media::tree_bytes(Format::Json, &bytes, false),
                    )?),
                    _ => None,
                };
                match limber_mapping::parse_source(&bytes) {
                    Ok(value) => self.value(value)?,
                    Err(_) => bytes,
                }
            }
            Body::RawJson(bytes) => bytes,
            Body::TextOrValue(shown) if self.media.is_asked_for => self.value(shown.value()?)?,
            Body::TextOrValue(shown) => {
                return Ok((shown.text()?.into_bytes(), TEXT.to_owned()));
            }
            Body::Document(content_type, bytes) => return Ok((bytes, content_type.to_owned())),
            Body::Text(text) => return Ok((text.into_bytes(), TEXT.to_owned())),
        };
        Ok((bytes, self.media.content_type.clone()))
    }

    fn value(&self, mut value: Value) -> Result<Vec<u8>, RequestError> {
        if let Some(patterns) = &self.filter_path {
            value = super::filter_path::apply(value, patterns)?;
        }
        Ok(media::render(&value, self.media.format, self.pretty)?)
    }

    fn finish(
        &self,
        status: u16,
        headers: Vec<(&'static str, String)>,
        mut bytes: Vec<u8>,
        content_type: String,
        mut charge: Option<Charge>,
        pool: Option<&Arc<Pool>>,
    ) -> HttpResponse {
        let mut builder =
            hyper::Response::builder().status(status).header("X-elastic-product", "Elasticsearch");
        let has_own_type = headers.iter().any(|(name, _)| *name == "content-type");
        if !has_own_type {
            // As in Elasticsearch, a response without a body has the type of plain text; a response to HEAD
            // has the type that GET would return.
            let is_empty = bytes.is_empty() && !self.head_only;
            let content_type = if is_empty { TEXT } else { &content_type };
            builder = builder.header("content-type", content_type);
        }
        if let Some(opaque_id) = &self.opaque_id {
            builder = builder.header("X-Opaque-Id", opaque_id);
        }
        for (name, value) in headers {
            builder = builder.header(name, value);
        }
        if self.compress
            && !self.head_only
            && let Some(packed) = packed(&bytes, pool)
        {
            bytes = packed;
            if let Some(charge) = &mut charge {
                charge.shrink_to(bytes.len() as u64);
            }
            builder = builder.header("content-encoding", "gzip");
        }
        if self.head_only {
            builder = builder.header("content-length", bytes.len());
            bytes = Vec::new();
        }
        let bytes = match charge {
            Some(charge) => Bytes::from_owner(Charged { bytes, _charge: charge }),
            None => Bytes::from(bytes),
        };
        builder.body(Full::new(bytes)).unwrap_or_else(|error| {
            // A header value that HTTP forbids, such as a percent-encoded line break in an opaque id.
            tracing::error!(%error, "an answer could not be built");
            let mut fallback = hyper::Response::new(Full::new(Bytes::from_static(b"{\"status\":500}")));
            *fallback.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
            fallback
        })
    }
}

/// Compresses a response. Returns `None` if it is too small for that, or if there is not enough memory for
/// both forms: the client gets it as it is then.
fn packed(bytes: &[u8], pool: Option<&Arc<Pool>>) -> Option<Vec<u8>> {
    if bytes.len() < COMPRESS_BYTES_MIN {
        return None;
    }
    // What cannot be compressed grows by a few bytes.
    let bytes_max = bytes.len() + COMPRESS_BYTES_MIN;
    let _charge = match pool {
        Some(pool) if bytes.len() >= CHARGE_BYTES_MIN => Some(charged(pool, bytes_max as u64).ok()?),
        _ => None,
    };
    let room = Vec::with_capacity(bytes.len() / 4);
    let mut encoder = flate2::write::GzEncoder::new(room, flate2::Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

/// Adds `stack_trace` for `error_trace`. There are no JVM stack frames, so the trace is the chain of causes.
fn add_traces(error: &mut Value) {
    let Some(object) = error.as_object_mut() else { return };
    let mut trace = String::new();
    let mut cause = Some(&*object);
    while let Some(one) = cause {
        let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
        let start = if trace.is_empty() { "" } else { "Caused by: " };
        trace.push_str(&format!("{start}{}: {}\n", text("type"), text("reason")));
        cause = one.get("caused_by").and_then(Value::as_object);
    }
    object.insert("stack_trace".into(), trace.into());
    for root in object.get_mut("root_cause").and_then(Value::as_array_mut).into_iter().flatten() {
        add_traces(root);
    }
}

fn charged(pool: &Arc<Pool>, bytes: u64) -> Result<Charge, RequestError> {
    pool.charge(bytes, "<http_response>").map_err(|error| circuit_breaking(&error))
}

/// The bytes of a response, charged until the last of them has been passed to the socket.
struct Charged {
    bytes: Vec<u8>,
    _charge: Charge,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
