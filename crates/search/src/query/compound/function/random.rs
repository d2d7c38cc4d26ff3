//! `random_score`: a number from 0 to 1 for each document, which is the same for the same seed and field
//! value.
//!
//! Source: Elasticsearch's `RandomScoreFunction`, HPPC's `BitMixer`. As in Elasticsearch, without a seed the
//! numbers depend on the time and on the document's number; they are not the same as Elasticsearch's.

use std::sync::Arc;

use limber_codec::java_hash::java_hash;
use limber_mapping::number::java_double;
use limber_mapping::{Field, Representation, RequestError};
use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment};
use limber_work as work;
use serde_json::{Map, Value};

use super::{BoundFunction, FunctionReader, ScoreFunction};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::score::{Explanation, RandomOf};
use crate::script::{NumberSource, RuntimeField, RuntimeTerms};
use crate::values::json;

#[derive(Debug)]
struct Random {
    seed: Option<i32>,
    field: Option<String>,
}

pub(super) fn parse(_: &str, members: &Map<String, Value>) -> Result<Box<dyn ScoreFunction>, RequestError> {
    let mut function = Random { seed: None, field: None };
    for (key, value) in members {
        match key.as_str() {
            _ if value.is_object() || value.is_null() => {}
            "seed" => function.seed = Some(seed(value)?),
            "field" => function.field = json::scalar_text(value),
            other => {
                return Err(RequestError::parsing(format!("random_score query does not support [{other}]")));
            }
        }
    }
    if function.seed.is_some() && function.field.is_none() {
        work::warn(
            "As of version 7.0 Elasticsearch will require that a [field] parameter is provided when a [seed] is set",
        );
    }
    Ok(Box::new(function))
}

fn seed(value: &Value) -> Result<i32, RequestError> {
    match value {
        Value::String(text) => Ok(java_hash(text)),
        Value::Number(number) => number.as_i64().map(hash_of_long).ok_or_else(|| {
            RequestError::parsing("random_score seed must be an int, long or string, not 'VALUE_NUMBER'")
        }),
        other => Err(RequestError::parsing(format!(
            "random_score seed must be an int/long or string, not '{}'",
            match other {
                Value::Bool(_) => "VALUE_BOOLEAN",
                other => json::token(other),
            }
        ))),
    }
}

/// Hashes a `long` seed (`Long#hashCode`); an `int` is used as it is.
fn hash_of_long(seed: i64) -> i32 {
    i32::try_from(seed).unwrap_or((seed ^ ((seed as u64) >> 32) as i64) as i32)
}

impl ScoreFunction for Random {
    fn bind(&self, binder: &Binder<'_>) -> Result<Box<dyn BoundFunction>, Error> {
        let shard = binder.shard();
        let field = match (&self.seed, &self.field) {
            (None, _) => None,
            (Some(_), Some(name)) if name != "_id" => {
                let Some(field) = binder.field(name) else {
                    return Err(binder
                        .wrapped(RequestError::illegal_argument(format!(
                            "Field [{name}] is not mapped on [[{}/{}]] and cannot be used as a source of random numbers.",
                            shard.index.name, shard.index.uuid
                        )))
                        .into());
                };
                binder.check_column(&field)?;
                if field.has_shapes() || field.is_cartesian_point() {
                    return Err(RequestError::unsupported(format!(
                        "[random_score] by field [{name}] of type [{}]",
                        field.type_name()
                    ))
                    .into());
                }
                Some((field.clone(), RuntimeField::bind(&field, shard)?))
            }
            (Some(_), _) => {
                return Err(binder
                    .wrapped(RequestError::illegal_argument(
                        "Fielddata access on the _id field is disallowed, you can re-enable it by updating the dynamic cluster \
                         setting: indices.id_field_data.enabled",
                    ))
                    .into());
            }
        };
        let seed = self.seed.unwrap_or_else(|| {
            let now = binder.now_millis();
            (now ^ ((now as u64) >> 32) as i64) as i32
        });
        let random = RandomOf::shard(seed, &shard.index.name, shard.shard);
        Ok(Box::new(BoundRandom { seed, random, field }))
    }
}

#[derive(Debug)]
struct BoundRandom {
    seed: i32,
    random: RandomOf,
    /// The field, and what computes its values if no segment has them. `None` if the document's number is
    /// hashed.
    field: Option<(Arc<Field>, Option<Arc<RuntimeField>>)>,
}

impl BoundFunction for BoundRandom {
    fn open<'a>(&'a self, segment: &'a Segment) -> Result<Box<dyn FunctionReader + 'a>, Error> {
        Ok(match &self.field {
            Some((field, runtime)) => Box::new(ByField {
                random: self.random,
                field,
                runtime: runtime.as_ref(),
                segment,
                batch: Batch::default(),
                bytes: Vec::new(),
            }),
            None => Box::new(ByPlace { random: self.random, segment }),
        })
    }

    fn explain(&self, segment: &Segment, doc: DocId, score: &Explanation) -> Result<Explanation, Error> {
        let value = self.open(segment)?.read_one(doc, score.value)?;
        let field = match &self.field {
            Some((field, _)) => format!(", field: {}", field.path),
            None => String::new(),
        };
        Ok(Explanation::leaf(value as f32, format!("random score function (seed: {}{field})", self.seed)))
    }
}

struct ByPlace<'a> {
    random: RandomOf,
    segment: &'a Segment,
}

impl FunctionReader for ByPlace<'_> {
    fn read(&mut self, docs: &[DocId], _: &[f32], out: &mut [f64]) -> Result<(), Error> {
        for (out, doc) in out.iter_mut().zip(docs) {
            *out = self.random.place(self.segment, *doc);
        }
        Ok(())
    }
}

/// Hashes the string of the field's first value.
struct ByField<'a> {
    random: RandomOf,
    field: &'a Field,
    runtime: Option<&'a Arc<RuntimeField>>,
    segment: &'a Segment,
    batch: Batch<i64>,
    bytes: Vec<u8>,
}

impl FunctionReader for ByField<'_> {
    fn read(&mut self, docs: &[DocId], _: &[f32], out: &mut [f64]) -> Result<(), Error> {
        let path = &self.field.path;
        out.fill(self.random.nothing());
        if self.field.representation() == Representation::Number {
            let Some(source) = NumberSource::open(self.segment, path, self.runtime)? else { return Ok(()) };
            source.gather(docs, &mut self.batch)?;
            let mut least: Option<(usize, String)> = None;
            for (position, stored) in self.batch.iter() {
                let text = text_of(self.field, stored);
                // Elasticsearch's field data sorts several numbers as strings.
                if least.as_ref().is_none_or(|(of, least)| *of != position || text < *least) {
                    out[position] = self.random.bytes(text.as_bytes());
                    least = Some((position, text));
                }
            }
            return Ok(());
        }
        if let Some(runtime) = self.runtime {
            let mut terms = RuntimeTerms::default();
            runtime.open(self.segment)?.terms(docs, &mut terms)?;
            // The terms of a document ascend, so its first one is written last.
            for (at, position) in terms.positions.iter().enumerate().rev() {
                out[*position as usize] = self.random.bytes(terms.term(at));
            }
            return Ok(());
        }
        let (Some(column), Some(terms)) = (self.segment.ordinals(path)?, self.segment.terms(path)?) else {
            return Ok(());
        };
        for (doc, out) in docs.iter().zip(out) {
            if let Some(ordinal) = column.get(*doc)? {
                terms.term(u64::from(ordinal), &mut self.bytes)?;
                *out = self.random.bytes(&self.bytes);
            }
        }
        Ok(())
    }
}

/// Formats a number as Elasticsearch's field data does.
fn text_of(field: &Field, stored: i64) -> String {
    match field.is_floating() {
        true => java_double(field.decode_f64(stored)),
        false => field.resolution().millis(stored).to_string(),
    }
}
