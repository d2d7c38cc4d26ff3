//! `_mvt`: hits and cells of a grid as a vector tile for maps.
//!
//! A tile is a search (`asked` makes its body, `metrics` knows the values of its aggregations) whose answer
//! is drawn (`layers`). Source: `RestVectorTileAction`, `VectorTileRequest`.

mod asked;
mod layers;
mod metrics;
mod names;
mod tile;

pub use tile::ROUTES;
