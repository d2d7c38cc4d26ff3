//! How often searches used each field of a shard, since the shard was made.
//!
//! Source: Elasticsearch's `ShardFieldUsageTracker`, `FieldUsageStats`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use limber_segment::SegmentView;
use limber_segment::uses::part;
use limber_store::sync::Mutex;
use limber_text::wildcard;
use serde_json::{Map, Value, json};

/// The parts of a field's data, each with the name under which it is shown.
const PARTS: [u16; 8] = [
    part::TERMS,
    part::POSTINGS,
    part::TERM_FREQUENCIES,
    part::POSITIONS,
    part::DOC_VALUES,
    part::POINTS,
    part::NORMS,
    part::STORED_FIELDS,
];

/// Numbers of searches.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    any: u64,
    /// Those that used each of [`PARTS`].
    by_part: [u64; PARTS.len()],
}

/// The uses of one shard, by the path of the field. Only fields of the mapping are here, so that there are no
/// more than those.
#[derive(Debug, Default)]
pub(crate) struct FieldUsage {
    counted: Mutex<BTreeMap<Arc<str>, Counts>>,
    /// When counting began, in milliseconds since 1970.
    since_ms: AtomicU64,
}

impl Counts {
    fn add_use(&mut self, parts: u16) {
        self.any += 1;
        for (part, count) in PARTS.into_iter().zip(&mut self.by_part) {
            *count += u64::from(parts & part != 0);
        }
    }

    fn add(&mut self, other: &Counts) {
        self.any += other.any;
        self.by_part.iter_mut().zip(other.by_part).for_each(|(own, other)| *own += other);
    }

    fn to_json(self) -> Value {
        let [terms, postings, frequencies, positions, doc_values, points, norms, stored] = self.by_part;
        json!({
            "any": self.any,
            "inverted_index": {
                "terms": terms,
                "postings": postings,
                "term_frequencies": frequencies,
                "positions": positions,
                "offsets": 0,
                "payloads": 0,
                "proximity": positions,
            },
            "stored_fields": stored,
            "doc_values": doc_values,
            "points": points,
            "norms": norms,
            "term_vectors": 0,
            "knn_vectors": 0,
        })
    }
}

impl FieldUsage {
    /// Begins to count.
    pub fn begin(&self, now_ms: u64) {
        self.since_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Returns when counting began, in milliseconds since 1970.
    pub fn since_ms(&self) -> u64 {
        self.since_ms.load(Ordering::Relaxed)
    }

    /// Counts a search for each field that it used in one of these segments. `uses`: fields and their parts
    /// by segment.
    pub fn add(&self, segments: &[SegmentView], uses: &HashMap<u64, Vec<(u32, u16)>>) {
        let mut used: BTreeMap<Arc<str>, u16> = BTreeMap::new();
        for view in segments {
            for (field, parts) in uses.get(&view.segment.core()).into_iter().flatten() {
                if let Some(path) = view.segment.used_path(*field) {
                    *used.entry(path).or_default() |= parts;
                }
            }
        }
        let mut counted = self.counted.lock();
        for (path, parts) in used {
            counted.entry(path).or_default().add_use(parts);
        }
    }

    /// Renders the uses of the fields that one of `patterns` matches and that the user may see.
    pub fn to_json(&self, patterns: &[String], is_seen: &dyn Fn(&str) -> bool) -> Value {
        let (mut all, mut fields) = (Counts::default(), Map::new());
        for (path, counts) in &*self.counted.lock() {
            let is_asked =
                patterns.iter().any(|pattern| pattern == "_all" || wildcard::matches(pattern, path));
            if is_asked && is_seen(path) {
                all.add(counts);
                fields.insert(path.to_string(), counts.to_json());
            }
        }
        json!({"all_fields": all.to_json(), "fields": fields})
    }
}
