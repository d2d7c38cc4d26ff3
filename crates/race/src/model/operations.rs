//! Rally's operation types, and whether reports show them.

/// One of Rally's operation types (`esrally/track/track.py`, `OperationType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperationType {
    pub name: &'static str,
    /// Whether it is an administrative operation. Reports leave these out unless they failed or the track
    /// asks for them.
    pub admin: bool,
}

const fn measured(name: &'static str) -> OperationType {
    OperationType { name, admin: false }
}

const fn admin(name: &'static str) -> OperationType {
    OperationType { name, admin: true }
}

/// Every operation type of Rally 2.13, and `enrich-policy`, which is newer.
pub(crate) const OPERATION_TYPES: &[OperationType] = &[
    measured("index-stats"),
    measured("node-stats"),
    measured("search"),
    measured("scroll-search"),
    measured("bulk"),
    measured("raw-request"),
    measured("paginated-search"),
    measured("composite-agg"),
    measured("composite"),
    measured("submit-async-search"),
    measured("get-async-search"),
    measured("delete-async-search"),
    measured("open-point-in-time"),
    measured("close-point-in-time"),
    measured("wait-for-recovery"),
    measured("wait-for-snapshot-create"),
    measured("wait-for-current-snapshots-create"),
    measured("sql"),
    measured("field-caps"),
    measured("downsample"),
    measured("esql"),
    measured("esql-profile"),
    measured("run-until"),
    admin("force-merge"),
    admin("cluster-health"),
    admin("put-pipeline"),
    admin("refresh"),
    admin("create-index"),
    admin("delete-index"),
    admin("create-index-template"),
    admin("delete-index-template"),
    admin("create-composable-template"),
    admin("delete-composable-template"),
    admin("create-component-template"),
    admin("delete-component-template"),
    admin("put-settings"),
    admin("sleep"),
    admin("shrink-index"),
    admin("create-ml-datafeed"),
    admin("delete-ml-datafeed"),
    admin("start-ml-datafeed"),
    admin("stop-ml-datafeed"),
    admin("create-ml-job"),
    admin("delete-ml-job"),
    admin("open-ml-job"),
    admin("close-ml-job"),
    admin("delete-snapshot-repository"),
    admin("create-snapshot-repository"),
    admin("create-snapshot"),
    admin("restore-snapshot"),
    admin("create-transform"),
    admin("start-transform"),
    admin("wait-for-transform"),
    admin("delete-transform"),
    admin("transform-stats"),
    admin("create-data-stream"),
    admin("delete-data-stream"),
    admin("create-ilm-policy"),
    admin("delete-ilm-policy"),
    admin("enrich-policy"),
];

/// Returns Rally's operation type of this name, if there is one.
pub(crate) fn operation_type(name: &str) -> Option<&'static OperationType> {
    OPERATION_TYPES.iter().find(|candidate| candidate.name == name)
}
