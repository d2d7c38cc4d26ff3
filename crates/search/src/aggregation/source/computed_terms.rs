//! Terms that are not in any segment's dictionary: those of runtime fields, and those that a script computes.

use limber_script::{DistinctValues, OpenScript, Value};
use limber_segment::{DocId, Segment};

use super::field::Source;
use super::ordinal_reader::OrdinalReader;
use crate::error::Result;
use crate::script::{DistinctTerms, RuntimeReader, RuntimeTerms};

/// Computes the terms of one segment at a time.
#[derive(Debug)]
pub struct ComputedTerms<'s> {
    source: &'s Source,
    missing: Option<Vec<u8>>,
    reader: Option<RuntimeReader<'s>>,
    script: Option<OpenScript<'s>>,
    segment: Option<&'s Segment>,
    terms: RuntimeTerms,
    /// The terms, including the replacement for documents without one.
    filled: RuntimeTerms,
    /// The numbers 0, 1, ..., which stand for the terms when they are joined with the entries of a batch.
    numbers: Vec<u32>,
}

/// The terms of a batch of documents.
pub struct Loaded<'l> {
    pub terms: &'l RuntimeTerms,
    /// The numbers of the terms, in order.
    pub numbers: &'l [u32],
}

impl<'s> ComputedTerms<'s> {
    pub(crate) fn new(source: &'s Source) -> Result<ComputedTerms<'s>> {
        Ok(ComputedTerms {
            source,
            missing: source.missing_term()?,
            reader: None,
            script: None,
            segment: None,
            terms: RuntimeTerms::default(),
            filled: RuntimeTerms::default(),
            numbers: Vec::new(),
        })
    }

    /// Starts a segment, whose documents come next.
    pub fn begin(&mut self, segment: &'s Segment) -> Result<()> {
        self.segment = Some(segment);
        self.reader = match &self.source.runtime {
            Some(field) => Some(field.open(segment)?),
            None => None,
        };
        self.script = match &self.source.script {
            Some(source) => Some(source.script.open(segment)?),
            None => None,
        };
        Ok(())
    }

    /// Returns which of `docs` have a term.
    pub fn present(&mut self, docs: &[DocId]) -> Result<Vec<bool>> {
        let mut flags = vec![false; docs.len()];
        self.load(docs)?.terms.positions.iter().for_each(|position| flags[*position as usize] = true);
        Ok(flags)
    }

    /// Returns the terms of `docs`; those of a document are sorted.
    pub fn load(&mut self, docs: &[DocId]) -> Result<Loaded<'_>> {
        let field = self.source.script.as_ref().and_then(|source| source.field.as_ref());
        match (&mut self.reader, &mut self.script, self.segment) {
            (Some(reader), _, _) => reader.terms(docs, &mut self.terms)?,
            (None, Some(script), Some(segment)) => match field {
                None => scripted(script, docs, &mut self.terms)?,
                Some(field) => changed(script, &field.path, segment, docs, &mut self.terms)?,
            },
            _ => self.terms.clear(),
        }
        let terms = match &self.missing {
            None => &self.terms,
            Some(missing) => {
                self.filled.clear();
                let mut next = 0;
                for position in 0..docs.len() as u32 {
                    let start = next;
                    while self.terms.positions.get(next) == Some(&position) {
                        self.filled.push(position, self.terms.term(next))?;
                        next += 1;
                    }
                    if next == start {
                        self.filled.push(position, missing)?;
                    }
                }
                &self.filled
            }
        };
        self.numbers.clear();
        self.numbers.extend(0..terms.len() as u32);
        Ok(Loaded { terms, numbers: &self.numbers })
    }
}

/// Adds the result of a script as strings; lists are flattened.
fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::List(items) => {
            texts.extend(items.borrow().iter().filter(|item| !item.is_null()).map(Value::text));
        }
        other => texts.push(other.text()),
    }
}

/// Runs a script on documents.
fn scripted(script: &mut OpenScript<'_>, docs: &[DocId], out: &mut RuntimeTerms) -> Result<()> {
    out.clear();
    if let Some(DistinctValues { values, indexes }) = script.distinct_values(docs)? {
        let terms = values.iter().map(|value| value.text().into_bytes().into()).collect();
        let has_term = |index: &u32| !values[*index as usize].is_null();
        let positions = values.iter().any(Value::is_null).then(|| {
            (0..).zip(&indexes).filter(|(_, index)| has_term(index)).map(|(position, _)| position).collect()
        });
        let indexes = match positions {
            None => indexes,
            Some(_) => indexes.into_iter().filter(has_term).collect(),
        };
        out.set(DistinctTerms { terms, positions, indexes })?;
        return Ok(());
    }
    let (mut position, mut texts) = (0, Vec::<String>::new());
    script.values(docs, &[], |value| {
        add_texts(&value, &mut texts);
        texts.sort_unstable();
        let pushed = texts.drain(..).try_for_each(|text| out.push(position, text.as_bytes()));
        position += 1;
        pushed
    })
}

/// Runs a script on each term of a field, which it gets as `_value`.
fn changed(
    script: &mut OpenScript<'_>,
    path: &str,
    segment: &Segment,
    docs: &[DocId],
    out: &mut RuntimeTerms,
) -> Result<()> {
    out.clear();
    let Some(terms) = segment.terms(path)? else { return Ok(()) };
    let mut ordinals = OrdinalReader::new(path, false);
    ordinals.begin(segment, true)?;
    let values = ordinals.load(docs)?;
    let (mut term, mut texts) = (Vec::new(), Vec::new());
    for (at, ordinal) in values.values.iter().enumerate() {
        let position = values.positions.map_or(at as u32, |positions| positions[at]);
        terms.term(u64::from(*ordinal), &mut term)?;
        let value = String::from_utf8_lossy(&term);
        script.text_of(docs[position as usize], &value, |value| add_texts(&value, &mut texts))?;
        let is_last = values.positions.is_none_or(|positions| positions.get(at + 1) != Some(&position));
        if is_last {
            texts.sort_unstable();
            texts.drain(..).try_for_each(|text: String| out.push(position, text.as_bytes()))?;
        }
    }
    Ok(())
}
