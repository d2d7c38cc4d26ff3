//! Vector tiles: "what does a shape look like on one tile of the web's maps, and which bytes say so?"
//!
//! A shape goes through `frame` (degrees to pixels of the tile), `clip` (what lies on the tile) and `outline`
//! (simplified, as commands); `layer` writes outlines and their properties as Mapbox's format has them.
//!
//! Sources: Mapbox' vector tile specification 2.1; Elasticsearch's `FeatureFactory`, `SimpleFeatureFactory`
//! and `GridAggregation`.

mod cell;
mod clip;
mod frame;
mod layer;
mod outline;

pub use cell::MapCell;
pub use frame::Frame;
pub use layer::{Layer, Property, Tags};
pub use outline::Outline;
