//! The entries of a store one by one: "what did this change make, change and delete, as JSON?"
//!
//! A store is written to disk entry by entry, so that a change costs what it changes.

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::shared_map::{Difference, SharedMap};
use crate::{ApiKey, Result, RoleDescriptor, RoleMapping, ServiceToken, Store, User, privilege_key};

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A user, by name.
    User,
    /// A role, by name.
    Role,
    /// A role mapping, by name.
    RoleMapping,
    /// An API key, by id.
    ApiKey,
    /// A token of a service account, by `namespace/service/name`.
    ServiceToken,
    /// A privilege of an application, by [`crate::privilege_key`].
    Privilege,
}

/// All kinds with the names that files have for them.
const KINDS: [(EntryKind, &str); 6] = [
    (EntryKind::User, "user"),
    (EntryKind::Role, "role"),
    (EntryKind::RoleMapping, "role_mapping"),
    (EntryKind::ApiKey, "api_key"),
    (EntryKind::ServiceToken, "service_token"),
    (EntryKind::Privilege, "privilege"),
];

impl EntryKind {
    /// Returns the name of the kind in files.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<EntryKind> {
        KINDS.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// An entry of which two stores have different versions.
#[derive(Debug)]
pub struct EntryChange<'c> {
    /// What it is.
    pub kind: EntryKind,
    /// Its name.
    pub name: &'c str,
    /// Its members in the earlier store. `None` if the entry is new.
    pub before: Option<Map<String, Value>>,
    /// Its members in the later store. `None` if the entry was deleted.
    pub after: Option<Map<String, Value>>,
    /// Whether `before` and `after` only have the members that differ.
    pub is_partial: bool,
}

/// An entry that is stored as a JSON object.
trait Entry: Sized + Clone + PartialEq {
    /// Returns everything that is stored of it.
    fn members(&self) -> Map<String, Value>;

    /// Reads what [`Entry::members`] returned.
    fn restore(name: &str, members: &Value) -> Result<Self>;

    /// Returns the members of an earlier version and of this one. Those that the two are known to share may
    /// be left out.
    fn both(before: &Self, after: &Self) -> (Map<String, Value>, Map<String, Value>) {
        (before.members(), after.members())
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

impl Entry for User {
    fn members(&self) -> Map<String, Value> {
        object(self.to_json())
    }

    fn restore(_: &str, members: &Value) -> Result<User> {
        Ok(User::from_json(members))
    }
}

impl Entry for RoleDescriptor {
    fn members(&self) -> Map<String, Value> {
        object(self.to_json())
    }

    fn restore(name: &str, members: &Value) -> Result<RoleDescriptor> {
        RoleDescriptor::restore(name, members)
    }
}

impl Entry for RoleMapping {
    fn members(&self) -> Map<String, Value> {
        object(self.to_json())
    }

    fn restore(name: &str, members: &Value) -> Result<RoleMapping> {
        RoleMapping::parse(name, members)
    }
}

impl Entry for ApiKey {
    fn members(&self) -> Map<String, Value> {
        object(self.to_json())
    }

    fn restore(_: &str, members: &Value) -> Result<ApiKey> {
        ApiKey::from_json(members)
    }

    fn both(before: &ApiKey, after: &ApiKey) -> (Map<String, Value>, Map<String, Value>) {
        let (before, after) = ApiKey::unshared(before, after);
        (object(before), object(after))
    }
}

impl Entry for ServiceToken {
    fn members(&self) -> Map<String, Value> {
        object(json!({"creation_ms": self.creation_ms, "digest": self.digest}))
    }

    fn restore(_: &str, members: &Value) -> Result<ServiceToken> {
        Ok(ServiceToken {
            creation_ms: members["creation_ms"].as_u64().unwrap_or(0),
            digest: members["digest"].as_str().unwrap_or_default().to_owned(),
        })
    }
}

impl Entry for Value {
    fn members(&self) -> Map<String, Value> {
        object(self.clone())
    }

    fn restore(_: &str, members: &Value) -> Result<Value> {
        Ok(members.clone())
    }
}

impl Store {
    /// Reads the form in which the node's state contained the whole store before it had files of its own.
    ///
    /// # Errors
    /// An entry that cannot be read, because guessing its meaning could grant rights.
    pub fn from_node_state(value: &Value) -> Result<Store> {
        let mut store = Store { version: value["version"].as_u64().unwrap_or(0), ..Store::default() };
        let kinds = [
            ("users", EntryKind::User),
            ("roles", EntryKind::Role),
            ("role_mappings", EntryKind::RoleMapping),
            ("api_keys", EntryKind::ApiKey),
            ("service_tokens", EntryKind::ServiceToken),
        ];
        for (member, kind) in kinds {
            for (name, body) in value[member].as_object().into_iter().flatten() {
                store.put_entry(kind, name, body)?;
            }
        }
        for (application, privileges) in value["privileges"].as_object().into_iter().flatten() {
            for (name, body) in privileges.as_object().into_iter().flatten() {
                store.put_entry(EntryKind::Privilege, &privilege_key(application, name), body)?;
            }
        }
        Ok(store)
    }

    /// Calls `visit` for everything that this store has and `before` has not, or has differently. A visit
    /// gets one entry at a time, so that a large change takes little memory.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn for_each_change<E>(
        &self,
        before: &Store,
        mut visit: impl FnMut(EntryChange<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        changes(EntryKind::User, &before.users, &self.users, &mut visit)?;
        changes(EntryKind::Role, &before.roles, &self.roles, &mut visit)?;
        changes(EntryKind::RoleMapping, &before.role_mappings, &self.role_mappings, &mut visit)?;
        changes(EntryKind::ApiKey, &before.api_keys, &self.api_keys, &mut visit)?;
        changes(EntryKind::ServiceToken, &before.service_tokens, &self.service_tokens, &mut visit)?;
        changes(EntryKind::Privilege, &before.privileges, &self.privileges, &mut visit)
    }

    /// Adds an entry, or replaces it.
    ///
    /// # Errors
    /// An entry that cannot be read, because guessing its meaning could grant rights.
    pub fn put_entry(&mut self, kind: EntryKind, name: &str, members: &Value) -> Result<()> {
        match kind {
            EntryKind::User => put(&mut self.users, name, members),
            EntryKind::Role => put(&mut self.roles, name, members),
            EntryKind::RoleMapping => put(&mut self.role_mappings, name, members),
            EntryKind::ApiKey => put(&mut self.api_keys, name, members),
            EntryKind::ServiceToken => put(&mut self.service_tokens, name, members),
            EntryKind::Privilege => put(&mut self.privileges, name, members),
        }
    }

    /// Sets members of an entry that exists.
    ///
    /// # Errors
    /// The entry does not exist, or the errors of [`Store::put_entry`].
    pub fn set_members(&mut self, kind: EntryKind, name: &str, set: &Map<String, Value>) -> Result<()> {
        let members = match kind {
            EntryKind::User => self.users.get(name).map(Entry::members),
            EntryKind::Role => self.roles.get(name).map(Entry::members),
            EntryKind::RoleMapping => self.role_mappings.get(name).map(Entry::members),
            EntryKind::ApiKey => self.api_keys.get(name).map(Entry::members),
            EntryKind::ServiceToken => self.service_tokens.get(name).map(Entry::members),
            EntryKind::Privilege => self.privileges.get(name).map(Entry::members),
        };
        let Some(mut members) = members else {
            let reason = format!("the changed {} [{name}] does not exist", kind.name());
            return Err(RequestError::internal("corrupt_state_exception", reason));
        };
        members.extend(set.clone());
        self.put_entry(kind, name, &Value::Object(members))
    }

    /// Removes an entry. Returns whether it was there.
    pub fn remove_entry(&mut self, kind: EntryKind, name: &str) -> bool {
        match kind {
            EntryKind::User => self.users.remove(name),
            EntryKind::Role => self.roles.remove(name),
            EntryKind::RoleMapping => self.role_mappings.remove(name),
            EntryKind::ApiKey => self.api_keys.remove(name),
            EntryKind::ServiceToken => self.service_tokens.remove(name),
            EntryKind::Privilege => self.privileges.remove(name),
        }
    }
}

fn changes<T: Entry, E>(
    kind: EntryKind,
    before: &SharedMap<T>,
    after: &SharedMap<T>,
    visit: &mut impl FnMut(EntryChange<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    for Difference { name, before, after } in after.differences(before) {
        let (mut before, mut after) = match (before, after) {
            (Some(before), Some(after)) => {
                let (before, after) = T::both(before, after);
                (Some(before), Some(after))
            }
            (before, after) => (before.map(Entry::members), after.map(Entry::members)),
        };
        let mut is_partial = false;
        if let (Some(before), Some(after)) = (&mut before, &mut after)
            && before.keys().all(|key| after.contains_key(key))
        {
            after.retain(|key, value| before.get(key) != Some(value));
            before.retain(|key, _| after.contains_key(key));
            is_partial = true;
        }
        visit(EntryChange { kind, name, before, after, is_partial })?;
    }
    Ok(())
}

fn put<T: Entry>(map: &mut SharedMap<T>, name: &str, members: &Value) -> Result<()> {
    map.insert(name, T::restore(name, members)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// A store in the form in which the node's state contained it, with one entry of each kind.
    fn kept_in_the_state() -> Value {
        let role = json!({
            "cluster": [], "applications": [], "run_as": [], "metadata": {}, "description": "d",
            "indices": [{"names": ["a"], "privileges": ["read"], "allow_restricted_indices": false}],
            "transient_metadata": {"enabled": true}});
        json!({
            "version": 7,
            "users": {"u": {"roles": ["r"], "full_name": null, "email": null, "metadata": {}, "enabled": true,
                "password_hash": "h"}},
            "roles": {"r": role},
            "role_mappings": {"m": {"enabled": true, "roles": ["r"], "rules": {"field": {"username": "*"}},
                "metadata": {}}},
            "api_keys": {"id": {"name": "k", "creation_ms": 1, "expiration_ms": null, "invalidation_ms": null,
                "username": "u", "realm": "default_native", "realm_type": "native", "owner_full_name": null,
                "owner_email": null, "owner_metadata": {"o": 1}, "owner_roles": ["r"], "metadata": {"m": 2},
                "roles": {}, "limited_by": {"r": role}, "digest": "g"}},
            "service_tokens": {"elastic/kibana/t": {"creation_ms": 5, "digest": "e"}},
            "privileges": {"app": {"p": {"application": "app", "name": "p", "actions": ["data:read"],
                "metadata": {}}}},
        })
    }

    fn store() -> Store {
        Store::from_node_state(&kept_in_the_state()).expect("valid")
    }

    /// What a change visits, in one line per entry.
    fn lines(after: &Store, before: &Store) -> Vec<String> {
        let mut lines = Vec::new();
        let visited = after.for_each_change(before, |change| -> Result<()> {
            let show = |members: Option<Map<String, Value>>| members.map_or(Value::Null, Value::Object);
            let part = if change.is_partial { "set" } else { "put" };
            let (old, new) = (show(change.before), show(change.after));
            lines.push(format!("{part} {} {}: {old} -> {new}", change.kind.name(), change.name));
            Ok(())
        });
        visited.expect("no error");
        lines
    }

    #[test]
    fn what_the_state_of_earlier_builds_contained_is_read() {
        let store = store();
        assert_eq!(store.version, 7);
        let kept = kept_in_the_state();
        let expected = |kind: &str, name: &str, body: &Value| format!("put {kind} {name}: null -> {body}");
        assert_eq!(
            lines(&store, &Store::default()),
            [
                expected("user", "u", &kept["users"]["u"]),
                expected("role", "r", &store.roles.get("r").expect("there").to_json()),
                expected("role_mapping", "m", &kept["role_mappings"]["m"]),
                expected("api_key", "id", &store.api_keys.get("id").expect("there").to_json()),
                expected("service_token", "elastic/kibana/t", &kept["service_tokens"]["elastic/kibana/t"]),
                expected("privilege", r#"["app","p"]"#, &kept["privileges"]["app"]["p"]),
            ]
        );
        assert_eq!(store.api_keys.get("id").expect("there").limited_by.len(), 1);
        assert!(Store::from_node_state(&json!({})).expect("valid").is_empty() && !store.is_empty());
        assert!(Store::from_node_state(&json!({"roles": {"r": {"odd": 1}}})).is_err());
    }

    #[test]
    fn entries_that_are_put_one_by_one_make_the_same_store() {
        let store = store();
        let mut again = Store { version: 7, ..Store::default() };
        let copied = store.for_each_change(&Store::default(), |change| {
            again.put_entry(change.kind, change.name, &Value::Object(change.after.expect("new")))
        });
        copied.expect("valid");
        assert_eq!(again, store);
        for kind in KINDS.map(|(kind, _)| kind) {
            assert_eq!(EntryKind::named(kind.name()), Some(kind));
        }
    }

    #[test]
    fn a_change_has_the_members_that_differ() {
        let before = store();
        let mut after = before.clone();
        after.api_keys.get_mut("id").expect("there").invalidation_ms = Some(9);
        after.users.get_mut("u").expect("there").enabled = false;
        after.roles.get_mut("r").expect("there").description = None;
        after.remove_entry(EntryKind::ServiceToken, "elastic/kibana/t");
        let role = |store: &Store| store.roles.get("r").expect("there").to_json();
        assert_eq!(
            lines(&after, &before),
            [
                r#"set user u: {"enabled":true} -> {"enabled":false}"#.to_owned(),
                format!("put role r: {} -> {}", role(&before), role(&after)),
                r#"set api_key id: {"invalidation_ms":null} -> {"invalidation_ms":9}"#.to_owned(),
                r#"put service_token elastic/kibana/t: {"creation_ms":5,"digest":"e"} -> null"#.to_owned(),
            ]
        );
        let mut again = before.clone();
        let set = |value: Value| value.as_object().cloned().expect("an object");
        again.set_members(EntryKind::ApiKey, "id", &set(json!({"invalidation_ms": 9}))).expect("there");
        again.set_members(EntryKind::User, "u", &set(json!({"enabled": false}))).expect("there");
        again.put_entry(EntryKind::Role, "r", &role(&after)).expect("valid");
        assert!(again.remove_entry(EntryKind::ServiceToken, "elastic/kibana/t"));
        assert_eq!(again, after);
        assert!(again.set_members(EntryKind::User, "nobody", &Map::new()).is_err());
        // A larger part is compared by what it contains when the two versions do not share it.
        let key = after.api_keys.get_mut("id").expect("there");
        key.metadata = Arc::new(set(json!({"m": 3})));
        key.roles = Arc::new((*key.roles).clone());
        let expected = r#"set api_key id: {"invalidation_ms":null,"metadata":{"m":2}} -> {"invalidation_ms":9,"metadata":{"m":3}}"#;
        assert_eq!(lines(&after, &before)[2], expected);
        assert!(lines(&before, &before).is_empty());
    }
}
