//! Reads settings that are neither in `limber.yml` nor on the command line.

use serde_json::{Map, Value};

use super::Faults;
use crate::security::SecretsFile;

/// Adds the keys of S3 accounts from the file with secure settings.
pub(super) fn add_secrets(
    file: Option<&SecretsFile>,
    settings: &mut Map<String, Value>,
    faults: &mut Faults,
) {
    let Some(secrets) = file.map(SecretsFile::s3).and_then(|read| faults.take(read)) else { return };
    for (key, value) in secrets {
        if settings.contains_key(&key) {
            faults.0.push(format!("[{key}] is in the configuration and in the file with the secrets"));
        }
        settings.insert(key, value);
    }
}

/// Uses the S3 account from the environment variables that all S3 tools read for the client `default`, unless
/// the configuration names an account.
pub(super) fn add_s3_account(settings: &mut Map<String, Value>, variable: impl Fn(&str) -> Option<String>) {
    const VARIABLES: [(&str, &str); 3] = [
        ("s3.client.default.access_key", "AWS_ACCESS_KEY_ID"),
        ("s3.client.default.secret_key", "AWS_SECRET_ACCESS_KEY"),
        ("s3.client.default.session_token", "AWS_SESSION_TOKEN"),
    ];
    if VARIABLES.iter().any(|(key, _)| settings.contains_key(*key)) {
        return;
    }
    for (key, name) in VARIABLES {
        if let Some(value) = variable(name) {
            settings.insert(key.to_owned(), Value::String(value));
        }
    }
}
