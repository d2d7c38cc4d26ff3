//! One node: the catalog, its shards and everything that runs beside them.
//!
//! Question answered: "carry out this API call". All calls are synchronous; the edge runs them on bounded pools. Each file of
//! this folder adds the calls of one area to [`Node`].

mod alias_filters;
mod aliases;
mod async_search;
mod background;
mod blocks;
mod bulk;
mod bulk_step;
mod bulk_target;
mod by_query;
mod changes;
mod cluster;
mod contexts;
mod create_from;
mod create_index;
mod dangling;
mod data_stream_changes;
mod data_stream_migration;
mod data_streams;
mod disk_usage;
mod documents;
mod enrich;
mod health;
mod index_files;
mod index_state;
mod indices;
mod ingest;
mod kept;
mod lifecycle;
mod lifecycle_round;
mod lifecycle_steps;
mod live;
mod name_locks;
mod named_documents;
mod new_node;
mod open;
mod placement;
mod query_rules;
mod recover;
mod request_work;
mod reroute;
mod resize;
mod rollover;
mod scripts;
mod scrub;
mod search;
mod search_pipelines;
mod security;
mod segment_memory;
mod shard_recovery;
mod simulate_ingest;
mod snapshots;
mod state;
mod state_file;
mod stats;
mod stream_aliases;
mod stream_lifecycles;
mod synonyms;
mod templates;
mod term_vectors;
mod transform_run;
mod transforms;
mod trial;
mod update;
mod upkeep;

pub use crate::snapshot::running::RestoredIndex;
pub use aliases::FoundAliases;
pub use background::Round;
pub use by_query::{
    BatchSource, Batches, ByQueryFailure, ByQueryRequest, ByQueryResponse, Change, CopyDestination,
    CopyRouting, Slices, SourceBatch,
};
pub use contexts::OpenPointInTime;
pub(crate) use index_files::read_index_file;
pub use lifecycle::ExplainFilter;
pub(crate) use live::{index_folder, shard_folder};
pub use new_node::Stack;
pub use open::{Node, NodeConfig};
pub use placement::Placement;
pub use resize::Resize;
pub use rollover::RolloverRequest;
pub use search::{DescribedQuery, SearchTarget};
pub use security::set_password_offline;
pub use segment_memory::IndexAndField;
pub use snapshots::{ListedSnapshot, SnapshotQuery};
pub(crate) use state::{Newest, NodeState, Origin, STATE_FOLDER, STATE_NAME};
