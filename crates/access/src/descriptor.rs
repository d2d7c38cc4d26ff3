//! A role as clients define it.
//!
//! Source: `RoleDescriptor`.

use limber_mapping::{RequestError, reserved};
use serde_json::{Map, Value, json};

use crate::pattern::{NamePattern, covers, wildcard_matches};
use crate::query_template::QueryTemplate;
use crate::{Result, cluster, index};

/// Maximum number of names, privileges or patterns per list.
const LIST_MAX: usize = 1_000;
/// Maximum number of names and patterns of names in a role, or in all roles of an API key, and of regular
/// expressions among them, which take much more memory than others.
const NAMES_MAX: usize = 10_000;
const REGEXES_MAX: usize = 100;
/// Maximum number of patterns of fields in a role, or in all roles of an API key. Each path of a mapping and
/// of the sources of hits is compared with all of them.
const FIELD_PATTERNS_MAX: usize = 10_000;
/// Maximum size of the JSON of a role or of all roles of an API key, and of the metadata of a user or key.
/// Each client that is authenticated takes several times this memory.
const JSON_BYTES_MAX: usize = 1 << 20;
/// Maximum number of problems of a role that its refusal lists.
const PROBLEMS_MAX: usize = 100;
/// Maximum length in bytes of a query that limits documents.
const QUERY_BYTES_MAX: usize = 64 << 10;

/// Roles by name.
pub type NamedRoles = Vec<(String, RoleDescriptor)>;

/// The fields that a role may see.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldRule {
    /// Patterns of paths, with `*`, of the visible fields.
    pub grant: Vec<String>,
    /// Patterns of paths that are excluded from those.
    pub except: Vec<String>,
}

impl FieldRule {
    /// Whether the field at `path` is visible. Metadata fields always are, and other fields whose names begin
    /// with `_` unless they are excluded.
    ///
    /// Source: `FieldPermissions#initializePermittedFieldsAutomaton`.
    pub fn allows(&self, path: &str) -> bool {
        let is_granted =
            || path.starts_with('_') || self.grant.iter().any(|pattern| wildcard_matches(pattern, path));
        let is_excluded = || self.except.iter().any(|pattern| wildcard_matches(pattern, path));
        reserved::is_metadata(path) || is_granted() && !is_excluded()
    }

    fn is_everything(&self) -> bool {
        self.except.is_empty() && self.grant.iter().any(|pattern| pattern == "*")
    }

    fn parse(value: &Value) -> Result<Option<FieldRule>> {
        let Some(object) = value.as_object() else {
            return Err(RequestError::parsing(
                "failed to parse indices privileges. expected field [field_security] to be an object",
            ));
        };
        if let Some(unknown) = object.keys().find(|key| !["grant", "except"].contains(&key.as_str())) {
            return Err(RequestError::parsing(format!(
                "failed to parse indices privileges. unexpected field [{unknown}]"
            )));
        }
        let grant = match object.get("grant") {
            None | Some(Value::Null) => vec!["*".to_owned()],
            Some(list) => texts("grant", list)?,
        };
        let except = object.get("except").map(|list| texts("except", list)).transpose()?.unwrap_or_default();
        Ok(Some(FieldRule { grant, except }).filter(|rule| !rule.is_everything()))
    }

    /// Refuses exceptions that are not granted otherwise.
    fn check(&self) -> Result<()> {
        for excepted in &self.except {
            limber_work::check()?;
            if !excepted.starts_with('_') && !self.grant.iter().any(|granted| covers(granted, excepted)) {
                return Err(RequestError::illegal_argument(format!(
                    "Exceptions for field permissions must be a subset of the granted fields but [{}] is not a subset of [{}]",
                    self.except.join(", "),
                    self.grant.join(", ")
                )));
            }
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let mut shown = json!({"grant": self.grant});
        if !self.except.is_empty() {
            shown["except"] = json!(self.except);
        }
        shown
    }
}

/// One entry of the list `indices`.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexEntry {
    /// Patterns of indices, aliases and data streams; at least one. See [`NamePattern`].
    pub names: Vec<String>,
    /// Names of index privileges, or patterns of actions.
    pub privileges: Vec<String>,
    /// The visible fields; `None` means all.
    pub fields: Option<FieldRule>,
    /// The visible documents, as the JSON text of a query or of a query template. `None` means all.
    pub query: Option<String>,
    /// Whether the names include the server's own indices.
    pub allow_restricted_indices: bool,
}

/// A role as clients define it, validated by [`RoleDescriptor::parse`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RoleDescriptor {
    /// Names of cluster privileges, or patterns of actions.
    pub cluster: Vec<String>,
    /// What the role may do on which indices.
    pub indices: Vec<IndexEntry>,
    /// Privileges of applications, stored as given; applications query them through `_has_privileges`.
    pub applications: Vec<Value>,
    /// Patterns of users that the role may act as.
    pub run_as: Vec<String>,
    /// The client's own data about the role.
    pub metadata: Map<String, Value>,
    /// Description of the role.
    pub description: Option<String>,
}

impl RoleDescriptor {
    /// Reads the body of `PUT _security/role/NAME`, or a role of an API key.
    ///
    /// # Errors
    /// An unknown member or one of another type, an unknown privilege, or a pattern or query that does not
    /// parse.
    pub fn parse(name: &str, body: &Value) -> Result<RoleDescriptor> {
        let role = RoleDescriptor::restore(name, body)?;
        check_size(&[&role])?;
        role.check()?;
        Ok(role)
    }

    /// Reads a role that was accepted earlier.
    ///
    /// # Errors
    /// As for [`RoleDescriptor::parse`], without the limits and checks of privileges and patterns.
    pub(crate) fn restore(name: &str, body: &Value) -> Result<RoleDescriptor> {
        let Some(object) = body.as_object() else {
            return Err(RequestError::parsing(format!(
                "failed to parse role [{name}]. expected an object but found [{body}] instead"
            )));
        };
        let mut role = RoleDescriptor::default();
        for (key, value) in object {
            match key.as_str() {
                "cluster" => role.cluster = texts("cluster", value)?,
                "indices" | "index" => role.indices = entries(name, value)?,
                "applications" => role.applications = applications(name, value)?,
                "run_as" | "runAs" => role.run_as = texts("run_as", value)?,
                "metadata" => role.metadata = metadata(name, value)?,
                "description" => role.description = value.as_str().map(str::to_owned),
                "transient_metadata" | "type" => {}
                "global" | "remote_indices" | "remote_cluster" | "restriction" if is_nothing(value) => {}
                "global" | "remote_indices" | "remote_cluster" | "restriction" => {
                    return Err(RequestError::unsupported(format_args!("[{key}] in a role")));
                }
                other => {
                    return Err(RequestError::parsing(format!(
                        "failed to parse role [{name}]. unexpected field [{other}]"
                    )));
                }
            }
        }
        Ok(role)
    }

    fn check(&self) -> Result<()> {
        self.indices.iter().filter_map(|entry| entry.fields.as_ref()).try_for_each(FieldRule::check)?;
        let mut problems = Vec::new();
        let unknown = self.cluster.iter().filter(|privilege| {
            cluster::named(privilege).is_none() && !cluster::is_cluster_action(privilege)
        });
        for privilege in unknown.take(PROBLEMS_MAX) {
            let known: Vec<&str> = cluster::CLUSTER_PRIVILEGES.iter().map(|known| known.name).collect();
            problems.push(format!(
                    "unknown cluster privilege [{privilege}]. a privilege must be either one of the predefined cluster privilege names [{}] or a pattern over one of the available cluster actions",
                    known.join(",")
                ));
        }
        let privileges = self.indices.iter().flat_map(|entry| &entry.privileges);
        let unknown =
            privileges.filter(|privilege| index::named(privilege).is_none() && !is_index_action(privilege));
        for privilege in unknown.take(PROBLEMS_MAX) {
            let known: Vec<&str> = index::INDEX_PRIVILEGES.iter().map(|known| known.name).collect();
            problems.push(format!(
                    "unknown index privilege [{privilege}]. a privilege must be either one of the predefined fixed indices privileges [{}] or a pattern over one of the available index actions",
                    known.join(",")
                ));
        }
        if !problems.is_empty() {
            return Err(RequestError::validation(problems));
        }
        self.names().try_for_each(|name| {
            limber_work::check()?;
            NamePattern::parse(name).map(drop)
        })
    }

    /// Returns all names and patterns of indices and users.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.indices.iter().flat_map(|entry| &entry.names).chain(&self.run_as)
    }

    /// Returns the role as it is shown and stored; [`RoleDescriptor::parse`] reads it back.
    pub fn to_json(&self) -> Value {
        let mut shown = json!({
            "cluster": self.cluster,
            "indices": self.indices.iter().map(IndexEntry::to_json).collect::<Vec<_>>(),
            "applications": self.applications,
            "run_as": self.run_as,
            "metadata": self.metadata,
        });
        if let Some(description) = &self.description {
            shown["description"] = description.as_str().into();
        }
        shown["transient_metadata"] = json!({"enabled": true});
        shown
    }

    /// Whether it limits documents or fields, which only some requests support.
    pub fn limits_documents(&self) -> bool {
        self.indices.iter().any(|entry| entry.query.is_some() || entry.fields.is_some())
    }
}

/// Checks the number of names in roles that one user or API key has.
///
/// # Errors
/// There are more names, regular expressions or patterns of fields than allowed.
pub(crate) fn check_size(roles: &[&RoleDescriptor]) -> Result<()> {
    let names = || roles.iter().flat_map(|role| role.names());
    let entries: usize = roles.iter().map(|role| role.indices.len()).sum();
    let bytes: usize = roles.iter().map(|role| role.to_json().to_string().len()).sum();
    let regexes = names().filter(|name| NamePattern::is_regex(name)).count();
    let rules = roles.iter().flat_map(|role| &role.indices).filter_map(|entry| entry.fields.as_ref());
    let field_patterns: usize = rules.map(|rule| rule.grant.len() + rule.except.len()).sum();
    for (count, max, what) in [
        (entries, LIST_MAX, "entries of [indices]"),
        (names().count(), NAMES_MAX, "names"),
        (regexes, REGEXES_MAX, "regular expressions"),
        (field_patterns, FIELD_PATTERNS_MAX, "patterns of fields"),
        (bytes, JSON_BYTES_MAX, "bytes of JSON"),
    ] {
        if count > max {
            return Err(RequestError::illegal_argument(format!(
                "a role, or all roles of an API key, may have at most [{max}] {what} but there are [{count}]"
            )));
        }
    }
    Ok(())
}

fn is_index_action(text: &str) -> bool {
    text.starts_with("indices:") || text.starts_with("internal:")
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

impl IndexEntry {
    fn parse(role: &str, value: &Value) -> Result<IndexEntry> {
        let bad = |why: String| {
            RequestError::parsing(format!("failed to parse indices privileges for role [{role}]. {why}"))
        };
        let object = value.as_object().ok_or_else(|| {
            bad(format!("expected field [indices] value to be an array of objects, but found [{value}]"))
        })?;
        let (mut names, mut privileges) = (None, None);
        let mut entry = IndexEntry {
            names: Vec::new(),
            privileges: Vec::new(),
            fields: None,
            query: None,
            allow_restricted_indices: false,
        };
        for (key, value) in object {
            match key.as_str() {
                "names" | "name" => names = Some(texts("names", value)?),
                "privileges" => privileges = Some(texts("privileges", value)?),
                "field_security" if value.is_null() => {}
                "field_security" => entry.fields = FieldRule::parse(value)?,
                "query" => entry.query = query(role, value)?,
                "allow_restricted_indices" => {
                    entry.allow_restricted_indices = value
                        .as_bool()
                        .ok_or_else(|| bad("[allow_restricted_indices] must be a boolean".into()))?;
                }
                other => return Err(bad(format!("unexpected field [{other}]"))),
            }
        }
        entry.names = names
            .filter(|names| !names.is_empty())
            .ok_or_else(|| bad("missing required [names] field".into()))?;
        entry.privileges = privileges.ok_or_else(|| bad("missing required [privileges] field".into()))?;
        Ok(entry)
    }

    fn to_json(&self) -> Value {
        let mut shown = json!({"names": self.names, "privileges": self.privileges});
        if let Some(fields) = &self.fields {
            shown["field_security"] = fields.to_json();
        }
        if let Some(query) = &self.query {
            shown["query"] = query.as_str().into();
        }
        shown["allow_restricted_indices"] = self.allow_restricted_indices.into();
        shown
    }
}

fn entries(role: &str, value: &Value) -> Result<Vec<IndexEntry>> {
    let list = value.as_array().filter(|list| list.len() <= LIST_MAX).ok_or_else(|| {
        RequestError::parsing(format!("failed to parse indices privileges for role [{role}]. expected field [indices] value to be an array of at most [{LIST_MAX}]"))
    })?;
    list.iter().map(|entry| IndexEntry::parse(role, entry)).collect()
}

/// Returns a query as JSON text, whether it was given as JSON or as a string of JSON.
fn query(role: &str, value: &Value) -> Result<Option<String>> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => text.clone(),
        Value::Object(_) => value.to_string(),
        other => {
            return Err(RequestError::parsing(format!(
                "failed to parse indices privileges for role [{role}]. expected field [query] value to be null, a string, an array, or an object, but found [{other}]"
            )));
        }
    };
    if text.len() > QUERY_BYTES_MAX {
        return Err(RequestError::illegal_argument(format!(
            "the query of role [{role}] has more than [{QUERY_BYTES_MAX}] bytes"
        )));
    }
    QueryTemplate::parse(&text)?;
    Ok(Some(text))
}

fn applications(role: &str, value: &Value) -> Result<Vec<Value>> {
    let bad = || RequestError::parsing(format!("failed to parse application privileges for role [{role}]"));
    let list = value.as_array().filter(|list| list.len() <= LIST_MAX).ok_or_else(bad)?;
    for entry in list {
        let object = entry.as_object().ok_or_else(bad)?;
        if let Some(unknown) =
            object.keys().find(|key| !["application", "privileges", "resources"].contains(&key.as_str()))
        {
            return Err(RequestError::parsing(format!(
                "failed to parse application privileges for role [{role}]. unexpected field [{unknown}]"
            )));
        }
        object.get("application").and_then(Value::as_str).ok_or_else(bad)?;
        texts("privileges", object.get("privileges").unwrap_or(&Value::Null))?;
        texts("resources", object.get("resources").unwrap_or(&Value::Null))?;
    }
    Ok(list.clone())
}

fn metadata(role: &str, value: &Value) -> Result<Map<String, Value>> {
    let object = value.as_object().ok_or_else(|| {
        RequestError::parsing(format!(
            "expected field [metadata] to be of type object, but found [{value}] in role [{role}]"
        ))
    })?;
    check_metadata(object)?;
    Ok(object.clone())
}

/// Refuses members whose names begin with `_`, which are reserved for the server.
pub(crate) fn check_metadata(metadata: &Map<String, Value>) -> Result<()> {
    match metadata.keys().find(|key| key.starts_with('_')) {
        None => Ok(()),
        Some(_) => Err(RequestError::validation(["metadata keys may not start with [_]"])),
    }
}

/// Refuses metadata that is larger than a user, an API key or a privilege may have.
///
/// # Errors
/// It is larger.
pub fn check_metadata_size(metadata: &Map<String, Value>) -> Result<()> {
    let bytes = serde_json::to_string(metadata).map_or(0, |text| text.len());
    match bytes <= JSON_BYTES_MAX {
        true => Ok(()),
        false => {
            let reason = format!("[metadata] may have at most [{JSON_BYTES_MAX}] bytes but has [{bytes}]");
            Err(RequestError::illegal_argument(reason))
        }
    }
}

/// Reads a string, or a list of strings.
pub(crate) fn texts(field: &str, value: &Value) -> Result<Vec<String>> {
    let bad = || {
        RequestError::parsing(format!(
            "could not parse [{field}] field. expected a string or a list of at most [{LIST_MAX}] strings"
        ))
    };
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(items) if items.len() <= LIST_MAX => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(bad)).collect()
        }
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_back_as_they_are_shown() {
        let body = json!({
            "cluster": ["monitor", "cluster:admin/x*"],
            "indices": [{"names": "a*", "privileges": ["read"], "query": {"term": {"x": 1}},
                "field_security": {"grant": ["a.*"], "except": ["a.b"]}}],
            "applications": [{"application": "kibana", "privileges": ["read"], "resources": ["*"]}],
            "run_as": ["u*"], "metadata": {"v": 1}, "description": "text"});
        let role = RoleDescriptor::parse("r", &body).expect("valid");
        let shown = role.to_json();
        assert_eq!(shown["indices"][0]["query"], "{\"term\":{\"x\":1}}");
        assert_eq!(RoleDescriptor::parse("r", &shown).expect("valid"), role);
    }

    #[test]
    fn roles_are_limited_when_they_are_put_and_not_when_they_are_read_back() {
        let regexes = |count: usize| (0..count).map(|number| format!("/a{number}/")).collect::<Vec<_>>();
        let role = |names: &[String]| json!({"indices": [{"names": names, "privileges": ["read"]}]});
        assert!(RoleDescriptor::parse("r", &role(&regexes(REGEXES_MAX))).is_ok());
        let many = role(&regexes(REGEXES_MAX + 1));
        let error = RoleDescriptor::parse("r", &many).expect_err("refused");
        assert!(error.reason.contains("at most [100] regular expressions but there are [101]"), "{error}");
        assert!(RoleDescriptor::restore("r", &many).is_ok());
        let half = RoleDescriptor::parse("r", &role(&regexes(REGEXES_MAX / 2 + 1))).expect("valid");
        assert!(check_size(&[&half]).is_ok() && check_size(&[&half, &half]).is_err());
        let fields: Vec<String> = (0..1_000).map(|number| format!("f{number}*")).collect();
        let entry =
            json!({"names": ["a"], "privileges": [], "field_security": {"grant": fields, "except": fields}});
        let body = |count: usize| json!({"indices": vec![entry.clone(); count]});
        assert!(RoleDescriptor::parse("r", &body(1)).is_ok());
        let error = RoleDescriptor::parse("r", &body(6)).expect_err("refused");
        assert!(error.reason.contains("at most [10000] patterns of fields but there are [12000]"), "{error}");
        let unknown: Vec<String> = (0..1_000).map(|number| format!("p{number}")).collect();
        let body = json!({"indices": vec![json!({"names": ["a"], "privileges": unknown}); 1_000]});
        let error = RoleDescriptor::parse("r", &body).expect_err("refused");
        assert!(error.reason.len() < 1 << 20, "{}", error.reason.len());
    }

    #[test]
    fn what_is_refused() {
        let check = |body: Value, part: &str| {
            let error = RoleDescriptor::parse("r", &body).expect_err("refused");
            assert!(error.reason.contains(part), "{} lacks {part}", error.reason);
        };
        check(json!({"cluster": ["nonsense"]}), "unknown cluster privilege [nonsense]. a privilege must be");
        check(
            json!({"indices": [{"names": ["a"], "privileges": ["nonsense"]}]}),
            "unknown index privilege [nonsense]",
        );
        check(json!({"indices": [{"privileges": ["read"]}]}), "missing required [names] field");
        check(json!({"indices": [{"names": ["a"]}]}), "missing required [privileges] field");
        check(json!({"unknown": 1}), "unexpected field [unknown]");
        check(json!({"metadata": {"_x": 1}}), "metadata keys may not start with [_]");
        check(json!({"remote_indices": [{"names": ["a"]}]}), "remote_indices");
        check(
            json!({"indices": [{"names": ["a"], "privileges": [], "field_security": {"grant": ["a"], "except": ["b"]}}]}),
            "must be a subset of the granted fields",
        );
        check(json!({"indices": [{"names": ["/a(/"], "privileges": []}]}), "is not valid");
        check(json!({"indices": [{"names": ["a"], "privileges": [], "query": "{"}]}), "query");
    }

    #[test]
    fn fields() {
        let rule = FieldRule { grant: vec!["a".into(), "b.*".into()], except: vec!["b.c*".into()] };
        let check = |path: &str, expected: bool| assert_eq!(rule.allows(path), expected, "{path}");
        check("a", true);
        check("a.x", false);
        check("b", false);
        check("b.x", true);
        check("b.cat", false);
        check("_id", true);
        check("_own", true);
        let body = json!({"indices": [{"names": ["a"], "privileges": ["read"],
            "field_security": {"grant": ["a"], "except": ["_own*"]}}]});
        let role = RoleDescriptor::parse("r", &body).expect("valid");
        let rule = role.indices[0].fields.as_ref().expect("limited");
        let check = |path: &str, expected: bool| assert_eq!(rule.allows(path), expected, "{path}");
        check("_own", false);
        check("_own.x", false);
        check("_other", true);
        check("_source", true);
        check("b", false);
    }
}
