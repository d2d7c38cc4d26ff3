//! Media types: the serialization of a request, and that of its response.
//!
//! Elasticsearch's vendor types `application/vnd.elasticsearch+json; compatible-with=8` are accepted and
//! echoed. Source: `XContentType`, `RestRequest#getParsedAccept`, `AbstractHttpServerTransport`.

use limber_mapping::{ErrorClass, RequestError};
use limber_work::{CheckedBytes, Stop};
use serde_json::Value;

use super::response::BARE;
use super::{checked_tree, json, smile, yaml};

/// A serialization of requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    NdJson,
    Yaml,
    Cbor,
    Smile,
}

impl Format {
    /// Whether bodies are text of JSON: one value, or one for each line.
    pub fn is_json(self) -> bool {
        matches!(self, Format::Json | Format::NdJson)
    }
}

/// The format of a response, with the exact `Content-Type` to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType {
    pub format: Format,
    pub content_type: String,
    /// Whether the client asked for this format; if not, tables of `_cat` are text.
    pub is_asked_for: bool,
}

impl MediaType {
    /// Returns JSON as the default that nobody asked for.
    pub fn json() -> MediaType {
        MediaType { format: Format::Json, content_type: "application/json".into(), is_asked_for: false }
    }
}

/// Parses one media type with its parameters; `None` if it is not one of Elasticsearch's.
fn parse(text: &str) -> Option<MediaType> {
    let mut parts = text.split(';');
    let essence = parts.next()?.trim().to_ascii_lowercase();
    let mut compatible_with = None;
    for parameter in parts {
        let (name, value) = parameter.split_once('=')?;
        // As in Elasticsearch, other parameters mean nothing.
        if name.trim().eq_ignore_ascii_case("compatible-with") {
            let version: u32 = value.trim().trim_matches('"').parse().ok()?;
            if !(7..=9).contains(&version) {
                return None;
            }
            compatible_with = Some(version);
        }
    }
    let format = match essence.as_str() {
        "application/json" | "application/vnd.elasticsearch+json" => Format::Json,
        "application/x-ndjson" | "application/vnd.elasticsearch+x-ndjson" => Format::NdJson,
        "application/yaml" | "application/vnd.elasticsearch+yaml" => Format::Yaml,
        "application/cbor" | "application/vnd.elasticsearch+cbor" => Format::Cbor,
        "application/smile" | "application/vnd.elasticsearch+smile" => Format::Smile,
        _ => return None,
    };
    let content_type = match compatible_with {
        Some(version) if essence.starts_with("application/vnd.") => {
            let kind = if format == Format::NdJson {
                "application/vnd.elasticsearch+json"
            } else {
                essence.as_str()
            };
            format!("{kind};compatible-with={version}")
        }
        _ if format == Format::NdJson => "application/json".into(),
        _ => essence,
    };
    Some(MediaType { format, content_type, is_asked_for: true })
}

/// Returns the format of a request body. Fails with 406 or 415 and Elasticsearch's message if the type is not
/// supported.
pub fn of_body(header: Option<&str>) -> Result<Format, RequestError> {
    let Some(header) = header else {
        return Err(RequestError::new(
            ErrorClass::NotAcceptable,
            "content_type_header_exception",
            "Content-Type header is missing",
        ));
    };
    match parse(header) {
        Some(media) => Ok(media.format),
        None => Err(RequestError::new(
            ErrorClass::NotAcceptable,
            "content_type_header_exception",
            format!("Content-Type header [{header}] is not supported"),
        )),
    }
}

/// Returns the media type of a response whose format the client leaves open: that of the request.
fn of_request(content_type: Option<&str>) -> MediaType {
    let is_other = |media: &MediaType| !media.format.is_json();
    let given = content_type.and_then(parse).filter(is_other);
    given.map_or_else(MediaType::json, |media| MediaType { is_asked_for: false, ..media })
}

/// Whether `text` has the form of a media type. Elasticsearch ignores those that it does not know.
fn is_media_type(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or("").trim();
    let is_name = |name: &str| {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(&byte);
        !name.is_empty() && name.bytes().all(is_token)
    };
    essence.is_empty() || essence.split_once('/').is_some_and(|(kind, name)| is_name(kind) && is_name(name))
}

/// Returns the media type of the response, from `format=`, `Accept` and the `Content-Type` of the request.
pub fn of_answer(
    format: Option<&str>,
    accept: Option<&str>,
    content_type: Option<&str>,
) -> Result<MediaType, RequestError> {
    if let Some(format) = format {
        let simple = |format, content_type: &str| {
            Ok(MediaType { format, content_type: content_type.into(), is_asked_for: true })
        };
        return match format.to_ascii_lowercase().as_str() {
            "json" => simple(Format::Json, "application/json"),
            "yaml" => simple(Format::Yaml, "application/yaml"),
            "cbor" => simple(Format::Cbor, "application/cbor"),
            "smile" => simple(Format::Smile, "application/smile"),
            "text" | "txt" => Ok(of_request(content_type)),
            // As in Elasticsearch, an unknown format is ignored.
            _ => of_answer(None, accept, content_type),
        };
    }
    let Some(accept) = accept else { return Ok(of_request(content_type)) };
    for candidate in accept.split(',') {
        if let Some(media) = parse(candidate) {
            // The first known type of a list is used. But as in Elasticsearch, a list does not turn a table
            // into JSON.
            return Ok(MediaType { is_asked_for: !accept.contains(','), ..media });
        }
    }
    match accept.split(',').find(|candidate| !is_media_type(candidate)) {
        None => Ok(of_request(content_type)),
        Some(wrong) => {
            let cause = RequestError::illegal_argument(format!("invalid media-type [{wrong}]"));
            let reason = "Invalid media-type value on headers [Accept]";
            Err(RequestError::bad_request("media_type_header_exception", reason).caused_by(cause))
        }
    }
}

/// Converts a request body in `format` to JSON bytes; `None` if it is JSON already. The values of a stream,
/// such as a bulk, become lines.
///
/// # Errors
/// The body is malformed, there is not enough memory for its tree, or the format has no streams.
pub fn body_to_json(format: Format, body: &[u8], is_stream: bool) -> Result<Option<Vec<u8>>, RequestError> {
    let broken =
        |what: &str, error: String| RequestError::parsing(format!("failed to parse {what} body: {error}"));
    let value = match format {
        Format::Json | Format::NdJson => return Ok(None),
        Format::Yaml | Format::Cbor if is_stream => return Err(without_streams(format)),
        Format::Yaml => {
            check_flow_depth(body)?;
            checked_tree::read(|| serde_yaml_ng::from_slice(body), |e| broken("yaml", e))?
        }
        Format::Cbor => checked_tree::read(|| ciborium::from_reader(body), |e| broken("cbor", e))?,
        Format::Smile if is_stream => return smile::lines(body).map(Some),
        Format::Smile => smile::read(body)?,
    };
    Ok(Some(json::to_bytes_checked(&value, false)?))
}

/// Returns the error of a bulk or a list of searches in a format whose values cannot be told apart. Source:
/// `RestController#dispatchRequest`.
fn without_streams(format: Format) -> RequestError {
    let name = if format == Format::Yaml { "YAML" } else { "CBOR" };
    let reason = format!("Content-Type [{name}] does not support stream parsing. Use JSON or SMILE instead");
    RequestError::new(ErrorClass::NotAcceptable, BARE, reason)
}

/// Returns an upper bound for the memory of a body's tree while it grows, beside its strings.
///
/// The tree of `[0,0,0,...]` takes seventy times the size of the body. Bodies that are parsed without a tree
/// are not checked. Of a stream, only the tree of one value exists at a time.
pub fn tree_bytes(format: Format, body: &[u8], is_stream: bool) -> u64 {
    // As of values of one byte each.
    let most = |bytes: usize| bytes as u64 * 2 * size_of::<Value>() as u64;
    match format {
        Format::Json | Format::NdJson => limber_mapping::tree_bytes(body) - body.len() as u64,
        Format::Smile if is_stream => smile::parts(body).map(|part| most(part.len())).max().unwrap_or(0),
        Format::Yaml | Format::Cbor | Format::Smile => most(body.len()),
    }
}

/// Refuses YAML with many open `[` and `{` without parsing it: the scanner's time grows with the square of
/// their number, whatever the parser then says.
fn check_flow_depth(yaml: &[u8]) -> Result<(), RequestError> {
    const FLOW_DEPTH_MAX: u32 = 1000;
    let mut depth = 0u32;
    for byte in yaml {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > FLOW_DEPTH_MAX {
            return Err(RequestError::parsing(format!(
                "failed to parse yaml body: nested deeper than [{FLOW_DEPTH_MAX}] levels"
            )));
        }
    }
    Ok(())
}

/// Serializes `value` in the response's format. The indentation of YAML may make a hundred bytes of one.
///
/// # Errors
/// There is not enough memory for it, or the client has disconnected.
pub fn render(value: &Value, format: Format, pretty: bool) -> Result<Vec<u8>, Stop> {
    // Writing to memory fails only for the reasons that `finish` returns.
    match format {
        Format::Json | Format::NdJson => json::to_bytes_checked(value, pretty),
        Format::Yaml => {
            let mut writer = CheckedBytes::default();
            let _ = yaml::write(&mut writer, value);
            writer.finish()
        }
        Format::Cbor => {
            let mut writer = CheckedBytes::default();
            let _ = ciborium::into_writer(value, &mut writer);
            writer.finish()
        }
        Format::Smile => smile::write(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_flow_collections_are_bounded_and_trees_are_weighed() {
        assert!(body_to_json(Format::Yaml, "[".repeat(100_000).as_bytes(), false).is_err());
        let json = br#"{"a":[1,{"b":2}]}"#.to_vec();
        assert_eq!(body_to_json(Format::Yaml, b"a: [1, {b: 2}]", false), Ok(Some(json)));
        assert_eq!(
            tree_bytes(Format::Json, br#"{"a": [1, 2]}"#, false),
            256 + 3 * 2 * size_of::<Value>() as u64
        );
        let refused = body_to_json(Format::Cbor, b"\xa0", true).expect_err("no stream");
        assert_eq!(refused.class, ErrorClass::NotAcceptable);
    }

    #[test]
    fn the_request_decides_where_the_client_leaves_it_open() {
        let check = |format, accept, content_type, expected| {
            let media = of_answer(format, accept, Some(content_type)).expect("acceptable");
            assert_eq!((&*media.content_type, media.is_asked_for), expected);
        };
        check(None, None, "application/yaml", ("application/yaml", false));
        check(None, Some("*/*"), "application/cbor", ("application/cbor", false));
        check(Some("text"), None, "application/yaml", ("application/yaml", false));
        check(None, Some("application/json"), "application/yaml", ("application/json", true));
        check(None, None, "application/x-ndjson", ("application/json", false));
        check(None, None, "text/plain", ("application/json", false));
    }

    #[test]
    fn vendored_types_are_echoed() {
        let check = |accept: &str, expected: &str| {
            assert_eq!(
                of_answer(None, Some(accept), None).expect("acceptable").content_type,
                expected,
                "{accept}"
            );
        };
        check("application/json", "application/json");
        check("*/*", "application/json");
        check(
            "application/vnd.elasticsearch+json; compatible-with=8",
            "application/vnd.elasticsearch+json;compatible-with=8",
        );
        check(
            "application/vnd.elasticsearch+x-ndjson;compatible-with=9",
            "application/vnd.elasticsearch+json;compatible-with=9",
        );
        check("image/png", "application/json");
        let error = of_answer(None, Some("foo"), None).expect_err("no media type");
        assert_eq!(error.reason, "Invalid media-type value on headers [Accept]");
        assert_eq!(of_body(Some("application/json;foo=bar")), Ok(Format::Json));
        assert_eq!(of_body(Some("application/x-ndjson")).expect("known"), Format::NdJson);
        assert_eq!(of_body(Some("text/plain")).expect_err("unknown").class, ErrorClass::NotAcceptable);
    }
}
