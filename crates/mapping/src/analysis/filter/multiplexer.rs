//! `multiplexer`: passes each token through several parallel chains of filters.

use std::time::Instant;

use hashbrown::HashSet;

use crate::RequestError;
use crate::analysis::chain::{self, Emit, Filter, Parsing, Stage, Stream};
use crate::analysis::context::{Context, check_chain};
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Multiplexer {
    chains: Vec<Vec<Filter>>,
}

/// Reads `filters`, a list of chains whose names are separated by commas, and `preserve_original` (true). An
/// unknown name is an error.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let mut chains = Vec::new();
    if settings.bool("preserve_original", true)? {
        chains.push(Vec::new());
    }
    let lists = match settings.value("filters") {
        Some(serde_json::Value::Array(lists)) => lists.iter().map(crate::analysis::settings::text).collect(),
        _ => settings.list("filters").unwrap_or_default(),
    };
    for list in lists {
        let mut chain = Vec::new();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            chain.push(context.filter(name)?.ok_or_else(|| {
                RequestError::illegal_argument(format!(
                    "Multiplexing filter [{}] refers to undefined tokenfilter [{name}]",
                    settings.name
                ))
            })?);
        }
        check_chain(chain.len())?;
        chains.push(chain);
    }
    let reads_kinds = chains.iter().flatten().any(|filter| filter.reads_kinds);
    let filter = Filter::stream(Multiplexer { chains }).parsing(Parsing::Refused);
    Ok(Filter { reads_kinds, ..filter })
}

struct Side<'a> {
    own: &'a Multiplexer,
    /// Number of chains run since the time was last checked.
    run_count: u32,
    since: Instant,
}

/// Number of chains between two checks of the time.
const RUNS_A_LOOK: u32 = 4096;

impl Side<'_> {
    /// Whether another chain may run.
    fn goes_on(&mut self) -> bool {
        self.run_count += 1;
        if self.run_count < RUNS_A_LOOK {
            return true;
        }
        self.run_count = 0;
        limber_work::filters_go_on(&mut self.since)
    }
}

impl Stream for Multiplexer {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Side { own: self, run_count: 0, since: Instant::now() })
    }
}

impl Stage for Side<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let mut seen: HashSet<String> = HashSet::new();
        let mut increment = token.increment;
        let mut goes_on = true;
        let end = token.end;
        for filters in &self.own.chains {
            if !goes_on || !self.goes_on() {
                return false;
            }
            let mut source = |emit: Emit<'_>| {
                emit(&mut token.clone());
            };
            chain::run(filters, end, &mut source, &mut |made| {
                // Removes duplicates, like the filter `remove_duplicates` that Elasticsearch appends.
                if !seen.insert(made.text.clone()) {
                    return true;
                }
                made.increment = std::mem::take(&mut increment);
                goes_on = goes_on && emit(made);
                goes_on
            });
        }
        goes_on
    }
}
