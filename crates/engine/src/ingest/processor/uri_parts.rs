//! `uri_parts`: "what are the host, the path and the other parts of this URI?"
//!
//! Source: Elasticsearch's `UriPartsProcessor`. It uses Java's `URI`, and if that refuses a string, the more
//! lenient `URL`, which knows only a few schemes and decodes nothing.

use std::borrow::Cow;

use limber_mapping::RequestError;
use limber_text::url;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node};
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::text::string_field;
use super::{Flow, Processor};

#[derive(Debug)]
struct UriParts {
    field: FieldPath,
    target: FieldPath,
    removes: bool,
    keeps_original: bool,
    ignore_missing: bool,
}

/// Compiles the processor. Options: `field`; optional `target_field` (`url`), `remove_if_successful` (false),
/// `keep_original` (true) and `ignore_missing` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let target = FieldPath::parse(&options.string_or("target_field", "url")?)?;
    let removes = options.bool_or("remove_if_successful", false)?;
    let keeps_original = options.bool_or("keep_original", true)?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    Ok(Box::new(UriParts { field, target, removes, keeps_original, ignore_missing }))
}

impl Processor for UriParts {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let text = string_field(document, &self.field, self.ignore_missing, "cannot process it.")?;
        let Some(text) = text else { return Ok(Flow::Continue) };
        let parts = Parts::of(&text)
            .ok_or_else(|| RequestError::illegal_argument(format!("unable to parse URI [{text}]")))?;
        let object = document.add(Node::container(Kind::Object));
        let mut put = |name: &str, value: Option<&str>| -> Result<(), RequestError> {
            if let Some(value) = value {
                let value = document.make_string(value)?;
                document.append_child(object, name, value)?;
            }
            Ok(())
        };
        put("domain", parts.domain.as_deref())?;
        put("fragment", parts.fragment.as_deref())?;
        put("original", self.keeps_original.then_some(&*text))?;
        put("path", parts.path.as_deref())?;
        put("extension", parts.extension())?;
        put("query", parts.query.as_deref())?;
        put("scheme", parts.scheme.as_deref())?;
        if let Some(user_info) = parts.user_info.as_deref().filter(|info| !info.is_empty()) {
            put("user_info", Some(user_info))?;
            if let Some((username, password)) = user_info.split_once(':') {
                put("username", Some(username))?;
                put("password", Some(password))?;
            }
        }
        if let Some(port) = parts.port {
            let port = document.make_scalar(Kind::Number, &port.to_string())?;
            document.append_child(object, "port", port)?;
        }
        if self.removes && self.target != self.field {
            self.field.remove(document)?;
        }
        let object = *document.node(object);
        self.target.set(document, object)?;
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
struct Parts<'t> {
    scheme: Option<Cow<'t, str>>,
    user_info: Option<Cow<'t, str>>,
    domain: Option<Cow<'t, str>>,
    port: Option<u32>,
    path: Option<Cow<'t, str>>,
    query: Option<Cow<'t, str>>,
    fragment: Option<Cow<'t, str>>,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Parts<'t>> {
        if is_strict(text) {
            let mut parts = Parts::read(text, true)?;
            if text.ends_with("://") {
                // `URI` fails without a host, and `URL` then finds an empty one.
                parts.domain = Some("".into());
            }
            return Some(parts);
        }
        /// Schemes that Java's `URL` supports.
        const KNOWN: [&str; 6] = ["http", "https", "file", "ftp", "jar", "mailto"];
        let (scheme, _) = text.split_once(':')?;
        KNOWN.iter().any(|known| known.eq_ignore_ascii_case(scheme)).then(|| Parts::read(text, false))?
    }

    /// Splits the URI at its delimiters (RFC 3986, appendix B).
    fn read(text: &'t str, decodes: bool) -> Option<Parts<'t>> {
        let shown = |part: &'t str| if decodes { url::decoded_text(part) } else { Cow::Borrowed(part) };
        let mut parts = Parts::default();
        let (rest, fragment) = cut(text, '#');
        parts.fragment = fragment.map(shown);
        let mut rest = rest;
        if let Some(end) = rest.find([':', '/', '?'])
            && rest.as_bytes()[end] == b':'
        {
            let scheme = &rest[..end];
            let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
            if !is_scheme {
                return None;
            }
            parts.scheme = Some(scheme.into());
            rest = &rest[end + 1..];
            // An opaque URI has no further parts.
            if !rest.starts_with('/') {
                return (!rest.is_empty()).then_some(parts);
            }
        }
        let (rest, query) = cut(rest, '?');
        parts.query = query.map(shown);
        let path = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                parts.read_authority(&rest[..end], shown);
                &rest[end..]
            }
            None => rest,
        };
        parts.path = Some(shown(path));
        Some(parts)
    }

    /// Reads user, host and port. None is set if the host or the port is invalid.
    fn read_authority(&mut self, authority: &'t str, shown: impl Fn(&'t str) -> Cow<'t, str>) {
        let (user_info, host) = match authority.rsplit_once('@') {
            Some((user_info, host)) => (Some(user_info), host),
            None => (None, authority),
        };
        let port_at = host.rfind(']').map_or(0, |end| end + 1);
        let (host, port) = match host[port_at..].find(':') {
            Some(colon) => (&host[..port_at + colon], &host[port_at + colon + 1..]),
            None => (host, ""),
        };
        let is_host = (host.starts_with('[') && host.ends_with(']'))
            || host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        let Some(port) = (if port.is_empty() { Some(None) } else { port.parse().ok().map(Some) }) else {
            return;
        };
        if !is_host || host.is_empty() {
            return;
        }
        self.user_info = user_info.map(shown);
        self.domain = Some(host.into());
        self.port = port;
    }

    /// Returns what follows the last dot of the path's last segment.
    fn extension(&self) -> Option<&str> {
        let name = self.path.as_deref()?.rsplit('/').next()?;
        let (_, extension) = name.rsplit_once('.')?;
        (!extension.is_empty()).then_some(extension)
    }
}

fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// Whether Java's `URI` accepts all characters: no white space, no control characters, none that RFC 2396
/// excludes, and no incomplete escapes.
fn is_strict(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_whole_escapes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%').all(|(at, _)| {
        bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    has_whole_escapes
        && text.chars().all(|character| {
            !character.is_control() && !character.is_whitespace() && !"\"<>\\^`{|}".contains(character)
        })
}
