//! API keys: credentials of a user that allow at most what the user was allowed when they were created.

use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use crate::descriptor::{check_metadata, check_metadata_size, check_size};
use crate::{AuthenticationType, Identity, NamedRoles, Realm, Result, RoleDescriptor};

const NAME_LENGTH_MAX: usize = 256;
/// Maximum number of role descriptors per key.
const ROLES_MAX: usize = 100;

/// The body of a request that creates or changes a key.
#[derive(Debug, Clone, Default)]
pub struct ApiKeyDraft {
    /// Name of the key; required when a key is created.
    pub name: Option<String>,
    /// Role descriptors by name; none means everything that the owner may do.
    pub roles: Option<NamedRoles>,
    /// Lifetime of the key as given, such as `1d`; `None` means that it does not expire.
    pub expiration: Option<String>,
    /// The client's own data about the key; members whose name begins with `_` are refused.
    pub metadata: Option<Map<String, Value>>,
}

impl ApiKeyDraft {
    /// Reads the body of `POST _security/api_key`, or of the calls that change keys.
    ///
    /// # Errors
    /// An unknown member, or an invalid name or role.
    pub fn parse(body: &Value) -> Result<ApiKeyDraft> {
        let mut draft = ApiKeyDraft::default();
        let object = body.as_object().ok_or_else(|| RequestError::parsing("expected an object"))?;
        for (key, value) in object {
            match key.as_str() {
                "name" => {
                    let name =
                        value.as_str().ok_or_else(|| RequestError::parsing("[name] must be a string"))?;
                    check_name(name)?;
                    draft.name = Some(name.to_owned());
                }
                "expiration" if value.is_null() => {}
                "expiration" => {
                    draft.expiration = Some(value.as_str().map(str::to_owned).ok_or_else(|| {
                        RequestError::parsing("[expiration] must be a time value such as [1d]")
                    })?);
                }
                "role_descriptors" if value.is_null() => {}
                "role_descriptors" => draft.roles = Some(roles(value)?),
                "metadata" if value.is_null() => {}
                "metadata" => {
                    let metadata = value
                        .as_object()
                        .ok_or_else(|| RequestError::parsing("[metadata] must be an object"))?;
                    check_metadata(metadata)?;
                    check_metadata_size(metadata)?;
                    draft.metadata = Some(metadata.clone());
                }
                other => {
                    return Err(ObjectParser::parsing("api_key_request").unknown(other));
                }
            }
        }
        Ok(draft)
    }
}

fn check_name(name: &str) -> Result<()> {
    let problem = if name.is_empty() {
        "api key name is required".to_owned()
    } else if name.len() > NAME_LENGTH_MAX {
        format!("api key name may not be more than {NAME_LENGTH_MAX} characters long")
    } else if name != name.trim() {
        "api key name may not begin or end with whitespace".to_owned()
    } else if name.starts_with('_') {
        "api key name may not begin with an underscore".to_owned()
    } else {
        return Ok(());
    };
    Err(RequestError::validation([problem]))
}

pub(crate) fn roles(value: &Value) -> Result<NamedRoles> {
    let object = value.as_object().filter(|roles| roles.len() <= ROLES_MAX).ok_or_else(|| {
        RequestError::parsing(format!("[role_descriptors] must be an object of at most [{ROLES_MAX}] roles"))
    })?;
    let parsed = object.iter().map(|(name, body)| Ok((name.clone(), RoleDescriptor::parse(name, body)?)));
    let roles = parsed.collect::<Result<Vec<_>>>()?;
    check_size(&roles.iter().map(|(_, role)| role).collect::<Vec<_>>())?;
    Ok(roles)
}

/// Reads roles that were accepted earlier. They may be more than a request may give: the owner of a key has
/// any number of them.
pub(crate) fn restored_roles(value: &Value) -> Result<NamedRoles> {
    let roles = value.as_object().into_iter().flatten();
    roles.map(|(name, body)| Ok((name.clone(), RoleDescriptor::restore(name, body)?))).collect()
}

/// A key, with the digest of its secret. Versions of a key share what is large and did not change.
#[derive(Clone, PartialEq)]
pub struct ApiKey {
    /// Name given by the owner; need not be unique.
    pub name: String,
    /// Time of creation, in milliseconds since 1970.
    pub creation_ms: u64,
    /// Time from which the key is no longer valid, in milliseconds since 1970; `None` means never.
    pub expiration_ms: Option<u64>,
    /// Time of invalidation, in milliseconds since 1970.
    pub invalidation_ms: Option<u64>,
    /// Name of the owner.
    pub username: String,
    /// Name of the owner's realm.
    pub realm: String,
    /// Type of the owner's realm.
    pub realm_kind: String,
    /// Full name of the owner, which query templates may use.
    pub owner_full_name: Option<String>,
    /// E-mail address of the owner, which query templates may use.
    pub owner_email: Option<String>,
    /// Metadata of the owner, which query templates may use.
    pub owner_metadata: Arc<Map<String, Value>>,
    /// Names of the owner's roles, which query templates may use.
    pub owner_roles: Vec<String>,
    /// The client's own data about the key.
    pub metadata: Arc<Map<String, Value>>,
    /// The key's own roles; none means everything that `limited_by` allows.
    pub roles: Arc<NamedRoles>,
    /// The owner's roles when the key was created or last changed.
    pub limited_by: Arc<NamedRoles>,
    /// Digest of the secret ([`crate::secret_digest`]).
    pub digest: String,
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ApiKey {:?}", self.name)
    }
}

impl ApiKey {
    /// Whether the key is valid at this time.
    pub fn is_valid(&self, now_ms: u64) -> bool {
        self.invalidation_ms.is_none() && self.expiration_ms.is_none_or(|expiration| now_ms < expiration)
    }

    /// Returns the identity of requests with the key, whose id is `id`.
    pub fn identity(&self, id: &str) -> Identity {
        Identity {
            username: self.username.clone(),
            roles: Vec::new(),
            full_name: self.owner_full_name.clone(),
            email: self.owner_email.clone(),
            metadata: Map::new(),
            realm: Realm::API_KEY,
            authentication: AuthenticationType::ApiKey { id: id.to_owned(), name: self.name.clone() },
            run_by: None,
        }
    }

    /// Returns the owner, for the query templates of roles.
    pub fn owner(&self) -> Identity {
        Identity {
            username: self.username.clone(),
            roles: self.owner_roles.clone(),
            full_name: self.owner_full_name.clone(),
            email: self.owner_email.clone(),
            metadata: (*self.owner_metadata).clone(),
            realm: if self.realm == Realm::RESERVED.name { Realm::RESERVED } else { Realm::NATIVE },
            authentication: AuthenticationType::Realm,
            run_by: None,
        }
    }

    /// Returns the key in the form of `GET _security/api_key`.
    pub fn shown(&self, id: &str, with_limited_by: bool) -> Value {
        let mut shown = json!({
            "id": id,
            "name": self.name,
            "type": "rest",
            "creation": self.creation_ms,
        });
        if let Some(expiration) = self.expiration_ms {
            shown["expiration"] = expiration.into();
        }
        shown["invalidated"] = self.invalidation_ms.is_some().into();
        if let Some(invalidation) = self.invalidation_ms {
            shown["invalidation"] = invalidation.into();
        }
        shown["username"] = self.username.as_str().into();
        shown["realm"] = self.realm.as_str().into();
        shown["realm_type"] = self.realm_kind.as_str().into();
        shown["metadata"] = Value::Object((*self.metadata).clone());
        shown["role_descriptors"] = roles_json(&self.roles);
        if with_limited_by {
            shown["limited_by"] = Value::Array(vec![roles_json(&self.limited_by)]);
        }
        shown
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut all = self.small_members();
        all["owner_metadata"] = Value::Object((*self.owner_metadata).clone());
        all["metadata"] = Value::Object((*self.metadata).clone());
        all["roles"] = roles_json(&self.roles);
        all["limited_by"] = roles_json(&self.limited_by);
        all
    }

    /// Returns all members but those that may be large.
    fn small_members(&self) -> Value {
        json!({
            "name": self.name,
            "creation_ms": self.creation_ms,
            "expiration_ms": self.expiration_ms,
            "invalidation_ms": self.invalidation_ms,
            "username": self.username,
            "realm": self.realm,
            "realm_type": self.realm_kind,
            "owner_full_name": self.owner_full_name,
            "owner_email": self.owner_email,
            "owner_roles": self.owner_roles,
            "digest": self.digest,
        })
    }

    /// Returns two versions of a key like [`ApiKey::to_json`], without the large members that they share.
    pub(crate) fn unshared(before: &ApiKey, after: &ApiKey) -> (Value, Value) {
        let (mut old, mut new) = (before.small_members(), after.small_members());
        let metadata = |metadata: &Arc<Map<String, Value>>| Value::Object((**metadata).clone());
        if !Arc::ptr_eq(&before.owner_metadata, &after.owner_metadata) {
            old["owner_metadata"] = metadata(&before.owner_metadata);
            new["owner_metadata"] = metadata(&after.owner_metadata);
        }
        if !Arc::ptr_eq(&before.metadata, &after.metadata) {
            old["metadata"] = metadata(&before.metadata);
            new["metadata"] = metadata(&after.metadata);
        }
        if !Arc::ptr_eq(&before.roles, &after.roles) {
            (old["roles"], new["roles"]) = (roles_json(&before.roles), roles_json(&after.roles));
        }
        if !Arc::ptr_eq(&before.limited_by, &after.limited_by) {
            old["limited_by"] = roles_json(&before.limited_by);
            new["limited_by"] = roles_json(&after.limited_by);
        }
        (old, new)
    }

    pub(crate) fn from_json(value: &Value) -> Result<ApiKey> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let object = |key: &str| value[key].as_object().cloned().unwrap_or_default();
        Ok(ApiKey {
            name: text("name").unwrap_or_default(),
            creation_ms: value["creation_ms"].as_u64().unwrap_or(0),
            expiration_ms: value["expiration_ms"].as_u64(),
            invalidation_ms: value["invalidation_ms"].as_u64(),
            username: text("username").unwrap_or_default(),
            realm: text("realm").unwrap_or_default(),
            realm_kind: text("realm_type").unwrap_or_default(),
            owner_full_name: text("owner_full_name"),
            owner_email: text("owner_email"),
            owner_metadata: Arc::new(object("owner_metadata")),
            owner_roles: value["owner_roles"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            metadata: Arc::new(object("metadata")),
            roles: Arc::new(restored_roles(&value["roles"])?),
            limited_by: Arc::new(restored_roles(&value["limited_by"])?),
            digest: text("digest").unwrap_or_default(),
        })
    }
}

pub(crate) fn roles_json(roles: &[(String, RoleDescriptor)]) -> Value {
    Value::Object(roles.iter().map(|(name, role)| (name.clone(), role.to_json())).collect())
}
