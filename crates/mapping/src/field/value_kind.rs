//! The kind of a field's values: "how are they stored, and what may be done with them?"
//!
//! Field types are many and the set is open (`field_type`). Kinds of values are few and the set is closed, so
//! that searches, aggregations and scripts can have a kernel for each. **Invariant**: no code outside of
//! `field_type` knows which type a field has.

use std::sync::Arc;

use super::mapped::{Field, Representation};
use super::range_value::RangeKind;
use crate::date::{DateFormat, Resolution};
use crate::geo::{ShapeOptions, Surface};
use crate::number::round_to_half;

/// The kind of a field's values.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueKind {
    /// Text that an analyzer splits into terms.
    Text,
    /// A whole string, which is its own term.
    Keyword,
    /// A string that is encoded as a term which sorts like its value; the type encodes and decodes it.
    Coded,
    /// A term of 16 bytes.
    Ip,
    /// An integer, stored unchanged.
    Long(IntegerWidth),
    /// 0 to 2^64 - 1; stored by [`crate::number::sortable_from_u64`].
    UnsignedLong,
    /// Stored by [`crate::number::sortable_from_f64`].
    Double(Precision),
    /// A number times this factor, rounded.
    Scaled(f64),
    /// `true` and `false`, stored as 1 and 0.
    Bool,
    /// Milliseconds or nanoseconds since 1970.
    Date {
        /// How dates are parsed and printed.
        format: Arc<DateFormat>,
        /// The unit of the stored number.
        resolution: Resolution,
    },
    /// A geo point. The column has numbers ([`crate::geo::GeoPoint::encode`]), the index has points in Z
    /// order.
    Point,
    /// Shapes on the grid ([`crate::geo::GridShape`]). The index has the cells that they touch as points.
    Shape {
        /// `orientation`: the direction of outer rings.
        is_clockwise: bool,
    },
    /// A point of a plane. Stored like a geo point, with another encoding ([`crate::geo::encode_on_plane`]).
    CartesianPoint,
    /// Shapes of a plane. Stored like shapes on the earth, on the grid of [`Surface::Plane`].
    CartesianShape {
        /// `orientation`: the direction of outer rings.
        is_clockwise: bool,
    },
    /// Terms with two bounds ([`RangeKind::encode`]).
    Range(RangeKind),
    /// Bytes in a column; not searchable.
    Bytes,
    /// A query: its JSON and the terms by which it is found (`limber_search::percolator`). The terms are
    /// added by the code that writes the document.
    Query,
}

/// The size of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerWidth {
    /// 64 bits.
    Long,
    /// 32 bits.
    Integer,
    /// 16 bits.
    Short,
    /// 8 bits.
    Byte,
}

impl IntegerWidth {
    /// Returns the smallest and the largest number.
    #[inline]
    pub const fn limits(self) -> (i64, i64) {
        match self {
            IntegerWidth::Long => (i64::MIN, i64::MAX),
            IntegerWidth::Integer => (i32::MIN as i64, i32::MAX as i64),
            IntegerWidth::Short => (i16::MIN as i64, i16::MAX as i64),
            IntegerWidth::Byte => (i8::MIN as i64, i8::MAX as i64),
        }
    }
}

/// The precision of a floating point number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits.
    Double,
    /// 32 bits.
    Float,
    /// 16 bits (IEEE 754 binary16).
    Half,
}

/// How the stored numbers of a column are interpreted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NumberForm {
    /// Unchanged: integers, dates in their resolution, booleans as 0 and 1.
    Whole,
    /// Stored so that [`crate::number::u64_from_sortable`] reads it: 0 to 2^64 - 1.
    Unsigned,
    /// Stored so that [`crate::number::f64_from_sortable`] reads it.
    Double,
    /// Like doubles, but shown with the digits of a float.
    Float,
    /// Divided by this factor.
    Scaled(f64),
}

/// Methods of a field that depend on the kind of its values.
impl Field {
    /// Returns the form of the field's values in a segment.
    pub fn representation(&self) -> Representation {
        match self.values {
            ValueKind::Text => Representation::Text,
            ValueKind::Keyword
            | ValueKind::Coded
            | ValueKind::Ip
            | ValueKind::Range(_)
            | ValueKind::Bytes
            | ValueKind::Query => Representation::Terms,
            ValueKind::Shape { .. } | ValueKind::CartesianShape { .. } => Representation::Shape,
            _ => Representation::Number,
        }
    }

    /// Returns how a column's numbers are interpreted; `None` if it has none to calculate with, as for
    /// points.
    #[inline]
    pub fn number_form(&self) -> Option<NumberForm> {
        Some(match self.values {
            ValueKind::Long(_) | ValueKind::Bool | ValueKind::Date { .. } => NumberForm::Whole,
            ValueKind::UnsignedLong => NumberForm::Unsigned,
            ValueKind::Double(Precision::Double) => NumberForm::Double,
            ValueKind::Double(_) => NumberForm::Float,
            ValueKind::Scaled(factor) => NumberForm::Scaled(factor),
            _ => return None,
        })
    }

    /// Whether values are numbers in a column, including points.
    pub fn is_numeric(&self) -> bool {
        self.representation() == Representation::Number
    }

    /// Whether values have fractions.
    pub fn is_floating(&self) -> bool {
        matches!(self.values, ValueKind::Double(_) | ValueKind::Scaled(_))
    }

    /// Whether values are quantities: numbers that are neither dates nor booleans.
    pub fn is_quantity(&self) -> bool {
        self.number_form().is_some() && !self.is_bool() && self.date().is_none()
    }

    /// Whether values have at most 32 bits, so that missing values sort at the limits of 32 bits.
    pub fn is_narrow(&self) -> bool {
        matches!(self.values, ValueKind::Long(width) if width != IntegerWidth::Long)
    }

    /// Whether values are `true` and `false`.
    pub fn is_bool(&self) -> bool {
        self.values == ValueKind::Bool
    }

    /// Whether values are addresses.
    pub fn is_ip(&self) -> bool {
        self.values == ValueKind::Ip
    }

    /// Whether values are geo points (`geo_point`).
    pub fn is_point(&self) -> bool {
        self.values == ValueKind::Point
    }

    /// Whether values are shapes (`geo_shape`).
    pub fn is_shape(&self) -> bool {
        matches!(self.values, ValueKind::Shape { .. })
    }

    /// Whether values are points of a plane (`point`).
    pub fn is_cartesian_point(&self) -> bool {
        self.values == ValueKind::CartesianPoint
    }

    /// Whether values are shapes of a plane (`shape`).
    pub fn is_cartesian_shape(&self) -> bool {
        matches!(self.values, ValueKind::CartesianShape { .. })
    }

    /// Whether values are shapes, on the earth or on a plane.
    pub fn has_shapes(&self) -> bool {
        self.representation() == Representation::Shape
    }

    /// Returns the surface on which its points or shapes lie.
    pub fn surface(&self) -> Surface {
        match self.values {
            ValueKind::CartesianPoint | ValueKind::CartesianShape { .. } => Surface::Plane,
            _ => Surface::Globe,
        }
    }

    /// Whether values are queries, which a `percolate` query matches.
    pub fn has_queries(&self) -> bool {
        self.values == ValueKind::Query
    }

    /// Whether an analyzer splits its values into terms.
    pub fn is_analyzed(&self) -> bool {
        self.values == ValueKind::Text
    }

    /// Whether terms are strings, so that string queries and patterns can be applied directly.
    pub fn has_texts(&self) -> bool {
        matches!(self.values, ValueKind::Text | ValueKind::Keyword)
    }

    /// Whether patterns (`prefix`, `wildcard`, `regexp`) can be matched with its terms or with their decoded
    /// form.
    pub fn has_patterns(&self) -> bool {
        self.has_texts() || self.values == ValueKind::Coded
    }

    /// Whether a pattern is matched with the decoded form of a term ([`Field::decode_term`]) instead of the
    /// term itself.
    pub fn has_coded_terms(&self) -> bool {
        self.values == ValueKind::Coded
    }

    /// Whether terms are human-readable keys: strings and addresses.
    pub fn has_keys(&self) -> bool {
        self.has_texts() || self.is_ip()
    }

    /// Whether a segment has term statistics, so that a match is scored by how rare the term is.
    pub fn scores_by_frequency(&self) -> bool {
        self.has_texts() && !self.is_wildcard && self.flattened.is_none() && self.runtime.is_none()
    }

    /// Returns the format and the resolution of a date field.
    pub fn date(&self) -> Option<(&Arc<DateFormat>, Resolution)> {
        match &self.values {
            ValueKind::Date { format, resolution } => Some((format, *resolution)),
            _ => None,
        }
    }

    /// Returns the unit of stored dates; milliseconds if the field is not a date.
    pub fn resolution(&self) -> Resolution {
        self.date().map_or(Resolution::Millis, |(_, resolution)| resolution)
    }

    /// Returns the type of a range field's bounds.
    pub fn range_kind(&self) -> Option<&RangeKind> {
        match &self.values {
            ValueKind::Range(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether a segment orders its points by location instead of by value.
    pub fn is_spatial(&self) -> bool {
        self.index && (self.is_point() || self.is_cartesian_point())
    }

    /// Returns how its shapes are parsed. Circles get radius 0, because no field accepts them.
    pub fn shape_options(&self) -> ShapeOptions<'static> {
        ShapeOptions {
            surface: self.surface(),
            coerce: self.coerce,
            ignore_z: self.ignore_z,
            is_clockwise: matches!(
                self.values,
                ValueKind::Shape { is_clockwise: true } | ValueKind::CartesianShape { is_clockwise: true }
            ),
            parse_length: &|_| Ok(0.0),
        }
    }

    /// Rounds a number to the field's precision.
    pub fn round(&self, value: f64) -> f64 {
        match self.values {
            ValueKind::Double(Precision::Float) => f64::from(value as f32),
            ValueKind::Double(Precision::Half) => f64::from(round_to_half(value as f32)),
            _ => value,
        }
    }
}
