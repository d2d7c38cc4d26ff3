//! Messages of denials, as in Elasticsearch.
//!
//! Source: `AuthorizationDenialMessages`.

use limber_mapping::{ErrorClass, RequestError};

use crate::cluster::is_cluster_action;
use crate::index::is_restricted;
use crate::{AuthenticationType, Identity, cluster, index};

/// Returns `Forbidden` for an action; for an action on indices, `names` are the indices.
pub(crate) fn denied(identity: &Identity, roles: &[&str], action: &str, names: &[&str]) -> RequestError {
    let mut reason = format!(
        "action [{action}] is unauthorized for {}{}",
        described(identity),
        with_roles(identity, roles)
    );
    let (restricted, ordinary): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| is_restricted(name));
    if !ordinary.is_empty() {
        reason.push_str(&format!(" on indices [{}]", ordinary.join(",")));
    }
    if !restricted.is_empty() {
        let joint = if ordinary.is_empty() { " on" } else { " and" };
        reason.push_str(&format!("{joint} restricted indices [{}]", restricted.join(",")));
    }
    let (kind, granting) = match is_cluster_action(action) {
        true => ("cluster", cluster::granting(action)),
        false => ("index", index::granting(action)),
    };
    if !granting.is_empty() {
        reason
            .push_str(&format!(", this action is granted by the {kind} privileges [{}]", granting.join(",")));
    }
    RequestError::new(ErrorClass::Forbidden, "security_exception", reason)
}

/// Returns `Forbidden` for acting as another user.
pub(crate) fn run_as_denied(identity: &Identity, roles: &[&str], action: &str, user: &str) -> RequestError {
    let reason = format!(
        "action [{action}] is unauthorized for {}{}, because {} is unauthorized to run as [{user}]",
        described(identity),
        with_roles(identity, roles),
        described(identity)
    );
    RequestError::new(ErrorClass::Forbidden, "security_exception", reason)
}

fn described(identity: &Identity) -> String {
    let authenticating = identity.run_by.as_deref().unwrap_or(identity);
    let kind = match authenticating.authentication {
        AuthenticationType::Token { .. } => "service account",
        _ => "user",
    };
    let mut text = format!("{kind} [{}]", authenticating.username);
    if identity.run_by.is_some() {
        text.push_str(&format!(" run as [{}]", identity.username));
    }
    match &authenticating.authentication {
        AuthenticationType::ApiKey { id, .. } => format!("API key id [{id}] of {text}"),
        _ => text,
    }
}

/// Returns the part of the message that names the roles; empty for identities without roles of their own.
fn with_roles(identity: &Identity, roles: &[&str]) -> String {
    match identity.authentication {
        AuthenticationType::ApiKey { .. } | AuthenticationType::Token { .. } => String::new(),
        _ => {
            let mut text = format!(" with effective roles [{}]", roles.join(","));
            let mut lost: Vec<&str> =
                identity.roles.iter().map(String::as_str).filter(|role| !roles.contains(role)).collect();
            if !lost.is_empty() {
                lost.sort_unstable();
                text.push_str(&format!(" (assigned roles [{}] were not found)", lost.join(",")));
            }
            text
        }
    }
}
