//! What the values of a field are: "how are they kept, and what may be asked of them?"
//!
//! Field types are many and open (`field_type`); kinds of values are few and closed, so that searches,
//! aggregations and scripts can have a kernel for each. **Invariant**: nobody outside of `field_type` knows
//! which type a field has.

use std::sync::Arc;

use super::mapped::{Field, Representation};
use super::range_value::RangeKind;
use crate::date::{DateFormat, Resolution};
use crate::geo::ShapeOptions;
use crate::number::round_to_half;

/// What one value of a field is.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueKind {
    /// Text that an analyzer cuts into terms.
    Text,
    /// A whole text, which is its own term.
    Keyword,
    /// A text whose term is a form of it that sorts as its values do; the type reads and shows it.
    Coded,
    /// A term of 16 bytes.
    Ip,
    /// A whole number, stored as it is.
    Long(IntegerWidth),
    /// 0 to 2^64 - 1; stored by [`crate::number::sortable_from_u64`].
    UnsignedLong,
    /// Stored by [`crate::number::sortable_from_f64`].
    Double(Precision),
    /// A number times this factor, rounded.
    Scaled(f64),
    /// `true` and `false`, stored as 1 and 0.
    Bool,
    /// Milliseconds, or nanoseconds, since 1970.
    Date {
        /// How texts are read and values are shown.
        format: Arc<DateFormat>,
        /// Unit of the stored number.
        resolution: Resolution,
    },
    /// A place on the map; number column of [`crate::geo::GeoPoint::encode`], points in Z order.
    Point,
    /// Shapes on the grid ([`crate::geo::GridShape`]); cells that they touch as points.
    Shape {
        /// `orientation`: how outer rings run.
        is_clockwise: bool,
    },
    /// Terms of two ends ([`RangeKind::encode`]).
    Range(RangeKind),
    /// Bytes in the column alone; nothing searches them.
    Bytes,
    /// A query: what finds it (`limber_search::percolator`) and its JSON as terms, which whoever writes a
    /// document adds.
    Query,
}

/// How large a whole number can be.
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
    /// The least and the greatest number.
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

/// How exact a double is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits.
    Double,
    /// 32 bits.
    Float,
    /// 16 bits (IEEE 754 binary16).
    Half,
}

/// How a column's numbers are read as numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NumberForm {
    /// As they are: whole numbers, dates in their resolution, truth values as 0 and 1.
    Whole,
    /// By [`crate::number::u64_from_sortable`]: 0 to 2^64 - 1.
    Unsigned,
    /// By [`crate::number::f64_from_sortable`].
    Double,
    /// As doubles, which are shown with the digits of a float.
    Float,
    /// Divided by this factor.
    Scaled(f64),
}

/// The questions that searches ask of a field.
impl Field {
    /// What the field's values become in a segment.
    pub fn representation(&self) -> Representation {
        match self.values {
            ValueKind::Text => Representation::Text,
            ValueKind::Keyword
            | ValueKind::Coded
            | ValueKind::Ip
            | ValueKind::Range(_)
            | ValueKind::Bytes
            | ValueKind::Query => Representation::Terms,
            ValueKind::Shape { .. } => Representation::Shape,
            _ => Representation::Number,
        }
    }

    /// How a column's numbers are read; `None` where it holds none that can be reckoned with, as places
    /// cannot.
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

    /// Whether values are numbers in a column, places included.
    pub fn is_numeric(&self) -> bool {
        self.representation() == Representation::Number
    }

    /// Whether values have fractions.
    pub fn is_floating(&self) -> bool {
        matches!(self.values, ValueKind::Double(_) | ValueKind::Scaled(_))
    }

    /// Whether values are numbers of something: neither dates nor truth values.
    pub fn is_quantity(&self) -> bool {
        self.number_form().is_some() && !self.is_bool() && self.date().is_none()
    }

    /// Whether values have at most 32 bits, so that the extremes of a sort are those of 32 bits.
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

    /// Whether values are places (`geo_point`).
    pub fn is_point(&self) -> bool {
        self.values == ValueKind::Point
    }

    /// Whether values are shapes (`geo_shape`).
    pub fn is_shape(&self) -> bool {
        matches!(self.values, ValueKind::Shape { .. })
    }

    /// Whether values are queries, which a `percolate` query asks for.
    pub fn has_queries(&self) -> bool {
        self.values == ValueKind::Query
    }

    /// Whether an analyzer cuts its values into terms.
    pub fn is_analyzed(&self) -> bool {
        self.values == ValueKind::Text
    }

    /// Whether terms are texts, so that queries of texts and patterns work on them as they are.
    pub fn has_texts(&self) -> bool {
        matches!(self.values, ValueKind::Text | ValueKind::Keyword)
    }

    /// Whether patterns (`prefix`, `wildcard`, `regexp`) are held against its terms, or against what those
    /// stand for.
    pub fn has_patterns(&self) -> bool {
        self.has_texts() || self.values == ValueKind::Coded
    }

    /// Whether a pattern is held against what a term stands for ([`Field::decode_term`]) and not against the
    /// term.
    pub fn has_coded_terms(&self) -> bool {
        self.values == ValueKind::Coded
    }

    /// Whether terms are single keys that people read: texts and addresses.
    pub fn has_keys(&self) -> bool {
        self.has_texts() || self.is_ip()
    }

    /// Whether a segment counts the texts' terms, so that a match is scored by how rare it is.
    pub fn scores_by_frequency(&self) -> bool {
        self.has_texts() && !self.is_wildcard && self.flattened.is_none() && self.runtime.is_none()
    }

    /// Format and resolution of a date.
    pub fn date(&self) -> Option<(&Arc<DateFormat>, Resolution)> {
        match &self.values {
            ValueKind::Date { format, resolution } => Some((format, *resolution)),
            _ => None,
        }
    }

    /// What its stored dates count; milliseconds where it is not a date.
    pub fn resolution(&self) -> Resolution {
        self.date().map_or(Resolution::Millis, |(_, resolution)| resolution)
    }

    /// What the ends of a field's ranges are.
    pub fn range_kind(&self) -> Option<&RangeKind> {
        match &self.values {
            ValueKind::Range(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether a segment writes its points by place instead of by value.
    pub fn is_spatial(&self) -> bool {
        self.index && self.is_point()
    }

    /// How its shapes are read. Circles have no radius: no field takes them.
    pub fn shape_options(&self) -> ShapeOptions<'static> {
        ShapeOptions {
            coerce: self.coerce,
            ignore_z: self.ignore_z,
            is_clockwise: self.values == ValueKind::Shape { is_clockwise: true },
            parse_length: &|_| Ok(0.0),
        }
    }

    /// A number as the field would hold it.
    pub fn round(&self, value: f64) -> f64 {
        match self.values {
            ValueKind::Double(Precision::Float) => f64::from(value as f32),
            ValueKind::Double(Precision::Half) => f64::from(round_to_half(value as f32)),
            _ => value,
        }
    }
}
