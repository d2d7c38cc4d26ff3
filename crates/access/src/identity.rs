//! Who sends a request, and how that was proved.

use serde_json::{Map, Value, json};

/// How a request proved who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthenticationType {
    /// By name and password, in a realm.
    Realm,
    /// By an API key.
    ApiKey {
        /// Id of the key.
        id: String,
        /// Name of the key.
        name: String,
    },
    /// A token of a service account.
    Token {
        /// Name of the token.
        name: String,
    },
    /// Not at all: the request came without credentials, and `xpack.security.authc.anonymous` lets it in.
    Anonymous,
}

/// The realm that knows a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Realm {
    /// As answers name it.
    pub name: &'static str,
    /// The realm's `type` in answers.
    pub kind: &'static str,
}

impl Realm {
    /// Users that the node keeps itself.
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
    /// The user's name for people.
    pub full_name: Option<String>,
    /// The user's address.
    pub email: Option<String>,
    /// What the client keeps with the user.
    pub metadata: Map<String, Value>,
    /// The realm that the user was found in.
    pub realm: Realm,
    /// How the request proved who asks.
    pub authentication: AuthenticationType,
    /// The user who acts as this one (`es-security-runas-user`).
    pub run_by: Option<Box<Identity>>,
}

impl Identity {
    /// Tells owners of scrolls, points in time and async searches apart. A user and each of the user's API
    /// keys are different owners.
    pub fn owner(&self) -> String {
        match &self.authentication {
            AuthenticationType::ApiKey { id, .. } => format!("api_key/{id}"),
            AuthenticationType::Token { name } => format!("token/{}/{name}", self.username),
            AuthenticationType::Anonymous => format!("anonymous/{}", self.username),
            AuthenticationType::Realm => format!("{}/{}", self.realm.kind, self.username),
        }
    }

    /// Whether this is an API key, which cannot do all that its owner can.
    pub fn is_api_key(&self) -> bool {
        matches!(self.authentication, AuthenticationType::ApiKey { .. })
    }

    /// The answer of `GET _security/_authenticate`.
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
