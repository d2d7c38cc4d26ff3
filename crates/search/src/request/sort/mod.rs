//! `sort` of a request: keys by fields, scripts and distances, and the nested documents that provide the
//! values.

mod geo;
mod key;
mod nested;

pub(crate) use geo::GeoSort;
pub(crate) use key::SHARD_DOC;
pub use key::{Missing, NumericType, Order, ScriptSort, Sort};
pub(crate) use nested::NestedSort;
