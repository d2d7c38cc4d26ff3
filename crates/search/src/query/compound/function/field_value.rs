//! `field_value_factor`: a field's value times a factor, transformed by a modifier.
//!
//! Source: Elasticsearch's `FieldValueFactorFunction`.

use std::sync::Arc;

use limber_mapping::number::java_double;
use limber_mapping::{Field, RequestError};
use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use super::{BoundFunction, FunctionReader, ScoreFunction};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::score::{Explanation, MaxScores, Span};
use crate::script::{NumberSource, RuntimeField};
use crate::values::json;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Modifier {
    None,
    Log,
    Log1p,
    Log2p,
    Ln,
    Ln1p,
    Ln2p,
    Square,
    Sqrt,
    Reciprocal,
}

impl Modifier {
    fn parse(text: &str) -> Result<Modifier, RequestError> {
        Ok(match text.to_lowercase().as_str() {
            "none" => Modifier::None,
            "log" => Modifier::Log,
            "log1p" => Modifier::Log1p,
            "log2p" => Modifier::Log2p,
            "ln" => Modifier::Ln,
            "ln1p" => Modifier::Ln1p,
            "ln2p" => Modifier::Ln2p,
            "square" => Modifier::Square,
            "sqrt" => Modifier::Sqrt,
            "reciprocal" => Modifier::Reciprocal,
            _ => {
                return Err(RequestError::illegal_argument(format!(
                    "No enum constant org.elasticsearch.common.lucene.search.function.FieldValueFactorFunction.Modifier.{}",
                    text.to_uppercase()
                )));
            }
        })
    }

    fn name(self) -> &'static str {
        match self {
            Modifier::None => "none",
            Modifier::Log => "log",
            Modifier::Log1p => "log1p",
            Modifier::Log2p => "log2p",
            Modifier::Ln => "ln",
            Modifier::Ln1p => "ln1p",
            Modifier::Ln2p => "ln2p",
            Modifier::Square => "square",
            Modifier::Sqrt => "sqrt",
            Modifier::Reciprocal => "reciprocal",
        }
    }

    #[inline]
    fn apply(self, value: f64) -> f64 {
        match self {
            Modifier::None => value,
            Modifier::Log => value.log10(),
            Modifier::Log1p => (value + 1.0).log10(),
            Modifier::Log2p => (value + 2.0).log10(),
            Modifier::Ln => value.ln(),
            Modifier::Ln1p => value.ln_1p(),
            Modifier::Ln2p => (value + 1.0).ln_1p(),
            Modifier::Square => value.powi(2),
            Modifier::Sqrt => value.sqrt(),
            Modifier::Reciprocal => 1.0 / value,
        }
    }
}

#[derive(Debug, Clone)]
struct FieldValue {
    field: String,
    factor: f32,
    modifier: Modifier,
    missing: Option<f64>,
}

pub(super) fn parse(_: &str, members: &Map<String, Value>) -> Result<Box<dyn ScoreFunction>, RequestError> {
    let (mut field, mut factor, mut modifier, mut missing) = (None, 1.0, Modifier::None, None);
    for (key, value) in members {
        let text = || json::scalar_text(value).unwrap_or_default();
        match key.as_str() {
            _ if value.is_object() || value.is_null() => {}
            "field" => field = Some(text()),
            "factor" => factor = json::float(value)?,
            "modifier" => modifier = Modifier::parse(&text())?,
            "missing" => {
                missing = Some(text().trim().parse().map_err(|_| json::number_format(text()))?);
            }
            other => {
                return Err(RequestError::parsing(format!(
                    "field_value_factor query does not support [{other}]"
                )));
            }
        }
    }
    let field =
        field.ok_or_else(|| RequestError::parsing("[field_value_factor] required field 'field' missing"))?;
    Ok(Box::new(FieldValue { field, factor, modifier, missing }))
}

impl ScoreFunction for FieldValue {
    fn bind(&self, binder: &Binder<'_>) -> Result<Box<dyn BoundFunction>, Error> {
        let field = binder.field(&self.field);
        match &field {
            None if self.missing.is_none() => {
                return Err(binder
                    .wrapped(RequestError::bad_request(
                        "exception",
                        format!(
                            "Unable to find a field mapper for field [{}]. No 'missing' value defined.",
                            self.field
                        ),
                    ))
                    .into());
            }
            None => {}
            Some(field) => binder.check_numeric_column(field, "field_value_factor")?,
        }
        let runtime = match &field {
            Some(field) => RuntimeField::bind(field, binder.shard())?,
            None => None,
        };
        Ok(Box::new(BoundFieldValue { spec: self.clone(), field, runtime }))
    }
}

#[derive(Debug)]
struct BoundFieldValue {
    spec: FieldValue,
    field: Option<Arc<Field>>,
    runtime: Option<Arc<RuntimeField>>,
}

impl BoundFunction for BoundFieldValue {
    fn open<'a>(&'a self, segment: &'a Segment) -> Result<Box<dyn FunctionReader + 'a>, Error> {
        let column = match &self.field {
            Some(field) => NumberSource::open(segment, &field.path, self.runtime.as_ref())?,
            None => None,
        };
        Ok(Box::new(Reader { function: self, column, batch: Batch::default(), values: Vec::new() }))
    }

    fn explain(&self, segment: &Segment, doc: DocId, score: &Explanation) -> Result<Explanation, Error> {
        let value = self.open(segment)?.read_one(doc, score.value)?;
        let missing = match self.spec.missing {
            Some(missing) => format!("?:{}", java_double(missing)),
            None => String::new(),
        };
        Ok(Explanation::leaf(
            value as f32,
            format!(
                "field value function: {}(doc['{}'].value{missing} * factor={})",
                self.spec.modifier.name(),
                self.spec.field,
                limber_mapping::number::java_float(self.spec.factor)
            ),
        ))
    }

    fn max_scores(&self) -> Option<Box<dyn MaxScores + '_>> {
        let field = self.field.as_deref().filter(|_| self.runtime.is_none())?;
        Some(Box::new(FieldValueMaxScores { field, spec: &self.spec }))
    }
}

struct FieldValueMaxScores<'f> {
    field: &'f Field,
    spec: &'f FieldValue,
}

impl MaxScores for FieldValueMaxScores<'_> {
    fn field(&self) -> &Field {
        self.field
    }

    fn max_score(&self, span: &Span) -> f64 {
        let Span::Numbers(min, max) = *span else { return f64::INFINITY };
        // Within a span every modifier is greatest at one of the ends, except for a reciprocal around 0.
        let ends = [min, max].map(|stored| self.field.decode_f64(stored) * f64::from(self.spec.factor));
        if self.spec.modifier == Modifier::Reciprocal && ends[0] * ends[1] <= 0.0 {
            return f64::INFINITY;
        }
        let [first, last] = ends.map(|value| self.spec.modifier.apply(value));
        // Documents with a negative result must be visited, because they make the request fail.
        if first >= 0.0 && last >= 0.0 { first.max(last) } else { f64::INFINITY }
    }
}

struct Reader<'a> {
    function: &'a BoundFieldValue,
    column: Option<NumberSource<'a>>,
    batch: Batch<i64>,
    values: Vec<f64>,
}

impl FunctionReader for Reader<'_> {
    fn read(&mut self, docs: &[DocId], _: &[f32], out: &mut [f64]) -> Result<(), Error> {
        let spec = &self.function.spec;
        // NaN stands for a missing value; no column can hold it.
        self.values.clear();
        self.values.resize(docs.len(), spec.missing.unwrap_or(f64::NAN));
        if let (Some(column), Some(field)) = (&self.column, &self.function.field) {
            column.gather(docs, &mut self.batch)?;
            if self.batch.is_aligned() {
                for (value, stored) in self.values.iter_mut().zip(&self.batch.values) {
                    *value = field.decode_f64(*stored);
                }
            } else {
                let mut previous = usize::MAX;
                for (position, stored) in self.batch.iter() {
                    // The values of a document ascend; the first one counts.
                    if position != previous {
                        self.values[position] = field.decode_f64(stored);
                        previous = position;
                    }
                }
            }
        }
        let factor = f64::from(spec.factor);
        let mut is_sound = true;
        for (out, value) in out.iter_mut().zip(&self.values) {
            *out = spec.modifier.apply(value * factor);
            is_sound &= *out >= 0.0;
        }
        if is_sound {
            return Ok(());
        }
        for (result, value) in out.iter().zip(&self.values) {
            if value.is_nan() {
                let reason = format!("Missing value for field [{}]", spec.field);
                return Err(RequestError::bad_request("exception", reason).into());
            }
            if *result < 0.0 {
                return Err(negative(spec.modifier, *result, *value).into());
            }
        }
        Ok(())
    }
}

fn negative(modifier: Modifier, result: f64, value: f64) -> RequestError {
    let hint = match modifier {
        Modifier::Ln => "; consider using ln1p or ln2p instead of ln to avoid negative scores",
        Modifier::Log => "; consider using log1p or log2p instead of log to avoid negative scores",
        _ => "",
    };
    RequestError::illegal_argument(format!(
        "field value function must not produce negative scores, but got: [{}] for field value: [{}]{hint}",
        java_double(result),
        java_double(value)
    ))
}
