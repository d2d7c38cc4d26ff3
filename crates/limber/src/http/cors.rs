//! Cross-origin requests: "may a page of that origin read this answer?" (`http.cors.*`)
//!
//! Source: Elasticsearch's `CorsHandler` and `CorsConfig`.

use std::sync::Arc;

use anyhow::{Result, bail};
use http::HeaderMap;
use http::header::HeaderValue;
use limber_mapping::plain_text;
use limber_text::pattern::Pattern;
use serde_json::{Map, Value};

use super::render::HttpResponse;

const METHODS: &str = "OPTIONS,HEAD,GET,POST,PUT,DELETE";
const HEADERS: &str =
    "X-Requested-With,Content-Type,Content-Length,Authorization,Accept,User-Agent,X-Elastic-Client-Meta";
const EXPOSED: &str = "X-elastic-product";
/// 20 days in seconds.
const MAX_AGE_SECONDS: &str = "1728000";

#[derive(Debug, Clone)]
enum Origins {
    None,
    Any,
    These(Vec<String>),
    Matching(Arc<Pattern>),
}

/// `http.cors.*`, if enabled.
#[derive(Debug, Clone)]
pub struct Cors {
    origins: Origins,
    methods: HeaderValue,
    headers: HeaderValue,
    exposed: HeaderValue,
    max_age: HeaderValue,
    allows_credentials: bool,
}

/// How the origin of a request is treated.
#[derive(Debug, PartialEq, Eq)]
pub enum Origin {
    /// The page comes from this server, or no page sent the request.
    Same,
    Allowed,
    Forbidden,
}

impl Cors {
    /// Removes its settings from `settings`. `None` if not enabled.
    ///
    /// # Errors
    /// A setting cannot be read.
    pub fn take(settings: &mut Map<String, Value>) -> Result<Option<Cors>> {
        let mut take = |name: &str| settings.shift_remove(&format!("http.cors.{name}")).map(|v| list(&v));
        let enabled = flag("enabled", take("enabled"))?;
        let origin = take("allow-origin").unwrap_or_default();
        let cors = Cors {
            origins: Origins::parse(&origin)?,
            methods: header(take("allow-methods"), METHODS)?,
            headers: header(take("allow-headers"), HEADERS)?,
            exposed: header(take("expose-headers"), EXPOSED)?,
            max_age: header(take("max-age"), MAX_AGE_SECONDS)?,
            allows_credentials: flag("allow-credentials", take("allow-credentials"))?,
        };
        if !cors.max_age.to_str().is_ok_and(|seconds| seconds.parse::<u32>().is_ok()) {
            bail!("[http.cors.max-age] must be a number of seconds");
        }
        Ok(enabled.then_some(cors))
    }

    /// Decides how the request's `Origin` is treated.
    pub fn judge(&self, request: &HeaderMap) -> Origin {
        let text = |name: &str| request.get(name).and_then(|value| value.to_str().ok());
        let Some(origin) = text("origin").filter(|origin| !origin.is_empty()) else { return Origin::Same };
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        if text("host") == Some(host) {
            return Origin::Same;
        }
        let is_allowed = match &self.origins {
            Origins::None => false,
            Origins::Any => true,
            Origins::These(these) => these.iter().any(|this| this.eq_ignore_ascii_case(origin)),
            Origins::Matching(pattern) => pattern
                .captures(origin, 0)
                .ok()
                .flatten()
                .and_then(|groups| groups.first().copied().flatten())
                .is_some_and(|whole| whole == (0, origin.len())),
        };
        if is_allowed { Origin::Allowed } else { Origin::Forbidden }
    }

    /// Whether the request is a browser's preflight request.
    pub fn is_preflight(method: &str, request: &HeaderMap) -> bool {
        method == "OPTIONS"
            && request.contains_key("origin")
            && request.contains_key("access-control-request-method")
    }

    /// Adds the headers that let a page of an allowed origin read the response.
    pub fn sign(&self, request: &HeaderMap, is_preflight: bool, answer: &mut HttpResponse) {
        let Some(origin) = request.get("origin") else { return };
        let headers = answer.headers_mut();
        match (&self.origins, self.allows_credentials) {
            (Origins::Any, false) => {
                headers.insert("access-control-allow-origin", HeaderValue::from_static("*"));
            }
            _ => {
                headers.insert("access-control-allow-origin", origin.clone());
                headers.insert("vary", HeaderValue::from_static("Origin"));
            }
        }
        if self.allows_credentials {
            headers.insert("access-control-allow-credentials", HeaderValue::from_static("true"));
        }
        if is_preflight {
            headers.insert("access-control-allow-methods", self.methods.clone());
            headers.insert("access-control-allow-headers", self.headers.clone());
            headers.insert("access-control-max-age", self.max_age.clone());
        } else {
            headers.insert("access-control-expose-headers", self.exposed.clone());
        }
    }
}

impl Origins {
    fn parse(text: &str) -> Result<Origins> {
        if text.is_empty() {
            return Ok(Origins::None);
        }
        if text == "*" {
            return Ok(Origins::Any);
        }
        match text.strip_prefix('/').and_then(|text| text.strip_suffix('/')) {
            Some(pattern) => match Pattern::parse(pattern) {
                Ok(pattern) => Ok(Origins::Matching(Arc::new(pattern))),
                Err(why) => bail!("Bad regex in [http.cors.allow-origin]: [{text}]: {why}"),
            },
            None => Ok(Origins::These(text.split(',').map(|origin| origin.trim().to_owned()).collect())),
        }
    }
}

/// Formats a list as a comma-separated string.
fn list(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(plain_text).collect::<Vec<_>>().join(","),
        other => plain_text(other),
    }
}

fn flag(name: &str, value: Option<String>) -> Result<bool> {
    match value.as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => bail!("[http.cors.{name}] must be [true] or [false], but was [{other}]"),
    }
}

fn header(value: Option<String>, default: &str) -> Result<HeaderValue> {
    let text = value.unwrap_or_else(|| default.to_owned());
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    Ok(HeaderValue::from_str(&parts.join(","))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn origins_are_judged_as_elasticsearch_judges_them() {
        let judge = |allowed: Value, origin: &str| {
            let settings = json!({"http.cors.enabled": true, "http.cors.allow-origin": allowed});
            let Value::Object(mut settings) = settings else { unreachable!("an object") };
            let cors = Cors::take(&mut settings).expect("settings").expect("enabled");
            let mut headers = HeaderMap::new();
            headers.insert("origin", HeaderValue::from_str(origin).expect("a header"));
            headers.insert("host", HeaderValue::from_static("localhost:9200"));
            cors.judge(&headers)
        };
        assert_eq!(judge(json!("*"), "http://a.example"), Origin::Allowed);
        assert_eq!(judge(json!("http://b.example, http://a.example"), "http://a.example"), Origin::Allowed);
        assert_eq!(judge(json!(["http://b.example"]), "http://a.example"), Origin::Forbidden);
        assert_eq!(
            judge(json!("/https?:\\/\\/localhost(:[0-9]+)?/"), "http://localhost:3000"),
            Origin::Allowed
        );
        assert_eq!(judge(json!("/https?:\\/\\/localhost/"), "http://localhost:3000"), Origin::Forbidden);
        assert_eq!(judge(json!(""), "http://localhost:9200"), Origin::Same);
        assert_eq!(judge(json!(""), "http://localhost:9201"), Origin::Forbidden);
        assert!(Cors::take(&mut Map::new()).expect("no settings").is_none());
    }
}
