//! `delimited_payload`: removes the text after a delimiter from the token and makes it the token's payload.

use std::sync::Arc;

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

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

impl Each for DelimitedPayload {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        let Some((text, payload)) = token.text.split_once(self.delimiter) else { return true };
        let length = text.len();
        // A malformed number gives no payload; Elasticsearch refuses the document.
        token.payload = match self.encoding {
            Encoding::Float => payload.parse::<f32>().ok().map(|value| Arc::from(value.to_be_bytes())),
            Encoding::Int => payload.parse::<i32>().ok().map(|value| Arc::from(value.to_be_bytes())),
            Encoding::Identity => Some(Arc::from(payload.as_bytes())),
        };
        token.text.truncate(length);
        true
    }
}
