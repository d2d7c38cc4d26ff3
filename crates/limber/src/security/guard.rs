//! The only place that lets a request in: it authenticates the caller, authorizes the action and returns an
//! [`Access`].

use std::borrow::Cow;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use http::HeaderMap;
use limber_access::Access;
use limber_engine::Node;
use limber_mapping::{ErrorClass, RequestError};
use serde_json::json;

use super::audit::{Asked, Audit};
use super::authenticator::{Authenticator, Known, Refusal};
use super::settings::SecuritySettings;
use crate::http::queue::client_at;
use crate::http::response::{BARE, CHALLENGES};

/// The header that names the user to impersonate.
const RUN_AS: &str = "es-security-runas-user";

/// Authenticates and authorizes requests.
pub struct Guard {
    authenticator: Authenticator,
    /// Whether requests without credentials have a user.
    admits_anonymous: bool,
    /// Whether anonymous requests get 401 for actions that they may not carry out.
    hides_anonymous_denials: bool,
    audit: Option<Audit>,
}

/// An authenticated caller, and the user to impersonate.
pub struct Caller {
    known: Known,
    /// The user to impersonate.
    run_as: Option<String>,
}

/// The part of a request that the guard looks at.
#[derive(Clone, Copy)]
pub struct RequestHead<'a> {
    pub peer: SocketAddr,
    pub method: &'a str,
    /// As sent.
    pub uri: &'a str,
    pub headers: &'a HeaderMap,
}

impl<'a> RequestHead<'a> {
    fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns a header that says who the caller is. A part that is not text is replaced by a character that
    /// no name contains, so that the header is not taken for a missing one.
    ///
    /// Source: `RestController#copyRestHeaders`.
    fn single(&self, name: &str) -> Result<Option<Cow<'a, str>>, RequestError> {
        let mut values = self.headers.get_all(name).iter();
        let first = values.next();
        if values.any(|other| Some(other) != first) {
            let reason = format!("multiple values for single-valued header [{name}].");
            return Err(RequestError::bad_request(BARE, reason));
        }
        Ok(first.map(|value| String::from_utf8_lossy(value.as_bytes())))
    }

    fn asked(&self) -> Asked<'a> {
        Asked {
            peer: self.peer,
            method: self.method,
            path: self.uri.split('?').next().unwrap_or(self.uri),
            opaque_id: self.header("x-opaque-id"),
        }
    }
}

impl Guard {
    /// Opens the audit log if it is enabled.
    ///
    /// # Errors
    /// The audit log cannot be written.
    pub fn new(settings: &SecuritySettings, data: &Path, cores: usize) -> Result<Guard> {
        let anonymous = settings.anonymous.clone();
        Ok(Guard {
            admits_anonymous: anonymous.is_some(),
            hides_anonymous_denials: anonymous.as_ref().is_some_and(|anonymous| !anonymous.authz_exception),
            authenticator: Authenticator::new(anonymous, cores),
            audit: settings.audit.then(|| Audit::open(data)).transpose()?,
        })
    }

    /// Whether requests without credentials have a user.
    pub fn admits_anonymous(&self) -> bool {
        self.admits_anonymous
    }

    /// Whether requests are written to the audit log.
    pub fn audits(&self) -> bool {
        self.audit.is_some()
    }

    /// Authenticates the caller.
    ///
    /// # Errors
    /// 401; 429 if too many passwords are waiting to be verified; 400 for a header with several values.
    pub async fn identify(&self, node: &Node, head: RequestHead<'_>) -> Result<Caller, RequestError> {
        let (header, run_as) = (head.single("authorization")?, head.single(RUN_AS)?);
        let client = client_at(head.peer.ip());
        match self.authenticator.identify(node, header.as_deref(), client).await {
            Ok(known) => Ok(Caller { known, run_as: run_as.map(Cow::into_owned) }),
            Err(refusal) => {
                let event = match refusal {
                    Refusal::Missing => "anonymous_access_denied",
                    _ => "authentication_failed",
                };
                self.note(event, head, None, None);
                Err(unauthenticated(refusal, head.uri))
            }
        }
    }

    /// Authorizes the caller's action. `named` are the indices in the path.
    ///
    /// # Errors
    /// 403; 401 if the caller wants to act as a user without a name.
    pub fn admit(
        &self,
        node: &Node,
        caller: Caller,
        (action, named): (&'static str, &str),
        head: RequestHead<'_>,
    ) -> Result<Arc<Access>, RequestError> {
        let mut known = caller.known;
        if let Some(name) = caller.run_as {
            if name.is_empty() {
                self.note("run_as_denied", head, Some(&known), Some(action));
                let username = known.identity.username.clone();
                return Err(unauthenticated(Refusal::Wrong { username }, head.uri));
            }
            let store = node.security();
            let allowed = known.rights.check_run_as(&known.identity, action, &name);
            let acting = || self.authenticator.acting_as(node, &store, &known, &name);
            let other = allowed.clone().and_then(|()| acting());
            match other {
                Ok(Some(other)) => {
                    self.note("run_as_granted", head, Some(&other), Some(action));
                    known = other;
                }
                outcome => {
                    self.note("run_as_denied", head, Some(&known), Some(action));
                    outcome?;
                    return Err(known.rights.run_as_denied(&known.identity, action, &name));
                }
            }
        }
        let is_anonymous = known.identity.authentication == limber_access::AuthenticationType::Anonymous;
        match Access::grant_on(known.identity.clone(), known.rights.clone(), action, named) {
            Ok(access) => {
                self.note("access_granted", head, Some(&known), Some(action));
                Ok(access)
            }
            Err(_) if is_anonymous && self.hides_anonymous_denials => {
                self.note("anonymous_access_denied", head, Some(&known), Some(action));
                Err(unauthenticated(Refusal::Missing, head.uri))
            }
            Err(denied) => {
                self.note("access_denied", head, Some(&known), Some(action));
                Err(denied)
            }
        }
    }

    /// Logs that access to an index was denied after the request as a whole had been let in.
    pub fn note_denial(&self, access: &Access, head: RequestHead<'_>) {
        let known = Known { identity: access.identity.clone(), rights: access.rights.clone() };
        self.note("access_denied", head, Some(&known), Some(access.action()));
    }

    fn note(&self, event: &str, head: RequestHead<'_>, known: Option<&Known>, action: Option<&str>) {
        if let Some(audit) = &self.audit {
            audit.write(event, &head.asked(), known.map(|known| &*known.identity), action);
        }
    }
}

/// Returns the error 401 with Elasticsearch's message.
///
/// Source: `DefaultAuthenticationFailureHandler`.
fn unauthenticated(refusal: Refusal, uri: &str) -> RequestError {
    let (reason, more) = match refusal {
        Refusal::Busy(error) => return error,
        Refusal::Missing => (format!("missing authentication credentials for REST request [{uri}]"), None),
        Refusal::Wrong { username } => {
            (format!("unable to authenticate user [{username}] for REST request [{uri}]"), None)
        }
        Refusal::WrongKey { why } => (
            "unable to authenticate with provided credentials and anonymous access is not allowed for this request"
                .to_owned(),
            Some(why),
        ),
    };
    let mut error = RequestError::new(ErrorClass::Unauthenticated, "security_exception", reason);
    if let Some(why) = more {
        error = error.with("additional_unsuccessful_credentials", why);
    }
    error.with("header", json!({"WWW-Authenticate": CHALLENGES}))
}
