//! Compiled roles: "is this action allowed on this name, and which part of it is visible?"

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::Value;

use crate::cluster::{self, ClusterPrivilege, is_granted_to_all, is_of_own_keys};
use crate::descriptor::{FieldRule, IndexEntry, RoleDescriptor};
use crate::index::{self, IndexPrivilege, is_restricted};
use crate::pattern::{NamePattern, covers, wildcard_matches};
use crate::query_template::QueryTemplate;
use crate::reach::{Part, Reach};
use crate::{Identity, Result, denial};

/// Maximum number of cached decisions, and of their bytes; when one is exceeded, all are dropped.
const REMEMBERED_MAX: usize = 4_096;
const REMEMBERED_BYTES_MAX: usize = 256 << 10;
/// Maximum size of the cached decisions of all identities; beyond it no more are cached.
const ALL_REMEMBERED_BYTES_MAX: usize = 4 << 20;
static ALL_REMEMBERED_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Bytes of a cached decision besides its name and what is visible.
const DECISION_BYTES: usize = 96;
/// Bytes of a string besides its characters, of a member of a list and of a JSON value, estimated.
const TEXT_BYTES: usize = 40;

/// Estimates the heap bytes of a JSON tree.
fn json_bytes(value: &Value) -> usize {
    limber_mapping::tree_bytes(value.to_string().as_bytes()) as usize
}

#[derive(Debug)]
enum ClusterGrant {
    Named(&'static ClusterPrivilege),
    Pattern(String),
}

#[derive(Debug)]
enum IndexGrant {
    Named(&'static IndexPrivilege),
    Pattern(String),
}

/// One compiled entry of a role's `indices`.
#[derive(Debug)]
struct Group {
    names: Vec<NamePattern>,
    privileges: Vec<IndexGrant>,
    fields: Option<Arc<FieldRule>>,
    query: Option<Arc<Value>>,
    allows_restricted: bool,
}

/// The rules of several groups, each once: what one of them allows is visible. Equal rules of a role are the
/// same one ([`share_equal`]).
struct Union<T> {
    /// `None` if a group has no rule, and so allows everything.
    list: Option<Vec<Arc<T>>>,
    seen: HashSet<*const T>,
}

impl<T> Default for Union<T> {
    fn default() -> Union<T> {
        Union { list: Some(Vec::new()), seen: HashSet::new() }
    }
}

impl<T> Union<T> {
    fn add(&mut self, rule: Option<&Arc<T>>) {
        match (rule, &mut self.list) {
            (None, _) => self.list = None,
            (Some(rule), Some(list)) if self.seen.insert(Arc::as_ptr(rule)) => list.push(rule.clone()),
            _ => {}
        }
    }
}

/// Replaces equal rules by the first of them. Only those with the same hash are compared.
fn share_equal<'r, T: PartialEq + 'r>(rules: impl Iterator<Item = &'r mut Arc<T>>, hash: impl Fn(&T) -> u64) {
    let mut known: HashMap<u64, Vec<Arc<T>>> = HashMap::new();
    for rule in rules {
        let alike = known.entry(hash(rule)).or_default();
        match alike.iter().find(|known| *known == rule) {
            Some(known) => *rule = known.clone(),
            None => alike.push(rule.clone()),
        }
    }
}

impl Group {
    fn compile(entry: &IndexEntry, user: &Identity) -> Result<Group> {
        let query =
            entry.query.as_deref().map(|text| QueryTemplate::parse(text)?.render(user)).transpose()?;
        Ok(Group {
            names: entry.names.iter().map(|name| NamePattern::parse(name)).collect::<Result<_>>()?,
            privileges: entry
                .privileges
                .iter()
                .map(|name| match index::named(name) {
                    Some(privilege) => IndexGrant::Named(privilege),
                    None => IndexGrant::Pattern(name.clone()),
                })
                .collect(),
            fields: entry.fields.clone().map(Arc::new),
            query: query.map(Arc::new),
            allows_restricted: entry.allow_restricted_indices,
        })
    }

    /// Estimates the heap bytes.
    fn memory_bytes(&self) -> usize {
        let texts = |list: &[String]| list.iter().map(|text| text.len() + TEXT_BYTES).sum::<usize>();
        let names: usize = self.names.iter().map(|name| name.memory_bytes() + TEXT_BYTES).sum();
        let fields = self.fields.as_ref().map_or(0, |rule| texts(&rule.grant) + texts(&rule.except));
        let query = self.query.as_ref().map_or(0, |query| json_bytes(query));
        size_of::<Group>() + names + self.privileges.len() * TEXT_BYTES + fields + query
    }

    fn allows(&self, action: &str) -> bool {
        self.privileges.iter().any(|privilege| match privilege {
            IndexGrant::Named(privilege) => privilege.grants(action),
            IndexGrant::Pattern(pattern) => wildcard_matches(pattern, action),
        })
    }

    fn is_about(&self, name: &str) -> bool {
        (self.allows_restricted || !is_restricted(name))
            && self.names.iter().any(|pattern| pattern.matches(name))
    }
}

/// All roles of a user or an API key, combined.
#[derive(Debug)]
pub struct Role {
    names: Vec<String>,
    cluster: Vec<ClusterGrant>,
    groups: Vec<Group>,
    run_as: Vec<NamePattern>,
    applications: Vec<Value>,
}

impl Role {
    /// Compiles roles, each with its name, for this user.
    ///
    /// # Errors
    /// A query template that does not render to JSON for this user.
    pub fn compile(descriptors: &[(String, RoleDescriptor)], user: &Identity) -> Result<Role> {
        let mut role = Role {
            names: Vec::new(),
            cluster: Vec::new(),
            groups: Vec::new(),
            run_as: Vec::new(),
            applications: Vec::new(),
        };
        for (name, descriptor) in descriptors {
            role.names.push(name.clone());
            role.cluster.extend(descriptor.cluster.iter().map(|name| match cluster::named(name) {
                Some(privilege) => ClusterGrant::Named(privilege),
                None => ClusterGrant::Pattern(name.clone()),
            }));
            for entry in &descriptor.indices {
                role.groups.push(Group::compile(entry, user)?);
            }
            for name in &descriptor.run_as {
                role.run_as.push(NamePattern::parse(name)?);
            }
            role.applications.extend(descriptor.applications.iter().cloned());
        }
        let hashes = RandomState::new();
        let hash_of_fields = |rule: &FieldRule| hashes.hash_one((&rule.grant, &rule.except));
        let hash_of_query = |query: &Value| hashes.hash_one(query.to_string());
        share_equal(role.groups.iter_mut().filter_map(|group| group.fields.as_mut()), hash_of_fields);
        share_equal(role.groups.iter_mut().filter_map(|group| group.query.as_mut()), hash_of_query);
        Ok(role)
    }

    /// Estimates the heap bytes.
    fn memory_bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(Group::memory_bytes).sum();
        let run_as: usize = self.run_as.iter().map(|name| name.memory_bytes() + TEXT_BYTES).sum();
        let applications: usize = self.applications.iter().map(json_bytes).sum();
        let names: usize = self.names.iter().map(|name| name.len() + TEXT_BYTES).sum();
        groups + run_as + applications + names + self.cluster.len() * TEXT_BYTES
    }

    fn allows_cluster(&self, action: &str) -> bool {
        self.cluster.iter().any(|grant| match grant {
            ClusterGrant::Named(privilege) => privilege.grants(action),
            ClusterGrant::Pattern(pattern) => wildcard_matches(pattern, action),
        })
    }

    /// Whether the action is also allowed on the API keys of other users.
    fn allows_all_keys(&self, action: &str) -> bool {
        self.cluster.iter().any(|grant| match grant {
            ClusterGrant::Named(privilege) => {
                privilege.name != "manage_own_api_key" && privilege.grants(action)
            }
            ClusterGrant::Pattern(pattern) => wildcard_matches(pattern, action),
        })
    }

    fn has_cluster_privilege(&self, privilege: &str) -> bool {
        let Some(wanted) = cluster::named(privilege) else { return self.allows_cluster(privilege) };
        let has_by_name =
            |grant: &ClusterGrant| matches!(grant, ClusterGrant::Named(own) if own.name == wanted.name);
        if self.cluster.iter().any(has_by_name) {
            return true;
        }
        if wanted.name == "manage_own_api_key" {
            return self.allows_all_keys("cluster:admin/xpack/security/api_key/create");
        }
        let is_covered = |action: &&str| {
            self.cluster.iter().any(|grant| match grant {
                ClusterGrant::Named(own) => {
                    let touches = |except: &&str| covers(except, action) || covers(action, except);
                    own.actions.iter().any(|wide| covers(wide, action)) && !own.except.iter().any(touches)
                }
                ClusterGrant::Pattern(wide) => covers(wide, action),
            })
        };
        wanted.actions.iter().all(is_covered)
    }

    fn reach(&self, action: &str, name: &str) -> Option<Part> {
        let (mut fields, mut documents) = (Union::default(), Union::default());
        let mut is_allowed = false;
        for group in self.groups.iter().filter(|group| group.is_about(name) && group.allows(action)) {
            is_allowed = true;
            fields.add(group.fields.as_ref());
            documents.add(group.query.as_ref());
        }
        is_allowed.then(|| Part { fields: fields.list, documents: documents.list })
    }

    /// Whether one group covers every name that matches `pattern` and has all actions of the privilege.
    fn has_index_privilege(&self, privilege: &str, pattern: &str, allow_restricted: bool) -> bool {
        let actions: Vec<&str> = match index::named(privilege) {
            Some(named) => named.actions.to_vec(),
            None => vec![privilege],
        };
        let is_covered = |group: &&Group| {
            (!allow_restricted || group.allows_restricted)
                && group.names.iter().any(|name| match name {
                    NamePattern::Everything => group.allows_restricted || !is_restricted(pattern),
                    NamePattern::Exact(exact) => exact == pattern,
                    NamePattern::Wildcard(wide) => {
                        covers(wide, pattern) && (group.allows_restricted || !is_restricted(pattern))
                    }
                    NamePattern::Regex(_) | NamePattern::Not(_) => {
                        !pattern.contains('*') && group.is_about(pattern)
                    }
                })
        };
        let groups: Vec<&Group> = self.groups.iter().filter(is_covered).collect();
        actions.iter().all(|action| {
            groups.iter().flat_map(|group| &group.privileges).any(|own| match own {
                IndexGrant::Named(own) => own.actions.iter().any(|wide| covers(wide, action)),
                IndexGrant::Pattern(wide) => covers(wide, action),
            })
        }) && (!groups.is_empty())
    }

    fn has_application_privilege(&self, application: &str, privilege: &str, resource: &str) -> bool {
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        self.applications.iter().any(|own| {
            let fits = |list: &Value, wanted: &str| texts(list).iter().any(|wide| covers(wide, wanted));
            own["application"].as_str().is_some_and(|wide| wildcard_matches(wide, application))
                && (fits(&own["privileges"], privilege)
                    || texts(&own["privileges"]).iter().any(|own| own == "all"))
                && fits(&own["resources"], resource)
        })
    }
}

/// What an identity may do: only what every [`Role`] in the list allows. A user has one; an API key has its
/// own and that of its owner.
#[derive(Debug)]
pub struct Rights {
    roles: Vec<Role>,
    remembered: Mutex<Remembered>,
}

/// Decisions by action and name.
#[derive(Debug, Default)]
struct Remembered {
    decisions: HashMap<&'static str, HashMap<String, Option<Reach>>>,
    count: usize,
    bytes: usize,
}

impl Remembered {
    fn get(&self, action: &str, name: &str) -> Option<&Option<Reach>> {
        self.decisions.get(action)?.get(name)
    }

    fn add(&mut self, action: &'static str, name: &str, reach: Option<Reach>) {
        let bytes = DECISION_BYTES + name.len() + reach.as_ref().map_or(0, Reach::memory_bytes);
        if self.count >= REMEMBERED_MAX || self.bytes + bytes > REMEMBERED_BYTES_MAX {
            *self = Remembered::default();
        }
        if ALL_REMEMBERED_BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes > ALL_REMEMBERED_BYTES_MAX {
            ALL_REMEMBERED_BYTES.fetch_sub(bytes, Ordering::Relaxed);
            return;
        }
        self.count += 1;
        self.bytes += bytes;
        self.decisions.entry(action).or_default().insert(name.to_owned(), reach);
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        ALL_REMEMBERED_BYTES.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Whether a cluster action is allowed, and on which API keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterVerdict {
    /// Refused.
    Denied,
    /// Allowed on the user's own API keys only.
    OwnKeys,
    /// Allowed without limits.
    Allowed,
}

impl Rights {
    /// Creates the rights from at least one role; each of them must allow a request.
    pub fn new(roles: Vec<Role>) -> Rights {
        Rights { roles, remembered: Mutex::default() }
    }

    /// Estimates the heap bytes, without the cached decisions, whose size is limited for all identities
    /// together.
    pub fn memory_bytes(&self) -> usize {
        self.roles.iter().map(Role::memory_bytes).sum()
    }

    /// Returns the names of the roles, sorted.
    pub fn role_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.roles.first().into_iter().flat_map(|role| &role.names).map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// Whether a cluster action is allowed.
    pub fn cluster(&self, action: &str) -> ClusterVerdict {
        let all = |allows: fn(&Role, &str) -> bool| self.roles.iter().all(|role| allows(role, action));
        if is_granted_to_all(action) || all(Role::allows_all_keys) {
            ClusterVerdict::Allowed
        } else if is_of_own_keys(action) && all(Role::allows_cluster) {
            ClusterVerdict::OwnKeys
        } else {
            ClusterVerdict::Denied
        }
    }

    /// Whether an action on indices is allowed on at least one name.
    pub fn any_index(&self, action: &str) -> bool {
        self.roles.iter().all(|role| role.groups.iter().any(|group| group.allows(action)))
    }

    /// Returns the visible part of an index, alias or data stream for an action; `None` means that the
    /// action is not allowed on it.
    pub fn reach(&self, action: &'static str, name: &str) -> Option<Reach> {
        let mut remembered = self.remembered.lock();
        if let Some(known) = remembered.get(action, name) {
            return known.clone();
        }
        let parts: Option<Vec<Part>> = self.roles.iter().map(|role| role.reach(action, name)).collect();
        let reach = parts.map(Reach::of);
        remembered.add(action, name, reach.clone());
        reach
    }

    /// Fails if no role allows `identity` to act as `user`.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn check_run_as(&self, identity: &Identity, action: &str, user: &str) -> Result<()> {
        match self.roles.iter().all(|role| role.run_as.iter().any(|pattern| pattern.matches(user))) {
            true => Ok(()),
            false => Err(self.run_as_denied(identity, action, user)),
        }
    }

    /// Returns the error `Forbidden` for acting as `user`.
    pub fn run_as_denied(
        &self,
        identity: &Identity,
        action: &str,
        user: &str,
    ) -> limber_mapping::RequestError {
        denial::run_as_denied(identity, &self.role_names(), action, user)
    }

    /// Whether a cluster privilege, given by name or pattern, is granted (`_has_privileges`).
    pub fn has_cluster_privilege(&self, privilege: &str) -> bool {
        self.roles.iter().all(|role| role.has_cluster_privilege(privilege))
    }

    /// Whether an index privilege is granted on all names that match a pattern (`_has_privileges`).
    pub fn has_index_privilege(&self, privilege: &str, pattern: &str, allow_restricted: bool) -> bool {
        self.roles.iter().all(|role| role.has_index_privilege(privilege, pattern, allow_restricted))
    }

    /// Whether a privilege of an application is granted on a resource (`_has_privileges`).
    pub fn has_application_privilege(&self, application: &str, privilege: &str, resource: &str) -> bool {
        self.roles.iter().all(|role| role.has_application_privilege(application, privilege, resource))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rules_of_groups_count_once_and_a_group_without_one_shows_everything() {
        let entry = |name: &str, grant: Option<&str>| {
            let fields = grant.map(|grant| serde_json::json!({"grant": [grant]}));
            serde_json::json!({"names": [name], "privileges": ["read"], "field_security": fields})
        };
        let entries =
            [entry("a*", Some("x")), entry("*", Some("x")), entry("*b", Some("y")), entry("ac", None)];
        let role = RoleDescriptor::parse("r", &serde_json::json!({"indices": entries})).expect("valid");
        let user = crate::ServiceAccount::find("elastic", "kibana").expect("known").identity("t");
        let rights = Rights::new(vec![Role::compile(&[("r".to_owned(), role)], &user).expect("valid")]);
        let count = |name: &str| {
            let reach = rights.reach("indices:data/read/search", name).expect("allowed");
            reach.limits().map(|limits| limits.fields[0].len())
        };
        assert_eq!((count("a"), count("ab"), count("c"), count("ac")), (Some(1), Some(2), Some(1), None));
    }

    /// Decisions about many names, each with many rules, take bounded memory and stay right.
    #[test]
    fn remembered_decisions_are_few_bytes() {
        let entry = |number: usize| {
            let grant = [format!("f{number}.*")];
            serde_json::json!({"names": ["a*"], "privileges": ["read"], "field_security": {"grant": grant}})
        };
        let body = serde_json::json!({"indices": (0..200).map(entry).collect::<Vec<_>>()});
        let role = RoleDescriptor::parse("r", &body).expect("valid");
        let user = crate::ServiceAccount::find("elastic", "kibana").expect("known").identity("t");
        let rights = Rights::new(vec![Role::compile(&[("r".to_owned(), role)], &user).expect("valid")]);
        for number in 0..2_000 {
            let reach = rights.reach("indices:data/read/search", &format!("a{number}")).expect("allowed");
            assert_eq!(reach.limits().expect("limited").fields[0].len(), 200);
            assert!(rights.reach("indices:data/read/search", &format!("b{number}")).is_none());
        }
        let remembered = rights.remembered.lock();
        assert!(remembered.count > 0 && remembered.bytes <= REMEMBERED_BYTES_MAX);
    }
}
