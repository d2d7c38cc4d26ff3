//! A runtime field on one segment.

use std::fmt;
use std::sync::Arc;

use limber_mapping::number::sortable_from_f64;
use limber_mapping::{Field, FrequencyFilter, Mapping, RequestError, ValueKind};
use limber_script::{DistinctTexts, Emitted, EmittedBlock, OpenScript, Value};
use limber_segment::columns::{Batch, NumberColumn};
use limber_segment::{DocId, Segment, StoredReader};

use super::field::{ID, RuntimeField};
use super::fielddata::Fielddata;
use super::source::{Stored, read};
use super::terms::{DistinctTerms, RuntimeTerms};
use crate::error::{Result, check_request};
use crate::source::read_source;
use crate::values::gather::{gather, gather_whole};

/// Largest nesting of a value that a `composite` script emits.
const VALUE_DEPTH_MAX: u32 = 20;

pub(crate) struct RuntimeReader<'a> {
    field: &'a Field,
    mapping: &'a Mapping,
    segment: &'a Segment,
    /// `None` if the values come from the source.
    script: Option<OpenScript<'a>>,
    /// Set for a text field with `fielddata`.
    fielddata: Option<Fielddata<'a>>,
    stored: StoredReader,
    values: Vec<Stored>,
}

impl fmt::Debug for RuntimeReader<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "runtime field [{}]", self.field.path)
    }
}

impl<'a> RuntimeReader<'a> {
    pub(super) fn open(field: &'a RuntimeField, segment: &'a Segment) -> Result<RuntimeReader<'a>> {
        let fielddata = match field.field.runtime {
            None if field.field.is_analyzed() => {
                let given = field.mapping.parameter(&field.field.path, "fielddata_frequency_filter");
                let filter = given.as_ref().and_then(FrequencyFilter::of);
                Some(Fielddata::open(segment, &field.field.path, filter, &field.table)?)
            }
            _ => None,
        };
        let script = match &field.script {
            None if fielddata.is_some() => None,
            Some(script) => Some(script.open(segment)?.for_field(&field.field)),
            None if segment.is_nested() && field.field.constant().is_none() => {
                return Err(RequestError::unsupported(format_args!(
                    "runtime field [{}] without a script inside of nested documents",
                    field.field.path
                ))
                .into());
            }
            None => None,
        };
        Ok(RuntimeReader {
            field: &field.field,
            mapping: &field.mapping,
            segment,
            script,
            fielddata,
            stored: StoredReader::new(),
            values: Vec::new(),
        })
    }

    /// Reads the numbers of `docs`, which ascend, as a column would return them.
    pub fn numbers(&mut self, docs: &[DocId], out: &mut Batch<i64>) -> Result<()> {
        let is_part = self.field.runtime.as_ref().is_some_and(|runtime| runtime.part.is_some());
        if !is_part && let Some(script) = &mut self.script {
            match script.emitted_numbers(docs) {
                Some(EmittedBlock::Aligned(numbers)) => {
                    out.reset(true);
                    out.values = numbers;
                    return Ok(());
                }
                Some(EmittedBlock::Loose { positions, numbers }) => {
                    out.reset(false);
                    (out.positions, out.values) = (positions, numbers);
                    return Ok(());
                }
                None => {}
            }
        }
        out.reset(false);
        self.each(docs, |position, values| {
            let start = out.values.len();
            out.values.extend(values.iter().filter_map(|value| match value {
                Stored::Number(number) => Some(*number),
                Stored::Term(_) => None,
            }));
            out.values[start..].sort_unstable();
            out.positions.resize(out.values.len(), position);
            Ok(())
        })
    }

    /// Computes the terms of `docs`, which ascend, as a whole block. `None` if that cannot be done.
    pub fn distinct_terms(&mut self, docs: &[DocId]) -> Option<DistinctTerms> {
        let is_part = self.field.runtime.as_ref().is_some_and(|runtime| runtime.part.is_some());
        let is_ip = matches!(self.field.values, ValueKind::Ip);
        if is_part || !(is_ip || matches!(self.field.values, ValueKind::Keyword)) {
            return None;
        }
        let DistinctTexts { words, positions, indexes } = self.script.as_mut()?.emitted_texts(docs)?;
        // Addresses are sorted in another way than their texts.
        if is_ip && positions.as_ref().is_some_and(|positions| !positions.is_sorted_by(|a, b| a < b)) {
            return None;
        }
        let term = |word: &Arc<str>| match is_ip {
            true => limber_mapping::ip::parse(word.as_bytes()).map(|address| address.to_vec().into()),
            false => Some(word.as_bytes().into()),
        };
        let terms = words.iter().map(term).collect::<Option<_>>()?;
        Some(DistinctTerms { terms, positions, indexes })
    }

    /// Reads the terms of `docs`, which ascend.
    pub fn terms(&mut self, docs: &[DocId], out: &mut RuntimeTerms) -> Result<()> {
        if let Some(fielddata) = &self.fielddata {
            return fielddata.terms(docs, out);
        }
        out.clear();
        if let Some(terms) = self.distinct_terms(docs) {
            return out.set(terms);
        }
        self.each(docs, |position, values| {
            values.sort_by(|left, right| match (left, right) {
                (Stored::Term(left), Stored::Term(right)) => left.cmp(right),
                _ => std::cmp::Ordering::Equal,
            });
            for value in values {
                if let Stored::Term(term) = value {
                    out.push(position, term)?;
                }
            }
            Ok(())
        })
    }

    /// Reports the values of one document as its script emits them.
    pub(super) fn emitted(&mut self, doc: DocId, mut found: impl FnMut(Stored)) -> Result<()> {
        self.each(&[doc], |_, values| {
            values.drain(..).for_each(&mut found);
            Ok(())
        })
    }

    fn each(
        &mut self,
        docs: &[DocId],
        mut found: impl FnMut(u32, &mut Vec<Stored>) -> Result<()>,
    ) -> Result<()> {
        let RuntimeReader { field, mapping, segment, script, stored, values, .. } = self;
        if let Some(constant) = field.constant() {
            for position in 0..docs.len() as u32 {
                values.clear();
                values.extend(constant.map(|constant| Stored::Term(constant.as_bytes().to_vec())));
                found(position, values)?;
            }
            return Ok(());
        }
        if &*field.path == ID {
            for (position, doc) in docs.iter().enumerate() {
                let (id, _) = segment.id_and_routing(*doc, stored)?;
                values.clear();
                values.push(Stored::Term(id.to_vec()));
                found(position as u32, values)?;
            }
            return Ok(());
        }
        let Some(script) = script else {
            for (position, doc) in docs.iter().enumerate() {
                check_request()?;
                let source = read_source(mapping, segment, *doc, stored)?;
                limber_mapping::claim_parsed(&source)?;
                let source: serde_json::Value = limber_mapping::parse_source(&source).unwrap_or_default();
                let mut raw = Vec::new();
                match field.is_point() {
                    true => gather_whole(&source, &field.path, &mut raw),
                    false => gather(&source, &field.path, &mut raw),
                }
                values.clear();
                raw.iter().for_each(|value| read(field, value, values));
                found(position as u32, values)?;
            }
            return Ok(());
        };
        let runtime = field.runtime.as_ref();
        let goes_on = runtime.is_some_and(|runtime| runtime.continues_on_error);
        let part = runtime.and_then(|runtime| runtime.part.as_deref());
        Ok(script.emitted(docs, goes_on, |position, emitted| {
            values.clear();
            for one in emitted {
                match part {
                    None => values.extend(stored_of(field, one)?),
                    Some(part) if one.part.as_deref() == Some(part) => part_of(field, one, values),
                    Some(_) => {}
                }
            }
            found(position as u32, values).map_err(|error| error.to_request_error())
        })?)
    }
}

fn stored_of(field: &Field, emitted: &Emitted) -> std::result::Result<Option<Stored>, RequestError> {
    let value = &emitted.value;
    Ok(Some(match (&field.values, value) {
        (ValueKind::Point, Value::Point(point)) => Stored::Number(point.encode()),
        (ValueKind::Bool, value) => Stored::Number(i64::from(matches!(value, Value::Bool(true)))),
        (ValueKind::Double(_), value) => Stored::Number(sortable_from_f64(value.f64())),
        (ValueKind::Long(_) | ValueKind::Date { .. }, value) => Stored::Number(value.i64()),
        (_, Value::Null) => return Ok(None),
        (ValueKind::Ip, value) => {
            let text = value.text();
            match limber_mapping::ip::parse(text.as_bytes()) {
                Some(address) => Stored::Term(address.to_vec()),
                None => {
                    let reason = format!("'{text}' is not an IP string literal.");
                    return Err(RequestError::illegal_argument(reason));
                }
            }
        }
        (_, value) => Stored::Term(value.text().into_bytes()),
    }))
}

/// Adds the values that a `composite` script emitted under a field's name; lists stand for their items.
fn part_of(field: &Field, emitted: &Emitted, values: &mut Vec<Stored>) {
    if let Value::Point(point) = emitted.value {
        values.push(Stored::Number(point.encode()));
        return;
    }
    let Ok(json) = emitted.value.to_json(VALUE_DEPTH_MAX) else { return };
    match &json {
        serde_json::Value::Array(items) if !field.is_point() => {
            items.iter().for_each(|item| read(field, item, values));
        }
        // A date emitted as a number is in milliseconds, whatever the format.
        serde_json::Value::Number(number) if field.date().is_some() => {
            values.extend(number.as_i64().map(Stored::Number));
        }
        other => read(field, other, values),
    }
}

/// The source of a field's numbers.
#[derive(Debug)]
pub(crate) enum NumberSource<'a> {
    Column(NumberColumn<'a>),
    Runtime(Arc<RuntimeField>, &'a Segment),
}

impl<'a> NumberSource<'a> {
    /// Opens the source; `None` if no document of the segment has the field. `runtime` is set for runtime
    /// fields.
    pub fn open(
        segment: &'a Segment,
        path: &str,
        runtime: Option<&Arc<RuntimeField>>,
    ) -> Result<Option<NumberSource<'a>>> {
        Ok(match runtime {
            Some(field) => Some(NumberSource::Runtime(field.clone(), segment)),
            None => segment.numbers(path)?.map(NumberSource::Column),
        })
    }

    /// Reads the numbers of `docs`, which ascend.
    pub fn gather(&self, docs: &[DocId], batch: &mut Batch<i64>) -> Result<()> {
        match self {
            NumberSource::Column(column) => Ok(column.gather(docs, batch)?),
            NumberSource::Runtime(field, segment) => field.open(segment)?.numbers(docs, batch),
        }
    }

    /// Returns the column that has the values, if no script needs to run for them.
    pub fn column(&self) -> Option<&NumberColumn<'a>> {
        match self {
            NumberSource::Column(column) => Some(column),
            NumberSource::Runtime(..) => None,
        }
    }
}
