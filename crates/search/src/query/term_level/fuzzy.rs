//! `fuzzy`: documents with a term that is similar to a word.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::fuzziness::{Fuzziness, Fuzzy};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use crate::query::spans::{Expansion, MultiTermQuery};
use crate::values::json;

#[derive(Debug)]
struct FuzzyQuery {
    field: String,
    word: String,
    fuzzy: Fuzzy,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("fuzzy", members, &mut common)?.ok_or_else(no_field)?;
    let mut fuzzy = Fuzzy::default();
    let mut word = None;
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                if json::scalar_text(value).is_none() {
                    let token = json::token(value);
                    return Err(RequestError::parsing(format!(
                        "[fuzzy] unexpected token [{token}] after [{key}]"
                    )));
                }
                match key.as_str() {
                    "value" | "term" => word = json::scalar_text(value),
                    "fuzziness" => fuzzy.fuzziness = Fuzziness::parse(value)?,
                    "prefix_length" => fuzzy.prefix_length = json::int(value)?,
                    "max_expansions" => fuzzy.expansions_max = json::int(value)?,
                    "transpositions" => fuzzy.transpositions = json::boolean(value)?,
                    "rewrite" => fuzzy.rewrite = json::scalar_text(value),
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support("fuzzy", key)),
                }
            }
        }
        scalar => word = json::scalar_text(scalar),
    }
    let word = word.ok_or_else(|| RequestError::illegal_argument("query value cannot be null"))?;
    Ok(common.query(FuzzyQuery { field: field.to_owned(), word, fuzzy }))
}

impl QueryNode for FuzzyQuery {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        match binder.searchable_field(&self.field)? {
            Some(field) => self.fuzzy.bind(binder, &field, &field.normalize(&self.word), boost),
            None => Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field))),
        }
    }

    fn as_multi_term(&self) -> Option<&dyn MultiTermQuery> {
        Some(self)
    }
}

impl MultiTermQuery for FuzzyQuery {
    fn expand(&self, binder: &Binder<'_>) -> Result<Expansion, Error> {
        match binder.searchable_field(&self.field)? {
            Some(field) => {
                let terms = self.fuzzy.terms(binder, &field, &field.normalize(&self.word))?;
                Ok(Expansion::Best(field, terms))
            }
            None => Ok(Expansion::Unmapped),
        }
    }
}
