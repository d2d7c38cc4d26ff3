//! Role mappings: rules that give roles to users of other realms. They are only stored and shown: Limber's
//! users list their roles themselves, like Elasticsearch's native users, so no rule applies to them.
//!
//! Source: `ExpressionRoleMapping`, `ExpressionParser`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use crate::Result;
use crate::descriptor::{check_metadata, texts};

/// Maximum nesting depth of rules.
const DEPTH_MAX: usize = 20;

/// A role mapping, validated by [`RoleMapping::parse`].
#[derive(Debug, Clone, PartialEq)]
pub struct RoleMapping {
    /// Whether the rules apply.
    pub enabled: bool,
    /// Names of the roles that it grants.
    pub roles: Vec<String>,
    /// Templates of role names, as given; a mapping has either these or `roles`.
    pub role_templates: Option<Value>,
    /// Which users get the roles, as given.
    pub rules: Value,
    /// The client's own data about the mapping.
    pub metadata: Map<String, Value>,
}

impl RoleMapping {
    /// Reads the body of `PUT _security/role_mapping/NAME`.
    ///
    /// # Errors
    /// A member that is missing, unknown or of another type.
    pub fn parse(name: &str, body: &Value) -> Result<RoleMapping> {
        let object = body.as_object().ok_or_else(|| RequestError::parsing("expected an object"))?;
        let mut mapping = RoleMapping {
            enabled: true,
            roles: Vec::new(),
            role_templates: None,
            rules: Value::Null,
            metadata: Map::new(),
        };
        for (key, value) in object {
            match key.as_str() {
                "enabled" => {
                    mapping.enabled = value
                        .as_bool()
                        .ok_or_else(|| RequestError::parsing("[enabled] must be a boolean"))?;
                }
                "roles" => mapping.roles = texts("roles", value)?,
                "role_templates" => mapping.role_templates = Some(value.clone()),
                "rules" => {
                    check_rule(value, 0)?;
                    mapping.rules = value.clone();
                }
                "metadata" => {
                    mapping.metadata = value
                        .as_object()
                        .cloned()
                        .ok_or_else(|| RequestError::parsing("[metadata] must be an object"))?;
                    check_metadata(&mapping.metadata)?;
                }
                other => {
                    return Err(ObjectParser::parsing(name).unknown(other));
                }
            }
        }
        let mut problems = Vec::new();
        if mapping.roles.is_empty() && mapping.role_templates.is_none() {
            problems.push("role-mapping roles or role-templates are missing");
        }
        if mapping.rules.is_null() {
            problems.push("role-mapping rules are missing");
        }
        if problems.is_empty() { Ok(mapping) } else { Err(RequestError::validation(problems)) }
    }

    /// Returns the mapping as it is shown and stored; [`RoleMapping::parse`] reads it back.
    pub fn to_json(&self) -> Value {
        let mut shown = json!({"enabled": self.enabled, "roles": self.roles});
        if let Some(templates) = &self.role_templates {
            shown["role_templates"] = templates.clone();
        }
        shown["rules"] = self.rules.clone();
        shown["metadata"] = self.metadata.clone().into();
        shown
    }
}

fn check_rule(rule: &Value, depth: usize) -> Result<()> {
    let bad = |why: String| Err(RequestError::parsing(format!("failed to parse rules expression. {why}")));
    let Some((key, value)) =
        rule.as_object().filter(|rule| rule.len() == 1).and_then(|rule| rule.iter().next())
    else {
        return bad("expected an object with one member".into());
    };
    if depth >= DEPTH_MAX {
        return bad(format!("more than [{DEPTH_MAX}] rules within each other"));
    }
    match key.as_str() {
        "any" | "all" => match value.as_array() {
            Some(rules) => rules.iter().try_for_each(|rule| check_rule(rule, depth + 1)),
            None => bad(format!("expected [{key}] to be an array")),
        },
        "except" => check_rule(value, depth + 1),
        "field" => match value.as_object().filter(|field| field.len() == 1) {
            Some(_) => Ok(()),
            None => bad("expected [field] to be an object with one member".into()),
        },
        other => bad(format!("field [{other}] is not recognised in this context")),
    }
}
