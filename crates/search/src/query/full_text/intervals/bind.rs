//! Binds the rules of an `intervals` query to sources on a shard.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use limber_script::ScriptContext;
use limber_text::automaton::{Levenshtein, Regexp, RegexpOptions};

use super::rule::{By, Filter, Rule};
use crate::error::Error;
use crate::primitives::{Docs, IntervalsNode, PatternTerms, Source};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::full_text::analysed::analyse;
use crate::query::parse::{QueryLimits, QueryNode};
use crate::query::term_level::prefix::prefix_docs;
use crate::query::term_level::wildcard::terms_of_pattern;
use crate::script::BoundScript;

#[derive(Debug)]
pub(super) struct IntervalsQuery {
    pub field: String,
    pub rule: Rule,
}

impl QueryNode for IntervalsQuery {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(field) = binder.field(&self.field) else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        text_field(&field, binder)?;
        let Some(source) = Rules { binder }.source(&self.rule, &field)? else {
            return Ok(BoundQuery::nothing(""));
        };
        binder.count_terms(source.term_count())?;
        let extent_min = source.extent_min();
        Ok(IntervalsNode { field, source, extent_min, boost }.into())
    }
}

fn text_field(field: &Field, binder: &Binder<'_>) -> Result<(), Error> {
    if !field.is_analyzed() {
        return Err(RequestError::illegal_argument(format!(
            "Can only use interval queries on text fields - not on [{}] which is of type [{}]",
            field.path,
            binder.type_name(field)
        ))
        .into());
    }
    if field.match_only {
        return Err(RequestError::unsupported(format_args!(
            "[intervals] on field [{}] of type [match_only_text]",
            field.path
        ))
        .into());
    }
    if !field.index || !field.positions {
        return Err(RequestError::illegal_argument(format!(
            "Cannot create intervals over field [{}] with no positions indexed",
            field.path
        ))
        .into());
    }
    Ok(())
}

struct Rules<'b> {
    binder: &'b Binder<'b>,
}

impl Rules<'_> {
    /// Makes the source of a rule; `None` if it needs a field that is not mapped, so that nothing can match.
    fn source(&self, rule: &Rule, field: &Arc<Field>) -> Result<Option<Source>, Error> {
        match rule {
            Rule::Match { text, gaps_max, ordered, by, filter } => {
                let Some(source) =
                    self.by(by, field, |field| self.words(text, *gaps_max, *ordered, by, field))?
                else {
                    return Ok(None);
                };
                self.filtered(source, filter.as_deref(), field)
            }
            Rule::AllOf { rules, gaps_max, ordered, filter } => {
                let Some(sources) = self.sources(rules, field)? else { return Ok(None) };
                let source = combined(sources, *gaps_max, *ordered)?;
                self.filtered(source, filter.as_deref(), field)
            }
            Rule::AnyOf { rules, filter } => {
                let Some(sources) = self.sources(rules, field)? else { return Ok(None) };
                self.filtered(Source::any(sources), filter.as_deref(), field)
            }
            Rule::Prefix { prefix, by } => self.by(by, field, |field| {
                let prefix = self.normalized(prefix, by, field);
                Ok(terms(field, prefix_docs(field, &prefix), format!("{prefix}*"), "prefix"))
            }),
            Rule::Range { lower, upper, by } => self.by(by, field, |field| {
                let end =
                    |(end, is_included): &(String, bool)| (self.normalized(end, by, field), *is_included);
                let (lower, upper) = (end(lower), end(upper));
                // Lucene prints curly braces, whether or not the ends are included.
                let text = format!("{{{},{}}}", lower.0, upper.0);
                let key = format!("range {} {}", lower.1, upper.1);
                let bytes = |(text, is_included): (String, bool)| Some((text.into_bytes(), is_included));
                let docs = Docs::term_range(field, bytes(lower), bytes(upper));
                Ok(terms(field, docs, text, &key))
            }),
            Rule::Wildcard { pattern, by } => self.by(by, field, |field| {
                let pattern = self.normalized(pattern, by, field);
                Ok(terms(field, terms_of_pattern(field, &pattern), pattern, "wildcard"))
            }),
            Rule::Regexp { pattern, by } => self.by(by, field, |field| {
                let pattern = self.normalized(pattern, by, field);
                let automaton = Arc::new(Regexp::parse(&pattern, RegexpOptions::default())?);
                Ok(terms(field, Docs::Automaton { field: field.clone(), automaton }, pattern, "regexp"))
            }),
            Rule::Fuzzy { term, fuzziness, prefix_length, transpositions, by } => {
                let Ok(prefix_length) = usize::try_from(*prefix_length) else {
                    return Err(RequestError::illegal_argument("prefixLength cannot be negative.").into());
                };
                self.by(by, field, |field| {
                    let term = self.normalized(term, by, field);
                    let distance = fuzziness.distance(&term);
                    let automaton =
                        Arc::new(Levenshtein::new(&term, distance, prefix_length, *transpositions)?);
                    let key = format!("fuzzy {distance} {prefix_length} {transpositions}");
                    Ok(terms(field, Docs::Automaton { field: field.clone(), automaton }, term, &key))
                })
            }
        }
    }

    fn sources(&self, rules: &[Rule], field: &Arc<Field>) -> Result<Option<Vec<Source>>, Error> {
        let mut sources = Vec::with_capacity(rules.len());
        for rule in rules {
            let Some(source) = self.source(rule, field)? else { return Ok(None) };
            sources.push(source);
        }
        Ok(Some(sources))
    }

    /// Calls `make` with the rule's own field, or with that of the query.
    fn by(
        &self,
        by: &By,
        field: &Arc<Field>,
        make: impl FnOnce(&Arc<Field>) -> Result<Source, Error>,
    ) -> Result<Option<Source>, Error> {
        let Some(path) = &by.use_field else { return make(field).map(Some) };
        let Some(own) = self.binder.field(path) else { return Ok(None) };
        text_field(&own, self.binder)?;
        let source = Box::new(make(&own)?);
        Ok(Some(Source::InField { path: own.path.clone(), source }))
    }

    /// Returns the analyzer that a rule names; unknown ones are ignored, as in Elasticsearch.
    fn analyzer<'r>(&self, by: &'r By) -> Option<&'r str> {
        by.analyzer.as_deref().filter(|name| self.binder.analyzer(name).is_some())
    }

    fn normalized(&self, text: &str, by: &By, field: &Field) -> String {
        let named = self.analyzer(by).and_then(|name| self.binder.analyzer(name));
        let analyzer = named.or_else(|| field.search_analyzer.clone().or_else(|| field.analyzer.clone()));
        analyzer.map_or_else(|| text.to_owned(), |analyzer| analyzer.normalize(text))
    }

    fn words(
        &self,
        text: &str,
        gaps_max: i32,
        ordered: bool,
        by: &By,
        field: &Arc<Field>,
    ) -> Result<Source, Error> {
        let found = analyse("intervals", field, self.analyzer(by), text, false, self.binder)?;
        let term = |term: Box<[u8]>| Source::Term { field: field.clone(), term: term.into() };
        if found.len() == 1 {
            return Ok(found.into_iter().next().map_or(Source::Nothing, |(text, _)| term(text)));
        }
        // Terms at one position are alternatives; skipped positions before them extend their intervals.
        let mut parts: Vec<(Vec<Source>, u32)> = Vec::new();
        let mut next = 0;
        for (text, position) in found {
            match parts.last_mut() {
                Some((choice, _)) if position + 1 == next => choice.push(term(text)),
                _ => parts.push((vec![term(text)], position.saturating_sub(next))),
            }
            next = position + 1;
        }
        let parts = parts.into_iter().map(|(choice, spaces)| Source::extended(Source::any(choice), spaces));
        combined(parts.collect(), gaps_max, ordered)
    }

    fn filtered(
        &self,
        source: Source,
        filter: Option<&Filter>,
        field: &Arc<Field>,
    ) -> Result<Option<Source>, Error> {
        let filtered = match filter {
            None => source,
            Some(Filter::Script(script)) => {
                let script = BoundScript::bind(script, ScriptContext::Interval, self.binder.shard())?;
                Source::Script { source: Box::new(source), script: Arc::new(script) }
            }
            Some(Filter::Related(relation, rule)) => match self.source(rule, field)? {
                Some(reference) => Source::related(source, *relation, reference)?,
                None => return Ok(None),
            },
            Some(Filter::Beside(side, rule)) => match self.source(rule, field)? {
                Some(reference) => Source::beside(source, *side, reference)?,
                None => return Ok(None),
            },
            Some(Filter::Unknown(name)) => {
                return Err(RequestError::illegal_argument(format!("Unknown filter type [{name}]")).into());
            }
        };
        Ok(Some(filtered))
    }
}

/// Combines sources. Source: Elasticsearch's `IntervalBuilder#combineSources`.
fn combined(mut sources: Vec<Source>, gaps_max: i32, ordered: bool) -> Result<Source, Error> {
    match (sources.len(), gaps_max) {
        (0, _) => Ok(Source::Nothing),
        (1, _) => Ok(sources.remove(0)),
        (_, 0) if ordered => Ok(Source::block(sources)?),
        _ => {
            let source = if ordered { Source::ordered(sources) } else { Source::unordered(sources) };
            Ok(if gaps_max == -1 { source } else { Source::gaps_max(source, gaps_max)? })
        }
    }
}

fn terms(field: &Arc<Field>, docs: Docs, text: String, kind: &str) -> Source {
    let count_max = QueryLimits::default().clauses_max as usize;
    let key = format!("{kind} {text}");
    Source::Terms(Arc::new(PatternTerms { field: field.clone(), docs, count_max, text, key }))
}
