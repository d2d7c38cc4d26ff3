//! "Is this an operation type of Rally's, does it show up in reports, and can it be driven here?"

/// One of Rally's operation types (`esrally/track/track.py`, `OperationType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationType {
    pub name: &'static str,
    /// Administrative operations are left out of reports unless they failed or the track asks for them.
    pub admin: bool,
    /// Whether `drive` has a runner for it.
    pub supported: bool,
}

const fn driven(name: &'static str) -> OperationType {
    OperationType { name, admin: false, supported: true }
}

const fn driven_admin(name: &'static str) -> OperationType {
    OperationType { name, admin: true, supported: true }
}

const fn known(name: &'static str) -> OperationType {
    OperationType { name, admin: false, supported: false }
}

const fn known_admin(name: &'static str) -> OperationType {
    OperationType { name, admin: true, supported: false }
}

/// Every operation type of Rally 2.13. A type moves from `known` to `driven` when it gets its runner.
const OPERATION_TYPES: &[OperationType] = &[
    driven("index-stats"),
    driven("node-stats"),
    driven("search"),
    driven("scroll-search"),
    driven("bulk"),
    driven("raw-request"),
    known("paginated-search"),
    known("composite-agg"),
    known("composite"),
    known("submit-async-search"),
    known("get-async-search"),
    known("delete-async-search"),
    known("open-point-in-time"),
    known("close-point-in-time"),
    known("wait-for-recovery"),
    known("wait-for-snapshot-create"),
    known("wait-for-current-snapshots-create"),
    known("sql"),
    known("field-caps"),
    known("downsample"),
    known("esql"),
    known("esql-profile"),
    known("run-until"),
    driven_admin("force-merge"),
    driven_admin("cluster-health"),
    driven_admin("put-pipeline"),
    driven_admin("refresh"),
    driven_admin("create-index"),
    driven_admin("delete-index"),
    driven_admin("create-index-template"),
    driven_admin("delete-index-template"),
    driven_admin("create-composable-template"),
    driven_admin("delete-composable-template"),
    driven_admin("create-component-template"),
    driven_admin("delete-component-template"),
    driven_admin("put-settings"),
    driven_admin("sleep"),
    known_admin("shrink-index"),
    known_admin("create-ml-datafeed"),
    known_admin("delete-ml-datafeed"),
    known_admin("start-ml-datafeed"),
    known_admin("stop-ml-datafeed"),
    known_admin("create-ml-job"),
    known_admin("delete-ml-job"),
    known_admin("open-ml-job"),
    known_admin("close-ml-job"),
    known_admin("delete-snapshot-repository"),
    known_admin("create-snapshot-repository"),
    known_admin("create-snapshot"),
    known_admin("restore-snapshot"),
    known_admin("create-transform"),
    known_admin("start-transform"),
    known_admin("wait-for-transform"),
    known_admin("delete-transform"),
    known_admin("transform-stats"),
    known_admin("create-data-stream"),
    known_admin("delete-data-stream"),
    known_admin("create-ilm-policy"),
    known_admin("delete-ilm-policy"),
    known_admin("enrich-policy"),
];

/// Rally's operation type of this name, if it is one.
pub fn operation_type(name: &str) -> Option<&'static OperationType> {
    OPERATION_TYPES.iter().find(|candidate| candidate.name == name)
}
