//! Parses the parameters of `more_like_this`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::MoreLikeThis;
use super::candidates::Selection;
use super::item::Item;
use crate::query::parse::{Common, Parser, Query};
use crate::values::json;

/// The texts and documents of `like` or `unlike`.
#[derive(Debug, Default)]
pub(super) struct Examples {
    pub texts: Vec<String>,
    pub items: Vec<Item>,
}

impl Examples {
    fn add(&mut self, value: &Value) -> Result<(), RequestError> {
        limber_work::check_beyond_deadline()?;
        match value {
            Value::Object(members) => self.items.push(Item::parse(members)?),
            Value::Null => {}
            scalar => {
                self.texts.push(json::scalar_text(scalar).ok_or_else(no_example)?);
            }
        }
        Ok(())
    }

    fn add_all(&mut self, value: &Value) -> Result<(), RequestError> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| match item {
                Value::Null => Err(no_example()),
                item => self.add(item),
            }),
            one => self.add(one),
        }
    }
}

fn no_example() -> RequestError {
    RequestError::illegal_argument("Content of 'like' parameter should either be a string or an object")
}

fn unknown(key: &str) -> RequestError {
    RequestError::parsing(format!("[mlt] query does not support [{key}]"))
}

fn words<W: FromIterator<String>>(items: &[Value]) -> Result<W, RequestError> {
    items.iter().map(json::text).collect()
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut node = MoreLikeThis {
        fields: None,
        like: Examples::default(),
        unlike: Examples::default(),
        selection: Selection::default(),
        analyzer: None,
        minimum_should_match: "30%".to_owned(),
        boost_terms: 0.0,
        includes: false,
        fails_on_unsupported: true,
    };
    for (key, value) in members {
        let selection = &mut node.selection;
        match (key.as_str(), value) {
            ("like", value) => node.like.add_all(value)?,
            ("unlike", value) => node.unlike.add_all(value)?,
            ("fields", Value::Array(items)) => node.fields = Some(words(items)?),
            ("stop_words", Value::Array(items)) => selection.stop_words = words(items)?,
            (_, Value::Null) => {}
            ("fields" | "stop_words", _) | (_, Value::Array(_) | Value::Object(_)) => {
                return Err(unknown(key));
            }
            ("max_query_terms", value) => {
                selection.max_query_terms = json::int(value)?;
                if selection.max_query_terms <= 0 {
                    let reason = "requires 'maxQueryTerms' to be greater than 0";
                    return Err(RequestError::illegal_argument(reason));
                }
            }
            ("min_term_freq", value) => selection.min_term_freq = json::int(value)?,
            ("min_doc_freq", value) => selection.min_doc_freq = json::int(value)?,
            ("max_doc_freq", value) => selection.max_doc_freq = json::int(value)?,
            ("min_word_length", value) => selection.min_word_length = json::int(value)?,
            ("max_word_length", value) => selection.max_word_length = json::int(value)?,
            ("analyzer", value) => node.analyzer = json::scalar_text(value),
            ("minimum_should_match", value) => {
                node.minimum_should_match = json::scalar_text(value).unwrap_or_default();
            }
            ("boost_terms", value) => node.boost_terms = json::float(value)?,
            ("include", value) => node.includes = json::boolean(value)?,
            ("fail_on_unsupported_field", value) => node.fails_on_unsupported = json::boolean(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(unknown(key)),
        }
    }
    if node.like.texts.is_empty() && node.like.items.is_empty() {
        return Err(RequestError::parsing("more_like_this requires 'like' to be specified"));
    }
    if node.fields.as_ref().is_some_and(Vec::is_empty) {
        return Err(RequestError::parsing("more_like_this requires 'fields' to be non-empty"));
    }
    Ok(common.query(node))
}
