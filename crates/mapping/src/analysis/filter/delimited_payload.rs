//! Payloads: `delimited_payload` removes the text after a delimiter from the token and makes it the payload,
//! `type_as_payload` makes it of the token's type.

use std::sync::Arc;

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::resources::fail;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::number::float_from_text;

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Float,
    Int,
    Identity,
}

#[derive(Debug)]
struct DelimitedPayload {
    delimiter: char,
    encoding: Encoding,
}

/// Reads `delimiter` (`|`) and `encoding` (`float`, `int` or `identity`; others are treated as `float`).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let delimiter = settings.text_or("delimiter", "|").chars().next().unwrap_or('|');
    let encoding = match settings.text_or("encoding", "float").as_str() {
        "int" => Encoding::Int,
        "identity" => Encoding::Identity,
        _ => Encoding::Float,
    };
    Ok(Filter { uses_payloads: true, ..Filter::each(DelimitedPayload { delimiter, encoding }) })
}

/// The filter whose payloads are the types of tokens.
#[derive(Debug)]
struct TypeAsPayload;

/// Makes `type_as_payload`, which has no settings.
pub fn make_of_type(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter { uses_payloads: true, ..Filter::each(TypeAsPayload).reading_kinds() })
}

impl Encoding {
    /// Encodes a payload as Lucene does, numbers big-endian.
    ///
    /// # Errors
    /// `number_format_exception` with the message of Java or of Lucene's `ArrayUtil#parseInt`.
    fn encode(self, text: &str) -> Result<Arc<[u8]>, RequestError> {
        Ok(match self {
            Encoding::Float => Arc::from(float(text)?.to_be_bytes()),
            Encoding::Int => Arc::from(integer(text)?.to_be_bytes()),
            Encoding::Identity => Arc::from(text.as_bytes()),
        })
    }
}

fn float(text: &str) -> Result<f32, RequestError> {
    if text.is_empty() {
        return Err(RequestError::bad_request("number_format_exception", "empty String"));
    }
    float_from_text(text).ok_or_else(|| RequestError::number_format(text))
}

fn integer(text: &str) -> Result<i32, RequestError> {
    let failed = |reason| Err(RequestError::bad_request("number_format_exception", reason));
    match text {
        "" => failed("chars length is 0"),
        "-" => failed("can't convert to an int"),
        _ if text.starts_with('+') => failed("Unable to parse"),
        _ => text.parse().or_else(|_| failed("Unable to parse")),
    }
}

impl Each for DelimitedPayload {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        let Some((text, payload)) = token.text.split_once(self.delimiter) else { return true };
        let length = text.len();
        match self.encoding.encode(payload) {
            Ok(payload) => token.payload = Some(payload),
            // The caller of the analysis takes the error.
            Err(error) => return fail(error),
        }
        token.text.truncate(length);
        true
    }
}

impl Each for TypeAsPayload {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        token.payload = Some(Arc::from(token.kind.as_bytes()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_encoded_as_by_lucene() {
        let encoded = |encoding: Encoding, text: &str| {
            encoding.encode(text).map(|bytes| bytes.to_vec()).map_err(|error| error.reason.to_string())
        };
        assert_eq!(encoded(Encoding::Float, "5.5"), Ok(vec![0x40, 0xb0, 0, 0]));
        assert_eq!(encoded(Encoding::Float, "1e3"), Ok(vec![0x44, 0x7a, 0, 0]));
        assert_eq!(encoded(Encoding::Float, "bad"), Err("For input string: \"bad\"".to_owned()));
        assert_eq!(encoded(Encoding::Float, ""), Err("empty String".to_owned()));
        assert_eq!(encoded(Encoding::Int, "-5"), Ok(vec![255, 255, 255, 251]));
        assert_eq!(encoded(Encoding::Int, "1.5"), Err("Unable to parse".to_owned()));
        assert_eq!(encoded(Encoding::Int, ""), Err("chars length is 0".to_owned()));
        assert_eq!(encoded(Encoding::Identity, "é"), Ok("é".as_bytes().to_vec()));
    }
}
