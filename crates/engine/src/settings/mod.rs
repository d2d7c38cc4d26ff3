//! Settings: "which keys exist, what may their values be, and which of them may change on a running index or
//! cluster?"

pub(crate) mod blocks;
mod cluster;
mod definition;
mod flat;
mod index;
mod index_reader;
mod index_sort;
mod index_table;
mod mode;
mod slow_log;

pub(crate) use cluster::ALLOCATION;
pub use cluster::{ClusterSettings, FloodStage};
pub use definition::{Change, Definition, Kind, find, unknown_setting};
pub use flat::{FlatSettings, flatten, nest, normalize_index_keys};
pub use index::{Blocks, Durability, IndexSettings, LifecycleSettings, MergeSettings, SettingsUpdate};
pub(crate) use index::{check_new, defaults};
pub(crate) use index_sort::{check_index_sort, describe_sort};
pub use mode::TimeBounds;
pub(crate) use mode::{END_TIME, has_series, later_end, settle as settle_mode, start_from};
pub use slow_log::SlowLog;
