//! One node: the catalog, its shards and its background work.
//!
//! Answers: "carry out this API call". All calls are synchronous; the REST layer runs them on bounded thread
//! pools. Each file in this folder adds the calls of one area to [`Node`].

mod by_query;
mod index;
mod kept_state;
mod life;
mod policy;
mod reading;
mod snapshots;
mod stream;
mod writing;

pub use crate::snapshot::running::RestoredIndex;
pub use by_query::{
    BatchSource, Batches, ByQueryFailure, ByQueryRequest, ByQueryResponse, Change, CopyDestination,
    CopyRouting, Slices, SourceBatch,
};
pub use index::aliases::{AliasResult, FoundAliases};
pub(crate) use index::index_files::read_index_file;
pub(crate) use index::live::{index_folder, shard_folder};
pub use index::resize::Resize;
pub use index::rollover::RolloverRequest;
pub use kept_state::main_folder::refuse_foreign;
pub(crate) use kept_state::main_folder::{open_error, require_node};
pub use kept_state::security::set_password_offline;
pub(crate) use kept_state::security_files::SecurityFiles;
pub(crate) use kept_state::state::{Newest, NodeState, Origin, STATE_FOLDER, STATE_NAME};
pub use life::background::Round;
pub use life::new_node::Stack;
pub use life::open::{Node, NodeConfig};
pub use life::segment_memory::IndexAndField;
pub use policy::lifecycle::ExplainFilter;
pub use reading::contexts::OpenPointInTime;
pub use reading::placement::Placement;
pub use reading::present_fields::PresentFields;
pub use reading::search::{DescribedQuery, SearchTarget};
pub use snapshots::{ListedSnapshot, SnapshotQuery};
