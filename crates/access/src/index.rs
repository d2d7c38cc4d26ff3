//! Index privileges and the actions that each grants.
//!
//! Source: `IndexPrivilege` (Elasticsearch 8.14), the documentation's page "Security privileges".

use crate::pattern::wildcard_matches;

/// A named privilege with the actions that it grants.
#[derive(Debug)]
pub struct IndexPrivilege {
    /// Name in roles.
    pub name: &'static str,
    pub(crate) actions: &'static [&'static str],
}

const fn grants(name: &'static str, actions: &'static [&'static str]) -> IndexPrivilege {
    IndexPrivilege { name, actions }
}

/// All index privileges, sorted by name.
pub const INDEX_PRIVILEGES: &[IndexPrivilege] = &[
    grants("all", &["indices:*"]),
    grants("auto_configure", &["indices:admin/auto_create", "indices:admin/mapping/auto_put"]),
    grants("create", &["indices:data/write/index*", "indices:data/write/bulk*"]),
    grants(
        "create_doc",
        &[
            "indices:data/write/index",
            "indices:data/write/index[*",
            "indices:data/write/index:op_type/create",
            "indices:data/write/bulk*",
        ],
    ),
    grants(
        "create_index",
        &["indices:admin/create", "indices:admin/auto_create", "indices:admin/data_stream/create"],
    ),
    grants("cross_cluster_replication", &["indices:internal/admin/ccr/restore/*"]),
    grants("cross_cluster_replication_internal", &["indices:internal/admin/ccr/restore/session/*"]),
    grants("delete", &["indices:data/write/delete*", "indices:data/write/bulk*"]),
    grants("delete_index", &["indices:admin/delete", "indices:admin/data_stream/delete"]),
    grants("index", &["indices:data/write/index*", "indices:data/write/bulk*", "indices:data/write/update*"]),
    grants(
        "maintenance",
        &[
            "indices:admin/refresh*",
            "indices:admin/flush*",
            "indices:admin/synced_flush",
            "indices:admin/forcemerge*",
        ],
    ),
    grants("manage", &["indices:monitor/*", "indices:admin/*", "indices:data/read/field_caps*"]),
    grants(
        "manage_data_stream_lifecycle",
        &["indices:admin/data_stream/lifecycle/*", "indices:admin/data_stream/get"],
    ),
    grants("manage_follow_index", &["indices:admin/xpack/ccr/*"]),
    grants("manage_ilm", &["indices:admin/ilm/*"]),
    grants("manage_leader_index", &["indices:admin/xpack/ccr/forget_follower*"]),
    grants("monitor", &["indices:monitor/*"]),
    grants("none", &[]),
    grants("read", &["indices:data/read/*", "indices:admin/resolve/index", "indices:admin/resolve/cluster"]),
    grants("read_cross_cluster", &["internal:transport/proxy/indices:data/read/*"]),
    grants(
        "view_index_metadata",
        &[
            "indices:admin/aliases/get",
            "indices:admin/get",
            "indices:admin/exists",
            "indices:admin/mappings/fields/get*",
            "indices:admin/mappings/get",
            "indices:admin/shards/search_shards",
            "indices:admin/validate/query*",
            "indices:monitor/settings/get",
            "indices:admin/ilm/explain",
            "indices:admin/data_stream/get",
            "indices:admin/data_stream/lifecycle/get",
            "indices:admin/data_stream/lifecycle/explain",
            "indices:admin/data_stream/options/get",
            "indices:monitor/data_stream/settings/get",
            "indices:monitor/data_stream/mappings/get",
            "indices:admin/resolve/index",
            "indices:data/read/field_caps*",
        ],
    ),
    grants("write", &["indices:data/write/*", "indices:admin/mapping/auto_put"]),
];

/// Patterns of the server's own indices, which only entries with `allow_restricted_indices` include.
const RESTRICTED: [&str; 1] = [".security*"];

/// Whether a name belongs to the server's own indices.
pub(crate) fn is_restricted(name: &str) -> bool {
    RESTRICTED.iter().any(|pattern| wildcard_matches(pattern, name))
}

/// Returns the privilege of this name.
pub(crate) fn named(name: &str) -> Option<&'static IndexPrivilege> {
    INDEX_PRIVILEGES.iter().find(|privilege| privilege.name == name)
}

impl IndexPrivilege {
    pub(crate) fn grants(&self, action: &str) -> bool {
        self.actions.iter().any(|pattern| wildcard_matches(pattern, action))
    }

    /// Returns how many privileges it includes; messages list the narrowest privilege first.
    fn weight(&self) -> usize {
        INDEX_PRIVILEGES
            .iter()
            .filter(|other| {
                !other.actions.is_empty()
                    && other
                        .actions
                        .iter()
                        .all(|narrow| self.actions.iter().any(|wide| crate::pattern::covers(wide, narrow)))
            })
            .count()
    }
}

/// Returns the names of the privileges that grant `action`, the narrowest first.
pub(crate) fn granting(action: &str) -> Vec<&'static str> {
    let mut found: Vec<&IndexPrivilege> =
        INDEX_PRIVILEGES.iter().filter(|privilege| privilege.grants(action)).collect();
    found.sort_by_key(|privilege| (privilege.weight(), privilege.name));
    found.into_iter().map(|privilege| privilege.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grants_an_action() {
        let check = |action: &str, expected: &[&str]| assert_eq!(granting(action), expected, "{action}");
        check("indices:data/read/search", &["read", "all"]);
        check("indices:admin/create", &["create_index", "manage", "all"]);
        check("indices:admin/delete", &["delete_index", "manage", "all"]);
        check("indices:data/write/index", &["create_doc", "create", "index", "write", "all"]);
        check("indices:data/write/delete", &["delete", "write", "all"]);
        check("indices:admin/mappings/get", &["view_index_metadata", "manage", "all"]);
        check("indices:admin/analyze_disk_usage", &["manage", "all"]);
        check("indices:admin/forcemerge", &["maintenance", "manage", "all"]);
        check("indices:monitor/stats", &["monitor", "manage", "all"]);
        check("indices:admin/auto_create", &["auto_configure", "create_index", "manage", "all"]);
    }
}
