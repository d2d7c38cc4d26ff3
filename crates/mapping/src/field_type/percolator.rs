//! `percolator`: stored queries that are searched with documents. Source: Elasticsearch's
//! `PercolatorFieldMapper`.

use crate::RequestError;
use crate::field::{
    DateContext, Field, FieldType, KEEP, KeptIn, Leaf, Location, META, Param, RangeEnd, Reads, Selection,
    ValueKind, Wanted,
};

#[derive(Debug)]
pub(super) struct Percolator;

impl FieldType for Percolator {
    fn name(&self) -> &'static str {
        "percolator"
    }

    fn params(&self) -> &'static [Param] {
        &[META, KEEP]
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Query)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        (field.index, field.doc_values) = (true, true);
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        place.refuse_copies(leaf)
    }

    fn reads(&self) -> Reads {
        Reads::Query
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Nothing
    }

    fn select_term(&self, _: &Field, _: &Wanted<'_>, _: &DateContext<'_>) -> Result<Selection, RequestError> {
        Err(not_searchable())
    }

    fn select_range(
        &self,
        _: &Field,
        _: Option<RangeEnd<'_>>,
        _: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Err(not_searchable())
    }

    fn check_sortable(&self, field: &Field) -> Result<(), RequestError> {
        Err(RequestError::illegal_argument(format!(
            "Fielddata is not supported on field [{}] of type [percolator]",
            field.path
        )))
    }

    fn is_searchable(&self, _: &Field) -> bool {
        false
    }

    fn is_aggregatable(&self, _: &Field, _: bool) -> bool {
        false
    }
}

fn not_searchable() -> RequestError {
    RequestError::illegal_argument(
        "Percolator fields are not searchable directly, use a percolate query instead",
    )
}
