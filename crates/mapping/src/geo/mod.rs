//! Points and shapes on the earth and on a plane: "what does this JSON value mean, and how is it encoded?"

mod arc;
mod date_line;
mod distance;
mod geohash;
mod geojson;
mod geometry;
mod grid_cover;
mod grid_edges;
mod grid_shape;
mod grid_simple;
mod grid_tree;
mod point;
mod read;
mod render;
mod surface;
mod wkt;

pub use arc::{ArcFrom, EARTH_RADIUS_METERS, key_of_meters};
pub use date_line::{goes_over_date_line, steps_turned_to, turned_to};
pub use distance::{DistanceKind, Unit, parse_distance};
pub use geohash::{GEOHASH_CHARS_MAX, geohash_at, geohash_bounds, geohash_text};
pub use geojson::{GivenShape, ShapeOptions, parse_orientation, read_shape};
pub use geometry::{Geometry, Position, Rectangle};
pub use grid_cover::{ShapeCell, cells_of};
pub use grid_edges::{GridBounds, GridEdges, GridPoint, Meeting, Side, edges_of_line, is_on};
pub use grid_shape::{GRID_TURN, GridShape, Part, PartKind};
pub use grid_simple::check_simple;
pub use grid_tree::{GridTree, sort_by_place};
pub use point::{GeoPoint, decode_latitude, decode_longitude, encode_latitude, encode_longitude};
pub use read::read;
pub use read::{ReadOptions, parse_point, parse_points, parse_positions, read_position};
pub use surface::{Surface, check_corner, decode_on_plane, encode_on_plane};
pub use wkt::{WktOptions, geometry_from_wkt, geometry_from_wkt_on};
