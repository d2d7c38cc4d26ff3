//! `ip`: an address as a term of 16 bytes; IPv4 addresses are mapped into IPv6. Source: Elasticsearch's
//! `IpFieldMapper`.

use std::ops::Bound;

use serde_json::Value;

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    BOOST, Cause, DIMENSION, DOC_VALUES, DateContext, Dimension, Field, FieldType, IGNORE_MALFORMED, INDEX,
    KEEP, Leaf, META, NULL_VALUE, ON_SCRIPT_ERROR, Param, RangeEnd, Reads, SCRIPT, STORE, Scalar, Selection,
    Typed, ValueKind, Wanted, text_of,
};
use crate::ip;

#[derive(Debug)]
pub(super) struct Ip;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    NULL_VALUE,
    SCRIPT,
    ON_SCRIPT_ERROR,
    BOOST,
    META,
    DIMENSION,
    KEEP,
];

impl FieldType for Ip {
    fn name(&self) -> &'static str {
        "ip"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Ip)
    }

    fn dimension(&self) -> Dimension {
        Dimension::Allowed
    }

    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        Some(&[])
    }

    fn reads(&self) -> Reads {
        Reads::Ip
    }

    fn read<'a>(&self, _: &Field, scalar: Scalar<'a>, buffer: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        let Scalar::Text(text) = scalar else { return Err(Box::new(not_an_ip(scalar.text()))) };
        match ip::parse(text.as_bytes()) {
            Some(bytes) => {
                *buffer = bytes;
                Ok(Typed::Term(buffer))
            }
            None => Err(Box::new(not_an_ip(text))),
        }
    }

    fn select_term(
        &self,
        _: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Ok(match ip::parse_cidr(wanted.text) {
            Some((first, last)) if first == last => Selection::Term(first.to_vec()),
            Some((first, last)) => Selection::Terms {
                lower: Bound::Included(first.to_vec()),
                upper: Bound::Included(last.to_vec()),
            },
            None => Selection::Term(self.encode_term(wanted.text)?),
        })
    }

    fn select_range(
        &self,
        _: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let bytes = |end: RangeEnd<'_>| -> Result<ip::IpBytes, RequestError> {
            let text = text_of(end.value)?;
            ip::parse(text.as_bytes()).ok_or_else(|| not_an_ip(&text))
        };
        let first = match lower {
            None => Some([0; 16]),
            Some(end) if end.inclusive => Some(bytes(end)?),
            Some(end) => ip::next(&bytes(end)?),
        };
        let last = match upper {
            None => Some([0xff; 16]),
            Some(end) if end.inclusive => Some(bytes(end)?),
            Some(end) => ip::previous(&bytes(end)?),
        };
        Ok(match (first, last) {
            (Some(first), Some(last)) if first <= last => Selection::Terms {
                lower: Bound::Included(first.to_vec()),
                upper: Bound::Included(last.to_vec()),
            },
            _ => Selection::Nothing,
        })
    }

    fn encode_term(&self, text: &str) -> Result<Vec<u8>, RequestError> {
        ip::parse(text.as_bytes()).map(|bytes| bytes.to_vec()).ok_or_else(|| not_an_ip(text))
    }

    fn decode_term(&self, term: &[u8]) -> String {
        match <&ip::IpBytes>::try_from(term) {
            Ok(bytes) => ip::format(bytes),
            Err(_) => String::from_utf8_lossy(term).into_owned(),
        }
    }

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        ip::parse(text.as_bytes()).map(|bytes| ip::format(&bytes).into())
    }

    fn sorts_indices(&self) -> bool {
        true
    }
}

#[cold]
fn not_an_ip(text: &str) -> RequestError {
    RequestError::illegal_argument(format!("'{text}' is not an IP string literal."))
}
