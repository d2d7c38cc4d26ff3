//! How a field type describes itself: everything that depends on the type, and nothing that does not.

use std::fmt::Debug;

use serde_json::{Map, Value, json};

use super::declaration::Leaf;
use super::mapped::Field;
use super::params::Param;
use super::query::{DateContext, RangeEnd, Selection, Wanted};
use super::scalar::{Cause, OwnedScalar, Reads, Scalar, Typed};
use super::show::scalar_text;
use super::value_kind::ValueKind;
use crate::RequestError;
use crate::date::DateFormat;
use crate::json::java::java_text;

/// One type of Elasticsearch's mappings.
///
/// A type is one file of `field_type` and one line of its table. What it does not say is as in the type that
/// it is like, or else as the defaults here have it. Hot paths do not come here: documents are read by
/// [`FieldType::reads`], columns by the field's [`ValueKind`].
pub(crate) trait FieldType: Debug + Send + Sync {
    /// Elasticsearch's name.
    fn name(&self) -> &'static str;

    /// The name in errors, where that of the type whose searches it has stands for it.
    fn searched_as(&self) -> &'static str {
        self.name()
    }

    /// The name under which `_field_caps` counts it together with types that are searched alike.
    fn family(&self) -> &'static str {
        self.searched_as()
    }

    /// The parameters, in the order in which `GET _mapping` prints them.
    fn params(&self) -> &'static [Param];

    /// The type whose values it has: that one reads, searches and shows what this one says nothing of. Only a
    /// type that is like none has to say all of it.
    fn like(&self) -> Option<&'static dyn FieldType> {
        None
    }

    /// Which values a field has that is declared so.
    ///
    /// # Errors
    /// Formats of dates that are none.
    fn values(&self, leaf: &Leaf) -> Result<ValueKind, RequestError> {
        match self.like() {
            Some(like) => like.values(leaf),
            None => Ok(ValueKind::Bytes),
        }
    }

    /// Changes what is otherwise taken from the parameters of the usual names.
    fn finish(&self, _leaf: &Leaf, _field: &mut Field) {}

    // Declarations.

    /// What a declaration must fulfil that no parameter tells alone.
    fn check(&self, _leaf: &Leaf, _place: &Place<'_>) -> Result<(), RequestError> {
        Ok(())
    }

    /// Parameters that `GET _mapping` prints whether they were given or not.
    fn always_shown(&self) -> &'static [&'static str] {
        &[]
    }

    /// Why a parameter is refused that the type does not have, where there is more to say than that it is
    /// unknown.
    fn refused_parameter(
        &self,
        _name: &str,
        _last: &str,
        _body: &Map<String, Value>,
    ) -> Option<RequestError> {
        None
    }

    /// A scalar `null_value` in normal form.
    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        match self.like() {
            Some(like) => like.null_value(value),
            None => Ok(java_text(value).into()),
        }
    }

    /// What documents say that say null; as a value would be said.
    fn null(&self, null: &Value) -> OwnedScalar {
        OwnedScalar::from_json(null)
    }

    /// Whether a field may be a dimension of time series.
    fn dimension(&self) -> Dimension {
        Dimension::Unsupported
    }

    /// Whether a script may make its values when documents are written, given that the type has the
    /// parameter.
    fn takes_script(&self) -> bool {
        true
    }

    /// The parameters that it has as a runtime field; `None` where it cannot be one.
    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// The type of the keys beside its own values (`flattened`).
    fn keys(&self) -> Option<&'static dyn FieldType> {
        None
    }

    /// The fields that a field has beside itself, by the ends of their names, fed with the same values.
    fn parts(&self, _leaf: &Leaf) -> Vec<(String, Leaf)> {
        Vec::new()
    }

    // Documents.

    /// How its values are read from a document.
    fn reads(&self) -> Reads {
        self.like().map_or(Reads::Scalar, |like| like.reads())
    }

    /// What a scalar of a document is; asked where [`FieldType::reads`] knows no quick way.
    ///
    /// # Errors
    /// The cause that the document's error is wrapped around.
    fn read<'a>(
        &self,
        field: &Field,
        scalar: Scalar<'a>,
        buffer: &'a mut [u8; 16],
    ) -> Result<Typed<'a>, Cause> {
        match self.like() {
            Some(like) => like.read(field, scalar, buffer),
            None => Ok(Typed::Nothing),
        }
    }

    /// The type by which the ends of its ranges are read, where those are numbers.
    fn ends(&self) -> Option<&'static dyn FieldType> {
        None
    }

    /// What gives values back where an index keeps no source.
    fn kept_in(&self, field: &Field) -> KeptIn {
        match self.like() {
            Some(like) => like.kept_in(field),
            None if field.doc_values => KeptIn::Column,
            None => KeptIn::Nothing,
        }
    }

    // Queries.

    /// What a `term` query with this value selects.
    fn select_term(
        &self,
        field: &Field,
        wanted: &Wanted<'_>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        match self.like() {
            Some(like) => like.select_term(field, wanted, context),
            None => Err(not_searchable(field)),
        }
    }

    /// What a `range` query with these ends selects; none of them is null.
    fn select_range(
        &self,
        field: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        match self.like() {
            Some(like) => like.select_range(field, lower, upper, context),
            None => Err(RequestError::illegal_argument(format!(
                "Field [{}] of type [{}] does not support range queries",
                field.path,
                field.type_name()
            ))),
        }
    }

    /// The term of a whole text.
    fn encode_term(&self, text: &str) -> Result<Vec<u8>, RequestError> {
        match self.like() {
            Some(like) => like.encode_term(text),
            None => Ok(text.as_bytes().to_vec()),
        }
    }

    /// A term as text.
    fn decode_term(&self, term: &[u8]) -> String {
        match self.like() {
            Some(like) => like.decode_term(term),
            None => String::from_utf8_lossy(term).into_owned(),
        }
    }

    /// A source's value as `fields` shows it; `None` where it is passed over.
    fn show_source(&self, field: &Field, text: String, format: Option<&DateFormat>) -> Option<Value> {
        self.like()?.show_source(field, text, format)
    }

    /// What `fields` shows for a null of the source.
    fn show_null(&self, field: &Field, null: &Value, format: Option<&DateFormat>) -> Option<Value> {
        self.show_source(field, scalar_text(null)?, format)
    }

    /// What a `format` of `fields` and `docvalue_fields` means.
    fn shown_by(&self, field: &Field, pattern: &str) -> Result<DateFormat, RequestError> {
        match self.like() {
            Some(like) => like.shown_by(field, pattern),
            None => Err(RequestError::unsupported(format_args!("[format] on field [{}]", field.path))),
        }
    }

    /// Refuses `exists` queries.
    fn check_exists(&self, _field: &Field) -> Result<(), RequestError> {
        Ok(())
    }

    // Columns.

    /// Refuses whatever asks for a column, where there is more to say than that there is none.
    fn check_column(&self, _field: &Field) -> Result<(), RequestError> {
        Ok(())
    }

    /// Refuses sorts (and aggregations by keys) over a column that has no order of its own.
    fn check_sortable(&self, _field: &Field) -> Result<(), RequestError> {
        Ok(())
    }

    /// Whether an index can be sorted by it (`index.sort.field`).
    fn sorts_indices(&self) -> bool {
        false
    }

    /// Whether hits can be collapsed by it.
    fn collapses(&self) -> bool {
        false
    }

    // Field capabilities.

    fn is_searchable(&self, field: &Field) -> bool {
        self.like().map_or(field.index || field.doc_values, |like| like.is_searchable(field))
    }

    /// `has_fielddata`: the parameter `fielddata` is true.
    fn is_aggregatable(&self, field: &Field, has_fielddata: bool) -> bool {
        self.like().map_or(field.doc_values, |like| like.is_aggregatable(field, has_fielddata))
    }
}

fn not_searchable(field: &Field) -> RequestError {
    RequestError::illegal_argument(format!(
        "Field [{}] of type [{}] does not support searching",
        field.path,
        field.type_name()
    ))
}

impl dyn FieldType + '_ {
    /// The parameter of this name.
    pub(crate) fn param(&self, name: &str) -> Option<&'static Param> {
        self.params().iter().find(|param| param.name == name)
    }

    /// The parameter's default, else null.
    pub(crate) fn default_of(&self, name: &str) -> Value {
        match self.param(name).map_or("", |param| param.default) {
            "" => Value::Null,
            "true" => json!(true),
            "false" => json!(false),
            text => serde_json::from_str(text).unwrap_or(Value::Null),
        }
    }
}

/// Where a declaration stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Full dotted path.
    pub path: &'a str,
    pub is_multi_field: bool,
}

impl Place<'_> {
    /// The last name of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// Refuses the multi-fields and copies of a type whose values are no texts.
    pub fn refuse_copies(&self, leaf: &Leaf) -> Result<(), RequestError> {
        match leaf.fields.is_empty() && leaf.copy_to.is_empty() {
            true => Ok(()),
            false => Err(RequestError::unsupported(format!(
                "[fields] and [copy_to] on field [{}] of type [{}]",
                self.path,
                leaf.kind.name()
            ))),
        }
    }
}

/// Whether a type can be a dimension of time series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    Allowed,
    /// Numbers with fractions, which Elasticsearch refuses.
    Fractional,
    Unsupported,
}

/// What gives a field's values back where an index keeps no source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptIn {
    /// Its own column.
    Column,
    /// The column of a keyword among its multi-fields.
    Keyword,
    /// Nothing, but values come back sorted and without repeats, as from a column of bytes.
    Sorted,
    Nothing,
}

/// The questions that others ask of a field's type.
impl Field {
    /// Elasticsearch's name of its type, as searches call it.
    pub fn type_name(&self) -> &'static str {
        self.of.searched_as()
    }

    /// The name under which `_field_caps` counts its type.
    pub fn family_name(&self) -> &'static str {
        self.of.family()
    }

    /// Refuses whatever asks for a column of a type that never has one.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn check_column(&self) -> Result<(), RequestError> {
        self.of.check_column(self)
    }

    /// Refuses `exists` queries.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn check_exists(&self) -> Result<(), RequestError> {
        self.of.check_exists(self)
    }

    /// Refuses sorts and aggregations by key over fields whose column has no order of its own.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn check_sortable(&self) -> Result<(), RequestError> {
        self.of.check_sortable(self)
    }

    /// Whether an index can be sorted by it (`index.sort.field`).
    pub fn sorts_indices(&self) -> bool {
        self.of.sorts_indices()
    }

    /// Whether hits can be collapsed by it.
    pub fn collapses(&self) -> bool {
        self.of.collapses()
    }

    /// What `_field_caps` says of searches.
    pub fn is_searchable(&self) -> bool {
        self.of.is_searchable(self)
    }

    /// What `_field_caps` says of aggregations. `has_fielddata`: the parameter `fielddata` is true.
    pub fn is_aggregatable(&self, has_fielddata: bool) -> bool {
        self.of.is_aggregatable(self, has_fielddata)
    }
}
