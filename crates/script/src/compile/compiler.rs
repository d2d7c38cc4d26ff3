//! Compiles each script once: the cache, its rate limit, and the stored scripts.
//!
//! Source: Elasticsearch's `ScriptService` and `ScriptCache`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use limber_mapping::{ErrorClass, RequestError};
use limber_text::time_value::TimeValue;
use limber_work as work;

use super::spec::{Code, Script, StoredScript};
use crate::error::ScriptError;
use crate::language::{Compiled, ScriptContext};
use crate::mustache::{Escape, Template};
use crate::outside::Outside;

/// Settings of scripts.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptLimits {
    /// `script.max_size_in_bytes`.
    pub source_bytes_max: usize,
    /// `script.cache.max_size`.
    pub cache_size: usize,
    /// `script.max_compilations_rate`: compilations allowed, and within how many seconds; `None` is
    /// `unlimited`.
    pub rate: Option<(u32, u64)>,
    /// `script.painless.regex.enabled`: whether scripts may have regular expressions.
    pub allows_regex: bool,
    /// `search.aggs.only_allowed_metric_scripts`; `None` allows all scripts.
    pub metric_scripts: Option<AllowedScripts>,
}

/// The scripts that `scripted_metric` may run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AllowedScripts {
    /// Sources: `search.aggs.allowed_inline_metric_scripts`.
    pub inline: Vec<String>,
    /// Ids: `search.aggs.allowed_stored_metric_scripts`.
    pub stored: Vec<String>,
}

impl Default for ScriptLimits {
    fn default() -> ScriptLimits {
        ScriptLimits {
            source_bytes_max: 65_535,
            cache_size: 3000,
            rate: Some((150, 300)),
            allows_regex: true,
            metric_scripts: None,
        }
    }
}

impl ScriptLimits {
    /// Parses the value of `script.max_compilations_rate`: `150/5m` or `unlimited`.
    pub fn parse_rate(text: &str) -> Result<Option<(u32, u64)>, RequestError> {
        if text == "unlimited" {
            return Ok(None);
        }
        let refused = || {
            RequestError::illegal_argument(format!(
                "parameter must contain a positive integer and a timevalue, i.e. 10/1m, but was [{text}]"
            ))
        };
        let (count, time) = text.split_once('/').ok_or_else(refused)?;
        let count = count.trim().parse().map_err(|_| refused())?;
        let millis =
            TimeValue::parse(time, "script.max_compilations_rate")?.ok_or_else(refused)?.millis_begun();
        if millis < 1000 {
            return Err(refused());
        }
        Ok(Some((count, millis / 1000)))
    }

    fn rate_text(&self) -> String {
        match self.rate {
            None => "unlimited".to_owned(),
            Some((count, seconds)) if seconds % 60 == 0 => format!("{count}/{}m", seconds / 60),
            Some((count, seconds)) => format!("{count}/{seconds}s"),
        }
    }
}

const NO_REGEX: &str = "Regexes are disabled. Set [script.painless.regex.enabled] to [true] in elasticsearch.yaml to allow them. Be \
    careful though, regexes break out of Painless's protection against deep recursion and long loops.";

/// Largest size in memory of all cached scripts together, in bytes.
const CACHED_BYTES_MAX: usize = 20 << 20;

/// Approximate bytes of a script's tree per byte of its source; its patterns come on top.
const BYTES_A_SOURCE_BYTE: usize = 20;
/// Bytes of memory per byte of a source while it is parsed: a token and a node of the tree for a character.
const PARSED_BYTES_A_SOURCE_BYTE: u64 = 256;

/// Approximate bytes of a pattern's lazy automata after use; each of its three forms has its own automaton.
const AUTOMATON_BYTES: usize = 48 << 10;

/// All scripts of a node. Looking up a compiled script is cheap.
#[derive(Debug)]
pub struct Scripts {
    state: Mutex<State>,
    /// What the scripts know besides their documents; `None` is the machine's own.
    outside: Option<Arc<dyn Outside>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    language: String,
    context: ScriptContext,
    source: String,
}

/// A script in the cache.
#[derive(Debug)]
struct Cached {
    compiled: Arc<Compiled>,
    /// Value of [`State::turn`] at its last use.
    used: u64,
    bytes: usize,
}

#[derive(Debug)]
struct State {
    limits: ScriptLimits,
    cache: HashMap<Key, Cached>,
    cached_bytes: usize,
    turn: u64,
    /// Compilations that are still allowed; the number grows as time passes.
    tokens: f64,
    filled: Instant,
    compilations: u64,
    evictions: u64,
    limited: u64,
    stored: HashMap<String, StoredScript>,
}

impl Default for Scripts {
    fn default() -> Scripts {
        let limits = ScriptLimits::default();
        let tokens = limits.rate.map_or(0.0, |(count, _)| f64::from(count));
        Scripts {
            state: Mutex::new(State {
                limits,
                cache: HashMap::new(),
                cached_bytes: 0,
                turn: 0,
                tokens,
                filled: Instant::now(),
                compilations: 0,
                evictions: 0,
                limited: 0,
                stored: HashMap::new(),
            }),
            outside: None,
        }
    }
}

impl Scripts {
    /// Creates an empty cache for scripts with this clock and these random numbers.
    pub fn with_outside(outside: Arc<dyn Outside>) -> Scripts {
        Scripts { outside: Some(outside), ..Scripts::default() }
    }

    /// Locks the state. A panic under the lock leaves no half-made change behind, so a poisoned lock is
    /// usable.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the limits for later compilations.
    pub fn set_limits(&self, limits: ScriptLimits) {
        let mut state = self.state();
        if state.limits.rate != limits.rate {
            state.tokens = limits.rate.map_or(0.0, |(count, _)| f64::from(count));
            state.filled = Instant::now();
        }
        state.limits = limits;
    }

    /// Whether `scripted_metric` may run a script.
    pub fn allows_metric(&self, script: &Script) -> bool {
        let state = self.state();
        let Some(allowed) = &state.limits.metric_scripts else { return true };
        match &script.code {
            Code::Inline { source, .. } => allowed.inline.contains(source),
            Code::Stored(id) => allowed.stored.contains(id),
        }
    }

    /// Returns (compilations, evictions from the cache, compilations refused by the rate limit).
    pub fn statistics(&self) -> (u64, u64, u64) {
        let state = self.state();
        (state.compilations, state.evictions, state.limited)
    }

    /// Returns the stored script with this id.
    pub fn stored(&self, id: &str) -> Option<StoredScript> {
        self.state().stored.get(id).cloned()
    }

    /// Replaces all stored scripts.
    pub fn set_stored(&self, stored: HashMap<String, StoredScript>) {
        self.state().stored = stored;
    }

    /// Checks that a script's language exists and, where its context is known, that it compiles.
    pub fn check(&self, script: &StoredScript, context: Option<ScriptContext>) -> Result<(), RequestError> {
        if script.language == "mustache" {
            return Template::parse(&script.source, Escape::Json).map(drop);
        }
        check_language(&script.language)?;
        match context {
            Some(context) => self.source(&script.language, &script.source, context, false).map(drop),
            None => Ok(()),
        }
    }

    /// Returns the compiled form of a script in a context.
    ///
    /// # Errors
    /// `script_exception` (compile error), `circuit_breaking_exception` (too many compilations),
    /// `resource_not_found_exception`.
    pub fn compile(&self, script: &Script, context: ScriptContext) -> Result<Arc<Compiled>, RequestError> {
        match &script.code {
            Code::Inline { language, source } => self.source(language, source, context, true),
            Code::Stored(id) => {
                let stored = self.stored(id).ok_or_else(|| {
                    let reason = format!("unable to find script [{id}] in cluster state");
                    RequestError::not_found("resource_not_found_exception", reason)
                })?;
                self.source(&stored.language, &stored.source, context, false)
            }
        }
    }

    fn source(
        &self,
        language: &str,
        source: &str,
        context: ScriptContext,
        is_limited: bool,
    ) -> Result<Arc<Compiled>, RequestError> {
        let key = Key { language: language.to_owned(), context, source: source.to_owned() };
        {
            let mut state = self.state();
            state.turn += 1;
            let turn = state.turn;
            if let Some(cached) = state.cache.get_mut(&key) {
                cached.used = turn;
                return Ok(cached.compiled.clone());
            }
            if source.len() > state.limits.source_bytes_max {
                return Err(RequestError::illegal_argument(format!(
                    "exceeded max allowed inline script size in bytes [{}] with size [{}] for script [{}]",
                    state.limits.source_bytes_max,
                    source.len(),
                    source.chars().take(200).collect::<String>()
                )));
            }
            check_language(language)?;
            if is_limited && context.is_rate_limited() {
                state.take_token()?;
            }
            state.compilations += 1;
        }
        // `script.max_size_in_bytes` may be any number.
        work::claim(source.len() as u64 * PARSED_BYTES_A_SOURCE_BYTE)?;
        let before_bytes = work::allocated_bytes();
        let compiled = match language {
            "expression" => crate::language::compile_expression(source, context),
            _ => crate::language::compile_painless(source, context),
        };
        let allows_regex = self.state().limits.allows_regex;
        let compiled = compiled.and_then(|compiled| match compiled.regexes.is_empty() || allows_regex {
            true => Ok(compiled),
            false => Err(ScriptError::new(0, "illegal_state_exception", NO_REGEX)),
        });
        let compiled = compiled.map_err(|error| error.to_request_error("compile", source, language))?;
        let compiled = Arc::new(Compiled { outside: self.outside.clone(), ..compiled });
        // Patterns may take a thousand times the size of their source, so the size is measured.
        let made_bytes = usize::try_from(work::allocated_bytes() - before_bytes).unwrap_or(0);
        let patterns_bytes = compiled.regexes.len() * AUTOMATON_BYTES;
        let bytes = made_bytes.max(source.len() * BYTES_A_SOURCE_BYTE) + patterns_bytes;
        let mut state = self.state();
        if state.limits.cache_size > 0 && bytes <= CACHED_BYTES_MAX {
            let has_room = |state: &State| {
                state.cache.len() < state.limits.cache_size && state.cached_bytes + bytes <= CACHED_BYTES_MAX
            };
            while !has_room(&state) {
                let oldest = state.cache.iter().min_by_key(|(_, cached)| cached.used);
                let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
                state.cached_bytes -= state.cache.remove(&oldest).map_or(0, |cached| cached.bytes);
                state.evictions += 1;
            }
            let turn = state.turn;
            let cached = Cached { compiled: compiled.clone(), used: turn, bytes };
            let before = state.cache.insert(key, cached).map_or(0, |before| before.bytes);
            state.cached_bytes = state.cached_bytes + bytes - before;
        }
        Ok(compiled)
    }
}

/// Compiles a script outside of the cache, for scripts that are compiled once with their request.
pub(crate) fn compile_detached(script: &Script, context: ScriptContext) -> Result<Compiled, RequestError> {
    let Code::Inline { language, source } = &script.code else {
        return Err(RequestError::unsupported(format!(
            "a stored script in the context [{}]",
            context.name()
        )));
    };
    check_language(language)?;
    let source_bytes_max = ScriptLimits::default().source_bytes_max;
    if source.len() > source_bytes_max {
        return Err(RequestError::illegal_argument(format!(
            "exceeded max allowed inline script size in bytes [{source_bytes_max}] with size [{}]",
            source.len()
        )));
    }
    let compiled = match language.as_str() {
        "expression" => crate::language::compile_expression(source, context),
        _ => crate::language::compile_painless(source, context),
    };
    compiled.map_err(|error| error.to_request_error("compile", source, language))
}

fn check_language(language: &str) -> Result<(), RequestError> {
    match language {
        "painless" | "expression" => Ok(()),
        "mustache" => Err(RequestError::unsupported("the script language [mustache]")),
        other => Err(RequestError::illegal_argument(format!("script_lang not supported [{other}]"))),
    }
}

impl State {
    /// Takes a token from a bucket that refills at the allowed rate.
    fn take_token(&mut self) -> Result<(), RequestError> {
        let Some((count, seconds)) = self.limits.rate else { return Ok(()) };
        let now = Instant::now();
        let most = f64::from(count);
        let grown = now.duration_since(self.filled).as_secs_f64() * most / seconds as f64;
        self.tokens = (self.tokens + grown).min(most);
        self.filled = now;
        if self.tokens < 1.0 {
            self.limited += 1;
            return Err(RequestError::new(
                ErrorClass::TooManyRequests,
                "circuit_breaking_exception",
                format!(
                    "[script] Too many dynamic script compilations within, max: [{}]; please use indexed, or scripts with parameters \
                     instead; this limit can be changed by the [script.max_compilations_rate] setting",
                    self.limits.rate_text()
                ),
            )
            .with("bytes_wanted", 0)
            .with("bytes_limit", 0)
            .with("durability", "TRANSIENT"));
        }
        self.tokens -= 1.0;
        Ok(())
    }
}
