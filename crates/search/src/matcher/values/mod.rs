//! Matchers of values: columns, points, geo points, shapes, runtime fields.

pub(super) mod asked;
pub(super) mod column;
pub(super) mod places;
pub(super) mod points;
pub(super) mod runtime;
pub(super) mod shapes;
