//! Who left the server something to do later: "with whose rights is it done?"
//!
//! Transforms and lifecycle policies run without a request. They do what the user who last changed them may
//! do, so that nobody gets the server to do what they may not do themselves. Source: Elasticsearch's
//! `ClientHelper#executeWithHeadersAsync` and the headers that it keeps with such things.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::access::Access;
use crate::api_key::{restored_roles, roles_json};
use crate::rights::Role;
use crate::{AuthenticationType, Identity, NamedRoles, Realm, Result, Rights, ServiceAccount, Store};

/// The user, API key or service account that last changed something which the server carries out later.
///
/// The roles of a user are looked up by their names whenever something is carried out. The roles of an API
/// key are those that it had when it made the change, because keys are deleted some time after they end.
#[derive(Debug, Clone, PartialEq)]
pub struct Author {
    identity: Identity,
    /// Lists of roles of an API key, each of which must allow what is done; empty for anybody else.
    of_key: Vec<NamedRoles>,
}

impl Store {
    /// Returns the author of what `identity` changes now.
    ///
    /// # Errors
    /// `Forbidden` if the API key has been deleted meanwhile.
    pub fn author(&self, identity: &Identity) -> Result<Author> {
        let identity = Identity { run_by: None, ..identity.clone() };
        let AuthenticationType::ApiKey { id, .. } = &identity.authentication else {
            return Ok(Author { identity, of_key: Vec::new() });
        };
        let Some(key) = self.api_keys.get(id) else {
            return Err(RequestError::new(
                limber_mapping::ErrorClass::Forbidden,
                "security_exception",
                format!("the API key [{id}] has been deleted"),
            ));
        };
        let mut of_key = vec![(*key.limited_by).clone()];
        if !key.roles.is_empty() {
            of_key.insert(0, (*key.roles).clone());
        }
        let owner = key.owner();
        Ok(Author { identity: Identity { roles: owner.roles, metadata: owner.metadata, ..identity }, of_key })
    }

    /// Returns the access with which an action is carried out for its author.
    ///
    /// # Errors
    /// `Forbidden` if the author may not carry out the action at all, and the errors of
    /// [`Store::rights_of`].
    pub fn access_of_author(&self, author: &Author, action: &'static str) -> Result<Arc<Access>> {
        let identity = &author.identity;
        let rights = match &identity.authentication {
            AuthenticationType::ApiKey { .. } => {
                let lists = author.of_key.iter().map(|roles| Role::compile(roles, identity));
                Rights::new(lists.collect::<Result<_>>()?)
            }
            AuthenticationType::Token { .. } => {
                let (namespace, service) = identity.username.split_once('/').unwrap_or_default();
                match ServiceAccount::find(namespace, service) {
                    Some(account) => self.rights_of_service(account, identity)?,
                    None => Rights::new(vec![Role::compile(&[], identity)?]),
                }
            }
            AuthenticationType::Realm | AuthenticationType::Anonymous => self.rights_of(identity)?,
        };
        Access::grant(Arc::new(identity.clone()), Arc::new(rights), action)
    }
}

impl Author {
    /// Returns the author in the form in which the node's state contains it.
    pub fn to_json(&self) -> Value {
        let Identity { username, roles, full_name, email, metadata, realm, authentication, .. } =
            &self.identity;
        let authentication = match authentication {
            AuthenticationType::Realm => json!({"type": "realm"}),
            AuthenticationType::Anonymous => json!({"type": "anonymous"}),
            AuthenticationType::ApiKey { id, name } => json!({"type": "api_key", "id": id, "name": name}),
            AuthenticationType::Token { name } => json!({"type": "token", "name": name}),
        };
        json!({
            "username": username,
            "roles": roles,
            "full_name": full_name,
            "email": email,
            "metadata": metadata,
            "realm": realm.name,
            "authentication": authentication,
            "roles_of_key": self.of_key.iter().map(|roles| roles_json(roles)).collect::<Vec<_>>(),
        })
    }

    /// Reads what [`Author::to_json`] wrote.
    ///
    /// # Errors
    /// Anything that is missing or unknown, because guessing its meaning could grant rights.
    pub fn from_json(value: &Value) -> Result<Author> {
        let damaged = || RequestError::internal("illegal_state_exception", "an author cannot be read");
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let required = |value: &Value| text(value).ok_or_else(damaged);
        let given = &value["authentication"];
        let authentication = match given["type"].as_str() {
            Some("realm") => AuthenticationType::Realm,
            Some("anonymous") => AuthenticationType::Anonymous,
            Some("token") => AuthenticationType::Token { name: required(&given["name"])? },
            Some("api_key") => {
                AuthenticationType::ApiKey { id: required(&given["id"])?, name: required(&given["name"])? }
            }
            _ => return Err(damaged()),
        };
        let of_key: Vec<NamedRoles> = value["roles_of_key"]
            .as_array()
            .ok_or_else(damaged)?
            .iter()
            .map(restored_roles)
            .collect::<Result<_>>()?;
        if matches!(authentication, AuthenticationType::ApiKey { .. }) == of_key.is_empty() {
            return Err(damaged());
        }
        let realms = [Realm::NATIVE, Realm::RESERVED, Realm::API_KEY, Realm::SERVICE, Realm::ANONYMOUS];
        let realm = realms.into_iter().find(|realm| value["realm"] == realm.name).ok_or_else(damaged)?;
        let names = value["roles"].as_array().ok_or_else(damaged)?;
        let identity = Identity {
            username: required(&value["username"])?,
            roles: names.iter().map(required).collect::<Result<_>>()?,
            full_name: text(&value["full_name"]),
            email: text(&value["email"]),
            metadata: value["metadata"].as_object().cloned().ok_or_else(damaged)?,
            realm,
            authentication,
            run_by: None,
        };
        Ok(Author { identity, of_key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApiKey, RoleDescriptor, User};

    const SEARCH: &str = "indices:data/read/search";

    fn role(names: &str) -> RoleDescriptor {
        let body = json!({"indices": [{"names": [names], "privileges": ["read"]}]});
        RoleDescriptor::parse("r", &body).expect("valid")
    }

    fn user(store: &mut Store) -> Identity {
        let user = User::parse("u", &json!({"password": "secret-1", "roles": ["reader"]})).expect("valid");
        store.users.insert("u", user.clone());
        store.roles.insert("reader", role("a*"));
        user.identity("u", Realm::NATIVE)
    }

    #[test]
    fn a_user_has_the_roles_as_they_are_now() {
        let mut store = Store::default();
        let identity = user(&mut store);
        let author = store.author(&identity).expect("known");
        assert_eq!(Author::from_json(&author.to_json()).expect("read"), author);
        assert!(store.access_of_author(&author, SEARCH).expect("granted").allows("a1"));
        store.roles.insert("reader", role("b"));
        assert!(!store.access_of_author(&author, SEARCH).expect("granted").allows("a1"));
        let names: Vec<String> = store.roles.keys().map(str::to_owned).collect();
        names.iter().for_each(|name| assert!(store.roles.remove(name)));
        assert!(store.access_of_author(&author, SEARCH).is_err());
    }

    #[test]
    fn an_api_key_has_the_roles_that_it_had() {
        let mut store = Store::default();
        let owner = user(&mut store);
        let key = ApiKey {
            name: "k".into(),
            creation_ms: 1,
            expiration_ms: None,
            invalidation_ms: None,
            username: "u".into(),
            realm: owner.realm.name.into(),
            realm_kind: owner.realm.kind.into(),
            owner_full_name: None,
            owner_email: None,
            owner_metadata: Arc::default(),
            owner_roles: owner.roles.clone(),
            metadata: Arc::default(),
            roles: Arc::new(vec![("r".into(), role("*1"))]),
            limited_by: Arc::new(store.limiting_roles(&owner).expect("known")),
            digest: "secret".into(),
        };
        let identity = key.identity("id");
        store.api_keys.insert("id", key);
        let author = store.author(&identity).expect("known");
        assert_eq!(Author::from_json(&author.to_json()).expect("read"), author);
        assert!(!author.to_json().to_string().contains("secret"));
        store.api_keys.remove("id");
        let access = store.access_of_author(&author, SEARCH).expect("granted");
        assert!(access.allows("a1") && !access.allows("a2") && !access.allows("b1"));
        assert!(store.author(&identity).is_err());
    }

    #[test]
    fn what_cannot_be_read_grants_nothing() {
        let mut store = Store::default();
        let identity = user(&mut store);
        let whole = store.author(&identity).expect("known").to_json();
        for member in ["username", "roles", "metadata", "realm", "authentication", "roles_of_key"] {
            let mut damaged = whole.clone();
            damaged[member] = Value::Null;
            assert!(Author::from_json(&damaged).is_err(), "{member}");
        }
    }
}
