//! Service accounts: identities of services, each with a fixed role, authenticated by tokens.
//!
//! Source: `ElasticServiceAccounts`.

use serde_json::{Value, json};

use crate::{AuthenticationType, Identity, Realm, Result, RoleDescriptor};

/// An account, such as `elastic/fleet-server`.
#[derive(Debug)]
pub struct ServiceAccount {
    /// First part of the name: `elastic`.
    pub namespace: &'static str,
    /// Second part of the name: `fleet-server`.
    pub service: &'static str,
    role: &'static str,
}

/// All service accounts.
pub const SERVICE_ACCOUNTS: [ServiceAccount; 2] = [
    ServiceAccount {
        namespace: "elastic",
        service: "fleet-server",
        role: r#"{"cluster":["monitor","manage_own_api_key"],
            "indices":[{"names":["logs-*","metrics-*","traces-*",".logs-endpoint.diagnostic.collection-*",".logs-endpoint.action.responses-*"],
                "privileges":["write","create_index","auto_configure"]},
                {"names":["profiling-*"],"privileges":["read","write"]},
                {"names":["synthetics-*"],"privileges":["read","write","create_index","auto_configure"]},
                {"names":[".fleet-*"],"privileges":["read","write","monitor","create_index","auto_configure","maintenance"],
                "allow_restricted_indices":true}]}"#,
    },
    ServiceAccount { namespace: "elastic", service: "kibana", role: crate::builtin::KIBANA_SYSTEM },
];

impl ServiceAccount {
    /// Returns the account `namespace/service`.
    pub fn find(namespace: &str, service: &str) -> Option<&'static ServiceAccount> {
        SERVICE_ACCOUNTS.iter().find(|account| account.namespace == namespace && account.service == service)
    }

    /// Returns the account's full name, such as `elastic/fleet-server`.
    pub fn principal(&self) -> String {
        format!("{}/{}", self.namespace, self.service)
    }

    /// Returns the account's fixed role.
    ///
    /// # Errors
    /// Never fails in practice: a test parses the role of each account.
    pub fn role(&self) -> Result<RoleDescriptor> {
        let body: Value = serde_json::from_str(self.role).unwrap_or_default();
        RoleDescriptor::parse(&self.principal(), &body)
    }

    /// Returns the identity of requests with the token `name`.
    pub fn identity(&self, name: &str) -> Identity {
        Identity {
            username: self.principal(),
            roles: Vec::new(),
            full_name: Some(format!("Service account - {}", self.principal())),
            email: None,
            metadata: json!({"_elastic_service_account": true}).as_object().cloned().unwrap_or_default(),
            realm: Realm::SERVICE,
            authentication: AuthenticationType::Token { name: name.to_owned() },
            run_by: None,
        }
    }
}

/// A token of a service account, with the digest of its secret.
#[derive(Clone, PartialEq)]
pub struct ServiceToken {
    /// Time of creation, in milliseconds since 1970.
    pub creation_ms: u64,
    /// Digest of the secret ([`crate::secret_digest`]).
    pub digest: String,
}

impl std::fmt::Debug for ServiceToken {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("ServiceToken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_accounts_are_valid() {
        for account in &SERVICE_ACCOUNTS {
            account.role().expect("valid");
        }
    }
}
