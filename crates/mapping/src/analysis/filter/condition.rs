//! `condition` and `predicate_token_filter`: a script decides for each token whether other filters are
//! applied to it, or whether it is kept.
//!
//! Source: Lucene's `ConditionalTokenFilter`, Elasticsearch's `ScriptedConditionTokenFilterFactory` and
//! `PredicateTokenFilterScriptFactory`.

use std::sync::Arc;

use serde_json::Value;

use crate::RequestError;
use crate::analysis::chain::{self, Emit, End, Filter, Parsing, Stage, Stream};
use crate::analysis::context::{Context, check_chain};
use crate::analysis::resources::{SeenToken, TokenPredicate, fail};
use crate::analysis::settings::Settings;
use crate::analysis::token::{TokenBuf, UNSETTLED};
use crate::analysis::uax29;

#[derive(Debug)]
struct Condition {
    predicate: Arc<dyn TokenPredicate>,
    filters: Vec<Filter>,
}

#[derive(Debug)]
struct Predicate(Arc<dyn TokenPredicate>);

/// Makes `condition`. Reads `script` and `filter`, the names of the filters, at least one of which is
/// required.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let predicate = predicate(settings, context)?;
    let names = settings.list("filter").unwrap_or_default();
    if names.is_empty() {
        return Err(RequestError::illegal_argument(format!(
            "Empty list of filters provided to tokenfilter [{}]",
            settings.name
        )));
    }
    let mut filters = Vec::with_capacity(check_chain(names.len())?);
    for name in &names {
        filters.push(context.filter(name)?.ok_or_else(|| {
            RequestError::illegal_argument(format!(
                "ScriptedConditionTokenFilter [{}] refers to undefined token filter [{name}]",
                settings.name
            ))
        })?);
    }
    let parsing = match filters.iter().any(|filter| filter.parsing == Parsing::Refused) {
        true => Parsing::Refused,
        false => Parsing::Itself,
    };
    let uses_keywords = filters.iter().any(|filter| filter.uses_keywords);
    let uses_payloads = filters.iter().any(|filter| filter.uses_payloads);
    let filter = Filter::stream(Condition { predicate, filters }).parsing(parsing).reading_kinds();
    Ok(Filter { uses_keywords, uses_payloads, ..filter.knowing_keywords() })
}

/// Makes `predicate_token_filter`. Reads `script`, which decides whether a token is kept.
pub fn make_predicate(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let predicate = predicate(settings, context)?;
    Ok(Filter::stream(Predicate(predicate)).reading_kinds().knowing_keywords())
}

/// Compiles the script under `script`, which must be inline, because stored scripts may change.
fn predicate(
    settings: &Settings<'_>,
    context: &Context<'_>,
) -> Result<Arc<dyn TokenPredicate>, RequestError> {
    let missing = || {
        RequestError::illegal_argument(
            "must specify either [source] for an inline script or [id] for a stored script",
        )
    };
    let script = match settings.value("script") {
        Some(Value::String(source)) => serde_json::json!({"source": source}),
        Some(script @ Value::Object(_)) => script.clone(),
        _ => return Err(missing()),
    };
    if script.get("id").is_some() {
        return Err(RequestError::illegal_argument(format!(
            "Cannot use stored scripts in tokenfilter [{}]",
            settings.name
        )));
    }
    if script.get("source").is_none() {
        return Err(missing());
    }
    context.resources.predicate(&script)
}

/// A predicate that keeps track of the position.
struct Asking<'a> {
    predicate: &'a dyn TokenPredicate,
    position: i64,
}

impl<'a> Asking<'a> {
    fn of(predicate: &'a Arc<dyn TokenPredicate>) -> Asking<'a> {
        Asking { predicate: &**predicate, position: -1 }
    }

    /// Whether the script accepts the token; `None` if it failed.
    fn accepts(&mut self, token: &TokenBuf) -> Option<bool> {
        self.position += i64::from(token.increment);
        let kind = if token.kind == UNSETTLED { uax29::kind(&token.text) } else { token.kind };
        let seen = SeenToken {
            term: &token.text,
            kind,
            position: self.position.max(0) as u32,
            position_increment: token.increment,
            position_length: token.length,
            start_offset: token.start,
            end_offset: token.end,
            is_keyword: token.is_keyword,
        };
        match self.predicate.accepts(seen) {
            Ok(accepts) => Some(accepts),
            Err(error) => {
                fail(error);
                None
            }
        }
    }
}

struct Dropping<'a> {
    asking: Asking<'a>,
    skipped: u32,
}

impl Stream for Predicate {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Dropping { asking: Asking::of(&self.0), skipped: 0 })
    }
}

impl Stage for Dropping<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        match self.asking.accepts(token) {
            None => false,
            Some(false) => {
                self.skipped += token.increment;
                true
            }
            Some(true) => {
                token.increment += std::mem::take(&mut self.skipped);
                emit(token)
            }
        }
    }

    fn end(&mut self, End { trailing, .. }: End, _: Emit<'_>) -> u32 {
        trailing + self.skipped
    }
}

struct Choosing<'a> {
    own: &'a Condition,
    asking: Asking<'a>,
    /// Consecutive tokens to which the filters will be applied.
    chosen: Vec<TokenBuf>,
    /// Positions of tokens that the filters removed.
    skipped: u32,
}

impl Stream for Condition {
    fn start(&self) -> Box<dyn Stage + '_> {
        let asking = Asking::of(&self.predicate);
        Box::new(Choosing { own: self, asking, chosen: Vec::new(), skipped: 0 })
    }
}

impl Choosing<'_> {
    /// Applies the filters to the collected tokens.
    fn flush(&mut self, emit: Emit<'_>) -> bool {
        if self.chosen.is_empty() {
            return true;
        }
        let chosen = std::mem::take(&mut self.chosen);
        let end = chosen.last().map_or(0, |token| token.end);
        let mut goes_on = true;
        let skipped = &mut self.skipped;
        let mut source = |emit: Emit<'_>| {
            for token in &chosen {
                if !emit(&mut token.clone()) {
                    return;
                }
            }
        };
        let left = chain::run(&self.own.filters, end, &mut source, &mut |token| {
            token.increment += std::mem::take(skipped);
            goes_on = goes_on && emit(token);
            goes_on
        });
        self.skipped += left;
        goes_on
    }
}

/// Maximum number of tokens that are collected for the filters; longer runs are processed in pieces.
const CHOSEN_MAX: usize = 4096;

impl Stage for Choosing<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        match self.asking.accepts(token) {
            None => false,
            Some(true) => {
                self.chosen.push(token.clone());
                self.chosen.len() < CHOSEN_MAX || self.flush(emit)
            }
            Some(false) => {
                if !self.flush(emit) {
                    return false;
                }
                token.increment += std::mem::take(&mut self.skipped);
                emit(token)
            }
        }
    }

    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        self.flush(emit);
        trailing + self.skipped
    }
}
