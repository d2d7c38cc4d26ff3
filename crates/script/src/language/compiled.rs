//! A compiled script: one typed form for both languages, made once and shared by all its runs.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value as Json};

use super::tree::{Function, Lambda, Stmt};
use crate::documents::BoundField;
use crate::error::ScriptError;
use crate::outside::Outside;
use crate::values::{Extractor, Regex};

/// A script, ready to run.
#[derive(Debug)]
pub struct Compiled {
    pub(crate) source: Arc<str>,
    pub(crate) language: &'static str,
    pub(crate) body: Vec<Stmt>,
    pub(crate) functions: Vec<Function>,
    pub(crate) lambdas: Vec<Lambda>,
    pub(crate) extractors: Vec<Extractor>,
    pub(crate) regexes: Vec<Regex>,
    /// Names of the fields in `doc`, by number.
    pub(crate) fields: Vec<Arc<str>>,
    /// The strings in the script, if it computes names of fields; they may be some of them.
    pub(crate) computed_names: Option<Vec<Arc<str>>>,
    /// Expressions: names that must be parameters, each with its position in the source.
    pub(crate) variables: Vec<(Arc<str>, u32)>,
    pub(crate) slots: u16,
    pub(crate) uses_score: bool,
    /// The members of `ctx` that the script can reach; `None` if it can reach any.
    pub(crate) ctx_names: Option<Vec<Arc<str>>>,
    /// The node's clock and random numbers; `None` if no node compiled the script.
    pub(crate) outside: Option<Arc<dyn Outside>>,
}

impl Compiled {
    /// Returns the source that was compiled.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns `painless` or `expression`.
    pub fn language(&self) -> &'static str {
        self.language
    }

    /// Returns the names of the fields that the script reads, by number.
    pub fn fields(&self) -> &[Arc<str>] {
        &self.fields
    }

    /// Whether the script computes names of fields, as in `doc[params.name]`.
    pub fn computes_names(&self) -> bool {
        self.computed_names.is_some()
    }

    /// Returns the strings in the script and in its parameters, which may be names of fields; none if the
    /// script does not compute names.
    pub fn possible_names(&self, params: &Map<String, Json>) -> Vec<Arc<str>> {
        let Some(texts) = &self.computed_names else { return Vec::new() };
        let mut names = texts.clone();
        let mut rest: Vec<&Json> = params.values().collect();
        while let Some(value) = rest.pop() {
            match value {
                Json::String(text) => names.push(text.as_str().into()),
                Json::Array(items) => rest.extend(items),
                Json::Object(members) => rest.extend(members.values()),
                _ => {}
            }
        }
        names
    }

    /// Whether the script asks for the score.
    pub fn uses_score(&self) -> bool {
        self.uses_score
    }

    /// Checks that everything an expression names exists. Painless checks it at run time.
    ///
    /// # Errors
    /// `script_exception` (link error).
    pub fn link(&self, fields: &[BoundField], params: &Map<String, Json>) -> Result<(), RequestError> {
        match self.language {
            "expression" => self
                .check_names(fields, params)
                .map_err(|error| error.to_request_error("link", &self.source, self.language)),
            _ => Ok(()),
        }
    }

    fn check_names(&self, fields: &[BoundField], params: &Map<String, Json>) -> Result<(), ScriptError> {
        let refused = |at: u32, reason: String| Err(ScriptError::new(at, "parse_exception", reason));
        for (name, at) in &self.variables {
            match params.get(&**name) {
                Some(Json::Number(_)) => {}
                None => return refused(*at, format!("Unknown variable [{name}]")),
                Some(_) => {
                    return refused(*at, format!("Parameter [{name}] must be a numeric type"));
                }
            }
        }
        for bound in fields {
            if let Some(error) = &bound.refused {
                return Err(ScriptError::new(0, error.kind, error.reason.clone()));
            }
            match &bound.field {
                None => return refused(0, format!("Field [{}] does not exist in mappings", bound.name)),
                Some(field) if !field.is_numeric() => {
                    return refused(0, format!("Field [{}] must be numeric, date, or geopoint", bound.name));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}
