//! Sinks for tests and benchmarks: "what did the walker feed for this document?"

use limber_codec::hex::hex;
use serde_json::Value;

use crate::document::{self, Scratch};
use crate::field::{Field, FieldSink, Nested, SpaceId};
use crate::{Mapping, MappingSettings};

/// One call of the sink.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded {
    /// [`FieldSink::term`].
    Term {
        /// Path of the field.
        path: String,
        /// Bytes of the term.
        value: Vec<u8>,
    },
    /// [`FieldSink::number`].
    Number {
        /// Path of the field.
        path: String,
        /// The number as it is stored.
        value: i64,
    },
    /// [`FieldSink::text`].
    Text {
        /// Path of the field.
        path: String,
        /// The text before analysis.
        value: String,
    },
    /// [`FieldSink::begin_nested`].
    Begin {
        /// Path of the nested object.
        path: String,
    },
    /// [`FieldSink::end_nested`].
    End {
        /// Path of the nested object.
        path: String,
    },
    /// [`FieldSink::turn_to`].
    Turn {
        /// Number of the space.
        space: u32,
    },
}

/// Records every call, in order.
#[derive(Debug, Default)]
pub struct RecordingSink {
    /// Every call so far.
    pub calls: Vec<Recorded>,
}

impl RecordingSink {
    /// Returns the calls as `path=value` lines. Terms that are not UTF-8 are in hexadecimal.
    pub fn lines(&self) -> Vec<String> {
        self.calls
            .iter()
            .map(|call| match call {
                Recorded::Term { path, value } => match std::str::from_utf8(value) {
                    Ok(text) if !text.contains('\0') => format!("{path}={text}"),
                    _ => format!("{path}=0x{}", hex(value)),
                },
                Recorded::Number { path, value } => format!("{path}={value}"),
                Recorded::Text { path, value } => format!("{path}~{value}"),
                Recorded::Begin { path } => format!("{path} {{"),
                Recorded::End { path } => format!("}} {path}"),
                Recorded::Turn { space } => format!("-> {space}"),
            })
            .collect()
    }
}

impl FieldSink for RecordingSink {
    fn term(&mut self, field: &Field, value: &[u8]) {
        self.calls.push(Recorded::Term { path: field.path.to_string(), value: value.to_vec() });
    }

    fn number(&mut self, field: &Field, value: i64) {
        self.calls.push(Recorded::Number { path: field.path.to_string(), value });
    }

    fn text(&mut self, field: &Field, value: &str) {
        self.calls.push(Recorded::Text { path: field.path.to_string(), value: value.to_owned() });
    }

    fn shape(&mut self, field: &Field, _: &[i64], bytes: &[u8]) {
        self.calls.push(Recorded::Term { path: field.path.to_string(), value: bytes.to_vec() });
    }

    fn begin_nested(&mut self, nested: &Nested) {
        self.calls.push(Recorded::Begin { path: nested.path.to_string() });
    }

    fn end_nested(&mut self, nested: &Nested) {
        self.calls.push(Recorded::End { path: nested.path.to_string() });
    }

    fn turn_to(&mut self, space: SpaceId) {
        self.calls.push(Recorded::Turn { space: space.0 });
    }
}

/// Returns what a document feeds under a mapping, in the form of [`RecordingSink::lines`].
///
/// # Panics
/// If either is refused.
pub fn fed(mapping: &Value, document: &Value) -> Vec<String> {
    let mapping = Mapping::parse(mapping, &MappingSettings::default()).expect("a mapping");
    let mut sink = RecordingSink::default();
    document::parse(&mapping, document.to_string().as_bytes(), &mut Scratch::new(), &mut sink)
        .unwrap_or_else(|error| panic!("{error:?}"));
    sink.lines()
}

/// Returns the error with which a document is refused under a mapping.
///
/// # Panics
/// If the document is accepted.
pub fn refused(mapping: &Value, document: &Value) -> crate::RequestError {
    let mapping = Mapping::parse(mapping, &MappingSettings::default()).expect("a mapping");
    let mut sink = RecordingSink::default();
    document::parse(&mapping, document.to_string().as_bytes(), &mut Scratch::new(), &mut sink)
        .expect_err("a refused document")
}

/// Records nothing; only counts calls and folds the values, so that the optimizer does not remove them.
#[derive(Debug, Default)]
pub struct NullSink {
    /// Number of calls.
    pub calls: u64,
    /// Every value, folded into one number.
    pub folded: u64,
}

impl FieldSink for NullSink {
    #[inline]
    fn term(&mut self, _: &Field, value: &[u8]) {
        self.calls += 1;
        self.folded ^= value.len() as u64;
    }

    #[inline]
    fn number(&mut self, _: &Field, value: i64) {
        self.calls += 1;
        self.folded ^= value as u64;
    }

    #[inline]
    fn text(&mut self, _: &Field, value: &str) {
        self.calls += 1;
        self.folded ^= value.len() as u64;
    }

    fn shape(&mut self, _: &Field, _: &[i64], bytes: &[u8]) {
        self.calls += 1;
        self.folded ^= bytes.len() as u64;
    }

    fn begin_nested(&mut self, _: &Nested) {
        self.calls += 1;
    }

    fn end_nested(&mut self, _: &Nested) {}

    fn turn_to(&mut self, _: SpaceId) {}
}
