//! `integer_range`, `long_range`, `float_range`, `double_range`, `date_range` and `ip_range`. Source:
//! Elasticsearch's `RangeFieldMapper`.

use super::date::format_of;
use super::floating::Floating;
use super::integer::Whole;
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    COERCE, Check, DOC_VALUES, DateContext, Field, FieldType, INDEX, IntegerWidth, KEEP, KeptIn, LOCALE,
    Leaf, META, Param, Precision, RangeEnd, RangeKind, RangeRelation, Reads, STORE, Selection, Update,
    ValueKind, Wanted, param,
};

/// The type of a range's bounds.
#[derive(Debug, Clone, Copy)]
pub(super) enum RangeType {
    Integer,
    Long,
    Float,
    Double,
    Date,
    Ip,
}

#[derive(Debug)]
pub(super) struct Ranges(pub RangeType);

static DATE_PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    COERCE,
    param("format", Check::DateFormat, Update::Never, "\"strict_date_optional_time||epoch_millis\""),
    LOCALE,
    META,
    KEEP,
];

impl FieldType for Ranges {
    fn name(&self) -> &'static str {
        match self.0 {
            RangeType::Integer => "integer_range",
            RangeType::Long => "long_range",
            RangeType::Float => "float_range",
            RangeType::Double => "double_range",
            RangeType::Date => "date_range",
            RangeType::Ip => "ip_range",
        }
    }

    fn params(&self) -> &'static [Param] {
        match self.0 {
            RangeType::Date => DATE_PARAMS,
            _ => &[INDEX, DOC_VALUES, STORE, COERCE, META, KEEP],
        }
    }

    fn values(&self, leaf: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Range(match self.0 {
            RangeType::Integer => RangeKind::Integer,
            RangeType::Long => RangeKind::Long,
            RangeType::Float => RangeKind::Float,
            RangeType::Double => RangeKind::Double,
            RangeType::Date => RangeKind::Date { format: format_of(leaf)? },
            RangeType::Ip => RangeKind::Ip,
        }))
    }

    fn reads(&self) -> Reads {
        Reads::Ranges
    }

    fn ends(&self) -> Option<&'static dyn FieldType> {
        match self.0 {
            RangeType::Integer => Some(&Whole(IntegerWidth::Integer)),
            RangeType::Long => Some(&Whole(IntegerWidth::Long)),
            RangeType::Float => Some(&Floating(Precision::Float)),
            RangeType::Double => Some(&Floating(Precision::Double)),
            RangeType::Date | RangeType::Ip => None,
        }
    }

    /// A column stores both bounds as inclusive, however they were given.
    fn kept_in(&self, field: &Field) -> KeptIn {
        if field.doc_values { KeptIn::Shown } else { KeptIn::Nothing }
    }

    fn select_term(
        &self,
        field: &Field,
        wanted: &Wanted<'_>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let end = RangeEnd { value: wanted.value, inclusive: true };
        self.select_range(field, Some(end), Some(end), context)
    }

    fn select_range(
        &self,
        field: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let wanted = field.select_ranges(lower, upper, RangeRelation::Intersects, context)?;
        Ok(wanted.map_or(Selection::Nothing, Selection::Ranges))
    }

    fn shown_by(&self, field: &Field, pattern: &str) -> Result<DateFormat, RequestError> {
        match self.0 {
            RangeType::Date => match &field.values {
                ValueKind::Range(RangeKind::Date { format }) => format.with_list(pattern),
                _ => DateFormat::parse_list(pattern),
            },
            _ => Err(field.without_formats()),
        }
    }

    fn check_sortable(&self, field: &Field) -> Result<(), RequestError> {
        Err(RequestError::illegal_argument(format!(
            "Sorting by range field [{}] is not supported",
            field.path
        )))
    }
}
