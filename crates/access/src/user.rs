//! Users that the node manages itself (Elasticsearch's native realm).

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::descriptor::{check_metadata, check_metadata_size, texts};
use crate::{AuthenticationType, Identity, Realm, Result, hash_password, secret};

const NAME_LENGTH_MAX: usize = 507;
const PASSWORD_LENGTH_MIN: usize = 6;
/// Maximum length of a password in bytes; all of it is hashed.
const PASSWORD_LENGTH_MAX: usize = 1_024;

/// A user, with the hash of the password.
#[derive(Clone, PartialEq)]
pub struct User {
    /// Names of the user's roles.
    pub roles: Vec<String>,
    /// The user's display name.
    pub full_name: Option<String>,
    /// The user's e-mail address.
    pub email: Option<String>,
    /// The client's own data about the user.
    pub metadata: Map<String, Value>,
    /// Whether the user may log in.
    pub enabled: bool,
    /// `None` if the user cannot log in with a password.
    pub password_hash: Option<String>,
}

impl std::fmt::Debug for User {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "User {:?}", self.roles)
    }
}

impl User {
    /// Parses the body of `PUT _security/user/NAME`. An existing user without a password in the body keeps
    /// the present one ([`crate::Store::put_user`]).
    ///
    /// # Errors
    /// An invalid name or password, or an unknown member.
    pub fn parse(name: &str, body: &Value) -> Result<User> {
        check_name("User", name)?;
        let object = body.as_object().ok_or_else(|| RequestError::parsing("expected an object"))?;
        let mut user = User {
            roles: Vec::new(),
            full_name: None,
            email: None,
            metadata: Map::new(),
            enabled: true,
            password_hash: None,
        };
        if object.contains_key("password") && object.contains_key("password_hash") {
            return Err(RequestError::validation(["password_hash and password cannot both be set"]));
        }
        let text = |key: &str, value: &Value| match value {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.clone())),
            _ => Err(RequestError::parsing(format!(
                "failed to parse user [{name}]. expected field [{key}] to be a string"
            ))),
        };
        let mut has_roles = false;
        for (key, value) in object {
            match key.as_str() {
                "password" | "password_hash" => user.password_hash = Some(password(key, value)?),
                "roles" => {
                    user.roles = texts("roles", value)?;
                    has_roles = true;
                }
                "full_name" => user.full_name = text(key, value)?,
                "email" => user.email = text(key, value)?,
                "metadata" if value.is_null() => {}
                "metadata" => {
                    user.metadata = value
                        .as_object()
                        .cloned()
                        .ok_or_else(|| RequestError::parsing("expected field [metadata] to be an object"))?;
                    check_metadata(&user.metadata)?;
                    check_metadata_size(&user.metadata)?;
                }
                "enabled" => {
                    user.enabled = value
                        .as_bool()
                        .ok_or_else(|| RequestError::parsing("expected field [enabled] to be a boolean"))?;
                }
                "username" if value.as_str() == Some(name) => {}
                "username" => {
                    return Err(RequestError::illegal_argument(
                        "the username in the body differs from that of the path",
                    ));
                }
                other => {
                    return Err(RequestError::parsing(format!(
                        "failed to parse add user request. unexpected field [{other}]"
                    )));
                }
            }
        }
        if !has_roles {
            return Err(RequestError::validation(["roles are missing"]));
        }
        Ok(user)
    }

    /// Returns the user in the form of `GET _security/user`.
    pub fn shown(&self, name: &str) -> Value {
        json!({
            "username": name,
            "roles": self.roles,
            "full_name": self.full_name,
            "email": self.email,
            "metadata": self.metadata,
            "enabled": self.enabled,
        })
    }

    /// Returns the identity of requests with the user's password.
    pub fn identity(&self, name: &str, realm: Realm) -> Identity {
        Identity {
            username: name.to_owned(),
            roles: self.roles.clone(),
            full_name: self.full_name.clone(),
            email: self.email.clone(),
            metadata: self.metadata.clone(),
            realm,
            authentication: AuthenticationType::Realm,
            run_by: None,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "roles": self.roles,
            "full_name": self.full_name,
            "email": self.email,
            "metadata": self.metadata,
            "enabled": self.enabled,
            "password_hash": self.password_hash,
        })
    }

    pub(crate) fn from_json(value: &Value) -> User {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        User {
            roles: texts("roles", &value["roles"]).unwrap_or_default(),
            full_name: text("full_name"),
            email: text("email"),
            metadata: value["metadata"].as_object().cloned().unwrap_or_default(),
            enabled: value["enabled"] == true,
            password_hash: text("password_hash"),
        }
    }
}

/// Returns the hash of a chosen password, or checks a hash from elsewhere (`key`: `password` or
/// `password_hash`).
///
/// # Errors
/// A password that is too short or too long, or a hash of an unknown form.
pub(crate) fn password(key: &str, value: &Value) -> Result<String> {
    let Some(text) = value.as_str() else {
        return Err(RequestError::parsing(format!("expected field [{key}] to be a string")));
    };
    if key == "password_hash" {
        return match secret::is_password_hash(text) {
            true => Ok(text.to_owned()),
            false => Err(RequestError::illegal_argument(
                "The provided password hash is not a hash or it could not be resolved to a supported hash algorithm. The supported password hash algorithms are [argon2id]",
            )),
        };
    }
    if text.chars().count() < PASSWORD_LENGTH_MIN {
        return Err(RequestError::validation([format!(
            "passwords must be at least [{PASSWORD_LENGTH_MIN}] characters long"
        )]));
    }
    if text.len() > PASSWORD_LENGTH_MAX {
        return Err(RequestError::validation([format!(
            "passwords must have at most [{PASSWORD_LENGTH_MAX}] bytes"
        )]));
    }
    hash_password(text)
}

/// Checks the name of a user or role. `what` is `User` or `Role`.
///
/// Source: `Validation`, `NativeRealmValidationUtil`.
///
/// # Errors
/// The name is empty, too long, or has other characters than are allowed.
pub fn check_name(what: &str, name: &str) -> Result<()> {
    let is_valid = !name.is_empty()
        && name.len() <= NAME_LENGTH_MAX
        && name.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && name.trim() == name;
    match is_valid {
        true => Ok(()),
        false => Err(RequestError::validation([format!(
            "{what} names must be at least 1 and no more than {NAME_LENGTH_MAX} characters. They can contain alphanumeric characters (a-z, A-Z, 0-9), spaces, punctuation, and printable symbols in the Basic Latin (ASCII) block. Leading or trailing whitespace is not allowed."
        )])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_printable_characters() {
        let longest = "x".repeat(NAME_LENGTH_MAX);
        for name in ["a", "a b", "~!@", longest.as_str()] {
            assert!(check_name("User", name).is_ok(), "{name}");
        }
        let longer = "x".repeat(NAME_LENGTH_MAX + 1);
        for name in ["", " a", "a ", "é", "a\tb", longer.as_str()] {
            let refused = check_name("Role", name).expect_err(name).reason;
            assert!(refused.contains("Role names must be at least 1 and no more than 507 "), "{refused}");
        }
    }
}
