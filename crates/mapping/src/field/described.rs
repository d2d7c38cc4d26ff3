//! How a field type describes itself: everything that depends on the type, and nothing else.

use std::fmt::Debug;

use serde_json::{Map, Value, json};

use super::declaration::Leaf;
use super::mapped::{Field, Flattened};
use super::params::Param;
use super::query::{DateContext, RangeEnd, Selection, Wanted};
use super::scalar::{Cause, OwnedScalar, Reads, Scalar, Typed};
use super::show::scalar_text;
use super::value_kind::ValueKind;
use crate::RequestError;
use crate::date::DateFormat;
use crate::json::java::java_text;

/// One of Elasticsearch's field types.
///
/// A type is one file of `field_type` and one line of its table. Methods that it does not override behave as
/// in the type that it is like, or else as the defaults here. Hot paths do not call these methods: documents
/// are read by [`FieldType::reads`], columns by the field's [`ValueKind`].
pub(crate) trait FieldType: Debug + Send + Sync {
    /// Returns Elasticsearch's name.
    fn name(&self) -> &'static str;

    /// Returns the name for error messages of searches, which may be that of another type with the same
    /// searches.
    fn searched_as(&self) -> &'static str {
        self.name()
    }

    /// Returns the name under which `_field_caps` counts it together with types that are searched in the same
    /// way.
    fn family(&self) -> &'static str {
        self.searched_as()
    }

    /// Returns the parameters, in the order in which `GET _mapping` prints them.
    fn params(&self) -> &'static [Param];

    /// Returns the type with the same values: its methods for reading, searching and showing apply where this
    /// type has none. A type that is like no other must implement all of them.
    fn like(&self) -> Option<&'static dyn FieldType> {
        None
    }

    /// Returns the kind of values that a field with this declaration has.
    ///
    /// # Errors
    /// A date format is invalid.
    fn values(&self, leaf: &Leaf) -> Result<ValueKind, RequestError> {
        match self.like() {
            Some(like) => like.values(leaf),
            None => Ok(ValueKind::Bytes),
        }
    }

    /// Changes the field after it has been built from the common parameters.
    fn finish(&self, _leaf: &Leaf, _field: &mut Field) {}

    // Declarations.

    /// Checks what depends on more than a single parameter.
    fn check(&self, _leaf: &Leaf, _place: &Location<'_>) -> Result<(), RequestError> {
        Ok(())
    }

    /// Adds parameters that follow from the others, so that `GET _mapping` prints them.
    fn complete(&self, _leaf: &mut Leaf) {}

    /// Returns parameters that `GET _mapping` always prints, whether they were given or not.
    fn always_shown(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns parameters that are accepted without an effect, and that `GET _mapping` never prints.
    fn never_shown(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns why a parameter that the type does not have is refused, if there is more to say than that it
    /// is unknown.
    fn refused_parameter(
        &self,
        _name: &str,
        _last: &str,
        _body: &Map<String, Value>,
    ) -> Option<RequestError> {
        None
    }

    /// Converts a scalar `null_value` to normal form.
    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        match self.like() {
            Some(like) => like.null_value(value),
            None => Ok(java_text(value).into()),
        }
    }

    /// Converts `null_value` to the scalar that replaces a null in a document.
    fn null(&self, null: &Value) -> OwnedScalar {
        OwnedScalar::from_json(null)
    }

    /// Whether a field may be a time series dimension.
    fn dimension(&self) -> Dimension {
        Dimension::Unsupported
    }

    /// Whether a script may compute its values when documents are written, given that the type has the
    /// parameter.
    fn takes_script(&self) -> bool {
        true
    }

    /// Returns its parameters as a runtime field; `None` if it cannot be one.
    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// Returns the type of the keys that exist besides its own values (`flattened`).
    fn keys(&self) -> Option<&'static dyn FieldType> {
        None
    }

    /// Returns the additional fields of a field, with the suffixes of their names. They are fed with the same
    /// values.
    fn parts(&self, _leaf: &Leaf) -> Vec<(String, Leaf)> {
        Vec::new()
    }

    // Documents.

    /// Returns how its values are read from a document.
    fn reads(&self) -> Reads {
        self.like().map_or(Reads::Scalar, |like| like.reads())
    }

    /// Reads a scalar of a document. Called if [`FieldType::reads`] has no faster way.
    ///
    /// # Errors
    /// The cause that the document's error wraps.
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

    /// Reads a value of a document as a summary: the stored numbers of each of its columns
    /// ([`Field::summary`]), in their order.
    ///
    /// # Errors
    /// The cause that the document's error wraps.
    fn read_summary(&self, field: &Field, _value: &Value) -> Result<Vec<Vec<i64>>, RequestError> {
        Err(RequestError::unsupported(format!("summaries in field [{}]", field.path)))
    }

    /// Returns the summary with these numbers as it would be written in a document, for synthetic source.
    fn show_summary(&self, _field: &Field, _numbers: &[Vec<i64>]) -> Value {
        Value::Null
    }

    /// Returns the type that reads the bounds of its ranges, if those are numbers.
    fn ends(&self) -> Option<&'static dyn FieldType> {
        None
    }

    /// Returns where values come from in an index with synthetic source.
    fn kept_in(&self, field: &Field) -> KeptIn {
        match self.like() {
            Some(like) => like.kept_in(field),
            None if field.doc_values => KeptIn::Column,
            None => KeptIn::Nothing,
        }
    }

    // Queries.

    /// Returns what a `term` query with this value selects.
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

    /// Returns what a `range` query with these bounds selects; none of them is null.
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

    /// Returns the term of a whole string.
    fn encode_term(&self, text: &str) -> Result<Vec<u8>, RequestError> {
        match self.like() {
            Some(like) => like.encode_term(text),
            None => Ok(text.as_bytes().to_vec()),
        }
    }

    /// Returns a term as a string.
    fn decode_term(&self, term: &[u8]) -> String {
        match self.like() {
            Some(like) => like.decode_term(term),
            None => String::from_utf8_lossy(term).into_owned(),
        }
    }

    /// Returns a value of the source as `fields` shows it; `None` if it is skipped.
    fn show_source(&self, field: &Field, text: String, format: Option<&DateFormat>) -> Option<Value> {
        self.like()?.show_source(field, text, format)
    }

    /// Returns what `fields` shows for a null in the source.
    fn show_null(&self, field: &Field, null: &Value, format: Option<&DateFormat>) -> Option<Value> {
        self.show_source(field, scalar_text(null)?, format)
    }

    /// Parses a `format` of `fields` and `docvalue_fields`.
    fn shown_by(&self, field: &Field, pattern: &str) -> Result<DateFormat, RequestError> {
        match self.like() {
            Some(like) => like.shown_by(field, pattern),
            None => Err(field.without_formats()),
        }
    }

    /// Refuses `exists` queries if the type does not support them.
    fn check_exists(&self, _field: &Field) -> Result<(), RequestError> {
        Ok(())
    }

    // Columns.

    /// Refuses requests that need a column, if there is more to say than that it is absent.
    fn check_column(&self, _field: &Field) -> Result<(), RequestError> {
        Ok(())
    }

    /// Refuses sorting and aggregating by key over a column that has no order.
    fn check_sortable(&self, _field: &Field) -> Result<(), RequestError> {
        Ok(())
    }

    /// Whether an index can be sorted by the field (`index.sort.field`).
    fn sorts_indices(&self) -> bool {
        false
    }

    /// Whether hits can be collapsed by the field.
    fn collapses(&self) -> bool {
        false
    }

    // Field capabilities.

    fn is_searchable(&self, field: &Field) -> bool {
        self.like().map_or(field.index || field.doc_values, |like| like.is_searchable(field))
    }

    /// Whether the field is aggregatable. `has_fielddata` is the parameter `fielddata`.
    fn is_aggregatable(&self, field: &Field, has_fielddata: bool) -> bool {
        self.like().map_or(field.doc_values, |like| like.is_aggregatable(field, has_fielddata))
    }

    /// Whether patterns, fuzzy terms and open ranges select the values of a key, if this is the type of keys.
    fn keys_take_patterns(&self) -> bool {
        false
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
    /// Returns the parameter with this name.
    pub(crate) fn param(&self, name: &str) -> Option<&'static Param> {
        self.params().iter().find(|param| param.name == name)
    }

    /// Returns the parameter's default, else null.
    pub(crate) fn default_of(&self, name: &str) -> Value {
        match self.param(name).map_or("", |param| param.default) {
            "" => Value::Null,
            "true" => json!(true),
            "false" => json!(false),
            text => serde_json::from_str(text).unwrap_or(Value::Null),
        }
    }
}

/// The location of a declaration in the mapping.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Location<'a> {
    /// Full dotted path.
    pub path: &'a str,
    pub is_multi_field: bool,
}

impl Location<'_> {
    /// Returns the last name of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// Refuses multi-fields and copies for a type that does not support them.
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

/// Whether a type can be a time series dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    Allowed,
    /// Numbers with fractions, which Elasticsearch refuses.
    Fractional,
    Unsupported,
}

/// The source of a field's values in an index with synthetic source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptIn {
    /// Its own column.
    Column,
    /// The column of a keyword among its multi-fields.
    Keyword,
    /// A stored copy, but values are returned sorted and without duplicates, as if from a column of bytes.
    Sorted,
    /// A stored copy in the form in which Elasticsearch shows the values.
    Shown,
    Nothing,
}

/// Methods of a field that depend on its type.
impl Field {
    /// Returns Elasticsearch's name of its type, as searches use it.
    pub fn type_name(&self) -> &'static str {
        self.of.searched_as()
    }

    /// Returns the name under which `_field_caps` counts its type.
    pub fn family_name(&self) -> &'static str {
        self.of.family()
    }

    /// Refuses requests that need a column, if the type never has one.
    ///
    /// # Errors
    /// Elasticsearch's errors.
    pub fn check_column(&self) -> Result<(), RequestError> {
        self.of.check_column(self)
    }

    /// Refuses `exists` queries if the type does not support them.
    ///
    /// # Errors
    /// Elasticsearch's errors.
    pub fn check_exists(&self) -> Result<(), RequestError> {
        self.of.check_exists(self)
    }

    /// Refuses sorting and aggregating by key over fields whose column has no order.
    ///
    /// # Errors
    /// Elasticsearch's errors.
    pub fn check_sortable(&self) -> Result<(), RequestError> {
        self.of.check_sortable(self)
    }

    /// Whether an index can be sorted by the field (`index.sort.field`).
    pub fn sorts_indices(&self) -> bool {
        self.of.sorts_indices()
    }

    /// Whether hits can be collapsed by the field.
    pub fn collapses(&self) -> bool {
        self.of.collapses()
    }

    /// Whether `_field_caps` shows the field as searchable.
    pub fn is_searchable(&self) -> bool {
        self.of.is_searchable(self)
    }

    /// Whether `_field_caps` shows the field as aggregatable. `has_fielddata` is the parameter `fielddata`.
    pub fn is_aggregatable(&self, has_fielddata: bool) -> bool {
        self.of.is_aggregatable(self, has_fielddata)
    }

    /// Whether this is a key of a flattened field that only terms, prefixes and ranges with both ends select.
    pub fn is_key_of_terms(&self) -> bool {
        self.flattened == Some(Flattened::Key) && !self.of.keys_take_patterns()
    }
}
