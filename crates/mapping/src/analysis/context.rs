//! The context in which a component of an analyzer is built: the components that it may name, the limits of
//! the index, and the preceding components.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::chain::Filter;
use super::char_filter::{CHAR_FILTERS, CharFilter};
use super::filter::FILTERS;
use super::resources::{AnalysisResources, text_of};
use super::settings::{Settings, text};
use super::tokenizer::{TOKENIZERS, Tokenizer};
use crate::RequestError;

/// An index's limits for its analyzers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalysisLimits {
    /// `index.max_ngram_diff`.
    pub ngram_diff: i32,
    /// `index.max_shingle_diff`.
    pub shingle_diff: i32,
}

impl Default for AnalysisLimits {
    fn default() -> AnalysisLimits {
        AnalysisLimits { ngram_diff: 1, shingle_diff: 3 }
    }
}

/// The components before a filter in its analyzer; the rules of synonyms are analyzed with them.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    pub char_filters: &'a [CharFilter],
    pub tokenizer: &'a Arc<dyn Tokenizer>,
    pub filters: &'a [Filter],
}

/// The tokenizers and filters of `settings.analysis`, and the position at which they are used.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub tokenizers: &'a Map<String, Value>,
    pub filters: &'a Map<String, Value>,
    pub char_filters: &'a Map<String, Value>,
    pub limits: AnalysisLimits,
    pub resources: &'a Arc<dyn AnalysisResources>,
    /// `None` if a filter is built outside of an analyzer.
    pub before: Option<Before<'a>>,
    /// Number of filters that contain this one.
    pub depth: usize,
}

/// Filters may name filters; more levels than this mean a cycle.
const DEPTH_MAX: usize = 8;

/// Maximum number of filters in a chain. The stages of a text call each other, so a chain of many thousands
/// would overflow the stack.
const CHAIN_FILTERS_MAX: usize = 1_000;

/// Returns the number of filters in a chain.
///
/// # Errors
/// A request declares more than [`CHAIN_FILTERS_MAX`]. An index that exists is opened with any number.
pub(super) fn check_chain(count: usize) -> Result<usize, RequestError> {
    if count <= CHAIN_FILTERS_MAX || limber_work::Work::current().is_none() {
        return Ok(count);
    }
    Err(RequestError::illegal_argument(format!(
        "a chain has [{count}] token filters, but at most [{CHAIN_FILTERS_MAX}] are supported"
    )))
}

/// Refuses the name of an analyzer that Elasticsearch reserves. An index that exists is opened with any name.
///
/// # Errors
/// A request declares such an analyzer.
pub(super) fn check_name(name: &str) -> Result<(), RequestError> {
    let reason = match name {
        _ if limber_work::Work::current().is_none() => return Ok(()),
        "default_index" => {
            "setting [index.analysis.analyzer.default_index] is not supported anymore, use [index.analysis.analyzer.default] instead".to_owned()
        }
        name if name.starts_with('_') => format!("analyzer name must not start with '_'. got \"{name}\""),
        _ => return Ok(()),
    };
    Err(RequestError::illegal_argument(reason))
}

/// Types of Elasticsearch and its plugins that are not supported yet.
const MISSING_TOKENIZERS: &[&str] =
    &["icu_tokenizer", "kuromoji_tokenizer", "ml_standard", "nori_tokenizer", "smartcn_tokenizer"];
const MISSING_CHAR_FILTERS: &[&str] = &["kuromoji_iteration_mark", "first_non_blank_line"];
const MISSING_FILTERS: &[&str] = &[
    "icu_collation",
    "icu_transform",
    "ja_stop",
    "kuromoji_baseform",
    "kuromoji_number",
    "kuromoji_part_of_speech",
    "kuromoji_readingform",
    "kuromoji_stemmer",
    "nori_number",
    "nori_part_of_speech",
    "nori_readingform",
    "smartcn_stop",
];

/// Returns the type and the settings of the component that is declared with this name.
fn declared<'a>(
    section: &'a Map<String, Value>,
    what: &str,
    name: &'a str,
) -> Result<Option<(String, Settings<'a>)>, RequestError> {
    let Some(body) = section.get(name) else { return Ok(None) };
    let Value::Object(body) = body else {
        return Err(RequestError::illegal_argument(format!("{what} [{name}] must be an object")));
    };
    let kind = body.get("type").filter(|kind| !kind.is_null()).map(text).ok_or_else(|| {
        RequestError::illegal_argument(format!(
            "{what} [{name}] must specify either an analyzer type, or a tokenizer"
        ))
    })?;
    Ok(Some((kind, Settings { name, body })))
}

fn unknown(what: &str, kind: &str, name: &str, missing: &[&str]) -> RequestError {
    if name.starts_with("_anonymous_") && !missing.contains(&kind) {
        return RequestError::illegal_argument(format!("failed to find global {what} under [{kind}]"));
    }
    match missing.contains(&kind) {
        true => RequestError::unsupported(format!("{} [{kind}]", what.replace('_', " "))),
        false => RequestError::illegal_argument(format!("Unknown {what} type [{kind}] for [{name}]")),
    }
}

impl<'a> Context<'a> {
    /// Returns the tokenizer with this name; `None` if it is unknown.
    pub fn tokenizer(&self, name: &str) -> Result<Option<Arc<dyn Tokenizer>>, RequestError> {
        let find = |kind: &str| TOKENIZERS.iter().find(|known| known.name == kind);
        if let Some((kind, settings)) = declared(self.tokenizers, "tokenizer", name)? {
            let found = find(&kind).ok_or_else(|| unknown("tokenizer", &kind, name, MISSING_TOKENIZERS))?;
            return (found.make)(&settings, self).map(Some);
        }
        if MISSING_TOKENIZERS.contains(&name) {
            return Err(RequestError::unsupported(format!("tokenizer [{name}]")));
        }
        let body = Map::new();
        find(name).map(|found| (found.make)(&Settings { name, body: &body }, self)).transpose()
    }

    /// Returns the filter with this name; `None` if it is unknown.
    pub fn filter(&self, name: &str) -> Result<Option<Filter>, RequestError> {
        let inner = Context { depth: self.depth + 1, ..*self };
        if inner.depth > DEPTH_MAX {
            return Err(RequestError::illegal_argument(format!(
                "filter [{name}] is within more than [{DEPTH_MAX}] filters that name others"
            )));
        }
        let find = |kind: &str| FILTERS.iter().find(|known| known.name == kind);
        if let Some((kind, settings)) = declared(self.filters, "filter", name)? {
            let found = find(&kind).ok_or_else(|| unknown("filter", &kind, name, MISSING_FILTERS))?;
            return (found.make)(&settings, &inner).map(Some);
        }
        if MISSING_FILTERS.contains(&name) {
            return Err(RequestError::unsupported(format!("token filter [{name}]")));
        }
        let body = Map::new();
        let found = find(name).filter(|found| found.is_ready);
        found.map(|found| (found.make)(&Settings { name, body: &body }, &inner)).transpose()
    }

    /// Returns the character filter with this name; `None` if it is unknown.
    pub fn char_filter(&self, name: &str) -> Result<Option<CharFilter>, RequestError> {
        let find = |kind: &str| CHAR_FILTERS.iter().find(|known| known.name == kind);
        if let Some((kind, settings)) = declared(self.char_filters, "char_filter", name)? {
            let found =
                find(&kind).ok_or_else(|| unknown("char_filter", &kind, name, MISSING_CHAR_FILTERS))?;
            return (found.make)(&settings, self).map(Some);
        }
        if MISSING_CHAR_FILTERS.contains(&name) {
            return Err(RequestError::unsupported(format!("character filter [{name}]")));
        }
        let body = Map::new();
        let found = find(name).filter(|found| found.is_ready);
        found.map(|found| (found.make)(&Settings { name, body: &body }, self)).transpose()
    }

    /// Returns the text of the file that a setting names.
    pub fn file(&self, path: &str, setting: &str) -> Result<String, RequestError> {
        text_of(&**self.resources, path, setting)
    }

    /// Returns the list under `key`, or the lines of the file under `{key}_path` without comments; `None` if
    /// neither is set.
    pub fn list(&self, settings: &Settings<'_>, key: &str) -> Result<Option<Vec<String>>, RequestError> {
        let setting = format!("{key}_path");
        let Some(path) = settings.text(&setting) else { return Ok(settings.list(key)) };
        let text = self.file(&path, &setting)?;
        let lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.trim().to_owned());
        Ok(Some(lines.filter(|line| !line.is_empty()).collect()))
    }

    /// Returns the filters with these names in order, each built for its position in the chain.
    pub fn filters(
        &self,
        names: &[String],
        char_filters: &[CharFilter],
        tokenizer: &Arc<dyn Tokenizer>,
        missing: impl Fn(&str) -> RequestError,
    ) -> Result<Vec<Filter>, RequestError> {
        let mut chain = Vec::with_capacity(check_chain(names.len())?);
        for name in names {
            let before = Before { char_filters, tokenizer, filters: &chain };
            let found = Context { before: Some(before), ..*self }.filter(name)?;
            chain.push(found.ok_or_else(|| missing(name))?);
        }
        Ok(chain)
    }
}
