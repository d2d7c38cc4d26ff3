//! `_termvectors`: "which terms does this document have, where, and how common are they?"
//!
//! Terms are computed from the source, with the analyzers of the fields: no term vectors are stored,
//! whatever `term_vector` says. The mapping parameter only decides which fields are shown by default, and
//! whether their positions, offsets and payloads are.
//!
//! Source: Elasticsearch's `TermVectorsService`, `TermVectorsFilter`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use limber_mapping::analysis::Analyzer;
use limber_mapping::{Field, Mapping, RequestError, reserved};
use limber_text::wildcard;
use serde_json::{Map, Value, json};

use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::request::{TermFilter, TermVectorsRequest};
use crate::values::gather::gather;

/// Upper bound of the bytes that one byte of a text takes as terms, tokens and their JSON.
const BYTES_PER_BYTE: u64 = 64;

/// An occurrence of a term; offsets are in UTF-16 units.
struct Place {
    position: u32,
    start: u32,
    end: u32,
    payload: Option<Arc<[u8]>>,
}

/// The terms of one field with their occurrences.
type Terms = BTreeMap<String, Vec<Place>>;

/// Returns the `term_vectors` of one document, by field. `is_artificial`: the document is in no index.
///
/// # Errors
/// An analyzer does not exist, not enough memory, cancelled, corrupt data or a disk error.
pub fn term_vectors(
    shard: &ShardSnapshot,
    source: &Value,
    is_artificial: bool,
    request: &TermVectorsRequest,
    context: &SearchContext,
) -> Result<Map<String, Value>> {
    let mapping = &shard.mapping;
    let mut charge = context.ledger.request.charge(0, "<term vectors>")?;
    let mut shown = BTreeMap::new();
    for field in mapping.fields().iter().filter(|field| can_have_vectors(field)) {
        context.check()?;
        let Some(vectors) = Vectors::of(mapping, field, is_artificial, request) else { continue };
        let texts = values_of(mapping, source, field);
        if texts.is_empty() {
            continue;
        }
        let bytes: usize = texts.iter().map(String::len).sum();
        charge.grow(bytes as u64 * BYTES_PER_BYTE, "<term vectors>")?;
        let analyzer = match request.analyzers.get(&*field.path) {
            Some(name) => Some(mapping.settings().analyzers.get(name).cloned().ok_or_else(|| {
                RequestError::illegal_argument(format!("failed to find analyzer [{name}]"))
            })?),
            None => field.analyzer.clone(),
        };
        let terms = terms_of(field, analyzer.as_deref(), &texts);
        if terms.is_empty() {
            continue;
        }
        shown.insert(field.path.to_string(), vectors.show(shard, field, &terms, request)?);
    }
    shard.intact()?;
    Ok(shown.into_iter().collect())
}

/// Whether a field has text that is searched as terms.
fn can_have_vectors(field: &Field) -> bool {
    field.index && field.scores_by_frequency() && field.id.0 as usize >= reserved::COUNT
}

/// What is shown of a field's tokens.
struct Vectors {
    positions: bool,
    offsets: bool,
    payloads: bool,
}

impl Vectors {
    /// Decides what is shown of a field; `None` if the field is not requested.
    fn of(
        mapping: &Mapping,
        field: &Field,
        is_artificial: bool,
        request: &TermVectorsRequest,
    ) -> Option<Vectors> {
        let kept = mapping.parameter(&field.path, "term_vector");
        let kept = kept.as_ref().and_then(Value::as_str).filter(|kept| *kept != "no" && !is_artificial);
        match &request.fields {
            Some(wanted) if !wanted.iter().any(|pattern| wildcard::matches(pattern, &field.path)) => {
                return None;
            }
            None if kept.is_none() && !is_artificial => return None,
            _ => {}
        }
        match kept {
            // Its vectors would be stored with a nested object, which is a document of its own.
            Some(_) if mapping.nested_around(&field.path).is_some() => None,
            Some(kept) if !request.analyzers.contains_key(&*field.path) => Some(Vectors {
                positions: request.positions && kept.contains("positions"),
                offsets: request.offsets && kept.contains("offsets"),
                payloads: request.payloads && kept.contains("payloads"),
            }),
            // Elasticsearch analyzes the values again, into an index in memory without payloads.
            _ => Some(Vectors { positions: request.positions, offsets: request.offsets, payloads: false }),
        }
    }

    fn show(
        &self,
        shard: &ShardSnapshot,
        field: &Field,
        terms: &Terms,
        request: &TermVectorsRequest,
    ) -> Result<Value> {
        // Outer nested objects first: a space is reached through the spaces that enclose it.
        let inner;
        let scope = match shard.mapping.nested_around(&field.path) {
            Some(nested) => {
                inner = shard.within(nested)?;
                &inner
            }
            None => shard,
        };
        let field_statistics = FieldStatistics::of(scope, field)?;
        let mut out = Map::new();
        if request.field_statistics {
            out.insert("field_statistics".into(), field_statistics.to_json());
        }
        let needs_counts = request.term_statistics || request.filter.is_some();
        let mut counts = Vec::with_capacity(terms.len());
        for term in terms.keys() {
            counts.push(match needs_counts {
                true => TermStatistics::of(scope, field, term)?,
                false => TermStatistics::default(),
            });
        }
        let scores = request.filter.as_ref().map(|filter| best(filter, terms, &counts, &field_statistics));
        let has_payloads = |place: &Place| place.payload.is_some();
        let shows_payloads = self.payloads && terms.values().flatten().any(has_payloads);
        let mut shown = Map::new();
        for (at, ((term, places), counts)) in terms.iter().zip(&counts).enumerate() {
            let score = match &scores {
                Some(scores) => match scores.get(&at) {
                    None => continue,
                    found => found,
                },
                None => None,
            };
            let mut entry = Map::new();
            if request.term_statistics && counts.doc_freq > 0 {
                entry.insert("doc_freq".into(), counts.doc_freq.into());
                entry.insert("ttf".into(), counts.total_term_freq.into());
            }
            entry.insert("term_freq".into(), places.len().into());
            if self.positions || self.offsets || shows_payloads {
                let tokens = places.iter().map(|place| self.show_place(place));
                entry.insert("tokens".into(), tokens.collect::<Vec<_>>().into());
            }
            if let Some(score) = score {
                entry.insert("score".into(), crate::score::float_to_json(*score));
            }
            shown.insert(term.clone(), entry.into());
        }
        out.insert("terms".into(), shown.into());
        Ok(out.into())
    }

    fn show_place(&self, place: &Place) -> Value {
        let mut token = Map::new();
        if self.positions {
            token.insert("position".into(), place.position.into());
        }
        if self.offsets {
            token.insert("start_offset".into(), place.start.into());
            token.insert("end_offset".into(), place.end.into());
        }
        if self.payloads
            && let Some(payload) = place.payload.as_ref().filter(|payload| !payload.is_empty())
        {
            token.insert("payload".into(), BASE64.encode(payload).into());
        }
        token.into()
    }
}

/// Returns the field's values in the source; a multi-field has the values of its parent field.
fn values_of(mapping: &Mapping, source: &Value, field: &Field) -> Vec<String> {
    let is_around =
        |parent: &str| mapping.field(parent).is_some_and(|parent| parent.multi_fields.contains(&field.id));
    let path = match field.path.rsplit_once('.') {
        Some((parent, _)) if is_around(parent) => parent,
        _ => &field.path,
    };
    let mut found = Vec::new();
    gather(source, path, &mut found);
    let limit = field.ignore_above.map_or(usize::MAX, |limit| limit as usize);
    let texts = found.into_iter().filter_map(crate::values::json::scalar_text);
    texts.filter(|text| text.len() <= limit || text.encode_utf16().count() <= limit).collect()
}

/// Analyzes the values one after the other: positions continue after the analyzer's gap, offsets after one
/// unit.
fn terms_of(field: &Field, analyzer: Option<&Analyzer>, texts: &[String]) -> Terms {
    let mut terms = Terms::new();
    let (mut first_position, mut first_unit) = (0, 0);
    let own_gap = field.is_analyzed();
    for text in texts {
        let units = text.encode_utf16().count() as u32;
        let mut last = None;
        match analyzer {
            Some(analyzer) => {
                for token in analyzer.analyze(text).tokens {
                    let position = first_position + token.position;
                    let place = Place {
                        position,
                        start: first_unit + token.start_offset,
                        end: first_unit + token.end_offset,
                        payload: token.payload.flatten(),
                    };
                    last = Some(position);
                    terms.entry(token.token).or_default().push(place);
                }
            }
            None => {
                let (start, end) = (first_unit, first_unit + units);
                let place = Place { position: first_position, start, end, payload: None };
                last = Some(first_position);
                terms.entry(field.normalize(text).into_owned()).or_default().push(place);
            }
        }
        let gap = match analyzer {
            Some(_) if own_gap => field.position_increment_gap,
            Some(analyzer) => analyzer.position_increment_gap,
            None => 0,
        };
        first_position = last.map_or(first_position, |last| last + 1).saturating_add(gap);
        first_unit += units + 1;
    }
    terms
}

/// Statistics of a field in a shard, deleted documents included.
#[derive(Debug, Default)]
struct FieldStatistics {
    sum_doc_freq: u64,
    doc_count: u64,
    sum_total_term_freq: u64,
}

impl FieldStatistics {
    fn of(shard: &ShardSnapshot, field: &Field) -> Result<FieldStatistics> {
        let mut sum = FieldStatistics::default();
        for view in &shard.segments {
            if let Some(terms) = view.segment.terms(&field.path)? {
                sum.sum_doc_freq += terms.sum_doc_freq();
                sum.doc_count += u64::from(terms.doc_count_with_field());
                sum.sum_total_term_freq += terms.sum_total_term_freq();
            }
        }
        Ok(sum)
    }

    fn to_json(&self) -> Value {
        json!({
            "sum_doc_freq": self.sum_doc_freq,
            "doc_count": self.doc_count,
            "sum_ttf": self.sum_total_term_freq,
        })
    }
}

/// Statistics of a term in a shard.
#[derive(Debug, Default)]
struct TermStatistics {
    doc_freq: u64,
    total_term_freq: u64,
}

impl TermStatistics {
    fn of(shard: &ShardSnapshot, field: &Field, term: &str) -> Result<TermStatistics> {
        let mut sum = TermStatistics::default();
        for view in &shard.segments {
            if let Some(terms) = view.segment.terms(&field.path)?
                && let Some(info) = terms.get(term.as_bytes())?
            {
                sum.doc_freq += u64::from(info.doc_freq);
                sum.total_term_freq += info.total_term_freq;
            }
        }
        Ok(sum)
    }
}

/// Returns the numbers of the terms that pass the filter, with their scores: the frequency in the document
/// times Lucene's classic `idf`.
fn best(
    filter: &TermFilter,
    terms: &Terms,
    counts: &[TermStatistics],
    field: &FieldStatistics,
) -> BTreeMap<usize, f32> {
    let mut kept = Best { heap: Vec::new(), count_max: filter.count_max };
    for (at, ((term, places), counts)) in terms.iter().zip(counts).enumerate() {
        let (length, freq) = (term.encode_utf16().count(), places.len() as u64);
        let fits = length >= filter.length_min
            && (filter.length_max == 0 || length <= filter.length_max)
            && (filter.term_freq_min..=filter.term_freq_max).contains(&freq)
            && (filter.doc_freq_min.max(1)..=filter.doc_freq_max).contains(&counts.doc_freq);
        if fits {
            let rarity = ((field.doc_count + 1) as f64 / (counts.doc_freq + 1) as f64).ln() + 1.0;
            kept.offer(at, freq as f32 * rarity as f32);
        }
    }
    kept.heap.into_iter().collect()
}

/// The best terms, as a heap whose first element is the worst. Which of several terms with the same score
/// stay depends on the order in the heap, which is that of Lucene's `PriorityQueue`.
struct Best {
    heap: Vec<(usize, f32)>,
    count_max: usize,
}

impl Best {
    /// Adds a term if there is room, or in place of the worst if that has a lower score.
    fn offer(&mut self, at: usize, score: f32) {
        if self.heap.len() < self.count_max {
            self.heap.push((at, score));
            self.rise(self.heap.len() - 1);
        } else if self.heap.first().is_some_and(|worst| worst.1 < score) {
            self.heap[0] = (at, score);
            self.sink(0);
        }
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 && self.heap[place].1 < self.heap[(place - 1) / 2].1 {
            self.heap.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let Some(&(_, mut least)) = self.heap.get(left) else { return };
            let mut child = left;
            if let Some(other) = self.heap.get(right).filter(|other| other.1 < least) {
                (child, least) = (right, other.1);
            }
            if least >= self.heap[place].1 {
                return;
            }
            self.heap.swap(place, child);
            place = child;
        }
    }
}
