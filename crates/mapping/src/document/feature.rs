//! The values of `rank_feature` (a number) and `rank_features` (an object of numbers by name).

use serde_json::Value;

use super::walk::{Stop, Walk};
use super::{error, json};
use crate::RequestError;
use crate::field::feature::RankFeature;
use crate::field::{Field, FieldSink, Scalar};
use crate::json::java::java_text;
use crate::mapping::tree::{Leaf, TERM_BYTES_MAX};
use crate::number::float_from_text;

/// The Lucene field in which Elasticsearch stores all `rank_feature` fields.
const SHARED_FIELD: &str = "_feature";

fn kind_of(field: &Field) -> RankFeature {
    field.feature.unwrap_or(RankFeature { is_named: false, is_positive: true })
}

/// Reads a number like Elasticsearch reads a float.
fn number(value: &Value) -> Result<f32, RequestError> {
    match value {
        Value::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN) as f32),
        other => {
            let text = java_text(other);
            float_from_text(&text).ok_or_else(|| RequestError::number_format(text))
        }
    }
}

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Feeds the number of a `rank_feature`, of which a document may have only one.
    pub(super) fn put_feature(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        let field = &*node.field;
        let refused = |walk: &Self, cause: RequestError| -> Stop {
            let path_and_kind = (&*field.path, field.type_name());
            error::field(walk.bytes, at, path_and_kind, &walk.scratch.id, scalar.text(), cause).into()
        };
        let value = match scalar {
            Scalar::Bool(flag) => return Err(refused(self, *crate::field::not_numeric(flag))),
            other => number(&Value::from(other.text())).map_err(|cause| refused(self, cause))?,
        };
        if std::mem::replace(&mut self.scratch.single[leaf as usize], self.scratch.document)
            == self.scratch.document
        {
            let cause = RequestError::illegal_argument(format!(
                "[rank_feature] fields do not support indexing multiple values for the same field [{}] in the same document",
                field.path
            ));
            return Err(refused(self, cause));
        }
        let term = kind_of(field).term(&field.path, SHARED_FIELD, value);
        let term = term.map_err(|cause| refused(self, cause))?;
        if node.is_fed {
            self.sink.term(field, &term);
        }
        if node.is_named {
            self.note_name(leaf);
        }
        Ok(())
    }

    /// Reads the object of a `rank_features`. Returns the offset after it.
    #[inline(never)]
    pub(super) fn features(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
        let tree = self.tree;
        let node = &tree.leaves[leaf as usize];
        let value = self.value_of(at, end)?;
        for (name, value) in value.as_object().into_iter().flatten() {
            self.put_named_feature(node, leaf, name, value)
                .map_err(|cause| error::wrapped(self.bytes, end - 1, cause))?;
        }
        if node.is_named {
            self.note_name(leaf);
        }
        Ok(end)
    }

    fn put_named_feature(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        name: &str,
        value: &Value,
    ) -> Result<(), RequestError> {
        let field = &*node.field;
        let token = match value {
            Value::Null => return Ok(()),
            Value::Number(_) | Value::String(_) => None,
            Value::Bool(true) => Some("VALUE_BOOLEAN"),
            Value::Bool(false) => Some("VALUE_BOOLEAN"),
            Value::Array(_) => Some("START_ARRAY"),
            Value::Object(_) => Some("START_OBJECT"),
        };
        if let Some(token) = token {
            return Err(RequestError::illegal_argument(format!(
                "[rank_features] fields take hashes that map a feature to a strictly positive float, but got unexpected \
                 token {token}"
            )));
        }
        let number = number(value)?;
        let seen = self.scratch.features_of(leaf);
        if !seen.insert(name.to_owned()) {
            return Err(RequestError::illegal_argument(format!(
                "[rank_features] fields do not support indexing multiple values for the same rank feature [{}.{name}] in \
                 the same document",
                field.path
            )));
        }
        let term = kind_of(field).term(name, &field.path, number)?;
        if term.len() > TERM_BYTES_MAX {
            return Err(error::immense(&field.path, &term));
        }
        if node.is_fed {
            self.sink.term(field, &term);
        }
        Ok(())
    }

    /// Returns the error about a value that is not an object of features.
    #[cold]
    pub(super) fn not_features(&self, scalar: Scalar<'_>, at: usize) -> Stop {
        let token = match scalar {
            Scalar::Text(_) => "VALUE_STRING",
            Scalar::Bool(_) => "VALUE_BOOLEAN",
            Scalar::Integer { .. } | Scalar::Number(_) | Scalar::Stored(_) => "VALUE_NUMBER",
        };
        let reason =
            format!("[rank_features] fields must be json objects, expected a START_OBJECT but got: {token}");
        error::wrapped(self.bytes, at, RequestError::illegal_argument(reason)).into()
    }
}
