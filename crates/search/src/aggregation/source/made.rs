//! Terms that no segment holds: those of runtime fields, and those that a script makes.

use limber_script::Value;
use limber_segment::{DocId, Segment};

use super::field::{ScriptSource, Source};
use crate::error::Result;
use crate::script::{RuntimeReader, RuntimeTerms};

/// Terms of one segment after another.
#[derive(Debug)]
pub struct MadeTerms<'s> {
    source: &'s Source,
    missing: Option<Vec<u8>>,
    reader: Option<RuntimeReader<'s>>,
    segment: Option<&'s Segment>,
    terms: RuntimeTerms,
    /// With the replacement for documents without a term.
    filled: RuntimeTerms,
    /// 0, 1, ...: what a join by document is over.
    numbers: Vec<u32>,
}

/// What a batch of documents has.
pub struct Loaded<'l> {
    pub terms: &'l RuntimeTerms,
    /// The numbers of the terms, in order.
    pub numbers: &'l [u32],
}

impl<'s> MadeTerms<'s> {
    pub(crate) fn new(source: &'s Source) -> Result<MadeTerms<'s>> {
        Ok(MadeTerms {
            source,
            missing: source.missing_term()?,
            reader: None,
            segment: None,
            terms: RuntimeTerms::default(),
            filled: RuntimeTerms::default(),
            numbers: Vec::new(),
        })
    }

    /// The next documents are of this segment.
    pub fn begin(&mut self, segment: &'s Segment) -> Result<()> {
        self.segment = Some(segment);
        self.reader = match &self.source.runtime {
            Some(field) => Some(field.open(segment)?),
            None => None,
        };
        Ok(())
    }

    /// The terms of `docs`, those of a document sorted.
    pub fn load(&mut self, docs: &[DocId]) -> Result<Loaded<'_>> {
        match (&mut self.reader, &self.source.script, self.segment) {
            (Some(reader), _, _) => reader.terms(docs, &mut self.terms)?,
            (None, Some(script), Some(segment)) => scripted(script, segment, docs, &mut self.terms)?,
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
                        self.filled.push(position, self.terms.term(next));
                        next += 1;
                    }
                    if next == start {
                        self.filled.push(position, missing);
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

/// What a script gives, as texts; lists stand for their items.
fn scripted(source: &ScriptSource, segment: &Segment, docs: &[DocId], out: &mut RuntimeTerms) -> Result<()> {
    out.clear();
    let mut script = source.script.open(segment)?;
    let mut position = 0;
    let mut texts: Vec<String> = Vec::new();
    script.values(docs, &[], |value| {
        match value {
            Value::Null => {}
            Value::List(items) => {
                texts.extend(items.borrow().iter().filter(|item| !item.is_null()).map(Value::text));
            }
            other => texts.push(other.text()),
        }
        texts.sort_unstable();
        texts.drain(..).for_each(|text| out.push(position, text.as_bytes()));
        position += 1;
        Ok(())
    })
}
