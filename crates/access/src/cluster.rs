//! Cluster privileges and the actions that each grants.
//!
//! Source: `ClusterPrivilegeResolver` (Elasticsearch 8.14), the documentation's page "Security privileges".

use crate::pattern::wildcard_matches;

/// A named privilege, with the actions that it grants and those that it excludes.
#[derive(Debug)]
pub struct ClusterPrivilege {
    /// Name in roles.
    pub name: &'static str,
    pub(crate) actions: &'static [&'static str],
    pub(crate) except: &'static [&'static str],
}

const fn grants(name: &'static str, actions: &'static [&'static str]) -> ClusterPrivilege {
    ClusterPrivilege { name, actions, except: &[] }
}

const EVERYTHING: &[&str] = &["cluster:*", "indices:admin/template/*", "indices:admin/index_template/*"];
const SECURITY: &[&str] = &["cluster:admin/xpack/security/*"];
const READ_SECURITY: &[&str] = &[
    "cluster:admin/xpack/security/api_key/get",
    "cluster:admin/xpack/security/api_key/query",
    "cluster:admin/xpack/security/privilege/get",
    "cluster:admin/xpack/security/privilege/builtin/get",
    "cluster:admin/xpack/security/profile/get",
    "cluster:admin/xpack/security/profile/has_privileges",
    "cluster:admin/xpack/security/profile/suggest",
    "cluster:admin/xpack/security/role/get",
    "cluster:admin/xpack/security/role/query",
    "cluster:admin/xpack/security/role_mapping/get",
    "cluster:admin/xpack/security/service_account/get",
    "cluster:admin/xpack/security/service_account/credential/get*",
    "cluster:admin/xpack/security/user/get",
    "cluster:admin/xpack/security/user/list_privileges",
    "cluster:admin/xpack/security/user/has_privileges",
    "cluster:admin/xpack/security/user/query",
    "cluster:admin/xpack/security/settings/get",
];

/// All cluster privileges, sorted by name.
pub const CLUSTER_PRIVILEGES: &[ClusterPrivilege] = &[
    grants("all", EVERYTHING),
    grants("cancel_task", &["cluster:admin/tasks/cancel*"]),
    grants(
        "create_snapshot",
        &[
            "cluster:admin/snapshot/create",
            "cluster:admin/snapshot/status*",
            "cluster:admin/snapshot/get",
            "cluster:admin/repository/get",
        ],
    ),
    grants("cross_cluster_replication", &["cluster:internal/remote_cluster/*"]),
    grants("cross_cluster_search", &["cluster:internal/remote_cluster/*"]),
    grants(
        "delegate_pki",
        &["cluster:admin/xpack/security/delegate_pki", "cluster:admin/xpack/security/token/invalidate"],
    ),
    grants("grant_api_key", &["cluster:admin/xpack/security/api_key/grant*"]),
    ClusterPrivilege { name: "manage", actions: EVERYTHING, except: SECURITY },
    grants("manage_api_key", &["cluster:admin/xpack/security/api_key/*"]),
    grants("manage_autoscaling", &["cluster:admin/autoscaling/*"]),
    grants("manage_ccr", &["cluster:admin/xpack/ccr/*"]),
    grants("manage_data_frame_transforms", TRANSFORM),
    grants("manage_data_stream_global_retention", &["cluster:admin/data_stream/global_retention/*"]),
    grants("manage_enrich", &["cluster:admin/xpack/enrich/*"]),
    grants("manage_ilm", &["cluster:admin/ilm/*"]),
    grants(
        "manage_index_templates",
        &["indices:admin/template/*", "indices:admin/index_template/*", "cluster:admin/component_template/*"],
    ),
    grants("manage_inference", &["cluster:admin/xpack/inference/*", "cluster:monitor/xpack/inference*"]),
    grants("manage_ingest_pipelines", &["cluster:admin/ingest/pipeline/*"]),
    grants("manage_logstash_pipelines", &["cluster:admin/logstash/pipeline/*"]),
    grants("manage_ml", &["cluster:admin/xpack/ml/*", "cluster:monitor/xpack/ml/*"]),
    grants("manage_oidc", &["cluster:admin/xpack/security/oidc/*"]),
    grants("manage_own_api_key", &[]),
    grants("manage_pipeline", &["cluster:admin/ingest/pipeline/*"]),
    grants("manage_rollup", &["cluster:admin/xpack/rollup/*", "cluster:monitor/xpack/rollup/*"]),
    grants("manage_saml", &["cluster:admin/xpack/security/saml/*"]),
    grants("manage_search_application", &["cluster:admin/xpack/application/search_application/*"]),
    grants("manage_search_query_rules", &["cluster:admin/xpack/query_rules/*"]),
    grants(
        "manage_search_synonyms",
        &["cluster:admin/synonyms/*", "cluster:admin/synonyms_sets/*", "cluster:admin/synonym_rules/*"],
    ),
    grants("manage_security", SECURITY),
    grants("manage_service_account", &["cluster:admin/xpack/security/service_account/*"]),
    grants(
        "manage_slm",
        &[
            "cluster:admin/slm/*",
            "cluster:admin/ilm/operation_mode/get",
            "cluster:admin/ilm/start",
            "cluster:admin/ilm/stop",
        ],
    ),
    grants("manage_token", &["cluster:admin/xpack/security/token/*"]),
    grants("manage_transform", TRANSFORM),
    grants("manage_user_profile", &["cluster:admin/xpack/security/profile/*"]),
    grants("manage_watcher", &["cluster:admin/xpack/watcher/*", "cluster:monitor/xpack/watcher/*"]),
    grants("monitor", &["cluster:monitor/*"]),
    grants("monitor_data_frame_transforms", &["cluster:monitor/data_frame/*", "cluster:monitor/transform/*"]),
    grants("monitor_data_stream_global_retention", &["cluster:monitor/data_stream/global_retention/*"]),
    grants("monitor_enrich", &["cluster:monitor/xpack/enrich/*", "cluster:admin/xpack/enrich/get"]),
    grants("monitor_inference", &["cluster:monitor/xpack/inference*"]),
    grants("monitor_ml", &["cluster:monitor/xpack/ml/*"]),
    grants("monitor_rollup", &["cluster:monitor/xpack/rollup/*"]),
    grants(
        "monitor_snapshot",
        &["cluster:admin/snapshot/status*", "cluster:admin/snapshot/get", "cluster:admin/repository/get"],
    ),
    grants("monitor_text_structure", &["cluster:monitor/text_structure/*"]),
    grants("monitor_transform", &["cluster:monitor/data_frame/*", "cluster:monitor/transform/*"]),
    grants("monitor_watcher", &["cluster:monitor/xpack/watcher/*"]),
    grants("none", &[]),
    grants("post_behavioral_analytics_event", &["cluster:admin/xpack/application/analytics/post_event"]),
    grants("read_ccr", &["cluster:monitor/ccr/*"]),
    grants("read_ilm", &["cluster:admin/ilm/get", "cluster:admin/ilm/operation_mode/get"]),
    grants("read_pipeline", &["cluster:admin/ingest/pipeline/get", "cluster:admin/ingest/pipeline/simulate"]),
    grants("read_security", READ_SECURITY),
    grants(
        "read_slm",
        &[
            "cluster:admin/slm/get",
            "cluster:admin/slm/stats",
            "cluster:admin/slm/status",
            "cluster:admin/ilm/operation_mode/get",
        ],
    ),
    grants("transport_client", &["cluster:monitor/nodes/liveness", "cluster:monitor/state"]),
];

const TRANSFORM: &[&str] = &[
    "cluster:admin/data_frame/*",
    "cluster:admin/transform/*",
    "cluster:monitor/data_frame/*",
    "cluster:monitor/transform/*",
];

/// Actions that only read a user's own data. Every authenticated user may carry them out.
const OWN: [&str; 3] = [
    "cluster:admin/xpack/security/user/authenticate",
    "cluster:admin/xpack/security/user/has_privileges",
    "cluster:admin/xpack/security/user/list_privileges",
];

/// Actions that `manage_own_api_key` grants for the user's own keys.
const OWN_KEYS: [&str; 6] = [
    "cluster:admin/xpack/security/api_key/create",
    "cluster:admin/xpack/security/api_key/get",
    "cluster:admin/xpack/security/api_key/invalidate",
    "cluster:admin/xpack/security/api_key/query",
    "cluster:admin/xpack/security/api_key/update",
    "cluster:admin/xpack/security/api_key/bulk_update",
];

/// Whether every authenticated user may carry out the action.
pub(crate) fn is_granted_to_all(action: &str) -> bool {
    OWN.contains(&action)
}

/// Whether the action is about API keys and thus may be limited to the user's own.
pub(crate) fn is_of_own_keys(action: &str) -> bool {
    OWN_KEYS.contains(&action)
}

/// Whether an action concerns the whole cluster, even if it begins with `indices:`.
pub fn is_cluster_action(action: &str) -> bool {
    action.starts_with("cluster:")
        || action.starts_with("indices:admin/template/")
        || action.starts_with("indices:admin/index_template/")
}

/// Returns the privilege of this name.
pub(crate) fn named(name: &str) -> Option<&'static ClusterPrivilege> {
    CLUSTER_PRIVILEGES.iter().find(|privilege| privilege.name == name)
}

impl ClusterPrivilege {
    pub(crate) fn grants(&self, action: &str) -> bool {
        self.actions.iter().any(|pattern| wildcard_matches(pattern, action))
            && !self.except.iter().any(|pattern| wildcard_matches(pattern, action))
            || self.name == "manage_own_api_key" && is_of_own_keys(action)
    }

    /// Returns how many privileges it includes; messages list the narrowest privilege first.
    fn weight(&self) -> usize {
        CLUSTER_PRIVILEGES
            .iter()
            .filter(|other| {
                !other.actions.is_empty()
                    && other.actions.iter().all(|narrow| {
                        self.actions.iter().any(|wide| crate::pattern::covers(wide, narrow))
                            && !self.except.iter().any(|wide| crate::pattern::covers(wide, narrow))
                    })
            })
            .count()
    }
}

/// Returns the names of the privileges that grant `action`, the narrowest first.
pub(crate) fn granting(action: &str) -> Vec<&'static str> {
    let mut found: Vec<&ClusterPrivilege> =
        CLUSTER_PRIVILEGES.iter().filter(|privilege| privilege.grants(action)).collect();
    found.sort_by_key(|privilege| (privilege.weight(), privilege.name));
    found.into_iter().map(|privilege| privilege.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grants_an_action() {
        let check = |action: &str, expected: &[&str]| assert_eq!(granting(action), expected, "{action}");
        check("cluster:monitor/main", &["monitor", "manage", "all"]);
        check("cluster:monitor/health", &["monitor", "manage", "all"]);
        check("cluster:admin/settings/update", &["manage", "all"]);
        check("indices:admin/index_template/put", &["manage_index_templates", "manage", "all"]);
        check("cluster:admin/xpack/security/user/put", &["manage_security", "all"]);
        check(
            "cluster:admin/xpack/security/api_key/create",
            &["manage_own_api_key", "manage_api_key", "manage_security", "all"],
        );
        check(
            "cluster:admin/ingest/pipeline/put",
            &["manage_ingest_pipelines", "manage_pipeline", "manage", "all"],
        );
    }
}
