//! Places and shapes on the earth: "what does this JSON value name, and which number holds it?"

mod geohash;
mod geojson;
mod geometry;
mod point;
mod read;
mod wkt;

pub use geohash::{GEOHASH_CHARS_MAX, geohash_bounds, geohash_text};
pub use geojson::{GivenShape, read_shape};
pub use geometry::{Geometry, Position, Rectangle};
pub use point::{GeoPoint, decode_latitude, decode_longitude, encode_latitude, encode_longitude};
pub use read::read;
pub use read::{ReadOptions, parse_point, parse_points};
pub use wkt::{WktOptions, geometry_from_wkt};
