//! The reduce and rendering that aggregations have in common whose buckets carry their own keys.

use serde_json::Value;

use crate::aggregation::answer::members::Members;
use crate::aggregation::answer::partial::{Key, ListBucket, ListPartial, Partial, compare_keys};
use crate::aggregation::answer::reduce::Reducer;
use crate::aggregation::answer::render::Renderer;
use crate::aggregation::source::Source;
use crate::aggregation::tree::Aggregation;
use crate::aggregation::values::claimed;
use crate::aggregation::values::format::{Format, double};
use crate::error::Result;

/// The buckets of one key, before their sub-aggregations are reduced.
#[derive(Debug)]
pub struct Group {
    pub bucket: ListBucket,
    pub parts: Vec<Vec<Partial>>,
}

/// Returns the [`groups`] of the buckets of several lists.
pub fn groups_of(lists: Vec<ListPartial>) -> Vec<Group> {
    groups(lists.into_iter().flat_map(|list| list.buckets))
}

/// Groups buckets with equal keys, by ascending key. Document counts, background counts and errors are added.
pub fn groups(buckets: impl Iterator<Item = ListBucket>) -> Vec<Group> {
    let mut all: Vec<ListBucket> = buckets.collect();
    promote(&mut all);
    // The sort is stable: sub-aggregations of equal keys stay in the order of the shards.
    all.sort_by(|left, right| compare_keys(&left.keys, &right.keys));
    let mut groups: Vec<Group> = Vec::new();
    for mut bucket in all {
        let subs = std::mem::take(&mut bucket.subs);
        match groups.last_mut() {
            Some(last) if compare_keys(&last.bucket.keys, &bucket.keys).is_eq() => {
                last.bucket.doc_count += bucket.doc_count;
                last.bucket.background += bucket.background;
                last.bucket.error += bucket.error;
                last.parts.push(subs);
            }
            _ => groups.push(Group { bucket, parts: vec![subs] }),
        }
    }
    groups
}

/// Converts longs to doubles where one index has longs and another one doubles.
fn promote(buckets: &mut [ListBucket]) {
    let width = buckets.first().map_or(0, |bucket| bucket.keys.len());
    for place in 0..width {
        let has_doubles = buckets.iter().any(|bucket| matches!(bucket.keys[place], Key::Double(_)));
        for bucket in buckets.iter_mut().filter(|_| has_doubles) {
            if let Key::Long(value) = bucket.keys[place] {
                bucket.keys[place] = Key::Double(value as f64);
            }
        }
    }
}

impl Reducer<'_> {
    /// Makes a bucket of the answer from a group. The caller has already taken the document count.
    pub fn bucket_of(&mut self, aggregation: &Aggregation, group: Group) -> Result<ListBucket> {
        let subs = self.subs(&aggregation.subs, group.parts)?;
        Ok(ListBucket { subs, ..group.bucket })
    }

    /// Makes buckets of the answer from all groups.
    pub fn buckets_of(&mut self, aggregation: &Aggregation, groups: Vec<Group>) -> Result<Vec<ListBucket>> {
        self.count_buckets(groups.len())?;
        groups.into_iter().map(|group| self.bucket_of(aggregation, group)).collect()
    }
}

/// Formats a key as the JSON of `key`.
pub fn key_json(key: &Key, format: &Format) -> Result<Value> {
    Ok(match key {
        Key::Missing => Value::Null,
        Key::Long(value) => format.long(*value),
        Key::Double(value) => double(*value),
        Key::Term(term) => format.text_of_term(term)?.into(),
    })
}

/// Formats one part of a compound key: as a string if it has a format of its own, booleans as booleans.
pub fn part_json(key: &Key, format: &Format) -> Result<Value> {
    Ok(match (key, format) {
        (Key::Missing, _) => Value::Null,
        (Key::Term(term), format) => format.text_of_term(term)?.into(),
        (Key::Long(value), Format::Raw | Format::Unsigned) => format.long(*value),
        (Key::Double(value), Format::Raw) => double(*value),
        (Key::Long(value), Format::Boolean) => (*value != 0).into(),
        (key, format) => key_text(key, format)?.into(),
    })
}

/// Formats a key as the string of `key_as_string`.
pub fn key_text(key: &Key, format: &Format) -> Result<String> {
    match key {
        Key::Missing => Ok("null".to_owned()),
        Key::Long(value) => format.text_of_long(*value),
        Key::Double(value) => format.text(*value),
        Key::Term(term) => format.text_of_term(term),
    }
}

/// Formats a key that consists of several parts as the string of `key_as_string`.
pub fn keys_text(keys: &[Key], sources: &[Source]) -> Result<String> {
    let format = |place: usize| sources.get(place).map_or(&Format::Raw, |source| &source.format);
    let parts: Vec<String> =
        keys.iter().enumerate().map(|(place, key)| key_text(key, format(place))).collect::<Result<_>>()?;
    claimed::joined(&parts, "|")
}

/// Whether a bucket shows its key as `key_as_string`, too.
pub fn is_formatted(key: &Key, format: &Format) -> bool {
    !format.is_raw() && matches!(key, Key::Long(_) | Key::Double(_))
}

/// Adds `key`, and `key_as_string` if the key is formatted.
pub fn push_key(out: &mut Members<'_>, key: &Key, source: Option<&Source>) -> Result<()> {
    let format = source.map_or(&Format::Raw, |source| &source.format);
    out.insert("key", &key_json(key, format)?)?;
    match is_formatted(key, format) {
        true => out.insert("key_as_string", &key_text(key, format)?),
        false => Ok(()),
    }
}

/// Renders `buckets`; each starts with what `head` writes for it, followed by its document count.
pub fn render_buckets(
    list: &ListPartial,
    renderer: &Renderer<'_>,
    out: &mut Members<'_>,
    head: impl Fn(&ListBucket, &mut Members<'_>) -> Result<()>,
) -> Result<()> {
    out.bucket_list(&list.buckets, |bucket, out| {
        head(bucket, out)?;
        renderer.bucket(bucket.doc_count, &bucket.subs, out)
    })
}
