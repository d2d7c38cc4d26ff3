//! All stored data about security: users, roles, mappings, API keys, tokens and privileges of applications.
//!
//! Copies of a [`Store`] share their entries, so a change is planned on a copy and becomes the store once it
//! is durable.

use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::rights::Role;
use crate::shared_map::SharedMap;
use crate::{
    ApiKey, AuthenticationType, Identity, NamedRoles, Realm, Result, Rights, RoleDescriptor, RoleMapping,
    ServiceAccount, ServiceToken, User, reserved_role, reserved_user,
};

/// Maximum number of users, roles, mappings and tokens of a node, and (`API_KEYS_MAX`) of its API keys: all
/// are in memory.
const ENTRIES_MAX: usize = 10_000;
const API_KEYS_MAX: usize = 20_000;
/// Keys that expired or were invalidated this long ago are deleted
/// (`xpack.security.authc.api_key.delete.retention_period`).
const RETENTION_MS: u64 = 7 * 24 * 3600 * 1000;

/// All data about security that survives a restart, except for the reserved roles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Store {
    /// Number of changes, which also numbers the files of changes. Data derived from another version has to
    /// be derived again.
    pub version: u64,
    /// Keyed by name. Contains a reserved user once it has a password or was disabled.
    pub users: SharedMap<User>,
    /// Keyed by name, without the reserved roles.
    pub roles: SharedMap<RoleDescriptor>,
    /// Keyed by name.
    pub role_mappings: SharedMap<RoleMapping>,
    /// Keyed by id.
    pub api_keys: SharedMap<ApiKey>,
    /// Keyed by `namespace/service/name`.
    pub service_tokens: SharedMap<ServiceToken>,
    /// Privileges of applications as they are shown, by [`privilege_key`].
    pub privileges: SharedMap<Value>,
}

/// Returns the key of a privilege. It sorts the privileges of an application next to each other, and is a
/// JSON text, because the names of applications and privileges may contain any character.
pub fn privilege_key(application: &str, name: &str) -> String {
    json!([application, name]).to_string()
}

impl Store {
    /// Whether nothing was created or changed yet.
    pub fn is_empty(&self) -> bool {
        Store { version: 0, ..self.clone() } == Store::default()
    }

    /// Returns the user of this name, including reserved ones.
    pub fn user(&self, name: &str) -> Option<(User, Realm)> {
        let Some(role) = reserved_user(name) else {
            return self.users.get(name).map(|user| (user.clone(), Realm::NATIVE));
        };
        let kept = self.users.get(name);
        let user = User {
            roles: vec![role.to_owned()],
            full_name: None,
            email: None,
            metadata: json!({"_reserved": true}).as_object().cloned().unwrap_or_default(),
            enabled: kept.is_none_or(|user| user.enabled),
            password_hash: kept.and_then(|user| user.password_hash.clone()),
        };
        Some((user, Realm::RESERVED))
    }

    /// Returns the role of this name, including reserved ones.
    pub fn role(&self, name: &str) -> Option<RoleDescriptor> {
        reserved_role(name).or_else(|| self.roles.get(name).cloned())
    }

    /// Returns the roles of these names, without those that do not exist.
    pub fn roles_of(&self, names: &[String]) -> NamedRoles {
        names.iter().filter_map(|name| Some((name.clone(), self.role(name)?))).collect()
    }

    /// Returns the rights of a user, from the user's roles.
    ///
    /// # Errors
    /// A query template of a role that does not render to JSON for this user.
    pub fn rights_of(&self, identity: &Identity) -> Result<Rights> {
        Ok(Rights::new(vec![Role::compile(&self.roles_of(&identity.roles), identity)?]))
    }

    /// Returns the rights of an API key: what is allowed both by its own roles and by its owner's at its
    /// creation.
    ///
    /// # Errors
    /// As for [`Store::rights_of`].
    pub fn rights_of_key(&self, key: &ApiKey) -> Result<Rights> {
        let owner = key.owner();
        let limit = Role::compile(&key.limited_by, &owner)?;
        Ok(Rights::new(match key.roles.is_empty() {
            true => vec![limit],
            false => vec![Role::compile(&key.roles, &owner)?, limit],
        }))
    }

    /// Returns the rights of a service account.
    ///
    /// # Errors
    /// As for [`Store::rights_of`].
    pub fn rights_of_service(&self, account: &ServiceAccount, identity: &Identity) -> Result<Rights> {
        Ok(Rights::new(vec![Role::compile(&[(account.principal(), account.role()?)], identity)?]))
    }

    /// Returns the roles that limit an API key which `identity` creates now.
    pub fn limiting_roles(&self, identity: &Identity) -> Result<NamedRoles> {
        match &identity.authentication {
            AuthenticationType::Token { .. } => {
                let (namespace, service) = identity.username.split_once('/').unwrap_or_default();
                let account = ServiceAccount::find(namespace, service);
                account.map_or(Ok(Vec::new()), |account| Ok(vec![(account.principal(), account.role()?)]))
            }
            _ => Ok(self.roles_of(&identity.roles)),
        }
    }

    /// Deletes keys that ended long ago, and refuses too many entries.
    ///
    /// # Errors
    /// There are too many entries.
    pub fn tidy(&mut self, now_ms: u64) -> Result<()> {
        let is_old = |key: &ApiKey| {
            let ended = [key.expiration_ms, key.invalidation_ms].into_iter().flatten().min();
            ended.is_some_and(|ended| now_ms >= ended.saturating_add(RETENTION_MS))
        };
        let old: Vec<String> =
            self.api_keys.iter().filter(|(_, key)| is_old(key)).map(|(id, _)| id.to_owned()).collect();
        for id in old {
            self.api_keys.remove(&id);
        }
        let counts = [
            ("users", self.users.len(), ENTRIES_MAX),
            ("roles", self.roles.len(), ENTRIES_MAX),
            ("role mappings", self.role_mappings.len(), ENTRIES_MAX),
            ("service account tokens", self.service_tokens.len(), ENTRIES_MAX),
            ("application privileges", self.privileges.len(), ENTRIES_MAX),
            ("API keys", self.api_keys.len(), API_KEYS_MAX),
        ];
        match counts.iter().find(|(_, count, max)| count > max) {
            None => Ok(()),
            Some((what, _, max)) => {
                Err(RequestError::illegal_argument(format!("there are [{max}] {what} already")))
            }
        }
    }

    /// Adds or replaces a user. If `user` has no password, the existing one is kept. Returns whether the
    /// name is new.
    ///
    /// # Errors
    /// The user does not exist and no password is given.
    pub fn put_user(&mut self, name: &str, mut user: User) -> Result<bool> {
        let known = self.users.get(name);
        if user.password_hash.is_none() {
            let Some(known) = known else {
                return Err(RequestError::validation([format!(
                    "password must be specified unless you are updating an existing user [{name}]"
                )]));
            };
            user.password_hash = known.password_hash.clone();
        }
        Ok(self.users.insert(name, user))
    }

    /// Sets a user's password (`key`: `password` or `password_hash`).
    ///
    /// # Errors
    /// The user does not exist, or the password is not valid.
    pub fn set_password(&mut self, name: &str, key: &str, value: &Value) -> Result<()> {
        let Some((mut user, _)) = self.user(name) else { return Err(no_such_user(name)) };
        user.password_hash = Some(crate::user::password(key, value)?);
        self.users.insert(name, user);
        Ok(())
    }

    /// Enables or disables a user; a disabled user cannot log in.
    ///
    /// # Errors
    /// The user does not exist.
    pub fn set_enabled(&mut self, name: &str, enabled: bool) -> Result<()> {
        let Some((mut user, _)) = self.user(name) else { return Err(no_such_user(name)) };
        user.enabled = enabled;
        self.users.insert(name, user);
        Ok(())
    }
}

/// Source: `NativeUsersStore#updatePassword`.
fn no_such_user(name: &str) -> RequestError {
    RequestError::validation(["user must exist in order to change password"]).with("user", name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;
    use std::sync::Arc;

    fn store() -> Store {
        let mut store = Store::default();
        let mut role = |name: &str, body: Value| {
            store.roles.insert(name, RoleDescriptor::parse(name, &body).expect("valid"));
        };
        role("reader", json!({"indices": [{"names": ["a*"], "privileges": ["read"]}]}));
        role(
            "hidden",
            json!({"indices": [{"names": ["a1"], "privileges": ["read"], "query": {"term": {"o": 1}},
            "field_security": {"grant": ["o"]}}]}),
        );
        role(
            "other",
            json!({"indices": [{"names": ["a1"], "privileges": ["read"], "query": {"term": {"o": 2}}}]}),
        );
        role("keys", json!({"cluster": ["manage_own_api_key"]}));
        let user = User::parse("u", &json!({"password": "secret-1", "roles": ["reader", "gone"]}));
        store.users.insert("u", user.expect("valid"));
        store
    }

    fn access(store: &Store, roles: &[&str], action: &'static str) -> Result<Arc<Access>> {
        let (user, realm) = store.user("u").expect("there");
        let mut identity = user.identity("u", realm);
        identity.roles = roles.iter().map(|role| (*role).to_owned()).collect();
        let rights = store.rights_of(&identity)?;
        Access::grant(Arc::new(identity), Arc::new(rights), action)
    }

    #[test]
    fn names_are_allowed_by_action() {
        let store = store();
        let read = access(&store, &["reader"], "indices:data/read/search").expect("granted");
        assert!(read.allows("a1") && !read.allows("b") && !read.allows(".security"));
        assert_eq!(read.limits("a1", None).expect("allowed"), None);
        let denied = access(&store, &["reader", "gone"], "indices:data/write/index").expect_err("denied");
        assert_eq!(
            denied.reason,
            "action [indices:data/write/index] is unauthorized for user [u] with effective roles [reader] (assigned roles [gone] were not \
             found), this action is granted by the index privileges [create_doc,create,index,write,all]"
        );
        let error = read.check(["a1", "b", "c"]).expect_err("denied");
        assert_eq!(
            error.reason,
            "action [indices:data/read/search] is unauthorized for user [u] with effective roles [reader] on indices [b,c], this action is \
             granted by the index privileges [read,all]"
        );
        assert!(access(&store, &["reader"], "cluster:monitor/health").is_err());
        assert!(
            access(&store, &["superuser"], "indices:data/write/index")
                .expect("granted")
                .check([".security"])
                .is_err()
        );
    }

    #[test]
    fn what_roles_hide_is_what_none_of_them_shows() {
        let store = store();
        let action = "indices:data/read/search";
        let limits = |roles: &[&str]| {
            access(&store, roles, action).expect("granted").limits("a1", None).expect("allowed")
        };
        let hidden = limits(&["hidden"]).expect("limited");
        assert!(hidden.allows_field("o") && !hidden.allows_field("p"));
        assert_eq!(
            hidden.query().expect("limited")["bool"]["filter"][0]["bool"]["should"],
            json!([{"term": {"o": 1}}])
        );
        let both = limits(&["hidden", "other"]).expect("limited");
        assert!(both.allows_field("p"));
        assert_eq!(
            both.query().expect("limited")["bool"]["filter"][0]["bool"]["should"]
                .as_array()
                .expect("list")
                .len(),
            2
        );
        assert_eq!(limits(&["hidden", "reader"]), None);
    }

    #[test]
    fn indices_are_reached_by_aliases_that_are_allowed() {
        let store = store();
        let read = access(&store, &["reader"], "indices:data/read/search").expect("granted");
        assert!(read.limits("b", None).is_err());
        read.note_reached("b", "alias");
        assert!(read.limits("b", None).is_ok());
        read.note_reached("c", "d");
        assert!(read.limits("c", None).is_err());
        assert!(read.limits("c", Some("a-stream")).is_ok());
    }

    #[test]
    fn an_api_key_can_do_what_both_its_roles_and_its_owner_can() {
        let store = store();
        let (user, realm) = store.user("u").expect("there");
        let owner = user.identity("u", realm);
        let roles =
            |body: Value| Arc::new(vec![("r".to_owned(), RoleDescriptor::parse("r", &body).expect("valid"))]);
        let mut key = ApiKey {
            name: "k".into(),
            creation_ms: 1,
            expiration_ms: Some(10),
            invalidation_ms: None,
            username: "u".into(),
            realm: realm.name.into(),
            realm_kind: realm.kind.into(),
            owner_full_name: None,
            owner_email: None,
            owner_metadata: Arc::default(),
            owner_roles: owner.roles.clone(),
            metadata: Arc::default(),
            roles: roles(
                json!({"cluster": ["all"], "indices": [{"names": ["a1", "b"], "privileges": ["all"]}]}),
            ),
            limited_by: Arc::new(store.limiting_roles(&owner).expect("there")),
            digest: String::new(),
        };
        let action = "indices:data/read/search";
        let allows = |key: &ApiKey, name: &str| {
            let rights = Arc::new(store.rights_of_key(key).expect("valid"));
            Access::grant(Arc::new(key.identity("i")), rights, action).expect("granted").allows(name)
        };
        assert!(allows(&key, "a1") && !allows(&key, "a2") && !allows(&key, "b"));
        assert_eq!(
            store.rights_of_key(&key).expect("valid").cluster("cluster:monitor/main"),
            crate::rights::ClusterVerdict::Denied
        );
        key.roles = Arc::default();
        assert!(allows(&key, "a2") && !allows(&key, "b"));
        assert!(key.is_valid(9) && !key.is_valid(10));
    }

    #[test]
    fn own_api_keys_alone() {
        let store = store();
        let access = access(&store, &["keys"], "cluster:admin/xpack/security/api_key/get").expect("granted");
        assert!(access.is_for_own_keys());
    }

    #[test]
    fn reserved_users() {
        let mut store = Store::default();
        assert_eq!(store.user("elastic").expect("there").0.password_hash, None);
        store.set_password("elastic", "password", &json!("changeme")).expect("changed");
        assert!(store.user("elastic").expect("there").0.password_hash.is_some());
        assert!(store.set_password("nobody", "password", &json!("changeme")).is_err());
        assert!(store.set_password("elastic", "password", &json!("short")).is_err());
    }
}
