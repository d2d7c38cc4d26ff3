//! `fingerprint`: joins all distinct tokens, sorted, into one token.

use std::collections::BTreeSet;

use crate::RequestError;
use crate::analysis::chain::{Emit, End, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Fingerprint {
    separator: char,
    units_max: usize,
}

struct Seen<'a> {
    own: &'a Fingerprint,
    /// Sorted by UTF-16 units, as in Java.
    words: BTreeSet<(Vec<u16>, String)>,
    units: usize,
    is_too_long: bool,
}

/// Reads `max_output_size` (255 UTF-16 units; a longer token is dropped) and `separator`.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let units_max = settings.count("max_output_size", 255, 0, |_| "max_output_size".into())?;
    of(settings, units_max)
}

/// Makes a filter that reads only the setting `separator`.
pub(in crate::analysis) fn of(settings: &Settings<'_>, units_max: usize) -> Result<Filter, RequestError> {
    let text = settings.text_or("separator", " ");
    let mut chars = text.chars();
    let (Some(separator), None) = (chars.next(), chars.next()) else {
        return Err(RequestError::illegal_argument(format!(
            "Setting [separator] must be a single, non-null character. [{text}] was provided."
        )));
    };
    Ok(Filter::stream(Fingerprint { separator, units_max }).parsing(Parsing::Refused))
}

impl Stream for Fingerprint {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Seen { own: self, words: BTreeSet::new(), units: 0, is_too_long: false })
    }
}

impl Stage for Seen<'_> {
    fn push(&mut self, token: &mut TokenBuf, _: Emit<'_>) -> bool {
        if self.is_too_long {
            return true;
        }
        let units: Vec<u16> = token.text.encode_utf16().collect();
        let length = units.len();
        if self.words.insert((units, token.text.clone())) {
            self.units += length + usize::from(self.words.len() > 1);
            self.is_too_long = self.units > self.own.units_max;
        }
        true
    }

    fn end(&mut self, End { trailing, offset }: End, emit: Emit<'_>) -> u32 {
        let words = std::mem::take(&mut self.words);
        // As in Lucene, the state at the end is that of the last token, whether it was emitted or not.
        if self.is_too_long {
            return 1;
        }
        if words.is_empty() {
            return trailing;
        }
        let texts: Vec<String> = words.into_iter().map(|(_, text)| text).collect();
        let text = texts.join(self.own.separator.encode_utf8(&mut [0; 4]));
        let mut token = TokenBuf { text, start: 0, end: offset, kind: "fingerprint", ..TokenBuf::default() };
        emit(&mut token);
        1
    }
}
