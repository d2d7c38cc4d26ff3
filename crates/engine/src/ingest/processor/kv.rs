//! `kv`: "put each `key=value` of this string into a field". Source: Elasticsearch's `KeyValueProcessor`.

use std::borrow::Cow;
use std::collections::HashSet;

use limber_mapping::RequestError;
use limber_text::pattern::Pattern;
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::super::template::{FieldName, Text};
use super::append::append;
use super::text::{pieces, string_field};
use super::{Flow, Processor};

#[derive(Debug)]
struct KeyValue {
    field: FieldName,
    target: Option<Text>,
    field_split: Splitter,
    value_split: Splitter,
    included: Option<HashSet<String>>,
    excluded: HashSet<String>,
    prefix: String,
    trim_key: HashSet<char>,
    trim_value: HashSet<char>,
    strip_brackets: bool,
    ignore_missing: bool,
}

/// How a string is split.
#[derive(Debug)]
enum Splitter {
    Text(String),
    Pattern(Pattern),
    /// An invalid pattern, which is reported when a document comes, as in Elasticsearch.
    Wrong(String),
}

/// Compiles the processor. Options: `field`, `field_split` and `value_split`; optional `target_field`,
/// `trim_key` (empty), `trim_value` (empty), `strip_brackets` (false), `ignore_missing` (false) and `prefix`
/// (empty).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.field_name("field")?;
    let target = options.optional_string("target_field")?.map(|text| Text::parse(&text)).transpose()?;
    let field_split = options.string("field_split")?;
    let value_split = options.string("value_split")?;
    let trim_key = options.string_or("trim_key", "")?.chars().collect();
    let trim_value = options.string_or("trim_value", "")?.chars().collect();
    let strip_brackets = options.bool_or("strip_brackets", false)?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let mut keys = |name: &str| match options.has(name) {
        true => options.strings(name).map(|keys| Some(keys.into_iter().collect::<HashSet<_>>())),
        false => Ok(None),
    };
    let included = keys("include_keys")?;
    let excluded = keys("exclude_keys")?.unwrap_or_default();
    let prefix = options.string_or("prefix", "")?;
    Ok(Box::new(KeyValue {
        field,
        target,
        field_split: Splitter::new(field_split),
        value_split: Splitter::new(value_split),
        included,
        excluded,
        prefix,
        trim_key,
        trim_value,
        strip_brackets,
        ignore_missing,
    }))
}

impl Splitter {
    fn new(pattern: String) -> Splitter {
        let is_plain =
            !pattern.is_empty() && !pattern.contains(|character| "\\.[]{}()<>*+-=!?^$|".contains(character));
        // As a whole pattern, `=` and the like have no special meaning.
        if is_plain || matches!(pattern.as_str(), "=" | "-" | "<" | ">" | "!") {
            return Splitter::Text(pattern);
        }
        match Pattern::parse(&pattern) {
            Ok(pattern) => Splitter::Pattern(pattern),
            Err(reason) => Splitter::Wrong(reason),
        }
    }

    /// Calls `each` with the start and end of every delimiter.
    fn find_each(&self, text: &str, mut each: impl FnMut(usize, usize)) -> Result<(), RequestError> {
        match self {
            Splitter::Text(delimiter) => {
                text.match_indices(delimiter.as_str()).for_each(|(at, found)| each(at, at + found.len()));
                Ok(())
            }
            Splitter::Pattern(pattern) => Ok(pattern.find_each(text, each)?),
            Splitter::Wrong(reason) => {
                Err(RequestError::bad_request("pattern_syntax_exception", reason.clone()))
            }
        }
    }

    fn pieces<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, RequestError> {
        pieces(text, false, |each| self.find_each(text, each))
    }

    /// Returns what is before and after the first delimiter.
    fn halves<'t>(&self, text: &'t str) -> Result<Option<(&'t str, &'t str)>, RequestError> {
        let mut first = None;
        self.find_each(text, |start, end| {
            if end > 0 {
                first.get_or_insert((start, end));
            }
        })?;
        Ok(first.map(|(start, end)| (&text[..start], &text[end..])))
    }
}

impl Processor for KeyValue {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let text = self.field.with(document, |document, path| {
            if path.find(document)?.is_none() && !self.ignore_missing {
                let reason = format!("field [{}] doesn't exist", path.text());
                return Err(RequestError::illegal_argument(reason));
            }
            string_field(document, path, self.ignore_missing, "cannot extract key-value pairs.")
                .map(|text| text.map(Cow::into_owned))
        })?;
        let Some(text) = text else { return Ok(Flow::Continue) };
        let prefix = match &self.target {
            Some(target) => format!("{}.{}", target.render(document)?, self.prefix),
            None => self.prefix.clone(),
        };
        for piece in self.field_split.pieces(&text)? {
            work::check()?;
            let Some((key, value)) = self.value_split.halves(piece)? else {
                return Err(self.no_value_split());
            };
            let key = key.trim_matches(|character| self.trim_key.contains(&character));
            if self.excluded.contains(key)
                || self.included.as_ref().is_some_and(|included| !included.contains(key))
            {
                continue;
            }
            let value = value.trim_matches(|character| self.trim_value.contains(&character));
            let value = if self.strip_brackets { without_brackets(value) } else { value };
            let path = FieldPath::parse(&format!("{prefix}{key}"))?;
            let value = document.make_string(value)?;
            match path.find(document)? {
                Some(_) => append(document, &path, value, true)?,
                None => path.set(document, value)?,
            }
        }
        Ok(Flow::Continue)
    }
}

impl KeyValue {
    fn no_value_split(&self) -> RequestError {
        let field = match &self.field {
            FieldName::Path(path) => path.text(),
            FieldName::Template(template) => template.source(),
        };
        let split = match &self.value_split {
            Splitter::Text(text) | Splitter::Wrong(text) => text,
            Splitter::Pattern(pattern) => pattern.source(),
        };
        RequestError::illegal_argument(format!("field [{field}] does not contain value_split [{split}]"))
    }
}

/// Removes one bracket or quote from each end.
fn without_brackets(value: &str) -> &str {
    let value = value.strip_prefix(['(', '[', '<', '"', '\'']).unwrap_or(value);
    value.strip_suffix([')', ']', '>', '"', '\'']).unwrap_or(value)
}
