//! `_doc_count`: "how many documents does this document stand for?"
//!
//! Source: Elasticsearch's `DocCountFieldMapper`.

use super::walk::{Stop, Walk};
use super::{error, json};
use crate::field::FieldSink;
use crate::{RequestError, reserved, token_of_text};

/// The member of a document.
pub(super) const DOC_COUNT: &str = "_doc_count";

impl<S: FieldSink> Walk<'_, S> {
    /// Reads the value from `at` to `end`. The column holds the number less one, so that an ordinary document
    /// has no value.
    pub(super) fn doc_count(&mut self, at: usize, end: usize) -> Result<usize, Stop> {
        let text = &self.text[at..end];
        match text.parse::<u32>() {
            Ok(count @ 1..=0x7fff_ffff) => {
                if count > 1 {
                    let field = self.mapping.field_by_id(reserved::DOC_COUNT);
                    self.sink.number(field, i64::from(count) - 1);
                }
                Ok(end)
            }
            _ if self.is_acknowledged => Ok(end),
            _ => {
                let cause = match json::number(self.bytes, at) {
                    Ok(_) => RequestError::illegal_argument(format!(
                        "Field [{DOC_COUNT}] must be a positive integer. Value: [{text}]"
                    )),
                    Err(_) => RequestError::parsing(format!(
                        "Failed to parse object: expecting token of type [VALUE_NUMBER] but found [{}]",
                        token_of_text(text.as_bytes())
                    )),
                };
                let preview = error::preview(text);
                let of = (DOC_COUNT, DOC_COUNT);
                Err(error::field(self.bytes, at, of, &self.scratch.id, &preview, cause).into())
            }
        }
    }
}
