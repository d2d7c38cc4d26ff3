//! Built-in roles and users, which cannot be changed or deleted.
//!
//! Source: `ReservedRolesStore`, limited to privileges that exist here.

use serde_json::{Value, json};

use crate::RoleDescriptor;

pub(crate) const KIBANA_SYSTEM: &str = r#"{
    "cluster": ["monitor", "manage_index_templates", "manage_saml", "manage_token", "manage_oidc", "manage_enrich", "manage_pipeline",
        "manage_ilm", "manage_transform", "cluster:admin/xpack/monitoring/bulk", "cluster:admin/script/*", "cluster:admin/analyze",
        "grant_api_key", "manage_own_api_key", "read_security", "cancel_task", "delegate_pki",
        "cluster:admin/xpack/security/api_key/invalidate", "cluster:admin/xpack/security/profile/*",
        "cluster:admin/xpack/security/privilege/*"],
    "indices": [
        {"names": [".kibana*", ".reporting-*"], "privileges": ["all"], "allow_restricted_indices": true},
        {"names": [".monitoring-*"], "privileges": ["read"]},
        {"names": [".management-beats", ".ml-anomalies*", ".ml-stats-*"], "privileges": ["read", "create_index", "write"]},
        {"names": [".apm-agent-configuration", ".apm-custom-link", ".apm-source-map", ".lists-*", ".items-*", ".siem-signals*",
            ".alerts*", ".internal.alerts*", ".preview.alerts*", ".internal.preview.alerts*", ".fleet*", ".fleet-*",
            ".kibana-event-log-*", ".metrics-endpoint.metadata_united_default", "risk-score.risk-*"], "privileges": ["all"]},
        {"names": ["*"], "privileges": ["view_index_metadata", "monitor"]}],
    "run_as": []}"#;

/// Names and bodies of the reserved roles.
pub const RESERVED_ROLES: &[(&str, &str)] = &[
    (
        "superuser",
        r#"{"cluster": ["all"], "indices": [
            {"names": ["*"], "privileges": ["all"], "allow_restricted_indices": false},
            {"names": ["*"], "privileges": ["monitor", "read", "view_index_metadata", "read_cross_cluster"], "allow_restricted_indices": true}],
            "applications": [{"application": "*", "privileges": ["*"], "resources": ["*"]}], "run_as": ["*"]}"#,
    ),
    (
        "viewer",
        r#"{"indices": [{"names": ["/~(([.]|ilm-history-).*)/"], "privileges": ["read", "view_index_metadata"]},
            {"names": [".siem-signals*", ".lists-*", ".items-*", ".alerts*", ".preview.alerts*"],
            "privileges": ["read", "view_index_metadata"]}],
            "applications": [{"application": "kibana-.kibana", "privileges": ["read"], "resources": ["*"]}]}"#,
    ),
    (
        "editor",
        r#"{"indices": [{"names": ["/~(([.]|ilm-history-).*)/"], "privileges": ["read", "view_index_metadata"]},
            {"names": ["observability-annotations"], "privileges": ["read", "view_index_metadata", "write"]},
            {"names": [".siem-signals*", ".lists-*", ".items-*"],
            "privileges": ["read", "view_index_metadata", "write", "maintenance"]},
            {"names": [".alerts*", ".internal.alerts*", ".preview.alerts*", ".internal.preview.alerts*"],
            "privileges": ["read", "view_index_metadata", "write", "maintenance"]}],
            "applications": [{"application": "kibana-.kibana", "privileges": ["all"], "resources": ["*"]}]}"#,
    ),
    (
        "monitoring_user",
        r#"{"cluster": ["cluster:monitor/main", "cluster:monitor/xpack/info", "cluster:monitor/remote/info"],
            "indices": [{"names": [".monitoring-*", "metricbeat-*", "metrics-*"], "privileges": ["read", "read_cross_cluster"]}],
            "applications": [{"application": "kibana-*", "privileges": ["reserved_monitoring"], "resources": ["*"]}]}"#,
    ),
    (
        "remote_monitoring_agent",
        r#"{"cluster": ["manage_index_templates", "manage_ingest_pipelines", "monitor", "manage_ilm"],
            "indices": [{"names": [".monitoring-*"], "privileges": ["all"]},
            {"names": ["metricbeat-*"], "privileges": ["index", "create_index", "view_index_metadata"]}]}"#,
    ),
    (
        "remote_monitoring_collector",
        r#"{"cluster": ["monitor"], "indices": [{"names": ["*"], "privileges": ["monitor"], "allow_restricted_indices": true},
            {"names": [".kibana*"], "privileges": ["read"], "allow_restricted_indices": true}]}"#,
    ),
    ("ingest_admin", r#"{"cluster": ["manage_index_templates", "manage_pipeline"]}"#),
    ("kibana_system", KIBANA_SYSTEM),
    (
        "kibana_admin",
        r#"{"applications": [{"application": "kibana-.kibana", "privileges": ["all"], "resources": ["*"]}]}"#,
    ),
    (
        "logstash_admin",
        r#"{"cluster": ["manage_logstash_pipelines"], "indices": [{"names": [".logstash*"],
            "privileges": ["create", "delete", "index", "manage", "read"], "allow_restricted_indices": true}]}"#,
    ),
    ("logstash_system", r#"{"cluster": ["monitor", "cluster:admin/xpack/monitoring/bulk"]}"#),
    ("beats_admin", r#"{"indices": [{"names": [".management-beats"], "privileges": ["all"]}]}"#),
    (
        "beats_system",
        r#"{"cluster": ["monitor", "cluster:admin/xpack/monitoring/bulk"],
            "indices": [{"names": [".monitoring-beats-*"], "privileges": ["create_index", "create"]}]}"#,
    ),
    (
        "apm_system",
        r#"{"cluster": ["monitor", "cluster:admin/xpack/monitoring/bulk"],
            "indices": [{"names": [".monitoring-beats-*"], "privileges": ["create_index", "create_doc"]}]}"#,
    ),
    (
        "snapshot_user",
        r#"{"cluster": ["create_snapshot", "cluster:admin/repository/get"],
            "indices": [{"names": ["*"], "privileges": ["view_index_metadata"], "allow_restricted_indices": true}]}"#,
    ),
    ("transport_client", r#"{"cluster": ["transport_client"]}"#),
    ("machine_learning_admin", r#"{"cluster": ["manage_ml"]}"#),
    ("machine_learning_user", r#"{"cluster": ["monitor_ml"]}"#),
    ("transform_admin", r#"{"cluster": ["manage_transform"]}"#),
    ("transform_user", r#"{"cluster": ["monitor_transform"]}"#),
    ("watcher_admin", r#"{"cluster": ["manage_watcher"]}"#),
    ("watcher_user", r#"{"cluster": ["monitor_watcher"]}"#),
    ("enrich_user", r#"{"cluster": ["manage_enrich", "manage_ingest_pipelines", "monitor"]}"#),
];

/// Names and roles of the reserved users. Except for `elastic`, they have no password until one is set.
pub const RESERVED_USERS: &[(&str, &str)] = &[
    ("elastic", "superuser"),
    ("kibana_system", "kibana_system"),
    ("kibana", "kibana_system"),
    ("logstash_system", "logstash_system"),
    ("beats_system", "beats_system"),
    ("apm_system", "apm_system"),
    ("remote_monitoring_user", "remote_monitoring_collector"),
];

/// Returns the reserved role of this name.
pub fn reserved_role(name: &str) -> Option<RoleDescriptor> {
    let (name, body) = RESERVED_ROLES.iter().find(|(own, _)| *own == name)?;
    let body: Value = serde_json::from_str(body).ok()?;
    let mut role = RoleDescriptor::parse(name, &body).ok()?;
    role.metadata = json!({"_reserved": true}).as_object().cloned()?;
    Some(role)
}

/// Returns the role of the reserved user of this name.
pub fn reserved_user(name: &str) -> Option<&'static str> {
    RESERVED_USERS.iter().find(|(own, _)| *own == name).map(|(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_roles_are_valid() {
        for (name, body) in RESERVED_ROLES {
            let body: Value = serde_json::from_str(body).expect(name);
            RoleDescriptor::parse(name, &body).expect(name);
        }
        for (_, role) in RESERVED_USERS {
            assert!(reserved_role(role).is_some(), "{role}");
        }
    }
}
