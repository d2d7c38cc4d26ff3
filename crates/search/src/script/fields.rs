//! Doc values for scripts: "what are the values of this field in this document?" Columns are read for a
//! batch of documents at once.

use std::borrow::Cow;
use std::sync::Arc;

use limber_mapping::geo::{GridBounds, GridShape, Surface};
use limber_mapping::{Field, Mapping, Representation, RequestError, ValueKind};
use limber_script::{BoundField, Documents, FieldValues, Value, number};
use limber_segment::columns::{Batch, NumberColumn, OrdinalColumn};
use limber_segment::shapes::ShapeColumn;
use limber_segment::terms::TermDictionary;
use limber_segment::{DocId, Segment, StoredReader};

use super::runtime::{RuntimeField, RuntimeReader, RuntimeTerms, field_or_id};
use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::score::RandomOf;
use crate::source::read_source;

/// The fields of a script on a shard, in the order of the script's field numbers.
#[derive(Debug, Clone)]
pub(crate) struct BoundFields {
    pub fields: Vec<BoundField>,
    /// For each field, the source of its values if it is a runtime field.
    runtime: Vec<Option<Arc<RuntimeField>>>,
    mapping: Arc<Mapping>,
    index: String,
    shard: u32,
}

impl BoundFields {
    /// Binds the fields. `chain`: the runtime fields whose scripts led here; the last one has this script.
    pub fn bind(names: &[Arc<str>], shard: &ShardSnapshot, chain: &[&str]) -> BoundFields {
        let bind = |name: &Arc<str>| {
            let field = field_or_id(&shard.mapping, name);
            let refused = match &field {
                Some(field) if field.range_kind().is_some() || field.surface() == Surface::Plane => {
                    let (path, name) = (&field.path, field.type_name());
                    Some(RequestError::unsupported(format!("field [{path}] of type [{name}] in scripts")))
                }
                Some(field) if field.summary.as_ref().is_some_and(|summary| summary.is_histogram()) => {
                    let name = field.type_name();
                    let reason = format!("The [{name}] field does not support scripts");
                    Some(RequestError::illegal_argument(reason))
                }
                Some(field) => match crate::context::columns::check_column(field, shard) {
                    Err(error) => Some(error.to_request_error()),
                    Ok(()) => None,
                },
                None => None,
            };
            let (mut runtime, mut refused) = (None, refused);
            if let (Some(field), None) = (&field, &refused) {
                match RuntimeField::bind_below(field, shard, chain) {
                    Ok(bound) => runtime = bound,
                    Err(error) => refused = Some(error.to_request_error()),
                }
            }
            let is_runtime = runtime.is_some();
            (BoundField { name: name.clone(), field, refused, is_runtime }, runtime)
        };
        let (fields, runtime) = names.iter().map(bind).unzip();
        BoundFields {
            fields,
            runtime,
            mapping: shard.mapping.clone(),
            index: shard.index.name.clone(),
            shard: shard.shard,
        }
    }
}

/// The documents of one segment, as scripts see them.
pub(super) struct SegmentDocuments<'a> {
    bound: &'a BoundFields,
    segment: &'a Segment,
    readers: Vec<FieldReader<'a>>,
    stored: StoredReader,
}

impl<'a> SegmentDocuments<'a> {
    /// Opens the fields that a script reads on a segment.
    pub fn open(bound: &'a BoundFields, segment: &'a Segment) -> Result<SegmentDocuments<'a>> {
        let fields = bound.fields.iter().zip(&bound.runtime);
        let readers = fields
            .map(|(field, runtime)| FieldReader::open(field, runtime.as_deref(), segment))
            .collect::<Result<_>>()?;
        Ok(SegmentDocuments { bound, segment, readers, stored: StoredReader::new() })
    }

    fn random(&self, seed: i32) -> RandomOf {
        RandomOf::shard(seed, &self.bound.index, self.bound.shard)
    }
}

impl Documents for SegmentDocuments<'_> {
    fn field(&self, number: u16) -> &BoundField {
        &self.bound.fields[usize::from(number)]
    }

    fn number_of(&self, name: &str) -> Option<u16> {
        let place = self.bound.fields.iter().position(|field| *field.name == *name)?;
        u16::try_from(place).ok()
    }

    fn is_mapped(&self, name: &str) -> bool {
        self.bound.mapping.field(name).is_some()
    }

    fn is_nested(&self) -> bool {
        self.segment.is_nested()
    }

    fn values(
        &mut self,
        number: u16,
        docs: &[DocId],
    ) -> std::result::Result<&mut dyn FieldValues, RequestError> {
        let reader = &mut self.readers[usize::from(number)];
        reader.load(docs).map_err(|error| error.to_request_error())?;
        Ok(reader)
    }

    fn unload(&mut self) {
        self.readers.iter_mut().for_each(FieldReader::unload);
    }

    fn source(&mut self, doc: DocId) -> std::result::Result<Vec<u8>, RequestError> {
        read_source(&self.bound.mapping, self.segment, doc, &mut self.stored)
            .map(Cow::into_owned)
            .map_err(|error| error.to_request_error())
    }

    fn random_by_doc(&self, doc: DocId, seed: i32) -> f64 {
        self.random(seed).place(self.segment, doc)
    }

    fn random_by_bytes(&self, bytes: &[u8], seed: i32) -> f64 {
        self.random(seed).bytes(bytes)
    }
}

/// One field's values of a batch of documents.
struct FieldReader<'a> {
    field: Option<&'a Field>,
    numbers: Option<NumberColumn<'a>>,
    ordinals: Option<OrdinalColumn<'a>>,
    terms: Option<&'a TermDictionary>,
    shapes: Option<ShapeColumn<'a>>,
    /// The bounding boxes of the shapes of the batch's documents.
    bounds: Vec<Option<GridBounds>>,
    runtime: Option<Box<RuntimeReader<'a>>>,
    runtime_terms: RuntimeTerms,
    batch: Batch<i64>,
    ordinal_batch: Batch<u32>,
    /// The values of document `i` of the batch are those from `starts[i]` to `starts[i + 1]`; empty if each
    /// has exactly one value.
    starts: Vec<u32>,
    term: Vec<u8>,
    /// Strings by ordinal, if there are few.
    names: Vec<Option<Value>>,
    is_loaded: bool,
}

/// Strings of a field with at most this many terms are kept while a segment is open.
const NAMES_MAX: u64 = 1 << 10;

impl<'a> FieldReader<'a> {
    /// Opens a field of a segment for scripts.
    pub fn open(
        bound: &'a BoundField,
        runtime: Option<&'a RuntimeField>,
        segment: &'a Segment,
    ) -> Result<FieldReader<'a>> {
        let mut reader = FieldReader {
            field: bound.field.as_deref(),
            numbers: None,
            ordinals: None,
            terms: None,
            shapes: None,
            bounds: Vec::new(),
            runtime: None,
            runtime_terms: RuntimeTerms::default(),
            batch: Batch::default(),
            ordinal_batch: Batch::default(),
            starts: Vec::new(),
            term: Vec::new(),
            names: Vec::new(),
            is_loaded: false,
        };
        if let Some(runtime) = runtime {
            reader.runtime = Some(Box::new(runtime.open(segment)?));
        } else if let (Some(field), None) = (&bound.field, &bound.refused) {
            if field.representation() == Representation::Number {
                reader.numbers = segment.numbers(&field.path)?;
            } else if field.representation() == Representation::Shape {
                reader.shapes = segment.shapes(&field.path)?;
            } else {
                reader.ordinals = segment.ordinals(&field.path)?;
                reader.terms = segment.terms(&field.path)?;
            }
        }
        Ok(reader)
    }

    /// Discards the values of the previous batch.
    pub fn unload(&mut self) {
        self.is_loaded = false;
    }

    /// Reads the values of `docs`, which ascend.
    pub fn load(&mut self, docs: &[DocId]) -> Result<()> {
        if self.is_loaded {
            return Ok(());
        }
        self.is_loaded = true;
        self.starts.clear();
        if let Some(shapes) = &self.shapes {
            return load_bounds(shapes, docs, &mut self.batch, &mut self.bounds);
        }
        let is_numeric = self.is_numeric();
        let positions = match (&mut self.runtime, &self.numbers, &self.ordinals) {
            (Some(runtime), ..) if is_numeric => {
                runtime.numbers(docs, &mut self.batch)?;
                if self.batch.is_aligned() {
                    return Ok(());
                }
                &self.batch.positions
            }
            (Some(runtime), ..) => {
                runtime.terms(docs, &mut self.runtime_terms)?;
                &self.runtime_terms.positions
            }
            (None, Some(column), _) => {
                column.gather(docs, &mut self.batch)?;
                if self.batch.is_aligned() {
                    return Ok(());
                }
                &self.batch.positions
            }
            (None, None, Some(column)) => {
                column.gather(docs, &mut self.ordinal_batch)?;
                if self.ordinal_batch.is_aligned() {
                    return Ok(());
                }
                &self.ordinal_batch.positions
            }
            (None, None, None) => {
                self.starts.resize(docs.len() + 1, 0);
                return Ok(());
            }
        };
        let mut next = 0;
        self.starts.push(0);
        for position in 0..docs.len() as u32 {
            while positions.get(next) == Some(&position) {
                next += 1;
            }
            self.starts.push(next as u32);
        }
        Ok(())
    }

    #[inline]
    fn range(&self, at: usize) -> (usize, usize) {
        match self.starts.is_empty() {
            true => (at, at + 1),
            false => (self.starts[at] as usize, self.starts[at + 1] as usize),
        }
    }

    /// Returns what `of_place` returns for the place of the first value of each of these documents. `None` if
    /// one of them has no value.
    fn first_places<T>(&self, rows: &[u32], of_place: impl Fn(usize) -> T) -> Option<Vec<T>> {
        let of_row = |row: &u32| {
            let (start, end) = self.range(*row as usize);
            (start < end).then(|| of_place(start))
        };
        rows.iter().map(of_row).collect()
    }

    /// Does the same as [`Self::first_places`] for the ordinals of a column. `rows` are some of the
    /// documents of the batch, each once.
    fn of_first_ordinals<T>(&self, rows: &[u32], of: impl Fn(u32) -> T) -> Option<Vec<T>> {
        let values = &self.ordinal_batch.values;
        if self.starts.is_empty() && rows.len() == values.len() {
            return Some(values.iter().map(|&ordinal| of(ordinal)).collect());
        }
        self.first_places(rows, |place| of(values[place]))
    }

    /// Whether the segment has values of the field at all.
    fn is_open(&self) -> bool {
        self.numbers.is_some() || self.runtime.is_some()
    }
}

impl FieldValues for FieldReader<'_> {
    fn field(&self) -> Option<&Field> {
        self.field
    }

    fn is_numeric(&self) -> bool {
        self.field.is_some_and(|field| field.representation() == Representation::Number)
    }

    #[inline]
    fn count(&self, at: usize) -> usize {
        if self.shapes.is_some() {
            return usize::from(self.bounds[at].is_some());
        }
        let (start, end) = self.range(at);
        end - start
    }

    fn bounds(&self, at: usize) -> Option<GridBounds> {
        self.bounds.get(at).copied().flatten()
    }

    #[inline]
    fn stored(&self, at: usize) -> &[i64] {
        let (start, end) = self.range(at);
        self.batch.values.get(start..end).unwrap_or_default()
    }

    fn aligned(&self) -> Option<&[i64]> {
        (self.is_numeric() && self.starts.is_empty() && self.is_open())
            .then_some(self.batch.values.as_slice())
    }

    fn ordinals(&self) -> Option<&[u32]> {
        let is_aligned = self.starts.is_empty() && self.ordinal_batch.is_aligned();
        let is_column = self.ordinals.is_some() && self.runtime.is_none() && !self.is_numeric();
        let has_few = self.terms.is_some_and(|terms| terms.len() <= NAMES_MAX);
        (is_aligned && is_column && has_few).then_some(self.ordinal_batch.values.as_slice())
    }

    fn first_ordinals(&self, rows: &[u32]) -> Option<Vec<u32>> {
        if self.is_numeric() || self.shapes.is_some() {
            return None;
        }
        if self.runtime.is_some() {
            return self.first_places(rows, |place| self.runtime_terms.first_of(place) as u32);
        }
        self.ordinals.as_ref()?;
        self.of_first_ordinals(rows, |ordinal| ordinal)
    }

    fn equals_string(&self, text: &str, rows: &[u32]) -> Option<Vec<bool>> {
        let (Some(field), Some(terms), Some(_)) = (self.field, self.terms, &self.ordinals) else {
            return None;
        };
        // Only for strings that are shown as they are stored; others may have several forms.
        if self.runtime.is_some() || self.is_numeric() || !matches!(field.values, ValueKind::Keyword) {
            return None;
        }
        let wanted = match terms.ordinal(text.as_bytes()).ok()? {
            Ok(ordinal) => ordinal as u32,
            Err(_) => u32::MAX,
        };
        self.of_first_ordinals(rows, |ordinal| ordinal == wanted)
    }

    fn value(&mut self, at: usize, nth: usize) -> std::result::Result<Value, RequestError> {
        let (start, _) = self.range(at);
        let Some(field) = self.field else { return Ok(Value::Null) };
        if self.shapes.is_some() {
            return Err(RequestError::unsupported("the values of shapes in scripts"));
        }
        if self.is_numeric() {
            return Ok(number(field, self.batch.values[start + nth]));
        }
        if self.runtime.is_some() {
            return Ok(Value::str(field.decode_term(self.runtime_terms.term(start + nth))));
        }
        let Some(terms) = self.terms else { return Ok(Value::Null) };
        let ordinal = self.ordinal_batch.values[start + nth];
        if let Some(Some(name)) = self.names.get(ordinal as usize) {
            return Ok(name.clone());
        }
        terms
            .term(u64::from(ordinal), &mut self.term)
            .map_err(|error| Error::from(error).to_request_error())?;
        let name = Value::str(field.decode_term(&self.term));
        if terms.len() <= NAMES_MAX {
            self.names.resize(terms.len() as usize, None);
            self.names[ordinal as usize] = Some(name.clone());
        }
        Ok(name)
    }
}

/// Reads the bounding boxes of the shapes of each of `docs`.
fn load_bounds(
    shapes: &ShapeColumn<'_>,
    docs: &[DocId],
    batch: &mut Batch<i64>,
    bounds: &mut Vec<Option<GridBounds>>,
) -> Result<()> {
    bounds.clear();
    bounds.resize(docs.len(), None);
    shapes.for_each(docs, batch, |position, bytes| {
        let found =
            GridShape::decode_bounds(bytes).map_err(limber_segment::Error::in_section("shapes", 0))?;
        let known = bounds[position].get_or_insert(found);
        known.x = (known.x.0.min(found.x.0), known.x.1.max(found.x.1));
        known.y = (known.y.0.min(found.y.0), known.y.1.max(found.y.1));
        Ok(())
    })?;
    Ok(())
}
