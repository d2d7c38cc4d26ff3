//! `csv`: "put each value of this line of comma-separated values into a field". Source: Elasticsearch's
//! `CsvProcessor` and `CsvParser`.

use limber_mapping::RequestError;
use serde_json::Value;

use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::text::string_field;
use super::{Flow, Processor};

#[derive(Debug)]
struct Csv {
    field: FieldPath,
    targets: Vec<FieldPath>,
    separator: char,
    quote: char,
    trim: bool,
    ignore_missing: bool,
    /// JSON text that replaces an empty value; `None` leaves its field unset.
    empty_value: Option<String>,
}

/// Compiles the processor. Options: `field` and `target_fields`; optional `separator` (`,`), `quote` (`"`),
/// `empty_value`, `trim` (false) and `ignore_missing` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let quote = character(options, "quote", "\"", "quote has to be single character like \" or '")?;
    let separator = character(options, "separator", ",", "separator has to be single character like , or ;")?;
    let empty_value = options.take("empty_value").map(|value: Value| value.to_string());
    let trim = options.bool_or("trim", false)?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let targets = options.strings("target_fields")?;
    if targets.is_empty() {
        return Err(options.error("target_fields", "target fields list can't be empty"));
    }
    let targets = FieldPath::parse_all(&targets)?;
    Ok(Box::new(Csv { field, targets, separator, quote, trim, ignore_missing, empty_value }))
}

fn character(options: &mut Options, name: &str, default: &str, reason: &str) -> Result<char, RequestError> {
    let text = options.string_or(name, default)?;
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(options.error(name, reason)),
    }
}

impl Processor for Csv {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let line = string_field(document, &self.field, self.ignore_missing, "cannot process it.")?;
        let Some(line) = line else { return Ok(Flow::Continue) };
        for (target, value) in self.targets.iter().zip(self.values(&line)?) {
            let node = match (&self.empty_value, value.is_empty()) {
                (_, false) => document.make_string(&value)?,
                (None, true) => continue,
                (Some(json), true) => document.make_sound_json(json)?,
            };
            target.set(document, node)?;
        }
        Ok(Flow::Continue)
    }
}

/// The reader's position in a value.
enum State {
    Start,
    Unquoted,
    Quoted,
    /// After a quote that ends the value, unless another quote follows.
    QuoteEnded,
}

impl Csv {
    /// Returns the values of the line, at most one per target. Nothing after the last separator is not a
    /// value.
    fn values(&self, line: &str) -> Result<Vec<String>, RequestError> {
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        let is_blank = |character: char| self.trim && matches!(character, ' ' | '\t');
        let mut values: Vec<String> = Vec::with_capacity(self.targets.len());
        let (mut state, mut value) = (State::Start, String::new());
        for (at, character) in line.chars().enumerate() {
            if values.len() == self.targets.len() {
                return Ok(values);
            }
            match state {
                State::Start if character == self.quote => state = State::Quoted,
                State::Start if character == self.separator => values.push(String::new()),
                State::Start if is_blank(character) => {}
                State::Unquoted | State::QuoteEnded if character == self.separator => {
                    if self.trim && matches!(state, State::Unquoted) {
                        value.truncate(value.trim_end_matches([' ', '\t']).len());
                    }
                    values.push(std::mem::take(&mut value));
                    state = State::Start;
                }
                State::Start | State::Unquoted => {
                    if character == self.quote || matches!(character, '\n' | '\r') {
                        return refused(format!("Illegal character inside unquoted field at {at}"));
                    }
                    value.push(character);
                    state = State::Unquoted;
                }
                State::Quoted if character == self.quote => state = State::QuoteEnded,
                State::Quoted => value.push(character),
                State::QuoteEnded if character == self.quote => {
                    value.push(character);
                    state = State::Quoted;
                }
                State::QuoteEnded if is_blank(character) => {}
                State::QuoteEnded => {
                    return refused(format!("character '{character}' after quoted field at {at}"));
                }
            }
        }
        match state {
            State::Start => {}
            State::Quoted => return refused("Unmatched quote".to_owned()),
            // As in Elasticsearch, blanks at the end of the line belong to its last value.
            State::Unquoted | State::QuoteEnded => values.push(value),
        }
        Ok(values)
    }
}
