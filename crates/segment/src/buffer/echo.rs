//! Texts that another field of the same document has had: "was this text analysed a moment ago?"
//!
//! Fields of one document often have the same text: a name and its spelling in ASCII, a message and its
//! copy, a title that is searched in two ways. The second field keeps a reference to the tokens of the
//! first instead of analysing the text again. Keyword fields with such a text do the same. If this occurs
//! in a buffer, both fields are written from the term table of the first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use limber_mapping::analysis::Analyzer;
use limber_mapping::{Field, FieldId};

use super::field_table::FieldTable;
use super::fields::FieldBuffer;
use super::table::{TermTable, same};

/// Longer texts are not kept for comparison.
const TEXT_BYTES_MAX: usize = 4096;

/// The position of a text's tokens in the log of its field.
#[derive(Debug, Clone, Copy)]
pub struct Logged {
    pub tokens_start: u32,
    pub token_count: u32,
    /// Tokens that count towards the field's length.
    pub length: u32,
    /// Position of the last token; -1 if there are none.
    pub last_position: i64,
}

/// The relation of a field's values to those of other fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    #[default]
    None,
    /// Other fields refer to it, so it may not refer to any.
    Source,
    /// Some of its values refer to those of that field.
    EchoOf(FieldId),
}

impl Role {
    /// Makes the field refer to `source`; returns whether it may.
    #[inline]
    pub fn become_echo_of(&mut self, source: FieldId) -> bool {
        if *self == Role::None {
            *self = Role::EchoOf(source);
        }
        *self == Role::EchoOf(source)
    }

    /// Whether other fields may refer to it.
    #[inline]
    pub fn may_be_source(self) -> bool {
        !matches!(self, Role::EchoOf(_))
    }
}

/// The last text of the current document that was analysed.
#[derive(Default)]
pub struct LastText {
    text: Vec<u8>,
    analysed: Option<Analysed>,
    /// The field that has this text as a whole term, and the index of the value in that field's log.
    pub term: Option<(FieldId, u32)>,
}

#[derive(Clone, Copy)]
struct Analysed {
    field: FieldId,
    /// Address of the analyzer, as its identity; the analyzer lives while the document is indexed.
    analyzer: usize,
    logged: Logged,
}

fn address_of(field: &Field) -> usize {
    field.analyzer.as_ref().map_or(0, |analyzer: &Arc<Analyzer>| Arc::as_ptr(analyzer) as usize)
}

impl LastText {
    pub(crate) fn forget(&mut self) {
        (self.analysed, self.term) = (None, None);
    }

    pub(crate) fn keep(&mut self, field: &Field, text: &str, logged: Logged) {
        self.forget();
        if text.len() <= TEXT_BYTES_MAX {
            self.text.clear();
            self.text.extend_from_slice(text.as_bytes());
            self.analysed = Some(Analysed { field: field.id, analyzer: address_of(field), logged });
        }
    }

    /// Returns where the tokens of `text` are, if it is the last text, belongs to another field, and was
    /// analysed as `field` would analyse it.
    #[inline]
    pub fn tokens_of(&self, field: &Field, text: &str) -> Option<(FieldId, Logged)> {
        let last = self.analysed.as_ref()?;
        let is_it = same(&self.text, text.as_bytes()) && last.field != field.id;
        (is_it && last.analyzer == address_of(field)).then_some((last.field, last.logged))
    }

    /// Whether a term has the same bytes as the text.
    #[inline]
    pub fn is(&self, term: &[u8]) -> bool {
        self.analysed.is_some() && same(&self.text, term)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.text.capacity()
    }
}

/// Replaces the references of all fields by the values they refer to. Returns the term tables of the fields
/// whose numbers are not those of their own table.
pub fn resolve(fields: &mut FieldTable) -> HashMap<FieldId, Arc<TermTable>> {
    let mut echoes: BTreeMap<FieldId, Vec<FieldId>> = BTreeMap::new();
    for (field, log) in fields.iter() {
        if let Some(source) = source_of(log) {
            echoes.entry(source).or_default().push(field);
        }
    }
    let mut tables = HashMap::new();
    for (source, echoes) in echoes {
        let mut source_log = take(fields, source);
        for &echo in &echoes {
            let mut log = take(fields, echo);
            match (&mut source_log, &mut log) {
                (FieldBuffer::Text(source), FieldBuffer::Text(echo)) => echo.resolve(source),
                (FieldBuffer::Terms(source), FieldBuffer::Terms(echo)) => echo.resolve(source),
                _ => unreachable!("a field refers to one of its own representation"),
            }
            put(fields, echo, log);
        }
        let table = Arc::new(std::mem::take(match &mut source_log {
            FieldBuffer::Text(text) => &mut text.table,
            FieldBuffer::Terms(terms) => &mut terms.table,
            _ => unreachable!("only these are referred to"),
        }));
        put(fields, source, source_log);
        tables.extend(echoes.into_iter().chain([source]).map(|field| (field, table.clone())));
    }
    tables
}

fn take(fields: &mut FieldTable, field: FieldId) -> FieldBuffer {
    fields.get(field).map(std::mem::take).unwrap_or_default()
}

fn put(fields: &mut FieldTable, field: FieldId, log: FieldBuffer) {
    if let Some(place) = fields.get(field) {
        *place = log;
    }
}

fn source_of(field: &FieldBuffer) -> Option<FieldId> {
    let role = match field {
        FieldBuffer::Text(text) => text.role,
        FieldBuffer::Terms(terms) => terms.role,
        _ => Role::None,
    };
    match role {
        Role::EchoOf(source) => Some(source),
        _ => None,
    }
}
