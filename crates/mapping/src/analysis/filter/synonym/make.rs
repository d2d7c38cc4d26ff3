//! The settings of both filters.

use std::sync::Arc;

use super::flat::Flat;
use super::graph::Graph;
use super::map::{Fault, SynonymMap};
use super::rules::{Reading, read_solr, read_wordnet};
use crate::RequestError;
use crate::analysis::Analyzer;
use crate::analysis::chain::{Filter, Parsing};
use crate::analysis::context::{Before, Context};
use crate::analysis::settings::{Settings, text};

/// Makes `synonym`. Reads `synonyms`, `synonyms_path` or `synonyms_set`, `format`, `expand`, `lenient` and
/// `updateable`.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let map = map(settings, context)?;
    updateable(settings, Filter::stream(Flat(Arc::new(map))))
}

/// Makes `synonym_graph`. Reads the same settings.
pub fn make_graph(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let map = map(settings, context)?;
    updateable(settings, Filter::stream(Graph(Arc::new(map))))
}

fn updateable(settings: &Settings<'_>, filter: Filter) -> Result<Filter, RequestError> {
    let resource = settings.text("synonyms_set").or(settings.text("synonyms_path")).map(Into::into);
    let is_updateable = settings.bool("updateable", false)?;
    let updateable_name = is_updateable.then(|| settings.name.into());
    Ok(Filter { is_updateable, updateable_name, resource, ..filter }.parsing(Parsing::Skipped))
}

/// Returns the rules, one string each even if it contains commas, and their origin for error messages. A set
/// that does not exist yet has no rules.
fn rules(settings: &Settings<'_>, context: &Context<'_>) -> Result<(Vec<String>, String), RequestError> {
    if let Some(set) = settings.text("synonyms_set") {
        if !settings.bool("updateable", false)? {
            return Err(RequestError::illegal_argument(
                "Can't apply [synonyms_set]! Loading synonyms from index is supported only for search time synonyms!",
            ));
        }
        return Ok((context.resources.synonyms(&set).unwrap_or_default(), format!("[{set}] synonyms set")));
    }
    let own = |rules| Ok((rules, format!("['{}' analyzer settings]", settings.name)));
    match settings.value("synonyms") {
        Some(serde_json::Value::Array(rules)) => own(rules.iter().map(text).collect()),
        Some(serde_json::Value::Object(rules)) => own(rules.values().map(text).collect()),
        Some(one) => own(vec![text(one)]),
        None if settings.value("synonyms_path").is_some() => {
            let path = settings.text("synonyms_path").unwrap_or_default();
            let lines = context.file(&path, "synonyms_path")?;
            Ok((lines.lines().map(str::to_owned).collect(), format!("[{path}]")))
        }
        None => Err(RequestError::illegal_argument(
            "synonym requires either `synonyms`, `synonyms_set` or `synonyms_path` to be configured",
        )),
    }
}

fn map(settings: &Settings<'_>, context: &Context<'_>) -> Result<SynonymMap, RequestError> {
    let reading = Reading {
        expand: settings.bool("expand", true)?,
        lenient: settings.bool("lenient", settings.bool("updateable", false)?)?,
    };
    let mut map = SynonymMap::new(settings.bool("ignore_case", false)?);
    let (lines, origin) = rules(settings, context)?;
    // Outside of an analyzer the rules cannot be analyzed.
    let Some(before) = context.before else { return Ok(map) };
    let analyzer = analyzer(&before)?;
    let analyze = |text: &str| tokens(&analyzer, text);
    let read = match settings.text("format").as_deref() {
        Some("wordnet") => read_wordnet(&lines, reading, &analyze, &mut map),
        _ => read_solr(&lines, reading, &analyze, &mut map),
    };
    let is_fault = |error: &RequestError| error.kind == "parse_exception";
    match read {
        Err(cause) if is_fault(&cause) => {
            let reason = format!("failed to build synonyms from {origin}");
            Err(RequestError::illegal_argument(reason).caused_by(cause))
        }
        Err(other) => Err(other),
        Ok(()) => Ok(map.finished()),
    }
}

/// Returns the analyzer for the rules: the components before the filter, without those that make several
/// tokens of one.
fn analyzer(before: &Before<'_>) -> Result<Analyzer, RequestError> {
    let mut filters = Vec::new();
    for filter in before.filters {
        match filter.parsing {
            Parsing::Itself => filters.push(filter.clone()),
            Parsing::Skipped => {}
            Parsing::Refused => {
                return Err(RequestError::illegal_argument(
                    "Token filter cannot be used to parse synonyms: it makes several tokens of one",
                ));
            }
        }
    }
    let analyzer = Analyzer::new("synonyms", before.tokenizer.clone(), filters);
    Ok(analyzer.with_char_filters(before.char_filters.to_vec()))
}

fn tokens(analyzer: &Analyzer, text: &str) -> Result<Vec<String>, Fault> {
    let mut found: Vec<String> = Vec::new();
    let (mut wrong, mut last) = (None, -1i64);
    analyzer.tokens(text, |token| {
        let increment = i64::from(token.position) - last;
        last = i64::from(token.position);
        if token.text.is_empty() {
            wrong.get_or_insert_with(|| format!("term: {text} analyzed to a zero-length token"));
        } else if increment != 1 {
            wrong.get_or_insert_with(|| {
                format!(
                    "term: {text} analyzed to a token ({}) with position increment != 1 (got: {increment})",
                    token.text
                )
            });
        }
        found.push(token.text.to_owned());
    });
    limber_work::check()?;
    match wrong {
        Some(reason) => Err(reason.into()),
        None if found.is_empty() => Err(format!("term: {text} was completely eliminated by analyzer").into()),
        None => Ok(found),
    }
}
