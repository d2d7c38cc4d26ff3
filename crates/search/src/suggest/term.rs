//! The `term` suggester: similar words for each word of a text.

use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};

use limber_mapping::analysis::Analyzer;
use serde_json::{Value, json};

use super::words::{FieldTerms, Similar, by_score};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::request::suggest::Common;
use crate::request::suggest::{SortBy, WordOptions};
use crate::score::float_to_json;

/// A word of the text and its alternatives.
#[derive(Debug)]
pub(super) struct Entry {
    text: String,
    offset: u32,
    length: u32,
    options: Vec<Similar>,
}

/// Returns the suggestions of one shard.
///
/// # Errors
/// Cancelled, out of memory, corrupt data or a disk error.
pub(super) fn of_shard(
    shard: &ShardSnapshot,
    (path, analyzer): (&str, &Analyzer),
    text: &str,
    (common, options): (&Common, &WordOptions),
    context: &SearchContext,
) -> Result<Vec<Entry>> {
    let terms = FieldTerms::open(shard, path)?;
    let mut entries = Vec::new();
    for token in analyzer.analyze(text).tokens {
        let options = terms.similar(&token.token, options, None, common.shard_size, context)?;
        entries.push(Entry {
            offset: token.start_offset,
            length: token.end_offset - token.start_offset,
            text: token.token,
            options,
        });
    }
    Ok(entries)
}

/// Merges the shards' entries into one list; frequencies are added.
pub(super) fn reduce(shards: Vec<Vec<Entry>>, common: &Common, options: &WordOptions) -> Value {
    let mut shards = shards.into_iter();
    let mut all = shards.next().unwrap_or_default();
    let place = |(place, option): (usize, &Similar)| (option.text.clone(), place);
    let mut places: Vec<HashMap<String, usize>> =
        all.iter().map(|entry| entry.options.iter().enumerate().map(place).collect()).collect();
    for shard in shards {
        for ((entry, places), other) in all.iter_mut().zip(&mut places).zip(shard) {
            for option in other.options {
                match places.entry(option.text.clone()) {
                    Occupied(known) => entry.options[*known.get()].frequency += option.frequency,
                    Vacant(place) => {
                        place.insert(entry.options.len());
                        entry.options.push(option);
                    }
                }
            }
        }
    }
    let shown = all.into_iter().map(|mut entry| {
        match options.sort {
            SortBy::Score => entry.options.sort_by(by_score),
            SortBy::Frequency => entry.options.sort_by(|left, right| {
                right.frequency.cmp(&left.frequency).then_with(|| by_score(left, right))
            }),
        }
        entry.options.truncate(common.size);
        let options: Vec<Value> = entry.options.iter().map(shown).collect();
        json!({"text": entry.text, "offset": entry.offset, "length": entry.length, "options": options})
    });
    shown.collect()
}

fn shown(option: &Similar) -> Value {
    json!({"text": option.text, "score": float_to_json(option.score), "freq": option.frequency})
}
