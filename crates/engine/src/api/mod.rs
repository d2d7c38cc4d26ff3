//! Request and response types of [`Node`](crate::Node), without behaviour.
//!
//! Every call fails with a [`RequestError`], which the caller renders as it is.

mod documents;
mod health;
mod indices;
mod options;
mod stats_request;

pub(crate) use documents::fault_of_id;
pub use documents::{
    BulkItem, BulkOperation, BulkRequest, BulkResponse, FoundDocument, GetRequest, GetResponse, ItemId,
    OperationKind, RefreshPolicy, UPDATE_MEMBERS, WriteOutcome, WriteResponse, WriteResult,
};
pub use health::{HealthRequest, HealthResponse, HealthStatus, IndexHealth, ShardHealth};
pub use indices::{
    ActiveCopies, BroadcastResponse, CreateIndexResponse, ForceMergeRequest, IndexInfo, ResolvedIndex,
    ShardFailure,
};
use limber_mapping::RequestError;
pub use limber_search::VersionType;
pub use limber_segment::WriteIdentity;
pub use options::IndicesOptions;
pub use stats_request::{STATS_SECTIONS, StatsLevel, StatsRequest};

/// What the node's calls return. The error is Elasticsearch's, ready to be rendered.
pub type Result<T> = std::result::Result<T, RequestError>;
