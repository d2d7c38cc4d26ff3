//! Who asks.

use serde_json::{Map, Value, json};

/// How a request proved who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthenticationType {
    Realm,
    ApiKey {
        id: String,
        name: String,
    },
    /// A token of a service account.
    Token {
        name: String,
    },
    Anonymous,
}

/// The realm that knows a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Realm {
    pub name: &'static str,
    pub kind: &'static str,
}

impl Realm {
    pub const NATIVE: Realm = Realm { name: "default_native", kind: "native" };
    pub const RESERVED: Realm = Realm { name: "reserved", kind: "reserved" };
    pub const API_KEY: Realm = Realm { name: "_es_api_key", kind: "_es_api_key" };
    pub const SERVICE: Realm = Realm { name: "_service_account", kind: "_service_account" };
    pub const ANONYMOUS: Realm = Realm { name: "__anonymous", kind: "__anonymous" };
}

/// Somebody, as far as requests know him.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    pub username: String,
    pub roles: Vec<String>,
    pub full_name: Option<String>,
    pub email: Option<String>,
    pub metadata: Map<String, Value>,
    pub realm: Realm,
    pub authentication: AuthenticationType,
    /// Who acts as this user (`es-security-runas-user`).
    pub run_by: Option<Box<Identity>>,
}

impl Identity {
    /// Whose scrolls, points in time and async searches are the same ones'. A user and his API keys are different owners.
    pub fn owner(&self) -> String {
        match &self.authentication {
            AuthenticationType::ApiKey { id, .. } => format!("api_key/{id}"),
            AuthenticationType::Token { name } => format!("token/{}/{name}", self.username),
            AuthenticationType::Anonymous => format!("anonymous/{}", self.username),
            AuthenticationType::Realm => format!("{}/{}", self.realm.kind, self.username),
        }
    }

    /// Whether it is an API key, which cannot do all that its owner can.
    pub fn is_api_key(&self) -> bool {
        matches!(self.authentication, AuthenticationType::ApiKey { .. })
    }

    /// `GET _security/_authenticate`.
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
