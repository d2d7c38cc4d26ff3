//! Who sends a request, and how they were authenticated.

use limber_mapping::tree_bytes;
use serde_json::{Map, Value, json};

/// How a request was authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthenticationType {
    /// With name and password, in a realm.
    Realm,
    /// With an API key.
    ApiKey {
        /// Id of the key.
        id: String,
        /// Name of the key.
        name: String,
    },
    /// With a token of a service account.
    Token {
        /// Name of the token.
        name: String,
    },
    /// Not authenticated: the request had no credentials, and `xpack.security.authc.anonymous` allows that.
    Anonymous,
}

/// The realm that a user belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Realm {
    /// The realm's name in responses.
    pub name: &'static str,
    /// The realm's `type` in responses.
    pub kind: &'static str,
}

impl Realm {
    /// Users that the node manages itself.
    pub const NATIVE: Realm = Realm { name: "default_native", kind: "native" };
    /// The reserved users, such as `elastic`.
    pub const RESERVED: Realm = Realm { name: "reserved", kind: "reserved" };
    /// Requests with an API key.
    pub const API_KEY: Realm = Realm { name: "_es_api_key", kind: "_es_api_key" };
    /// Service accounts.
    pub const SERVICE: Realm = Realm { name: "_service_account", kind: "_service_account" };
    /// Requests without credentials.
    pub const ANONYMOUS: Realm = Realm { name: "__anonymous", kind: "__anonymous" };
}

/// A user, API key or service account as a request sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// Name of the user; of an API key, the name of its owner.
    pub username: String,
    /// Names of the user's roles; none for API keys and service accounts.
    pub roles: Vec<String>,
    /// The user's display name.
    pub full_name: Option<String>,
    /// The user's e-mail address.
    pub email: Option<String>,
    /// The client's own data about the user.
    pub metadata: Map<String, Value>,
    /// The realm of the user.
    pub realm: Realm,
    /// How the request was authenticated.
    pub authentication: AuthenticationType,
    /// The user that acts as this one (`es-security-runas-user`).
    pub run_by: Option<Box<Identity>>,
}

impl Identity {
    /// Returns the key that distinguishes the owners of scrolls, points in time and async searches. A user
    /// and each of the user's API keys are different owners.
    pub fn owner(&self) -> String {
        match &self.authentication {
            AuthenticationType::ApiKey { id, .. } => format!("api_key/{id}"),
            AuthenticationType::Token { name } => format!("token/{}/{name}", self.username),
            AuthenticationType::Anonymous => format!("anonymous/{}", self.username),
            AuthenticationType::Realm => format!("{}/{}", self.realm.kind, self.username),
        }
    }

    /// Estimates the heap bytes of what clients have stored about the user.
    pub fn memory_bytes(&self) -> usize {
        let roles: usize = self.roles.iter().map(|role| role.len() + size_of::<String>()).sum();
        let texts = [&self.full_name, &self.email].into_iter().flatten().map(String::len).sum::<usize>();
        let metadata: u64 =
            self.metadata.values().map(|value| tree_bytes(value.to_string().as_bytes())).sum();
        let run_by = self.run_by.as_ref().map_or(0, |identity| identity.memory_bytes());
        self.username.len() + roles + texts + metadata as usize + run_by
    }

    /// Whether this is an API key, which may be allowed less than its owner.
    pub fn is_api_key(&self) -> bool {
        matches!(self.authentication, AuthenticationType::ApiKey { .. })
    }

    /// Returns the response of `GET _security/_authenticate`.
    pub fn to_json(&self) -> Value {
        let authenticating = self.run_by.as_deref().unwrap_or(self);
        let realm = |realm: Realm| json!({"name": realm.name, "type": realm.kind});
        let kind = match &authenticating.authentication {
            AuthenticationType::Realm => "realm",
            AuthenticationType::ApiKey { .. } => "api_key",
            AuthenticationType::Token { .. } => "token",
            AuthenticationType::Anonymous => "anonymous",
        };
        let mut shown = json!({
            "username": self.username,
            "roles": self.roles,
            "full_name": self.full_name,
            "email": self.email,
            "metadata": self.metadata,
            "enabled": true,
            "authentication_realm": realm(authenticating.realm),
            "lookup_realm": realm(self.realm),
            "authentication_type": kind,
        });
        match &authenticating.authentication {
            AuthenticationType::ApiKey { id, name } => shown["api_key"] = json!({"id": id, "name": name}),
            AuthenticationType::Token { name } => {
                shown["token"] = json!({"name": name, "type": "_service_account_index"});
            }
            AuthenticationType::Realm | AuthenticationType::Anonymous => {}
        }
        shown
    }
}
