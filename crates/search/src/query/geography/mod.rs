//! Queries for points and shapes (Elasticsearch's geo queries and shape queries), and their common parts.

mod asked_shape;
pub(super) mod geo;
pub(super) mod geo_bounding_box;
pub(super) mod geo_distance;
pub(super) mod geo_grid;
pub(super) mod geo_polygon;
pub(super) mod geo_shape;
pub(super) mod shape;
