//! The names that a tile's search gives to what is its own.

/// Aggregations of the request may not be named like the tile's own.
pub const OWN_PREFIX: &str = "_mvt_";
/// The point that stands for all places of a cell.
pub const CENTROID: &str = "_mvt_centroid";
/// The field with the place of a label.
pub const LABEL: &str = "_mvt_label_position";
/// The aggregation of the grid.
pub const GRID: &str = "grid";
/// The aggregation of the rectangle around all hits.
pub const BOUNDS: &str = "bounds";
