//! `regexp`: documents with a term that a Lucene regular expression matches as a whole.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_text::automaton::{Regexp, RegexpOptions, TermAutomaton};
use serde_json::{Map, Value};

use super::flattened::refuse_key;
use super::rewrite::{Rewrite, best_terms, bind_automaton};
use crate::error::Error;
use crate::matcher::automaton::shown_terms;
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use crate::query::spans::{Expansion, MultiTermQuery};
use crate::values::json;

#[derive(Debug)]
struct RegexpQuery {
    field: String,
    pattern: String,
    options: RegexpOptions,
    rewrite: Option<String>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("regexp", members, &mut common)?.ok_or_else(no_field)?;
    let (mut pattern, mut rewrite) = (None, None);
    let mut options = RegexpOptions::default();
    match body {
        Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "value" => pattern = json::scalar_text(value),
                    "flags" => {
                        options.flags =
                            RegexpOptions::parse_flags(&json::scalar_text(value).unwrap_or_default())?;
                    }
                    "flags_value" => options.flags = json::int(value)? as u32,
                    "max_determinized_states" => options.states_max = json::int(value)?.max(0) as u32,
                    "case_insensitive" => options.ignores_case = json::boolean(value)?,
                    "rewrite" => rewrite = json::scalar_text(value),
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support("regexp", key)),
                }
            }
        }
        scalar => pattern = json::scalar_text(scalar),
    }
    let pattern = pattern.ok_or_else(|| RequestError::illegal_argument("value cannot be null"))?;
    Ok(common.query(RegexpQuery { field: field.to_owned(), pattern, options, rewrite }))
}

impl QueryNode for RegexpQuery {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let length_max = binder.settings().max_regex_length;
        let length = self.pattern.encode_utf16().count();
        if length > length_max {
            return Err(RequestError::illegal_argument(format!(
                "The length of regex [{length}] used in the Regexp Query request has exceeded the allowed maximum of [{length_max}]. \
                 This maximum can be set by changing the [index.max_regex_length] index level setting."
            ))
            .into());
        }
        let Some(field) = binder.searchable_field(&self.field)? else {
            // Parsed anyway, so that errors are reported.
            Regexp::shared(&self.pattern, self.options)?;
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        if !field.has_patterns() || matches!(&*field.path, "_id" | "_index") {
            return Err(binder
                .query_shard(format!(
                    "Can only use regexp queries on keyword and text fields - not on [{}] which is of type [{}]",
                    self.field,
                    binder.type_name(&field)
                ))
                .into());
        }
        binder.check_expensive("[regexp] queries")?;
        refuse_key(&field, "regexp")?;
        let rewrite = Rewrite::named(self.rewrite.as_deref())?;
        let regexp = Regexp::shared(&field.normalize(&self.pattern), self.options)?;
        let text = format!("{}:/{}/", self.field, self.pattern);
        bind_automaton(binder, &field, regexp, rewrite, |_, _| 1.0, boost, text)
    }

    fn as_multi_term(&self) -> Option<&dyn MultiTermQuery> {
        Some(self)
    }
}

impl MultiTermQuery for RegexpQuery {
    fn expand(&self, binder: &Binder<'_>) -> Result<Expansion, Error> {
        // Bound to report the same errors as outside of a span query.
        let bound = self.bind(1.0, binder)?;
        let Some(field) = binder.field(&self.field) else { return Ok(Expansion::Unmapped) };
        if bound.is_nothing() {
            return Ok(Expansion::Unmapped);
        }
        let regexp: Arc<dyn TermAutomaton> = Regexp::shared(&field.normalize(&self.pattern), self.options)?;
        let rewrite = Rewrite::named(self.rewrite.as_deref())?;
        match rewrite.count_max() {
            None => {
                let automaton = shown_terms(&field, regexp);
                Ok(Expansion::All(field.clone(), Docs::Automaton { field, automaton }))
            }
            Some(_) => best_terms(binder, field, regexp, rewrite),
        }
    }
}
