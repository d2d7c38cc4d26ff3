//! How to connect to a cluster (`--client-options`).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use crate::error::Error;
use crate::http::{StaticAnswers, TlsOptions};
use crate::model::{Params, bare_text};

/// How often Rally's client retries, if it retries at all (`elastic_transport`, `max_retries`).
const RETRIES_DEFAULT: u32 = 3;

/// All options, in the order of the help. [`ClientOptions::from_params`] reads them.
const NAMES: [&str; 23] = [
    "timeout",
    "request_timeout",
    "use_ssl",
    "verify_certs",
    "ca_certs",
    "client_cert",
    "client_key",
    "ssl_show_warn",
    "basic_auth_user",
    "basic_auth_password",
    "api_key",
    "bearer_auth",
    "create_api_key_per_client",
    "http_compress",
    "compressed",
    "max_connections",
    "max_retries",
    "retry_on_timeout",
    "retry_on_status",
    "headers",
    "opaque_id",
    "enable_cleanup_closed",
    "static_responses",
];

/// When a request is sent again. Repetitions are part of the same operation and of its service time.
///
/// There are none by default. Rally's client silently retries lost connections and the statuses 429, 502, 503
/// and 504 three times, so that an overloaded server looks slow although it refuses requests. Here the user
/// has to ask for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Retries {
    /// Number of attempts after the first.
    pub attempts_max: u32,
    pub on_timeout: bool,
    pub on_statuses: Vec<u16>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClientOptions {
    pub timeout: Duration,
    /// Value of the `authorization` header.
    pub authorization: Option<String>,
    pub uses_tls: bool,
    pub tls: TlsOptions,
    /// Whether the bodies of requests are sent as gzip.
    pub compresses: bool,
    pub retries: Retries,
    /// Whether each client gets its own API key, which is created and deleted with the user's credentials.
    pub creates_api_keys: bool,
    /// Further headers of every request.
    pub headers: Vec<(String, String)>,
    /// Answers from a file that replace a server's; nothing is sent.
    pub static_responses: Option<Arc<StaticAnswers>>,
    /// What the user should know about these options.
    pub warnings: Vec<String>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions {
            timeout: Duration::from_secs(60),
            authorization: None,
            uses_tls: false,
            tls: TlsOptions::default(),
            compresses: false,
            retries: Retries::default(),
            creates_api_keys: false,
            headers: Vec::new(),
            static_responses: None,
            warnings: Vec::new(),
        }
    }
}

impl ClientOptions {
    /// Errors: an option that does not exist, a value of the wrong kind, options that need or exclude each
    /// other.
    pub(crate) fn from_params(params: &Params) -> Result<ClientOptions, Error> {
        if let Some(unknown) = params.keys().find(|name| !NAMES.contains(&name.as_str())) {
            return Err(Error::Argument(format!(
                "client option [{unknown}] is not supported; there are {}",
                NAMES.join(", ")
            )));
        }
        let read = Reader(params);
        let mut options = ClientOptions {
            uses_tls: read.flag("use_ssl", false)?,
            compresses: read.flag("http_compress", read.flag("compressed", false)?)?,
            creates_api_keys: read.flag("create_api_key_per_client", false)?,
            headers: read.headers()?,
            ..ClientOptions::default()
        };
        if let Some(timeout) = read.seconds("timeout")?.or(read.seconds("request_timeout")?) {
            options.timeout = timeout;
        }
        options.authorization = read.authorization()?;
        if options.creates_api_keys && !params.contains_key("basic_auth_user") {
            return Err(Error::argument(
                "client option [create_api_key_per_client] needs [basic_auth_user] and \
                        [basic_auth_password], with which the keys are made",
            ));
        }
        if let Some(file) = read.text("static_responses")? {
            let answers = StaticAnswers::read(&PathBuf::from(file));
            let answers = answers.map_err(|reason| {
                Error::Argument(format!("client option [static_responses], file {reason}"))
            })?;
            options.static_responses = Some(Arc::new(answers));
            if options.creates_api_keys {
                return Err(Error::argument(
                    "client options [create_api_key_per_client] and [static_responses] exclude each other",
                ));
            }
        }
        options.tls = read.tls(options.uses_tls)?;
        options.retries = read.retries()?;
        read.whole_number("max_connections")?;
        options.warnings = read.warnings(&options)?;
        Ok(options)
    }

    /// Returns the header lines of every request, each ending in CR LF. `authorization`, if any, replaces the
    /// options' credentials.
    pub(crate) fn header_lines(&self, authorization: Option<&str>) -> String {
        let mut lines = format!("user-agent: limber-race/{}\r\n", env!("CARGO_PKG_VERSION"));
        let authorization = authorization.or(self.authorization.as_deref());
        let credentials = authorization.map(|value| ("authorization", value));
        let further = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in credentials.into_iter().chain(further) {
            let is_safe = |c: &char| !c.is_control();
            lines.extend(name.chars().filter(is_safe));
            lines.push_str(": ");
            lines.extend(value.chars().filter(is_safe));
            lines.push_str("\r\n");
        }
        lines
    }
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{user}:{password}")))
}

/// Reads values by name. Errors name the option.
struct Reader<'a>(&'a Params);

impl Reader<'_> {
    fn wrong(name: &str, value: &Value, expected: &str) -> Error {
        Error::Argument(format!("client option [{name}] cannot be [{value}]; it is {expected}"))
    }

    /// Returns a value that is present and not null.
    fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool, Error> {
        match self.value(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(Self::wrong(name, other, "true or false")),
        }
    }

    /// Returns a string. A number is returned as it is written, since `key:value` makes one of a password of
    /// digits.
    fn text(&self, name: &str) -> Result<Option<String>, Error> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(Self::wrong(name, other, "a text")),
        }
    }

    fn whole_number(&self, name: &str) -> Result<Option<u64>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| Self::wrong(name, value, "a whole number"))
    }

    fn seconds(&self, name: &str) -> Result<Option<Duration>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let duration = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        duration
            .filter(|duration| !duration.is_zero())
            .map(Some)
            .ok_or_else(|| Self::wrong(name, value, "a number of seconds above 0"))
    }

    fn authorization(&self) -> Result<Option<String>, Error> {
        let mut found = Vec::new();
        match (self.text("basic_auth_user")?, self.text("basic_auth_password")?) {
            (Some(user), Some(password)) => found.push(basic(&user, &password)),
            (None, None) => {}
            _ => {
                return Err(Error::argument(
                    "client options [basic_auth_user] and [basic_auth_password] need each other",
                ));
            }
        }
        match self.value("api_key") {
            // Elasticsearch's client also accepts the key's id and secret as a pair.
            Some(Value::Array(pair)) => match &pair[..] {
                [Value::String(id), Value::String(secret)] => {
                    found.push(format!("ApiKey {}", BASE64.encode(format!("{id}:{secret}"))));
                }
                _ => {
                    return Err(Self::wrong(
                        "api_key",
                        &Value::Array(pair.clone()),
                        "a key, or its id and its secret",
                    ));
                }
            },
            _ => found.extend(self.text("api_key")?.map(|key| format!("ApiKey {key}"))),
        }
        found.extend(self.text("bearer_auth")?.map(|token| format!("Bearer {token}")));
        match found.len() {
            0 | 1 => Ok(found.pop()),
            _ => Err(Error::argument(
                "client options [basic_auth_user], [api_key] and [bearer_auth] exclude each other",
            )),
        }
    }

    fn tls(&self, uses_tls: bool) -> Result<TlsOptions, Error> {
        let path = |name: &str| Ok::<_, Error>(self.text(name)?.map(PathBuf::from));
        let (cert, key) = (path("client_cert")?, path("client_key")?);
        let identity = match (cert, key) {
            (None, None) => None,
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, Some(_)) => return Err(Error::argument("client option [client_key] needs [client_cert]")),
            (Some(_), None) => return Err(Error::argument("client option [client_cert] needs [client_key]")),
        };
        let options =
            TlsOptions { verifies: self.flag("verify_certs", true)?, ca_certs: path("ca_certs")?, identity };
        if uses_tls {
            // Find out that a file is missing before the track is loaded.
            options.config()?;
        }
        Ok(options)
    }

    fn retries(&self) -> Result<Retries, Error> {
        let on_timeout = self.flag("retry_on_timeout", false)?;
        let status = |value: &Value| value.as_u64().and_then(|status| u16::try_from(status).ok());
        let on_statuses = match self.value("retry_on_status") {
            None => Vec::new(),
            Some(value) => {
                let list = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                list.iter()
                    .map(status)
                    .collect::<Option<Vec<u16>>>()
                    .ok_or_else(|| Self::wrong("retry_on_status", value, "a status or a list of them"))?
            }
        };
        let is_asked_for = on_timeout || !on_statuses.is_empty();
        let attempts_max = match self.whole_number("max_retries")? {
            Some(count) => u32::try_from(count).unwrap_or(u32::MAX),
            None if is_asked_for => RETRIES_DEFAULT,
            None => 0,
        };
        Ok(Retries { attempts_max, on_timeout, on_statuses })
    }

    fn headers(&self) -> Result<Vec<(String, String)>, Error> {
        let mut headers = Vec::new();
        match self.value("headers") {
            None => {}
            Some(Value::Object(object)) => {
                for (name, value) in object {
                    let is_name = |c: char| c.is_ascii_graphic() && c != ':';
                    if name.is_empty() || !name.chars().all(is_name) {
                        return Err(Error::Argument(format!(
                            "client option [headers]: [{name}] is not the name of a header"
                        )));
                    }
                    headers.push((name.to_ascii_lowercase(), bare_text(value)));
                }
            }
            Some(other) => return Err(Self::wrong("headers", other, "an object of names and values")),
        }
        headers.extend(self.text("opaque_id")?.map(|id| ("x-opaque-id".to_owned(), id)));
        Ok(headers)
    }

    fn warnings(&self, options: &ClientOptions) -> Result<Vec<String>, Error> {
        let mut warnings = Vec::new();
        if !options.tls.verifies && self.flag("ssl_show_warn", true)? {
            warnings.push("Certificates are not verified (client option [verify_certs]).".to_owned());
        }
        if self.0.contains_key("compressed") {
            warnings.push("Client option [compressed] is old; use [http_compress].".to_owned());
        }
        if self.value("enable_cleanup_closed").is_some() {
            self.flag("enable_cleanup_closed", true)?;
            warnings.push(
                "Client option [enable_cleanup_closed] has no effect here: closed connections never stay."
                    .to_owned(),
            );
        }
        if options.static_responses.is_some() {
            warnings.push(
                "Client option [static_responses]: nothing is sent, the figures are those of the load generator alone."
                    .to_owned(),
            );
        }
        Ok(warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::parse;

    fn read(text: &str) -> Result<ClientOptions, Error> {
        ClientOptions::from_params(&parse(text).unwrap())
    }

    #[test]
    fn options() {
        assert_eq!(read("timeout:5").unwrap().timeout, Duration::from_secs(5));
        let options = read("basic_auth_user:'elastic',basic_auth_password:'secret'").unwrap();
        assert_eq!(options.authorization.as_deref(), Some("Basic ZWxhc3RpYzpzZWNyZXQ="));
        let options =
            read(r#"{"api_key": ["id", "secret"], "headers": {"X-A": 1}, "opaque_id": "r"}"#).unwrap();
        assert_eq!(options.authorization.as_deref(), Some("ApiKey aWQ6c2VjcmV0"));
        let lines = options.header_lines(None);
        assert!(
            lines.ends_with("authorization: ApiKey aWQ6c2VjcmV0\r\nx-a: 1\r\nx-opaque-id: r\r\n"),
            "{lines}"
        );
        assert!(options.header_lines(Some("Bearer t")).contains("authorization: Bearer t\r\n"));
        assert!(read("http_compress:true").unwrap().compresses);
        assert!(read("use_ssl:true,max_connections:300").unwrap().uses_tls);
        assert!(read("use_ssl:true,verify_certs:false").unwrap().warnings[0].contains("not verified"));
        assert!(read("use_ssl:true,verify_certs:false,ssl_show_warn:false").unwrap().warnings.is_empty());
        assert!(read("enable_cleanup_closed:true").unwrap().warnings[0].contains("no effect"));
    }

    #[test]
    fn retries() {
        let retries = |text: &str| read(text).unwrap().retries;
        assert_eq!(retries("timeout:60"), Retries::default());
        assert_eq!(
            retries("retry_on_timeout:true"),
            Retries { attempts_max: 3, on_timeout: true, on_statuses: Vec::new() }
        );
        assert_eq!(retries(r#"{"retry_on_status": [429, 503], "max_retries": 1}"#).on_statuses, [429, 503]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let reason = read(text).unwrap_err().to_string();
            assert!(reason.contains(expected), "{reason}");
        }
        check("sniff_on_start:true", "[sniff_on_start] is not supported");
        check("basic_auth_user:'x'", "need each other");
        check("basic_auth_user:'x',basic_auth_password:'y',api_key:'z'", "exclude each other");
        check("create_api_key_per_client:true", "needs [basic_auth_user]");
        check("client_cert:'a.pem'", "needs [client_key]");
        check("use_ssl:maybe", "[use_ssl] cannot be [\"maybe\"]");
        check("use_ssl:true,ca_certs:'/no/such.pem'", "client option [ca_certs], file [/no/such.pem]");
        check("timeout:0", "[timeout]");
        check("timeout:soon", "[timeout]");
        check("static_responses:'/no/such.json'", "client option [static_responses], file [/no/such.json]");
        check(r#"{"headers": {"a b": "c"}}"#, "[a b] is not the name");
    }
}
