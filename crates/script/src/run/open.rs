//! A script opened on the documents of one segment, or on none.

use std::collections::HashMap;
use std::fmt;

use foldhash::fast::RandomState;
use limber_mapping::{ErrorClass, Field, RequestError};
use limber_work as work;
use serde_json::{Map, Value as Json};

use super::block::{Block, DistinctTexts, DistinctValues, EmittedBlock, RowStates, only_expression};
use super::emit::Emitted;
use super::given_value::GivenValue;
use super::interpreter::Run;
use crate::documents::{DocId, Documents};
use crate::error::ScriptError;
use crate::language::{Compiled, Expr, Kind};
use crate::library::Machine;
use crate::values::{Kept, Value};

/// From this many documents on, it pays to find documents whose answers are made of the same strings.
const KINDS_FROM: usize = 64;

/// From this many documents on, their values are computed as a block.
const BLOCK_FROM: usize = 8;

/// Whether an expression is made only of constants and values of fields; adds the fields to `fields`.
fn is_made_of_fields(expr: &Expr, fields: &mut Vec<u16>) -> bool {
    match &expr.kind {
        Kind::Literal(_) | Kind::Param(_) => true,
        Kind::FieldValue(field) => {
            if !fields.contains(field) {
                fields.push(*field);
            }
            true
        }
        Kind::Unary(_, inner) | Kind::Cast(_, inner) => is_made_of_fields(inner, fields),
        Kind::Binary(_, left, right) | Kind::AndAlso(left, right) | Kind::OrElse(left, right) => {
            is_made_of_fields(left, fields) && is_made_of_fields(right, fields)
        }
        Kind::Conditional(condition, yes, no) => {
            [condition, yes, no].into_iter().all(|part| is_made_of_fields(part, fields))
        }
        Kind::Call { target, arguments, .. } => {
            is_made_of_fields(target, fields) && arguments.iter().all(|part| is_made_of_fields(part, fields))
        }
        _ => false,
    }
}

/// A script opened on one segment.
pub struct OpenScript<'a> {
    script: &'a Compiled,
    run: Run<'a>,
}

impl fmt::Debug for OpenScript<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "script [{}]", self.script.source)
    }
}

impl<'a> OpenScript<'a> {
    /// Opens a script with its parameters, without documents.
    pub fn new(script: &'a Compiled, params: &Map<String, Json>) -> OpenScript<'a> {
        OpenScript { script, run: Run::new(script, params) }
    }

    /// Attaches the documents that the script runs over.
    pub fn over(mut self, documents: Box<dyn Documents + 'a>) -> OpenScript<'a> {
        self.run = self.run.over(documents);
        self
    }

    /// Makes this the script of a runtime field, so that it reads dates in the field's format.
    pub fn for_field(mut self, field: &Field) -> Self {
        self.run.field_name = field.path.clone();
        if let Some((format, _)) = field.date() {
            self.run.date_format = Some(format.clone());
        }
        self
    }

    fn failed(&self, error: ScriptError) -> RequestError {
        error.to_request_error("runtime", &self.script.source, self.script.language)
    }

    /// Computes the script's number for each of `docs`, which ascend. `scores` is empty if the script uses
    /// no score.
    pub fn numbers(
        &mut self,
        docs: &[DocId],
        scores: &[f32],
        out: &mut Vec<f64>,
    ) -> Result<(), RequestError> {
        out.clear();
        self.run.begin(docs);
        if let Some(numbers) = Block::new(&mut self.run, scores, docs.len()).numbers(self.script) {
            *out = numbers;
            return Ok(());
        }
        self.each(docs.len(), scores, |value| {
            out.push(value.f64());
            Ok(())
        })
    }

    /// Computes the script's number for each of `docs` where that can be done for the whole block; `false`
    /// if the script must run document by document.
    pub fn block(&mut self, docs: &[DocId], out: &mut Vec<f64>) -> bool {
        self.run.begin(docs);
        match Block::new(&mut self.run, &[], docs.len()).numbers(self.script) {
            Some(numbers) => {
                *out = numbers;
                true
            }
            None => false,
        }
    }

    /// Computes the script's number for each of `docs`, which ascend and have the stored number of `field` as
    /// their `_value`; `false` if the script must run document by document. `form`: see [`Self::value_of`].
    pub fn block_of_values(
        &mut self,
        docs: &[DocId],
        field: &Field,
        stored: &[i64],
        form: GivenValue,
        out: &mut Vec<f64>,
    ) -> bool {
        self.run.begin(docs);
        let mut block = Block::new(&mut self.run, &[], docs.len()).with_values(field, stored, form);
        match block.numbers(self.script) {
            Some(numbers) => {
                *out = numbers;
                true
            }
            None => false,
        }
    }

    /// Reports the numbers that the script returns for each of `docs`, which ascend: one, several or none.
    /// Nothing else outlives a document, so the limits of time and memory apply to each document separately.
    pub fn numbers_of_each(
        &mut self,
        docs: &[DocId],
        scores: &[f32],
        mut found: impl FnMut(&mut Vec<f64>),
    ) -> Result<(), RequestError> {
        self.run.begin(docs);
        let (mut numbers, mut kept_bytes) = (Vec::new(), 0);
        if let Some(DistinctValues { values, indexes }) = self.repeated(docs)? {
            for index in indexes {
                values[index as usize].numbers(&mut numbers)?;
                found(&mut numbers);
                numbers.clear();
            }
            return Ok(());
        }
        for at in 0..docs.len() {
            self.run.renew(kept_bytes);
            self.run_at(at, scores)?.numbers(&mut numbers)?;
            kept_bytes += size_of_val(numbers.as_slice()) as u64;
            found(&mut numbers);
            numbers.clear();
        }
        Ok(())
    }

    /// Adds what the script returns for one value of a document, its `_value` in the given form.
    pub fn value_of(
        &mut self,
        doc: DocId,
        field: &Field,
        stored: i64,
        form: GivenValue,
        out: &mut Vec<f64>,
    ) -> Result<(), RequestError> {
        self.run.aggregated = form.value(field, stored);
        self.values(&[doc], &[], |value| value.numbers(out))
    }

    /// Reports what the script returns for one term of a document, its `_value`.
    pub fn text_of(
        &mut self,
        doc: DocId,
        text: &str,
        mut found: impl FnMut(Value),
    ) -> Result<(), RequestError> {
        self.run.aggregated = Value::str(text);
        self.values(&[doc], &[], |value| {
            found(value);
            Ok(())
        })
    }

    /// Computes the script's answer for each of `docs`, which ascend.
    pub fn flags(&mut self, docs: &[DocId], out: &mut Vec<bool>) -> Result<(), RequestError> {
        out.clear();
        self.run.begin(docs);
        if let Some(flags) = Block::new(&mut self.run, &[], docs.len()).flags(self.script) {
            *out = flags;
            return Ok(());
        }
        self.each(docs.len(), &[], |value| {
            out.push(matches!(value, Value::Bool(true)));
            Ok(())
        })
    }

    /// Reports the script's value for each of `docs`, which ascend; fields are reported as lists.
    pub fn values<E: From<RequestError>>(
        &mut self,
        docs: &[DocId],
        scores: &[f32],
        mut found: impl FnMut(Value) -> Result<(), E>,
    ) -> Result<(), E> {
        self.run.begin(docs);
        let Some(DistinctValues { values, indexes }) = self.repeated(docs)? else {
            return self.each(docs.len(), scores, found);
        };
        indexes.into_iter().try_for_each(|index| found(values[index as usize].clone()))
    }

    /// Computes the script's values for `docs`, which ascend, each only once if they are made of few strings.
    /// `None` if every document needs a run.
    pub fn distinct_values(&mut self, docs: &[DocId]) -> Result<Option<DistinctValues>, RequestError> {
        self.run.begin(docs);
        self.repeated(docs)
    }

    fn repeated(&mut self, docs: &[DocId]) -> Result<Option<DistinctValues>, RequestError> {
        if docs.len() >= BLOCK_FROM
            && let Some(found) = Block::new(&mut self.run, &[], docs.len()).values(self.script)
        {
            return Ok(Some(found));
        }
        let Some(kinds) = self.kinds(docs) else { return Ok(None) };
        let mut indexes: HashMap<u64, u32, RandomState> = HashMap::default();
        let mut values = Vec::new();
        let mut index_of_doc = Vec::with_capacity(docs.len());
        let mut last = None;
        for (at, kind) in kinds.into_iter().enumerate() {
            if let Some((known, index)) = last
                && known == kind
            {
                index_of_doc.push(index);
                continue;
            }
            let index = match indexes.get(&kind) {
                Some(index) => *index,
                None => {
                    let value = self.run_at(at, &[])?;
                    if !value.is_constant() {
                        return Ok(None);
                    }
                    values.push(value);
                    indexes.insert(kind, values.len() as u32 - 1);
                    values.len() as u32 - 1
                }
            };
            last = Some((kind, index));
            index_of_doc.push(index);
        }
        Ok(Some(DistinctValues { values, indexes: index_of_doc }))
    }

    /// Returns for each document a number that identifies the one or two strings that its answer is made
    /// of, if these are of few kinds.
    fn kinds(&mut self, docs: &[DocId]) -> Option<Vec<u64>> {
        let expr = only_expression(self.script).filter(|_| docs.len() >= KINDS_FROM)?;
        let mut fields = Vec::new();
        if !is_made_of_fields(expr, &mut fields) || !(1..=2).contains(&fields.len()) {
            return None;
        }
        let mut kinds = vec![0u64; docs.len()];
        for field in fields {
            let (reader, _) = self.run.reader(field, 0).ok()?;
            kinds
                .iter_mut()
                .zip(reader.ordinals()?)
                .for_each(|(kind, own)| *kind = *kind << 32 | u64::from(*own));
        }
        Some(kinds)
    }

    /// Reports what the script of a runtime field emits for each of `docs`, which ascend: index in `docs`,
    /// and the values. `goes_on`: a document on which the script fails keeps what it emitted before.
    pub fn emitted(
        &mut self,
        docs: &[DocId],
        goes_on: bool,
        mut found: impl FnMut(usize, &[Emitted]) -> Result<(), RequestError>,
    ) -> Result<(), RequestError> {
        self.run.begin(docs);
        let mut kept_bytes = 0;
        for at in 0..docs.len() {
            work::check()?;
            self.run.emitted.clear();
            self.run.renew_memory(kept_bytes);
            if let Err(error) = self.run.run(at)
                && (!goes_on || error.foreign.is_some())
            {
                return Err(self.failed(error));
            }
            kept_bytes += self.run.emitted.iter().map(|emitted| emitted.value.kept_bytes()).sum::<u64>();
            match found(at, &self.run.emitted) {
                // There is no memory or time for the values, which is no failure of the script.
                Err(refused)
                    if matches!(refused.class, ErrorClass::TooManyRequests | ErrorClass::Timeout) =>
                {
                    return Err(refused);
                }
                // A value that the field cannot take is a failure of its script.
                Err(cause) if !goes_on => {
                    return Err(self.failed(ScriptError::new(0, cause.kind, cause.reason)));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns what a numeric script emits for a whole block, as columns store it. `None` if the script must
    /// run document by document.
    pub fn emitted_numbers(&mut self, docs: &[DocId]) -> Option<EmittedBlock> {
        self.run.begin(docs);
        Block::new(&mut self.run, &[], docs.len()).emitted(self.script)
    }

    /// Returns the strings that a script emits for a whole block. `None` if the script must run document by
    /// document.
    pub fn emitted_texts(&mut self, docs: &[DocId]) -> Option<DistinctTexts> {
        self.run.begin(docs);
        Block::new(&mut self.run, &[], docs.len()).emitted_texts(self.script)
    }

    /// Starts a batch of ascending documents for [`OpenScript::given`].
    pub fn begin(&mut self, docs: &[DocId]) {
        self.run.begin(docs);
    }

    /// Runs the script for all documents of the batch, if it only adds to members of their states; returns by
    /// how much these have grown at most. `None` if the script must run document by document; then no state
    /// has changed.
    pub fn update_states(&mut self, scores: &[f32], count: usize, states: &RowStates<'_>) -> Option<u64> {
        let grown = Block::new(&mut self.run, scores, count).update_states(self.script, states);
        // What the block took does not count for the documents that the script now runs for one by one.
        self.run.renew_memory(0);
        grown
    }

    /// Runs the script for document `at` of the batch, with `value` in its variable. The lists and maps it
    /// makes are added to `kept`. Returns the script's value and how much these count.
    pub fn given(
        &mut self,
        value: &Value,
        at: usize,
        score: f32,
        kept: &mut Kept,
    ) -> Result<(Value, u64), RequestError> {
        self.run.score = f64::from(score);
        self.run.given = Some(value.clone());
        let outcome = self.run.run(at);
        let grown = self.run.hand_over(&mut kept.made);
        match outcome {
            Ok(value) => Ok((value, grown)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Whether a script of [`ScriptContext::Interval`] returns `true` for an interval that includes both
    /// its ends.
    pub fn accepts_interval(&mut self, start: i64, end: i64, gaps: i64) -> Result<bool, RequestError> {
        let member = |name: &str, number: i64| (Value::str(name), Value::Int(number as i32));
        let interval = vec![member("start", start), member("end", end), member("gaps", gaps)];
        self.run.given = Some(Value::map(interval, true));
        match self.run.run(0) {
            Ok(value) => Ok(matches!(value, Value::Bool(true))),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn each<E: From<RequestError>>(
        &mut self,
        count: usize,
        scores: &[f32],
        mut found: impl FnMut(Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut kept_bytes = 0;
        for at in 0..count {
            work::check().map_err(RequestError::from)?;
            self.run.renew_memory(kept_bytes);
            let value = self.run_at(at, scores)?;
            kept_bytes += value.kept_bytes();
            found(value)?;
        }
        Ok(())
    }

    /// Runs the script for one document of the batch.
    fn run_at(&mut self, at: usize, scores: &[f32]) -> Result<Value, RequestError> {
        self.run.score = f64::from(scores.get(at).copied().unwrap_or(0.0));
        let outcome = self.run.run(at).and_then(|value| self.run.settle(value));
        outcome.map_err(|error| self.failed(error))
    }
}
