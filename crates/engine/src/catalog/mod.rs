//! The catalog: "which indices, aliases and templates exist, and what does this name mean?"
//!
//! A [`Catalog`] is an immutable snapshot; a change makes a new one. Nothing here touches shards.

pub(crate) mod alias;
mod alias_actions;
mod components;
mod composable;
mod data_stream;
pub mod date_math;
mod merge_json;
mod metadata;
pub mod names;
mod resolve;
mod stream_overrides;
mod template;
mod template_policies;

pub use alias::Alias;
pub(crate) use alias_actions::{AliasAction, parse_actions};
pub use data_stream::DataStream;
pub(crate) use data_stream::{BACKING_PREFIX, DataStreamOptions};
pub(crate) use date_math::NameClock;
pub(crate) use merge_json::merge_mappings;
pub use metadata::{Catalog, IndexMetadata};
pub(crate) use resolve::WriteTarget;
pub(crate) use stream_overrides::StreamOptions;
pub use stream_overrides::StreamOverrides;
pub use template::Templates;
pub(crate) use template::{ResolvedTemplate, TemplateBody};
