//! `_disk_usage`: "how much disk space does each field of an index take?"
//!
//! The section tables of the segments give exact sizes, so no data has to be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_segment::Segment;
use limber_segment::file::SectionKind;
use serde_json::{Map, Value, json};

use crate::api::*;
use crate::node::Node;

/// Bytes by kind of data.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Usage {
    inverted_index: u64,
    stored_fields: u64,
    doc_values: u64,
    points: u64,
    norms: u64,
}

impl Usage {
    fn total(&self) -> u64 {
        self.inverted_index + self.stored_fields + self.doc_values + self.points + self.norms
    }

    fn add(&mut self, kind: SectionKind, bytes: u64) {
        match kind {
            SectionKind::TermIndex
            | SectionKind::TermDirectory
            | SectionKind::Terms
            | SectionKind::Postings
            | SectionKind::Positions
            | SectionKind::IdFilter
            | SectionKind::IdRuns => self.inverted_index += bytes,
            SectionKind::Norms => self.norms += bytes,
            SectionKind::Column | SectionKind::Shapes => self.doc_values += bytes,
            SectionKind::Points => self.points += bytes,
            SectionKind::StoredBlocks
            | SectionKind::StoredIndex
            | SectionKind::StoredChecksums
            | SectionKind::StoredDictionary => self.stored_fields += bytes,
            // The list of fields and the nesting of documents belong to no field.
            SectionKind::Fields | SectionKind::Nested => {}
        }
    }

    fn merge(&mut self, other: &Usage) {
        self.inverted_index += other.inverted_index;
        self.stored_fields += other.stored_fields;
        self.doc_values += other.doc_values;
        self.points += other.points;
        self.norms += other.norms;
    }

    fn to_json(self, shown: &dyn Fn(u64) -> String) -> Value {
        let mut body = Map::new();
        let total = self.total();
        body.insert("total".into(), shown(total).into());
        body.insert("total_in_bytes".into(), total.into());
        body.insert(
            "inverted_index".into(),
            json!({"total": shown(self.inverted_index), "total_in_bytes": self.inverted_index}),
        );
        let parts = [
            ("stored_fields", self.stored_fields),
            ("doc_values", self.doc_values),
            ("points", self.points),
            ("norms", self.norms),
            ("term_vectors", 0),
            ("knn_vectors", 0),
        ];
        for (name, bytes) in parts {
            body.insert(name.into(), shown(bytes).into());
            body.insert(format!("{name}_in_bytes"), bytes.into());
        }
        Value::Object(body)
    }
}

/// Adds the sizes of a segment's sections, by the path of their field.
fn add_segment(segment: &Segment, fields: &mut BTreeMap<Arc<str>, Usage>) {
    let mut paths: Vec<Arc<str>> = segment.fields().iter().map(|field| field.shown_path()).collect();
    // The fields of nested documents continue the same numbering.
    for space in segment.nested_spaces() {
        paths.extend(space.segment.fields().iter().map(|field| field.shown_path()));
    }
    for section in segment.file_sections() {
        let path = match (paths.get(section.field as usize), section.kind) {
            (Some(path), _) => path.clone(),
            (
                None,
                SectionKind::StoredBlocks
                | SectionKind::StoredIndex
                | SectionKind::StoredChecksums
                | SectionKind::StoredDictionary,
            ) => "_source".into(),
            (None, SectionKind::IdFilter | SectionKind::IdRuns) => "_id".into(),
            (None, _) => continue,
        };
        fields.entry(path).or_default().add(section.kind, section.len);
    }
}

impl Node {
    /// Returns the body of `POST /{index}/_disk_usage`. `shown` formats bytes for people.
    pub fn disk_usage(
        &self,
        expression: &str,
        options: IndicesOptions,
        flush: bool,
        shown: &dyn Fn(u64) -> String,
    ) -> Result<Value> {
        let mut shards = BroadcastResponse::default();
        let mut body = Map::new();
        for (metadata, live) in self.live_of(expression, options)? {
            let mut fields: BTreeMap<Arc<str>, Usage> = BTreeMap::new();
            let mut store_bytes = 0;
            for shard in &live.shards {
                shards.total += 1;
                let read = || {
                    if flush {
                        shard.flush(true)?;
                    }
                    shard.snapshot()
                };
                match read() {
                    Ok(snapshot) => {
                        shards.successful += 1;
                        for view in &snapshot.segments {
                            store_bytes += view.segment.file_bytes();
                            add_segment(&view.segment, &mut fields);
                        }
                        // Segments also have the fields that are hidden from the user.
                        let limits = shard.limits()?;
                        fields.retain(|path, _| limits.as_ref().is_none_or(|one| one.allows_field(path)));
                    }
                    Err(error) => {
                        shards.failed += 1;
                        let index = metadata.name.clone();
                        shards.failures.push(ShardFailure { index, shard: shard.number, error });
                    }
                }
            }
            let mut all = Usage::default();
            fields.values().for_each(|usage| all.merge(usage));
            let by_field: Map<String, Value> =
                fields.into_iter().map(|(path, usage)| (path.to_string(), usage.to_json(shown))).collect();
            let entry = json!({
                "store_size": shown(store_bytes),
                "store_size_in_bytes": store_bytes,
                "all_fields": all.to_json(shown),
                "fields": by_field,
            });
            body.insert(metadata.name.to_string(), entry);
        }
        let mut answer = Map::new();
        answer.insert("_shards".into(), shards.to_json());
        answer.extend(body);
        Ok(Value::Object(answer))
    }
}
