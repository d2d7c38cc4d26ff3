//! Lists of buckets put together: what the aggregations whose buckets say of themselves what they are have in
//! common.

use serde_json::{Map, Value};

use crate::aggregation::answer::partial::{Key, ListBucket, ListPartial, Partial, compare_keys};
use crate::aggregation::answer::reduce::Reducer;
use crate::aggregation::answer::render::{Renderer, term_text};
use crate::aggregation::source::Source;
use crate::aggregation::tree::Aggregation;
use crate::aggregation::values::format::{Format, double};
use crate::error::Result;

/// Buckets of one key, before the aggregations below them are put together.
#[derive(Debug)]
pub struct Group {
    pub bucket: ListBucket,
    pub parts: Vec<Vec<Partial>>,
}

/// [`groups`] of all buckets of several lists.
pub fn groups_of(lists: Vec<ListPartial>) -> Vec<Group> {
    groups(lists.into_iter().flat_map(|list| list.buckets))
}

/// Buckets of equal keys together, by ascending key. Documents, background and errors are added up.
pub fn groups(buckets: impl Iterator<Item = ListBucket>) -> Vec<Group> {
    let mut all: Vec<ListBucket> = buckets.collect();
    promote(&mut all);
    // Stable: what is below equal keys stays in the order of the shards.
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

/// Longs of one index meet doubles of another: all become doubles.
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
    /// A group as a bucket of the answer. Its count was taken by the caller.
    pub fn bucket_of(&mut self, aggregation: &Aggregation, group: Group) -> Result<ListBucket> {
        let subs = self.subs(&aggregation.subs, group.parts)?;
        Ok(ListBucket { subs, ..group.bucket })
    }

    /// All groups as buckets of the answer.
    pub fn buckets_of(&mut self, aggregation: &Aggregation, groups: Vec<Group>) -> Result<Vec<ListBucket>> {
        self.count_buckets(groups.len())?;
        groups.into_iter().map(|group| self.bucket_of(aggregation, group)).collect()
    }
}

/// A key as JSON, as `key` shows it.
pub fn key_json(key: &Key, format: &Format) -> Value {
    match key {
        Key::Missing => Value::Null,
        Key::Long(value) => format.long(*value),
        Key::Double(value) => double(*value),
        Key::Term(term) => term_text(term, format).into(),
    }
}

/// One part of a key of several: what has a form of its own as text, booleans as such.
pub fn part_json(key: &Key, format: &Format) -> Value {
    match (key, format) {
        (Key::Missing, _) => Value::Null,
        (Key::Term(term), format) => term_text(term, format).into(),
        (Key::Long(value), Format::Raw | Format::Unsigned) => format.long(*value),
        (Key::Double(value), Format::Raw) => double(*value),
        (Key::Long(value), Format::Boolean) => (*value != 0).into(),
        (key, format) => key_text(key, format).into(),
    }
}

/// A key as text, as `key_as_string` shows it.
pub fn key_text(key: &Key, format: &Format) -> String {
    match key {
        Key::Missing => "null".to_owned(),
        Key::Long(value) => format.text_of_long(*value),
        Key::Double(value) => format.text(*value),
        Key::Term(term) => term_text(term, format),
    }
}

/// `key`, and `key_as_string` where the key's form is not its own.
pub fn push_key(head: &mut Map<String, Value>, key: &Key, source: Option<&Source>) {
    let format = source.map_or(&Format::Raw, |source| &source.format);
    head.insert("key".into(), key_json(key, format));
    if !format.is_raw() && matches!(key, Key::Long(_) | Key::Double(_)) {
        head.insert("key_as_string".into(), key_text(key, format).into());
    }
}

/// Writes `buckets`: each with what `head` puts before its number of documents.
pub fn render_buckets(
    list: &ListPartial,
    renderer: &Renderer<'_>,
    out: &mut Map<String, Value>,
    head: impl Fn(&ListBucket, &mut Map<String, Value>),
) -> Result<()> {
    let bodies = list.buckets.iter().map(|bucket| {
        let mut map = Map::new();
        head(bucket, &mut map);
        Ok(Value::Object(renderer.bucket(map, bucket.doc_count, &bucket.subs)?))
    });
    out.insert("buckets".into(), bodies.collect::<Result<_>>()?);
    Ok(())
}
