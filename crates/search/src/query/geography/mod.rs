//! Queries for geo points and shapes (Elasticsearch's geo queries), and their common parts.

pub(super) mod geo;
pub(super) mod geo_bounding_box;
pub(super) mod geo_distance;
pub(super) mod geo_grid;
pub(super) mod geo_polygon;
pub(super) mod geo_shape;
