//! Names of the aggregations and fields that a tile adds to its search.

/// Names of the request's aggregations may not begin with this prefix, which the tile's own names have.
pub const OWN_PREFIX: &str = "_mvt_";
/// The aggregation that computes the centroid of the points in a cell.
pub const CENTROID: &str = "_mvt_centroid";
/// The field with the position of a label.
pub const LABEL: &str = "_mvt_label_position";
/// The aggregation of the grid.
pub const GRID: &str = "grid";
/// The aggregation of the rectangle around all hits.
pub const BOUNDS: &str = "bounds";
