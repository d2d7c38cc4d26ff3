//! Counts the terms of a document, field by field.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use limber_mapping::document::{Parsed, Scratch, infer, parse};
use limber_mapping::{Field, FieldSink, Mapping, Nested, RequestError, SpaceId};
use limber_work as work;
use serde_json::{Map, Value};

/// The counts by the field's path and by term. Only text and keyword fields have counts.
#[derive(Debug, Clone, Default)]
pub(super) struct TermCounts(pub(super) BTreeMap<String, BTreeMap<String, u32>>);

/// Maximum number of times that missing levels of objects are added to the mapping.
const ROUNDS_MAX: usize = 3;

impl TermCounts {
    /// Counts the terms of a document.
    ///
    /// `fields`: names and patterns of the wanted fields; `None` for all. `analyzers`: analyzers that replace
    /// those of the fields.
    ///
    /// # Errors
    /// Fails if the document does not fit the mapping, or if an analyzer does not exist.
    pub fn of(
        mapping: &Mapping,
        document: &[u8],
        fields: Option<&[String]>,
        analyzers: &Map<String, Value>,
    ) -> Result<TermCounts, RequestError> {
        let known = &mapping.settings().analyzers;
        let missing =
            analyzers.values().find(|name| name.as_str().is_none_or(|name| known.get(name).is_none()));
        if let Some(name) = missing {
            return Err(RequestError::illegal_argument(format!("analyzer {name} not found")));
        }
        let mut grown: Option<Mapping> = None;
        for _ in 0..ROUNDS_MAX {
            let mapping = grown.as_ref().unwrap_or(mapping);
            let wanted = fields.map(|fields| wanted(mapping, fields)).transpose()?;
            let mut counter = Counter { mapping, wanted, analyzers, counts: TermCounts::default() };
            match parse(mapping, document, &mut Scratch::new(), &mut counter)? {
                Parsed::Done => return Ok(counter.counts),
                // A field that the shard does not map has no terms there, but fields after it may have some.
                Parsed::NeedsMapping => grown = Some(mapping.merge(&infer(mapping, document)?)?),
            }
        }
        Ok(TermCounts::default())
    }
}

/// Returns the paths of the fields that names and patterns select.
fn wanted(mapping: &Mapping, fields: &[String]) -> Result<HashSet<Arc<str>>, RequestError> {
    let mut wanted: HashSet<Arc<str>> = HashSet::new();
    for pattern in fields {
        work::check()?;
        match pattern.contains('*') {
            true => wanted.extend(mapping.matching_distinct(pattern).map(|field| field.path.clone())),
            false => drop(wanted.insert(pattern.as_str().into())),
        }
    }
    Ok(wanted)
}

struct Counter<'c> {
    mapping: &'c Mapping,
    /// The paths of the wanted fields; `None` for all.
    wanted: Option<HashSet<Arc<str>>>,
    analyzers: &'c Map<String, Value>,
    counts: TermCounts,
}

impl Counter<'_> {
    fn is_wanted(&self, field: &Field) -> bool {
        field.index && self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&*field.path))
    }

    fn add(&mut self, field: &Field, term: &str) {
        if !self.counts.0.contains_key(&*field.path) {
            self.counts.0.insert(field.path.to_string(), BTreeMap::new());
        }
        if let Some(terms) = self.counts.0.get_mut(&*field.path) {
            *terms.entry(term.to_owned()).or_default() += 1;
        }
    }
}

impl FieldSink for Counter<'_> {
    fn term(&mut self, field: &Field, term: &[u8]) {
        let is_reserved = (field.id.0 as usize) < limber_mapping::reserved::COUNT;
        if field.scores_by_frequency() && !is_reserved && self.is_wanted(field) {
            let text = String::from_utf8_lossy(term).into_owned();
            match self.analyzers.get(&*field.path).and_then(Value::as_str) {
                None => self.add(field, &text),
                Some(_) => self.text(field, &text),
            }
        }
    }

    fn number(&mut self, _: &Field, _: i64) {}

    fn text(&mut self, field: &Field, value: &str) {
        if !self.is_wanted(field) {
            return;
        }
        let named = self.analyzers.get(&*field.path).and_then(Value::as_str);
        let named = named.and_then(|name| self.mapping.settings().analyzers.get(name)).cloned();
        match named.or_else(|| field.analyzer.clone()) {
            Some(analyzer) => {
                analyzer.tokens(value, |token| self.add(field, token.text));
            }
            None => self.add(field, value),
        }
    }

    fn shape(&mut self, _: &Field, _: &[i64], _: &[u8]) {}

    fn begin_nested(&mut self, _: &Nested) {}

    fn end_nested(&mut self, _: &Nested) {}

    fn turn_to(&mut self, _: SpaceId) {}
}
