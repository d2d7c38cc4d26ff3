//! `set_security_user`: "who indexes this document?" Source: Elasticsearch's `SetSecurityUserProcessor`.

use limber_access::{AuthenticationType, Identity};
use limber_mapping::RequestError;
use serde_json::{Value, json};

use super::super::document::IngestDocument;
use super::super::document::node::Kind;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::{Flow, Processor};

/// Finds a property of the user; `None` if the user does not have it.
type Property = fn(&Identity) -> Option<Value>;

/// The properties by name.
const PROPERTIES: [(&str, Property); 8] = [
    ("username", |user| Some(json!(user.username))),
    ("full_name", |user| user.full_name.as_ref().map(|name| json!(name))),
    ("email", |user| user.email.as_ref().map(|email| json!(email))),
    ("roles", |user| (!user.roles.is_empty()).then(|| json!(user.roles))),
    ("metadata", |user| (!user.metadata.is_empty()).then(|| json!(user.metadata))),
    ("api_key", |user| match &authenticating(user).authentication {
        AuthenticationType::ApiKey { id, name } => Some(json!({"name": name, "id": id})),
        _ => None,
    }),
    ("realm", |user| Some(json!({"name": user.realm.name, "type": user.realm.kind}))),
    ("authentication_type", |user| {
        Some(json!(match authenticating(user).authentication {
            AuthenticationType::Realm => "REALM",
            AuthenticationType::ApiKey { .. } => "API_KEY",
            AuthenticationType::Token { .. } => "TOKEN",
            AuthenticationType::Anonymous => "ANONYMOUS",
        }))
    }),
];

/// Returns the user whose credentials the request has.
fn authenticating(user: &Identity) -> &Identity {
    user.run_by.as_deref().unwrap_or(user)
}

#[derive(Debug)]
struct SetSecurityUser {
    field: FieldPath,
    /// The properties, each with its path.
    properties: Vec<(FieldPath, Property)>,
}

/// Compiles the processor. Options: `field`; optional `properties` (all).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let wanted = match options.has("properties") {
        true => options.strings("properties")?,
        false => PROPERTIES.iter().map(|(name, _)| (*name).to_owned()).collect(),
    };
    let mut properties = Vec::with_capacity(wanted.len());
    for wanted in wanted {
        let known = PROPERTIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&wanted));
        let Some((name, property)) = known else {
            return Err(options.error("properties", &format!("Property value [{wanted}] is in valid")));
        };
        properties.push((FieldPath::parse(&format!("{}.{name}", field.text()))?, *property));
    }
    Ok(Box::new(SetSecurityUser { field, properties }))
}

impl Processor for SetSecurityUser {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let Some(access) = limber_access::current() else {
            return Err(RequestError::bad_request(
                "illegal_state_exception",
                "Security (authentication) is not enabled on this cluster, so there is no active user. The [set_security_user] processor \
                 cannot be used without an active user.",
            ));
        };
        let found = self.field.find(document)?;
        if found.is_none_or(|found| document.node(found.node).kind != Kind::Object) {
            let object = document.make_sound_json("{}")?;
            self.field.set(document, object)?;
        }
        for (path, property) in &self.properties {
            if let Some(value) = property(&access.identity) {
                let value = document.make_sound_json(&value.to_string())?;
                path.set(document, value)?;
            }
        }
        Ok(Flow::Continue)
    }
}
