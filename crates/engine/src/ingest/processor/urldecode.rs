//! `urldecode`: Java's `URLDecoder.decode(text, UTF_8)`.

use limber_mapping::RequestError;

use super::super::document::json::push_escaped;
use super::super::options::Options;
use super::Processor;
use super::text::{TextProcessor, Transform};

#[derive(Debug)]
struct UrlDecode;

/// Compiles the processor, whose options are those of [`super::text`].
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    TextProcessor::parse(options, UrlDecode)
}

impl Transform for UrlDecode {
    fn push(&self, text: &str, out: &mut String) -> Result<bool, RequestError> {
        Ok(push_escaped(out, &decode(text)?))
    }
}

fn decode(text: &str) -> Result<String, RequestError> {
    let refused = |what: String| RequestError::illegal_argument(format!("URLDecoder: {what}"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let Some(digits) = after.get(..2) else {
                    return Err(refused("Incomplete trailing escape (%) pattern".to_owned()));
                };
                let mut value = 0;
                for digit in digits {
                    let Some(part) = char::from(*digit).to_digit(16) else {
                        return Err(refused(format!(
                            "Illegal hex characters in escape (%) pattern - not a hexadecimal digit: \"{}\" = {digit}",
                            char::from(*digit)
                        )));
                    };
                    value = value << 4 | part;
                }
                bytes.push(value as u8);
                rest = &after[2..];
            }
            other => bytes.push(*other),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
