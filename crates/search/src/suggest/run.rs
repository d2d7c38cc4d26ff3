//! Runs all suggestions of a search: on every shard in turn, then merged.

use std::sync::Arc;

use limber_mapping::analysis::Analyzer;
use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::{completion, phrase, term};
use crate::context::failures::{Failures, failure};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::request::SearchRequest;
use crate::request::suggest::{Common, Kind, Suggest, Suggestion};

/// The suggestions of one shard.
enum Answer {
    Term(Vec<term::Entry>),
    Phrase(Vec<phrase::Sentence>),
    Completion(Vec<completion::Found>),
}

/// Returns the `suggest` of an answer. Shards that fail are added to `failures`.
///
/// # Errors
/// Cancelled; all shards have failed, or one where no partial answer is accepted.
pub(crate) fn suggest(
    shards: &[ShardSnapshot],
    request: &SearchRequest,
    wanted: &Suggest,
    failures: &mut Failures,
    allows_partial: bool,
    context: &SearchContext,
) -> Result<Value> {
    let mut shown = Map::new();
    for suggestion in &wanted.entries {
        let mut answers = Vec::new();
        for (number, shard) in shards.iter().enumerate() {
            if failures.has(number) {
                continue;
            }
            let answer = of_shard(shard, suggestion, context);
            match shard.intact().map_err(Error::from).and(answer) {
                Ok(answer) => answers.push((number, answer)),
                Err(error) if error.is_of_one_shard() => {
                    failures.add(number, failure(shard, &error, context))
                }
                Err(error) => return Err(error),
            }
        }
        failures.check("query", shards.len(), allows_partial)?;
        let name = match request.typed_keys {
            true => format!("{}#{}", suggestion.kind.type_name(), suggestion.name),
            false => suggestion.name.clone(),
        };
        shown.insert(name, together(shards, answers, suggestion, request, context)?);
    }
    Ok(Value::Object(shown))
}

fn of_shard(shard: &ShardSnapshot, suggestion: &Suggestion, context: &SearchContext) -> Result<Answer> {
    let text = suggestion.text.as_str();
    match &suggestion.kind {
        Kind::Term(common, options) => {
            let (field, analyzer) = field_of(shard, common)?;
            let place = (&*field.path, &*analyzer);
            Ok(Answer::Term(term::of_shard(shard, place, text, (common, options), context)?))
        }
        Kind::Phrase(common, request) => {
            let (field, analyzer) = field_of(shard, common)?;
            let place = (&*field.path, &*analyzer);
            Ok(Answer::Phrase(phrase::of_shard(shard, place, text, (common, request), context)?))
        }
        Kind::Completion(common, request) => {
            let (field, analyzer) = field_of(shard, common)?;
            let Some(completion) = field.completion.as_deref() else {
                let reason = format!("Field [{}] is not a completion suggest field", common.field);
                return Err(RequestError::illegal_argument(reason).into());
            };
            let place = (&*field.path, completion, &*analyzer);
            let found = completion::of_shard(shard, place, text, (common, request), context)?;
            Ok(Answer::Completion(found))
        }
    }
}

/// Returns the field of a suggestion, and the analyzer for its text.
fn field_of(shard: &ShardSnapshot, common: &Common) -> Result<(Arc<Field>, Arc<Analyzer>)> {
    let Some(field) = shard.mapping.field(&common.field).filter(|field| field.runtime.is_none()) else {
        let reason = format!("no mapping found for field [{}]", common.field);
        return Err(RequestError::illegal_argument(reason).into());
    };
    let analyzers = &shard.mapping.settings().analyzers;
    let analyzer = match &common.analyzer {
        Some(name) => analyzers
            .get(name)
            .cloned()
            .ok_or_else(|| RequestError::illegal_argument(format!("analyzer [{name}] doesn't exists")))?,
        None => match field.search_analyzer.clone().or_else(|| analyzers.get("keyword").cloned()) {
            Some(analyzer) => analyzer,
            None => analyzers.default_search(),
        },
    };
    Ok((field, analyzer))
}

fn together(
    shards: &[ShardSnapshot],
    answers: Vec<(usize, Answer)>,
    suggestion: &Suggestion,
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<Value> {
    let (mut terms, mut phrases, mut completions) = (Vec::new(), Vec::new(), Vec::new());
    for (number, answer) in answers {
        match answer {
            Answer::Term(entries) => terms.push(entries),
            Answer::Phrase(sentences) => phrases.push(sentences),
            Answer::Completion(found) => completions.push((number, found)),
        }
    }
    let text = suggestion.text.as_str();
    match &suggestion.kind {
        Kind::Term(common, options) => Ok(term::reduce(terms, common, options)),
        Kind::Phrase(common, _) => Ok(phrase::reduce(phrases, text, common)),
        Kind::Completion(common, wanted) => {
            completion::reduce(shards, completions, text, (common, wanted), request, context)
        }
    }
}
