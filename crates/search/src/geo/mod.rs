//! Distances and shapes on the earth and on a plane: "is this point in that shape, and how far away is it?"

mod grid;
mod plane_circle;
mod polygon;
mod regular_polygon;
mod shape;
mod shape_cells;
mod target;
mod target_part;
mod validation;
mod vector_tile;

pub(crate) use grid::{Grid, TileRows};
pub(crate) use grid::{GridCell, Hexagon, cell_touches, geohash_chars_of, tile_of};
pub use grid::{MERCATOR_LATITUDE_MAX, ZOOM_MAX};
pub(crate) use polygon::Polygon;
pub use regular_polygon::{polygon_on_earth, polygon_on_plane, read_any_shape};
pub(crate) use shape::{Circle, HexagonShape, Relation, Ring, Shape, check_within, degrees};
pub(crate) use shape_cells::cells_of_shape;
pub(crate) use target::{ShapeRelation, Target};
pub(crate) use validation::Validation;
pub use vector_tile::{Frame, Layer, MapCell, Outline, Property, Tags};
