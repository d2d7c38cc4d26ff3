//! The `completion` suggester: finds the documents whose inputs continue what was typed, heaviest first.
//!
//! Source: Elasticsearch's `CompletionSuggester` and `TopSuggestGroupDocsCollector`. Lucene reads the
//! heaviest inputs first. Here every matching input is visited and the best are kept: time grows with the
//! number of matches, memory with the number of suggestions requested.

use std::cmp::Ordering;
use std::sync::Arc;

use limber_mapping::Completion;
use limber_mapping::analysis::Analyzer;
use limber_segment::postings::Want;
use limber_segment::{DocId, NO_MORE_DOCS};
use serde_json::{Value, json};

use super::completion_contexts::FoundContexts;
use super::completion_match::Typed;
use crate::collect::Hit;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::fetch::{Searched, fetch_hits};
use crate::query::{self, Query};
use crate::request::SearchRequest;
use crate::request::suggest::{Common, CompletionRequest, Scope, scopes};

/// A document that matches.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// What all documents with this input share.
    pub text: Arc<str>,
    pub score: f32,
    segment: u32,
    doc: DocId,
    shard_doc: u64,
    contexts: FoundContexts,
}

impl Found {
    /// Orders by weight, heaviest first, then by text, then by document.
    fn order(&self, other: &Found) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| self.text.cmp(&other.text))
            .then_with(|| self.shard_doc.cmp(&other.shard_doc))
    }
}

/// The best documents of one shard.
pub(super) struct Best {
    count_max: usize,
    skips_duplicates: bool,
    /// The documents, best first. Each document occurs once; if duplicates are skipped, each text occurs
    /// once.
    found: Vec<Found>,
}

impl Best {
    fn is_wanted(&self, score: f32, text: &str) -> bool {
        match self.found.last() {
            Some(worst) if self.found.len() >= self.count_max => {
                score > worst.score || (score == worst.score && text <= &*worst.text)
            }
            _ => true,
        }
    }

    fn add(&mut self, mut new: Found) {
        if let Some(at) = self.found.iter().position(|known| known.shard_doc == new.shard_doc) {
            if self.found[at].text == new.text || new.order(&self.found[at]) != Ordering::Less {
                let known = &mut self.found[at];
                if known.text == new.text {
                    known.contexts.extend(std::mem::take(&mut new.contexts));
                }
                if new.order(known) != Ordering::Less {
                    return;
                }
                new.contexts = std::mem::take(&mut known.contexts);
            }
            self.found.remove(at);
        }
        if self.skips_duplicates
            && let Some(at) = self.found.iter().position(|known| known.text == new.text)
        {
            if self.found[at].order(&new) != Ordering::Greater {
                return;
            }
            self.found.remove(at);
        }
        let at = self.found.partition_point(|known| known.order(&new) == Ordering::Less);
        self.found.insert(at, new);
        self.found.truncate(self.count_max);
    }
}

/// Returns the suggestions of one shard, best first.
///
/// # Errors
/// An error of the request, cancelled, out of memory, corrupt data or a disk error.
pub(super) fn of_shard(
    shard: &ShardSnapshot,
    (path, field, analyzer): (&str, &Completion, &Analyzer),
    text: &str,
    (common, request): (&Common, &CompletionRequest),
    context: &SearchContext,
) -> Result<Vec<Found>> {
    let typed = Typed::new(text, analyzer, field, request)?;
    if typed.is_nothing() {
        return Ok(Vec::new());
    }
    let scopes = scopes(request, field)?;
    let mut best =
        Best { count_max: common.shard_size, skips_duplicates: request.skip_duplicates, found: Vec::new() };
    let bases = shard.bases();
    for (number, base) in bases.iter().enumerate() {
        for scope in &scopes {
            let place = (number as u32, *base);
            of_scope(shard, place, (path, field), (&typed, scope), &mut best, context)?;
        }
    }
    Ok(best.found)
}

/// Finds the matching terms of one segment under one context.
fn of_scope(
    shard: &ShardSnapshot,
    (number, base): (u32, u64),
    (path, field): (&str, &Completion),
    (typed, scope): (&Typed, &Scope),
    best: &mut Best,
    context: &SearchContext,
) -> Result<()> {
    let view = &shard.segments[number as usize];
    let Some(dictionary) = view.segment.terms(path)? else { return Ok(()) };
    let mut start = scope.prefix.clone();
    let is_whole_context = field.contexts.is_empty() || start.last() == Some(&limber_mapping::CONTEXT_END);
    if is_whole_context {
        start.extend_from_slice(typed.exact_prefix());
    }
    let mut cursor = dictionary.cursor();
    cursor.seek(&start)?;
    while cursor.advance()? {
        context.check()?;
        let term = cursor.term();
        if !term.starts_with(&start) {
            return Ok(());
        }
        let Some(entry) = field.entry(term) else { continue };
        let Some(closeness) = typed.boost(entry.key) else { continue };
        let boost = match field.contexts.is_empty() {
            true => closeness,
            false => scope.boost + closeness,
        };
        let score = match entry.weight as f32 {
            weight if boost == 0.0 => weight,
            0.0 => boost,
            weight => weight * boost,
        };
        if !best.is_wanted(score, entry.text) {
            continue;
        }
        let mut postings = view.segment.postings(path, &cursor.info()?, Want::Docs)?;
        let contexts = FoundContexts::of(field, term);
        let text: Arc<str> = entry.text.into();
        while postings.doc() != NO_MORE_DOCS {
            context.check()?;
            let doc = postings.doc();
            if view.is_live(doc) && best.is_wanted(score, entry.text) {
                best.add(Found {
                    text: text.clone(),
                    score,
                    segment: number,
                    doc,
                    shard_doc: base + u64::from(doc),
                    contexts: contexts.clone(),
                });
            }
            postings.next();
        }
    }
    Ok(())
}

/// Merges the shards' documents into one list, and reads each document from its shard.
///
/// # Errors
/// Corrupt data, a disk error, or cancelled.
pub(super) fn reduce(
    shards: &[ShardSnapshot],
    found: Vec<(usize, Vec<Found>)>,
    text: &str,
    (common, wanted): (&Common, &CompletionRequest),
    request: &SearchRequest,
    context: &SearchContext,
) -> Result<Value> {
    let mut all: Vec<(usize, Found)> = found
        .into_iter()
        .flat_map(|(number, found)| found.into_iter().map(move |one| (number, one)))
        .collect();
    all.sort_by(|left, right| {
        let (one, other) = (&left.1, &right.1);
        other
            .score
            .total_cmp(&one.score)
            .then_with(|| one.text.cmp(&other.text))
            .then_with(|| left.0.cmp(&right.0))
            .then_with(|| one.shard_doc.cmp(&other.shard_doc))
    });
    if wanted.skip_duplicates {
        let mut seen = std::collections::HashSet::new();
        all.retain(|(_, one)| seen.insert(one.text.clone()));
    }
    all.truncate(common.size);
    let mut options = vec![Value::Null; all.len()];
    for (number, shard) in shards.iter().enumerate() {
        let places: Vec<usize> = (0..all.len()).filter(|&place| all[place].0 == number).collect();
        if places.is_empty() {
            continue;
        }
        read(shard, &all, &places, (common, request), &mut options, context)?;
    }
    let text = wanted.shown_text.as_deref().unwrap_or(text);
    Ok(json!([{"text": text, "offset": 0, "length": text.encode_utf16().count(), "options": options}]))
}

/// Reads the documents of one shard.
fn read(
    shard: &ShardSnapshot,
    all: &[(usize, Found)],
    places: &[usize],
    (common, request): (&Common, &SearchRequest),
    options: &mut [Value],
    context: &SearchContext,
) -> Result<()> {
    let query = query::bind_in(&Query::match_all(), shard, context)?;
    let searched = Searched { query: &query, post_filter: None, sorts: &[], rescores: &[], inner: &[] };
    let hits: Vec<Hit> = places
        .iter()
        .map(|&place| {
            let found = &all[place].1;
            Hit {
                segment: found.segment,
                doc: found.doc,
                shard_doc: found.shard_doc,
                score: found.score,
                keys: Box::default(),
                group: None,
            }
        })
        .collect();
    let kind = shard.mapping.field(&common.field).and_then(|field| field.completion.clone());
    for (&place, hit) in places.iter().zip(fetch_hits(shard, searched, &hits, request, false, context)?) {
        let found = &all[place].1;
        limber_work::claim(found.text.len() as u64)?;
        let mut option = json!({"text": &*found.text});
        if let (Value::Object(shown), Value::Object(members)) = (&mut option, hit.to_json(&context.node_id)?)
        {
            shown.extend(members);
            if let Some(field) = &kind
                && let Some(contexts) = found.contexts.to_json(field)
            {
                shown.insert("contexts".to_owned(), contexts);
            }
        }
        options[place] = option;
    }
    Ok(())
}
