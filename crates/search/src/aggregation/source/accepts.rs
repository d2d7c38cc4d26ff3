//! Which kinds of fields an aggregation accepts.

use limber_mapping::Field;
use limber_mapping::geo::Surface;

/// Which kinds of fields an aggregation accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    Anything,
    /// Fields whose values have an order: any except points and shapes.
    Keys,
    Numbers,
    /// Numbers except booleans; an unmapped field counts as a date.
    Dates,
    /// Numbers except dates and booleans.
    Quantities,
    Addresses,
    /// Geo points.
    Places,
    /// Points of a plane.
    CartesianPlaces,
    Terms,
}

impl Accepts {
    /// Whether it accepts the values of a field.
    pub fn allows(self, field: &Field) -> bool {
        match self {
            Accepts::Anything => true,
            Accepts::Keys => !(field.is_point() || field.is_cartesian_point()),
            Accepts::Places => field.is_point(),
            Accepts::CartesianPlaces => field.is_cartesian_point(),
            Accepts::Numbers => field.number_form().is_some(),
            Accepts::Dates => field.number_form().is_some() && !field.is_bool(),
            Accepts::Quantities => field.is_quantity(),
            Accepts::Addresses => field.is_ip(),
            Accepts::Terms => field.has_keys(),
        }
    }

    /// Returns the surface of the points of a field, or of the points that an unmapped field would have.
    pub(super) fn surface_of(self, field: Option<&Field>) -> Option<Surface> {
        match (field, self) {
            (None, Accepts::Places) => Some(Surface::Globe),
            (None, Accepts::CartesianPlaces) => Some(Surface::Plane),
            (Some(field), _) if field.is_point() || field.is_cartesian_point() => Some(field.surface()),
            _ => None,
        }
    }
}
